import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { FETCHED_PRICES } from '../disk/data-files.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';

/** The prompts, in tokens, above which a model may have other prices: the classes that day tables keep apart. */
export const STEPS = [100_000, 128_000, 200_000, 272_000, 512_000] as const;

/** Whether a number has at most six decimals: credits are computed in millionths, and costs in decimals. */
function isInMillionths(value: number): boolean {
  return Math.abs(value * 1e6 - Math.round(value * 1e6)) < 1e-3;
}

export const Decimal = z.number().min(0).refine(isInMillionths, 'must have at most six decimals');

/** Refuses a list in which two have the same value under a key. */
export function distinct(key: string) {
  return (items: readonly Readonly<Record<string, unknown>>[], context: z.RefinementCtx): void => {
    const values = items.map((item) => item[key]);
    for (const [index, value] of values.entries()) {
      if (value !== undefined && values.indexOf(value) < index)
        context.addIssue({ code: 'custom', path: [index, key], message: `${value} is there twice` });
    }
  };
}

export const Id = z.string().min(1);
const Source = z.string().min(1).max(2048);

/** A price that the list doesn't have is unknown: null, never 0. */
const Price = Decimal.max(100_000).nullable().default(null);

/** USD per million tokens of each kind. */
const TokenPrices = {
  input: Price,
  output: Price,
  cache_read: Price,
  cache_write: Price,
  cache_write_1h: Price,
};

/** The kinds of tokens that have a price. */
export const KINDS = Object.keys(TokenPrices) as readonly (keyof typeof TokenPrices)[];

const Prices = {
  ...TokenPrices,
  /** All prices of calls whose prompt has more tokens than the step; undefined if its length doesn't matter. */
  above: z
    .strictObject({
      tokens: z.literal(STEPS, `must be one of ${STEPS.join(', ')}`),
      ...TokenPrices,
    })
    .optional(),
  /** USD per thousand web searches. */
  web_search: Price,
};

const Multiplier = z.strictObject({
  models: z.array(Id).min(1),
  kind: z.enum(['speed', 'service_tier', 'region']),
  values: z.array(Id).min(1),
  // Three of them together have six decimals, as prices have.
  multiplier: z.number().min(0).max(1000).multipleOf(0.01, 'must have at most two decimals'),
  valid_from: DaySchema,
  source: Source,
});

/** A list of prices as a person writes it: data/prices.json, or the operator's own file. */
export const PriceList = z.strictObject({
  $comment: z.string().optional(),
  models: z
    .array(
      z
        .strictObject({
          id: Id,
          /** The day before which there are no prices of the package either. */
          first_day: DaySchema.optional(),
          source: Source.optional(),
          prices: z
            .array(z.strictObject({ valid_from: DaySchema, ...Prices, source: Source }))
            .min(1)
            .superRefine(distinct('valid_from'))
            .optional(),
        })
        .refine(
          ({ first_day, prices }) => first_day !== undefined || prices !== undefined,
          'must have prices or first_day',
        ),
    )
    .superRefine(distinct('id')),
  multipliers: z.array(Multiplier).optional(),
});
export type PriceList = z.infer<typeof PriceList>;

/** Prices that a published list has or had, by the keys of models. A program writes it: data/base-prices.json, and what was fetched. */
export const PublishedList = z.strictObject({
  $comment: z.string().optional(),
  /** The package and its version, or the address that was asked last. */
  from: z.string(),
  /** The day of the newest state in it. */
  updated: DaySchema,
  models: z
    .array(
      z.strictObject({
        id: Id,
        source: Source,
        prices: z
          .array(
            z.strictObject({
              /** Without one it has always been valid, as far as anybody knows. */
              valid_from: DaySchema.optional(),
              ...Prices,
              /** The day on which the entry was first seen, if that was after the first list. */
              seen: DaySchema.optional(),
            }),
          )
          .min(1)
          .superRefine(distinct('valid_from')),
      }),
    )
    .superRefine(distinct('id')),
});
export type PublishedList = z.infer<typeof PublishedList>;
export type PublishedModel = PublishedList['models'][number];
export type PublishedPrice = PublishedModel['prices'][number];
type Kinds = Readonly<Record<(typeof KINDS)[number], number | null>>;
type TokenPrices = Kinds & { readonly above?: PublishedPrice['above'] };

/** The first day of a price that has always been valid. */
const ALWAYS = '2000-01-01' as Day;

/** Where a price comes from. */
export type ListedBy = 'package' | 'update' | 'daybook' | 'file';

/** A price with its first day, as the table `prices` has it. */
export type DatedPrice = Omit<PublishedPrice, 'valid_from' | 'seen'> & {
  readonly valid_from: Day;
  readonly source: string;
  readonly listed_by: ListedBy;
};

/** The path of the prices of the package. */
export const BASE_PRICES = join(PACKAGE_ROOT, 'data', 'base-prices.json');
/** The path of the prices that the package lacks or has wrong. */
export const OWN_PRICES = join(PACKAGE_ROOT, 'data', 'prices.json');

/** Three lists that become one: what the package has, what was fetched since, if anything was, and what it lacks or has wrong. */
export interface Lists {
  readonly base: PublishedList;
  readonly fetched?: PublishedList | undefined;
  readonly own: PriceList;
}

/** The text of the fetched list in a data folder; undefined if nothing was fetched. */
export function readFetched(data: string): string | undefined {
  try {
    return readFileSync(join(data, FETCHED_PRICES), 'utf8');
  } catch {
    return undefined;
  }
}

function byDay(one: { valid_from?: Day | undefined }, other: { valid_from?: Day | undefined }): number {
  return (one.valid_from ?? ALWAYS) < (other.valid_from ?? ALWAYS) ? -1 : 1;
}

/** The published prices of a model: those fetched, and of a newer package those that began after the last fetch. */
function publishedOf({ base, fetched }: Lists): Map<string, PublishedModel> {
  const models = new Map(base.models.map((model) => [model.id, model]));
  for (const model of fetched?.models ?? []) {
    const known = new Set(model.prices.map(({ valid_from }) => valid_from));
    const later = (models.get(model.id)?.prices ?? []).filter(
      ({ valid_from }) => (valid_from ?? ALWAYS) > (fetched?.updated ?? ALWAYS) && !known.has(valid_from),
    );
    models.set(model.id, { ...model, prices: [...model.prices, ...later].sort(byDay) });
  }
  return models;
}

/** A price with the kinds that a list leaves out, as they were before: leaving one out doesn't say that it has no price. */
export function completed<T extends TokenPrices & { readonly web_search: number | null }>(
  price: T,
  before: PublishedPrice | undefined,
): T {
  if (before === undefined) return price;
  const above = price.above ?? before.above;
  const kinds = (some: Kinds, others: Kinds | undefined) =>
    Object.fromEntries(KINDS.map((kind) => [kind, some[kind] ?? others?.[kind] ?? null]));
  return {
    ...price,
    ...kinds(price, before),
    ...(above === undefined ? {} : { above: { ...above, ...kinds(above, before.above) } }),
    web_search: price.web_search ?? before.web_search,
  };
}

/** The prices of each model by day, oldest first. An entry that was seen later than our own stands above it from that day on. */
export function mergedPrices(lists: Lists): Map<string, DatedPrice[]> {
  const published = publishedOf(lists);
  const own = new Map(lists.own.models.map((model) => [model.id, model]));
  const merged = new Map<string, DatedPrice[]>();
  for (const id of [...new Set([...published.keys(), ...own.keys()])].sort()) {
    const model = published.get(id);
    const ours = own.get(id);
    const byDays = new Map<Day, DatedPrice>();
    for (const price of ours?.prices ?? []) byDays.set(price.valid_from, { ...price, listed_by: 'daybook' });
    for (const { seen, ...price } of model?.prices ?? []) {
      const begun = price.valid_from ?? ours?.first_day ?? ALWAYS;
      const source = model?.source ?? '';
      if (ours?.prices === undefined) {
        byDays.set(begun, {
          ...price,
          valid_from: begun,
          source,
          listed_by: seen === undefined ? 'package' : 'update',
        });
      } else if (seen !== undefined) {
        // Prices of days before the entry was seen were looked up, and stay.
        const day = seen > begun ? seen : begun;
        const known = priceOn(ours.prices, day);
        byDays.set(day, { ...completed(price, known), valid_from: day, source, listed_by: 'update' });
      }
    }
    if (byDays.size > 0) merged.set(id, [...byDays.values()].sort(byDay));
  }
  return merged;
}

/** The price on a day; undefined before the first. */
export function priceOn<T extends { readonly valid_from?: Day | undefined }>(
  prices: readonly T[],
  day: Day,
): T | undefined {
  return [...prices].sort(byDay).findLast(({ valid_from }) => (valid_from ?? ALWAYS) <= day);
}
