import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../src/settings/config.js';
import { ClickHouseServers } from '../src/store/clickhouse/clickhouse-servers.js';
import { CLUSTER_SETTINGS, forCluster } from '../src/store/clickhouse/cluster-statement.js';
import { Replicas } from '../src/store/clickhouse/replicas.js';
import { NotAnswering, whileAnswering } from '../src/store/clickhouse/server-watch.js';
import { readSqlFolder } from '../src/store/sql-text.js';

const addressOf = (DAYBOOK_STORE: string) => readConfig({ DAYBOOK_STORE }).clickhouse;

describe('the address of a ClickHouse database', () => {
  test('names one server, or several, and their cluster', () => {
    const one = { username: 'ada', password: 'se:c,ret', database: 'acme', cluster: undefined };
    expect(addressOf('clickhouse://ada:se%3Ac%2Cret@db/acme')).toEqual({ ...one, urls: ['http://db:8123'] });
    expect(addressOf('clickhouses://ada:se%3Ac%2Cret@db/acme')).toEqual({
      ...one,
      urls: ['https://db:8443'],
    });
    expect(addressOf('clickhouse://ada:se%3Ac%2Cret@db-1:9123,[::1],db-3/acme?cluster=eu.one-1')).toEqual({
      ...one,
      urls: ['http://db-1:9123', 'http://[::1]:8123', 'http://db-3:8123'],
      cluster: 'eu.one-1',
    });
    expect(addressOf('clickhouse://db/acme')).toMatchObject({ username: 'default', password: '' });
  });

  test.each([
    'clickhouse://db,/acme',
    'clickhouse://db:x/acme',
    'clickhouse://db/acme?cluster=',
    "clickhouse://db/acme?cluster=a'b",
    'clickhouse://db/acme?replica=one',
    'clickhouse://db/acme/more',
    'clickhouse://db/1acme',
    `clickhouse://${Array.from({ length: 33 }, (_, host) => `db-${host}`)}/acme`,
  ])('is refused when it is wrong: %s', (address) => {
    expect(() => addressOf(address)).toThrow('DAYBOOK_STORE must be duckdb or clickhouse://');
  });
});

test('a server that could not be reached is asked last for some seconds', () => {
  let now = 0;
  const client = {} as never;
  const [one, two, three] = ['one', 'two', 'three'].map((url) => ({ url, client }));
  if (one === undefined || two === undefined || three === undefined) throw new Error();
  const servers = new ClickHouseServers([one, two, three], undefined, () => now);
  const order = () => servers.inOrder().map(({ url }) => url);
  servers.leaveOut(one);
  expect(order()).toEqual(['two', 'three', 'one']);
  servers.leaveOut(two);
  expect(order()).toEqual(['three', 'one', 'two']);
  servers.takeBack(two);
  expect(order()).toEqual(['two', 'three', 'one']);
  now = 6000;
  expect(order()).toEqual(['one', 'two', 'three']);
  expect(ClickHouseServers.from([one, two, three], 'c', 2).inOrder()).toEqual([three, one, two]);
});

test('a server is asked again whether it has the newest rows when its answer took longer than it is waited', async () => {
  onTestFinished(() => void vi.restoreAllMocks());
  let asked = 0;
  const server = {
    cluster: undefined,
    naming: () => 'it has them',
    select: async () => {
      asked += 1;
      if (asked > 1) return [{ place: 'events_rows batch', number: 1, row_count: 3 }];
      const now = performance.now();
      vi.spyOn(performance, 'now').mockReturnValue(now + 60_000);
      return [];
    },
  };
  const all = { onEach: () => [server] } as never;
  const written = { kind: 'batch', number: 1, table: 'events', rows: 3 } as const;
  const replicas = new Replicas(all, { written: async () => [written] });
  const counting = { newest: [1], holes: [] };
  expect(await replicas.having({ batch: counting, build: counting, exchanges: 0 })).toBe('it has them');
});

test('a statement ends when its server stops answering, and not before', async () => {
  let asked = 0;
  const server = createServer((request, answer) => {
    asked += 1;
    // Every second ping at first, and then none.
    if (asked % 2 === 0 && asked < 6) answer.end('Ok.\n');
    else request.socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watch = { everyMs: 100, answerMs: 20_000, misses: 2 };
  await expect(whileAnswering(url, () => new Promise(() => undefined), watch)).rejects.toThrow(NotAnswering);
  expect(asked).toBeGreaterThan(5);
  expect(await whileAnswering(url, async () => 'done', watch)).toBe('done');
});

describe('a statement for a cluster', () => {
  const PLACE = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";
  const ON_DISK = 'fsync_after_insert = 1, min_compressed_bytes_to_fsync_after_fetch = 1';

  test.each([
    ['CREATE DATABASE acme', "CREATE DATABASE acme ON CLUSTER 'eu'"],
    [
      '-- A table.\nCREATE TABLE IF NOT EXISTS days_rows (\n  day DATE\n)\nENGINE = MergeTree ORDER BY day SETTINGS fsync_after_insert = 1',
      `-- A table.\nCREATE TABLE IF NOT EXISTS days_rows ON CLUSTER 'eu' (\n  day DATE\n)\nENGINE = ReplicatedMergeTree(${PLACE}) ORDER BY day SETTINGS ${ON_DISK}`,
    ],
    [
      'CREATE TABLE files (n BIGINT) ENGINE = ReplacingMergeTree(batch) ORDER BY n',
      `CREATE TABLE files ON CLUSTER 'eu' (n BIGINT) ENGINE = ReplicatedReplacingMergeTree(${PLACE}, batch) ORDER BY n`,
    ],
    ["CREATE TABLE a_new AS a COMMENT 'x'", "CREATE TABLE a_new ON CLUSTER 'eu' AS a COMMENT 'x'"],
    [
      'CREATE TABLE a ENGINE = MergeTree ORDER BY tuple() EMPTY AS SELECT 1 AS n',
      `CREATE TABLE a ON CLUSTER 'eu' ENGINE = ReplicatedMergeTree(${PLACE}) ORDER BY tuple() EMPTY AS SELECT 1 AS n`,
    ],
    ['CREATE OR REPLACE VIEW v AS\nSELECT 1', "CREATE OR REPLACE VIEW v ON CLUSTER 'eu' AS\nSELECT 1"],
    ['CREATE OR REPLACE FUNCTION f AS (x) -> x', "CREATE OR REPLACE FUNCTION f ON CLUSTER 'eu' AS (x) -> x"],
    ['EXCHANGE TABLES a_new AND a', "EXCHANGE TABLES a_new AND a ON CLUSTER 'eu'"],
    ['DROP TABLE IF EXISTS a SYNC', "DROP TABLE IF EXISTS a ON CLUSTER 'eu' SYNC"],
    [
      'ALTER TABLE a ADD COLUMN IF NOT EXISTS b Nullable(VARCHAR)',
      "ALTER TABLE a ON CLUSTER 'eu' ADD COLUMN IF NOT EXISTS b Nullable(VARCHAR)",
    ],
    ...[
      'INSERT INTO a SELECT 1',
      'DELETE FROM a WHERE true',
      'TRUNCATE TABLE a',
      'UPDATE a SET b = 1 WHERE true',
      "ALTER TABLE a DROP PARTITION ID '7'",
      'ALTER TABLE a DELETE WHERE true SETTINGS mutations_sync = 2',
    ].map((text) => [text, text]),
  ])('%s', (text, expected) => {
    expect(forCluster(text ?? '', 'eu').query).toBe(expected);
  });

  test('that changes columns waits for all replicas', () => {
    expect(forCluster('ALTER TABLE a ADD COLUMN b VARCHAR', 'eu').settings).toEqual({ alter_sync: '2' });
    expect(forCluster('TRUNCATE TABLE a', 'eu').settings).toEqual({});
    expect(CLUSTER_SETTINGS.insert_quorum).toBe('auto');
  });

  test.each([
    'RENAME TABLE a TO b',
    'CREATE USER ada',
    'CREATE TABLE a ENGINE = MergeTree ORDER BY n AS SELECT 1 AS n',
  ])('of a kind that nobody thought of is refused: %s', (text) => {
    expect(() => forCluster(text, 'eu')).toThrow(TypeError);
  });
});

/** Small tables, which every shard would have, and those of the state of a service. */
const WITHOUT_ORGANIZATION = [
  ...[
    'abandoned',
    'attempts',
    'batches',
    'computers',
    'ended_tickets',
    'facts',
    'keys',
    'languages',
    'price_multipliers',
    'prices',
  ],
  ...['probes', 'rates', 'runs', 'trailing_days', 'transfers', 'written_rows'],
];

test('rows of an organization are together, so that shards could have them: org_id is first in the keys of tables', () => {
  const others: string[] = [];
  for (const folder of ['change', 'schema', 'clickhouse'])
    for (const { name, text } of readSqlFolder(folder)) {
      const [, key] = /ENGINE = .*ORDER BY \(?(\w+)/.exec(text) ?? [];
      if (key !== undefined && key !== 'org_id') others.push(name.replace(/^\d+-/, ''));
    }
  expect(others.sort()).toEqual(WITHOUT_ORGANIZATION);
});
