import { type Address, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, analyticsPath, useAnswer } from './client.js';
import type { Day } from './days.js';
import { type Numbers, type Summary, summaryPath } from './summary.js';

type Costs = Answers['getAnalyticsCosts'];

/** How many rows of a day and a model one answer has at most. */
const ROWS = 1000;

export const TOKENS = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'billable_tokens',
] as const;

/** What a model cost over the range; null if none of its tokens has a price. */
export type ModelTotal = { readonly name: string } & Pick<Numbers, 'cost_usd' | (typeof TOKENS)[number]>;

/** The cost and tokens of each model and day of a range, and of each model over it, dearest first. */
export interface ModelCosts {
  readonly asked: Asked<Costs>;
  /** Whether the range has more rows than one answer: then some days are missing, but no total. */
  readonly isCut: boolean;
  readonly models: readonly ModelTotal[];
}

/**
 * Asks for the costs of days, and adds them up: a summary by model also counts the sessions of each, which takes many times as long. It
 * is asked for where one answer doesn't have all days.
 */
export function useModelCosts(address: Address, last: Day): ModelCosts {
  const range = rangeOf(address, last);
  const filters = { ...address.filters, ...address.fixed };
  const asked = useAnswer<Costs>(
    analyticsPath('costs', range, { group_by: 'model', limit: ROWS, ...filters }),
  );
  const isCut = asked.answer?.meta.has_more === true;
  const whole = useAnswer<Summary>(
    isCut ? summaryPath(range, filters, { groupBy: 'model', sort: 'cost_usd', limit: ROWS }) : undefined,
  );
  const models = isCut
    ? (whole.answer?.data ?? []).map((row) => ({ ...row, name: row.group_key ?? '' }))
    : totalsOf(asked.answer?.data ?? []);
  return { asked, isCut, models };
}

/** The sum of two costs, of which each can have no price; null if neither has one. */
export function sumOf(one: number | null | undefined, other: number | null): number | null {
  return other === null ? (one ?? null) : (one ?? 0) + other;
}

function totalsOf(rows: Costs['data']): ModelTotal[] {
  const totals = new Map<string, ModelTotal>();
  for (const row of rows) {
    const name = row.group_key ?? '';
    const before = totals.get(name);
    const cost = sumOf(before?.cost_usd, row.cost_usd);
    const tokens = TOKENS.map((kind) => [kind, (before?.[kind] ?? 0) + row[kind]]);
    totals.set(name, { name, cost_usd: cost, ...Object.fromEntries(tokens) } as ModelTotal);
  }
  return [...totals.values()].sort((one, other) => (other.cost_usd ?? -1) - (one.cost_usd ?? -1));
}

/** The models with the most billable tokens first. */
export function byTokens(models: readonly ModelTotal[]): ModelTotal[] {
  return [...models].sort((one, other) => other.billable_tokens - one.billable_tokens);
}

/** The models by cost over the range without the filter by model, so that colours stay while it is filtered. */
export function useRanking(address: Address, last: Day): readonly string[] {
  const { model: _, ...filters } = address.filters;
  return useModelCosts({ ...address, filters }, last).models.map(({ name }) => name);
}
