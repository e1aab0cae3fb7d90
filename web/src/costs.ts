import { type Address, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, analyticsPath, useAnswer } from './client.js';
import type { Day } from './days.js';
import { type Numbers, type Summary, summaryPath } from './summary.js';

type Costs = Answers['getAnalyticsCosts'];

/** The maximum of rows, one per day and model, in one answer. */
const ROWS = 1000;

export const TOKENS = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'billable_tokens',
] as const;

/** The cost and tokens of a model over the range. The cost is null if none of its tokens has a price. */
export type ModelTotal = { readonly name: string } & Pick<Numbers, 'cost_usd' | (typeof TOKENS)[number]>;

/** The cost and tokens of each model per day, and of each model over the range, dearest first. */
export interface ModelCosts {
  readonly asked: Asked<Costs>;
  /** Whether the range has more rows than one answer. Then some days are missing, but the totals are complete. */
  readonly isCut: boolean;
  readonly models: readonly ModelTotal[];
}

/**
 * Asks for daily costs, and adds them up: a summary by model also counts each model's sessions, which takes many times as long. The
 * summary is only asked for if one answer doesn't have all days.
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
    const tokens = TOKENS.map((kind) => [kind, (before?.[kind] ?? 0) + row[kind]]);
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
