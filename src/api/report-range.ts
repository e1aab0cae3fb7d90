import { addDays, type Day } from '../day.js';
import { UsageError } from '../exit.js';

/** How many days a report has if none are named. */
export const DAYS_BY_DEFAULT = 30;

/** A range of days, both ends included. */
interface Range {
  readonly from: Day;
  readonly to: Day;
}

/** What is asked for of a range. */
type AskedRange = { readonly [end in keyof Range]?: Day | undefined };

/** Throws a UsageError for days that haven't ended, and for a range that ends before it begins. */
export function checkRange({ from, to }: AskedRange, lastClosed: Day): void {
  for (const [option, day] of Object.entries({ to, from }))
    if (day !== undefined && day > lastClosed)
      throw new UsageError(
        `--${option} must be ${lastClosed} or earlier: later days have not ended yet (UTC).`,
      );
  if (from !== undefined && to !== undefined && from > to)
    throw new UsageError('--from must not be after --to.');
}

/**
 * The range of a report: what is asked for, else the 30 days up to the newest one that has data, from `historyStart` on. Throws a
 * UsageError as checkRange does.
 */
export function reportRange(
  asked: AskedRange,
  dataDays: readonly Day[],
  lastClosed: Day,
  historyStart?: Day,
): Range {
  checkRange(asked, lastClosed);
  const newest = dataDays.at(-1) ?? lastClosed;
  // Days after the newest one that has data can be asked for too.
  const to = asked.to ?? (asked.from !== undefined && asked.from > newest ? lastClosed : newest);
  const earlier = addDays(to, 1 - DAYS_BY_DEFAULT);
  const isServed = historyStart === undefined || historyStart <= earlier || historyStart > to;
  return { from: asked.from ?? (isServed ? earlier : historyStart), to };
}

/** What is said if no day of a range has data: which days have some. Null if one of the range has. */
export function noDataSentence(orgId: string, { from, to }: Range, dataDays: readonly Day[]): string | null {
  if (dataDays.some((day) => day >= from && day <= to)) return null;
  const [first] = dataDays;
  const others =
    first === undefined
      ? 'no built day has any. A day is built when it has ended (UTC), and "daybook status" says what waits'
      : dataDays.length === 1
        ? `its only day with events is ${first}`
        : `its ${dataDays.length} days with events are between ${first} and ${dataDays.at(-1)}`;
  return `${orgId} has no events from ${from} to ${to}: ${others}.`;
}

/** How many organizations a sentence names. */
const NAMED = 10;

/** The organization that is asked for, or the only one. Throws a UsageError that lists the known ones. */
export function knownOrganization(asked: string | undefined, known: readonly string[]): string {
  if (known.length === 0) throw new UsageError('There are no events yet: "daybook ingest" reads some.');
  const [only = ''] = known;
  if (asked === undefined && known.length === 1) return only;
  if (asked !== undefined && known.includes(asked)) return asked;
  const others =
    known.length > NAMED ? `, and ${known.length - NAMED} more ("daybook status" lists all)` : '';
  const list = `${known.slice(0, NAMED).join(', ')}${others}`;
  throw new UsageError(
    asked === undefined
      ? `Name an organization with --org: ${list}.`
      : `There is no organization ${asked}: the known ${known.length === 1 ? 'one is' : 'ones are'} ${list}.`,
  );
}
