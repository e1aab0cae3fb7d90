import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DaySchema } from '../day.js';
import { FETCHED_PRICES } from '../disk/data-files.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { readText } from '../disk/text-file.js';
import { UsageError } from '../exit.js';
import {
  BASE_PRICES,
  type DatedPrice,
  Decimal,
  distinct,
  Id,
  KINDS,
  type ListedBy,
  mergedPrices,
  OWN_PRICES,
  PriceList,
  PublishedList,
  readFetched,
} from './price-list.js';
import { quote } from './sql-text.js';

/** The files of an operator that queries read as tables, by their paths. */
export interface ReferencePaths {
  /** The data folder, which has the prices that were fetched. */
  readonly data: string;
  readonly rateCard: string;
  /** Undefined if the operator has no prices of their own. */
  readonly prices: string | undefined;
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
export function readReferences({ data, rateCard, prices }: ReferencePaths): Reference[] {
  const card = requireText(rateCard, 'rate card', 'DAYBOOK_RATE_CARD');
  const languages = readFileSync(join(PACKAGE_ROOT, 'data', 'languages.json'), 'utf8');
  return [
    {
      fact: 'rate_card',
      table: 'rates',
      text: card,
      insert: (into) =>
        insertNamed(into, ratesOf(parse(card, RateCard, `The rate card ${rateCard}`, 'docs/rate-card.md'))),
    },
    ...readPrices({ data, prices }),
    {
      fact: 'language_table',
      table: 'languages',
      text: languages,
      insert: (into) => insertInto(into, languagesOf(LanguageTable.parse(JSON.parse(languages)))),
    },
  ];
}

/**
 * Reads the price lists: those that are shipped, what was fetched into the data folder, and the operator's file. Throws a UsageError for
 * one that can't be read.
 */
export function readPrices({ data, prices }: Pick<ReferencePaths, 'data' | 'prices'>): Reference[] {
  const file = prices === undefined ? undefined : requireText(prices, 'price list', 'DAYBOOK_PRICES');
  const own = readFileSync(OWN_PRICES, 'utf8');
  const base = readFileSync(BASE_PRICES, 'utf8');
  const fetched = readFetched(data);
  const text = JSON.stringify([base, own, fetched, file]);
  const read = () => ({
    own: PriceList.parse(JSON.parse(own)),
    file: file === undefined ? { models: [] } : parse(file, PriceList, `The price list ${prices}`, PAGE),
  });
  const lists = () => ({
    base: PublishedList.parse(JSON.parse(base)),
    fetched:
      fetched === undefined
        ? undefined
        : parse(fetched, PublishedList, `The file ${join(data, FETCHED_PRICES)}`, PAGE),
  });
  return [
    {
      fact: 'price_list',
      table: 'prices',
      text,
      insert: (into) => {
        const { own, file } = read();
        return insertInto(into, [...rowsOfPrices(mergedPrices({ ...lists(), own })), ...rowsOfFile(file)]);
      },
    },
    {
      fact: 'price_multipliers',
      table: 'price_multipliers',
      text,
      insert: (into) => {
        const { own, file } = read();
        return insertInto(into, [...multipliersOf(own, 'daybook'), ...multipliersOf(file, 'file')]);
      },
    },
  ];
}

const PAGE = 'docs/prices.md';

function requireText(path: string, name: string, setting: string): string {
  try {
    return readText(path);
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

/**
 * The same for models that the operator may spell as any provider does. One call of model_name for all rows: a call is a long expression,
 * and 80 of them take an engine longer to read than all else that a new store needs.
 */
function insertNamed(table: string, rows: Rows): string {
  const names = rows[0]?.map((_, index) => `v${index}`) ?? [];
  const selects = rows.map(
    (row) => `SELECT ${row.map((value, index) => `${value} AS ${names[index]}`).join(', ')}`,
  );
  const [id, ...others] = names;
  return `INSERT INTO ${table} SELECT ${[`model_name(${id})`, ...others].join(', ')} FROM (${selects.join(' UNION ALL ')}) AS v`;
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

/** A row of `prices`. The id is an SQL expression. */
function rowOfPrice(id: string, price: Omit<DatedPrice, 'listed_by'>, listedBy: ListedBy): Rows[number] {
  const usd = (value: number | null | undefined) => value?.toFixed(6) ?? 'NULL';
  const { above } = price;
  return [
    id,
    quote(price.valid_from),
    usd(price.input),
    usd(price.output),
    usd(price.cache_read),
    usd(price.cache_write),
    quote(price.source),
    usd(price.cache_write_1h),
    above?.tokens ?? 'NULL',
    ...KINDS.map((kind) => usd(above?.[kind])),
    usd(price.web_search),
    quote(listedBy),
  ];
}

function rowsOfPrices(prices: ReadonlyMap<string, readonly DatedPrice[]>): Rows {
  return [...prices].flatMap(([id, dated]) =>
    dated.map((price) => rowOfPrice(quote(id), price, price.listed_by)),
  );
}

/** The operator may spell a model as any provider does. */
function rowsOfFile({ models }: PriceList): Rows {
  return models.flatMap(({ id, prices = [] }) =>
    prices.map((price) => rowOfPrice(`model_name(${quote(id)})`, price, 'file')),
  );
}

/** As with prices, only the operator may spell a model as any provider does. */
function multipliersOf({ multipliers = [] }: PriceList, listedBy: 'daybook' | 'file'): Rows {
  const idOf = (id: string) => (listedBy === 'file' ? `model_name(${quote(id)})` : quote(id));
  return multipliers.flatMap(({ models, kind, values, multiplier, valid_from, source }) =>
    models.flatMap((id) =>
      values.map((value) => [
        idOf(id),
        quote(kind),
        quote(value),
        quote(valid_from),
        multiplier.toFixed(6),
        quote(source),
        quote(listedBy),
      ]),
    ),
  );
}

function languagesOf({ names, extensions }: z.infer<typeof LanguageTable>): Rows {
  const kind = (name: string, table: Record<string, string>) =>
    Object.entries(table).map(([pattern, language]) => [quote(name), quote(pattern), quote(language)]);
  return [...kind('name', names), ...kind('extension', extensions)];
}
