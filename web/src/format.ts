/** The reader's language. Its days are those of the API, whatever its calendar. */
export const locale = new Intl.Locale(navigator.language, { calendar: 'gregory' });

function formatter(options: Intl.NumberFormatOptions): (value: number) => string {
  const format = new Intl.NumberFormat(locale, options);
  return (value) => format.format(value);
}

const whole = formatter({ maximumFractionDigits: 0 });
const compact = formatter({ notation: 'compact', minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
const one = formatter({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
const signedOne = formatter({
  ...{ minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: 'exceptZero' },
});
const dollars = formatter({ style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const cents = formatter({ style: 'currency', currency: 'USD' });
const manyDollars = formatter({
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const short = formatter({ notation: 'compact', maximumSignificantDigits: 3 });
const manyTicks = formatter({
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const percent = formatter({ style: 'percent', maximumFractionDigits: 0 });
const tenths = formatter({ style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });
const signedDollars = formatter({
  ...{ style: 'currency', currency: 'USD', maximumFractionDigits: 0, signDisplay: 'exceptZero' },
});
const signedCents = formatter({ style: 'currency', currency: 'USD', signDisplay: 'exceptZero' });
const signed = formatter({ style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' });

/** The unit of a number, which decides how it is written. A rate is a share of which tenths of a percent matter. */
export type Unit = 'count' | 'dollars' | 'ratio' | 'share' | 'rate';

/** Shown for a number that isn't known. */
export const UNKNOWN = '–';

/** A number in the reader's locale: short enough for a figure. */
export function figure(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return UNKNOWN;
  switch (unit) {
    case 'count':
      return Math.abs(value) < 10_000 ? whole(value) : compact(value);
    case 'dollars':
      return Math.abs(value) < 100
        ? cents(value)
        : Math.abs(value) < 10_000
          ? dollars(value)
          : manyDollars(value);
    case 'ratio':
      return one(value);
    case 'share':
      return percent(value);
    case 'rate':
      return tenths(value);
  }
}

/** An amount in a currency, as short as a figure in dollars. */
export function money(value: number | null, currency: string): string {
  if (value === null) return UNKNOWN;
  const isMany = Math.abs(value) >= 10_000;
  return formatter({
    ...{ style: 'currency', currency },
    ...(isMany
      ? { notation: 'compact', minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
      : Math.abs(value) < 100
        ? {}
        : { maximumFractionDigits: 0 }),
  })(value);
}

/** The same for the ticks of an axis. */
export function tick(value: number, unit: Unit): string {
  if (unit === 'dollars' && Number.isInteger(value))
    return value < 10_000 ? dollars(value) : manyTicks(value);
  if (unit === 'count' && value >= 10_000) return short(value);
  return unit === 'ratio' && Number.isInteger(value) ? whole(value) : figure(value, unit);
}

/** The same for cells of a table, with aligned decimals. */
export function cell(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (unit === 'dollars') return Math.abs(value) < 1000 ? cents(value) : dollars(value);
  return figure(value, unit);
}

export function exactly(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return UNKNOWN;
  return unit === 'count'
    ? whole(value)
    : unit === 'dollars'
      ? cents(value)
      : unit === 'share' || unit === 'rate'
        ? tenths(value)
        : one(value);
}

/** A number of things: `1 day`, `2 days`. */
export const countOf = (count: number, one: string): string =>
  `${whole(count)} ${one}${count === 1 ? '' : 's'}`;

/** How many days are stale or not built yet. */
export const waitingText = (days: number): string =>
  `${countOf(days, 'day')} ${days === 1 ? 'waits' : 'wait'} for a build`;

/** The change of a number: `+4%`, `new` from zero, and an empty text if either number isn't known. */
export function change(now: number | null | undefined, before: number | null | undefined): string {
  if (now === null || now === undefined || before === null || before === undefined) return '';
  if (before === 0) return now === 0 ? `±${percent(0)}` : 'new';
  const part = now / before - 1;
  return Math.abs(part) < 0.005 ? `±${percent(0)}` : signed(part).replace('-', '−');
}

/** The change of a rate in points, `+0.3 pt`: a percentage of a percentage misleads. Other numbers change by `change`. */
export function changeIn(
  unit: Unit,
  now: number | null | undefined,
  before: number | null | undefined,
): string {
  if (unit !== 'rate') return change(now, before);
  if (now === null || now === undefined || before === null || before === undefined) return '';
  const points = 100 * (now - before);
  return Math.abs(points) < 0.05 ? `±${one(0)} pt` : `${signedOne(points).replace('-', '−')} pt`;
}

/** An amount in full: in whole dollars, or with cents. */
export const amount = (usd: number, isWhole: boolean): string => (isWhole ? dollars : cents)(usd);

/** What a cost changed by: `+$12.30`, `−$1,204`, and `±$0.00` if it is the same. */
export function moved(usd: number, isWhole = Math.abs(usd) >= 1000): string {
  const text = (isWhole ? signedDollars : signedCents)(usd);
  return Math.abs(usd) < (isWhole ? 0.5 : 0.005) ? `±${text}` : text.replace('-', '−');
}

const dayMonth = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayMonthYear = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const weekdayDayMonth = new Intl.DateTimeFormat(locale, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const instant = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
});

const monthYear = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' });

const wholeMonth = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Days are `YYYY-MM-DD` in UTC. */
export const dayText = (day: string): string => dayMonth.format(Date.parse(day));
/** The month of a day, for ranges of several years. */
export const monthText = (day: string): string => monthYear.format(Date.parse(day));
/** The month of a day in full. */
export const longMonth = (day: string): string => wholeMonth.format(Date.parse(day));
export const weekdayText = (day: string): string => weekdayDayMonth.format(Date.parse(day));
export const rangeText = (from: string, to: string): string =>
  dayMonthYear.formatRange(Date.parse(from), Date.parse(to));
/** The days of a range without their year: `Oct 1 – 26`. */
export const daysText = ({ from, to }: { from: string; to: string }): string =>
  dayMonth.formatRange(Date.parse(from), Date.parse(to));
/** The UTC day of an instant, with its year. */
export const dateText = (at: number): string => dayMonthYear.format(at);
/** An instant, as milliseconds or in ISO 8601. */
export const instantText = (at: number | string): string => `${instant.format(new Date(at))} UTC`;

/** A name that fits beside a mark. */
export function shortened(name: string, characters = 18): string {
  return name.length > characters ? `${name.slice(0, characters - 1)}…` : name;
}

const minute = new Intl.DateTimeFormat(locale, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
});
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });

/** An ISO 8601 instant, for places that already name UTC and the year. */
export const minuteText = (at: string): string => minute.format(new Date(at));
/** A weekday, from 1 for Monday to 7. */
export const weekdayName = (day: number): string => weekday.format(Date.UTC(2024, 0, day));

/** A filter's value, short enough for a list: a repository without its host, and "not known" for an empty value. */
export function nameOf(filter: string, value: string | null): string {
  if (value === null || value === '' || value === '(none)') return 'not known';
  if (filter !== 'repo') return value;
  const [, owner, name] = /(?<![^/:])([^/:]+)\/([^/]+?)(?:\.git)?\/?$/.exec(value) ?? [];
  return name === undefined ? value : `${owner}/${name}`;
}
