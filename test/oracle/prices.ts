import type { Tokens } from './credits.js';
import { entryOf } from './model-key.js';

/** The price list (docs/prices.md), as its file holds it. */
export interface PriceList {
  readonly models: readonly { readonly id: string; readonly prices: readonly Price[] }[];
}

interface Price {
  readonly valid_from: string;
  readonly input?: number;
  readonly output?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly cache_write_1h?: number;
}

/** The entry of its name, else of its key: the newest that is valid on the day. */
function priceOn(day: string, model: string, { models }: PriceList): Price {
  const listed = entryOf(model, models);
  const dated = [...(listed?.prices ?? [])].sort((one, other) =>
    one.valid_from < other.valid_from ? -1 : 1,
  );
  return dated.filter(({ valid_from }) => valid_from <= day).at(-1) ?? { valid_from: day };
}

/** In millionths of a millionth of a dollar, exactly. */
function cost(price: number | undefined, tokens: number): bigint | null {
  if (tokens === 0) return 0n;
  return price === undefined ? null : BigInt(price.toFixed(6).replace('.', '')) * BigInt(tokens);
}

export function usd(cost: bigint): number;
export function usd(cost: bigint | null): number | null;
export function usd(cost: bigint | null): number | null {
  if (cost === null) return null;
  const digits = String(cost).padStart(13, '0');
  return Number(`${digits.slice(0, -12)}.${digits.slice(-12)}`);
}

/** What tokens of a model cost on a day, by their kind, null where a price isn't known; and in all, without those that have no price. */
export function costsOf(
  tokens: Tokens & { readonly cache_write_1h_tokens: number },
  model: string,
  day: string,
  list: PriceList,
) {
  const price = priceOn(day, model, list);
  const input = cost(price.input, tokens.input_tokens);
  const output = cost(price.output, tokens.output_tokens);
  const read = cost(price.cache_read, tokens.cache_read_tokens);
  const short = cost(price.cache_write, tokens.cache_write_tokens - tokens.cache_write_1h_tokens);
  const long = cost(price.cache_write_1h ?? price.cache_write, tokens.cache_write_1h_tokens);
  const write = short === null || long === null ? null : short + long;
  const kinds = exactCosts(tokens, model, day, list);
  const unpriced = kinds.filter((kind) => kind.cost === null).reduce((sum, kind) => sum + kind.tokens, 0);
  const isUnknown = unpriced > 0 && unpriced === kinds.reduce((sum, kind) => sum + kind.tokens, 0);
  const known = kinds.reduce((sum, kind) => sum + (kind.cost ?? 0n), 0n);
  return {
    input_usd: usd(input),
    output_usd: usd(output),
    cache_read_usd: usd(read),
    cache_write_usd: usd(write),
    cost_usd: isUnknown ? null : usd(known),
    unpriced_tokens: unpriced,
  };
}

/** What the tokens of each kind cost, in millionths of a millionth of a dollar; null where the price isn't known. */
export function exactCosts(
  tokens: Tokens & { readonly cache_write_1h_tokens: number },
  model: string,
  day: string,
  list: PriceList,
): { tokens: number; cost: bigint | null }[] {
  const price = priceOn(day, model, list);
  const kinds: [number | undefined, number][] = [
    [price.input, tokens.input_tokens],
    [price.output, tokens.output_tokens],
    [price.cache_read, tokens.cache_read_tokens],
    [price.cache_write, tokens.cache_write_tokens - tokens.cache_write_1h_tokens],
    [price.cache_write_1h ?? price.cache_write, tokens.cache_write_1h_tokens],
  ];
  return kinds.map(([each, count]) => ({ tokens: count, cost: cost(each, count) }));
}
