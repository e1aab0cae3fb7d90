import { entryOf } from './model-key.js';

/** The rate card (docs/rate-card.md), as its file holds it. */
export interface RateCard {
  readonly default?: Rates;
  readonly models?: readonly (Rates & { readonly id: string })[];
}

interface Rates {
  readonly tier: string;
  readonly rates: readonly Rate[];
}

interface Rate {
  readonly valid_from: string;
  readonly multiplier: number;
  readonly cache_read_rate?: number;
  readonly cache_write_rate?: number;
}

export interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
}

const WITHOUT_CARD: Rates = { tier: 'standard', rates: [{ valid_from: '2020-01-01', multiplier: 1 }] };

/** By its name, then by its key, then the default. */
function ratesOf(model: string, card: RateCard): Rates {
  return entryOf(model, card.models ?? []) ?? card.default ?? WITHOUT_CARD;
}

export function isOnCard(model: string, card: RateCard): boolean {
  return entryOf(model, card.models ?? []) !== undefined;
}

export function tierOf(model: string, card: RateCard): string {
  return ratesOf(model, card).tier;
}

/** The newest entry that is valid on the day; before the first one, that (docs/decisions/0003-where-the-contract-is-silent.md). */
function rateOn(day: string, { rates }: Rates): Rate | undefined {
  const dated = [...rates].sort((one, other) => (one.valid_from < other.valid_from ? -1 : 1));
  return dated.filter(({ valid_from }) => valid_from <= day).at(-1) ?? dated[0];
}

/** A decimal number of at most six places, exactly: in millionths. */
function millionths(decimal: number): bigint {
  return BigInt(decimal.toFixed(6).replace('.', ''));
}

/** `floor(multiplier x (input + output + cache_write x cache_write_rate + cache_read x cache_read_rate) + 0.5)`, exactly. */
export function credits(tokens: Tokens, model: string, day: string, card: RateCard): number {
  const rate = rateOn(day, ratesOf(model, card));
  if (rate === undefined) throw new Error(`the card has no rate for ${model}`);
  const weighed =
    millionths(1) * BigInt(tokens.input_tokens + tokens.output_tokens) +
    millionths(rate.cache_write_rate ?? 1) * BigInt(tokens.cache_write_tokens) +
    millionths(rate.cache_read_rate ?? 0.1) * BigInt(tokens.cache_read_tokens);
  const one = millionths(1) * millionths(1);
  return Number((millionths(rate.multiplier) * weighed + one / 2n) / one);
}
