import type { Day } from '../day.js';
import type { DataFile } from './snapshot.js';

/** If a table has at most so many rows, its turn merges all of its files. */
const SMALL_ROWS = 10_000;

/** The most rows of a merged file, because replacing one of its days writes all of them again. */
const MOST_ROWS = 500_000;

/** A day in a new file: its rows come from the store, or from a file that is merged. */
export interface PlannedDay {
  readonly day: Day;
  /** About how many. */
  readonly rows: number;
  readonly from?: DataFile;
}

/** The changes of a publication to a table's files. */
export interface Plan {
  /** The files that stay. */
  readonly kept: readonly DataFile[];
  /** The files that are replaced: they have a day that changes, or are small and it is the table's turn. */
  readonly merged: readonly DataFile[];
  /** The new files, each with its days in order. */
  readonly files: readonly (readonly PlannedDay[])[];
}

/**
 * Plans which files a publication replaces, given the days that change and about how many rows each has now. When it is the table's turn, files
 * that are not larger than the rows that are written anyway are merged, so each row is written again about as often as the number of rows doubles. Days
 * that change get files of their own: late events often change them again the next night, and then only these files are replaced.
 */
export function planMerge(files: readonly DataFile[], due: ReadonlyMap<Day, number>, isTurn: boolean): Plan {
  // A file without days can't be read.
  const hasDue = ({ days }: DataFile) =>
    Object.keys(days).length === 0 || [...due.keys()].some((day) => days[day] !== undefined);
  const keptDays = (file: DataFile): PlannedDay[] =>
    Object.entries(file.days)
      .filter(([day]) => !due.has(day as Day))
      .map(([day, { rows }]) => ({ day: day as Day, rows, from: file }));
  const changed: PlannedDay[] = [...due].filter(([, rows]) => rows > 0).map(([day, rows]) => ({ day, rows }));
  let merged = files.filter(hasDue);
  const rowsIn = (days: readonly PlannedDay[]) => days.reduce((sum, { rows }) => sum + rows, 0);
  const changedRows = rowsIn(changed);
  let total = changedRows + rowsIn(merged.flatMap(keptDays));
  const small: DataFile[] = [];
  const others = files.filter((file) => !merged.includes(file)).sort((a, b) => a.rows - b.rows);
  for (const file of isTurn && total > 0 ? others : []) {
    const together = total + file.rows;
    if (together > SMALL_ROWS && (file.rows > total || together - changedRows > MOST_ROWS)) break;
    small.push(file);
    total = together;
  }
  // One file alone would only be written again.
  if (small.length > 1 || merged.some((file) => keptDays(file).length > 0)) merged = [...merged, ...small];
  const parts = (days: PlannedDay[]) =>
    parted(
      days.sort((a, b) => (a.day < b.day ? -1 : 1)),
      ({ rows }) => rows,
      MOST_ROWS,
    );
  return {
    kept: files.filter((file) => !merged.includes(file)),
    merged,
    files: [...parts(merged.flatMap(keptDays)), ...parts(changed)],
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
