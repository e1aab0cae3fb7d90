import type { ComponentChildren } from 'preact';
import { type Address, hrefOf, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, analyticsPath, useAnswer } from './client.js';
import { addDays, type Day, type Range, weekday } from './days.js';
import { cell, dayText, figure, UNKNOWN } from './format.js';
import { useMarks, Word } from './marks.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { COLORED, colorOf } from './ranking.js';
import { ScrolledTable } from './scrolled-table.js';
import { may, type Session } from './session.js';
import { type Summary, useSummary } from './summary.js';
import { WeekChart } from './week-chart.js';

type Answer = Answers['getAnalyticsAdoption'];
type Adopted = Answer['data'][number];
type Kind = Adopted['kind'];
type Days = { readonly data: readonly { skills_by_name: readonly { name: string; count: number }[] }[] };

/** How many whole weeks a chart has at least. */
const WEEKS = 12;
/** How many rows a table shows. */
const LISTED = 25;

const TEXTS: Readonly<Record<Kind, { title: string; name: string; one: string }>> = {
  mcp_server: { title: 'MCP servers', name: 'servers', one: 'Server' },
  skill: { title: 'Skills', name: 'skills', one: 'Skill' },
};

/** Who used a skill, for readers who may run SQL: no other answer can be filtered by skill. */
const USERS_OF_SKILL = `SELECT user_id, sum(uses) AS uses, min(day) AS first_day, max(day) AS last_day
FROM user_skills
WHERE skill_name = $skill
  AND day BETWEEN CAST($from AS DATE) AND CAST($to AS DATE)
GROUP BY user_id
ORDER BY uses DESC, user_id`;

interface AdoptionProps extends RangeProps {
  readonly session: Session;
}

/** How many people use each MCP server and skill: by week, and in the range. They are of the whole organization, so no filtered page has them. */
export function Adoption(props: AdoptionProps) {
  const { address, last } = props;
  const range = rangeOf(address, last);
  const asked = useAnswer<Answer>(analyticsPath('adoption', range));
  const weeks = weeksOf(range);
  const first = weeks[0] ?? range.from;
  const weekly = useAnswer<Answer>(analyticsPath('adoption', { from: first, to: range.to }));
  return (
    <>
      {(['mcp_server', 'skill'] as const).map((kind) => (
        <UsersAWeek key={kind} {...props} kind={kind} weeks={weeks} asked={weekly} />
      ))}
      <Servers {...props} asked={asked} />
      <Skills {...props} asked={asked} />
    </>
  );
}

/** The Mondays of the whole weeks of a range, or of the last ones up to its end if it has few. */
function weeksOf({ from, to }: Range): Day[] {
  const mondayOf = (day: Day) => addDays(day, -((weekday(day) + 6) % 7));
  const end = mondayOf(addDays(to, 1));
  const enough = addDays(end, -7 * WEEKS);
  const start = mondayOf(from) < enough ? mondayOf(addDays(from, 6)) : enough;
  const weeks: Day[] = [];
  for (let day = start; day < end; day = addDays(day, 7)) weeks.push(day);
  return weeks;
}

/** The page with the numbers of a server or skill. */
function hrefOfName(
  address: Address,
  range: Range,
  session: Session,
  { kind, name }: Pick<Adopted, 'kind' | 'name'>,
) {
  if (kind === 'mcp_server')
    return hrefOf({ ...address, path: [], filters: { mcp_server: [name] }, choices: {} });
  if (!may(session, 'run SQL')) return undefined;
  return hrefOf({
    ...{ ...address, path: ['sql'], filters: {} },
    choices: { sql: USERS_OF_SKILL, $skill: name, $from: range.from, $to: range.to },
  });
}

interface UsersAWeekProps extends AdoptionProps {
  readonly kind: Kind;
  readonly weeks: readonly Day[];
  readonly asked: Asked<Answer>;
}

function UsersAWeek({ address, last, session, kind, weeks, asked }: UsersAWeekProps) {
  const rows = (asked.answer?.data ?? []).filter((row) => row.kind === kind);
  const shown = rows.slice(0, COLORED);
  const names = shown.map(({ name }) => name);
  const series = shown.map((row) => {
    const users = new Map(row.weeks.map((one) => [one.week, one.users]));
    const first = weeks.findIndex((week) => users.has(week));
    return {
      ...{ name: row.name, color: colorOf(names, row.name) },
      href: hrefOfName(address, rangeOf(address, last), session, row),
      values: weeks.map((week, place) => (first < 0 || place < first ? null : (users.get(week) ?? 0))),
    };
  });
  const { title, name } = TEXTS[kind];
  return (
    <Panel
      name={`${name}-a-week`}
      title={`${title}: users a week`}
      note={
        rows.length > COLORED
          ? `whole weeks, the ${COLORED} with the most users`
          : 'distinct people in whole weeks'
      }
      asked={asked}
      table={
        asked.answer && {
          columns: ['Week', ...names],
          rows: weeks.map((week, place) => [week, ...series.map(({ values }) => values[place] ?? null)]),
        }
      }
      definition="report/adoption_weeks"
    >
      {asked.answer !== undefined && rows.length === 0 ? (
        <p class="note none">None was used.</p>
      ) : (
        <WeekChart label={`${title}: users a week`} weeks={weeks} series={series} />
      )}
    </Panel>
  );
}

interface ListProps extends AdoptionProps {
  readonly asked: Asked<Answer>;
}

/** The servers of the range, with the share of their calls that failed. */
function Servers({ asked, ...props }: ListProps) {
  const { address, last } = props;
  const summary = useSummary(address, last, { groupBy: 'mcp_server', sort: 'tool_calls', limit: 200 });
  const marks = useMarks(last);
  const failing = new Map(
    (marks.answer?.data ?? [])
      .filter(({ mark, kind }) => mark === 'failing' && kind === 'mcp_server')
      .map(({ name, since }) => [name, since]),
  );
  const ratios = ratiosOf(summary.answer);
  return (
    <List
      {...props}
      asked={asked}
      kind="mcp_server"
      column={['Failed', (name) => ratios.get(name) ?? null, (ratio) => cell(ratio, 'rate')]}
      badge={(name) => {
        const since = failing.get(name);
        return since === undefined ? null : (
          <>
            {' '}
            <Word word={since === null ? 'failing' : `failing since ${dayText(since)}`} tone="bad" />
          </>
        );
      }}
    />
  );
}

function ratiosOf(summary: Summary | undefined): Map<string, number | null> {
  return new Map(
    (summary?.data ?? []).map(({ group_key, failed_call_ratio }) => [group_key ?? '', failed_call_ratio]),
  );
}

/** The skills of the range, with how often they were used. */
function Skills({ asked, ...props }: ListProps) {
  const { address, last, session } = props;
  // Where people are protected, daily uses of skills aren't told.
  const isTold = may(session, 'see people by name');
  const tools = useAnswer<Days>(isTold ? analyticsPath('tools', rangeOf(address, last)) : undefined);
  const uses = new Map<string, number>();
  for (const { skills_by_name } of tools.answer?.data ?? [])
    for (const { name, count } of skills_by_name) uses.set(name, (uses.get(name) ?? 0) + count);
  return (
    <List
      {...props}
      asked={asked}
      kind="skill"
      column={
        isTold ? ['Uses', (name) => uses.get(name) ?? null, (count) => cell(count, 'count')] : undefined
      }
    />
  );
}

interface NamesProps extends ListProps {
  readonly kind: Kind;
  /** The last column: its head, its number and how that is written. */
  readonly column:
    | readonly [head: string, of: (name: string) => number | null, text: (value: number | null) => string]
    | undefined;
  readonly badge?: (name: string) => ComponentChildren;
}

function List({ address, last, session, asked, kind, column, badge }: NamesProps) {
  const range = rangeOf(address, last);
  const rows = (asked.answer?.data ?? []).filter((row) => row.kind === kind);
  const { title, name, one } = TEXTS[kind];
  const heads = [one, 'Users', 'Of active', 'New', 'Kept', ...(column === undefined ? [] : [column[0]])];
  return (
    <Panel
      name={`adopted-${name}`}
      title={`Who uses ${kind === 'skill' ? 'skills' : title}`}
      note="in this range"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: heads,
          rows: rows.map((row) => [
            ...[row.name, row.users, row.active_ratio, row.new_users, row.kept_ratio],
            ...(column === undefined ? [] : [column[1](row.name)]),
          ]),
        }
      }
      definition="report/adoption"
    >
      {asked.answer !== undefined && rows.length === 0 && <p class="note none">None in this range.</p>}
      {rows.length > 0 && (
        <ScrolledTable
          label={`${title} and their users`}
          class="adopted"
          columns={heads}
          numbers={heads.slice(1)}
        >
          {rows.slice(0, LISTED).map((row) => {
            const href = hrefOfName(address, range, session, row);
            return (
              <tr key={row.name}>
                <th scope="row">
                  {href === undefined ? (
                    <bdi>{row.name}</bdi>
                  ) : (
                    <a href={href}>
                      <bdi>{row.name}</bdi>
                    </a>
                  )}
                  {badge?.(row.name)}
                </th>
                <td class="number">
                  <b>{cell(row.users, 'count')}</b>
                </td>
                <td class="number">{figure(row.active_ratio, 'share')}</td>
                <td class="number">
                  {row.new_users === null
                    ? UNKNOWN
                    : `${row.new_users > 0 ? '+' : ''}${cell(row.new_users, 'count')}`}
                </td>
                <td class="number">{figure(row.kept_ratio, 'share')}</td>
                {column !== undefined && <td class="number">{column[2](column[1](row.name))}</td>}
              </tr>
            );
          })}
        </ScrolledTable>
      )}
      <p class="note">
        New: first used in this range. Kept: users of a whole week who used it in the next one too.
        {rows.length > LISTED && ` ${rows.length - LISTED} more stand in the table of the menu.`}
      </p>
    </Panel>
  );
}
