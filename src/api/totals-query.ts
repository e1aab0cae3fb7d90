import { z } from 'zod';
import { addDays, type Day, isDay, laterDay, MS_PER_DAY } from '../day.js';
import type { Kind } from '../input/kinds.js';
import { monthBefore } from '../input/month-before.js';
import type { ClosedNames } from '../store/state/closed-names.js';
import type { Parameters } from '../store/store.js';
import { memberNames } from '../store/tables.js';
import { type Answer, isKind } from './answer-names.js';
import { ApiError } from './errors.js';
import { filterOf } from './filter.js';
import type { Guard } from './protection.js';

export const INTERVALS = ['day', 'week', 'month'] as const;

/** What a range can be compared with: as many days before it, or the same days of the month before. */
const COMPARISONS = ['previous', 'month'] as const;

/** How many rows a page has, and at most. */
export const TOTALS_LIMIT = 100;
const LIMIT = 1000;

const A_LIMIT = `must be an integer from 1 to ${LIMIT}`;
const A_CURSOR = 'must be next_cursor of the previous page';
const A_SEARCH = 'must be a text of 1 to 255 characters';
const KEYS_LIMIT = 100;
const GROUP_KEYS = `must be a JSON array of 1 to ${KEYS_LIMIT} texts, such as ["ada","grace"]`;
const Keys = z
  .array(z.string().regex(/^[^\0]*$/))
  .min(1)
  .max(KEYS_LIMIT);

/** The parameters of the summary that choose among its groups. */
export const NEEDS_GROUPS = ['search', 'group_keys'] as const;

/** The keys of groups in a JSON array; undefined for anything else. */
export function keysOf(text: string): string[] | undefined {
  try {
    return Keys.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Keys in one text, as is_wanted reads them: each between commas, which in keys are written ~c, and ~ as ~~. */
function listOf(text: string | undefined): string | null {
  const keys = text === undefined ? undefined : keysOf(text);
  return keys === undefined
    ? null
    : `,${keys.map((key) => key.replaceAll('~', '~~').replaceAll(',', '~c')).join(',')},`;
}

/** The numeric members of the summary: its rows can be sorted by each. */
const NUMBERS = memberNames('summary').filter(
  (name) => !['date', 'group_key', 'currency', 'previous', 'data_begins'].includes(name),
);

/** Rows can be sorted by what their cost has changed by, too: `abs` is up or down. */
const CHANGES = ['change', 'change:asc', 'change:abs'];

const A_VALUE = 'must be a text of 1 to 4096 characters';
const Value = z.string(A_VALUE).regex(/^[^\0]{1,4096}$/, A_VALUE);

/** A filter by texts. */
function filter(description: string, ...examples: readonly string[]) {
  return filterOf(Value, { description, examples });
}

/** What a range is compared with. */
function comparison(description: string, example: (typeof COMPARISONS)[number]) {
  return z
    .enum(COMPARISONS, 'must be previous, month or absent')
    .meta({ description, examples: [example] })
    .optional();
}

/** The filters of the summary and of costs. */
export const Filters = {
  user_id: filter('only these users', 'ada', 'grace'),
  model: filter(
    'only the tokens and cost of these models; for all else the sessions with one of them',
    'claude-opus-4-5',
    'claude-sonnet-4-5',
  ),
  agent: filter('only events of these agents; (none) for events that name none', 'claude-code', 'codex'),
  repo: filter(
    'only events in these repositories, in any spelling of their addresses; (none) for events that name none',
    'github.com/acme/api',
    'github.com/acme/web',
  ),
  client: filter(
    'only events on these clients; (none) for events that name none',
    'desktop-app',
    'terminal-ui',
  ),
  team: filter(
    'only events of people who belonged to these teams on the day; (none) for events of others',
    'Compilers',
    'Web',
  ),
  cost_center: filter('the same for cost centres; (none) for events of people without one', '4711', '4712'),
  tool: filter('only calls of these tools; for all else the sessions with one', 'Edit', 'Write'),
  mcp_server: filter(
    'only calls of tools of these MCP servers; for all else the sessions with one',
    'github',
    'jira',
  ),
};

/** The parameters that the summary and costs share, besides their groups. */
export const TotalsQuery = {
  ...Filters,
  limit: z
    .string(A_LIMIT)
    .regex(/^([1-9]\d{0,2}|1000)$/, A_LIMIT)
    .meta({
      // A query string has only texts; this one is a number.
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: LIMIT,
      default: TOTALS_LIMIT,
      description: 'rows per page',
      examples: [50],
    })
    .optional(),
  cursor: z
    .string(A_CURSOR)
    .max(8192, A_CURSOR)
    .refine((text) => placeOf(text) !== undefined, A_CURSOR)
    .meta({
      description: 'next_cursor of the previous page',
      examples: [cursorOf('2026-06-01 -12.75 2026-06-01 ada')],
    })
    .optional(),
};

/** The parameters of the summary alone. */
export const SummaryQuery = {
  interval: z
    .enum(INTERVALS, `must be ${INTERVALS.join(', ')} or absent`)
    .meta({ description: 'one row per day, ISO week or month and group', examples: ['week'] })
    .optional(),
  sort: z
    .enum(
      [...NUMBERS.flatMap((name) => [name, `${name}:asc`]), ...CHANGES],
      'must be a numeric member of the rows, such as cost_usd, one with :asc behind it, or change, change:asc or change:abs',
    )
    .meta({
      description:
        'the member to sort by, descending unless :asc is behind it; a null cost_usd is below 0; change is that of cost_usd, and with it groups that had something only before are rows, too; without it rows come by date, then by cost_usd descending',
      examples: ['sessions'],
    })
    .optional(),
  search: z
    .string(A_SEARCH)
    .regex(/^[^\0]{1,255}$/, A_SEARCH)
    .meta({
      description: 'only groups whose key has this text in it, in upper or lower case; needs group_by',
      examples: ['ada'],
    })
    .optional(),
  group_keys: z
    .string(GROUP_KEYS)
    .max(65_536, GROUP_KEYS)
    .refine((text) => keysOf(text) !== undefined, GROUP_KEYS)
    .meta({
      description: `only these groups: a JSON array of up to ${KEYS_LIMIT} keys; needs group_by`,
      examples: ['["ada","grace"]'],
    })
    .optional(),
  compare: comparison(
    'also the same members of as many days before, or of the same days of the month before; with interval=day, of the same weekday four weeks before; none if one of these days is not built, or data begins later',
    'previous',
  ),
};

/** The parameters of what changed, besides the range and the filters. */
export const ChangesQuery = {
  compare: comparison(
    'from as many days before (the default), or from the same days of the month before',
    'month',
  ),
};

type Compared = Pick<Totals, 'compare' | 'interval' | 'sort'> & Slice;

/** Why a comparison can't be made, as a clause behind the name of a parameter; undefined if it can. */
export function faultOfComparison({
  from,
  to,
  compare,
  interval,
  sort,
}: Compared): [parameter: string, fault: string] | undefined {
  if (compare === undefined && CHANGES.includes(sort ?? '')) return ['sort', 'needs compare'];
  if (compare !== 'month') return undefined;
  if (interval !== undefined) return ['compare', 'must be previous with interval'];
  return from.slice(0, 7) === to.slice(0, 7)
    ? undefined
    : ['compare', 'must be previous for a range of several months'];
}

/** What the summary and costs can be asked for besides the range, the groups and the page, as it crosses to another process. */
export const Totals = z.strictObject({ ...SummaryQuery, ...Filters });
export type Totals = z.infer<typeof Totals>;

/** The members of a query that are totals' own. */
export function totalsOf(query: Totals): Totals {
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(Totals.shape, name)));
}

/** A request for totals. */
interface Asked {
  readonly from: Day;
  readonly to: Day;
  readonly groupBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly historyStart?: Day | undefined;
  readonly guard?: Guard | undefined;
  readonly before?: Slice | undefined;
  readonly closedNames?: ClosedNames | undefined;
  readonly totals: Totals;
}

/** Which row a page begins behind. */
interface Place {
  readonly after_day: Day;
  readonly after_value: string;
  readonly after_period: Day;
  readonly after_key: string;
}

const PLACE = /^(\d{4}-\d\d-\d\d) (-?\d{1,26}(?:\.\d{1,12})?) (\d{4}-\d\d-\d\d) ([\s\S]*)$/;

function placeOf(cursor: string): Place | undefined {
  const [, day, value, period, key] = PLACE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (day === undefined || value === undefined || period === undefined || key === undefined) return undefined;
  return isDay(day) && isDay(period)
    ? { after_day: day, after_value: value, after_period: period, after_key: key }
    : undefined;
}

/** The cursor of a page that begins behind a place, as the SQL writes it. */
export function cursorOf(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/** How many days a range has. */
function daysIn(from: Day, to: Day): number {
  return (Date.parse(to) - Date.parse(from)) / MS_PER_DAY + 1;
}

/** A part of a range, both ends included. */
export interface Slice {
  readonly from: Day;
  readonly to: Day;
}

/** The days that a range is compared with. */
export function beforeOf({ from, to }: Slice, compare: Totals['compare']): Slice {
  return compare === 'month'
    ? monthBefore({ from, to })
    : { from: addDays(from, -daysIn(from, to)), to: addDays(from, -1) };
}

/** The first day that is read: with a comparison also days before the range, but none before the history start. */
export function earliestOf(
  { from, to, historyStart }: Pick<Asked, 'from' | 'to' | 'historyStart'>,
  compare: Totals['compare'],
): Day {
  if (compare === undefined) return from;
  // A row of a month or less is compared with as many days before it, with a day four weeks before, or with days of the month before.
  const earliest = addDays(from, -Math.max(daysIn(from, to), 31));
  return historyStart === undefined ? earliest : laterDay(earliest, historyStart);
}

/** A filter's values as the day tables have them: nothing is the empty text. */
function named(values: readonly string[] | undefined): readonly string[] | null {
  return values?.map((value) => (value === '(none)' ? '' : value)) ?? null;
}

/** Whether the groups and filters of a request choose sessions: those in which a model or a call occurs. */
function choiceOf({ groupBy, totals }: Asked) {
  const isAsked = (group: string, filter: readonly string[] | undefined) =>
    groupBy === group || filter !== undefined;
  return {
    hasModel: isAsked('model', totals.model) || groupBy === 'model_key',
    hasCall: isAsked('tool', totals.tool) || isAsked('mcp_server', totals.mcp_server),
  };
}

/** The files of `sql/report` that totals read, by the names that they have there. */
export function sourceFilesOf(answer: Answer, asked: Asked): Readonly<Record<string, string>> {
  const { hasModel, hasCall } = choiceOf(asked);
  const hasWork = answer === 'summary';
  const hasSessions = hasCall || (hasWork && hasModel);
  const work = `work_of_${hasSessions ? 'sessions' : 'parts'}`;
  const usage = `usage_of_${hasCall ? 'sessions' : 'parts'}`;
  return {
    token_price: 'token_price',
    belongs_to: 'belongs_to',
    ...(hasSessions ? { chosen_session: 'chosen_session' } : {}),
    ...(asked.guard === undefined
      ? { ...(hasWork ? { work } : {}), usage }
      : {
          ...GUARD_FILES,
          ...(hasWork ? { found_work: work, work: 'shown_work' } : {}),
          ...{ found_usage: usage, usage: 'shown_usage' },
        }),
    ...(answer === 'costs' || answer === 'focus' ? {} : { data_begin: 'data_begin' }),
    ...(hasWork ? {} : { priced_usage: 'priced_usage' }),
  };
}

/** The letters by which sql/report/placed_row.sql names filters, in its order. */
const LETTERS = {
  agent: 'a',
  client: 'c',
  repo: 'r',
  team: 't',
  cost_center: 'o',
  model: 'm',
  tool: 'l',
  mcp_server: 's',
} as const;

/** The letters of the filters that a request has, in their order. */
function lettersOf(totals: Totals): string[] {
  return Object.entries(LETTERS)
    .filter(([name]) => totals[name as keyof typeof LETTERS] !== undefined)
    .map(([, letter]) => letter);
}

/** How many filters a guarded request can have: the sets of them double with each. */
const FILTERS_AT_MOST = 3;

/** Throws 403 for a guarded request with too many filters. */
export function requireFewFilters(totals: Totals): void {
  if (lettersOf(totals).length > FILTERS_AT_MOST)
    throw new ApiError(
      403,
      `The organization protects people, so a request can have ${FILTERS_AT_MOST} filters at most: leave one out.`,
    );
}

/** All sets of some letters but the empty one, each in their order. */
function setsOf(letters: readonly string[]): string[] {
  const sets: string[] = [];
  for (const letter of letters) sets.push(letter, ...sets.map((set) => set + letter));
  return sets;
}

/**
 * The sets of rows by which a request's answer can differ from another's: rows of `part`, a set of its filters, and `missed`, the filters that leave
 * out what all filters but those of the set let in. All that the filters let in has two empty ones. A slice (`is_slice`) is by one filter.
 */
export function filterSetsSql(totals: Totals): string {
  const letters = lettersOf(totals);
  const wider = setsOf(letters).flatMap((part) => setsOf([...part]).map((missed) => [missed, part, 0]));
  const slices = letters.flatMap((letter) => ['', letter].map((missed) => [missed, letter, 1]));
  return [['', '', 0], ...wider, ...slices]
    .map(([missed, part, slice]) => `SELECT '${missed}' AS missed, '${part}' AS part, ${slice} AS is_slice`)
    .join(' UNION ALL ');
}

/** The files that join groups of few people, each after those that it reads. small_joined is small_cell.sql of told_cell. */
export const GUARD_FILES = {
  placed_row: 'placed_row',
  set_person: 'set_person',
  small_cell: 'small_cell',
  told_cell: 'told_cell',
  small_joined: 'small_cell',
  shown_cell: 'shown_cell',
  shown_person: 'shown_person',
};

/**
 * The parameters of sql/report/belongs_to.sql and of the filters by team and cost centre; those of sql/report/told_belonging.sql if telemetry may tell
 * them.
 */
export function belongingOf(
  groupBy: string | undefined,
  { team, cost_center }: Pick<Totals, 'team' | 'cost_center'>,
  closed: ClosedNames | undefined,
): Parameters {
  const kindOf = (kind: Kind, values: readonly string[] | undefined) =>
    groupBy === kind || values !== undefined ? kind : '';
  return {
    ...{ team: named(team), cost_center: named(cost_center) },
    ...{ team_kind: kindOf('team', team), cost_center_kind: kindOf('cost_center', cost_center) },
    // A list isn't empty, and nobody tells the empty name.
    ...(closed && { closed_team: ['', ...closed.team], closed_cost_center: ['', ...closed.cost_center] }),
  };
}

/** The parameters of sql/report/summary.sql, changes.sql, costs.sql, focus.sql and the files that they read. Without a limit all rows are on one page. */
export function parametersOf(asked: Asked): Parameters {
  const { groupBy, limit, cursor, totals } = asked;
  const { interval, sort = 'cost_usd', compare } = totals;
  const { user_id, model, agent, repo, client, tool, mcp_server } = totals;
  const { hasModel, hasCall } = choiceOf(asked);
  const [member, direction] = sort.split(':');
  const place = cursor === undefined ? undefined : placeOf(cursor);
  const { before = beforeOf(asked, compare) } = asked;
  return {
    previous_from: { day: before.from },
    previous_to: { day: before.to },
    begins_by: isKind(groupBy) ? String(groupBy) : 'none',
    earliest: { day: earliestOf(asked, compare) },
    group_by: groupBy ?? 'none',
    floor: asked.guard?.floor ?? 0,
    period: interval ?? 'none',
    compare: compare ?? 'none',
    sort: member ?? '',
    direction: direction ?? 'desc',
    is_by_date: totals.sort === undefined ? 1 : 0,
    has_model: hasModel ? 1 : 0,
    has_call: hasCall ? 1 : 0,
    user_id: user_id ?? null,
    model: model ?? null,
    agent: named(agent),
    repo: named(repo),
    client: named(client),
    ...belongingOf(groupBy, totals, asked.closedNames),
    tool: tool ?? null,
    mcp_server: mcp_server ?? null,
    wanted_keys: listOf(totals.group_keys),
    wanted_text: totals.search ?? null,
    limit: limit ?? Number.MAX_SAFE_INTEGER - 1,
    after_day: place === undefined ? null : { day: place.after_day },
    after_value: place?.after_value ?? null,
    after_period: place === undefined ? null : { day: place.after_period },
    after_key: place?.after_key ?? null,
  };
}
