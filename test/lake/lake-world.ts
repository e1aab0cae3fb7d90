import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'vitest';
import { runBuild } from '../../src/aggregate/build-run.js';
import { Lake } from '../../src/lake/data-lake.js';
import { commitPath } from '../../src/lake/delta-log.js';
import { snapshotAt } from '../../src/lake/earlier-snapshot.js';
import { folderOf, isOfPeople, LAKE_TABLES, type LakeTable } from '../../src/lake/lake-paths.js';
import { lakeSql } from '../../src/lake/lake-sql.js';
import { readSnapshot, type Snapshot } from '../../src/lake/snapshot.js';
import type { Row } from '../../src/store/store.js';
import { World } from '../world.js';
import { snapshotsIn } from './snapshots.js';

let number = 0;
export function event(day: string, user_id: string, more: object = {}) {
  number += 1;
  return {
    event_id: `e${number}`,
    type: 'tool_call',
    tool_name: 'Read',
    timestamp: `${day}T10:00:00Z`,
    user_id,
    session_id: 's',
    ...more,
  };
}

/** Builds what is stale and publishes it, as the service does. */
export async function build(world: World, lake: Lake, retentionDays?: number): Promise<void> {
  const publish = (days: Parameters<Lake['publish']>[1]) => lake.publish(world.store, days);
  const { finished } = await runBuild(world.store, 'command', {}, world.clock, { publish, retentionDays });
  await finished;
}

export async function worldWithLake(more: object = {}): Promise<{ world: World; lake: Lake }> {
  const world = await World.create();
  return { world, lake: new Lake({ ...world.config, ...more }, world.clock) };
}

/** Asks a DuckDB of its own, as a data engineer's. */
export async function ask(sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return (await (await connection.run(sql)).getRowObjectsJson()) as Row[];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export function snapshotOf(lake: Lake, orgId = 'acme'): Snapshot {
  const snapshot = readSnapshot(lake.folder, orgId);
  if (snapshot === undefined) throw new Error(`${orgId} has no snapshot`);
  return snapshot;
}

/** The rows of a SELECT on a table of the lake, which it names `rows_of`. */
export function lakeRows(lake: Lake, table: LakeTable, select: string, asOf?: number): Promise<Row[]> {
  const snapshots = snapshotsIn(lake.folder).flatMap((one) => snapshotAt(lake.folder, one, asOf) ?? []);
  return ask(`WITH rows_of AS (${lakeSql(lake.folder, table, snapshots)}) ${select}`);
}

/** The files of the lake, each with what tells whether it was written again. */
export function writtenFiles(lake: Lake, ending = '.parquet'): Map<string, number> {
  const paths = readdirSync(lake.folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    paths
      .filter((path) => path.endsWith(ending) && statSync(join(lake.folder, path)).isFile())
      .map((path) => [path, statSync(join(lake.folder, path)).ino]),
  );
}

/** The files that a table's log leads to, read as the protocol of Delta Lake says: the newest checkpoint and the commits after it. */
export async function filesOfLog(
  folder: string,
): Promise<{ version: number; paths: string[]; rows: number }> {
  const log = join(folder, '_delta_log');
  const last = join(log, '_last_checkpoint');
  const names = readdirSync(log).sort();
  const paths = new Map<string, number>();
  let version = -1;
  const apply = (action: {
    add?: { path: string; stats: string } | null;
    remove?: { path: string } | null;
  }) => {
    if (action.add) paths.set(action.add.path, JSON.parse(action.add.stats).numRecords);
    if (action.remove) paths.delete(action.remove.path);
  };
  if (existsSync(last)) {
    version = JSON.parse(readFileSync(last, 'utf8')).version;
    const path = join(log, `${String(version).padStart(20, '0')}.checkpoint.parquet`);
    for (const row of await ask(`SELECT to_json(rows_of)::VARCHAR AS action FROM '${path}' AS rows_of`))
      apply(JSON.parse(String(row.action)));
    // Readers may want the commit of the checkpoint too, also when those before are gone.
    if (!names.includes(basename(commitPath(0)))) expect(names).toContain(basename(commitPath(version)));
  }
  for (const name of names) {
    const number = Number(/^(\d{20})\.json$/.exec(name)?.[1] ?? -1);
    if (number <= version) continue;
    expect(number).toBe(version + 1);
    version = number;
    for (const line of readFileSync(join(log, name), 'utf8').trimEnd().split('\n')) apply(JSON.parse(line));
  }
  return {
    version,
    paths: [...paths.keys()].sort(),
    rows: [...paths.values()].reduce((sum, rows) => sum + rows, 0),
  };
}

/** Fails unless the lake has the rows of the store, and each table's log leads to the files of the snapshot. */
export async function expectWhole(world: World, lake: Lake): Promise<void> {
  expect((await lake.verify(world.store)).differences).toEqual([]);
  // The people have no days.
  const dayOf = (table: LakeTable) => (isOfPeople(table) ? 'CAST(NULL AS DATE)' : 'day');
  const counts = (count: string, rowsOf: (table: LakeTable) => string) =>
    LAKE_TABLES.map(
      (table) =>
        `SELECT '${table}' AS name, ${count} AS n, min(${dayOf(table)}) AS first, max(${dayOf(table)}) AS last FROM (${rowsOf(table)}) AS rows_of_table HAVING count(*) > 0`,
    ).join(' UNION ALL ');
  const byName = (rows: Row[]) => rows.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
  const stored = await world.store.select(counts('count(*)', (table) => `SELECT * FROM ${table}`));
  const snapshots = snapshotsIn(lake.folder);
  const found = await ask(counts('count(*)::INT', (table) => lakeSql(lake.folder, table, snapshots)));
  expect(byName(found)).toEqual(byName(stored));
  for (const snapshot of snapshots) await expectLogs(lake, snapshot);
}

/** Fails unless the log of each of these tables leads to the files of the snapshot. */
export async function expectLogs(
  lake: Lake,
  { org_id, tables }: Snapshot,
  asked = Object.entries(tables),
): Promise<void> {
  for (const [table, { version, files }] of asked) {
    const read = await filesOfLog(join(lake.folder, folderOf(org_id), table));
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    expect(read, table).toEqual({ version, paths: files.map(({ path }) => path).sort(), rows });
  }
}
