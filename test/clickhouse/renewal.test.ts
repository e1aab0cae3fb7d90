import { describe, expect, test } from 'vitest';
import type { Rewriting } from '../../src/store/store.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { event, NOW, World } from '../world.js';
import { ClickHouseServer } from './server.js';

const TABLES = ['events', 'users', 'user_sessions'];

/** Gives ada another user id. */
const REWRITING: Rewriting = {
  orgId: 'acme',
  turn: 'people acme',
  found: { erased_days: "SELECT DISTINCT day FROM users WHERE user_id = 'ada'" },
  changes: TABLES.map((table) => ({
    table,
    where: "user_id = 'ada'",
    set: { user_id: "'erased'" },
  })),
  added: {},
  days: 'erased_days',
  reason: 'erasure',
  at: NOW,
};

/** A world in which ada worked on a day that is built. */
async function withServer(): Promise<{ server: ClickHouseServer; world: World }> {
  const server = await ClickHouseServer.start();
  const world = await World.create({ DAYBOOK_STORE: server.store });
  await world.send([event('1')]);
  await world.build();
  return { server, world };
}

const entry = (entryNo: number) =>
  `INSERT INTO access_log SELECT 'acme', ${entryNo}, instant(${NOW}), 'f', 'grace', '::1', '/', 'user', 'linus', NULL, NULL, 200`;

describe('tables that are written anew', () => {
  test('are all exchanged before anybody reads or writes again, if that breaks off', async () => {
    const { server, world } = await withServer();
    const { store } = world;
    server.way = (query) =>
      query.startsWith('EXCHANGE TABLES events_rows_renewed') ? 'hung up' : 'answered';
    await expect(store.rewrite(REWRITING)).rejects.toThrow(StoreUnavailable);
    await expect(store.select('SELECT 1 AS one')).rejects.toThrow(StoreUnavailable);
    await expect(world.send([event('2')])).rejects.toThrow(StoreUnavailable);
    server.way = () => 'answered';
    for (const table of TABLES)
      expect([table, await store.select(`SELECT user_id FROM ${table}`)]).toEqual([
        table,
        [{ user_id: 'erased' }],
      ]);
  });

  test('stay as they are if a copy breaks off, and have the rows that come then', async () => {
    const { server, world } = await withServer();
    const { store } = world;
    server.way = (query) => (query.startsWith('INSERT INTO users_rows_renewed') ? 'hung up' : 'answered');
    await expect(store.rewrite(REWRITING)).rejects.toThrow(StoreUnavailable);
    server.way = () => 'answered';
    await world.send([event('2')]);
    for (const table of TABLES)
      expect([table, await store.select(`SELECT DISTINCT user_id FROM ${table}`)]).toEqual([
        table,
        [{ user_id: 'ada' }],
      ]);
    await store.rewrite(REWRITING);
    expect(await store.select('SELECT event_id, user_id FROM events ORDER BY event_id')).toEqual([
      { event_id: '1', user_id: 'erased' },
      { event_id: '2', user_id: 'erased' },
    ]);
  });

  test('have rows that are appended meanwhile', async () => {
    const { server, world } = await withServer();
    const { store } = world;
    await store.append(entry(1));
    let appended: Promise<void> | undefined;
    server.way = (query) => {
      if (query.startsWith('INSERT INTO users_rows_renewed')) appended ??= store.append(entry(2));
      return 'answered';
    };
    await store.rewrite(REWRITING);
    await appended;
    expect(await store.select('SELECT entry_no FROM access_log ORDER BY entry_no')).toEqual([
      { entry_no: 1 },
      { entry_no: 2 },
    ]);
  });
});
