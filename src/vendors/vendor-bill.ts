import { z } from 'zod';
import type { Day } from '../day.js';
import { PullFault, type VendorClient } from './vendor-client.js';

/** An item of a bill. Amounts are dollars as decimal texts with 9 places; what the report doesn't tell is null. */
export interface BillItem {
  readonly item: string;
  readonly usd: string | null;
  readonly gross_usd: string | null;
  readonly tokens: number | null;
}

/** What a vendor bills an organization, of which a day is fetched at a time. It is of no person, and no usage. */
export interface Bill {
  /** Whose bill it is. */
  readonly vendor: 'anthropic' | 'github' | 'openai';
  /** The name of the report. */
  readonly name: string;
  readonly tells: 'money' | 'tokens';
  /** For how many days after a day the vendor may change what it says of it. */
  readonly revisedDays: number;
  /** All items of a day of an account, in any order; items of one name are added up. Throws PullFault. */
  readonly fetch: (client: VendorClient, day: Day, account: string) => Promise<readonly BillItem[]>;
}

/** How long a vendor changes its bills isn't documented. */
export const REVISED_DAYS = 30;

const DECIMAL = /^(-?)(\d{1,20})(?:\.(\d{1,30}))?(?:e([+-]?\d{1,2}))?$/i;

/** An amount of money in JSON: a number, or a text, as vendors have both. */
export const Amount = z
  .union([z.number(), z.string()])
  .refine((amount) => DECIMAL.test(String(amount)), 'must be an amount of money');

/** As the table has them. */
const PLACES = 9;
/** More than a vendor can bill for an item of a day, and less than the table can have. */
const DOLLARS_AT_MOST = 10n ** 8n * 10n ** BigInt(PLACES);

/** An amount of a unit of which a dollar has 10^`shift`, as a decimal text with 9 places: exact but for a half of the last one. */
export function dollars(amount: z.infer<typeof Amount>, shift = 0): string {
  const [, sign = '', whole = '', part = '', exponent = '0'] = DECIMAL.exec(String(amount)) ?? [];
  const power = PLACES - part.length + Number(exponent) - shift;
  const digits = BigInt(whole + part);
  const unit = 10n ** BigInt(Math.abs(power));
  return textOf((sign === '' ? 1n : -1n) * (power < 0 ? (digits + unit / 2n) / unit : digits * unit));
}

function textOf(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(PLACES + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

const unitsOf = (text: string) => BigInt(text.replace('.', ''));

/** Throws a PullFault for money that isn't dollars. */
export function requireDollars(title: string, currency: string): void {
  if (currency.toLowerCase() !== 'usd')
    throw new PullFault(`${title} bills in ${currency.slice(0, 10)}, and Daybook reads dollars alone`, true);
}

/** How long the name of an item can be. */
const NAME_LENGTH = 200;

/** The lines of a day: each item once, in order. Throws a PullFault for amounts that can't be true. */
export function billLines(items: readonly BillItem[]): string {
  const sums = new Map<string, BillItem>();
  const added = (one: string | null, other: string | null) =>
    one === null || other === null ? (one ?? other) : textOf(unitsOf(one) + unitsOf(other));
  for (const { item: told, usd, gross_usd, tokens } of items) {
    const item = told.slice(0, NAME_LENGTH) || 'unknown';
    const before = sums.get(item);
    sums.set(item, {
      item,
      usd: added(before?.usd ?? null, usd),
      gross_usd: added(before?.gross_usd ?? null, gross_usd),
      tokens: tokens === null ? (before?.tokens ?? null) : (before?.tokens ?? 0) + tokens,
    });
  }
  for (const { item, usd, gross_usd, tokens } of sums.values())
    if (
      [usd, gross_usd].some((one) => one !== null && unitsOf(one) > DOLLARS_AT_MOST) ||
      !Number.isSafeInteger(tokens ?? 0)
    )
      throw new PullFault(`more is billed for ${item} than can be true`);
  return [...sums.values()]
    .map((one) => `${JSON.stringify(one)}\n`)
    .sort()
    .join('');
}
