import { type Address, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, analyticsPath, together, useAnswer, usePages } from './client.js';
import { type Day, daysOf } from './days.js';
import { type Numbers, ROWS, type Summary, type SummaryRow, summaryPath } from './summary.js';

type Costs = Answers['getAnalyticsCosts'];

export const TOKENS = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'billable_tokens',
] as const;

/** The cost and tokens of a model over the range. The cost is null if none of its tokens has a price. */
export type ModelTotal = { readonly name: string } & Pick<
  Numbers,
  'cost_usd' | 'unpriced_tokens' | (typeof TOKENS)[number]
>;

/** The cost and tokens of each model over the range, dearest first. */
export interface ModelCosts {
  readonly asked: Asked<unknown>;
  /** The costs of each model on each day; undefined if one answer doesn't have all of them. */
  readonly daily: Costs['data'] | undefined;
  readonly models: readonly ModelTotal[];
}

/**
 * Asks for daily costs, and adds them up: a summary by model also counts each model's sessions, which takes many times as long. The
 * summary is only asked for if one answer doesn't have all days of all models.
 */
export function useModelCosts(address: Address, last: Day): ModelCosts {
  const range = rangeOf(address, last);
  const filters = { ...address.filters, ...address.fixed };
  const asked = useAnswer<Costs>(
    analyticsPath('costs', range, { group_by: 'model', limit: ROWS, ...filters }),
  );
  const isCut = asked.answer?.meta.has_more === true;
  const whole = usePages<Summary>(
    isCut ? summaryPath(range, filters, { groupBy: 'model', sort: 'cost_usd', limit: ROWS }) : undefined,
  );
  if (!isCut) return { asked, daily: asked.answer?.data, models: totalsOf(asked.answer?.data ?? []) };
  const models = (whole.answer?.data ?? []).map((row) => ({ ...row, name: row.group_key ?? '' }));
  return { asked: together(whole, asked), daily: undefined, models };
}

/** What some models cost on each day of the range, and all others together; null on days on which it isn't known. */
export interface DailyCosts {
  readonly asked: Asked<unknown>;
  readonly of: (model: string) => readonly (number | null)[];
  readonly ofOthers: readonly (number | null)[];
}

/**
 * The daily costs of the named models and of all others. `all` has the numbers of all models on each built day. If one answer doesn't
 * have all days of all models, only the named ones are asked for, and the others are what is left of `all`.
 */
export function useDailyCosts(
  address: Address,
  last: Day,
  { asked, daily, models }: ModelCosts,
  names: readonly string[],
  all: Asked<Summary>,
): DailyCosts {
  const range = rangeOf(address, last);
  const filters = { ...address.filters, ...address.fixed };
  const isCut = asked.answer !== undefined && daily === undefined;
  const query = { groupBy: 'model', interval: 'day', keys: names, limit: ROWS } as const;
  const some = usePages<Summary>(isCut && names.length > 0 ? summaryPath(range, filters, query) : undefined);
  const rows: readonly Cost[] | undefined = isCut ? some.answer?.data : daily;
  const byName = new Map<string, Map<Day, number | null>>();
  const others = new Map<Day, number | null>();
  for (const { group_key, date, cost_usd } of rows ?? []) {
    if (date === null) continue;
    const name = group_key ?? '';
    if (!names.includes(name)) others.set(date, sumOf(others.get(date), cost_usd));
    else byName.set(name, (byName.get(name) ?? new Map<Day, number | null>()).set(date, cost_usd));
  }
  const waits = together(isCut ? some : asked, asked, all);
  const built = new Set(all.answer?.data.map(({ date }) => date));
  const days = daysOf(range);
  /** A built day without a row has no tokens. */
  const filled = (of: ReadonlyMap<Day, number | null> | undefined) =>
    days.map((day) => {
      const cost = of?.get(day);
      return cost === undefined ? (rows !== undefined && built.has(day) ? 0 : null) : cost;
    });
  return {
    asked: waits,
    of: (name) => filled(byName.get(name)),
    ofOthers:
      !isCut || models.length === names.length
        ? filled(others)
        : waits.isLoading
          ? days.map(() => null)
          : restOf(days, all.answer?.data ?? [], some.answer?.data ?? []),
  };
}

type Cost = Pick<SummaryRow, 'group_key' | 'date' | 'cost_usd'>;

/** All tokens of a row. */
function tokensOf(row: SummaryRow): number {
  return row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_write_tokens;
}

/** The costs of the days that some models leave of those of all; null if no token of the rest has a price. */
function restOf(
  days: readonly Day[],
  all: readonly SummaryRow[],
  some: readonly SummaryRow[],
): (number | null)[] {
  const byDay = new Map(all.map((row) => [row.date, row]));
  return days.map((day) => {
    const row = byDay.get(day);
    if (row === undefined) return null;
    const taken = some.filter(({ date }) => date === day);
    const leftOf = (of: (row: SummaryRow) => number) =>
      taken.reduce((left, other) => left - of(other), of(row));
    const unpriced = leftOf((one) => one.unpriced_tokens);
    if (unpriced > 0 && unpriced === leftOf(tokensOf)) return null;
    // Fractions of a cent by which sums of fractions differ aren't a cost.
    return Math.round(leftOf((one) => one.cost_usd ?? 0) * 1e9) / 1e9;
  });
}

/** The sum of two costs, either of which can be null for no price; null if both are. */
export function sumOf(one: number | null | undefined, other: number | null): number | null {
  return other === null ? (one ?? null) : (one ?? 0) + other;
}

function totalsOf(rows: Costs['data']): ModelTotal[] {
  const totals = new Map<string, ModelTotal>();
  for (const row of rows) {
    const name = row.group_key ?? '';
    const before = totals.get(name);
    const cost = sumOf(before?.cost_usd, row.cost_usd);
    const tokens = [...TOKENS, 'unpriced_tokens' as const].map((kind) => [
      kind,
      (before?.[kind] ?? 0) + row[kind],
    ]);
    totals.set(name, { name, cost_usd: cost, ...Object.fromEntries(tokens) } as ModelTotal);
  }
  return [...totals.values()].sort((one, other) => (other.cost_usd ?? -1) - (one.cost_usd ?? -1));
}

/** The models with the most billable tokens first. */
export function byTokens(models: readonly ModelTotal[]): ModelTotal[] {
  return [...models].sort((one, other) => other.billable_tokens - one.billable_tokens);
}

/** The models by their cost over the range without the filter by model, so that filtering doesn't change their colours. */
export function useRanking(address: Address, last: Day): readonly string[] {
  const { model: _, ...filters } = address.filters;
  return useModelCosts({ ...address, filters }, last).models.map(({ name }) => name);
}
