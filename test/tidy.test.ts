import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { World } from './world.js';

/** A store with as many rejected lines as several parts of a table have. */
async function withRows(): Promise<World> {
  const world = await World.create();
  await world.store.run([
    {
      sql: `INSERT INTO rejects SELECT range, 'acme', DATE '2026-06-10', md5(range::VARCHAR), range, 'not_json', '', NULL FROM range(300000)`,
    },
  ]);
  return world;
}

/** Deletes most of them. */
function deleteMost({ store }: World): Promise<void> {
  return store.run([{ sql: 'DELETE FROM rejects WHERE batch % 4 > 0' }]);
}

/** The rows of rejected lines that are in the file, with those that are deleted. */
async function kept({ store }: World): Promise<number> {
  const [row] = await store.select(
    "SELECT CAST(sum(count) AS BIGINT) AS rows FROM pragma_storage_info('rejects') WHERE column_name = 'org_id' AND segment_type <> 'VALIDITY'",
  );
  return Number(row?.rows);
}

test('deleted rows take no room any more after a build', async () => {
  const world = await withRows();
  await deleteMost(world);
  expect(await kept(world)).toBe(300_000);
  const { finished } = await runBuild(world.store, 'command', {}, world.clock);
  await finished;
  expect(await kept(world)).toBe(75_000);
  expect(await world.store.select('SELECT count(*) AS rows, max(batch) AS last FROM rejects')).toEqual([
    { rows: 75_000, last: 299_996 },
  ]);
});

test('a file that is being copied isn’t tidied up meanwhile', async () => {
  const world = await withRows();
  let tidied = Promise.resolve();
  await world.store.hold(
    async () => {},
    async () => {
      await deleteMost(world);
      tidied = world.store.tidy();
      await Promise.race([tidied, wait(300)]);
      expect(await kept(world)).toBe(300_000);
    },
  );
  await tidied;
  expect(await kept(world)).toBe(75_000);
});

test('it is done though days can’t be published', async () => {
  const world = await withRows();
  await deleteMost(world);
  const publish = () => Promise.reject(new Error('the disk is full'));
  const { finished } = await runBuild(world.store, 'command', {}, world.clock, { publish });
  await expect(finished).rejects.toThrow('the disk is full');
  expect(await kept(world)).toBe(75_000);
});
