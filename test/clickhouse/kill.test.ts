import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { build } from '../../src/aggregate/build-days.js';
import { removeOldEvents } from '../../src/aggregate/retention.js';
import { ingest } from '../../src/ingest/ingest-files.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { type Config, readConfig } from '../../src/settings/config.js';
import { DAY_TABLES } from '../../src/store/catalog.js';
import { ClickHouseStore } from '../../src/store/clickhouse-store.js';
import { erasureOf } from '../../src/store/state/erasure-statements.js';
import type { Row, Store } from '../../src/store/store.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { until } from '../service.js';
import { type AtEnd, ending, NOW, temporaryFolder } from '../world.js';
import { clientBeside, databaseOf } from './engine.js';
import { event, FIRST, SECOND } from './long-session.js';

/** The statement at which the process ends: not sent any more, or done by the server while nobody hears of it. */
interface End {
  readonly at: RegExp;
  readonly isDone: boolean;
}

/** No fault of a file's: nothing is done after it. */
class Killed extends StoreUnavailable {}

/** A client whose process ends at a statement: from then on nothing gets through. `ended` hears with which settings that was sent. */
function endingAt(
  client: ClickHouseClient,
  end: () => End | undefined,
  ended: (settings: ClickHouseSettings | undefined) => void,
): ClickHouseClient {
  let isOver = false;
  const methods = ['command', 'exec', 'query'];
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (!methods.includes(String(name))) return member.bind(target);
      return async (parameters: { query: string; clickhouse_settings?: ClickHouseSettings }) => {
        const here = end();
        const isHere = here?.at.test(parameters.query) === true;
        if (isHere) ended(parameters.clickhouse_settings);
        if (isOver || (isHere && here?.isDone === false)) {
          isOver = true;
          throw new Killed();
        }
        const answer: unknown = await member.call(target, parameters);
        if (isHere) {
          isOver = true;
          throw new Killed();
        }
        return answer;
      };
    },
  });
}

/** A database that outlives the stores that open it one after the other. */
class Database {
  private readonly folder: string;
  private readonly config: Config;
  private readonly connect: () => Promise<ClickHouseClient>;
  private end: End | undefined;
  /** Of the statement at which the last process ended. */
  settings: ClickHouseSettings | undefined;

  constructor(atEnd: AtEnd = onTestFinished) {
    this.folder = temporaryFolder(atEnd);
    this.config = readConfig({ DAYBOOK_DATA: join(this.folder, 'data'), DAYBOOK_THREADS: '1' });
    this.connect = databaseOf(this.config.data, atEnd);
  }

  open(): Promise<ClickHouseStore> {
    const settings = { ...this.config, now: NOW };
    return ClickHouseStore.with(this.config.data, settings, async () =>
      endingAt(
        await this.connect(),
        () => this.end,
        (settings) => {
          this.settings = settings;
        },
      ),
    );
  }

  async send(store: Store, events: readonly object[]): Promise<void> {
    const path = join(this.folder, 'events.ndjson');
    writeFileSync(path, events.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await ingest(
      store,
      { orgId: 'acme', source: CANONICAL, files: [{ path, size: 1, state: String(events.length) }] },
      () => NOW,
    );
  }

  /** Lets the process end at a statement of the work; the next one opens the database. */
  async kill(store: Store, end: End, work: () => Promise<unknown>): Promise<ClickHouseStore> {
    this.end = end;
    await expect(work()).rejects.toThrow(Killed);
    this.end = undefined;
    await store.close();
    return this.open();
  }

  /** Lets the process end at a statement while it opens the database. */
  async killOpening(end: End): Promise<void> {
    this.end = end;
    await expect(this.open()).rejects.toThrow(Killed);
    this.end = undefined;
  }
}

const SETTLED = ['events', 'rejects', 'mended_lines', 'arrivals', 'user_emails', 'batches', 'ingested_files'];
const BUILT = ['days', 'user_sessions', ...DAY_TABLES];

/** What readers see, without the files' names, and the numbers of batches: of those a killed one leaves a gap. */
async function seen(store: Store, tables: readonly string[]): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {};
  for (const table of tables)
    rows[table] = (await store.select(`SELECT * FROM ${table} ORDER BY ALL`)).map(
      ({ batch, source, path, ...row }) => row,
    );
  return rows;
}

const built = (store: Store) => build(store, {}, () => NOW);

/** What readers see before and after the second batch, and before and after the days are built again, when nothing is killed. */
let settled: { before: Record<string, Row[]>; after: Record<string, Row[]> };
let days: typeof settled;

const atEnd = ending();
beforeAll(async () => {
  const sent = new Database(atEnd);
  let store = await sent.open();
  await sent.send(store, FIRST);
  const before = await seen(store, SETTLED);
  await sent.send(store, SECOND);
  settled = { before, after: await seen(store, SETTLED) };
  await store.close();
  const counted = new Database(atEnd);
  store = await counted.open();
  await counted.send(store, FIRST);
  await built(store);
  await counted.send(store, SECOND);
  const old = await seen(store, BUILT);
  await built(store);
  days = { before: old, after: await seen(store, BUILT) };
  await store.close();
});

/** The same database is killed at one statement after the other: what the earlier ones left is in the later ones' way. */
const SETTLE_ENDS: [statement: string, isDone: boolean][] = [
  ['INSERT INTO attempts', true],
  ['INSERT INTO events_rows', true],
  ['INSERT INTO removals', true],
  ['INSERT INTO batches_rows', false],
];

/** The statement that makes a build count. */
const COMMIT = 'INSERT INTO days_rows';

const BUILD_ENDS: [statement: string, isDone: boolean][] = [
  ['INSERT INTO building_rows', true],
  ['INSERT INTO user_sessions_rows', true],
  ['INSERT INTO users_rows', true],
  [COMMIT, false],
];

/** A database whose first events are built. */
async function withBuiltDays(): Promise<[Database, ClickHouseStore]> {
  const database = new Database();
  const store = await database.open();
  await database.send(store, FIRST);
  await built(store);
  return [database, store];
}

const endOf = (statement: string, isDone: boolean): End => ({ at: new RegExp(`^${statement}\\s`), isDone });

describe('a settle that is killed', () => {
  test('before its last statement is done leaves nothing, and can be run again', async () => {
    const { before, after } = settled;
    const database = new Database();
    let store = await database.open();
    await database.send(store, FIRST);
    for (const [statement, isDone] of SETTLE_ENDS) {
      store = await database.kill(store, endOf(statement, isDone), () => database.send(store, SECOND));
      expect(await seen(store, SETTLED), statement).toEqual(before);
    }
    await database.send(store, SECOND);
    expect(await seen(store, SETTLED)).toEqual(after);
    await store.close();
  });

  test('when its last statement is done leaves all of it, and changes no event when it is run again', async () => {
    const { after } = settled;
    const database = new Database();
    let store = await database.open();
    await database.send(store, FIRST);
    store = await database.kill(store, endOf('INSERT INTO batches_rows', true), () =>
      database.send(store, SECOND),
    );
    expect(await seen(store, SETTLED)).toEqual(after);
    await database.send(store, SECOND);
    const { events, user_emails } = await seen(store, SETTLED);
    expect({ events, user_emails }).toEqual({ events: after.events, user_emails: after.user_emails });
    await store.close();
  });
});

describe('a build that is killed', () => {
  test('before its last statement is done leaves the old days, and can be run again', async () => {
    const { before, after } = days;
    let [database, store] = await withBuiltDays();
    await database.send(store, SECOND);
    for (const [statement, isDone] of BUILD_ENDS) {
      store = await database.kill(store, endOf(statement, isDone), () => built(store));
      expect(await seen(store, BUILT), statement).toEqual(before);
    }
    await built(store);
    expect(await seen(store, BUILT)).toEqual(after);
    expect(await store.select('SELECT * FROM touches')).toEqual([]);
    await store.close();
  });

  test('when its last statement is done leaves the new days', async () => {
    let [database, store] = await withBuiltDays();
    await database.send(store, SECOND);
    store = await database.kill(store, endOf(COMMIT, true), () => built(store));
    expect(await seen(store, BUILT)).toEqual(days.after);
    await built(store);
    expect(await seen(store, BUILT)).toEqual(days.after);
    expect(await store.select('SELECT * FROM touches')).toEqual([]);
    await store.close();
  });
});

/** Runs an insert that takes a tenth of a second for each row, beside other statements of a database. */
async function insertSlowly(database: string, into: string, rows: number, settings: ClickHouseSettings) {
  const client = await clientBeside(database);
  try {
    await client.command({
      query: `INSERT INTO ${into} FROM numbers(${rows}) WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1`,
      clickhouse_settings: settings,
    });
    return 'done';
  } catch (error) {
    return Object(error).type;
  } finally {
    // TRICKY: the engine in this process lists a statement as running until the next one on its connection.
    await client.command({ query: 'SELECT 1' });
  }
}

test('a statement of a killed build that the server goes on with is ended by the next build, and no other', async () => {
  let [database, store] = await withBuiltDays();
  await database.send(store, SECOND);
  store = await database.kill(store, endOf('INSERT INTO due_rows', false), () => built(store));
  const [{ name } = { name: '' }] = await store.select('SELECT currentDatabase() AS name');
  const due = "due_rows SELECT 'acme', toDate('2026-01-01'), 1";
  const nothing = "FUNCTION null('x UInt8') SELECT 1";
  const { settings = {} } = database;
  const slow = "query_kind = 'Insert' AND query LIKE '%sleepEachRow%'";
  const running = async () => {
    const [found] = await store.select(
      `SELECT count(*) AS inserts FROM system.processes WHERE ${slow} AND NOT is_cancelled`,
    );
    return found?.inserts;
  };
  const left = insertSlowly(String(name), due, 3000, settings);
  const others = [
    insertSlowly(String(name), nothing, 3000, {}),
    insertSlowly('other', nothing, 3000, settings),
  ];
  await until(async () => (await running()) === 3);
  await built(store);
  expect(await left).toBe('QUERY_WAS_CANCELLED');
  expect(await running()).toBe(others.length);
  expect(await seen(store, BUILT)).toEqual(days.after);
  await store.run([{ sql: `KILL QUERY WHERE ${slow} SYNC` }]);
  await Promise.all(others);
  await store.close();
});

/** Day tables, which an upgrade makes anew with their rows. */
const RENEWED = ['session_models', 'session_parts'];

const UPGRADE_ENDS: End[] = RENEWED.flatMap((table) =>
  ['CREATE TABLE', 'INSERT INTO', 'EXCHANGE TABLES'].map((verb) => ({
    at: new RegExp(`${verb} ${table}_rows_new\\s`),
    isDone: true,
  })),
);

test('an upgrade that is killed, wherever that is, is finished by the next start', async () => {
  let [database, store] = await withBuiltDays();
  const upgrade = async (ends: readonly End[]) => {
    await store.run([{ sql: "DELETE FROM facts WHERE name = 'schema' OR name LIKE 'table %'" }]);
    await store.close();
    for (const end of ends) await database.killOpening(end);
    store = await database.open();
    return seen(store, RENEWED);
  };
  const whole = await upgrade([]);
  for (const table of RENEWED) expect(whole[table], table).not.toEqual([]);
  expect(await upgrade(UPGRADE_ENDS)).toEqual(whole);
  await store.close();
});

test('with every thousandth batch the rows go that no view shows any more', async () => {
  const database = new Database();
  let store = await database.open();
  await database.send(store, FIRST);
  store = await database.kill(store, { at: /^INSERT INTO arrivals_rows /, isDone: true }, () =>
    database.send(store, SECOND),
  );
  await database.send(store, SECOND);
  await built(store);
  await built(store);
  await store.run([{ sql: "INSERT INTO attempts VALUES ('batch', 999)" }]);
  const kept = await seen(store, ['events', 'user_emails', ...BUILT]);
  const rows = async (table: string) =>
    (await store.select(`SELECT count(*) AS rows FROM ${table}`))[0]?.rows;
  // What the killed batch wrote, and the copy that gave way to a longer reply.
  expect(await rows('events_rows')).toBe(2 + 3 + 3);
  await database.send(store, []);
  expect(await seen(store, ['events', 'user_emails', ...BUILT])).toEqual(kept);
  expect(await rows('events_rows')).toBe(kept.events?.length);
  expect(await rows('removals')).toBe(0);
  expect(await rows('user_emails_rows')).toBe(kept.user_emails?.length);
  expect(await rows('days_rows')).toBe(kept.days?.length);
  await store.close();
});

/** Statements of an erasure, and whether one that ends there counts. */
const ERASURE_ENDS: [title: string, counts: boolean, ends: End[]][] = [
  [
    'before all copies are whole changes nothing',
    false,
    [
      { at: /^CREATE TABLE erased_ids /, isDone: true },
      { at: /^INSERT INTO users_rows_renewed /, isDone: false },
      { at: /^INSERT INTO digests_rows_renewed /, isDone: true },
      { at: /^CREATE TABLE renewal /, isDone: false },
    ],
  ],
  [
    'when all copies are whole changes every table',
    true,
    [
      { at: /^CREATE TABLE renewal /, isDone: true },
      { at: /^EXCHANGE TABLES events_rows_renewed /, isDone: false },
      { at: /^EXCHANGE TABLES users_rows_renewed /, isDone: true },
      { at: /^DROP TABLE IF EXISTS users_rows_renewed /, isDone: true },
      { at: /^DROP TABLE IF EXISTS renewal /, isDone: false },
    ],
  ],
];

test.each(ERASURE_ENDS)('an erasure that is killed %s', async (_, counts, ends) => {
  const database = new Database();
  let store = await database.open();
  const everybody = ends.map((_end, place) => `user-${place}`);
  await database.send(
    store,
    everybody.map((user_id) =>
      event(user_id, '2026-07-06', { user_id, session_id: user_id, user_email: `${user_id}@acme.example` }),
    ),
  );
  await built(store);
  const seenUsers = async () => {
    const users: Record<string, unknown[]> = {};
    for (const table of ['events', 'users', 'user_sessions', 'session_parts', 'coverage'])
      users[table] = (await store.select(`SELECT user_id FROM ${table} WHERE day = '2026-07-06'`))
        .map(({ user_id }) => user_id)
        .sort();
    return users;
  };
  for (const [place, end] of ends.entries()) {
    const at = String(end.at);
    const [name, pseudonym] = [`user-${place}`, `erased-${place}`];
    const person = { orgId: 'acme', names: [{ name, pseudonym }], words: [name] };
    const erase = async () => store.rewrite(await erasureOf(store, person, 'root', NOW));
    const expected = (isErased: boolean) =>
      everybody
        .map((_, other) => `${other < place || (other === place && isErased) ? 'erased' : 'user'}-${other}`)
        .sort();
    store = await database.kill(store, end, erase);
    for (const [table, users] of Object.entries(await seenUsers()))
      expect([at, table, users]).toEqual([at, table, expected(counts)]);
    const left = await store.select(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND (name LIKE '%renew%' OR name LIKE 'erased_i%')",
    );
    expect([at, left]).toEqual([at, []]);
    await database.send(
      store,
      everybody.slice(0, place + 1).map((id) => event(`after-${id}`, '2026-07-09', { user_id: 'grace' })),
    );
    if (!counts) await erase();
    for (const [table, users] of Object.entries(await seenUsers()))
      expect([at, table, users]).toEqual([at, table, expected(true)]);
  }
  const digests = () => store.select("SELECT * FROM digests WHERE day = '2026-07-06' ORDER BY ALL");
  const kept = await digests();
  await build(store, { all: true }, () => NOW);
  expect(await digests()).toEqual(kept);
  const [later] = await store.select("SELECT count(*) AS events FROM events WHERE day = '2026-07-09'");
  expect(later?.events).toBe(ends.length);
  await store.close();
});

const REMOVAL_ENDS: End[] = [
  { at: /INSERT INTO removed_days/, isDone: false },
  { at: /INSERT INTO removed_days/, isDone: true },
  { at: /ALTER TABLE events_rows DELETE/, isDone: false },
  { at: /ALTER TABLE events_rows DELETE/, isDone: true },
];

test('a removal of events that is killed, wherever that is, is finished by the next', async () => {
  let [database, store] = await withBuiltDays();
  const before = await seen(store, BUILT);
  const later = NOW + 20 * 86_400_000;
  const remove = () => removeOldEvents(store, 14, later);
  await build(store, {}, () => later);
  // A clock that has just gone that far ahead would remove nothing.
  await store.run([
    {
      sql: "INSERT INTO runs SELECT 'run', 'nightly', instant($at), instant($at), CAST(0 AS BIGINT), CAST(0 AS BIGINT), NULL",
      parameters: { at: later - 86_400_000 },
    },
  ]);
  for (const end of REMOVAL_ENDS) store = await database.kill(store, end, remove);
  await remove();
  expect(await store.select('SELECT * FROM events')).toEqual([]);
  expect(await store.select('SELECT count(*) AS rows FROM events_rows')).toEqual([{ rows: 0 }]);
  const after = await seen(store, BUILT);
  for (const table of BUILT) expect(after[table]).toEqual(expect.arrayContaining(before[table] as Row[]));
  expect(await store.select('SELECT day FROM removed_days ORDER BY day')).toContainEqual({
    day: '2026-07-08',
  });
  await store.close();
});
