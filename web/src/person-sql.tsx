import SESSIONS from '../../sql/cookbook/sessions.sql?raw';
import HOURS from '../../sql/cookbook/working_hours.sql?raw';
import { hrefOf, rangeOf } from './address.js';
import { Cells } from './cells.js';
import { type Asked, useAnswer } from './client.js';
import type { Range } from './days.js';
import { cell, minuteText, nameOf, weekdayName } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { ScrolledTable } from './scrolled-table.js';
import { numberOf, type Row, type SqlAnswer, textOf } from './sql-answer.js';
import { withDraft } from './sql-draft.js';

interface PersonSqlProps extends RangeProps {
  readonly userId: string;
}

/** A cookbook question, restricted to one person. */
const of = (question: string) => `SELECT *\nFROM (\n${question})\nWHERE user_id = $user\n`;
const HOURS_OF_PERSON = of(HOURS);
const SESSIONS_OF_PERSON = `${of(SESSIONS)}ORDER BY started_at DESC, session_id\n`;

/** How many sessions are listed. */
const LISTED = 8;

/** A person's working hours and sessions from the cookbook, for readers who may run SQL. No filtered page has them. */
export function PersonSql(props: PersonSqlProps) {
  const range = rangeOf(props.address, props.last);
  const hours = useQuestion(HOURS_OF_PERSON, range, props.userId);
  // One after the other, since an organization can only run a few queries at a time.
  const isReady = hours.answer !== undefined || hours.error !== undefined;
  const sessions = useQuestion(
    isReady ? `${SESSIONS_OF_PERSON}LIMIT ${LISTED}` : undefined,
    range,
    props.userId,
  );
  return (
    <>
      <Hours asked={hours} />
      <Sessions {...props} asked={sessions} />
    </>
  );
}

function useQuestion(sql: string | undefined, { from, to }: Range, user: string): Asked<SqlAnswer> {
  return useAnswer<SqlAnswer>(
    sql && 'api/v1/sql',
    sql && JSON.stringify({ sql, params: { from, to, user } }),
  );
}

interface AskedProps {
  readonly asked: Asked<SqlAnswer>;
}

const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7];
const HOURS_OF_DAY = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

function Hours({ asked }: AskedProps) {
  const calls = new Map(
    asked.answer?.data.map((row) => [`${row.weekday} ${row.hour}`, numberOf(row.tool_calls) ?? 0]),
  );
  const callsAt = (weekday: number, hour: string) => calls.get(`${weekday} ${Number(hour)}`) ?? 0;
  const most = Math.max(1, ...calls.values());
  return (
    <Panel
      name="hours"
      title="When the work happens"
      note="tool calls by weekday and hour, UTC"
      asked={asked}
      table={
        asked.answer && {
          columns: ['Hour', ...WEEKDAYS.map(weekdayName)],
          rows: HOURS_OF_DAY.map((hour) => [hour, ...WEEKDAYS.map((weekday) => callsAt(weekday, hour))]),
        }
      }
      definition="cookbook/working_hours"
    >
      <Cells
        columns={HOURS_OF_DAY}
        names={WEEKDAYS.map(weekdayName)}
        cells={WEEKDAYS.flatMap((weekday) =>
          HOURS_OF_DAY.map((hour) => ({
            name: weekdayName(weekday),
            column: hour,
            share: callsAt(weekday, hour) / most,
            title: `${weekdayName(weekday)} ${hour}:00 UTC, tool calls: ${cell(callsAt(weekday, hour), 'count')}`,
          })),
        ).filter(({ share }) => share > 0)}
        named={HOURS_OF_DAY.filter((hour) => Number(hour) % 6 === 0)}
        text={String}
      />
    </Panel>
  );
}

/** The columns of sessions: the heading, the column of the answer, and how its cells are written. */
const COLUMNS: readonly (readonly [name: string, column: string, text: (value: Row[string]) => string])[] = [
  ['Repository', 'repo', (value) => nameOf('repo', textIn(value))],
  ['Agent', 'agent', (value) => nameOf('agent', textIn(value))],
  ['Minutes', 'minutes', (value) => cell(Math.round(numberOf(value) ?? 0), 'count')],
  ['Turns', 'user_turns', (value) => cell(numberOf(value), 'count')],
  ['Tool calls', 'tool_calls', (value) => cell(numberOf(value), 'count')],
  ['Commits', 'commits', (value) => cell(numberOf(value), 'count')],
  ['PRs', 'pull_requests', (value) => cell(numberOf(value), 'count')],
  ['Cost', 'cost_usd', (value) => (value === null ? 'no price' : cell(numberOf(value), 'dollars'))],
];
const NAMES = COLUMNS.map(([name]) => name);
const NUMBERS = NAMES.slice(2);

function textIn(value: Row[string]): string | null {
  return value === null ? null : textOf(value);
}

function Sessions({ address, asked, userId }: PersonSqlProps & AskedProps) {
  const rows = asked.answer?.data ?? [];
  const inSql = withDraft(
    { ...address, path: ['sql'], choices: {}, filters: {} },
    { sql: SESSIONS_OF_PERSON, values: { user: userId } },
  );
  return (
    <Panel
      name="sessions"
      title="Sessions"
      note="the newest first, in UTC"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Started', ...NAMES],
          dollars: ['Cost'],
          rows: rows.map((row) => [
            textOf(row.started_at),
            ...COLUMNS.map(([name, column]) =>
              NUMBERS.includes(name) ? numberOf(row[column]) : textIn(row[column] ?? null),
            ),
          ]),
        }
      }
      definition="cookbook/sessions"
      span={12}
    >
      {rows.length === 0 ? (
        <p class="note none">{asked.answer === undefined ? '–' : 'None in this range.'}</p>
      ) : (
        <ScrolledTable label="Rows of sessions" columns={['Started', ...NAMES]} numbers={NUMBERS}>
          {rows.map((row) => (
            <tr key={textOf(row.session_id)}>
              <th scope="row">{minuteText(textOf(row.started_at))}</th>
              {COLUMNS.map(([name, column, text]) => (
                <td
                  key={column}
                  class={NUMBERS.includes(name) ? 'number' : ''}
                  title={textIn(row[column] ?? null) ?? ''}
                >
                  <bdi>{text(row[column] ?? null)}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </ScrolledTable>
      )}
      <p class="note">
        <a href={hrefOf(inSql)}>All sessions in SQL</a>
      </p>
    </Panel>
  );
}
