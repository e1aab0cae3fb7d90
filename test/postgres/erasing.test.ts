import { beforeAll, expect, test } from 'vitest';
import { erasePerson } from '../../src/people/erasure.js';
import { Leases } from '../../src/store/postgres/leases.js';
import { applyChanges } from '../../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { Publisher } from '../../src/store/postgres/state-publisher.js';
import type { Store, Task } from '../../src/store/store.js';
import { ending, NOW, World } from '../world.js';
import { addressOf, postgresDatabase, textsIn } from './server.js';

const atEnd = ending();
let session: PostgresSession;
let url: string;
beforeAll(async () => {
  url = await postgresDatabase(atEnd);
  session = PostgresSession.of(addressOf(url));
  atEnd(() => session.close());
  await applyChanges(session, { now: NOW });
});

function leases(): Leases {
  const made = new Leases(session);
  atEnd(() => made.close());
  return made;
}

/** Waits until a node waits for a lease. */
const wanted = (name: string) =>
  expect
    .poll(() =>
      session.select('SELECT name FROM leases WHERE name = $name AND wanted_by IS NOT NULL', { name }),
    )
    .toHaveLength(1);

/** Waits until a vacuum has looked more than once whether transactions have ended. */
async function looksAgain(): Promise<void> {
  const looks = new Set<string>();
  const look = async () => {
    const found = await session.select(
      `SELECT CAST(query_start AS TEXT) AS at FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'SELECT 1 AS found FROM pg_stat_activity%'`,
    );
    for (const { at } of found) looks.add(String(at));
    return looks.size;
  };
  await expect.poll(look).toBeGreaterThan(1);
}

test('no byte of a row stays in a table, its indexes or its statistics, although a reader still sees the row', async () => {
  const name = 'zqx-wilhelmina';
  await session.run([
    { sql: `INSERT INTO aliases VALUES ('acme', '${name}@acme.example', '${name}', true)` },
    { sql: 'DELETE FROM outbox' },
  ]);
  await session.select('ANALYZE aliases');
  const before = Object.keys(await textsIn(url, [name]));
  for (const where of ['rows of aliases', 'bytes of aliases', 'bytes of aliases_key', 'bytes of outbox'])
    expect(before).toContain(`${where} in PostgreSQL`);
  let isEnded = false;
  let vacuumed = Promise.resolve();
  await session.snapshot(async (select) => {
    await select('SELECT 1 AS found FROM organizations');
    await session.run([
      { sql: `UPDATE aliases SET user_id = 'erased', alias = 'erased-2' WHERE user_id = '${name}'` },
      { sql: 'DELETE FROM outbox' },
    ]);
    vacuumed = session.vacuum(['aliases', 'outbox']).then(() => {
      expect(isEnded).toBe(true);
    });
    await Promise.race([vacuumed, looksAgain()]);
    isEnded = true;
  });
  await vacuumed;
  expect(await textsIn(url, [name])).toEqual({});
});

test('no byte of a row stays although another transaction that changes something was open', async () => {
  const name = 'zqx-augusta';
  await session.run([
    { sql: `INSERT INTO aliases VALUES ('acme', '${name}@acme.example', '${name}', true)` },
    { sql: 'DELETE FROM outbox' },
  ]);
  let vacuumed = Promise.resolve();
  await session.transaction(async ({ run }) => {
    await run([{ sql: "INSERT INTO turns VALUES ('open')" }]);
    await session.run([
      { sql: `UPDATE aliases SET user_id = 'erased', alias = 'erased-3' WHERE user_id = '${name}'` },
      { sql: 'DELETE FROM outbox' },
    ]);
    vacuumed = session.vacuum(['aliases', 'outbox']);
    await Promise.race([vacuumed, looksAgain()]);
  });
  await vacuumed;
  expect(await textsIn(url, [name])).toEqual({});
});

test('what a node is about to publish is not published after an erasure', async () => {
  const [here, there] = [leases(), leases()];
  const inserted: string[] = [];
  const publisher = new Publisher(session, (work) =>
    there.leading('publish', () =>
      work(async (sql) => {
        inserted.push(sql);
      }),
    ),
  );
  atEnd(() => publisher.close());
  let published = Promise.resolve();
  await here.leading('publish', async () => {
    await session.run([{ sql: "INSERT INTO people VALUES ('acme', 'zqx-wilhelmina', '', '')" }]);
    published = publisher.publish();
    await wanted('publish');
    await session.run([{ sql: 'DELETE FROM outbox' }]);
  });
  await published;
  expect(inserted).toEqual([]);
});

test('an erasure waits for that of another node, and so does a build that would finish it', async () => {
  const { store, config, clock } = await World.create();
  const [here, there] = [leases(), leases()];
  const other = new Proxy<Store>(store, {
    get: (target, name) => {
      if (name === 'leading') return (task: Task, work: () => Promise<unknown>) => there.leading(task, work);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  let isSettled = false;
  const settle = async () => {
    isSettled = true;
    return [];
  };
  let erased: Promise<unknown> = Promise.resolve();
  await here.leading('erasure', async () => {
    const context = { store: other, lake: {} as never, data: config.data, settle, clock };
    erased = erasePerson(context, { orgId: 'acme', user: 'ada', author: 'root', isTrial: false });
    erased.catch(() => undefined);
    await wanted('erasure');
    expect(isSettled).toBe(false);
  });
  await expect(erased).rejects.toThrow('Nothing in acme has the user given');
  expect(isSettled).toBe(true);
});
