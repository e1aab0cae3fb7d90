import { join } from 'node:path';
import type { Day } from '../day.js';
import { patternOf, quote } from '../store/sql-text.js';
import { columnsOf } from '../store/tables.js';
import { COLUMNS, type LakeTable, PUBLISHED_AT, tableFolder } from './lake-paths.js';
import type { Snapshot } from './snapshot.js';

/** Rows in a file: of its days, those that were published at the instants; without days all. */
interface Part {
  readonly path: string;
  readonly columns: string;
  readonly days?: readonly { readonly day: Day; readonly at: number }[];
}

/**
 * A SELECT for DuckDB of the rows that snapshots have of a table: its columns with the names, types and order of docs/tables.md, and no rows if
 * there is no file. With an instant: the rows that were published then.
 */
export function lakeSql(
  lake: string,
  table: LakeTable,
  snapshots: readonly Snapshot[],
  asOf?: number,
): string {
  return partsSql(
    table,
    snapshots.flatMap((snapshot) => partsOf(lake, table, snapshot, asOf)),
  );
}

/** The same of whole files that have the same columns, and which of the files each row is in, as `file_index` from 0 on. */
export function filesSql(table: LakeTable, paths: readonly string[], columns: string): string {
  const parts = paths.map((path) => ({ path, columns }));
  return partsSql(table, parts, true);
}

function partsOf(lake: string, table: LakeTable, snapshot: Snapshot, asOf?: number): Part[] {
  const state = snapshot.tables[table];
  const folder = tableFolder(lake, snapshot.org_id, table);
  const { files = [], history = [] } = state ?? {};
  const parts = files.flatMap(({ path, columns, days }): Part[] => {
    const all = Object.entries(days).map(([day, { published_at }]) => ({
      day: day as Day,
      at: published_at,
    }));
    const then = all.filter(({ at }) => asOf === undefined || at <= asOf);
    if (then.length === all.length) return [{ path, columns }];
    return then.length === 0 ? [] : [{ path, columns, days: then }];
  });
  for (const { path, columns, versions } of asOf === undefined ? [] : history) {
    const days = versions
      .filter(({ from, until }) => asOf !== undefined && from <= asOf && asOf < until)
      .map(({ day, from }) => ({ day, at: from }));
    if (days.length > 0) parts.push({ path, columns, days });
  }
  return parts.map((part) => ({ ...part, path: join(folder, part.path) }));
}

function partsSql(table: LakeTable, parts: readonly Part[], hasIndex = false): string {
  const all = columnsOf(table);
  const index = hasIndex ? ', file_index' : '';
  const columns = all.map(({ name, type }) =>
    type.startsWith('TIMESTAMP') ? `CAST(${name} AS ${type}) AS ${name}` : name,
  );
  const isOld = parts.some((part) => part.columns !== COLUMNS.get(table));
  // Files of an earlier version may lack columns that the table has now.
  const select = (paths: readonly string[], where = '') =>
    `SELECT *${index} FROM read_parquet([${paths.map((path) => quote(patternOf(path))).join(', ')}], hive_partitioning = false${isOld ? ', union_by_name = true' : ''})${where}`;
  const whole = parts.filter(({ days }) => days === undefined).map(({ path }) => path);
  const selects = whole.length === 0 ? [] : [select(whole)];
  for (const { path, days } of parts) {
    if (days === undefined) continue;
    const versions = days.map(({ day, at }) => `(DATE '${day}', CAST(${at} AS BIGINT))`);
    selects.push(select([path], ` WHERE (day, epoch_ms(${PUBLISHED_AT})) IN (${versions.join(', ')})`));
  }
  if (isOld || parts.length === 0) {
    const typed = all.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${name}`);
    selects.push(`SELECT ${typed.join(', ')} WHERE 1 = 0`);
  }
  return `SELECT ${columns.join(', ')}${index} FROM (\n${selects.join('\nUNION ALL BY NAME\n')}\n)`;
}
