import { MS_PER_DAY } from '../day.js';
import { UsageError } from '../exit.js';

/** How long replaced rows are kept. */
interface Keeping {
  readonly lakeKeepDays: number;
}

/** Whether the lake can answer what was published at an instant. Both are Unix milliseconds. */
export function isKept(asOf: number, { lakeKeepDays }: Keeping, now: number): boolean {
  return asOf <= now && asOf >= now - lakeKeepDays * MS_PER_DAY;
}

/** Throws a UsageError for an instant that the lake can't answer. */
export function requireKept(asOf: number, keeping: Keeping, now: number): void {
  if (!isKept(asOf, keeping, now))
    throw new UsageError(
      `--as-of must be in the last ${keeping.lakeKeepDays} days, for which replaced rows are kept, and not in the future: DAYBOOK_LAKE_KEEP_DAYS changes that.`,
    );
}
