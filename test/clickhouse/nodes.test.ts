import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { build } from '../../src/aggregate/build-days.js';
import type { Day } from '../../src/day.js';
import { NEVER } from '../../src/store/clickhouse/counted-numbers.js';
import { dailySql } from '../../src/store/day-builder.js';
import { ChecksFailed } from '../../src/store/day-checks.js';
import { groupOf } from '../../src/store/group.js';
import { erasureOf } from '../../src/store/state/erasure-statements.js';
import { SHARED_CLOCK } from '../../src/store/state/node.js';
import type { Row, Store } from '../../src/store/store.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { gate } from '../gate.js';
import { hasPostgres } from '../postgres/installed.js';
import { playsSlow } from '../slow.js';
import { ending, NOW, World } from '../world.js';
import { event, FIRST, SECOND } from './long-session.js';
import { type Faults, type Node, Nodes } from './nodes.js';

/** Organizations of three groups: the first two are of one. */
const ORGS = ['acme', sameGroup('acme'), 'globex', 'initech'];

function sameGroup(orgId: string): string {
  for (let number = 1; ; number += 1) if (groupOf(`org-${number}`) === groupOf(orgId)) return `org-${number}`;
}

const BATCHES = [FIRST, SECOND];

const built = (store: Store) => build(store, {}, () => NOW);

/** Organizations of single tests. */
const [KILLED, ASLEEP, FAILED, SHOWN, LATE] = ['killed', 'asleep', 'failed', 'shown', 'late'] as const;
const [ERASED, OLDER] = ['erased', 'older'] as const;
const ALL = [...ORGS, KILLED, ASLEEP, FAILED, SHOWN, LATE, OLDER];

const EVENTS = 'SELECT * FROM events WHERE org_id = $org_id ORDER BY day, event_id';
const DIGESTS =
  'SELECT day, table_name, row_count, digest FROM digests WHERE org_id = $org_id ORDER BY day, table_name';

/** What a store shows of an organization. The numbers of batches are its own. */
async function seen(store: Store, orgId: string): Promise<{ events: Row[]; digests: Row[] }> {
  return store.snapshot(async (select) => ({
    events: (await select(EVENTS, { org_id: orgId })).map(({ batch: _, ...row }) => row),
    digests: await select(DIGESTS, { org_id: orgId }),
  }));
}

/** No fault of a file's: nothing is done after it. */
class Killed extends StoreUnavailable {}

/** Lets nothing get through from a statement on. */
function killedAt(at: RegExp, isDone: boolean): Faults {
  let isOver = false;
  const die = () => {
    isOver = true;
    throw new Killed();
  };
  return {
    before: (query) => {
      if (isOver || (!isDone && at.test(query))) die();
    },
    after: (query) => {
      if (isDone && at.test(query)) die();
    },
  };
}

/** Holds a node before a statement until it is let go. */
function asleepAt(at: RegExp): { faults: Faults; asleep: Promise<void>; wake: () => void } {
  const [wake, arrive] = [gate(), gate()];
  const before = async (query: string) => {
    if (!at.test(query)) return;
    arrive.open();
    await wake.opened;
  };
  return { faults: { before }, asleep: arrive.opened, wake: wake.open };
}

const SETTLE_ENDS: [statement: string, isDone: boolean][] = [
  ['INSERT INTO incoming_rows', true],
  ['INSERT INTO events_rows', true],
  ['INSERT INTO removals', true],
  ['INSERT INTO batches_rows', false],
  ['INSERT INTO batches_rows', true],
];

const BUILD_ENDS: [statement: string, isDone: boolean][] = [
  ['INSERT INTO building_rows', true],
  ['INSERT INTO user_sessions_rows', true],
  ['INSERT INTO users_rows', true],
  ['INSERT INTO days_rows', false],
  ['INSERT INTO days_rows', true],
];

/** All of some ends if slow tests are played, else every other one, the last among them. */
const played = <T>(ends: readonly T[]) =>
  ends.filter((_, place) => playsSlow() || place % 2 === (ends.length - 1) % 2);

const atEnd = ending();

describe.runIf(hasPostgres())('several nodes', () => {
  /** What one node with DuckDB shows of each organization. */
  const expected = new Map<string, Awaited<ReturnType<typeof seen>>>();
  let nodes: Nodes;
  let one: Node;
  let two: Node;

  beforeAll(async () => {
    const world = await World.create({}, atEnd, dailySql, 'DuckDB');
    for (const events of BATCHES)
      for (const orgId of ALL) {
        const path = world.file(`${orgId}.ndjson`, events.map((event) => JSON.stringify(event)).join('\n'));
        await world.ingest([path], { orgId });
      }
    await built(world.store);
    for (const orgId of ALL) expected.set(orgId, await seen(world.store, orgId));
    nodes = await Nodes.start(atEnd);
    one = await nodes.open();
    two = await nodes.open();
  });

  afterEach(() => {
    for (const node of [one, two]) node.faults = undefined;
  });

  test('settle and build beside each other what one node does alone', async () => {
    const third = await nodes.open();
    const three = [one, two, third];
    for (const events of BATCHES)
      await Promise.all(ORGS.map((orgId, place) => (three[place % 3] ?? one).send(orgId, events)));
    await Promise.all(three.map(({ store }) => built(store)));
    for (const { store } of three)
      for (const orgId of ORGS)
        expect([orgId, await seen(store, orgId)]).toEqual([orgId, expected.get(orgId)]);
    expect(await one.store.select('SELECT * FROM touches')).toEqual([]);
    expect((await built(one.store)).days).toEqual([]);
    const leases = await nodes.session.select('SELECT name FROM leases WHERE holder IS NOT NULL');
    expect(leases).toEqual([]);
  });

  test('show nothing of an attempt that was killed, between whichever statements', async () => {
    await one.send(KILLED, FIRST);
    await built(one.store);
    const before = await seen(two.store, KILLED);
    for (const [statement, isDone] of played(SETTLE_ENDS)) {
      one.faults = killedAt(new RegExp(`^${statement}\\s`), isDone);
      await expect(one.send(KILLED, SECOND), statement).rejects.toThrow(Killed);
      expect([statement, await seen(two.store, KILLED)]).toEqual([statement, before]);
    }
    one.faults = undefined;
    await two.send(KILLED, SECOND);
    const settled = await seen(one.store, KILLED);
    expect(settled).toEqual({ events: expected.get(KILLED)?.events, digests: before.digests });
    for (const [statement, isDone] of played(BUILD_ENDS)) {
      one.faults = killedAt(new RegExp(`^${statement}\\s`), isDone);
      await expect(built(one.store), statement).rejects.toThrow(Killed);
      expect([statement, await seen(two.store, KILLED)]).toEqual([statement, settled]);
    }
    one.faults = undefined;
    await built(two.store);
    expect(await seen(one.store, KILLED)).toEqual(expected.get(KILLED));
    // The failed attempts' rows were taken out by the build that came next, but for those that are named as holes.
    const left = await two.store.select(
      `SELECT DISTINCT table FROM system.parts
      WHERE active AND database = currentDatabase() AND table IN ('due_rows', 'building_rows', 'fresh_digests_rows')`,
    );
    expect(left).toEqual([]);
  });

  test('let nothing count of one that slept past its lease', async () => {
    const group = groupOf(ASLEEP);
    await one.send(ASLEEP, FIRST);
    const settling = asleepAt(/^INSERT INTO batches_rows\s/);
    one.faults = settling.faults;
    const late = one.send(ASLEEP, SECOND);
    await settling.asleep;
    await nodes.expireFor(`settle ${group}`, one, two.send(ASLEEP, SECOND));
    settling.wake();
    await expect(late).rejects.toThrow(StoreUnavailable);
    expect((await seen(one.store, ASLEEP)).events).toEqual(expected.get(ASLEEP)?.events);

    const building = asleepAt(/^INSERT INTO days_rows\s/);
    one.faults = building.faults;
    const lateBuild = built(one.store);
    await building.asleep;
    await nodes.expireFor(`build ${group}`, one, built(two.store));
    const whole = await seen(two.store, ASLEEP);
    expect(whole).toEqual(expected.get(ASLEEP));
    building.wake();
    await expect(lateBuild).rejects.toThrow(StoreUnavailable);
    one.faults = undefined;
    expect(await seen(one.store, ASLEEP)).toEqual(whole);
    expect((await built(one.store)).days).toEqual([]);
  });

  test('show nothing of days that break a check', async () => {
    const wrong = await nodes.open((table) =>
      table === 'quality'
        ? `SELECT * REPLACE (events + 1 AS events) FROM (${dailySql(table)})`
        : dailySql(table),
    );
    await one.send(FAILED, FIRST);
    await one.send(FAILED, SECOND);
    const before = await seen(one.store, FAILED);
    const days = [{ orgId: FAILED, day: '2026-07-07' as Day }];
    const batch = await wrong.store.newestBatch(groupOf(FAILED));
    await expect(wrong.store.build(days, batch, NOW)).rejects.toThrow(ChecksFailed);
    expect(await seen(one.store, FAILED)).toEqual(before);
    await built(one.store);
    expect(await seen(wrong.store, FAILED)).toEqual(expected.get(FAILED));
  });

  test('preview days beside a build of them', async () => {
    await one.send(SHOWN, FIRST);
    await two.send(SHOWN, SECOND);
    const due = [{ orgId: SHOWN, day: '2026-07-07' as Day }];
    const users = "SELECT user_id FROM users WHERE org_id = $org_id AND day = '2026-07-07'";
    const preview = () => two.store.preview(due, (select) => select(users, { org_id: SHOWN }));
    const [, ...shown] = await Promise.all([built(one.store), preview(), preview()]);
    expect(shown).toEqual([[{ user_id: 'grace' }], [{ user_id: 'grace' }]]);
    expect(await seen(two.store, SHOWN)).toEqual(expected.get(SHOWN));
    const parts = await one.store.select(
      `SELECT DISTINCT table FROM system.parts WHERE active AND database = currentDatabase() AND toInt64OrZero(partition_id) >= ${NEVER}`,
    );
    expect(parts).toEqual([]);
  });

  test('wait for a server that has not got the newest rows, and never answer without them', async () => {
    await one.send(LATE, FIRST);
    await built(one.store);
    const before = await seen(two.store, LATE);
    const [newest] = await one.store.select('SELECT max(batch) AS batch FROM events WHERE org_id = $org_id', {
      org_id: LATE,
    });
    two.faults = {
      instead: (query) =>
        query.replaceAll(
          /\bFROM events_rows\b/g,
          `FROM (SELECT * FROM events_rows WHERE org_id <> '${LATE}' OR batch <= ${newest?.batch}) AS events_rows`,
        ),
    };
    await one.send(LATE, SECOND);
    await expect(seen(two.store, LATE)).rejects.toThrow(/does not have the newest rows yet/);
    const waiting = seen(two.store, LATE);
    two.faults = undefined;
    const { events } = await waiting;
    expect(events).toEqual(expected.get(LATE)?.events);
    expect(events).not.toEqual(before.events);
  });

  test('of an older version leave tables as a newer one made them, and days to it while it runs', async () => {
    const facts = () => one.store.select('SELECT name, value FROM facts ORDER BY name');
    await one.store.run([
      { sql: "DELETE FROM facts WHERE name IN ('version', 'schema', 'definitions')" },
      {
        sql: "INSERT INTO facts VALUES ('version', '99.0.0'), ('schema', 'another'), ('definitions', 'new')",
      },
      { sql: "INSERT INTO changes SELECT 9001, '9001-more', instant(0)" },
    ]);
    const before = await facts();
    const older = await nodes.open();
    expect(await facts()).toEqual(before);
    for (const events of BATCHES) await older.send(OLDER, events);
    const beat = (ago: number) => ({
      sql: `INSERT INTO nodes VALUES ('newer', 'host', 'all', '99.0.0', 0, ${SHARED_CLOCK} - ${ago})
        ON CONFLICT (node_id) DO UPDATE SET seen_at_ms = excluded.seen_at_ms`,
    });
    // For as long as the test takes.
    await nodes.session.run([beat(-3_600_000)]);
    await expect(built(older.store)).rejects.toThrow(/Nodes of Daybook 99\.0\.0 build the days now/);
    await nodes.session.run([beat(60_000)]);
    await built(older.store);
    expect(await seen(one.store, OLDER)).toEqual(expected.get(OLDER));
    // By its own definitions, so that a newer node builds them anew.
    expect((await built(older.store)).days).toEqual([]);
    const [inputs] = await one.store.select(
      'SELECT max(definitions) AS definitions FROM day_inputs WHERE org_id = $org_id',
      { org_id: OLDER },
    );
    expect(inputs?.definitions).toBe(older.store.definitions);

    // Of people, what this version doesn't know would be lost.
    const put = (name: string, more: object) => ({
      sql: 'INSERT INTO outbox (table_name, is_removed, content) SELECT $table, false, $content',
      parameters: {
        table: 'people',
        content: JSON.stringify({ org_id: OLDER, user_id: name, name, email: '', ...more }),
      },
    });
    await nodes.session.run([put('grace', { shoe_size: '42' }), put('ada', {})]);
    await older.store.run([{ sql: "DELETE FROM people WHERE org_id = 'nobody'" }]);
    expect(await older.store.select("SELECT user_id FROM people_rows WHERE org_id = 'older'")).toEqual([
      { user_id: 'ada' },
    ]);
    const left = await nodes.session.select('SELECT content FROM outbox');
    expect(left).toEqual([{ content: expect.stringContaining('shoe_size') }]);
    await nodes.session.run([{ sql: 'DELETE FROM outbox' }]);
    await one.store.run([
      { sql: 'DELETE FROM changes WHERE number = 9001' },
      { sql: "DELETE FROM facts WHERE name = 'version'" },
    ]);
    await (await nodes.open()).store.close();
  });

  test('let nothing of an erasure count that was cut off, or all of it', async () => {
    const erase = async () =>
      one.store.rewrite(
        await erasureOf(
          one.store,
          { orgId: ERASED, names: [{ name: 'ada', pseudonym: 'erased' }], words: ['ada'] },
          'root',
          NOW,
        ),
      );
    const users = async (store: Store) => {
      const tables = ['events', 'users', 'user_sessions'].map(
        (table) => `SELECT DISTINCT '${table} ' || user_id AS name FROM ${table} WHERE org_id = $org_id`,
      );
      const rows = await store.select(tables.join(' UNION ALL '), { org_id: ERASED });
      return rows.map(({ name }) => String(name)).sort();
    };
    const named = (name: string) => [`events ${name}`, `user_sessions ${name}`, `users ${name}`];
    await one.send(ERASED, FIRST);
    await built(one.store);
    one.faults = killedAt(/^CREATE TABLE renewal /, true);
    await expect(erase()).rejects.toThrow(Killed);
    expect(await users(two.store)).toEqual(named('ada'));
    // The copies of before don't have it.
    await two.send(ERASED, [event('later', '2026-07-08')]);
    one.faults = killedAt(/^EXCHANGE TABLES users_rows_renewed /, false);
    await expect(erase()).rejects.toThrow(Killed);
    one.faults = undefined;
    expect(await users(two.store)).toEqual(named('erased'));
    const [count] = await two.store.select('SELECT count(*) AS events FROM events WHERE org_id = $org_id', {
      org_id: ERASED,
    });
    expect(count?.events).toBe(FIRST.length + 1);
  });
});
