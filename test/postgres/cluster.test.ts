import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { build } from '../../src/aggregate/build-days.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { readConfig } from '../../src/settings/config.js';
import { ClusterStore } from '../../src/store/cluster-store.js';
import { requireOrganizations } from '../../src/store/organization.js';
import { addEntries, writeLog } from '../../src/store/state/access-log.js';
import { changePeople, peopleOf } from '../../src/store/state/person.js';
import type { Store, Task } from '../../src/store/store.js';
import { databaseOf } from '../clickhouse/engine.js';
import { ending, event, lines, NOW, temporaryFolder } from '../world.js';
import { addressOf, postgresDatabase } from './server.js';

const atEnd = ending();
let ada: ClusterStore;
let bob: ClusterStore;
/** Whether ClickHouse can be reached. */
let isThere = true;

/** Two nodes on the same databases. */
beforeAll(async () => {
  const state = addressOf(await postgresDatabase(atEnd));
  const folder = temporaryFolder(atEnd);
  const connected = databaseOf(join(folder, 'first'), atEnd);
  const reached = async () =>
    new Proxy(await connected(), {
      get(target: ClickHouseClient, name) {
        if (!isThere && name === 'exec')
          return () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  const open = async (name: string) => {
    const config = readConfig({ DAYBOOK_DATA: join(folder, name), DAYBOOK_THREADS: '1' });
    const store = await ClusterStore.with(config.data, state, { ...config, now: NOW }, reached);
    atEnd(() => store.close());
    return store;
  };
  ada = await open('first');
  bob = await open('second');
});

const person = (userId: string, aliases: readonly string[] = []) => ({
  userId,
  name: '',
  emails: [`${userId}@acme.example`],
  aliases,
  memberships: [],
});

test('what one node changes, the other one reads at once, in state and beside data', async () => {
  await changePeople(
    ada,
    {
      orgId: 'acme',
      revision: 0,
      author: 'ada',
      removed: [],
      saved: [person('ada', ['countess']), person('grace')],
    },
    NOW,
  );
  expect((await peopleOf(bob, 'acme')).people.map(({ userId }) => userId)).toEqual(['ada', 'grace']);
  const emails = () =>
    bob.select("SELECT user_id, user_email FROM known_emails WHERE org_id = 'acme' ORDER BY user_id");
  expect(await emails()).toEqual([
    { user_id: 'ada', user_email: 'ada@acme.example' },
    { user_id: 'grace', user_email: 'grace@acme.example' },
  ]);
  await changePeople(
    bob,
    { orgId: 'acme', revision: 1, author: 'ada', removed: ['grace'], saved: [person('ada')] },
    NOW,
  );
  expect(await emails()).toEqual([{ user_id: 'ada', user_email: 'ada@acme.example' }]);
});

test('the revision of a table changes on every node half a second later, and that of others stays', async () => {
  await requireOrganizations(ada, new Set(['first']), NOW);
  const before = [
    await bob.stateRevision('organizations'),
    await bob.stateRevision('keys'),
    await bob.revision(),
  ];
  await requireOrganizations(ada, new Set(['second']), NOW);
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 500);
  onTestFinished(() => clock.mockRestore());
  expect(await bob.stateRevision('organizations')).not.toBe(before[0]);
  expect(await bob.stateRevision('keys')).toBe(before[1]);
  expect(await bob.revision()).not.toBe(before[2]);
  // The node that makes a change sees it at once.
  const own = await ada.stateRevision('organizations');
  await requireOrganizations(ada, new Set(['third']), NOW);
  expect(await ada.stateRevision('organizations')).not.toBe(own);
});

test('turns of a name are alone on all nodes, and what they write is one commit', async () => {
  const add = (store: ClusterStore) =>
    store.inTurn('count', async (inside) => {
      const [newest] = await inside.select(
        "SELECT coalesce(max(revision), 0) AS revision FROM budget_revisions WHERE org_id = 'turns'",
      );
      await inside.run([
        {
          sql: "INSERT INTO budget_revisions SELECT 'turns', $revision, '[]', 'ada', instant($now)",
          parameters: { revision: Number(newest?.revision) + 1, now: NOW },
        },
      ]);
    });
  await Promise.all(Array.from({ length: 12 }, (_, at) => add(at % 2 === 0 ? ada : bob)));
  const rows = await ada.select(
    "SELECT revision FROM budget_revisions WHERE org_id = 'turns' ORDER BY revision",
  );
  expect(rows.map(({ revision }) => revision)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
  await expect(
    ada.inTurn('count', async (inside) => {
      await inside.run([{ sql: "INSERT INTO people VALUES ('turns', 'ada', '', '')" }]);
      // In the turn it is there for every SELECT, and for nobody else.
      expect(await inside.select("SELECT user_id FROM people WHERE org_id = 'turns'")).toHaveLength(1);
      expect(
        await inside.select(
          "SELECT lower_case(repo_key(user_id)) AS name FROM people WHERE org_id = 'turns'",
        ),
      ).toEqual([{ name: 'ada' }]);
      expect(await bob.select("SELECT user_id FROM people WHERE org_id = 'turns'")).toEqual([]);
      throw new Error('changed my mind');
    }),
  ).rejects.toThrow('changed my mind');
  expect(await ada.select("SELECT user_id FROM people WHERE org_id = 'turns'")).toEqual([]);
  expect(await ada.select("SELECT repo_key(user_id) AS name FROM people WHERE org_id = 'turns'")).toEqual([]);
});

test('an organization that both nodes make at once is made once', async () => {
  const names = new Set(['both', 'again']);
  await Promise.all([ada, bob, ada, bob].map((store) => requireOrganizations(store, names, NOW)));
  expect(
    await ada.select("SELECT org_id FROM organizations WHERE org_id IN ('both', 'again') ORDER BY org_id"),
  ).toEqual([{ org_id: 'again' }, { org_id: 'both' }]);
});

test('a snapshot sees one state of PostgreSQL', async () => {
  await ada.snapshot(async (select) => {
    const count = () => select("SELECT count(*) AS n FROM organizations WHERE org_id = 'meanwhile'");
    expect(await count()).toEqual([{ n: 0 }]);
    await requireOrganizations(bob, new Set(['meanwhile']), NOW);
    expect(await count()).toEqual([{ n: 0 }]);
  });
});

describe('while ClickHouse can’t be reached', () => {
  test('what isn’t published is changed, and what is published comes as soon as it can', async () => {
    isThere = false;
    onTestFinished(() => {
      isThere = true;
    });
    await ada.run([{ sql: "INSERT INTO ended_tickets VALUES ('t', instant(0))" }]);
    expect(await bob.select('SELECT ticket_id FROM ended_tickets')).toEqual([{ ticket_id: 't' }]);
    await expect(
      ada.run([{ sql: "INSERT INTO people VALUES ('later', 'ada', '', 'ada@acme.example')" }]),
    ).rejects.toThrow(/^The ClickHouse server can't be reached/);
    isThere = true;
    await expect
      .poll(() => bob.select("SELECT user_id FROM known_emails WHERE org_id = 'later'"))
      .toEqual([{ user_id: 'ada' }]);
  });
});

describe('a statement', () => {
  test('about data and state that isn’t published is a fault of the program', async () => {
    await expect(
      bob.select('SELECT key_id FROM keys WHERE org_id IN (SELECT org_id FROM days)'),
    ).rejects.toThrow(/a SELECT reads keys beside data/);
    await expect(bob.run([{ sql: 'DELETE FROM keys' }, { sql: 'DELETE FROM removed_days' }])).rejects.toThrow(
      /statements change state and data together: keys, removed_days/,
    );
  });
});

test('a build takes the leases of groups that have days to build, and of no others', async () => {
  const led: string[] = [];
  const watched = new Proxy<Store>(bob, {
    get: (store, name) => {
      if (name === 'leading')
        return (task: Task, work: () => Promise<unknown>) => {
          led.push(task);
          return store.leading(task, work);
        };
      const member: unknown = Reflect.get(store, name, store);
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
  const folder = temporaryFolder();
  const orgIds = ['acme', 'globex'];
  expect(ada.groupOf('acme')).not.toBe(ada.groupOf('globex'));
  const files = orgIds.map((orgId) => {
    const path = join(folder, `${orgId}.ndjson`);
    writeFileSync(path, lines([event(orgId)]));
    return { path, name: path, orgId, receivedAt: NOW };
  });
  for (const file of files) await ada.settle({ source: CANONICAL, files: [file], settledAt: NOW });
  const groups = orgIds.map((orgId) => `build ${ada.groupOf(orgId)}`);
  const { days } = await build(watched, {}, () => NOW);
  expect(new Set(days.map(({ orgId }) => orgId))).toEqual(new Set(orgIds));
  expect(new Set(led)).toEqual(new Set(groups));
  led.length = 0;
  expect((await build(watched, {}, () => NOW)).days).toEqual([]);
  expect(led).toEqual([]);
});

test('the log of accesses is written to a file with its types', async () => {
  const entry = {
    ...{ orgId: 'acme', entryNo: 1, askedAt: NOW, fingerprint: 'f', userId: null, address: '::1' },
    ...{ path: '/x', scope: 'user' as const, about: "o'b", sqlDigest: null, sqlTables: null, status: 200 },
  };
  await addEntries(ada, [entry, { ...entry, entryNo: 2, userId: 'ada' }]);
  const path = join(temporaryFolder(), 'log.parquet');
  await writeLog(ada, path, 'acme');
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = await connection.runAndReadAll(
    `SELECT entry_no, CAST(epoch_ms(asked_at) AS DOUBLE) AS asked_at, user_id, about FROM read_parquet('${path}') ORDER BY entry_no`,
  );
  expect(rows.getRowObjectsJson()).toEqual([
    { entry_no: '1', asked_at: NOW, user_id: null, about: "o'b" },
    { entry_no: '2', asked_at: NOW, user_id: 'ada', about: "o'b" },
  ]);
});
