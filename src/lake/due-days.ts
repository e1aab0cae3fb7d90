import { existsSync } from 'node:fs';
import type { Day } from '../day.js';
import type { OrgDay } from '../store/store.js';
import type { Days } from './catalog.js';
import { fileOf, LAKE_TABLES, type LakeTable } from './lake-paths.js';
import type { StoredDay } from './stored-days.js';

/** The tables of a day that are to be published. */
export interface Due {
  readonly day: Day;
  readonly stored: StoredDay;
  readonly tables: ReadonlySet<LakeTable>;
  /** Those of the tables of which the day has a file to itself. */
  readonly own: ReadonlySet<LakeTable>;
}

/** A file in the staging folder, and the one whose place it takes. */
export interface Staged {
  readonly path: string;
  readonly target: string;
  readonly rows: number;
  readonly bytes: number;
}

/** The rows of the largest table of a day. */
export function mostRows({ stored }: Due): number {
  return Math.max(...[...stored.tables.values()].map(({ rows }) => rows));
}

/** How many rows a day has in a table. */
function rowsIn({ stored }: Due, table: LakeTable): number {
  return stored.tables.get(table)?.rows ?? 0;
}

/** The tables of a due day whose rows go to the file that all quiet days share. */
export function sharedTables(due: Due): LakeTable[] {
  return [...due.tables].filter((table) => !due.own.has(table) && rowsIn(due, table) > 0);
}

/** Notes in the catalog what is published of a due day: of its own files those that were staged. */
export function note(
  days: Days,
  { day, stored, own, tables }: Due,
  staged: ReadonlyMap<LakeTable, Staged>,
): void {
  const { tables: stocks, isQuiet: _, ...state } = stored;
  const published = { ...days.days[day]?.tables };
  for (const table of tables) {
    const { rows = 0, digest } = stocks.get(table) ?? {};
    const file = staged.get(table);
    if (file !== undefined) published[table] = { rows: file.rows, bytes: file.bytes, digest };
    else if (!own.has(table)) published[table] = { rows, digest };
  }
  days.days[day] = { ...state, tables: published };
}

/**
 * The tables of which a day has a file to itself: those that have rows, unless the day is quiet, and those that have one
 * already, since no file goes away under the eyes of its readers. The first day has all, so that patterns find something.
 */
export function ownTables(
  lake: string,
  { orgId, day }: OrgDay,
  stored: StoredDay,
  first: Day | undefined,
): Set<LakeTable> {
  return new Set(
    LAKE_TABLES.filter(
      (table) =>
        day === first ||
        (!stored.isQuiet && (stored.tables.get(table)?.rows ?? 0) > 0) ||
        existsSync(fileOf(lake, table, { orgId, day })),
    ),
  );
}
