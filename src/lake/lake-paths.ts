import { hash } from 'node:crypto';
import { join } from 'node:path';
import { TABLES } from '../store/catalog.js';
import { BUILT_TABLES } from '../store/day-builder.js';
import { EVENT_ORDER, shownColumns } from '../store/tables.js';

/** The folder of the lake, in the data folder. */
export const LAKE = 'lake';

/** What arrived for a day and what its builds found and changed. The store has no digests of these. */
const RECORDS = ['day_quality', 'digests', 'rejects', 'restatements'] as const;

/** The tables that are published. */
export const LAKE_TABLES = ['events', ...BUILT_TABLES, ...RECORDS] as const;
export type LakeTable = (typeof LAKE_TABLES)[number];

/** Whether a table has records of a day, which can change without a build that changes the day. */
export function isRecord(table: LakeTable): boolean {
  return (RECORDS as readonly LakeTable[]).includes(table);
}

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

/** The order of the rows in a file, which are of one organization. */
export function orderOf(table: LakeTable): readonly string[] {
  const order = table === 'events' ? EVENT_ORDER : (TABLES[table]?.grain ?? []);
  return ['day', ...order.filter((name) => name !== 'org_id' && name !== 'day')];
}

/** Names the columns that a table has now. Published files carry it, with the name that instants have in `sql/schema`. */
export const COLUMNS: ReadonlyMap<LakeTable, string> = new Map(
  LAKE_TABLES.map((table) => {
    const columns = shownColumns(table).map(({ name, type, isNullable }) => {
      return { name, type: type === 'TIMESTAMP_MS' ? 'TIMESTAMP(3)' : type, isNullable };
    });
    return [table, hash('sha256', JSON.stringify(columns)).slice(0, 12)];
  }),
);
