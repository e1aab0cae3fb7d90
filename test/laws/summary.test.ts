import { describe, onTestFinished, test } from 'vitest';
import { report } from '../../src/api/answer-rows.js';
import type { Day } from '../../src/day.js';
import type { CostTerms } from '../../src/money/cost-terms.js';
import { replacePeople } from '../../src/people/people-change.js';
import type { SentEvent } from '../oracle/event.js';
import { calls, NOW, organization } from '../oracle/generate.js';
import { daysBefore } from '../oracle/lists.js';
import { Organization } from '../oracle/organization.js';
import type { People } from '../oracle/people.js';
import { GROUPS, type Group, groupOf, type Request, summary } from '../oracle/summary.js';
import { STORES } from '../stores.js';
import { leavesOutSlow, storeName, type World } from '../world.js';
import { buildAtOnce, CIRCUMSTANCES, hold, PRICE_LIST, RATE_CARD, sendAll } from './law.js';
import { ORGANIZATIONS } from './settings.js';

/** Into how many parts the questions are parted, of which each organization is asked one: ClickHouse takes a second for each. */
const PARTS = storeName() === 'DuckDB' ? 1 : 8;
/** Of each there are 40 questions, so they are fewer than of other laws. */
const TRIED = Math.ceil((ORGANIZATIONS * PARTS) / (leavesOutSlow() ? 60 : 20));
const TIMEOUT_MS = 900_000 + TRIED * 30_000;

const INTERVALS = [undefined, 'day', 'week', 'month'] as const;
const SORTS = [undefined, 'sessions', 'tool_calls:asc', 'autonomy_ratio', 'cost_usd:asc', 'active_days'];
const SORTS_OF_CHANGES = [...SORTS, 'change', 'change:asc', 'change:abs'];
/** Ranges that begin and end within weeks and months, and one with everything. */
const RANGES: [string, string][] = [
  ['2026-04-01', '2026-06-09'],
  ['2026-05-12', '2026-06-09'],
  ['2026-06-03', '2026-06-08'],
];

/** What organizations pay: nothing said, terms for all days and others from a day on, and terms that begin in the middle. */
const TERMS = [
  undefined,
  {
    currency: 'EUR',
    terms: [
      { from: '2020-01-01', priceFactor: 1, rate: 0.9 },
      { from: '2026-06-05', priceFactor: 0.8505, rate: 0.923456 },
    ],
  },
  { currency: 'JPY', terms: [{ from: '2026-06-02', priceFactor: 0.5, rate: 155.123456 }] },
] as const;

/** A member of a list, chosen by a number: the same each time. */
function pick<T>(list: readonly T[], seed: number): T | undefined {
  return list[Math.floor(Math.abs(Math.sin(seed) * 1e6)) % Math.max(1, list.length)];
}

/** Up to three filters by values that the organization has: by one of them, or by any of up to four. */
function filtersOf({ events }: Organization, seed: number): Partial<Record<Group, string[]>> {
  const chosen = [0, 1, 2].flatMap((place) =>
    pick([true, false], seed + place) ? [pick(GROUPS, seed * 3 + place) as Group] : [],
  );
  return Object.fromEntries(
    chosen.flatMap((group) => {
      // A filter takes any spelling of a repository.
      const values = events.flatMap((event) =>
        group === 'repo' ? (event.text(group) ?? '') : (groupOf(event, group) ?? []),
      );
      const places = Array.from({ length: pick([1, 2, 4], seed + 37) ?? 1 }, (_, place) => place);
      const found = places.flatMap((place) => pick(values, seed + 7 + 41 * place) ?? []);
      return found.length === 0 ? [] : [[group, [...new Set(found)]]];
    }),
  );
}

const MOVES = ['2026-05-02', '2026-06-01', '2026-06-07', '2026-06-08', '2026-06-09'];

/** Who the users of an organization are, chosen by a number: some have several names, and some move from one team to another. */
function peopleOf(place: number): People {
  const aliases = Object.fromEntries(
    ['Ada', 'zuse', 'ådá'].flatMap((alias, index) => {
      const person = pick([undefined, 'ada', 'grace'], place * 5 + index);
      return person === undefined ? [] : [[alias, person]];
    }),
  );
  const belongings = ['ada', 'grace', '𝒹ana'].flatMap((userId, index) =>
    (['team', 'cost_center'] as const).flatMap((kind, other) => {
      const seed = place * 7 + index * 2 + other;
      const move = pick(MOVES, seed) ?? '';
      return [
        {
          userId,
          kind,
          name: pick(['A', 'B'], seed + 1) ?? '',
          firstDay: '1970-01-01',
          lastDay: daysBefore(move, 1),
        },
        { userId, kind, name: pick(['B', 'é', 'a'], seed + 2) ?? '', firstDay: move, lastDay: '2026-06-08' },
      ].filter((_, part) => pick([true, true, false], seed + 3 + part));
    }),
  );
  // Mostly events tell teams, and owners have given the names of some.
  const closedNames = pick(
    [undefined, { team: [], cost_center: [] }, { team: ['c', 'é'], cost_center: ['a'] }],
    place * 11,
  );
  return {
    ...{ aliases, closedNames },
    belongings: belongings.filter(({ firstDay, lastDay }) => firstDay <= lastDay),
  };
}

/** Makes people count. */
async function save({ store, now }: World, orgId: string, { aliases, belongings }: People): Promise<void> {
  const people = ['ada', 'grace', '𝒹ana'].map((userId) => ({
    ...{ userId, name: '', emails: [] },
    aliases: Object.keys(aliases).filter((alias) => aliases[alias] === userId),
    memberships: belongings
      .filter((one) => one.userId === userId)
      .map(({ kind, name, firstDay, lastDay }) => ({
        ...{ kind, name, isLead: false },
        ...{ firstDay: firstDay as Day, lastDay: lastDay as Day },
      })),
  }));
  await replacePeople(store, orgId, () => people, { author: 'law' }, now);
}

/** Which groups are asked for: mostly all, else those with a part of a key, or a few of them. */
function wantedOf({ events }: Organization, group: Group, seed: number): Pick<Request, 'search' | 'keys'> {
  const keys = events.flatMap((event) => groupOf(event, group) ?? []);
  const key = pick(keys, seed + 17);
  if (key === undefined) return {};
  return (
    pick(
      [
        {},
        {},
        { search: key.slice(0, 3).toUpperCase() || 'a' },
        { keys: [key, 'nobody', pick(keys, seed + 19) ?? ''] },
      ],
      seed + 23,
    ) ?? {}
  );
}

/** One request for each group and interval; ranges, orders, filters and comparisons change from one to the next. */
function requestsOf(organization: Organization, place: number): Request[] {
  return [undefined, ...GROUPS].flatMap((groupBy, group) =>
    INTERVALS.map((interval, index) => {
      const seed = place * 40 + group * 4 + index + 1;
      const [from, to] = pick(RANGES, seed) as [string, string];
      const filters = pick([true, false, false], seed + 5) ? filtersOf(organization, seed) : {};
      const isInMonth = interval === undefined && from.slice(0, 7) === to.slice(0, 7);
      const compare = pick([undefined, isInMonth ? 'month' : 'previous', 'previous'] as const, seed + 11);
      const historyStart = pick([undefined, daysBefore(from, 9), from], seed + 29);
      const sort = pick(compare === undefined ? SORTS : SORTS_OF_CHANGES, seed + 13);
      const terms = pick(TERMS, seed + 31);
      const request = { from, to, groupBy, interval, filters, compare, historyStart, sort, terms };
      return groupBy === undefined ? request : { ...request, ...wantedOf(organization, groupBy, seed) };
    }),
  );
}

type Row = Record<string, unknown>;

/** All rows that a request gives, some on each page. */
async function rowsOf(
  { store }: World,
  orgId: string,
  request: Request,
  limit: number,
  closedNames: People['closedNames'],
  answer: 'summary' | 'costs' = 'summary',
): Promise<Row[]> {
  const { from, to, groupBy, filters, keys, historyStart, terms, ...others } = request;
  const totals = { ...others, group_keys: keys && JSON.stringify(keys) };
  const { user: user_id, ...filtered } = filters ?? {};
  const rows: Row[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, page } = await report(store, answer, {
      ...{ orgId, from: from as Day, to: to as Day, groupBy, limit, cursor },
      historyStart: historyStart as Day | undefined,
      terms: terms as CostTerms | undefined,
      closedNames,
      totals: { ...totals, ...filtered, user_id },
    });
    rows.push(...data);
    if (page?.next_cursor == null) return rows;
    cursor = page.next_cursor;
  }
}

/** Members as text. A contracted cost has more decimals than a number holds. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (name, member) =>
    name === 'contracted_cost' && member !== null ? Number(member).toPrecision(12) : member,
  );
}

function faultOf(
  request: Request,
  actual: readonly unknown[],
  expected: readonly unknown[],
): string | undefined {
  for (let row = 0; row < Math.max(actual.length, expected.length); row += 1) {
    const one = textOf(actual[row]);
    const other = textOf(expected[row]);
    if (one !== other)
      return `${JSON.stringify(request)}, row ${row} of ${expected.length}:\n  is        ${one}\n  should be ${other}`;
  }
  return undefined;
}

/** Where costs of days are first not those of the summary; nothing where they add up to them. */
function costsFault(request: Request, costs: readonly Row[], totals: readonly Row[]): string | undefined {
  const keyOf = ({ date, group_key }: Row) => JSON.stringify([date, group_key]);
  const byKey = new Map(costs.map((row) => [keyOf(row), row]));
  const members = ['cost_usd', 'unpriced_tokens', 'input_tokens', 'output_tokens', 'cache_read_tokens'];
  const told = (row: Row | undefined) =>
    JSON.stringify(
      [...members, 'cache_write_tokens', 'billable_tokens'].map((name) =>
        row === undefined ? 0 : row[name],
      ),
    );
  const contractedIn = ({ contracted_cost, currency }: Row) => textOf({ contracted_cost, currency });
  for (const total of totals) {
    const row = byKey.get(keyOf(total));
    byKey.delete(keyOf(total));
    if (told(row) !== told(total) || (row !== undefined && contractedIn(row) !== contractedIn(total)))
      return `costs, ${JSON.stringify(request)}: ${JSON.stringify(row)} isn't of ${JSON.stringify(total)}`;
    const kinds = ['input_usd', 'output_usd', 'cache_read_usd', 'cache_write_usd', 'cache_write_1h_usd'];
    kinds.push('web_search_usd', 'reported_usd');
    const usd = kinds.reduce((sum, name) => sum + Number(row?.[name] ?? 0), 0);
    const unpriced = (row?.unpriced_by_model ?? []) as { tokens: number; ratio: number }[];
    const sumOf = (name: 'tokens' | 'ratio') => unpriced.reduce((sum, one) => sum + one[name], 0);
    if (
      Math.abs(usd - Number(row?.cost_usd ?? 0)) > 1e-9 ||
      Math.abs(sumOf('ratio') - Number(row?.unpriced_ratio ?? 0)) > 1e-9 ||
      sumOf('tokens') !== Number(row?.unpriced_tokens ?? 0)
    )
      return `costs, ${JSON.stringify(request)}: ${JSON.stringify(row)} doesn't add up`;
  }
  return byKey.size === 0 ? undefined : `costs, ${JSON.stringify(request)}: too many ${[...byKey.keys()]}`;
}

describe.each(STORES)('laws of the summary, $name', ({ open }) => {
  test.each([
    ['every kind of event', organization, TRIED],
    // On ClickHouse, where each takes seconds, these are a fourth of them.
    ...(leavesOutSlow()
      ? []
      : [
          [
            'calls that are made in many ways',
            calls,
            Math.ceil(TRIED / (storeName() === 'DuckDB' ? 1 : 4)),
          ] as const,
        ]),
  ] as const)(
    'for every group and interval it is that of the second computation, and so are costs: %s',
    {
      timeout: TIMEOUT_MS,
    },
    async (_, of, tried) => {
      const world = await open(RATE_CARD, onTestFinished, PRICE_LIST);
      world.now = NOW;
      let place = 0;
      await hold(of, tried, async (organizations: readonly SentEvent[][]) => {
        const ids = await sendAll(world, organizations);
        const firstPlace = organizations.length > 1 ? 0 : place;
        // Of half of the organizations the people change after they were built.
        for (const isBuilt of [false, true]) {
          if (isBuilt) await buildAtOnce(world);
          for (const [index, orgId] of ids.entries())
            if ((firstPlace + index) % 2 === Number(isBuilt))
              await save(world, orgId, peopleOf(firstPlace + index));
        }
        await buildAtOnce(world);
        const faults: (string | undefined)[] = [];
        for (const [index, orgId] of ids.entries()) {
          const first = firstPlace + index;
          const people = peopleOf(first);
          const all = new Organization(organizations[index] ?? [], { ...CIRCUMSTANCES, people });
          let fault: string | undefined;
          for (const [asked, request] of requestsOf(all, first).entries()) {
            if (asked % PARTS !== first % PARTS) continue;
            const expected = summary(all, request);
            // On one page or on three.
            const limit = pick([1000, Math.ceil((expected.length + 1) / 3)], asked) ?? 1000;
            fault ??= faultOf(
              request,
              await rowsOf(world, orgId, request, limit, people.closedNames),
              expected,
            );
            const { interval, compare, sort, search, keys, ...ofCosts } = request;
            if (interval !== 'day' || search !== undefined || keys !== undefined || fault !== undefined)
              continue;
            const costs = await rowsOf(world, orgId, ofCosts, limit, people.closedNames, 'costs');
            fault = costsFault(ofCosts, costs, expected as Row[]);
          }
          if (fault !== undefined && organizations.length > 1) place = index;
          faults.push(fault);
        }
        return faults;
      });
    },
  );
});
