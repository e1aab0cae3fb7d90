import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { DATABASE } from '../src/disk/data-files.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import { answersOf, RATE_CARD } from './laws/law.js';
import type { SentEvent } from './oracle/event.js';
import { organization } from './oracle/generate.js';
import { temporaryFolder, World } from './world.js';

const CHANGES = readSqlFolder('change').map(({ name, text }) => ({
  number: Number(name.slice(0, 4)),
  name,
  text,
}));
/** The first with all the tables that a batch is settled into, without which no database ever had events. */
const FIRST_WITH_EVENTS = 7;
/** The change since which the database has the channel of each event. */
const FIRST_WITH_CHANNELS = 24;
const PLAYED = CHANGES.slice(0, -1).filter(
  ({ number }) => process.env.SLOW_TESTS !== undefined || [2, 13].includes(number),
);

/** Events as the first version had them: without the members that have been added since. */
const ORGANIZATIONS: SentEvent[][] = fc
  .sample(organization, { seed: 7, numRuns: 8 })
  .map((events) => events.map((event) => ({ ...event, channel: null, request_id: null })));

/** A prompt of a session. The first version knew its channel, but didn't store it. */
function promptBy(channel: string, event_id: string): SentEvent {
  const timestamp = '2026-06-08T10:00:00Z';
  return { event_id, type: 'user_message', timestamp, user_id: 'ada', session_id: 'two-channels', channel };
}

ORGANIZATIONS[0]?.push(promptBy('hook', 'turn:hook:1'), promptBy('log', 'turn:1'));

function sendEvents(world: World): Promise<void> {
  return world.sendTogether(ORGANIZATIONS.map((events, index) => [`org-${index}`, events]));
}

async function answers(world: World): Promise<unknown[]> {
  await world.build();
  // Coverage shows that the first version stored no channels.
  return Promise.all(
    ORGANIZATIONS.map((_, index) =>
      answersOf(world, `org-${index}`, undefined, (family) => family !== 'coverage'),
    ),
  );
}

/** A database of today, and what it answers. */
const fresh = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD }, afterAll, undefined, 'DuckDB');
await sendEvents(fresh);
const expected = await answers(fresh);
await fresh.store.close();

/** Makes a data folder whose database has seen the changes up to one, with the rows that its tables have today. */
async function oldData(newest: number): Promise<string> {
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data);
  const instance = await DuckDBInstance.create(join(data, DATABASE));
  const old = await instance.connect();
  await old.run(
    'CREATE TABLE changes (number BIGINT NOT NULL, name VARCHAR NOT NULL, applied_at TIMESTAMP(3) NOT NULL)',
  );
  const seen = CHANGES.filter(({ number }) => number <= newest);
  for (const { number, name, text } of seen)
    await old.run(`${text}; INSERT INTO changes VALUES (${number}, '${name}', '2026-06-01')`);
  if (newest >= FIRST_WITH_EVENTS) {
    await old.run(`ATTACH '${join(fresh.config.data, DATABASE)}' AS fresh (READ_ONLY)`);
    for (const [, table] of seen.flatMap(({ text }) => [...text.matchAll(/CREATE TABLE (\w+)/g)])) {
      if (table === 'facts') continue;
      const columns = await old.runAndReadAll(
        `SELECT string_agg(column_name, ', ') FROM duckdb_columns() WHERE database_name <> 'fresh' AND table_name = '${table}'`,
      );
      await old.run(`INSERT INTO ${table} SELECT ${columns.getRows()[0]?.[0]} FROM fresh.${table}`);
      if (table === 'day_inputs') await old.run("UPDATE day_inputs SET definitions = 'of then'");
    }
  }
  old.closeSync();
  instance.closeSync();
  return data;
}

/** The newest change of a database file that nobody has open, and how many events it has. */
async function contentsOf(path: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const rows = await connection.runAndReadAll(
    'SELECT (SELECT max(number) FROM changes)::INTEGER, (SELECT count(*) FROM events)::INTEGER',
  );
  connection.closeSync();
  instance.closeSync();
  return rows.getRows()[0] as unknown[];
}

const copiesIn = (data: string) => readdirSync(join(data, 'backups')).sort();

describe('a database of an older Daybook', () => {
  for (const { number, name } of PLAYED) {
    test(`that has seen the changes up to ${name} answers as a new one, and is copied before`, async () => {
      const data = await oldData(number);
      const before = await contentsOf(join(data, DATABASE));
      const world = await World.create(
        { DAYBOOK_DATA: data, DAYBOOK_RATE_CARD: RATE_CARD },
        undefined,
        undefined,
        'DuckDB',
      );
      if (number < FIRST_WITH_EVENTS) await sendEvents(world);
      expect(await answers(world)).toEqual(expected);
      const copies = copiesIn(data);
      expect(copies).toEqual([`daybook-${String(number).padStart(4, '0')}-20260710T120000Z.duckdb`]);
      expect(before[0]).toBe(number);
      expect(await contentsOf(join(data, 'backups', String(copies[0])))).toEqual(before);
      if (number >= FIRST_WITH_EVENTS) {
        await world.send([promptBy('event', 'turn:2')], { orgId: 'org-0' });
        await world.build();
        const shadowed = "SELECT event_id FROM shadowed_events WHERE event_id LIKE 'turn:%'";
        // What was stored before channels may have come by the best one, unless its id is that of a hook.
        const known = number < FIRST_WITH_CHANNELS ? ['turn:hook:1'] : ['turn:1', 'turn:hook:1'];
        expect(await world.store.select(`${shadowed} ORDER BY event_id`)).toEqual(
          known.map((event_id) => ({ event_id })),
        );
      }
      await world.store.close();
      // It is one of today now.
      await World.create(
        { DAYBOOK_DATA: data, DAYBOOK_RATE_CARD: RATE_CARD },
        undefined,
        undefined,
        'DuckDB',
      );
      expect(copiesIn(data)).toEqual(copies);
    });
  }

  test('stays as it was when it can not be brought up to date, and of its copies the newest two are kept', async () => {
    const data = await oldData(9);
    const before = await contentsOf(join(data, DATABASE));
    const card = join(temporaryFolder(), 'card.json');
    writeFileSync(card, '{');
    for (const second of [1, 2, 3]) {
      const opening = DuckDbStore.open(data, {
        memoryMb: 256,
        rateCard: card,
        prices: readConfig({}).prices,
        now: Date.UTC(2026, 6, 1, 0, 0, second),
      });
      await expect(opening).rejects.toThrow('does not match docs/rate-card.md');
    }
    expect(copiesIn(data)).toEqual([
      'daybook-0009-20260701T000002Z.duckdb',
      'daybook-0009-20260701T000003Z.duckdb',
    ]);
    expect(await contentsOf(join(data, DATABASE))).toEqual(before);
  });

  test('keeps the copy before its upgrade also if the clock was set back', async () => {
    const data = await oldData(9);
    const { rateCard, prices } = readConfig({});
    mkdirSync(join(data, 'backups'));
    for (const second of [2, 3])
      writeFileSync(join(data, 'backups', `daybook-0009-20270101T00000${second}Z.duckdb`), '');
    const now = Date.UTC(2026, 6, 1);
    await (await DuckDbStore.open(data, { memoryMb: 256, rateCard, prices, now })).close();
    expect(copiesIn(data)).toEqual([
      'daybook-0009-20260701T000000Z.duckdb',
      'daybook-0009-20270101T000003Z.duckdb',
    ]);
  });
});
