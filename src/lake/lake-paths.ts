import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Day } from '../day.js';
import { TABLES } from '../store/catalog.js';
import { BUILT_TABLES } from '../store/day-builder.js';
import { EVENT_ORDER, shownColumns } from '../store/tables.js';

/** The folder of the lake, in the data folder. */
export const LAKE = 'lake';

/** What arrived for a day and what its builds found and changed. The store has no digests of these. */
const RECORDS = ['day_quality', 'digests', 'rejects', 'restatements'] as const;

/** Who the people are today. They have no days: they are written whole after a change, and an earlier instant has those of today. */
export const OF_PEOPLE = ['people', 'aliases', 'memberships'] as const;

/** The day under which snapshots have the rows of a table without days. No event is that old. */
export const NO_DAY = '1970-01-01' as Day;

/** The tables that are published. */
export const LAKE_TABLES = ['events', ...BUILT_TABLES, ...RECORDS, ...OF_PEOPLE] as const;
export type LakeTable = (typeof LAKE_TABLES)[number];

/** Whether a table is about people, and has no days. */
export function isOfPeople(table: LakeTable): boolean {
  return (OF_PEOPLE as readonly LakeTable[]).includes(table);
}

/** Whether a table can change without a build that changes the day: it has records of a day, or is about people. */
export function isRecord(table: LakeTable): boolean {
  return isOfPeople(table) || (RECORDS as readonly LakeTable[]).includes(table);
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
  const days = isOfPeople(table) ? [] : ['day'];
  return [...days, ...order.filter((name) => name !== 'org_id' && name !== 'day')];
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
