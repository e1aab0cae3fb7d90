import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { beforeAll, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import { removeOldEvents } from '../../src/aggregate/retention.js';
import { ClickHouseServers } from '../../src/store/clickhouse/clickhouse-servers.js';
import { ClickHouseSession } from '../../src/store/clickhouse/clickhouse-session.js';
import { Replicas } from '../../src/store/clickhouse/replicas.js';
import { ClickHouseStore } from '../../src/store/clickhouse-store.js';
import { quote } from '../../src/store/sql-text.js';
import { erasureOf } from '../../src/store/state/erasure-statements.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { ending, event, NOW, World } from '../world.js';
import { FrontProcess } from './front/process.js';

/** The statements that change something, as they came to the servers. */
function statementsOf(front: FrontProcess): string[] {
  const folder = join(front.folder, 'statements');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).statement.query);
}

const ids = async (world: World) =>
  (await world.store.select('SELECT event_id FROM events ORDER BY event_id')).map(({ event_id }) => event_id);

/** An event of the open day. */
const eventNow = (id: string) => event(id, { timestamp: '2026-07-10T10:00:00Z' });

const atEnd = ending();
let front: FrontProcess;
let world: World;
/** By which the store leaves a server out for some seconds. */
let clock: MockInstance<typeof Date.now>;
beforeAll(async () => {
  clock = vi.spyOn(Date, 'now');
  atEnd(() => clock.mockRestore());
  front = await FrontProcess.start({ servers: 2, isFollowed: true }, atEnd);
  const store = `clickhouse://ada:secret@${front.hosts}/acme?cluster=eu`;
  world = await World.create({ DAYBOOK_STORE: store }, atEnd);
});

test('a store of two servers settles, builds, erases and removes, and tells all replicas', async () => {
  const { store, config } = world;
  await world.send([event('1'), event('2', { user_id: 'grace', session_id: 's2' })]);
  expect(await world.build()).toContain('2026-06-10');
  const names = [{ name: 'grace', pseudonym: 'erased-1' }];
  await store.rewrite(await erasureOf(store, { orgId: 'acme', names, words: ['grace'] }, 'root', NOW));
  expect(await store.select('SELECT user_id FROM users ORDER BY user_id')).toEqual([
    { user_id: 'ada' },
    { user_id: 'erased-1' },
  ]);
  // As an older version has left the database.
  await store.run([{ sql: "DELETE FROM facts WHERE name = 'schema' OR name LIKE 'table %'" }]);
  await store.refresh();
  await removeOldEvents(store, 1, NOW);
  // A start that has nothing to make can do without a replica.
  const before = statementsOf(front).length;
  if (config.clickhouse === undefined) throw new Error();
  const reader = await ClickHouseStore.open(join(world.folder, 'reader'), config.clickhouse, {
    ...config,
    now: NOW,
  });
  await reader.close();
  expect(statementsOf(front).slice(before)).toEqual([]);

  const statements = statementsOf(front);
  const verbs = new Set(statements.map((text) => /^(?:\s|--.*\n)*(\w+)/.exec(text)?.[1]));
  expect([...verbs].sort()).toEqual(['ALTER', 'CREATE', 'DELETE', 'DROP', 'EXCHANGE', 'INSERT', 'SYSTEM']);
  const client = createClient({ url: front.url() });
  atEnd(() => client.close());
  const session = new ClickHouseSession(client);
  for (const text of statements) {
    const [parsed] = await session.select(`SELECT formatQuery(${quote(text)}) AS formatted`);
    if (/^(?:\s|--.*\n)*(CREATE|DROP|EXCHANGE|SYSTEM)/.test(text))
      expect(String(parsed?.formatted), text).toContain(' ON CLUSTER eu');
    if (/\bENGINE = \w*MergeTree/.test(text)) expect(text).toMatch(/ENGINE = Replicated\w*MergeTree\('/);
  }
});

test('a server that goes away is passed over, and nothing that was acknowledged is lost or doubled', async () => {
  onTestFinished(() => front.take('answer'));
  // However long it takes, a server that couldn't be reached is asked last.
  clock.mockReturnValue(Date.now());
  onTestFinished(() => void clock.mockReset());
  await world.send([eventNow('3')]);
  const before = await ids(world);
  await front.take('refuse', { server: 0 });
  expect(await ids(world)).toEqual(before);
  await world.send([eventNow('4')]);
  await front.take('answer');
  await front.take('refuse', { server: 1 });
  expect(await ids(world)).toEqual([...before, '4']);
  await front.take('answer');
  for (const server of [0, 1]) await front.take('cut', { server, match: '^SELECT event_id', times: 1 });
  await expect(ids(world)).rejects.toThrow(StoreUnavailable);
  await front.take('cut', { match: '^INSERT INTO events_rows', times: 1 });
  await expect(world.send([eventNow('5')])).rejects.toThrow(StoreUnavailable);
  // Whichever of them that was, and whichever is asked now.
  await front.take('answer');
  await world.send([eventNow('5')]);
  expect(await ids(world)).toEqual([...before, '4', '5']);
});

test('an insert with a token is done once, whichever server gets it', async () => {
  const clients = [0, 1].map((server) => ({
    url: front.url(server),
    client: createClient({ url: front.url(server), database: 'acme' }),
  }));
  const servers = new ClickHouseServers(clients, 'eu');
  atEnd(() => servers.close());
  const session = new ClickHouseSession(servers);
  await session.define('CREATE TABLE numbers (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n');
  const [first, second] = session.once('7 numbers').onEach();
  for (const one of [first, second]) await one?.run('INSERT INTO numbers SELECT number FROM numbers(3)');
  for (const _ of [1, 2]) await session.run('INSERT INTO numbers SELECT 9');
  expect(await session.select('SELECT n FROM numbers ORDER BY n')).toEqual(
    [0, 1, 2, 9, 9].map((n) => ({ n })),
  );
});

test('what all replicas have to do waits for them, and says so when one is away', async () => {
  const first = await FrontProcess.start({ isFollowed: true });
  const second = await FrontProcess.start({ of: first });
  const client = createClient({ url: first.url() });
  atEnd(() => client.close());
  const session = new ClickHouseSession(new ClickHouseServers([{ client }], 'eu'));
  await session.define('CREATE TABLE numbers (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n');
  const other = createClient({ url: second.url() });
  atEnd(() => other.close());
  expect(await new ClickHouseSession(other).select('SELECT count(*) AS rows FROM numbers')).toEqual([
    { rows: 0 },
  ]);
  await second.lag('stopped');
  await expect(
    session.with({ distributed_ddl_task_timeout: '1' }).run('DROP TABLE numbers SYNC'),
  ).rejects.toThrow("can't do this now (TIMEOUT_EXCEEDED)");
});

test('a server that is far behind is not asked, even if nothing was written lately', async () => {
  const first = await FrontProcess.start({ isFollowed: true });
  const second = await FrontProcess.start({ of: first });
  const clients = [second, first].map((one) => ({
    url: one.url(),
    client: createClient({ url: one.url() }),
  }));
  const servers = new ClickHouseServers(clients, 'eu');
  atEnd(() => servers.close());
  const session = new ClickHouseSession(servers);
  const replicas = new Replicas(session, { written: async () => [] });
  const having = (newest: number) => {
    const counting = { newest: [newest], holes: [] };
    return replicas.having({ batch: counting, build: counting, exchanges: 0 });
  };
  expect((await having(1)).server?.url).toBe(second.url());
  await second.lag('stopped');
  const writer = new ClickHouseSession(createClient({ url: first.url() }));
  atEnd(() => writer.close());
  await writer.define('CREATE TABLE numbers (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n');
  // A few seconds are usual.
  expect((await having(2)).server?.url).toBe(second.url());
  const [waiting = ''] = readdirSync(join(first.folder, 'statements')).filter((name) =>
    name.endsWith('.json'),
  );
  const path = join(first.folder, 'statements', waiting);
  const statement = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...statement, at: statement.at - 3_600_000 }));
  expect((await having(3)).server?.url).toBe(first.url());
});
