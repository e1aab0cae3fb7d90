import { statSync } from 'node:fs';
import { relative } from 'node:path';
import type { Day } from '../day.js';
import { rowText } from '../store/digest.js';
import { patternOf, quote, readSql } from '../store/sql.js';
import { keyOf, type OrgDay, type Sources, type Store } from '../store/store.js';
import { filesThere, readDays } from './catalog.js';
import { columnsOf, fileOf, LAKE_TABLES, type LakeTable, rowsSql } from './place.js';
import { knownDays, parted, type StoredDay, storedDays } from './stored.js';

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

/** Compares the files of some days of a table. */
class Comparison {
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
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      return new Map(days.map((day) => [day, reason]));
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
  /** The files that were compared. */
  readonly files: number;
  /** The days of which there are files: those of an organization that wait for a build among them, which aren't compared. */
  readonly days: number;
}

/** Compares what the lake has of an organization with the store: of all days, or of those whose keys are given. */
export async function compare(
  store: Store,
  lake: string,
  orgId: string,
  only?: ReadonlySet<string>,
): Promise<Verified> {
  const stored = await storedDays(store, orgId);
  const known = await knownDays(store, orgId);
  const published = readDays(lake, orgId).days;
  const differences: Difference[] = [];
  const all = new Set<Day>();
  let files = 0;
  for (const table of LAKE_TABLES) {
    const there = new Set<Day>(filesThere(lake, table, orgId));
    const differ = (day: Day, detail: string) => {
      const path = relative(lake, fileOf(lake, table, { orgId, day }));
      differences.push({ orgId, day, table, path, detail });
    };
    const days: Day[] = [];
    for (const day of [...new Set([...there, ...stored.keys()])].sort()) {
      if (only?.has(keyOf({ orgId, day })) === false) continue;
      all.add(day);
      if (!there.has(day)) differ(day, 'is missing');
      else if (stored.has(day)) days.push(day);
      else if (!known.has(day)) differ(day, 'is of a day that the store does not have');
    }
    const comparison = new Comparison(store, lake, orgId, table);
    const rowsOf = (day: Day) => stored.get(day)?.tables.get(table)?.rows ?? 0;
    for (const part of parted(days, rowsOf, ROWS_AT_ONCE))
      for (const [day, detail] of await comparison.differences(part, stored)) differ(day, detail);
    const isFound = new Set(differences.filter((one) => one.table === table).map(({ day }) => day));
    for (const day of days) {
      const { rows, bytes } = published[day]?.tables[table] ?? {};
      const { size } = statSync(fileOf(lake, table, { orgId, day }));
      if (isFound.has(day)) continue;
      if (rows === undefined) differ(day, 'is not in the catalog');
      else if (bytes !== size) differ(day, `has ${size} bytes where the catalog has ${bytes}`);
    }
    files += days.length;
  }
  return { differences, files, days: all.size };
}
