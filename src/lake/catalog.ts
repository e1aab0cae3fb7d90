import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { writeWhole } from '../folder.js';
import { readTables } from '../store/tables.js';
import { columnsOf, FILE, folderOf, LAKE_TABLES, type LakeTable, QUIET_FILE } from './lake-paths.js';

/** What changes when who reads the catalog must read it in another way. */
const VERSION = 1;

const CATALOG = '_catalog.json';
const DAYS = '_catalog';

/** What the lake has of a table and a day. */
const PublishedTable = z.object({
  rows: z.number(),
  /** Of the day's file. Absent where the day has none: it has no rows, or they are with those of all quiet days. */
  bytes: z.number().optional(),
  /** SHA-256 of the rows, as docs/quality.md says. Events have none: `batch` tells them apart. */
  digest: z.string().optional(),
});

type PublishedTable = z.infer<typeof PublishedTable>;

const PublishedDay = z.object({
  /** Tells which columns the tables had: files with others are written again. */
  columns: z.string(),
  /** When it was built, in Unix milliseconds. */
  built_at: z.number(),
  /** The newest batch that brought events of the day, and when it was settled; 0 when none did. */
  batch: z.number(),
  settled_at: z.number(),
  /** Whether its events are removed, as they were older than they may be kept. */
  is_removed: z.boolean(),
  tables: z.partialRecord(z.enum(LAKE_TABLES), PublishedTable),
});
export type PublishedDay = z.infer<typeof PublishedDay>;

const Days = z.object({
  version: z.literal(VERSION),
  org_id: z.string(),
  days: z.record(DaySchema, PublishedDay),
});

/** The days that the lake has of one organization. */
export type Days = z.infer<typeof Days>;

/** Tells which columns the tables have now. */
export const COLUMNS = hash('sha256', JSON.stringify(LAKE_TABLES.map(columnsOf))).slice(0, 16);

/** The text of `_catalog.json`: what every organization may know, which is the tables and where they are. */
export function catalogText(): string {
  const { events, days } = readTables();
  const texts = new Map([...events, ...days].map((text) => [text.name, text]));
  const tables = LAKE_TABLES.map((table) => {
    const text = texts.get(table);
    return {
      name: table,
      about: text?.about,
      grain: text?.grain,
      files: `${table}/org_id=*/day=*/${FILE}`,
      quiet_days: `${table}/org_id=*/${QUIET_FILE}`,
      columns: columnsOf(table).map(({ name, type, isNullable }) => ({
        name,
        type,
        null: isNullable,
        comment: text?.comments.get(name),
      })),
    };
  });
  return `${JSON.stringify({ version: VERSION, days: `${DAYS}/org_id=*/days.json`, tables }, null, 2)}\n`;
}

/** Writes `_catalog.json` unless it is there as it is to be. */
export async function writeCatalog(lake: string): Promise<void> {
  const path = join(lake, CATALOG);
  const text = catalogText();
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) await writeWhole(path, text);
}

function daysPath(lake: string, folder: string): string {
  return join(lake, DAYS, folder, 'days.json');
}

/** The days that the lake has of an organization. What can't be read, as of another version, is taken for nothing. */
export function readDays(lake: string, orgId: string, folder = folderOf(orgId)): Days {
  const nothing: Days = { version: VERSION, org_id: orgId, days: {} };
  try {
    const found = Days.safeParse(JSON.parse(readFileSync(daysPath(lake, folder), 'utf8')));
    return found.success ? found.data : nothing;
  } catch {
    return nothing;
  }
}

export async function writeDays(lake: string, days: Days): Promise<void> {
  const entries = Object.entries(days.days).sort(([a], [b]) => (a < b ? -1 : 1));
  // A line a day: it is read by people too.
  const lines = entries.map(([day, published]) => `${JSON.stringify(day)}: ${JSON.stringify(published)}`);
  const { days: _, ...head } = days;
  await writeWhole(
    daysPath(lake, folderOf(days.org_id)),
    `${JSON.stringify(head).slice(0, -1)}, "days": {\n${lines.join(',\n')}\n}}\n`,
  );
}

/** The organizations that have folders in the lake, in whichever table. */
export function organizationsIn(lake: string): Set<string> {
  const tables = [DAYS, ...LAKE_TABLES].map((table) => join(lake, table)).filter((path) => existsSync(path));
  const names = new Set(
    tables.flatMap((path) => readdirSync(path)).filter((name) => name.startsWith('org_id=')),
  );
  return new Set([...names].map((name) => readDays(lake, unescaped(name), name).org_id));
}

/** The id that a folder's name stands for, but for one that was cut. */
function unescaped(name: string): string {
  return name
    .replace('org_id=', '')
    .replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The days that share a file of a table, as the catalog says. */
export function sharedDays({ days }: Days, table: LakeTable): Day[] {
  return (Object.keys(days) as Day[]).filter((day) => isShared(days[day]?.tables[table]));
}

/** Whether a day's rows of a table are with those of all quiet days. */
export function isShared(published: PublishedTable | undefined): boolean {
  return published !== undefined && published.bytes === undefined && published.rows > 0;
}

/** The days of which a table has a file, of an organization. */
export function filesThere(lake: string, table: LakeTable, orgId: string): Day[] {
  const folder = join(lake, table, folderOf(orgId));
  if (!existsSync(folder)) return [];
  const days = readdirSync(folder).filter((name) => existsSync(join(folder, name, FILE)));
  return days.flatMap((name) => DaySchema.safeParse(name.replace(/^day=/, '')).data ?? []);
}
