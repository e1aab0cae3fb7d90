import { dayText, locale } from './format.js';
import { digitsOf, type Kind, textOf } from './sql-answer.js';

// Numbers of four digits may be years, so they aren't grouped where no number has more.
const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 20, useGrouping: 'min2' });
const grouped = new Intl.NumberFormat(locale, { maximumFractionDigits: 20, useGrouping: 'always' });
const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 });
const month = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const time = new Intl.DateTimeFormat(locale, {
  ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' } as const),
});

/** The text of a value that isn't null: numbers with all their digits, grouped as others of their column are, instants in UTC. */
export function valueText(value: unknown, kind: Kind, isGrouped = false): string {
  if (kind === 'number') {
    const format = isGrouped ? grouped : exact;
    const digits = digitsOf(value);
    if (digits !== undefined)
      return /e/i.test(digits) ? digits : format.format(digits as Intl.StringNumericLiteral);
    if (typeof value === 'number') return /e/.test(String(value)) ? String(value) : format.format(value);
  }
  if (kind === 'instant') return textOf(value).replace('T', ' ').replace(/Z$/, '');
  return textOf(value);
}

/** A number beside an axis or a bar. */
export const shortNumber = (value: number): string => short.format(value);

const HOUR_MS = 3_600_000;

/** Formats the ticks of a time axis, depending on the time that it spans. */
export function tickText(span: number): (at: number) => string {
  if (span > 400 * 24 * HOUR_MS) return (at) => month.format(at);
  if (span > 48 * HOUR_MS) return (at) => dayText(new Date(at).toISOString());
  return (at) => time.format(at);
}
