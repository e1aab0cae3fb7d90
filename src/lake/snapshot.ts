import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DaySchema } from '../day.js';
import { isOfSystem } from '../disk/folder.js';
import { codeOf } from '../exit.js';
import { folderOf, LAKE_TABLES } from './lake-paths.js';

/** The file with an organization's current snapshot. It is exchanged as a whole. */
export const SNAPSHOT = '_snapshot.json';
/** The file with the snapshot that is being published. Its files are in place, and maybe some of its commits. */
export const NEXT = '_next.json';

/** Changes when a reader must read it in another way. */
const FORMAT = 1;

/** Unix milliseconds. */
const Instant = z.int();

/** The digest of rows that differ from the store. */
export const DISTRUSTED = '';

/** A day's rows in a file. */
const DayRows = z.object({
  rows: z.int(),
  /** Changes with the rows. It is the beginning of their SHA-256; for events their newest batch and when it was settled; else see records.sql. */
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

const TableState = z.object({
  /** The newest version of the Delta table, and its id. */
  version: z.int(),
  id: z.string(),
  created_at: Instant,
  columns: z.string(),
  files: z.array(DataFile),
  /** Files that are no longer in the table but in earlier snapshots, or that are still being read. */
  removed: z.array(z.object({ path: z.string(), at: Instant })),
  /** When rows were last removed for good: files of earlier snapshots are gone. */
  erased_at: Instant,
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

/** The part of a snapshot that readers need. Only this is kept of earlier snapshots, because days take most of the room. */
export const Published = Snapshot.pick({ org_id: true, published_at: true, newest_day: true }).extend({
  tables: z.partialRecord(
    z.enum(LAKE_TABLES),
    TableState.pick({ erased_at: true }).extend({
      files: z.array(DataFile.pick({ path: true, bytes: true, columns: true })),
    }),
  ),
});
export type Published = z.infer<typeof Published>;

/** The snapshot of an organization before its first publication. */
export function noSnapshot(orgId: string): Snapshot {
  return { format: FORMAT, org_id: orgId, published_at: 0, newest_day: null, days: [], tables: {} };
}

/** Reads a file of the lake; undefined if it is missing or isn't as the schema says. Throws if it can't be read. */
export function readJson<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch (error) {
    // A file that can't be read isn't gone: taking it for that would begin the organization's tables again.
    if (isOfSystem(error) && !['ENOENT', 'ENOTDIR'].includes(codeOf(error))) throw error;
    return undefined;
  }
}

/** Reads a snapshot in an organization's folder. One of another organization is ignored, however it got there. */
function readOf(lake: string, orgId: string, file: string): Snapshot | undefined {
  const snapshot = readJson(join(lake, folderOf(orgId), file), Snapshot);
  return snapshot?.org_id === orgId ? snapshot : undefined;
}

/**
 * The current snapshot of an organization; undefined before its first publication, and if the file is damaged, of another version or of another
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
  return readJson(join(lake, folder, SNAPSHOT), Snapshot)?.org_id;
}

/** A snapshot as a text with a line for each file, because people read it too. */
export function snapshotText({ tables, ...head }: Snapshot): string {
  const lines = Object.entries(tables).map(([table, { files, ...state }]) => {
    const rest = JSON.stringify(state).slice(1);
    return `${JSON.stringify(table)}: {"files": [\n${files.map((file) => JSON.stringify(file)).join(',\n')}\n], ${rest}`;
  });
  return `${JSON.stringify(head).slice(0, -1)}, "tables": {\n${lines.join(',\n')}\n}}\n`;
}

/** The publication that an answer was read from. */
export const Seen = z.object({
  /** The newest day that is there. */
  newest_day: DaySchema.nullable(),
  /** When something was published last. */
  published_at: z.iso.datetime(),
});
export type Seen = z.infer<typeof Seen>;

export function seenOf({ newest_day, published_at }: Published): Seen {
  return { newest_day, published_at: new Date(published_at).toISOString() };
}

/** The names in a folder; none if it doesn't exist. */
export function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The names of the folders that organizations may have. */
export function foldersIn(lake: string): string[] {
  return namesIn(lake).filter((name) => !/^[._]/.test(name) && statSync(join(lake, name)).isDirectory());
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
