import { existsSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import type { Day } from '../day.js';
import { reasonOf } from '../exit.js';
import { rowText } from '../store/row-digest.js';
import { patternOf, quote, readSql } from '../store/sql-text.js';
import { keyOf, type OrgDay, type Sources, type Store } from '../store/store.js';
import { type Days, filesThere, isShared, readDays } from './catalog.js';
import {
  columnsOf,
  fileOf,
  LAKE_TABLES,
  type LakeTable,
  quietFileOf,
  quietRowsSql,
  rowsSql,
} from './lake-paths.js';
import { knownDays, parted, type StoredDay, storedDays } from './stored-days.js';

/** A file of the lake that isn't as the store would have it, and how. */
export interface Difference extends OrgDay {
  readonly table: LakeTable;
  /** In the lake. */
  readonly path: string;
  /** What it is or has, as the rest of a sentence. */
  readonly detail: string;
}

/** How many rows are compared at once: their texts are in memory together. */
const ROWS_AT_ONCE = 500_000;

/** What stands for a day where there is none. */
const FIRST_DAY = '0001-01-01' as Day;

interface Content {
  readonly rows: number;
  readonly digest: string;
}

/** What each day has, of the rows that a SELECT gives. */
async function contents(
  store: Store,
  table: LakeTable,
  rows: string,
  sources: Sources = {},
): Promise<Map<Day, Content>> {
  const columns = columnsOf(table);
  // Texts of many events would take much memory; both sides are read by one engine, so its own hash does.
  const digest =
    table === 'events'
      ? `bit_xor(hash(${columns.map(({ name, type }) => `CAST(${name} AS ${type})`).join(', ')}))`
      : `digest(${rowText(readSql(`schema/${table}.sql`))})`;
  const sql = `SELECT CAST(day AS VARCHAR) AS day, count(*) AS rows, CAST(${digest} AS VARCHAR) AS digest FROM (${rows}) GROUP BY ALL`;
  const found = await store.snapshot(async (_, readColumns) =>
    (await readColumns(sql, sources, {})).getRowObjectsJson(),
  );
  return new Map(
    found.map((row) => [row.day as Day, { rows: Number(row.rows), digest: String(row.digest) }]),
  );
}

const NOTHING: Content = { rows: 0, digest: '' };

function dayCount(days: readonly Day[]): string {
  return days.length === 1 ? `${days[0]}` : `${days.length} days, the first is ${days[0]}`;
}

/** Compares the files of some days of a table. */
class Comparison {
  /** The rows of the files that were read. */
  rows = 0;

  constructor(
    private readonly store: Store,
    private readonly lake: string,
    private readonly orgId: string,
    private readonly table: LakeTable,
  ) {}

  /** What the files have. One that can't be read has the reason instead. */
  private async inFiles(days: readonly Day[]): Promise<Map<Day, Content | string>> {
    const { store, lake, orgId, table } = this;
    const patterns = days.map((day) => patternOf(fileOf(lake, table, { orgId, day })));
    try {
      return await contents(store, table, rowsSql(patterns, table, orgId));
    } catch (error) {
      if (days.length > 1) {
        const parts: [Day, Content | string][] = [];
        for (const day of days) parts.push(...(await this.inFiles([day])));
        return new Map(parts);
      }
      return new Map(days.map((day) => [day, reasonOf(error)]));
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

  /** Answers how the file that quiet days share differs from the store and from the catalog; undefined if it doesn't. */
  async quietDifference(
    days: readonly Day[],
    stored: ReadonlyMap<Day, StoredDay>,
    published: Days['days'],
  ): Promise<string | undefined> {
    const { store, lake, orgId, table } = this;
    let files: Map<Day, Content>;
    try {
      const path = patternOf(quietFileOf(lake, table, orgId));
      files = await contents(store, table, quietRowsSql(path, table, orgId));
    } catch (error) {
      return `can't be read: ${reasonOf(error)}`;
    }
    for (const { rows } of files.values()) this.rows += rows;
    const isSame = (day: Day) => {
      const { rows, digest } = stored.get(day)?.tables.get(table) ?? NOTHING;
      return files.get(day)?.rows === rows && files.get(day)?.digest === digest;
    };
    const other = days.filter((day) => !isSame(day));
    if (other.length > 0) return `has other rows than the store of ${dayCount(other)}`;
    const wanted = new Set(days);
    const more = [...files.keys()].filter((day) => !wanted.has(day)).sort();
    if (more.length > 0) return `has rows that do not belong there, of ${dayCount(more)}`;
    const unnoted = days.filter((day) => !isShared(published[day]?.tables[table]));
    return unnoted.length > 0 ? `has rows that are not in the catalog, of ${dayCount(unnoted)}` : undefined;
  }

  /** Answers how the files of days differ from the store. */
  async differences(days: readonly Day[], stored: ReadonlyMap<Day, StoredDay>): Promise<Map<Day, string>> {
    const files = await this.inFiles(days);
    const wanted = new Map<Day, Content>();
    for (const day of days) {
      const { rows = 0, digest = '' } = stored.get(day)?.tables.get(this.table) ?? {};
      wanted.set(day, { rows, digest: rows === 0 ? '' : digest });
    }
    // Of events no digest is kept. The rows of a day without events may have been taken over into other columns since.
    const isAsked = (day: Day) => this.table === 'events' || stored.get(day)?.is_removed === true;
    const asked = days.filter(isAsked);
    if (asked.length > 0) {
      const found = await this.inStore(asked);
      for (const day of asked) wanted.set(day, found.get(day) ?? NOTHING);
    }
    const differences = new Map<Day, string>();
    for (const [day, { rows, digest }] of wanted) {
      const file = files.get(day) ?? NOTHING;
      if (typeof file !== 'string') this.rows += file.rows;
      if (typeof file === 'string') differences.set(day, `can't be read: ${file}`);
      else if (file.rows !== rows) differences.set(day, `has ${file.rows} rows where the store has ${rows}`);
      else if (file.digest !== digest) differences.set(day, `has other rows than the store`);
    }
    return differences;
  }
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

/** Compares what the lake has of an organization with the store: of all days, or of those whose keys are given. */
export async function compare(
  store: Store,
  lake: string,
  orgId: string,
  only?: ReadonlySet<string>,
): Promise<Omit<Verified, 'organizations' | 'tables'>> {
  const stored = await storedDays(store, orgId);
  const known = await knownDays(store, orgId);
  const published = readDays(lake, orgId).days;
  const differences: Difference[] = [];
  let files = 0;
  let rows = 0;
  const isAsked = (day: Day) => only?.has(keyOf({ orgId, day })) !== false;
  for (const table of LAKE_TABLES) {
    const there = new Set<Day>(filesThere(lake, table, orgId));
    const differ = (day: Day, detail: string, path = fileOf(lake, table, { orgId, day })) => {
      differences.push({ orgId, day, table, path: relative(lake, path), detail });
    };
    const rowsOf = (day: Day) => stored.get(day)?.tables.get(table)?.rows ?? 0;
    const days: Day[] = [];
    const shared: Day[] = [];
    for (const day of [...new Set([...there, ...stored.keys()])].sort()) {
      if (there.has(day)) {
        if (!isAsked(day)) continue;
        if (stored.has(day)) days.push(day);
        else if (!known.has(day)) differ(day, 'is of a day that the store does not have');
      } else if (rowsOf(day) > 0) {
        if (stored.get(day)?.isQuiet === true) shared.push(day);
        else if (isAsked(day)) differ(day, 'is missing');
      }
    }
    const comparison = new Comparison(store, lake, orgId, table);
    for (const part of parted(days, rowsOf, ROWS_AT_ONCE))
      for (const [day, detail] of await comparison.differences(part, stored)) differ(day, detail);
    const isFound = new Set(differences.filter((one) => one.table === table).map(({ day }) => day));
    for (const day of days) {
      const { bytes } = published[day]?.tables[table] ?? {};
      const { size } = statSync(fileOf(lake, table, { orgId, day }));
      if (isFound.has(day)) continue;
      if (bytes === undefined) differ(day, 'is not in the catalog');
      else if (bytes !== size) differ(day, `has ${size} bytes where the catalog has ${bytes}`);
    }
    files += days.length;
    const quiet = quietFileOf(lake, table, orgId);
    const isThere = existsSync(quiet);
    const first = shared[0] ?? [...stored.keys()][0] ?? FIRST_DAY;
    if (isThere && (isAsked(first) || shared.some(isAsked))) {
      const found = await comparison.quietDifference(shared, stored, published);
      if (found !== undefined) differ(first, found, quiet);
      files += 1;
    } else if (!isThere && shared.some(isAsked)) differ(first, 'is missing', quiet);
    rows += comparison.rows;
  }
  const arrived = await store.select(
    'SELECT DISTINCT day FROM arrivals WHERE org_id = $org_id AND changed > 0',
    { org_id: orgId },
  );
  const waiting = new Set([...known, ...arrived.map(({ day }) => day as Day)]);
  for (const day of stored.keys()) waiting.delete(day);
  return { differences, days: stored.size, files, rows, waiting: waiting.size };
}
