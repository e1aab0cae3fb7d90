import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { isOfSystem } from '../disk/folder.js';
import { codeOf } from '../exit.js';
import { folderOf, LAKE_TABLES } from './lake-paths.js';

/** What an organization has published, in its folder: exchanged whole. */
export const SNAPSHOT = '_snapshot.json';
/** The snapshot that is being published. Its files are there, and some of its commits. */
export const NEXT = '_next.json';

/** Changes when a reader must read it in another way. */
const FORMAT = 1;

/** Unix milliseconds. */
const Instant = z.int();

/** The digest of rows that aren't what they should be. */
export const DISTRUSTED = '';

/** A day's rows in a file. */
const DayRows = z.object({
  rows: z.int(),
  /** Changes with the rows: the beginning of their SHA-256, for events what brought them. */
  digest: z.string(),
  published_at: Instant,
});
export type DayRows = z.infer<typeof DayRows>;

const DataFile = z.object({
  /** In the folder of its table. */
  path: z.string(),
  bytes: z.int(),
  rows: z.int(),
  /** The columns that the table had when it was written: see COLUMNS. */
  columns: z.string(),
  days: z.record(DaySchema, DayRows),
});
export type DataFile = z.infer<typeof DataFile>;

/** Rows that others have replaced, for as long as somebody may ask for them. */
const OldFile = DataFile.pick({ path: true, rows: true, columns: true }).extend({
  /** The days that count of it, from one instant on and before another. */
  versions: z.array(z.object({ day: DaySchema, from: Instant, until: Instant })),
});
export type OldFile = z.infer<typeof OldFile>;

const TableState = z.object({
  /** The newest version of the Delta table, and its id. */
  version: z.int(),
  id: z.string(),
  created_at: Instant,
  columns: z.string(),
  files: z.array(DataFile),
  history: z.array(OldFile),
  /** Files that are no longer in the table and that somebody may still be reading. */
  removed: z.array(z.object({ path: z.string(), at: Instant })),
  /** The oldest commit that is there. */
  first_commit: z.int(),
  checkpoints: z.array(z.object({ version: z.int(), at: Instant })),
});
export type TableState = z.infer<typeof TableState>;

const Snapshot = z.object({
  format: z.literal(FORMAT),
  org_id: z.string(),
  published_at: Instant,
  newest_day: DaySchema.nullable(),
  /** The published days, also those without rows. */
  days: z.array(DaySchema),
  tables: z.partialRecord(z.enum(LAKE_TABLES), TableState),
});
export type Snapshot = z.infer<typeof Snapshot>;

/** The snapshot of an organization before its first publication. */
export function noSnapshot(orgId: string): Snapshot {
  return { format: FORMAT, org_id: orgId, published_at: 0, newest_day: null, days: [], tables: {} };
}

function read(path: string): Snapshot | undefined {
  try {
    return Snapshot.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch (error) {
    // What can't be read isn't gone: who took it for that would begin again.
    if (isOfSystem(error) && !['ENOENT', 'ENOTDIR'].includes(codeOf(error))) throw error;
    return undefined;
  }
}

/** The same, of an organization: another's is none, however it got there. */
function readOf(lake: string, orgId: string, file: string): Snapshot | undefined {
  const snapshot = read(join(lake, folderOf(orgId), file));
  return snapshot?.org_id === orgId ? snapshot : undefined;
}

/**
 * What an organization has published; undefined before its first publication, and if the file is damaged, of another version or of another
 * organization. Throws if it can't be read.
 */
export function readSnapshot(lake: string, orgId: string): Snapshot | undefined {
  return readOf(lake, orgId, SNAPSHOT);
}

/** The snapshot whose publication was cut off; undefined if there is none. */
export function readNext(lake: string, orgId: string): Snapshot | undefined {
  return readOf(lake, orgId, NEXT);
}

/** The organization whose snapshot is in a folder of the lake; undefined if none is. */
export function ownerOf(lake: string, folder: string): string | undefined {
  return read(join(lake, folder, SNAPSHOT))?.org_id;
}

/** A snapshot as a text with a line for each file, because people read it too. */
export function snapshotText({ tables, ...head }: Snapshot): string {
  const lines = Object.entries(tables).map(([table, { files, ...state }]) => {
    const rest = JSON.stringify(state).slice(1);
    return `${JSON.stringify(table)}: {"files": [\n${files.map((file) => JSON.stringify(file)).join(',\n')}\n], ${rest}`;
  });
  return `${JSON.stringify(head).slice(0, -1)}, "tables": {\n${lines.join(',\n')}\n}}\n`;
}

/** What a reader has seen of an organization. */
export const Seen = z.object({
  /** The newest day that is there. */
  newest_day: DaySchema.nullable(),
  /** When something was published last. */
  published_at: z.iso.datetime(),
});
export type Seen = z.infer<typeof Seen>;

/** What a snapshot says of itself, or said at an earlier instant (Unix milliseconds); undefined if nothing was published then. */
export function seenOf(snapshot: Snapshot, asOf = snapshot.published_at): Seen | undefined {
  const seen = (newest_day: Day | null, at: number) => ({
    newest_day,
    published_at: new Date(at).toISOString(),
  });
  if (asOf >= snapshot.published_at) return seen(snapshot.newest_day, snapshot.published_at);
  let newest: Day | null = null;
  let published = 0;
  const see = (day: string, from: number, until = Number.POSITIVE_INFINITY) => {
    for (const at of [from, until]) if (at <= asOf && at > published) published = at;
    if (from <= asOf && asOf < until && (newest === null || day > newest)) newest = day as Day;
  };
  for (const { files, history } of Object.values(snapshot.tables)) {
    for (const { days } of files)
      for (const [day, { published_at }] of Object.entries(days)) see(day, published_at);
    for (const { versions } of history) for (const { day, from, until } of versions) see(day, from, until);
  }
  return published === 0 ? undefined : seen(newest, published);
}

/** The names of the folders that organizations may have. */
export function foldersIn(lake: string): string[] {
  const names = existsSync(lake) ? readdirSync(lake) : [];
  return names.filter((name) => !/^[._]/.test(name) && statSync(join(lake, name)).isDirectory());
}

/** The organizations that have a snapshot, in order. */
export function organizationsIn(lake: string): string[] {
  return foldersIn(lake)
    .flatMap((name) => {
      const orgId = ownerOf(lake, name);
      return orgId !== undefined && folderOf(orgId) === name ? [orgId] : [];
    })
    .sort();
}
