import type { StoredEvent } from './event.js';
import { groups } from './lists.js';
import { entryOf } from './model-key.js';
import { isUnsplit, longWritesOf, promptClassOf, tokensOf, wayOf } from './ways.js';

/** The price list (docs/prices.md), as its file holds it. */
export interface PriceList {
  readonly models: readonly { readonly id: string; readonly prices: readonly Price[] }[];
  readonly multipliers?: readonly {
    readonly models: readonly string[];
    readonly kind: 'speed' | 'service_tier' | 'region';
    readonly values: readonly string[];
    readonly multiplier: number;
    readonly valid_from: string;
  }[];
}

interface Price extends TokenPrices {
  readonly valid_from: string;
  readonly above?: TokenPrices & { readonly tokens: number };
  /** Of a thousand. */
  readonly web_search?: number;
}

interface TokenPrices {
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

export function usd(cost: bigint): number;
export function usd(cost: bigint | null): number | null;
export function usd(cost: bigint | null): number | null {
  if (cost === null) return null;
  const digits = String(cost).padStart(13, '0');
  return Number(`${digits.slice(0, -12)}.${digits.slice(-12)}`);
}

/** What a price becomes by the way of a call, in millionths of a dollar per million tokens, half a millionth rounded up. */
function ofWay(price: number | undefined, factor: bigint): bigint | null {
  if (price === undefined) return null;
  return (millionths(price) * factor + 500_000n) / 1_000_000n;
}

export function millionths(value: number): bigint {
  return BigInt(value.toFixed(6).replace('.', ''));
}

/** What calls of one model on one day cost, all made in one way. Costs are in millionths of a millionth of a dollar, null where a price isn't known. */
function costOfWay(calls: readonly StoredEvent[], list: PriceList) {
  const [first] = calls as [StoredEvent];
  const model = first.text('model') ?? '';
  const price = priceOn(first.day, model, list);
  const factor = (['speed', 'service_tier', 'region'] as const)
    .map((kind) => factorOf(kind, first, list))
    .reduce((product, one) => (product * one) / 1_000_000n, 1_000_000n);
  const isAbove = price.above !== undefined && promptClassOf(first) >= price.above.tokens;
  const { cache_write, cache_write_1h = cache_write, ...prices } = isAbove ? (price.above ?? price) : price;
  const reported = calls.reduce(
    (sum, call) => sum + millionths(call.count('reported_cost_usd')) * 1_000_000n,
    0n,
  );
  const listed = [prices.input, prices.output, prices.cache_read, cache_write, cache_write_1h];
  const isUndetermined = isUnsplit(first) && (cache_write === undefined || cache_write !== cache_write_1h);
  const isByReport = reported > 0n && (isUndetermined || listed.every((one) => one === undefined));
  const tokens = tokensOf(calls);
  const long = longWritesOf(calls);
  const kinds = [
    [prices.input, tokens.input_tokens],
    [prices.output, tokens.output_tokens],
    [prices.cache_read, tokens.cache_read_tokens],
    [cache_write, tokens.cache_write_tokens - long],
    [cache_write_1h, long],
  ] as const;
  const costs = kinds.map(([each, count]) => {
    const one = ofWay(each, factor);
    const cost = count === 0 ? 0n : one === null || isByReport ? null : one * BigInt(count);
    return { tokens: count, cost };
  });
  const searches = BigInt(calls.reduce((sum, call) => sum + call.count('web_searches'), 0));
  return {
    kinds: costs,
    // The price is of a thousand searches.
    web:
      price.web_search === undefined || isUndetermined ? 0n : millionths(price.web_search) * 1000n * searches,
    reported: isByReport ? reported : 0n,
    unpriced: isByReport ? 0 : costs.reduce((sum, { tokens, cost }) => sum + (cost === null ? tokens : 0), 0),
  };
}

function factorOf(kind: 'speed' | 'service_tier' | 'region', call: StoredEvent, list: PriceList): bigint {
  const value = wayOf(call, kind);
  const known = (list.multipliers ?? []).filter(
    (one) =>
      one.kind === kind &&
      one.values.includes(value) &&
      one.valid_from <= call.day &&
      entryOf(
        call.text('model') ?? '',
        one.models.map((id) => ({ id })),
      ) !== undefined,
  );
  const [newest] = known.sort((one, other) => (one.valid_from < other.valid_from ? 1 : -1));
  return newest === undefined ? 1_000_000n : millionths(newest.multiplier);
}

/** What calls of models cost, in millionths of a millionth of a dollar, and how many of their tokens have no price. */
export function exactCosts(usage: readonly StoredEvent[], list: PriceList) {
  const ways = groups(usage, (event) =>
    JSON.stringify([
      event.day,
      event.text('model'),
      ...(['speed', 'service_tier', 'region'] as const).map((member) => wayOf(event, member)),
      promptClassOf(event),
      event.count('reported_cost_usd') > 0,
      isUnsplit(event),
    ]),
  );
  const costs = [...ways.values()].map((calls) => costOfWay(calls, list));
  const kind = (place: number) => costs.map(({ kinds }) => kinds[place]?.cost ?? null);
  const whole = (all: readonly (bigint | null)[]) =>
    all.includes(null) ? null : all.reduce((sum: bigint, one) => sum + (one ?? 0n), 0n);
  const total = (of: (one: (typeof costs)[number]) => bigint) =>
    costs.reduce((sum, one) => sum + of(one), 0n);
  const known = total(({ kinds }) => kinds.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n));
  const [web, reported] = [total((one) => one.web), total((one) => one.reported)];
  return {
    input: whole(kind(0)),
    output: whole(kind(1)),
    cache_read: whole(kind(2)),
    cache_write: whole([...kind(3), ...kind(4)]),
    web,
    reported,
    cost: known + web + reported,
    unpriced: costs.reduce((sum, { unpriced }) => sum + unpriced, 0),
  };
}

/** The same in dollars. The cost is null if no token has a price. */
export function costsOf(usage: readonly StoredEvent[], list: PriceList) {
  const { input, output, cache_read, cache_write, web, reported, cost, unpriced } = exactCosts(usage, list);
  const all = Object.values(tokensOf(usage)).reduce((sum, one) => sum + one, 0);
  return {
    input_usd: usd(input),
    output_usd: usd(output),
    cache_read_usd: usd(cache_read),
    cache_write_usd: usd(cache_write),
    web_search_usd: usd(web),
    reported_usd: usd(reported),
    cost_usd: unpriced > 0 && unpriced === all ? null : usd(cost),
    unpriced_tokens: unpriced,
  };
}

/** What an organization pays for what the list says: from some days on a factor of its price and a rate of its currency. */
export interface Terms {
  readonly currency: string;
  readonly terms: readonly { readonly from: string; readonly priceFactor: number; readonly rate: number }[];
}

/** What the costs of some days come to by the terms, rounded to 15 decimals; null without terms, and if a day with costs has none. */
export function contracted(
  costs: readonly (readonly [day: string, cost: bigint])[],
  terms: Terms | undefined,
): number | null {
  if (terms === undefined) return null;
  let sum = 0n;
  for (const [day, cost] of costs) {
    const [term] = terms.terms
      .filter(({ from }) => from <= day)
      .sort((one, other) => (one.from < other.from ? 1 : -1));
    if (term === undefined && cost > 0n) return null;
    if (term !== undefined) sum += cost * millionths(term.priceFactor) * millionths(term.rate);
  }
  const digits = String((sum + 5n * 10n ** 8n) / 10n ** 9n).padStart(16, '0');
  return Number(`${digits.slice(0, -15)}.${digits.slice(-15)}`);
}
