import { existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Day } from '../day.js';
import { reasonOf } from '../exit.js';
import { digestOfTexts, rowText } from '../store/row-digest.js';
import { quote, readSql } from '../store/sql-text.js';
import type { Sources, Store } from '../store/store.js';
import { commitPath } from './delta-log.js';
import { columnsOf, DAY_QUALITY, folderOf, LAKE_TABLES, type LakeTable, tableFolder } from './lake-paths.js';
import { fileSql } from './lake-sql.js';
import { parted } from './merge-plan.js';
import {
  type DataFile,
  type DayRows,
  DISTRUSTED,
  noSnapshot,
  readSnapshot,
  type Snapshot,
} from './snapshot.js';
import { knownDays, type StoredDay, storedDays } from './stored-days.js';

/** A file of the lake that isn't as the store would have it, and how. */
export interface Difference {
  readonly orgId: string;
  readonly table: LakeTable;
  /** In the lake. */
  readonly path: string;
  /** What it is or has, as the rest of a sentence. */
  readonly detail: string;
  /** The days that differ, and whether its other days can be read. */
  readonly days: readonly Day[];
  readonly isReadable: boolean;
}

/** What a comparison found. */
export interface Verified {
  readonly differences: readonly Difference[];
  /** The organizations that have days in the store or in the lake, and the tables of each. */
  readonly organizations: number;
  readonly tables: number;
  /** The built days that were compared, of all organizations together. */
  readonly days: number;
  /** The files that were compared, and the rows that they have. */
  readonly files: number;
  readonly rows: number;
  /** The days that were not compared: they wait for a build, or are not over. */
  readonly waiting: number;
}

/** How many rows are compared at once: their texts are in memory together. */
const ROWS_AT_ONCE = 500_000;

/** The tables of which the store has no digests. */
const NO_DIGEST: ReadonlySet<LakeTable> = new Set<LakeTable>(['events', DAY_QUALITY]);

interface Content {
  readonly rows: number;
  readonly digest: string;
}

const NOTHING: Content = { rows: 0, digest: '' };

/** What each day has, of the rows that a SELECT gives. */
async function contents(
  store: Store,
  table: LakeTable,
  rows: string,
  sources: Sources = {},
): Promise<Map<Day, Content>> {
  const columns = columnsOf(table);
  // Texts of many events would take much memory; both sides are read by one engine, so its own hash does.
  const digest = NO_DIGEST.has(table)
    ? `bit_xor(hash(${columns.map(({ name, type }) => `CAST(${name} AS ${type})`).join(', ')}))`
    : digestOfTexts(table, rowText(readSql(`schema/${table}.sql`)));
  const sql = `SELECT CAST(day AS VARCHAR) AS day, count(*) AS rows, CAST(${digest} AS VARCHAR) AS digest FROM (${rows}) GROUP BY ALL`;
  const found = await store.snapshot(async (_, readColumns) =>
    (await readColumns(sql, sources, {})).getRowObjectsJson(),
  );
  return new Map(
    found.map((row) => [row.day as Day, { rows: Number(row.rows), digest: String(row.digest) }]),
  );
}

/** Compares the files of an organization's table. */
class Comparison {
  readonly differences: Difference[] = [];
  /** The rows of the files that were read. */
  rows = 0;
  private readonly folder: string;
  private readonly orgId: string;

  constructor(
    private readonly store: Store,
    private readonly lake: string,
    private readonly snapshot: Snapshot,
    private readonly table: LakeTable,
    private readonly stored: ReadonlyMap<Day, StoredDay>,
    private readonly known: ReadonlySet<Day>,
  ) {
    this.orgId = snapshot.org_id;
    this.folder = tableFolder(lake, this.orgId, table);
  }

  private note(path: string, detail: string, days: readonly Day[], isReadable = true): void {
    const { orgId, table, lake, folder } = this;
    this.differences.push({
      ...{ orgId, table, path: relative(lake, join(folder, path)) },
      ...{ detail, days, isReadable },
    });
  }

  async run(): Promise<void> {
    const { snapshot, table, folder } = this;
    const state = snapshot.tables[table];
    const files = state?.files ?? [];
    for (let version = state?.first_commit ?? 0; version <= (state?.version ?? -1); version += 1)
      if (!existsSync(join(folder, commitPath(version)))) this.note(commitPath(version), 'is missing', []);
    const readable = files.filter((file) => {
      const size = statSync(join(folder, file.path), { throwIfNoEntry: false })?.size;
      const detail =
        size === undefined
          ? 'is missing'
          : size === file.bytes
            ? undefined
            : `has ${size} bytes where the snapshot has ${file.bytes}`;
      if (detail !== undefined) this.note(file.path, detail, Object.keys(file.days) as Day[], false);
      return detail === undefined;
    });
    for (const part of parted(readable, ({ rows }) => rows, ROWS_AT_ONCE)) await this.compare(part);
    const there = new Set(files.flatMap(({ days }) => Object.keys(days)));
    for (const [day, { tables }] of this.stored)
      if (tables.has(table) && table !== 'events' && !there.has(day))
        this.note('', `has no rows of ${day}`, [day]);
  }

  private async compare(files: readonly DataFile[]): Promise<void> {
    const { store, table, folder, stored, known, orgId } = this;
    const found = new Map<DataFile, Map<Day, Content>>();
    for (const file of files) {
      try {
        found.set(file, await contents(store, table, fileSql(table, join(folder, file.path), file.columns)));
      } catch (error) {
        this.note(file.path, `can't be read: ${reasonOf(error)}`, Object.keys(file.days) as Day[], false);
      }
    }
    const days = [...found.keys()].flatMap((file) => Object.keys(file.days) as Day[]);
    const asked = days.filter((day) => {
      const one = stored.get(day);
      // Of events no digest is kept. The rows of a day without events may have been taken over into other columns since.
      return one !== undefined && (NO_DIGEST.has(table) || one.isRemoved);
    });
    const inStore = asked.length === 0 ? new Map<Day, Content>() : await this.inStore(asked);
    for (const [file, contentOf] of found) {
      const differing: Day[] = [];
      for (const day of new Set([...(Object.keys(file.days) as Day[]), ...contentOf.keys()])) {
        const content = contentOf.get(day) ?? NOTHING;
        this.rows += content.rows;
        const one = stored.get(day);
        const isRecorded = one !== undefined && !asked.includes(day);
        const { rows, digest } = isRecorded
          ? (one.tables.get(table) ?? NOTHING)
          : (inStore.get(day) ?? NOTHING);
        const isKnown = one !== undefined || known.has(day);
        const hasChanged = table === DAY_QUALITY && one?.tables.get(table)?.digest !== file.days[day]?.digest;
        const isWaiting = (one === undefined && isKnown) || hasChanged;
        const isSame =
          content.rows === rows && content.digest.startsWith(digest) && (rows === 0 || digest !== '');
        if (file.days[day] === undefined || !(isWaiting || (isKnown && isSame))) differing.push(day);
      }
      if (differing.length === 0) continue;
      differing.sort();
      const more = differing.length === 1 ? '' : ` and ${differing.length - 1} more`;
      const isForeign = differing.every((day) => !stored.has(day) && !known.has(day));
      this.note(
        file.path,
        isForeign
          ? `has rows of days that the store of ${orgId} does not have: ${differing[0]}${more}`
          : `has other rows than the store of ${differing[0]}${more}`,
        differing,
      );
    }
  }

  private inStore(days: readonly Day[]): Promise<Map<Day, Content>> {
    const { store, orgId, table } = this;
    const names = columnsOf(table).map(({ name }) => name);
    const of = `org_id = ${quote(orgId)} AND day IN (${days.map(quote).join(', ')})`;
    return contents(store, table, 'FROM of_days', {
      of_days: `SELECT ${names.join(', ')} FROM ${table} WHERE ${of}`,
    });
  }
}

/** Compares what the lake has of an organization with the store. */
export async function compare(
  store: Store,
  lake: string,
  orgId: string,
): Promise<Omit<Verified, 'organizations' | 'tables'>> {
  const stored = (await storedDays(store, [orgId])).get(orgId) ?? new Map<Day, StoredDay>();
  const known = await knownDays(store, orgId);
  const snapshot = readSnapshot(lake, orgId) ?? noSnapshot(orgId);
  const differences: Difference[] = [];
  let rows = 0;
  for (const table of LAKE_TABLES) {
    const comparison = new Comparison(store, lake, snapshot, table, stored, known);
    await comparison.run();
    differences.push(...comparison.differences);
    rows += comparison.rows;
  }
  const files = Object.values(snapshot.tables).reduce((sum, table) => sum + table.files.length, 0);
  const arrived = await store.select(
    'SELECT DISTINCT day FROM arrivals WHERE org_id = $org_id AND changed > 0',
    { org_id: orgId },
  );
  const waiting = new Set([...known, ...arrived.map(({ day }) => day as Day)]);
  for (const day of stored.keys()) waiting.delete(day);
  return { differences, days: stored.size, files, rows, waiting: waiting.size };
}

/** Marks in a snapshot what is wrong with it, so that the next publication replaces it. `known` are the days that the store has. */
export function distrust(
  snapshot: Snapshot,
  differences: readonly Difference[],
  known: ReadonlySet<Day>,
): Snapshot {
  for (const [table, { files }] of Object.entries(snapshot.tables))
    for (const file of files) {
      const path = join(folderOf(snapshot.org_id), table, file.path);
      const found = differences.find((one) => one.path === path);
      const differing = new Set(found?.days);
      for (const [day, rows] of Object.entries(file.days) as [Day, DayRows][])
        if (differing.has(day) || !known.has(day)) rows.digest = DISTRUSTED;
      if (found !== undefined) file.columns = '';
      if (found?.isReadable === false) file.days = {};
    }
  return { ...snapshot, days: snapshot.days.filter((day) => known.has(day)) };
}
