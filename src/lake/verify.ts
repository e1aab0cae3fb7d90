import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Day } from '../day.js';
import { reasonOf } from '../exit.js';
import { digestOfTexts, rowText } from '../store/row-digest.js';
import type { Sources, Store } from '../store/store.js';
import { shownColumns } from '../store/tables.js';
import { checkpointPath, commitPath } from './delta-log.js';
import { earlierInstants, snapshotAt } from './earlier-snapshot.js';
import {
  folderOf,
  isOfPeople,
  isRecord,
  LAKE_TABLES,
  type LakeTable,
  NO_DAY,
  tableFolder,
} from './lake-paths.js';
import { filesSql } from './lake-sql.js';
import { parted } from './merge-plan.js';
import {
  type DataFile,
  type DayRows,
  DISTRUSTED,
  noSnapshot,
  readSnapshot,
  type Snapshot,
} from './snapshot.js';
import { arrivedDays, inGroups, knownDays, rowsOfDays, type StoredDay, storedDays } from './stored-days.js';

/** A file of the lake that differs from the store. */
export interface Difference {
  readonly orgId: string;
  readonly table: LakeTable;
  /** In the lake. */
  readonly path: string;
  /** The difference, as the rest of a sentence. */
  readonly detail: string;
  /** The days that differ, and whether its other days can be read. */
  readonly days: readonly Day[];
  readonly isReadable: boolean;
}

/** The result of a comparison. */
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

/** The most rows that are compared at once, because their texts are in memory together, and the most files. */
const ROWS_AT_ONCE = 500_000;
const FILES_AT_ONCE = 500;

/** Whether the store has digests of a table's days. */
function hasDigests(table: LakeTable): boolean {
  return table !== 'events' && !isRecord(table);
}

/** An organization that is compared: its publication, the days that the store could publish, and those that it has. */
interface Compared {
  readonly snapshot: Snapshot;
  readonly stored: ReadonlyMap<Day, StoredDay>;
  readonly known: ReadonlySet<Day>;
}

/** A file that can be read, and the organization that it belongs to. */
interface Found {
  readonly own: Compared;
  readonly file: DataFile;
  /** Where it is. */
  readonly path: string;
}

interface Content {
  readonly rows: number;
  readonly digest: string;
}

const NOTHING: Content = { rows: 0, digest: '' };

/** The content of each day in the rows of a SELECT for DuckDB, for each value of a column, as a text. The store gives the rows of sources. */
async function contents(
  store: Store,
  table: LakeTable,
  column: string,
  rows: string,
  sources: Sources = {},
): Promise<Map<string, Map<Day, Content>>> {
  const columns = shownColumns(table);
  // Texts of many events would take much memory. One engine reads both sides, so its own hash is enough.
  const digest = hasDigests(table)
    ? digestOfTexts(table, rowText(columns))
    : `bit_xor(hash(${columns.map(({ name, type }) => `CAST(${name} AS ${type})`).join(', ')}))`;
  const day = isOfPeople(table) ? `'${NO_DAY}'` : 'CAST(day AS VARCHAR)';
  const sql = `SELECT ${column} AS part, ${day} AS day, count(*) AS rows, CAST(${digest} AS VARCHAR) AS digest FROM (${rows}) GROUP BY ALL`;
  const found = await store.snapshot(async (_, readColumns) =>
    (await readColumns(sql, sources, {})).getRowObjectsJson(),
  );
  const parts = new Map<string, Map<Day, Content>>();
  for (const row of found) {
    const part = parts.get(String(row.part)) ?? new Map<Day, Content>();
    parts.set(String(row.part), part);
    part.set(row.day as Day, { rows: Number(row.rows), digest: String(row.digest) });
  }
  return parts;
}

/** Compares the files that organizations have of a table. */
class Comparison {
  readonly differences: Difference[] = [];
  /** The rows of the files that were read. */
  rows = 0;

  constructor(
    private readonly store: Store,
    private readonly lake: string,
    private readonly table: LakeTable,
  ) {}

  private note(
    { snapshot }: Compared,
    path: string,
    detail: string,
    days: readonly Day[],
    isReadable = true,
  ): void {
    const { table } = this;
    const orgId = snapshot.org_id;
    this.differences.push({
      ...{ orgId, table, path: join(folderOf(orgId), table, path) },
      ...{ detail, days, isReadable },
    });
  }

  async run(asked: readonly Compared[]): Promise<void> {
    const { table } = this;
    const found = asked.flatMap((own) => this.filesOf(own));
    for (const part of inParts(found)) await this.compare(part);
    // People who were added since are published with the next build.
    if (isOfPeople(table)) return;
    const missing = asked.map((own) => {
      const there = new Set(own.snapshot.tables[table]?.files.flatMap(({ days }) => Object.keys(days)));
      const days = [...own.stored].filter(([day, { tables }]) => tables.has(table) && !there.has(day));
      return { own, orgId: own.snapshot.org_id, days: days.map(([day]) => day) };
    });
    // How many events a day has is known only roughly: it may be none.
    const ofEvents =
      table === 'events' && missing.some(({ days }) => days.length > 0)
        ? await this.inStore(missing)
        : undefined;
    for (const { own, orgId, days } of missing)
      for (const day of days)
        if (table !== 'events' || ofEvents?.get(orgId)?.has(day) === true)
          this.note(own, '', `has no rows of ${day}`, [day]);
  }

  /** The files of an organization that are there and have their size. */
  private filesOf(own: Compared): Found[] {
    const { snapshot } = own;
    const folder = tableFolder(this.lake, snapshot.org_id, this.table);
    const state = snapshot.tables[this.table];
    const log = (state?.checkpoints ?? []).map(({ version }) => checkpointPath(version));
    for (let version = state?.first_commit ?? 0; version <= (state?.version ?? -1); version += 1)
      log.push(commitPath(version));
    for (const path of log) if (!existsSync(join(folder, path))) this.note(own, path, 'is missing', []);
    return (state?.files ?? []).flatMap((file) => {
      const path = join(folder, file.path);
      const fault = sizeFault(path, file.bytes);
      if (fault === undefined) return [{ own, file, path }];
      this.note(own, file.path, fault, daysOf(file), false);
      return [];
    });
  }

  private async compare(files: readonly Found[]): Promise<void> {
    const { table } = this;
    const read = await this.read(files);
    // The rows of a day without events may have been taken over into other columns since.
    const isAsked = ({ own }: Found, day: Day) => {
      const one = own.stored.get(day);
      return one !== undefined && (!hasDigests(table) || one.isRemoved);
    };
    const asked = [...read.keys()].map((found) => ({
      orgId: found.own.snapshot.org_id,
      days: daysOf(found.file).filter((day) => isAsked(found, day)),
    }));
    const inStore = asked.every(({ days }) => days.length === 0) ? undefined : await this.inStore(asked);
    for (const [found, contentOf] of read) {
      const { own, file } = found;
      const { stored, known, snapshot } = own;
      const differing: Day[] = [];
      for (const day of new Set([...daysOf(file), ...contentOf.keys()])) {
        const content = contentOf.get(day) ?? NOTHING;
        this.rows += content.rows;
        const one = stored.get(day);
        const { rows, digest } =
          (isAsked(found, day) ? inStore?.get(snapshot.org_id)?.get(day) : one?.tables.get(table)) ?? NOTHING;
        const isKnown = one !== undefined || known.has(day);
        const hasChanged = isRecord(table) && one?.tables.get(table)?.digest !== file.days[day]?.digest;
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
        own,
        file.path,
        isForeign
          ? `has rows of days that the store of ${snapshot.org_id} does not have: ${differing[0]}${more}`
          : `has other rows than the store of ${differing[0]}${more}`,
        differing,
      );
    }
  }

  /** The content of some days of organizations in the store, and perhaps of others of theirs. */
  private inStore(asked: Parameters<typeof rowsOfDays>[1]): Promise<Map<string, Map<Day, Content>>> {
    const { store, table } = this;
    return contents(store, table, 'org_id', 'SELECT * FROM of_rows', { of_rows: rowsOfDays(table, asked) });
  }

  /** The content of files, read together if they have the same columns. If that fails, each of them is read by itself. */
  private async read(files: readonly Found[]): Promise<Map<Found, ReadonlyMap<Day, Content>>> {
    const read = new Map<Found, ReadonlyMap<Day, Content>>();
    const readAll = async (some: readonly Found[], columns: string) => {
      const sql = filesSql(
        this.table,
        some.map(({ path }) => path),
        columns,
      );
      const found = await contents(this.store, this.table, 'file_index', sql);
      for (const [index, one] of some.entries()) read.set(one, found.get(String(index)) ?? new Map());
    };
    for (const columns of new Set(files.map(({ file }) => file.columns))) {
      const some = files.filter(({ file }) => file.columns === columns);
      try {
        await readAll(some, columns);
      } catch {
        for (const one of some)
          await readAll([one], columns).catch((error) =>
            this.note(one.own, one.file.path, `can't be read: ${reasonOf(error)}`, daysOf(one.file), false),
          );
      }
    }
    return read;
  }
}

/** How a file differs in its size, as the rest of a sentence; undefined if it doesn't. */
function sizeFault(path: string, bytes: number): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === bytes) return undefined;
  return size === undefined ? 'is missing' : `has ${size} bytes where the snapshot has ${bytes}`;
}

/** The files of earlier snapshots that are missing or have another size. */
function faultsOfEarlier(lake: string, snapshot: Snapshot): Difference[] {
  const orgId = snapshot.org_id;
  const faults = new Map<string, Difference>();
  for (const instant of earlierInstants(lake, orgId)) {
    const earlier = snapshotAt(lake, snapshot, instant);
    for (const table of LAKE_TABLES) {
      const { files = [], erased_at = 0 } = earlier?.tables[table] ?? {};
      for (const file of erased_at > instant ? [] : files) {
        const path = join(folderOf(orgId), table, file.path);
        const detail = sizeFault(join(lake, path), file.bytes);
        if (detail !== undefined)
          faults.set(path, { orgId, table, path, detail, days: [], isReadable: false });
      }
    }
  }
  return [...faults.values()];
}

function daysOf({ days }: Pick<DataFile, 'days'>): Day[] {
  return Object.keys(days) as Day[];
}

/** Files in the parts that are read together. */
function inParts(files: readonly Found[]): Found[][] {
  return parted(files, ({ file }) => file.rows, ROWS_AT_ONCE, FILES_AT_ONCE);
}

/** Compares some organizations in the lake with the store. */
export async function compare(store: Store, lake: string, orgIds: readonly string[]): Promise<Verified> {
  const differences: Difference[] = [];
  const sum = { days: 0, files: 0, rows: 0, waiting: 0 };
  for (const some of await inGroups(store, orgIds)) {
    const stored = await storedDays(store, some);
    const known = await knownDays(store, some);
    const arrived = await arrivedDays(store, some);
    const asked = some.map(
      (orgId): Compared => ({
        snapshot: readSnapshot(lake, orgId) ?? noSnapshot(orgId),
        stored: stored.get(orgId) ?? new Map(),
        known: known.get(orgId) ?? new Set(),
      }),
    );
    for (const table of LAKE_TABLES) {
      const comparison = new Comparison(store, lake, table);
      await comparison.run(asked);
      differences.push(...comparison.differences);
      sum.rows += comparison.rows;
    }
    const paths = new Set(differences.map(({ path }) => path));
    for (const own of asked) {
      differences.push(...faultsOfEarlier(lake, own.snapshot).filter(({ path }) => !paths.has(path)));
      sum.days += own.stored.size - Number(own.stored.has(NO_DAY));
      for (const { files } of Object.values(own.snapshot.tables)) sum.files += files.length;
      const days = new Set([...own.known, ...(arrived.get(own.snapshot.org_id) ?? [])]);
      for (const day of days) if (!own.stored.has(day)) sum.waiting += 1;
    }
  }
  differences.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { differences, organizations: orgIds.length, tables: LAKE_TABLES.length, ...sum };
}

/** Marks the differing days and files in a snapshot, so that the next publication replaces them. `known` are the days of the store. */
export function distrust(
  snapshot: Snapshot,
  differences: readonly Difference[],
  known: ReadonlySet<Day>,
): Snapshot {
  for (const [table, state] of Object.entries(snapshot.tables)) {
    const faultOf = (path: string) =>
      differences.find((one) => one.path === join(folderOf(snapshot.org_id), table, path));
    for (const file of state.files) {
      const found = faultOf(file.path);
      const differing = new Set(found?.days);
      for (const [day, rows] of Object.entries(file.days) as [Day, DayRows][])
        if (differing.has(day) || !known.has(day)) rows.digest = DISTRUSTED;
      if (found !== undefined) file.columns = '';
      if (found?.isReadable === false) file.days = {};
    }
    // Earlier snapshots may name it too.
    const isLost = differences.some(
      ({ orgId, table: of, isReadable }) => orgId === snapshot.org_id && of === table && !isReadable,
    );
    if (isLost) state.erased_at = snapshot.published_at;
  }
  return { ...snapshot, days: snapshot.days.filter((day) => known.has(day)) };
}
