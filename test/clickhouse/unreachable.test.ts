import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../src/service/server.js';
import { readConfig } from '../../src/settings/config.js';
import { ClickHouseSession } from '../../src/store/clickhouse/clickhouse-session.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { runHere } from '../program.js';
import { Service, waitingIn } from '../service.js';
import { ending, event, lines, NOW, temporaryFolder } from '../world.js';
import { ClickHouseServer, type Way } from './server.js';

const SENTENCE =
  /^The ClickHouse server can't be reached \([\w ]+\): start it, or correct DAYBOOK_STORE, and try again\.\n?$/;

/** Ways on which no whole answer comes back. */
const WAYS: Way[] = ['hung up', 'broken off', 502, 503, 504];

let server: ClickHouseServer;
let service: Service;
const atEnd = ending();
beforeAll(async () => {
  server = await ClickHouseServer.start(atEnd);
  service = await Service.start({ DAYBOOK_STORE: server.store }, atEnd);
});
afterEach(async () => {
  server.way = () => 'answered';
  await server.listen();
});

/** Lets a statement go another way than the others. */
const at = (statement: string, way: Way) => {
  server.way = (query) => (query.startsWith(`INSERT INTO ${statement}`) ? way : 'answered');
};

/** Sends or asks for something with the key of the service's owner. */
const ask = (path: string, type?: string, body?: string) =>
  fetch(service.url + path, {
    headers: {
      authorization: `Bearer ${service.key}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
const sendEvents = (...ids: string[]) =>
  ask('/api/v1/events', 'application/x-ndjson', lines(ids.map((id) => event(id))));
const sendTelemetry = () => ask('/otlp/v1/logs', 'application/json', '{"resourceLogs":[]}');
const askForUsers = () => ask('/api/v1/analytics/users?startDate=2026-06-10&endDate=2026-06-10');

const storedEvents = async () =>
  (await service.world.store.select('SELECT event_id FROM events ORDER BY event_id')).map(
    ({ event_id }) => event_id,
  );

describe('a ClickHouse server that nobody can reach', () => {
  test('is told to whoever reads rows or streams', async () => {
    const { store } = service.world;
    const reads = [
      () => store.select('SELECT 1 AS one'),
      () =>
        store.snapshot((_, readColumns) =>
          readColumns('SELECT * FROM ones', { ones: 'SELECT 1 AS one' }, {}),
        ),
    ];
    for (const read of reads) {
      for (const way of WAYS) {
        server.way = () => way;
        await expect(read(), String(way)).rejects.toThrow(StoreUnavailable);
        await expect(read(), String(way)).rejects.toThrow(SENTENCE);
      }
      await server.close();
      await expect(read()).rejects.toThrow(SENTENCE);
      await server.listen();
      server.way = () => 'answered';
      await read();
    }
  });

  test('is told apart from one that refuses a statement, or has too much to do', async () => {
    const { store } = service.world;
    const unanswered = createClient({
      url: server.url,
      request_timeout: 100,
      log: { level: ClickHouseLogLevel.OFF },
    });
    server.way = () => 'unanswered';
    await expect(new ClickHouseSession(unanswered).select('SELECT 1')).rejects.toThrow(SENTENCE);
    await unanswered.close();
    server.way = () => 'refused';
    await expect(store.select('SELECT 1')).rejects.toMatchObject({ type: 'ACCESS_DENIED' });
    server.way = () => 'busy';
    await expect(store.select('SELECT 1')).rejects.toThrow(
      "The ClickHouse server can't do this now (TOO_MANY_PARTS): look at its log, and try again later.",
    );
    server.way = () => 'answered';
    await expect(store.select('SELECT * FROM nothing')).rejects.toMatchObject({ type: 'UNKNOWN_TABLE' });
  });

  test('is a 503 with Retry-After for events, telemetry and queries', async () => {
    const asks = [() => sendEvents('early'), sendTelemetry, askForUsers];
    await server.close();
    for (const one of asks) {
      const refused = await one();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.text()).toContain("can't be reached (ECONNREFUSED)");
    }
    await server.listen();
    for (const one of asks) expect((await one()).status).toBe(200);
  });

  test.each([
    ['events_rows', 'hung up'],
    ['events_rows', 503],
    ['batches_rows', 'broken off'],
    ['events_rows', 'busy'],
  ] as const)('leaves a batch as it is, to be settled once: %s, %s', async (table, way) => {
    const { inbox, store, config } = service.world;
    await inbox.drain(store);
    const before = await storedEvents();
    const ids = ['one', 'other'].map((id) => `${table} ${way} ${id}`);
    for (const id of ids) await sendEvents(id);
    at(table, way);
    await expect(inbox.drain(store)).rejects.toThrow(StoreUnavailable);
    expect(waitingIn(config.data)).toHaveLength(ids.length);
    server.way = () => 'answered';
    await inbox.drain(store);
    expect(waitingIn(config.data)).toEqual([]);
    expect(inbox.setAside).toEqual([]);
    expect(await storedEvents()).toEqual([...before, ...ids].sort());
  });

  test('ends a build, and the next one builds the days', async () => {
    const { world } = service;
    await sendEvents('built');
    await world.inbox.drain(world.store);
    for (const [table, way] of [
      ['users_rows', 'hung up'],
      ['users_rows', 504],
      ['tools_rows', 'broken off'],
    ] as const) {
      at(table, way);
      await expect(world.build()).rejects.toThrow(StoreUnavailable);
    }
    server.way = () => 'answered';
    expect(await world.build()).toContain('2026-06-10');
    expect(await world.store.select("SELECT user_id FROM users WHERE day = '2026-06-10'")).toEqual([
      { user_id: 'ada' },
    ]);
  });

  test('ends a command with a sentence, whether it runs by itself or in the service', async () => {
    const folder = temporaryFolder();
    const env = {
      DAYBOOK_DATA: join(folder, 'data'),
      DAYBOOK_STORE: server.store,
      DAYBOOK_THREADS: '1',
      DAYBOOK_PORT: '0',
      DAYBOOK_LOG_LEVEL: 'silent',
      DAYBOOK_BUILD_AT: 'off',
    };
    const path = join(folder, 'events.ndjson');
    writeFileSync(path, lines([event('of a file')]));
    const ingest = () => {
      at('events_rows', 'hung up');
      return runHere(['ingest', '--org', 'acme', path], { env });
    };
    const refused = { code: 2, stdout: '', stderr: expect.stringMatching(SENTENCE) };
    expect(await ingest()).toEqual(refused);
    server.way = () => 'answered';
    const { stop } = await serve(readConfig(env), () => NOW);
    expect(await ingest()).toEqual(refused);
    server.way = () => 'answered';
    await stop();
  });
});

test('a build goes on where its user may not end statements, and fails where that fails otherwise', async () => {
  const { world } = service;
  await sendEvents('late');
  await world.inbox.drain(world.store);
  server.way = (query) => (query.startsWith('KILL QUERY') ? 'hung up' : 'answered');
  await expect(world.build()).rejects.toThrow(StoreUnavailable);
  server.way = (query) => (query.startsWith('KILL QUERY') ? 'refused' : 'answered');
  expect(await world.build()).toContain('2026-06-10');
});
