import { useState } from 'preact/hooks';
import { type Address, earlierOf, type Filter, hrefOf, rangeOf, toggled } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { type Asked, analyticsPath, useAnswer } from './client.js';
import { type Series, tableOf } from './day-chart.js';
import { type Day, daysOf, lengthOf, missingIn, type Range } from './days.js';
import { cell, change, figure, nameOf } from './format.js';
import { LabelledChart } from './legend.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { mostFirst } from './ranking.js';
import { Tabs } from './tabs.js';
import type { OpenDay } from './today.js';

type Tools = Answers['getAnalyticsTools'];
type ToolsRow = Extract<Tools['data'][number], { by_tool: unknown }>;
type ProductivityRow = Answers['getAnalyticsProductivity']['data'][number];
type ActivityRow = Extract<Answers['getAnalyticsActivity']['data'][number], { weekly_active_users: number }>;

/** Props of panels whose numbers exist only for the whole organization and day: they can't be filtered, so no filtered page has them. */
interface DailyProps extends RangeProps {
  readonly open: OpenDay | undefined;
}

/** An answer for the range and the one before, in one request. */
function useDays<Answer>(name: string, address: Address, last: Day): Asked<Answer> {
  return useAnswer<Answer>(
    analyticsPath(name, { from: earlierOf(address, last).from, to: rangeOf(address, last).to }),
  );
}

export function ActiveUsers({ address, last, open }: DailyProps) {
  const range = rangeOf(address, last);
  const asked = useAnswer<Answers['getAnalyticsActivity']>(analyticsPath('activity', range));
  const rows = new Map((asked.answer?.data as ActivityRow[] | undefined)?.map((row) => [row.date, row]));
  const of = (member: 'daily_active_users' | 'weekly_active_users' | 'monthly_active_users') => [
    ...daysOf(range).map((day) => rows.get(day)?.[member] ?? null),
    ...(open === undefined ? [] : [open.counts.activity[member]]),
  ];
  const series: Series[] = [
    { name: 'Day', color: '--accent', mark: 'column', values: of('daily_active_users') },
    { name: 'Week', color: '--ink', mark: 'line', values: of('weekly_active_users') },
    { name: 'Month', color: '--ink-3', mark: 'dashes', values: of('monthly_active_users') },
  ];
  return (
    <Panel
      name="active-users"
      title="Active users"
      note="on the day, in the 7 and the 30 days to it"
      asked={asked}
      table={asked.answer && tableOf({ range, open: open?.day, series })}
      definition="daily/activity"
    >
      <LabelledChart
        label="Active users"
        range={range}
        unbuilt={missingIn(range, asked.answer?.data)}
        open={open?.day}
        unit="count"
        series={series}
        height={220}
        entries={[...series].reverse().map(({ name, values, color }) => ({
          name,
          color,
          text: figure(
            values.slice(0, lengthOf(range)).findLast((value) => value !== null),
            'count',
          ),
        }))}
      />
    </Panel>
  );
}

const LEVELS = [
  ['auto_high', 'High', '--a3'],
  ['auto_medium', 'Medium', '--a2'],
  ['auto_low', 'Low', '--a1'],
  ['manual', 'Manual', '--a0'],
] as const;

export function Autonomy({ address, last, open }: DailyProps) {
  const range = rangeOf(address, last);
  const asked = useDays<Tools>('tools', address, last);
  const rows = new Map((asked.answer?.data as ToolsRow[] | undefined)?.map((row) => [row.date, row]));
  const series: Series[] = LEVELS.map(([level, name, color]) => ({
    name,
    color,
    mark: 'column',
    values: [
      ...daysOf(range).map((day) => rows.get(day)?.tool_autonomy_level_ratio[level] ?? null),
      ...(open === undefined ? [] : [open.counts.tools.tool_autonomy_level_ratio[level]]),
    ],
  }));
  const calls = useCallsByLevel(range);
  return (
    <Panel
      name="autonomy"
      title="Autonomy of tool calls"
      note="share of calls whose level is known"
      asked={asked}
      table={asked.answer && tableOf({ range, open: open?.day, series })}
      definition="daily/tools"
    >
      <LabelledChart
        label="Autonomy of tool calls"
        range={range}
        unbuilt={missingIn(range, asked.answer?.data)}
        open={open?.day}
        unit="share"
        series={series}
        isShare
        height={264}
        entries={LEVELS.map(([level, name, color]) => ({
          name,
          color,
          text: calls === undefined ? '' : figure(calls.shareOf(level), 'share'),
        }))}
      />
    </Panel>
  );
}

type ByLevel = { data: Extract<Tools['data'][number], { group_key: string }>[] };

/** The range's calls by level, without those whose level isn't known. */
function useCallsByLevel(range: Range) {
  const { answer } = useAnswer<ByLevel>(analyticsPath('tools', range, { group_by: 'autonomy_level' }));
  if (answer === undefined) return undefined;
  const sumOf = (isOf: (level: string) => boolean) =>
    answer.data.reduce((sum, row) => sum + (isOf(row.group_key) ? row.tool_calls : 0), 0);
  const known = sumOf((level) => level !== 'unknown');
  return { shareOf: (level: string) => (known === 0 ? null : sumOf((one) => one === level) / known) };
}

interface Counted {
  readonly key: string;
  readonly count: number;
}

/** A list that is counted by day: its sum in the range and in the one before. */
interface DailyList<Row> {
  readonly title: string;
  readonly column: string;
  readonly measure: string;
  readonly definition: string;
  /** The filter that a row sets. */
  readonly filter?: Filter;
  readonly of: (row: Row) => readonly Counted[];
}

type DailyLists<Row> = readonly [DailyList<Row>, ...DailyList<Row>[]];

const MCP_SERVERS: DailyLists<ToolsRow> = [
  {
    ...{ title: 'MCP servers', column: 'MCP server', measure: 'Tool calls', filter: 'mcp_server' },
    definition: 'report/tools_by_server',
    of: (row) => row.mcp_by_server.map(({ server, invocations }) => ({ key: server, count: invocations })),
  },
];
const TOOLS: DailyLists<ToolsRow> = [
  {
    ...{ title: 'Tools', column: 'Tool', measure: 'Tool calls', filter: 'tool' },
    definition: 'report/tools_by_tool',
    of: (row) => row.by_tool.map(({ tool, invocations }) => ({ key: tool, count: invocations })),
  },
];
const HABITS: DailyLists<ToolsRow> = [
  {
    ...{ title: 'Skills', column: 'Skill', measure: 'Uses', definition: 'daily/user_skills' },
    of: (row) => row.skills_by_name.map(({ name, count }) => ({ key: name, count })),
  },
  {
    ...{ title: 'Commands', column: 'Command', measure: 'Uses', definition: 'daily/user_slash_commands' },
    of: (row) => row.slash_commands_by_name.map(({ name, count }) => ({ key: `/${name}`, count })),
  },
  {
    ...{ title: 'Hooks', column: 'Hook', measure: 'Runs', definition: 'daily/user_hooks' },
    of: (row) =>
      row.hooks_by_event.map(({ event, matcher, command, count }) => ({
        key: [event, matcher, command].filter(Boolean).join(' · '),
        count,
      })),
  },
];
const LANGUAGES: DailyLists<ProductivityRow> = [
  {
    ...{ title: 'Languages', column: 'Language', measure: 'Files' },
    definition: 'report/productivity_by_language',
    of: (row) => row.by_language.map(({ language, count }) => ({ key: language, count })),
  },
  {
    ...{ title: 'Files', column: 'Ending', measure: 'Files' },
    definition: 'report/productivity_by_extension',
    of: (row) => row.by_extension.map(({ extension, count }) => ({ key: extension || 'none', count })),
  },
];

/** Lists of the tools that agents call and of the features that people use, for a page without filters: only the summary can be filtered. */
export function Lists({ address, last }: RangeProps) {
  const tools = useDays<Days<ToolsRow>>('tools', address, last);
  const productivity = useDays<Days<ProductivityRow>>('productivity', address, last);
  const of = { address, last };
  return (
    <>
      <DailyListPanel {...of} name="mcp-servers" lists={MCP_SERVERS} asked={tools} />
      <DailyListPanel {...of} name="tools" lists={TOOLS} asked={tools} />
      <DailyListPanel {...of} name="habits" lists={HABITS} asked={tools} />
      <DailyListPanel {...of} name="languages" lists={LANGUAGES} asked={productivity} />
    </>
  );
}

type Days<Row> = { data: Row[] };

interface DailyListPanelProps<Row> extends RangeProps {
  readonly name: string;
  readonly lists: DailyLists<Row>;
  readonly asked: Asked<Days<Row>>;
}

function DailyListPanel<Row extends { date: Day }>(props: DailyListPanelProps<Row>) {
  const { name, lists, asked, address, last } = props;
  const range = rangeOf(address, last);
  const compared = earlierOf(address, last);
  const [at, setAt] = useState(0);
  const { title, column, measure, definition, filter, of } = lists[at] ?? lists[0];
  const now = new Map<string, number>();
  const earlier = new Map<string, number>();
  const days = asked.answer?.data ?? [];
  for (const row of days)
    for (const { key, count } of of(row)) {
      const sums = isIn(row.date, range) ? now : isIn(row.date, compared) ? earlier : undefined;
      sums?.set(key, (sums.get(key) ?? 0) + count);
    }
  const rows = mostFirst(now);
  const hasEarlier = days.some(({ date }) => isIn(date, compared));
  const countBefore = (key: string) => (hasEarlier ? (earlier.get(key) ?? 0) : null);
  return (
    <Panel
      name={name}
      title={
        lists.length === 1 ? title : <Tabs names={lists.map((list) => list.title)} at={at} choose={setAt} />
      }
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [column, measure, `${measure} before`],
          rows: rows.map(([key, count]) => [key, count, countBefore(key)]),
        }
      }
      definition={definition}
      span={4}
    >
      <BarList
        columns={[column, measure, 'Change']}
        isKnown={asked.answer !== undefined}
        rows={rows.slice(0, 6).map(([key, count]) => ({
          key,
          name: filter === undefined ? key : nameOf(filter, key),
          href: filter && hrefOf(toggled(address, filter, key)),
          value: count,
          cells: [cell(count, 'count'), change(count, countBefore(key))],
        }))}
        more={
          filter === undefined ? (
            rows.length > 6 && `${rows.length - 6} more in the table`
          ) : (
            <a href={hrefOf({ ...address, path: ['tools'], choices: {} })}>All, and failed calls</a>
          )
        }
      />
    </Panel>
  );
}

function isIn(day: Day, { from, to }: Range): boolean {
  return from <= day && day <= to;
}
