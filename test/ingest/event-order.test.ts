import { afterEach, expect, test, vi } from 'vitest';
import { Session } from '../../src/store/duckdb-session.js';
import { StoreOutOfMemory } from '../../src/store/store-fault.js';
import { EVENT_ORDER } from '../../src/store/tables.js';
import { event, World } from '../world.js';

const EVENTS = [
  event('1', { user_id: 'grace' }),
  event('2', { type: 'session_start' }),
  event('3', { timestamp: '2026-06-09T10:00:00Z' }),
  event('4', { type: 'assistant_message', session_id: 's0' }),
  event('5', { timestamp: '2026-06-10T09:00:00Z' }),
];

async function stored({ store }: World): Promise<string[]> {
  const rows = await store.select('SELECT event_id FROM events ORDER BY rowid');
  return rows.map(({ event_id }) => String(event_id));
}

afterEach(() => void vi.restoreAllMocks());

test('events of a batch are stored by organization, day, type, user, session and time', async () => {
  const world = await World.create({}, undefined, undefined, 'DuckDB');
  await world.send(EVENTS);
  expect(await stored(world)).toEqual(['3', '4', '2', '5', '1']);
  const inOrder = await world.store.select(`SELECT event_id FROM events ORDER BY ${EVENT_ORDER.join(', ')}`);
  expect(inOrder.map(({ event_id }) => event_id)).toEqual(await stored(world));
});

test('a batch that can not be sorted in the memory there is goes in as it comes', async () => {
  const world = await World.create({}, undefined, undefined, 'DuckDB');
  const run = Session.prototype.run;
  const spy = vi.spyOn(Session.prototype, 'run').mockImplementation(function (this: Session, sql, ...more) {
    if (/INSERT INTO events[\s\S]*ORDER BY/.test(sql)) return Promise.reject(new StoreOutOfMemory());
    return run.call(this, sql, ...more);
  });
  await world.send(EVENTS);
  expect(await stored(world)).toEqual(['1', '2', '3', '4', '5']);
  spy.mockRestore();
  await world.send([event('6')]);
  expect((await stored(world)).at(-1)).toBe('6');
});
