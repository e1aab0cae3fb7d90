import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { Lake } from '../src/lake/data-lake.js';
import { buildApp } from '../src/service/app.js';
import { openLake, readLake } from '../src/sql/lake-database.js';
import { countedByLastRow } from '../src/store/clickhouse/names.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { DuckDbStore, type StoreOptions } from '../src/store/duckdb-store.js';
import { CLICKHOUSE_MARK, MARK } from '../src/store/loss-mark.js';
import { readSql, readSqlFolder } from '../src/store/sql-text.js';
import type { Store } from '../src/store/store.js';
import { databaseOf } from './clickhouse/engine.js';
import { snapshotsIn } from './lake/snapshots.js';
import { event, NOW, storeName, World } from './world.js';

/** Opens the store of a world again. */
function reopen({ config }: World, options: Partial<StoreOptions> = {}): Promise<Store> {
  const settings = { ...config, now: NOW, ...options };
  return storeName() === 'DuckDB'
    ? DuckDbStore.open(config.data, settings)
    : ClickHouseStore.with(
        config.data,
        settings,
        databaseOf(config.data, () => {}),
      );
}

test('is marked outside with what it has, and refused once it has less, unless that is accepted', async () => {
  const world = await World.create();
  const { config } = world;
  const { data } = config;
  const path = join(data, storeName() === 'DuckDB' ? MARK : CLICKHOUSE_MARK);
  const open = (acceptsLoss: boolean) => reopen(world, { acceptsLoss });
  const mark = () => JSON.parse(readFileSync(path, 'utf8'));
  await world.send([event('1')]);
  await world.send([event('2')]);
  await world.store.close();
  expect(mark()).toEqual({ batches: 2, keys: 0, revocations: 0, controls: 0 });
  // It may lag behind, as after a kill, and be damaged or missing.
  for (const text of ['{"batches":1,"keys":0,"revocations":0,"controls":0}', '{', undefined]) {
    rmSync(path);
    if (text !== undefined) writeFileSync(path, text);
    await (await open(false)).close();
    expect(mark()).toMatchObject({ batches: 2 });
  }
  const ahead = '{"batches":3,"keys":1,"revocations":0,"controls":0}';
  writeFileSync(path, ahead);
  for (let start = 1; start <= 2; start += 1)
    await expect(open(false)).rejects.toThrow(
      /has lost acknowledged data \(it has 2 of 3 batches of events, 0 of 1 keys\): .* --accept-loss\.$/,
    );
  expect(readFileSync(path, 'utf8')).toBe(ahead);
  await (await open(true)).close();
  expect(mark()).toMatchObject({ batches: 2, keys: 0 });
  await (await open(false)).close();
});

test('opened to read, it answers if this version made its tables, and is neither marked nor brought up to date', async () => {
  const world = await World.create();
  await world.send([event('1')]);
  await world.store.close();
  const mark = join(world.config.data, storeName() === 'DuckDB' ? MARK : CLICKHOUSE_MARK);
  rmSync(mark);
  const reader = await reopen(world, { isReading: true });
  expect(await reader.select('SELECT event_id FROM events')).toEqual([{ event_id: '1' }]);
  await reader.close();
  expect(existsSync(mark)).toBe(false);
  const writer = await reopen(world);
  await writer.run([{ sql: "DELETE FROM facts WHERE name = 'schema'" }]);
  await writer.close();
  for (let times = 0; times < 2; times += 1)
    await expect(reopen(world, { isReading: true })).rejects.toThrow('by another version of Daybook');
  await (await reopen(world)).close();
  await (await reopen(world, { isReading: true })).close();
});

test('members that a change adds are stored, and are in SQL and the lake, of a database that was there before', async () => {
  const world = await World.create();
  const { config } = world;
  const members = { agent_id: 'a1', speed: 'fast', web_searches: 2, reported_cost_usd: 0.002825 };
  const isDuckDb = storeName() === 'DuckDB';
  const changes = readSqlFolder('change')
    .filter(({ name }) => name >= '0052')
    .map(({ text }) => text)
    .join(';');
  // In ClickHouse these are views, which show the rows that count.
  const views = isDuckDb ? [] : ['events', 'day_inputs'];
  const before = [
    ...[...changes.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)].map(([, table, column]) => {
      const stored = views.includes(String(table)) ? `${table}_rows` : table;
      return `ALTER TABLE ${stored} DROP COLUMN ${column}`;
    }),
    ...[...changes.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => `DROP TABLE ${table}`),
    'DELETE FROM changes WHERE number >= 52',
    // An older version had another price list, too.
    "DELETE FROM facts WHERE name IN ('schema', 'price_list')",
    ...views.map((view) => countedByLastRow(readSql(`clickhouse/${view}.sql`))),
  ];
  await world.store.run(before.map((sql) => ({ sql })));
  await world.store.close();
  const store = await reopen(world);
  onTestFinished(() => store.close());
  const usage = { type: 'model_usage', model: 'sonnet', input_tokens: 1, output_tokens: 2 };
  const path = world.file(
    'events.ndjson',
    `${JSON.stringify({ ...event('1'), ...usage, ...members })}\n${JSON.stringify(event('2'))}\n`,
  );
  await ingest(
    store,
    { orgId: 'acme', source: CANONICAL, files: inputFiles([path], CANONICAL) },
    world.clock,
  );
  const nulls = Object.fromEntries(Object.keys(members).map((name) => [name, null]));
  const expected = [
    { event_id: '1', ...members },
    { event_id: '2', ...nulls },
  ];
  const query = `SELECT event_id, ${Object.keys(members).join(', ')} FROM events ORDER BY event_id`;
  expect(await store.select(query)).toEqual(expected);
  const lake = new Lake(config, world.clock);
  const publish = (days: Parameters<Lake['publish']>[1]) => lake.publish(store, days);
  await (await runBuild(store, 'command', {}, world.clock, { publish })).published;
  const connection = await openLake({ memoryMb: 128, threads: 1, data: config.data, prices: config.prices });
  onTestFinished(() => connection.closeSync());
  await readLake(connection, lake.folder, { snapshots: snapshotsIn(lake.folder) });
  const ofLake = { web_searches: '2', reported_cost_usd: '0.002825000' };
  expect((await connection.runAndReadAll(query)).getRowObjectsJson()).toEqual([
    { ...expected[0], ...ofLake },
    expected[1],
  ]);
});

test('/readyz writes and reads the store, once a second however many ask', async () => {
  const world = await World.create();
  let probes = 0;
  let failure: Error | undefined;
  const store = new Proxy(world.store, {
    get(target, name) {
      if (name === 'probe')
        return async (now: number) => {
          probes += 1;
          if (failure !== undefined) throw failure;
          await target.probe(now);
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const app = buildApp({ store, config: world.config, clock: world.clock, inbox: world.inbox });
  const asked = async () => (await app.inject({ url: '/readyz' })).statusCode;
  const before = await store.revision();
  expect(await Promise.all(Array.from({ length: 20 }, asked))).toEqual(Array(20).fill(200));
  world.now += 999;
  expect(await asked()).toBe(200);
  expect(probes).toBe(1);
  world.now += 1;
  expect(await asked()).toBe(200);
  expect(probes).toBe(2);
  // What it writes is no reason to make any answer again.
  expect(await store.revision()).toBe(before);
  failure = new Error('No space left on device');
  expect(await asked()).toBe(200);
  world.now += 1000;
  expect(await asked()).toBe(503);
  expect(await asked()).toBe(503);
  expect(probes).toBe(3);
  failure = undefined;
  world.now += 1000;
  expect(await asked()).toBe(200);
  await app.close();
  expect(existsSync(join(world.config.data, 'inbox'))).toBe(true);
});

test('/readyz says since when no event was settled, if some wait for too long', async () => {
  const world = await World.create();
  const app = buildApp({ store: world.store, config: world.config, clock: world.clock, inbox: world.inbox });
  const asked = async () => (await app.inject({ url: '/readyz' })).json();
  const send = (requestId: string) =>
    world.inbox.receiveChecked([`{"event_id":"${requestId}","$line":1}`], {
      ...{ requestId, orgId: 'acme', receivedAt: world.now },
    });
  await send('one');
  const since = world.now;
  world.now += 14_999;
  expect(await asked()).not.toHaveProperty('settling');
  await send('two');
  world.now += 1;
  expect(await asked()).toMatchObject({ status: 'ready', settling: { since } });
  await world.inbox.drain(world.store);
  expect(await asked()).not.toHaveProperty('settling');
  await app.close();
});

test('keeps in memory nothing of the files that it has read', async (context) => {
  if (storeName() !== 'DuckDB')
    return context.skip('ClickHouse does not say what the database has that settles.');
  const world = await World.create();
  for (let publication = 0; publication < 2; publication += 1) {
    await world.send([event(`${publication}`)]);
    await world.build();
    // The second time it reads what it has published before, and merges it.
    await new Lake(world.config, world.clock).publish(world.store, []);
  }
  expect(
    await world.store.select(
      "SELECT memory_usage_bytes AS bytes FROM duckdb_memory() WHERE tag = 'EXTERNAL_FILE_CACHE'",
    ),
  ).toEqual([{ bytes: 0 }]);
});
