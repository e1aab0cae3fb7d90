import { useState } from 'preact/hooks';
import { type Address, FILTERS, type Filter, hrefOf, rangeOf, toggled } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { type Asked, useAnswer, withQuery } from './client.js';
import { DayChart, type Series, tableOf } from './day-chart.js';
import { before, type Day, daysOf, lengthOf, missingIn, type Range } from './days.js';
import { cell, change, figure, nameOf } from './format.js';
import { Groups } from './groups.js';
import { Legend } from './model-charts.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { Tabs } from './tabs.js';
import type { OpenDay } from './today.js';

type Tools = Answers['getAnalyticsTools'];
type ToolsRow = Extract<Tools['data'][number], { by_tool: unknown }>;
type ProductivityRow = Answers['getAnalyticsProductivity']['data'][number];
type ActivityRow = Extract<Answers['getAnalyticsActivity']['data'][number], { weekly_active_users: number }>;

interface DailyPanelsProps extends RangeProps {
  readonly part: 'users' | 'autonomy' | 'lists';
  readonly open?: OpenDay | undefined;
}

/** What only the whole organization's days have: they can't be filtered, and say so while the page is. */
export function DailyPanels({ address, last, part, open }: DailyPanelsProps) {
  const range = rangeOf(address, last);
  const isFiltered = FILTERS.some((name) => address.filters[name] !== undefined);
  if (part === 'users') return <ActiveUsers range={range} isFiltered={isFiltered} open={open} />;
  if (part === 'autonomy') return <Autonomy range={range} isFiltered={isFiltered} open={open} />;
  return <Lists address={address} last={last} isFiltered={isFiltered} />;
}

interface DailyProps {
  readonly range: Range;
  readonly isFiltered: boolean;
  readonly open?: OpenDay | undefined;
}

const UNFILTERED = 'all people and models: not filtered';

/** An answer of the range and of the one before, which is asked for at once. */
function useDays<Answer>(name: string, range: Range): Asked<Answer> {
  return useAnswer<Answer>(
    withQuery(`api/v1/analytics/${name}`, { startDate: before(range).from, endDate: range.to }),
  );
}

function ActiveUsers({ range, isFiltered, open }: DailyProps) {
  const asked = useAnswer<Answers['getAnalyticsActivity']>(
    withQuery('api/v1/analytics/activity', { startDate: range.from, endDate: range.to }),
  );
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
      note={isFiltered ? UNFILTERED : 'on the day, in the 7 and the 30 days to it'}
      asked={asked}
      table={asked.answer && tableOf({ range, open: open?.day, series })}
      definition="daily/activity"
    >
      <div class="beside">
        <DayChart
          label="Active users"
          range={range}
          unbuilt={missingIn(range, asked.answer?.data)}
          open={open?.day}
          unit="count"
          series={series}
          height={220}
        />
        <Legend
          entries={[...series].reverse().map(({ name, values, color }) => ({
            name,
            color,
            text: figure(
              values.slice(0, lengthOf(range)).findLast((value) => value !== null),
              'count',
            ),
          }))}
        />
      </div>
    </Panel>
  );
}

const LEVELS = [
  ['manual', 'Manual', '--a0'],
  ['auto_low', 'Low', '--a1'],
  ['auto_medium', 'Medium', '--a2'],
  ['auto_high', 'High', '--a3'],
] as const;

function Autonomy({ range, isFiltered, open }: DailyProps) {
  const asked = useDays<Tools>('tools', range);
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
      note={isFiltered ? UNFILTERED : 'share of calls whose level is known'}
      asked={asked}
      table={asked.answer && tableOf({ range, open: open?.day, series })}
      definition="daily/tools"
    >
      <div class="beside">
        <DayChart
          label="Autonomy of tool calls"
          range={range}
          unbuilt={missingIn(range, asked.answer?.data)}
          open={open?.day}
          unit="share"
          series={series}
          isShare
          height={264}
        />
        <Legend
          entries={[...LEVELS].reverse().map(([level, name, color]) => ({
            name,
            color,
            text: calls === undefined ? '' : figure(calls.shareOf(level), 'share'),
          }))}
        />
      </div>
    </Panel>
  );
}

type ByLevel = { data: Extract<Tools['data'][number], { group_key: string }>[] };

/** How many calls of the range each level has, of those whose level is known. */
function useCallsByLevel(range: Range) {
  const { answer } = useAnswer<ByLevel>(
    withQuery('api/v1/analytics/tools', {
      ...{ startDate: range.from, endDate: range.to, group_by: 'autonomy_level' },
    }),
  );
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
interface DailyList {
  readonly title: string;
  readonly column: string;
  readonly measure: string;
  readonly definition: string;
  readonly from: 'tools' | 'productivity';
  /** What a press on a row filters by. While the page is filtered, the summary has this list. */
  readonly filter?: Filter;
  readonly of: (row: ToolsRow & ProductivityRow) => readonly Counted[];
}

const LISTS: readonly (readonly [string, readonly [DailyList, ...DailyList[]]])[] = [
  [
    'mcp-servers',
    [
      {
        ...{
          title: 'MCP servers',
          column: 'MCP server',
          measure: 'Tool calls',
          from: 'tools',
          filter: 'mcp_server',
        },
        definition: 'report/tools_by_server',
        of: (row) =>
          row.mcp_by_server.map(({ server, invocations }) => ({ key: server, count: invocations })),
      },
    ],
  ],
  [
    'tools',
    [
      {
        ...{ title: 'Tools', column: 'Tool', measure: 'Tool calls', from: 'tools', filter: 'tool' },
        definition: 'report/tools_by_tool',
        of: (row) => row.by_tool.map(({ tool, invocations }) => ({ key: tool, count: invocations })),
      },
    ],
  ],
  [
    'habits',
    [
      {
        ...{
          title: 'Skills',
          column: 'Skill',
          measure: 'Uses',
          definition: 'daily/user_skills',
          from: 'tools',
        },
        of: (row) => row.skills_by_name.map(({ name, count }) => ({ key: name, count })),
      },
      {
        ...{ title: 'Commands', column: 'Command', measure: 'Uses', from: 'tools' },
        definition: 'daily/user_slash_commands',
        of: (row) => row.slash_commands_by_name.map(({ name, count }) => ({ key: `/${name}`, count })),
      },
      {
        ...{ title: 'Hooks', column: 'Hook', measure: 'Runs', definition: 'daily/user_hooks', from: 'tools' },
        of: (row) =>
          row.hooks_by_event.map(({ event, matcher, command, count }) => ({
            key: [event, matcher, command].filter(Boolean).join(' · '),
            count,
          })),
      },
    ],
  ],
  [
    'languages',
    [
      {
        ...{ title: 'Languages', column: 'Language', measure: 'Files', from: 'productivity' },
        definition: 'report/productivity_by_language',
        of: (row) => row.by_language.map(({ language, count }) => ({ key: language, count })),
      },
      {
        ...{ title: 'Files', column: 'Ending', measure: 'Files', from: 'productivity' },
        definition: 'report/productivity_by_extension',
        of: (row) => row.by_extension.map(({ extension, count }) => ({ key: extension || 'none', count })),
      },
    ],
  ],
];

function Lists({ address, last, isFiltered }: RangeProps & { isFiltered: boolean }) {
  const range = rangeOf(address, last);
  const answers = {
    tools: useDays<{ data: (ToolsRow & ProductivityRow)[] }>('tools', range),
    productivity: useDays<{ data: (ToolsRow & ProductivityRow)[] }>('productivity', range),
  };
  return (
    <>
      {LISTS.map(([name, lists]) =>
        isFiltered && (name === 'tools' || name === 'mcp-servers') ? (
          <Groups key={name} address={address} last={last} name={name} />
        ) : (
          <DailyListPanel
            key={name}
            name={name}
            lists={lists}
            answers={answers}
            range={range}
            isFiltered={isFiltered}
            address={address}
          />
        ),
      )}
    </>
  );
}

interface DailyListPanelProps extends DailyProps {
  readonly name: string;
  readonly address: Address;
  readonly lists: readonly [DailyList, ...DailyList[]];
  readonly answers: Readonly<Record<DailyList['from'], Asked<{ data: (ToolsRow & ProductivityRow)[] }>>>;
}

function DailyListPanel({ name, lists, answers, range, isFiltered, address }: DailyListPanelProps) {
  const [at, setAt] = useState(0);
  const { title, column, measure, definition, from, filter, of } = lists[at] ?? lists[0];
  const asked = answers[from];
  const now = new Map<string, number>();
  const earlier = new Map<string, number>();
  for (const row of asked.answer?.data ?? [])
    for (const { key, count } of of(row)) {
      const sums = isIn(row.date, range) ? now : earlier;
      sums.set(key, (sums.get(key) ?? 0) + count);
    }
  const rows = [...now].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return (
    <Panel
      name={name}
      title={
        lists.length === 1 ? title : <Tabs names={lists.map((list) => list.title)} at={at} choose={setAt} />
      }
      note={isFiltered ? 'not filtered' : undefined}
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [column, measure, `${measure} before`],
          rows: rows.map(([key, count]) => [key, count, earlier.get(key) ?? 0]),
        }
      }
      definition={definition}
      span={4}
    >
      <BarList
        columns={[column, measure, 'Change']}
        none={asked.answer === undefined ? '–' : undefined}
        rows={rows.slice(0, 6).map(([key, count]) => ({
          key,
          name: filter === undefined ? key : nameOf(filter, key),
          href: filter && hrefOf(toggled(address, filter, key)),
          value: count,
          cells: [cell(count, 'count'), change(count, earlier.get(key) ?? 0)],
        }))}
        more={rows.length > 6 ? `${rows.length - 6} more in the table` : undefined}
      />
    </Panel>
  );
}

function isIn(day: Day, { from, to }: Range): boolean {
  return from <= day && day <= to;
}
