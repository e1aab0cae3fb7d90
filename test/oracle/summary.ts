import { credits } from './credits.js';
import type { StoredEvent } from './event.js';
import { byteOrder, daysBefore, distinct, groups, ratio, sum } from './lists.js';
import { toolOf } from './names.js';
import { type Organization, ofType, outcomesOf, sessionOf, toolCalls, userTurns } from './organization.js';
import { contracted, exactCosts, type Terms, usd } from './prices.js';
import { repoKey } from './repo-key.js';
import { tokensOf } from './ways.js';

/** docs/api.md, "Totals of a range": computed for each row by itself, from the events that its group and the filters choose. */

export const GROUPS = [
  'user',
  'model',
  'agent',
  'repo',
  'client',
  'team',
  'cost_center',
  'tool',
  'mcp_server',
] as const;
export type Group = (typeof GROUPS)[number];
export type Interval = 'day' | 'week' | 'month';

export interface Request {
  readonly from: string;
  readonly to: string;
  readonly groupBy?: Group | undefined;
  readonly interval?: Interval | undefined;
  readonly sort?: string | undefined;
  readonly compare?: 'previous' | 'month' | undefined;
  /** What the organization pays for what the list says. */
  readonly terms?: Terms | undefined;
  /** The first day that is served. */
  readonly historyStart?: string | undefined;
  /** What the keys of groups have in them. */
  readonly search?: string | undefined;
  /** The only keys. */
  readonly keys?: readonly string[] | undefined;
  /** The values of which one must be there, by the words that the rows can be grouped by. */
  readonly filters?: Partial<Record<Group, string[]>> | undefined;
}

/** Values that are chosen: one of them must be there, and all conditions must hold. */
type Condition = readonly [Group, readonly string[]];

/** What an event says of a group; undefined where it says nothing. */
export function groupOf(event: StoredEvent, group: Group): string | undefined {
  if (group === 'user') return event.user_id;
  if (group === 'agent' || group === 'client') return event.text(group) ?? '';
  if (group === 'team' || group === 'cost_center') return event.belongs_to?.[group] ?? '';
  if (group === 'repo') return repoKey(event.text(group) ?? '');
  if (group === 'model') return event.type === 'model_usage' ? (event.text('model') ?? '') : undefined;
  const tool = toolOf(event);
  return (group === 'tool' ? tool?.key : tool?.server) ?? undefined;
}

const OF_CALLS: readonly Group[] = ['tool', 'mcp_server'];
const OF_EVENTS: readonly Group[] = ['user', 'agent', 'client', 'repo', 'team', 'cost_center'];

function of(conditions: readonly Condition[], kinds: readonly Group[]): readonly Condition[] {
  return conditions.filter(([group]) => kinds.includes(group));
}

function isChosen(event: StoredEvent, conditions: readonly Condition[]): boolean {
  return conditions.every(([group, values]) =>
    values.some((value) => groupOf(event, group) === (group === 'repo' ? repoKey(value) : value)),
  );
}

/** The order of parts of a session: by agent, client and repository; then by session. */
function byPart(one: StoredEvent, other: StoredEvent): number {
  for (const group of ['agent', 'client', 'repo'] as const) {
    const order = byteOrder(groupOf(one, group) ?? '', groupOf(other, group) ?? '');
    if (order !== 0) return order;
  }
  return byteOrder(one.session_id, other.session_id);
}

/** Of events that tell of one thing the one that it counts for. */
function lastOf(events: readonly StoredEvent[]): StoredEvent {
  return [...events].sort(byPart).at(-1) as StoredEvent;
}

/** What counts once, each as the event that it counts for. */
function onceOf(events: readonly StoredEvent[], key: (event: StoredEvent) => string): StoredEvent[] {
  return [...groups(events, key).values()].map(lastOf);
}

function named(member: string) {
  return (event: StoredEvent) =>
    event.text(member) === null
      ? JSON.stringify([event.event_id])
      : JSON.stringify([event.user_id, event.text(member)]);
}

/** The credits of calls of a day: of each user and model, what the parts of the calls add to the parts before them. */
function creditsIn(
  all: readonly StoredEvent[],
  isOwn: (event: StoredEvent) => boolean,
  { rateCard }: Organization,
): number {
  const grain = groups(all, (event) => JSON.stringify([event.user_id, event.text('model')]));
  return sum(
    [...grain.values()].map((calls) => {
      const sorted = [...calls].sort(byPart);
      const [{ day, text }] = sorted as [StoredEvent];
      const upTo = (count: number) =>
        credits(tokensOf(sorted.slice(0, count)), text('model') ?? '', day, rateCard);
      let total = 0;
      for (let first = 0, next = 0; first < sorted.length; first = next) {
        const part = sorted[first] as StoredEvent;
        next = first;
        while (next < sorted.length && byPart(sorted[next] as StoredEvent, part) === 0) next += 1;
        if (isOwn(part)) total += upTo(next) - upTo(first);
      }
      return total;
    }),
  );
}

function dayOf(organization: Organization, day: string, conditions: readonly Condition[]) {
  const events = organization.on(day);
  const ofCalls = of(conditions, OF_CALLS);
  const ofModels = of(conditions, ['model']);
  const ofEvents = of(conditions, OF_EVENTS);
  const sessionsWith = (matching: readonly Condition[]) => {
    if (matching.length === 0) return () => true;
    const found = new Set(events.filter((event) => isChosen(event, matching)).map(sessionOf));
    return (event: StoredEvent) => found.has(sessionOf(event));
  };
  const hasCall = sessionsWith(ofCalls);
  const hasModel = sessionsWith(ofModels);
  const isOfRow = (event: StoredEvent) => isChosen(event, ofEvents) && hasCall(event) && hasModel(event);
  const chosen = events.filter(isOfRow);
  const isUsage = (event: StoredEvent) => isOfRow(event) && isChosen(event, ofModels);
  const ownCalls = toolCalls(chosen).filter((event) => isChosen(event, ofCalls));
  const usage = ofType(events, 'model_usage');
  const ownUsage = usage.filter(isUsage);
  const started = new Set(organization.sessionsStartedOn(day));
  const count = (found: readonly StoredEvent[]) => found.filter(isOfRow).length;
  return {
    day,
    usage: ownUsage,
    billable_tokens: creditsIn(usage, isUsage, organization),
    sessions: count(
      onceOf(
        events.filter((event) => started.has(sessionOf(event))),
        sessionOf,
      ),
    ),
    user_turns: userTurns(chosen).length,
    tool_calls: ownCalls.length,
    ...outcomesOf(ownCalls),
    files: count(
      onceOf(ofType(events, 'file_change'), (event) =>
        JSON.stringify([sessionOf(event), event.text('path')]),
      ),
    ),
    commits: count(onceOf(ofType(events, 'git_commit'), named('commit_sha'))),
    pull_requests: count(onceOf(ofType(events, 'pull_request'), named('url'))),
    users: distinct(chosen.map(({ user_id }) => user_id)),
  };
}

/** The members of a row: the totals of some days. Undefined if nothing is chosen on any of them. */
function membersOf(
  organization: Organization,
  days: readonly string[],
  conditions: readonly Condition[],
  terms: Terms | undefined,
) {
  const found = days.map((day) => dayOf(organization, day, conditions));
  const total = (member: keyof Omit<(typeof found)[number], 'day' | 'usage' | 'users'>) =>
    sum(found.map((one) => one[member]));
  const usage = found.flatMap((one) => one.usage);
  const { cost, unpriced: unpriced_tokens } = exactCosts(usage, organization.prices);
  const costs = found.map((one) => [one.day, exactCosts(one.usage, organization.prices).cost] as const);
  const tokens = tokensOf(usage);
  const isUnknown = unpriced_tokens > 0 && unpriced_tokens === sum(Object.values(tokens));
  return {
    isActive: found.some(({ users }) => users.length > 0),
    members: {
      cost_usd: isUnknown ? null : usd(cost),
      contracted_cost: isUnknown ? null : contracted(costs, terms),
      unpriced_tokens,
      ...tokens,
      billable_tokens: sum(found.map((one) => one.billable_tokens)),
      sessions: total('sessions'),
      user_turns: total('user_turns'),
      tool_calls: total('tool_calls'),
      failed_calls: total('failed_calls'),
      calls_with_outcome: total('calls_with_outcome'),
      failed_call_ratio:
        total('calls_with_outcome') === 0 ? null : total('failed_calls') / total('calls_with_outcome'),
      autonomy_ratio: ratio(total('tool_calls'), total('user_turns')),
      files: total('files'),
      commits: total('commits'),
      pull_requests: total('pull_requests'),
      active_users: distinct(found.flatMap(({ users }) => users)).length,
      active_days: found.filter(({ users }) => users.length > 0).length,
    },
  };
}

/** The first and the last day of a row. */
function periodOf(day: string, { from, to, interval }: Request): { start: string; end: string } {
  const date = new Date(day);
  if (interval === 'day') return { start: day, end: day };
  if (interval === 'week') {
    const start = daysBefore(day, (date.getUTCDay() + 6) % 7);
    return { start, end: daysBefore(start, -6) };
  }
  if (interval === 'month') {
    const start = `${day.slice(0, 8)}01`;
    const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
    return { start, end: daysBefore(new Date(next).toISOString().slice(0, 10), 1) };
  }
  return { start: from, end: to };
}

/** The same day of the month before, or its last one if it has none. */
function inMonthBefore(day: string): string {
  const last = daysBefore(`${day.slice(0, 8)}01`, 1);
  return byteOrder(day.slice(8), last.slice(8)) > 0 ? last : `${last.slice(0, 8)}${day.slice(8)}`;
}

/** The days that a row is compared with. */
function daysBeforeRow(
  start: string,
  end: string,
  interval: Interval | undefined,
  compare: Request['compare'],
): { from: string; to: string } {
  if (compare === 'month') {
    const isEnd = daysBefore(end, -1).endsWith('-01');
    return {
      from: inMonthBefore(start),
      to: isEnd ? daysBefore(`${end.slice(0, 8)}01`, 1) : inMonthBefore(end),
    };
  }
  if (interval === 'day') return { from: daysBefore(start, 28), to: daysBefore(start, 28) };
  const length = (Date.parse(end) - Date.parse(start)) / 86_400_000 + 1;
  return { from: daysBefore(start, length), to: daysBefore(start, 1) };
}

function lengthOf({ from, to }: { from: string; to: string }): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
}

function inOrder(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

/** The first day with an event of a row's team or cost centre, or of the people whom filters by these choose. */
function firstDay(
  organization: Organization,
  { to, filters, groupBy, key }: Pick<Request, 'to' | 'filters' | 'groupBy'> & { key: string | null },
): string | undefined {
  const conditions: Condition[] = BELONGINGS.flatMap((kind) => {
    const asked = filters?.[kind];
    return asked === undefined ? [] : [[kind, asked] as const];
  });
  const own: Condition[] =
    key !== null && BELONGINGS.some((kind) => kind === groupBy) ? [[groupBy as Group, [key]]] : [];
  return organization.days.find(
    (day) => day <= to && organization.on(day).some((event) => isChosen(event, [...conditions, ...own])),
  );
}

const BELONGINGS = ['team', 'cost_center'] as const;

/** The members of a row, with the currency of its contracted cost behind that. */
function withCurrency({ cost_usd, contracted_cost, ...others }: Members, terms: Terms | undefined) {
  return { cost_usd, contracted_cost, currency: terms?.currency ?? null, ...others };
}

type Members = ReturnType<typeof membersOf>['members'];

/** All rows of the summary, in their order. The organization has all its days. */
export function summary(organization: Organization, request: Request) {
  const {
    from,
    to,
    groupBy,
    interval,
    sort,
    compare,
    search = '',
    keys: only,
    filters = {},
    terms,
  } = request;
  const { historyStart = '' } = request;
  const given = Object.entries(filters) as Condition[];
  const daysIn = (first: string, last: string) =>
    organization.days.filter((day) => first <= day && day <= last);
  const periods = distinct(daysIn(from, to).map((day) => periodOf(day, request).start));
  const rows = periods.flatMap((start) => {
    const { end } = periodOf(interval === undefined ? from : start, request);
    const first = start < from ? from : start;
    const last = end > to ? to : end;
    const days = daysIn(first, last);
    const before = daysBeforeRow(first, last, interval, compare);
    const daysOfPrevious =
      compare === undefined ? [] : daysIn(before.from, before.to).filter((day) => day >= historyStart);
    const isWhole =
      compare !== undefined && before.from >= historyStart && daysOfPrevious.length === lengthOf(before);
    // Sorted by change, groups that had something only before are there, too.
    const withRows = sort?.startsWith('change') === true ? [...days, ...daysOfPrevious] : days;
    const keys =
      groupBy === undefined
        ? [null]
        : distinct(
            withRows.flatMap((day) => organization.on(day)).flatMap((event) => groupOf(event, groupBy) ?? []),
          ).filter(
            (key) =>
              key.toLowerCase().includes(search.toLowerCase()) && (only === undefined || only.includes(key)),
          );
    return keys.flatMap((key) => {
      const conditions: Condition[] =
        groupBy === undefined || key === null ? given : [...given, [groupBy, [key]]];
      const { isActive, members } = membersOf(organization, days, conditions, terms);
      const earlier = membersOf(organization, daysOfPrevious, conditions, terms);
      const isRow = isActive || (sort?.startsWith('change') === true && earlier.isActive);
      if (!isRow && groupBy !== undefined) return [];
      const begins = compare && firstDay(organization, { to, filters, groupBy, key });
      return [
        {
          start,
          row: {
            date: interval === undefined ? null : start,
            group_key: key,
            ...withCurrency(members, terms),
            previous: isWhole && begins !== undefined && begins <= before.from ? earlier.members : null,
            data_begins: begins !== undefined && begins > before.from ? begins : null,
          },
        },
      ];
    });
  });
  const [member = 'cost_usd', direction] = (sort ?? 'cost_usd').split(':');
  const changeIn = ({ cost_usd, previous }: (typeof rows)[number]['row']) => {
    // What isn't known comes last.
    if (cost_usd === null || previous === null || previous.cost_usd === null)
      return direction === 'asc' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const change = cost_usd - previous.cost_usd;
    return direction === 'abs' ? Math.abs(change) : change;
  };
  const valueIn = ({ row }: (typeof rows)[number]) =>
    member === 'change' ? changeIn(row) : Number((row as Record<string, unknown>)[member] ?? -1);
  return rows
    .sort(
      (one, other) =>
        (sort === undefined ? byteOrder(one.start, other.start) : 0) ||
        inOrder(valueIn(one), valueIn(other)) * (direction === 'asc' ? 1 : -1) ||
        byteOrder(one.start, other.start) ||
        byteOrder(one.row.group_key ?? '', other.row.group_key ?? ''),
    )
    .map(({ row }) => row);
}
