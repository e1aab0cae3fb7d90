import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_TABLES } from '../store/day-builder.js';
import { patternOf, quote } from '../store/sql-text.js';
import type { OrgDay } from '../store/store.js';
import type { Column } from '../store/table-text.js';
import { readTables } from '../store/tables.js';

/** The folder of the lake, in the data folder. */
export const LAKE = 'lake';

/** The tables that are published. */
export const LAKE_TABLES = ['events', ...BUILT_TABLES] as const;
export type LakeTable = (typeof LAKE_TABLES)[number];

/** What a day's file of a table is called, in the day's folder. */
export const FILE = 'data.parquet';

/** What the file with a table's rows of all quiet days is called, in the organization's folder: readers of folders pass over it. */
export const QUIET_FILE = '_quiet.parquet';

/** What a name in a folder can have at most: bytes. */
const NAME_LIMIT = 255;

/** What Hive writes as its code, and what no path has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are among what is written as a code.
const ESCAPED = /[\x00-\x1f\x7f"#%'*/:=?\\{[\]^]/g;

/** What Hive, and who reads as it does, takes for no value. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/**
 * The name of an organization's folders, as Hive spells it: `org_id=acme`, `org_id=a%2Fb`. No two organizations have the
 * same, and none has more than one level or leads out of its folder. An id that is too long for a name is cut, and has its
 * SHA-256 after it, behind a `~` that is written as only this does.
 */
export function folderOf(orgId: string): string {
  const escaped = orgId.replace(
    ESCAPED,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  const name = `org_id=${escaped === NO_VALUE ? `%5F${NO_VALUE.slice(1)}` : escaped}`;
  const bytes = Buffer.from(name);
  if (bytes.length <= NAME_LIMIT) return name;
  const ending = `%7E${hash('sha256', orgId)}`;
  let room = NAME_LIMIT - ending.length;
  // Neither a letter of several bytes nor a code is cut in two.
  while (((bytes[room] ?? 0) & 0xc0) === 0x80) room -= 1;
  return bytes.subarray(0, room).toString().replace(/%.?$/, '') + ending;
}

/** The path of the file that has a table's rows of one day. `lake` is the lake's folder. */
export function fileOf(lake: string, table: LakeTable, { orgId, day }: OrgDay): string {
  return join(lake, table, folderOf(orgId), `day=${day}`, FILE);
}

/** The path of the file that has a table's rows of all quiet days of an organization, with `day` as a column. */
export function quietFileOf(lake: string, table: LakeTable, orgId: string): string {
  return join(lake, table, folderOf(orgId), QUIET_FILE);
}

/** The pattern of all files that a table has of an organization, or of all, as DuckDB reads patterns: but those of quiet days. */
export function filesOf(lake: string, table: LakeTable, orgId?: string): string {
  return join(patternOf(join(lake, table)), orgId === undefined ? '*' : folderOf(orgId), '*', FILE);
}

/** The same of the files of quiet days; undefined where there is none. */
function quietFilesOf(lake: string, table: LakeTable, orgId?: string): string | undefined {
  const folder = join(lake, table);
  if (!existsSync(folder)) return undefined;
  const names = orgId === undefined ? readdirSync(folder) : [folderOf(orgId)];
  if (!names.some((name) => existsSync(join(folder, name, QUIET_FILE)))) return undefined;
  return join(patternOf(folder), orgId === undefined ? '*' : folderOf(orgId), QUIET_FILE);
}

/**
 * A SELECT for DuckDB of the rows that the lake has of a table, of one organization or of all: its columns with the names,
 * types and order of docs/tables.md. Without `orgId` an id that was too long for a name comes out as it was cut. It fails
 * where no day of the organization is published yet: the catalog has none of its days then.
 */
export function lakeSql(lake: string, table: LakeTable, orgId?: string): string {
  const quiet = quietFilesOf(lake, table, orgId);
  const rows = rowsSql([filesOf(lake, table, orgId)], table, orgId);
  return quiet === undefined ? rows : `${rows}\nUNION ALL\n${quietRowsSql(quiet, table, orgId)}`;
}

/** The same of the files of some days, given their patterns. */
export function rowsSql(patterns: readonly string[], table: LakeTable, orgId?: string): string {
  return filesSql(patterns, table, orgId, "{'org_id': 'VARCHAR', 'day': 'DATE'}");
}

/** The same of files of quiet days. */
export function quietRowsSql(pattern: string, table: LakeTable, orgId?: string): string {
  return filesSql([pattern], table, orgId, "{'org_id': 'VARCHAR'}");
}

function filesSql(
  patterns: readonly string[],
  table: LakeTable,
  orgId: string | undefined,
  inPath: string,
): string {
  const columns = columnsOf(table).map(({ name, type }) =>
    name === 'org_id' && orgId !== undefined
      ? `${quote(orgId)} AS org_id`
      : type.startsWith('TIMESTAMP')
        ? `CAST(${name} AS ${type}) AS ${name}`
        : name,
  );
  return `SELECT ${columns.join(', ')}
FROM read_parquet([${patterns.map(quote).join(', ')}], hive_partitioning = true, hive_types = ${inPath})`;
}

const TEXTS = new Map(
  Object.values(readTables())
    .flat()
    .map((text) => [text.name, text]),
);

/** The columns of a table of the lake, in order. */
export function columnsOf(table: LakeTable): readonly Column[] {
  return TEXTS.get(table)?.columns ?? [];
}

/** The columns that a table's rows are in the order of, in each file. Views of the events ask for one type. */
export function orderOf(table: LakeTable): readonly string[] {
  if (table === 'events') return ['type', 'occurred_at', 'event_id'];
  return (TEXTS.get(table)?.grain ?? []).filter((name) => name !== 'org_id' && name !== 'day');
}
