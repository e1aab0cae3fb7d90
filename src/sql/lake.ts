import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { BUILT_TABLES } from '../store/build.js';
import { columnsOf, inOrder, readDefinitions } from '../store/change.js';
import type { Resources } from '../store/duckdb.js';
import { quote, readSql, readSqlFolder } from '../store/sql.js';

/** The schema of tables that have no rows: what a table is as long as the lake has no file of it. */
const EMPTY = 'empty';

/** A table of the lake or a view, by the text that makes it. */
interface Definition {
  readonly name: string;
  readonly text: string;
  /** What a view stands on. */
  readonly sources: readonly string[];
}

/** What SQL can read: the tables of the lake, and the views all of whose tables are there, each after those that it stands on. */
export function readLakeDefinitions(): { tables: Definition[]; views: Definition[] } {
  const texts = new Map(readSqlFolder('schema').map(({ name, text }) => [name, text]));
  const tables = [
    { name: 'events', text: readSql('change/0001-events.sql'), sources: [] },
    ...BUILT_TABLES.map((name) => ({ name, text: texts.get(name) ?? '', sources: [] })),
  ];
  const known = new Set(tables.map(({ name }) => name));
  const views: Definition[] = [];
  for (const view of inOrder(readDefinitions('').views)) {
    const sources = [...view.text.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].map(([, name]) => String(name));
    if (!sources.every((name) => known.has(name))) continue;
    known.add(view.name);
    views.push({ ...view, sources });
  }
  return { tables, views };
}

/**
 * Opens a DuckDB in memory that has the functions of `sql/engine`, and knows the tables of the lake, but none of its files
 * yet: see readLake.
 */
export async function openLake({ memoryMb, threads }: Resources): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MiB`,
    ...(threads === undefined ? {} : { threads: String(threads) }),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // What doesn't fit in memory is an error, and fills no disk.
    temp_directory: '',
  });
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'; ${readSql('engine/duckdb.sql')}`);
  await connection.run(`CREATE SCHEMA ${EMPTY}; SET schema = '${EMPTY}'`);
  for (const { text } of readLakeDefinitions().tables) await connection.run(text);
  await connection.run("SET schema = 'main'");
  return connection;
}

/** The folder of a table's files below that of the lake: of one organization, or of all. */
export function folderOf(lake: string, table: string, orgId?: string): string {
  return orgId === undefined ? `${lake}/${table}/` : `${lake}/${table}/org_id=${orgId}/`;
}

/**
 * Makes the tables of the lake and the views on them: of one organization, or of all; and only those that are named, where
 * some are, with what they stand on. `lake` is the folder, whose files are read when a query asks for them.
 */
export async function readLake(
  connection: DuckDBConnection,
  lake: string,
  { orgId, only }: { orgId?: string; only?: Iterable<string> } = {},
): Promise<void> {
  const { tables, views } = readLakeDefinitions();
  const wanted = new Set(only ?? [...tables, ...views].map(({ name }) => name));
  for (const { name, sources } of views.toReversed())
    if (wanted.has(name)) for (const source of sources) wanted.add(source);
  const statements: string[] = [];
  for (const { name, text } of tables) {
    if (!wanted.has(name)) continue;
    const files = quote(
      `${folderOf(lake, name, orgId)}${orgId === undefined ? 'org_id=*/' : ''}day=*/data.parquet`,
    );
    const found = await connection.runAndReadAll(`SELECT 1 FROM glob(${files}) LIMIT 1`);
    const source =
      found.currentRowCount === 0
        ? `${EMPTY}.${name}`
        : `read_parquet(${files}, hive_partitioning = true, hive_types = {'org_id': VARCHAR, 'day': DATE})`;
    const columns = columnsOf(text).map((column) =>
      column.name === 'org_id' && orgId !== undefined ? `${quote(orgId)} AS org_id` : column.name,
    );
    statements.push(`CREATE VIEW ${name} AS SELECT ${columns.join(', ')} FROM ${source}`);
  }
  for (const { name, text } of views) if (wanted.has(name)) statements.push(text);
  if (statements.length > 0) await connection.run(statements.join(';\n'));
}

/**
 * Leaves to a connection what it has already, and the files of some folders and by some paths: no other file, nothing of the network, no
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
