import { join } from 'node:path';
import { patternOf, quote } from '../store/sql-text.js';
import { shownColumns } from '../store/tables.js';
import { COLUMNS, type LakeTable, tableFolder } from './lake-paths.js';
import type { DataFile, Published } from './snapshot.js';

/** A file, and the columns that its table had when it was written. */
type File = Pick<DataFile, 'path' | 'columns'>;

/**
 * A SELECT for DuckDB of the rows that snapshots have of a table: its columns with the names, types and order of docs/tables.md, and no rows if
 * there is no file.
 */
export function lakeSql(lake: string, table: LakeTable, snapshots: readonly Published[]): string {
  const files: File[] = [];
  for (const { org_id, published_at, tables } of snapshots) {
    const state = tables[table];
    if (state === undefined) continue;
    if (state.erased_at > published_at) return goneSql(table, state.erased_at);
    const folder = tableFolder(lake, org_id, table);
    for (const { path, columns } of state.files) files.push({ path: join(folder, path), columns });
  }
  return rowsSql(table, files);
}

/** The same of whole files that have the same columns, and which of the files each row is in, as `file_index` from 0 on. */
export function filesSql(table: LakeTable, paths: readonly string[], columns: string): string {
  return rowsSql(
    table,
    paths.map((path) => ({ path, columns })),
    true,
  );
}

/** A SELECT that fails, whatever is asked of it, with a sentence that says why a table can't be read. */
function goneSql(table: LakeTable, erasedAt: number): string {
  const at = new Date(erasedAt).toISOString();
  const why = `What was published of ${table} before ${at} is gone, because rows were removed for good then: ask for that instant or a later one.`;
  return `SELECT ${typed(table, 'why')} FROM (SELECT error(${quote(why)}) AS why) WHERE why IS NOT NULL`;
}

/** A value as each of a table's columns. */
function typed(table: LakeTable, value: string): string {
  return shownColumns(table)
    .map(({ name, type }) => `CAST(${value} AS ${type}) AS ${name}`)
    .join(', ');
}

function rowsSql(table: LakeTable, files: readonly File[], hasIndex = false): string {
  const none = `SELECT ${typed(table, 'NULL')} WHERE 1 = 0`;
  if (files.length === 0) return none;
  const index = hasIndex ? ', file_index' : '';
  const columns = shownColumns(table).map(({ name, type }) =>
    type.startsWith('TIMESTAMP') ? `CAST(${name} AS ${type}) AS ${name}` : name,
  );
  const isOld = files.some((file) => file.columns !== COLUMNS.get(table));
  const paths = files.map(({ path }) => quote(patternOf(path)));
  let rows = `SELECT *${index} FROM read_parquet([${paths.join(', ')}], hive_partitioning = false${isOld ? ', union_by_name = true' : ''})`;
  // Files of an earlier version may lack columns that the table has now.
  if (isOld) rows += `\nUNION ALL BY NAME\n${none}`;
  return `SELECT ${columns.join(', ')}${index} FROM (\n${rows}\n)`;
}
