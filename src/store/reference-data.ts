import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DaySchema } from '../day.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import { quote } from './sql-text.js';

/** The files of an operator that queries read as tables, by their paths. */
export interface ReferencePaths {
  readonly rateCard: string;
  readonly prices: string;
}

/** A file of data that queries read as a table. */
export interface Reference {
  /** The name of the fact that tells which text the table was filled with. */
  readonly fact: string;
  readonly table: string;
  readonly text: string;
  /** The statement that fills a table of these columns. Throws a UsageError that names the mistake in the file. */
  readonly insert: (into: string) => string;
}

/** Reads all of them. Throws a UsageError when there is no such file. */
export function readReferences({ rateCard, prices }: ReferencePaths): Reference[] {
  const card = readText(rateCard, 'rate card', 'DAYBOOK_RATE_CARD');
  const languages = readFileSync(join(PACKAGE_ROOT, 'data', 'languages.json'), 'utf8');
  return [
    {
      fact: 'rate_card',
      table: 'rates',
      text: card,
      insert: (into) =>
        insertInto(into, ratesOf(parse(card, RateCard, `The rate card ${rateCard}`, 'docs/rate-card.md'))),
    },
    readPrices(prices),
    {
      fact: 'language_table',
      table: 'languages',
      text: languages,
      insert: (into) => insertInto(into, languagesOf(LanguageTable.parse(JSON.parse(languages)))),
    },
  ];
}

/** Reads the price list. Throws a UsageError when there is none. */
export function readPrices(path: string): Reference {
  const list = readText(path, 'price list', 'DAYBOOK_PRICES');
  return {
    fact: 'price_list',
    table: 'prices',
    text: list,
    insert: (into) =>
      insertInto(into, pricesOf(parse(list, PriceList, `The price list ${path}`, 'docs/prices.md'))),
  };
}

function readText(path: string, name: string, setting: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(
      `The ${name} ${path} can't be read: set ${setting} to a readable file, or leave it unset.`,
    );
  }
}

function parse<T>(text: string, schema: z.ZodType<T>, file: string, page: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const where = issue === undefined ? 'it is not JSON' : `${issue.path.join('.') || 'it'} ${issue.message}`;
    throw new UsageError(`${file} does not match ${page}: ${where}.`);
  }
}

/** At most six decimals: credits are computed in millionths, and costs in decimals. */
const Decimal = z
  .number()
  .min(0)
  .refine(
    (value) => Math.abs(value * 1e6 - Math.round(value * 1e6)) < 1e-3,
    'must have at most six decimals',
  );

/** Refuses a list in which two have the same value under a key. */
function distinct(key: string) {
  return (items: readonly Readonly<Record<string, unknown>>[], context: z.RefinementCtx): void => {
    const values = items.map((item) => item[key]);
    for (const [index, value] of values.entries()) {
      if (values.indexOf(value) < index)
        context.addIssue({ code: 'custom', path: [index, key], message: `${value} is there twice` });
    }
  };
}

const Id = z.string().min(1);
const Rate = Decimal.max(1000);

const Rates = z.strictObject({
  tier: z.enum(['standard', 'thinking']),
  rates: z
    .array(
      z.strictObject({
        valid_from: DaySchema,
        multiplier: Rate,
        cache_read_rate: Rate.default(0.1),
        cache_write_rate: Rate.default(1),
      }),
    )
    .min(1)
    .superRefine(distinct('valid_from')),
});

const RateCard = z
  .strictObject({
    $comment: z.string().optional(),
    default: Rates.optional(),
    models: z
      .array(Rates.extend({ id: Id }))
      .superRefine(distinct('id'))
      .optional(),
  })
  .refine((card) => card.default !== undefined || card.models !== undefined, 'must have default or models');

/** A price that the list doesn't have is unknown: null, never 0. */
const Price = Decimal.max(100_000).nullable().default(null);

const Prices = z.strictObject({
  id: Id,
  prices: z
    .array(
      z.strictObject({
        valid_from: DaySchema,
        input: Price,
        output: Price,
        cache_read: Price,
        cache_write: Price,
        cache_write_1h: Price,
        source: z.string().min(1).max(2048),
      }),
    )
    .min(1)
    .superRefine(distinct('valid_from')),
});

const PriceList = z.strictObject({
  $comment: z.string().optional(),
  models: z.array(Prices).superRefine(distinct('id')),
});

const LanguageTable = z.object({
  names: z.record(z.string(), z.string()),
  extensions: z.record(z.string(), z.string()),
});

/** The rows of a table, each a list of SQL expressions. */
type Rows = readonly (readonly (string | number)[])[];

function insertInto(table: string, rows: Rows): string {
  return rows.length === 0
    ? `INSERT INTO ${table} SELECT * FROM ${table} WHERE 1 = 0`
    : `INSERT INTO ${table} VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}`;
}

function ratesOf(card: z.infer<typeof RateCard>): Rows {
  return [{ id: '', ...(card.default ?? { tier: 'standard', rates: [] }) }, ...(card.models ?? [])].flatMap(
    ({ id, tier, rates }) =>
      rates.map((rate) => [
        quote(id),
        quote(tier),
        quote(rate.valid_from),
        rate.multiplier,
        rate.cache_read_rate,
        rate.cache_write_rate,
      ]),
  );
}

function pricesOf({ models }: z.infer<typeof PriceList>): Rows {
  const price = (usd: number | null) => usd?.toFixed(6) ?? 'NULL';
  return models.flatMap(({ id, prices }) =>
    prices.map(({ valid_from, input, output, cache_read, cache_write, cache_write_1h, source }) => [
      quote(id),
      quote(valid_from),
      price(input),
      price(output),
      price(cache_read),
      price(cache_write),
      quote(source),
      price(cache_write_1h),
    ]),
  );
}

function languagesOf({ names, extensions }: z.infer<typeof LanguageTable>): Rows {
  const kind = (name: string, table: Record<string, string>) =>
    Object.entries(table).map(([pattern, language]) => [quote(name), quote(pattern), quote(language)]);
  return [...kind('name', names), ...kind('extension', extensions)];
}
