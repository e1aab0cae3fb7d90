import { hash } from 'node:crypto';
import { join } from 'node:path';
import { BUILT_TABLES } from '../store/day-builder.js';
import { readSql } from '../store/sql-text.js';
import type { Column } from '../store/table-text.js';
import { EVENT_ORDER, readTables } from '../store/tables.js';

/** The folder of the lake, in the data folder. */
export const LAKE = 'lake';

/** The view that is published as it is: what it reads isn't in the lake. */
export const DAY_QUALITY = 'day_quality';

/** The tables that are published. */
export const LAKE_TABLES = ['events', ...BUILT_TABLES, DAY_QUALITY] as const;
export type LakeTable = (typeof LAKE_TABLES)[number];

/** The column that only the lake has: when the rows of a day were published, the same for all of them. */
export const PUBLISHED_AT = 'published_at';

/** The longest name of a file: bytes. */
const NAME_LIMIT = 255;

/**
 * The name of an organization's folder. No two organizations have the same, even where file names that differ only in case are the same,
 * and none leads out of the lake. Anything but a lower-case letter or a digit of ASCII, `.`, `-` or `_` is written as `~` and the codes of its
 * bytes; so are a `.` and a `_` in front, because engines pass over such names, and a `.` at the end, because some file systems drop it. An id
 * that is too long is cut and followed by `~~` and its SHA-256.
 */
export function folderOf(orgId: string): string {
  const name = orgId.replace(/^[._]|[^a-z\d_.-]|\.$/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  if (name.length <= NAME_LIMIT) return name;
  const ending = `~~${hash('sha256', orgId)}`;
  return name.slice(0, NAME_LIMIT - ending.length).replace(/~.?$/, '') + ending;
}

/** The folder of an organization's table: a table of Delta Lake. `lake` is the lake's folder. */
export function tableFolder(lake: string, orgId: string, table: LakeTable): string {
  return join(lake, folderOf(orgId), table);
}

const TEXTS = new Map(
  Object.values(readTables())
    .flat()
    .map((text) => [text.name, text]),
);

/** The columns of the view, whose types follow from their names. */
const OF_VIEW = [
  ...(readSql(`schema/${DAY_QUALITY}.sql`).split('\nFROM ')[0] ?? '').matchAll(/ AS (\w+)/g),
].map(([, name = '']): Column => {
  const types: Record<string, string> = { org_id: 'VARCHAR', day: 'DATE' };
  return { name, type: types[name] ?? (name.endsWith('_at') ? 'TIMESTAMP(3)' : 'BIGINT'), isNullable: true };
});

/** The columns of a table as the store has them, in order. */
export function columnsOf(table: LakeTable): readonly Column[] {
  return table === DAY_QUALITY ? OF_VIEW : (TEXTS.get(table)?.columns ?? []);
}

/** What a column is, from the comments in `sql`. */
export function commentOf(table: LakeTable, column: string): string | undefined {
  return TEXTS.get(table)?.comments.get(column);
}

/** The order of the rows in a file, which are of one organization. */
export function orderOf(table: LakeTable): readonly string[] {
  const order = table === 'events' ? EVENT_ORDER : (TEXTS.get(table)?.grain ?? []);
  return ['day', ...order.filter((name) => name !== 'org_id' && name !== 'day')];
}

/** Names the columns that a table has now. */
export const COLUMNS: ReadonlyMap<LakeTable, string> = new Map(
  LAKE_TABLES.map((table) => [table, hash('sha256', JSON.stringify(columnsOf(table))).slice(0, 12)]),
);
