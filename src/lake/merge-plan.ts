import type { Day } from '../day.js';
import type { DataFile } from './snapshot.js';

/** Up to so many rows, all files of a table become one at its turn. */
const SMALL_ROWS = 10_000;

/** A merged file has at most so many rows: what it costs to replace one of its days. */
const MOST_ROWS = 500_000;

/** A day in a new file: its rows come from the store, or from a file that is merged. */
export interface PlannedDay {
  readonly day: Day;
  /** About how many. */
  readonly rows: number;
  readonly from?: DataFile;
}

/** What a publication does to a table's files. */
export interface Plan {
  /** The files that stay. */
  readonly kept: readonly DataFile[];
  /** The files that are replaced: they have a day that changes, or are small and it is the table's turn. */
  readonly merged: readonly DataFile[];
  /** The new files, in the order of their days. */
  readonly files: readonly (readonly PlannedDay[])[];
}

/**
 * Plans which files a publication replaces, given the days that change and about how many rows each has now. When it is the table's turn, files
 * that are not larger than what is written anyway are merged, so each row is written again about as often as the number of rows doubles.
 */
export function planMerge(files: readonly DataFile[], due: ReadonlyMap<Day, number>, isTurn: boolean): Plan {
  // A file without days can't be read.
  const hasDue = ({ days }: DataFile) =>
    Object.keys(days).length === 0 || [...due.keys()].some((day) => days[day] !== undefined);
  const keptDays = (file: DataFile): PlannedDay[] =>
    Object.entries(file.days)
      .filter(([day]) => !due.has(day as Day))
      .map(([day, { rows }]) => ({ day: day as Day, rows, from: file }));
  const merged = files.filter(hasDue);
  const planned: PlannedDay[] = [...due].filter(([, rows]) => rows > 0).map(([day, rows]) => ({ day, rows }));
  planned.push(...merged.flatMap(keptDays));
  let total = planned.reduce((sum, { rows }) => sum + rows, 0);
  const others = files.filter((file) => !merged.includes(file)).sort((a, b) => a.rows - b.rows);
  for (const file of isTurn && total > 0 ? others : []) {
    const together = total + file.rows;
    if (together > SMALL_ROWS && (file.rows > total || together > MOST_ROWS)) break;
    merged.push(file);
    planned.push(...keptDays(file));
    total = together;
  }
  planned.sort((a, b) => (a.day < b.day ? -1 : 1));
  return {
    kept: files.filter((file) => !merged.includes(file)),
    merged,
    files: parted(planned, ({ rows }) => rows, MOST_ROWS),
  };
}

/** Splits items in their order into groups with at most so many rows, or one item, and at most so many items. */
export function parted<T>(
  items: readonly T[],
  rowsOf: (item: T) => number,
  mostRows: number,
  mostItems = Number.POSITIVE_INFINITY,
): T[][] {
  const parts: T[][] = [];
  let rows = 0;
  for (const item of items) {
    const more = rowsOf(item);
    const part = parts.at(-1);
    if (part === undefined || part.length >= mostItems || rows + more > mostRows) {
      parts.push([item]);
      rows = 0;
    } else part.push(item);
    rows += more;
  }
  return parts;
}
