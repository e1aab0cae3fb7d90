import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { quote } from '../store/sql-text.js';
import type { Store } from '../store/store.js';

/** How many terms an organization can have. */
const TERMS_AT_MOST = 100;

/** How many decimals the share of the list price has, and the rate of the currency. */
const PRICE_PLACES = 4;
const RATE_PLACES = 6;

/** A number in decimals of at most so many places, so that what is computed with it stays exact. */
function decimal(places: number, least: number, most: number, example: number) {
  const sentence = `must be a number from ${least} to ${most} with at most ${places} decimals`;
  return z
    .number(sentence)
    .min(least, sentence)
    .max(most, sentence)
    .refine((value) => Number(value.toFixed(places)) === value, sentence)
    .meta({ examples: [example] });
}

/** From which day on an organization pays which share of the list price, in its currency. */
const Term = z.strictObject({
  from: DaySchema.meta({ examples: ['2026-07-01'] }),
  priceFactor: decimal(PRICE_PLACES, 0, 10, 0.85),
  rate: decimal(RATE_PLACES, 0.000001, 1_000_000, 0.92),
});

/** What an organization pays for what the list says: its currency, and the terms from some days on. */
export const CostTerms = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be the three capital letters of a currency, such as EUR')
    .meta({ examples: ['EUR'] }),
  terms: z
    .array(Term)
    .max(TERMS_AT_MOST)
    .refine((terms) => terms.length > 0, 'must have a term')
    .refine(
      (terms) => new Set(terms.map(({ from }) => from)).size === terms.length,
      'must not have two terms from the same day',
    ),
});
export type CostTerms = z.infer<typeof CostTerms>;

/** The terms in the newest settings of an organization; undefined if it has none. */
export async function costTermsOf(store: Store, orgId: string): Promise<CostTerms | undefined> {
  const [row] = await store.select(
    'SELECT settings FROM control_revisions WHERE org_id = $org_id ORDER BY revision DESC LIMIT 1',
    { org_id: orgId },
  );
  return row === undefined ? undefined : CostTerms.safeParse(JSON.parse(String(row.settings)).costs).data;
}

/**
 * A SELECT whose rows are the periods of the terms. They cover all days: one row is one period with the share of the list price that the
 * organization pays, what a dollar is in its currency, and the product of both, each NULL before the first term.
 */
export function costTermsSql(terms: CostTerms | undefined): string {
  const sorted = [...(terms?.terms ?? [])].sort((one, other) => (one.from < other.from ? -1 : 1));
  const first = sorted[0]?.from ?? LAST;
  return [
    period(FIRST, first, 'NULL', 'NULL'),
    ...sorted.map(({ from, priceFactor, rate }, place) =>
      period(
        from,
        sorted[place + 1]?.from ?? LAST,
        quote(priceFactor.toFixed(PRICE_PLACES)),
        quote(rate.toFixed(RATE_PLACES)),
      ),
    ),
  ].join('\nUNION ALL\n');
}

const FIRST = '1970-01-01' as Day;
const LAST = '2100-01-01' as Day;

function period(from: Day, until: Day, factor: string, rate: string): string {
  const price_factor = `CAST(${factor} AS DECIMAL(18, ${PRICE_PLACES}))`;
  const currency_rate = `CAST(${rate} AS DECIMAL(18, ${RATE_PLACES}))`;
  return `SELECT DATE ${quote(from)} AS valid_from, DATE ${quote(until)} AS valid_until, ${price_factor} AS price_factor, ${currency_rate} AS currency_rate, CAST(${price_factor} * ${currency_rate} AS DECIMAL(38, ${PRICE_PLACES + RATE_PLACES})) AS contract_factor`;
}
