import { join } from 'node:path';
import { connectTo, type DuckDBConnection, DuckDBInstance } from '../arrow/duckdb-driver.js';
import { folderOf, LAKE_TABLES } from '../lake/lake-paths.js';
import { lakeSql } from '../lake/lake-sql.js';
import type { Published } from '../lake/snapshot.js';
import type { Resources } from '../store/database-file.js';
import { readViews } from '../store/definition.js';
import { type ReferencePaths, readPrices } from '../store/reference-data.js';
import { quote, readFunctions } from '../store/sql-text.js';
import { columnsOf, tablesOf } from '../store/tables.js';

/** The tables that belong to no organization and have no file in the lake. */
const PRICES = ['prices', 'price_multipliers'] as const;

/** A view that can be created on the lake's tables. */
interface View {
  readonly name: string;
  readonly text: string;
  /** The tables and views that it reads. */
  readonly sources: readonly string[];
}

/** The views whose tables all exist, each after those that it reads. */
export const VIEWS: readonly View[] = viewsOfLake();

function viewsOfLake(): View[] {
  const known = new Set<string>([...LAKE_TABLES, ...PRICES]);
  const views: View[] = [];
  for (const view of readViews()) {
    const sources = tablesOf(view.text);
    if (!sources.every((name) => known.has(name))) continue;
    known.add(view.name);
    views.push({ ...view, sources });
  }
  return views;
}

/** The tables and views that SQL can read, by name. */
export const NAMES: ReadonlySet<string> = new Set([
  ...LAKE_TABLES,
  ...PRICES,
  ...VIEWS.map(({ name }) => name),
]);

/**
 * Opens a DuckDB in memory with the functions of the metrics and the prices, and without the tables of the lake: see readLake. Throws a
 * UsageError for a price list that can't be read.
 */
export async function openLake({
  memoryMb,
  threads,
  ...paths
}: Resources & Pick<ReferencePaths, 'data' | 'prices'>): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MiB`,
    ...(threads === undefined ? {} : { threads: String(threads) }),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // If something doesn't fit into memory, it is an error and doesn't fill the disk.
    temp_directory: '',
  });
  const connection = await connectTo(instance);
  const tables = PRICES.map((table) => {
    const columns = columnsOf(table).map(({ name, type }) => `${name} ${type}`);
    return `CREATE TABLE ${table} (${columns.join(', ')})`;
  });
  await connection.run(
    [readFunctions(), ...tables, ...readPrices(paths).map(({ table, insert }) => insert(table))].join(';\n'),
  );
  return connection;
}

/** The part of the lake that a connection reads. */
export interface Reading {
  /** The publications of the organizations, of now or of an earlier instant. */
  readonly snapshots: readonly Published[];
  /** Only these tables and views, and those that they read. */
  readonly only?: Iterable<string>;
}

/** Creates the lake's tables and their views. `lake` is the folder; its files are read when a query needs them. */
export async function readLake(
  connection: DuckDBConnection,
  lake: string,
  { snapshots, only }: Reading,
): Promise<void> {
  const wanted = new Set<string>(only ?? [...LAKE_TABLES, ...VIEWS.map(({ name }) => name)]);
  for (const { name, sources } of VIEWS.toReversed())
    if (wanted.has(name)) for (const source of sources) wanted.add(source);
  const statements: string[] = [];
  for (const table of LAKE_TABLES)
    if (wanted.has(table)) statements.push(`CREATE VIEW ${table} AS ${lakeSql(lake, table, snapshots)}`);
  for (const { name, text } of VIEWS) if (wanted.has(name)) statements.push(text);
  if (statements.length > 0) await connection.run(statements.join(';\n'));
}

/** The folder with the files of an organization. */
export function organizationFolder(lake: string, orgId: string): string {
  return `${join(lake, folderOf(orgId))}/`;
}

/**
 * Restricts a connection to what it already has and to the files in some folders and at some paths: no other file, no network, no
 * extension, and no change of a setting.
 */
export async function confine(
  connection: DuckDBConnection,
  { folders, paths = [] }: { folders: readonly string[]; paths?: readonly string[] },
): Promise<void> {
  const list = (texts: readonly string[]) => `[${texts.map(quote).join(', ')}]`;
  await connection.run(
    `SET allowed_directories = ${list(folders)}; SET allowed_paths = ${list(paths)};
    SET enable_external_access = false; SET lock_configuration = true`,
  );
}
