import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type BuildRange, build } from '../src/aggregate/build-days.js';
import { runBuild } from '../src/aggregate/build-run.js';
import type { Family } from '../src/api/answer-names.js';
import { report } from '../src/api/answer-rows.js';
import { addDays, type Day, lastClosedDay } from '../src/day.js';
import { DAY_TABLES } from '../src/store/catalog.js';
import { staleDays } from '../src/store/stale-days.js';
import type { Row, Store } from '../src/store/store.js';
import { ending, organizations, temporaryFolder, World } from './world.js';

const DAY = 86_400_000;

let number = 0;
function event(type: string, at: string, user_id: string, session_id: string, more: object = {}) {
  number += 1;
  const timestamp = at.includes('T') ? at : `${at}T09:00:00Z`;
  return { event_id: `e${number}`, timestamp, user_id, session_id, type, ...more };
}

function turn(at: string, user: string, session: string) {
  return event('user_message', at, user, session);
}

/** The days from one to another, both included. */
function days(from: string, to: string): string[] {
  const all: string[] = [];
  for (let day = from as Day; day <= to; day = addDays(day, 1)) all.push(day);
  return all;
}

/** A store at noon of a day. */
async function worldOn(day: string, environment: Record<string, string> = {}): Promise<World> {
  const world = await World.create(environment);
  world.now = Date.parse(`${day}T12:00:00.000Z`);
  return world;
}

/** At noon of 10 June, and with a build behind it: what most tests begin with, each with an organization of its own. */
let shared: World;
const organizationWith = organizations((world) => {
  shared = world;
}, Date.parse('2026-06-10T12:00:00.000Z'));

/** An organization that has sent events, all of whose closed days are built before the first test. */
class Organization {
  readonly orgId: string;

  constructor(...events: object[]) {
    this.orgId = organizationWith(...events);
  }

  async send(events: readonly (object | string)[]): Promise<void> {
    await shared.send(events, this);
  }

  /** Its days that a build builds. */
  async build(range: BuildRange = {}): Promise<string[]> {
    const built = await build(shared.store, range, shared.clock);
    return built.days.filter(({ orgId }) => orgId === this.orgId).map(({ day }) => day);
  }

  async stale(): Promise<{ day: string; cause: string }[]> {
    const stale = await isStale(shared);
    return stale.filter(({ orgId }) => orgId === this.orgId).map(({ day, cause }) => ({ day, cause }));
  }

  rows(family: Family, from: string, to = from) {
    return rowsOf(shared, family, from, to, this.orgId);
  }
}

function isStale(world: World): Promise<{ orgId: string; day: string; cause: string }[]> {
  return staleDays(world.store, lastClosedDay(world.now));
}

async function buildRange(
  world: World,
  range: { from?: string; to?: string; all?: boolean },
): Promise<string[]> {
  return (await build(world.store, range as BuildRange, world.clock)).days.map(({ day }) => day);
}

async function rowsOf(world: World, family: Family, from: string, to = from, orgId = 'acme') {
  return (await report(world.store, family, { orgId, from: from as Day, to: to as Day })).data;
}

/** All that builds write, in an order of its own. */
async function tablesOf(world: World): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {};
  for (const table of ['user_sessions', ...DAY_TABLES])
    tables[table] = await world.store.select(`SELECT * FROM ${table} ORDER BY ALL`);
  return tables;
}

describe('the days that are built', () => {
  test('a first build builds every closed day from the first event on, oldest first, those without events too', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-08', 'grace', 's2'), turn('2026-06-05', 'ada', 's1')]);
    expect(await world.build()).toEqual(days('2026-06-05', '2026-06-09'));
    expect(await rowsOf(world, 'activity', '2026-06-01', '2026-06-30')).toMatchObject(
      days('2026-06-05', '2026-06-09').map((date) => ({ date })),
    );
  });

  test('six years without events are built together, and their rows are zeros', async () => {
    const world = await worldOn('2026-01-10');
    await world.send([turn('2020-01-02', 'ada', 's1'), turn('2026-01-09', 'ada', 's2')]);
    const builds = vi.spyOn(world.store, 'build');
    const built = await world.build();
    expect(built).toEqual(days('2020-01-02', '2026-01-09'));
    expect(builds).toHaveBeenCalledTimes(1);
    expect(
      await world.store.select(
        `SELECT
          count(*) AS days,
          sum(daily_active_users) AS daily,
          sum(weekly_active_users) AS weekly,
          sum(monthly_active_users) AS monthly,
          sum(messages) AS messages
        FROM activity`,
      ),
    ).toEqual([{ days: built.length, daily: 2, weekly: 8, monthly: 31, messages: 2 }]);
  });

  test('without events there is nothing to build', async () => {
    const world = await worldOn('2026-06-10');
    expect(await world.build()).toEqual([]);
    await world.send([]);
    expect(await world.build()).toEqual([]);
  });

  const acme = new Organization(turn('2026-06-08', 'ada', 's1'));
  test('a second build builds nothing', async () => {
    expect(await acme.build()).toEqual([]);
  });

  test('a day is open until its last millisecond is over in UTC', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-09', 'ada', 's1'), turn('2026-06-10', 'ada', 's1')]);
    world.now = Date.parse('2026-06-10T23:59:59.999Z');
    expect(await world.build()).toEqual(['2026-06-09']);
    expect(await rowsOf(world, 'users', '2026-06-01', '2026-06-30')).toHaveLength(1);
    world.now += 1;
    expect(await world.build()).toEqual(['2026-06-10']);
    expect(await rowsOf(world, 'users', '2026-06-01', '2026-06-30')).toHaveLength(2);
  });

  test('each closed day is built once, when it is over', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-08', 'ada', 's1')]);
    await world.build();
    world.now += 2 * DAY;
    expect(await world.build()).toEqual(['2026-06-10', '2026-06-11']);
  });

  test('a build builds the organizations in turn, and of each only its own stale days', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-08', 'ada', 's1')], { orgId: 'acme' });
    await world.send([turn('2026-06-07', 'ada', 's1')], { orgId: 'globex' });
    expect(await world.build()).toEqual([
      '2026-06-07',
      '2026-06-08',
      '2026-06-08',
      '2026-06-09',
      '2026-06-09',
    ]);
    await world.send([turn('2026-06-08', 'grace', 's2')], { orgId: 'acme' });
    expect(await isStale(world)).toMatchObject([
      { orgId: 'acme', day: '2026-06-08' },
      { orgId: 'acme', day: '2026-06-09' },
    ]);
  });
});

describe('the days that are stale', () => {
  const window = new Organization(turn('2026-05-01', 'ada', 's1'));
  test('a late event makes its day and the 29 days after it stale, and no other', async () => {
    await window.send([turn('2026-05-05', 'grace', 's2')]);
    expect(await window.stale()).toEqual([
      { day: '2026-05-05', cause: 'events' },
      ...days('2026-05-06', '2026-06-03').map((day) => ({ day, cause: 'window' })),
    ]);
    expect(await window.build()).toEqual(days('2026-05-05', '2026-06-03'));
    expect(await window.build()).toEqual([]);
  });

  const windows = new Organization(turn('2026-04-01', 'ada', 's1'));
  test('two late events make the days after either stale', async () => {
    await windows.send([turn('2026-05-08', 'grace', 's2'), turn('2026-04-02', 'grace', 's3')]);
    expect(await windows.build()).toEqual([
      ...days('2026-04-02', '2026-05-01'),
      ...days('2026-05-08', '2026-06-06'),
    ]);
  });

  const newest = new Organization(turn('2026-06-01', 'ada', 's1'));
  test('a late event on the newest closed day makes that day alone stale', async () => {
    await newest.send([turn('2026-06-09', 'grace', 's2')]);
    expect(await newest.build()).toEqual(['2026-06-09']);
  });

  const early = new Organization(turn('2026-06-09', 'ada', 's1'));
  test('an event before the first day makes new days before it', async () => {
    await early.send([turn('2026-06-07', 'grace', 's2')]);
    expect(await early.stale()).toMatchObject([
      { day: '2026-06-07', cause: 'new' },
      { day: '2026-06-08', cause: 'new' },
      { day: '2026-06-09', cause: 'window' },
    ]);
  });

  const started = turn('2026-06-08', 'ada', 's1');
  const counted = event('model_usage', '2026-06-08', 'ada', 's1', {
    model: 'swift',
    input_tokens: 1,
    output_tokens: 9,
  });
  const idle = new Organization(started, counted);
  test('what changes nothing makes no day stale: duplicates, rejected lines, events of the open day', async () => {
    await idle.send([started, { ...counted, output_tokens: 3 }, 'no json', turn('2026-06-10', 'ada', 's2')]);
    expect(await idle.stale()).toEqual([]);
  });

  const usage = event('model_usage', '2026-06-09', 'ada', 's1', {
    model: 'swift',
    input_tokens: 1,
    output_tokens: 3,
  });
  const grown = new Organization(usage);
  test('a copy that replaces the one that stood makes its day stale', async () => {
    await grown.send([{ ...usage, output_tokens: 9 }]);
    expect(await grown.build()).toEqual(['2026-06-09']);
    expect(await grown.rows('tokens', '2026-06-09')).toMatchObject([{ output_tokens: 9 }]);
  });

  const moved = new Organization(turn('2026-03-01', 'grace', 's1'), turn('2026-06-08', 'ada', 's2'));
  test('a start that moves makes the old day stale, and the days between only when a window reaches them', async () => {
    await moved.send([turn('2026-03-02', 'ada', 's2')]);
    expect(await moved.build()).toEqual([...days('2026-03-02', '2026-03-31'), '2026-06-08']);
    expect(await moved.rows('activity', '2026-06-08')).toMatchObject([{ sessions: 0 }]);
    expect(await moved.build()).toEqual([]);
  });

  const first = turn('2026-03-02', 'ada', 'tea');
  const resumed = new Organization(
    turn('2026-03-01', 'grace', 's1'),
    first,
    turn('2026-06-08', 'ada', 'tea'),
  );
  test('a start that moves later, since a copy of its first event took that to another session, makes the new day stale', async () => {
    expect(await resumed.rows('activity', '2026-06-08')).toMatchObject([{ sessions: 0 }]);
    await resumed.send([{ ...first, session_id: 'coffee' }]);
    await resumed.build();
    expect(await resumed.rows('activity', '2026-06-08')).toMatchObject([{ sessions: 1 }]);
  });
});

describe('a range', () => {
  const again = new Organization(turn('2026-06-05', 'ada', 's1'));
  test('builds its days again, stale or not', async () => {
    const range = (from?: string, to?: string) => again.build({ from: from as Day, to: to as Day });
    expect(await range('2026-06-06', '2026-06-07')).toEqual(['2026-06-06', '2026-06-07']);
    expect(await range('2026-06-08')).toEqual(['2026-06-08', '2026-06-09']);
    expect(await range(undefined, '2026-06-06')).toEqual(['2026-06-05', '2026-06-06']);
    expect(await again.build({ all: true })).toEqual(days('2026-06-05', '2026-06-09'));
    expect(await range('2026-01-01', '2026-01-31')).toEqual([]);
  });

  test('leaves the days after it for the nightly build', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-05', 'ada', 's1')]);
    expect(await buildRange(world, { to: '2026-06-06' })).toEqual(['2026-06-05', '2026-06-06']);
    expect(await rowsOf(world, 'activity', '2026-06-01', '2026-06-30')).toHaveLength(2);
    expect(await world.build()).toEqual(days('2026-06-07', '2026-06-09'));
  });

  const late = new Organization(turn('2026-06-01', 'ada', 's1'));
  test('takes the stale days with it that it looks back on', async () => {
    await late.send([turn('2026-06-04', 'grace', 's2')]);
    await late.build({ from: '2026-06-09' as Day, to: '2026-06-09' as Day });
    expect(await late.rows('activity', '2026-06-09')).toMatchObject([
      { weekly_active_users: 1, monthly_active_users: 2 },
    ]);
  });

  test('cannot reach into the open day, nor end before it begins', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-05', 'ada', 's1')]);
    await expect(buildRange(world, { to: '2026-06-10' })).rejects.toThrow(
      '--to must be 2026-06-09 or earlier',
    );
    await expect(buildRange(world, { from: '2026-06-10' })).rejects.toThrow('--from must not be after');
    await expect(buildRange(world, { from: '2026-06-08', to: '2026-06-07' })).rejects.toThrow(
      '--from must not be after --to',
    );
    expect(await rowsOf(world, 'activity', '2026-06-01', '2026-06-30')).toEqual([]);
  });
});

describe('the rows are a function of the events alone', () => {
  const FIRST = '2026-04-20' as Day;
  const NUMBER_OF_DAYS = 50;
  const MEMBERS: [string, object][] = [
    ['user_message', {}],
    ['tool_call', { tool_name: 'Read' }],
    ['model_usage', { model: 'swift', input_tokens: 10, output_tokens: 3, cache_read_tokens: 5 }],
    ['assistant_message', {}],
    ['tool_call', { tool_name: 'search', mcp_server: 'GitHub', autonomy_mode: 'auto-high' }],
    ['file_change', { path: 'src/app.ts', operation: 'edit' }],
    ['session_start', { client: 'web' }],
    ['git_commit', { commit_sha: '5c07c91' }],
    ['skill_use', { skill_name: 'review' }],
    ['hook_run', { hook_event: 'Stop', command: 'lint' }],
    ['tool_call', { tool_name: '<invoke>' }],
  ];
  /** Eleven kinds of events of three users in thirteen sessions on fifty days; each step is coprime to what it walks through. */
  const events = Array.from({ length: 160 }, (_, index) => {
    const [type, members] = MEMBERS[index % MEMBERS.length] ?? ['user_message', {}];
    const user = ['ada', 'grace', 'linus'][index % 3];
    return {
      event_id: `event ${index % 150}`,
      timestamp: `${addDays(FIRST, (index * 37) % NUMBER_OF_DAYS)}T${String(index % 24).padStart(2, '0')}:00:00Z`,
      user_id: user,
      session_id: `session ${(index * 5) % 13}`,
      type,
      ...members,
    };
  });
  /** They arrive in three parts, each spread over all days. */
  const parts = [0, 1, 2].map((part) => events.filter((_, index) => ((index * 11) % 7) % 3 === part));
  const pieces = [
    { from: addDays(FIRST, 35), to: addDays(FIRST, 49) },
    { from: FIRST, to: addDays(FIRST, 14) },
    { from: addDays(FIRST, 15), to: addDays(FIRST, 34) },
  ];

  let fromScratch: () => Promise<World>;
  const atEnd = ending();
  beforeAll(async () => {
    fromScratch = await World.template(async (atEnd) => {
      const world = await World.create({}, atEnd);
      world.now = Date.parse('2026-06-09T12:00:00.000Z');
      await world.send(events);
      await world.build();
      return world;
    }, atEnd);
  });

  test('building after each arrival gives the same as building once', async () => {
    const world = await worldOn('2026-05-10');
    for (const part of parts) {
      await world.send(part.filter(({ timestamp }) => Date.parse(timestamp) < world.now));
      await world.build();
      world.now += 15 * DAY;
    }
    world.now = Date.parse('2026-06-09T12:00:00.000Z');
    await world.send(events.toReversed());
    await world.build();
    const scratch = await tablesOf(await fromScratch());
    expect(scratch.user_sessions?.length).toBeGreaterThan(100);
    expect(await tablesOf(world)).toEqual(scratch);
  });

  test('building piece by piece, in any order, gives the same as building at once', async () => {
    const world = await worldOn('2026-06-09');
    for (const part of parts) {
      await world.send(part);
      for (const piece of pieces) await buildRange(world, piece);
    }
    const scratch = await fromScratch();
    expect(await tablesOf(world)).toEqual(await tablesOf(scratch));
    expect(await world.build()).toEqual([]);
  });

  test('building again changes nothing', async () => {
    const world = await fromScratch();
    const before = await tablesOf(world);
    expect(await buildRange(world, { all: true })).toHaveLength(NUMBER_OF_DAYS);
    expect(await tablesOf(world)).toEqual(before);
  });

  test('a session that gets two late days at once leaves the day on which it started', async () => {
    const late = [turn('2026-03-02', 'ada', 's2'), turn('2026-03-03', 'ada', 's2')];
    const early = [turn('2026-03-01', 'grace', 's1'), turn('2026-06-08', 'ada', 's2')];
    const [world, scratch] = [await worldOn('2026-06-10'), await worldOn('2026-06-10')];
    await world.send(early);
    await world.build();
    await world.send(late);
    await world.build();
    await scratch.send([...early, ...late]);
    await scratch.build();
    expect(await tablesOf(world)).toEqual(await tablesOf(scratch));
  });

  test('an event that arrives while a build runs is in the next one, with the windows that reach it', async () => {
    const world = await worldOn('2026-06-09');
    await world.send([turn('2026-06-01', 'ada', 's1')]);
    await world.build();
    world.now += DAY;
    const late = [turn('2026-06-05', 'grace', 's2')];
    const interrupted: Store = Object.assign(Object.create(world.store), {
      build: async (...due: Parameters<Store['build']>) => {
        await world.send(late.splice(0));
        await world.store.build(...due);
      },
    });
    await build(interrupted, {}, world.clock);
    await world.build();
    expect(await rowsOf(world, 'activity', '2026-06-05', '2026-06-09')).toMatchObject([
      { date: '2026-06-05', weekly_active_users: 2 },
      { date: '2026-06-06', weekly_active_users: 2 },
      { date: '2026-06-07', weekly_active_users: 2 },
      { date: '2026-06-08', weekly_active_users: 1 },
      { date: '2026-06-09', weekly_active_users: 1, monthly_active_users: 2 },
    ]);
  });
});

describe('a day is replaced whole', () => {
  test('a build that fails leaves the day as it was, and stale', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([turn('2026-06-09', 'ada', 's1')]);
    await world.build();
    const before = await tablesOf(world);
    await world.send([turn('2026-06-09', 'grace', 's2')]);
    await world.store.run([{ sql: 'ALTER TABLE languages RENAME COLUMN language TO tongue' }]);
    await expect(world.build()).rejects.toThrow('language');
    await world.store.run([{ sql: 'ALTER TABLE languages RENAME COLUMN tongue TO language' }]);
    expect(await tablesOf(world)).toEqual(before);
    expect(await world.build()).toEqual(['2026-06-09']);
    expect(await rowsOf(world, 'users', '2026-06-09')).toHaveLength(2);
  });

  test('who reads during a build sees the old day or the new one', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([event('tool_call', '2026-06-08', 'ada', 's1', { tool_name: 'Read' })]);
    await world.build();
    const old = await rowsOf(world, 'tools', '2026-06-08', '2026-06-09');
    await world.send([event('tool_call', '2026-06-08', 'ada', 's1', { tool_name: 'Edit' })]);
    const seen: unknown[] = [];
    let isBuilding = true;
    const building = world.build().finally(() => {
      isBuilding = false;
    });
    while (isBuilding) seen.push(await rowsOf(world, 'tools', '2026-06-08', '2026-06-09'));
    await building;
    const now = await rowsOf(world, 'tools', '2026-06-08', '2026-06-09');
    expect(now).not.toEqual(old);
    for (const rows of seen) expect([old, now]).toContainEqual(rows);
  });
});

test('a build writes the rows of its tables in the order of their grain', async () => {
  const world = await worldOn('2026-06-12');
  const users = ['mary', 'ada', 'grace', 'joan', 'barbara'];
  await world.send(
    days('2026-06-08', '2026-06-11').flatMap((day) => users.map((user) => turn(day, user, `of ${user}`))),
  );
  await world.build();
  for (const table of ['user_sessions', 'users']) {
    const written = await world.store.select(`SELECT day, user_id FROM ${table} ORDER BY rowid`);
    expect(written).toHaveLength(20);
    expect(written).toEqual(await world.store.select(`SELECT day, user_id FROM ${table} ORDER BY ALL`));
  }
});

test('the rows of a SELECT have their values as they are, in whatever type, in more than one chunk', async () => {
  const { store } = await worldOn('2026-06-12');
  const rows = await store.select(
    `SELECT
      CASE WHEN i % 3 > 0 THEN i - 2500 END AS count,
      CASE WHEN i % 5 > 0 THEN repeat('é😀', i % 7) END AS text,
      CASE WHEN i % 7 > 0 THEN DATE '1969-12-01' + CAST(i AS INTEGER) END AS day,
      CASE WHEN i % 2 > 0 THEN i / 4 END AS ratio,
      CAST(i AS DECIMAL(12, 3)) AS price,
      CAST(make_timestamp_ms(i * 1000) AS TIMESTAMP_MS) AS at,
      i % 2 = 0 AS is_even,
      [CAST(i AS VARCHAR), NULL] AS list,
      [DATE '2026-06-01'] AS days
    FROM range(5000) AS numbers (i) ORDER BY i`,
  );
  const expected = Array.from({ length: 5000 }, (_, i) => ({
    count: i % 3 > 0 ? i - 2500 : null,
    text: i % 5 > 0 ? 'é😀'.repeat(i % 7) : null,
    day: i % 7 > 0 ? new Date(Date.UTC(1969, 11, 1 + i)).toISOString().slice(0, 10) : null,
    ratio: i % 2 > 0 ? i / 4 : null,
    price: i,
    at: i * 1000,
    is_even: i % 2 === 0,
    list: [String(i), null],
    days: ['2026-06-01'],
  }));
  expect(rows).toEqual(expected);
  const limits =
    'SELECT 9007199254740991 AS most, -9007199254740991 AS least, -1 AS one_less, 4294967296 AS word';
  expect(await store.select(limits)).toEqual([
    { most: Number.MAX_SAFE_INTEGER, least: Number.MIN_SAFE_INTEGER, one_less: -1, word: 2 ** 32 },
  ]);
  expect(await store.select('SELECT i FROM range(0) AS numbers (i)')).toEqual([]);
  await expect(store.select("SELECT INTERVAL '1 day' AS i")).rejects.toThrow(
    "can't be read: cast it in the SELECT",
  );
});

test('a store that has rested answers as before, and has all of its memory again', async () => {
  const world = await worldOn('2026-06-12');
  await world.send([turn('2026-06-10', 'ada', 'one')]);
  await world.build();
  const limit = () => world.store.select("SELECT current_setting('memory_limit') AS memory");
  const before = [await limit(), await world.store.select('SELECT * FROM users')];
  await world.store.rest();
  expect([await limit(), await world.store.select('SELECT * FROM users')]).toEqual(before);
});

describe('the rate card', () => {
  function card(name: string, rates: { valid_from: string; multiplier: number }[]): string {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, JSON.stringify({ models: [{ id: 'swift', tier: 'standard', rates }] }));
    return path;
  }

  const usage = (at: string) =>
    event('model_usage', at, 'ada', 's1', { model: 'swift', input_tokens: 100, output_tokens: 0 });

  /** What the two days cost after the card was changed and all days were built again. */
  async function billedAfter(rates: { valid_from: string; multiplier: number }[]): Promise<unknown[][]> {
    const one = [{ valid_from: '2026-01-01', multiplier: 1 }];
    const before = await worldOn('2026-06-10', { DAYBOOK_RATE_CARD: card('before.json', one) });
    await before.send([usage('2026-06-08'), usage('2026-06-09')]);
    await before.build();
    await before.store.close();
    const after = await worldOn('2026-06-10', {
      DAYBOOK_RATE_CARD: card('after.json', rates),
      DAYBOOK_DATA: before.config.data,
    });
    const billed = async () =>
      (await rowsOf(after, 'tokens', '2026-06-08', '2026-06-09')).map((row) => row.billable_tokens);
    const untouched = await billed();
    await buildRange(after, { all: true });
    return [untouched, await billed()];
  }

  test('a run publishes what it has built also if old events can not be removed', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([usage('2026-06-08')]);
    world.store.removeEvents = async () => {
      throw new Error('the server takes no such query');
    };
    const published: string[] = [];
    const publish = async (days: readonly { day: Day }[]) =>
      void published.push(...days.map(({ day }) => day));
    const run = await runBuild(world.store, 'nightly', {}, world.clock, { retentionDays: 1, publish });
    await expect(run.published).rejects.toThrow('the server takes no such query');
    expect(published).toEqual(['2026-06-08', '2026-06-09']);
    expect(await world.store.select('SELECT error FROM runs')).toEqual([
      { error: 'the server takes no such query' },
    ]);
  });

  test('is read by each build: a service that runs takes a changed one over, and a broken one stops the build', async () => {
    const path = card('live.json', [{ valid_from: '2026-01-01', multiplier: 1 }]);
    const world = await worldOn('2026-06-10', { DAYBOOK_RATE_CARD: path });
    await world.send([usage('2026-06-08')]);
    const billed = async () =>
      (await rowsOf(world, 'tokens', '2026-06-08', '2026-06-08'))[0]?.billable_tokens;
    const run = () => runBuild(world.store, 'command', { all: true }, world.clock);
    await run();
    expect(await billed()).toBe(100);
    writeFileSync(
      path,
      JSON.stringify({
        models: [{ id: 'swift', tier: 'standard', rates: [{ valid_from: '2026-01-01', multiplier: 5 }] }],
      }),
    );
    await run();
    expect(await billed()).toBe(500);
    writeFileSync(path, '{');
    await expect(run()).rejects.toThrow('does not match docs/rate-card.md');
    expect(await billed()).toBe(500);
    const runs = await world.store.select(
      'SELECT cause, days_built, days_failed, error FROM runs ORDER BY days_built DESC, error',
    );
    expect(runs.map(({ days_built, error }) => [days_built, error === null])).toEqual([
      [2, true],
      [2, true],
      [0, false],
    ]);
  });

  test('a changed rate changes history once days are built again, not before', async () => {
    expect(await billedAfter([{ valid_from: '2026-01-01', multiplier: 3 }])).toEqual([
      [100, 100],
      [300, 300],
    ]);
  });

  test('an entry with a later valid_from leaves the days before it as they are', async () => {
    expect(
      await billedAfter([
        { valid_from: '2026-01-01', multiplier: 1 },
        { valid_from: '2026-06-09', multiplier: 2 },
      ]),
    ).toEqual([
      [100, 100],
      [100, 200],
    ]);
  });
});
