import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { Lake, LakeFailed } from '../../src/lake/data-lake.js';
import type { LakeTable } from '../../src/lake/lake-paths.js';
import { NEXT, SNAPSHOT } from '../../src/lake/snapshot.js';
import type { World } from '../world.js';
import { build, event, expectWhole, lakeRows, snapshotOf, worldWithLake } from './lake-world.js';

describe('a lake of which something is missing or damaged', () => {
  test('finds what is missing of the log and of earlier publications, and what is damaged', async () => {
    const { world, lake } = await worldWithLake();
    await nights(world, lake, 24);
    const path = (table: LakeTable, name: string) => join(lake.folder, 'acme', table, name);
    const damaged = snapshotOf(lake).tables.tools?.removed[0]?.path ?? '';
    const missing = snapshotOf(lake).tables.users?.removed[0]?.path ?? '';
    truncateSync(path('tools', damaged), 100);
    rmSync(path('users', missing));
    const repair = async () =>
      (await lake.repair(world.store)).differences.map(({ path, detail }) => `${path} ${detail}`);
    expect(await repair()).toEqual([
      expect.stringMatching(new RegExp(`^acme/tools/${damaged} has 100 bytes where the snapshot has \\d+$`)),
      `acme/users/${missing} is missing`,
    ]);
    const earlier = (table: LakeTable) =>
      lakeRows(lake, table, 'SELECT count(*)::INT AS n FROM rows_of', world.now - 1);
    await expect(earlier('users')).rejects.toThrow(/: What was published of users before .* is gone/);
    expect(await earlier('user_tools')).toEqual([{ n: expect.any(Number) }]);
    const [checkpoint] = readdirSync(path('quality', '_delta_log')).filter((name) =>
      /t\.parquet$/.test(name),
    );
    rmSync(path('quality', `_delta_log/${checkpoint}`));
    expect(await repair()).toEqual([`acme/quality/_delta_log/${checkpoint} is missing`]);
    await expectWhole(world, lake);
  });

  test('ends a publication that was cut off before it compares', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada')]);
    await build(world, lake);
    copyFileSync(join(lake.folder, 'acme', SNAPSHOT), join(world.folder, 'before'));
    await world.send([event('2026-07-09', 'ada')]);
    await build(world, lake);
    renameSync(join(lake.folder, 'acme', SNAPSHOT), join(lake.folder, 'acme', NEXT));
    copyFileSync(join(world.folder, 'before'), join(lake.folder, 'acme', SNAPSHOT));
    rmSync(join(lake.folder, 'acme/users', snapshotOf(lake).tables.users?.files[0]?.path ?? ''));
    await lake.repair(world.store);
    await expectWhole(world, lake);
  });

  test('removes what an organization has left that the store does not have', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada')]);
    await build(world, lake);
    for (const name of ['stranger', 'damaged'])
      cpSync(join(lake.folder, 'acme'), join(lake.folder, name), { recursive: true });
    rmSync(join(lake.folder, 'stranger', SNAPSHOT));
    writeFileSync(join(lake.folder, 'damaged', SNAPSHOT), '{');
    writeFileSync(join(lake.folder, 'damaged', 'of-somebody'), '');
    await lake.repair(world.store);
    expect(readdirSync(lake.folder).sort()).toEqual(['acme', 'damaged']);
    expect(readdirSync(join(lake.folder, 'damaged'))).toEqual(['of-somebody']);
  });
});

describe('a publication', () => {
  test('does without files that are gone, and publishes their days again', async () => {
    const { world, lake } = await worldWithLake();
    await nights(world, lake, 6);
    const { files, removed } = snapshotOf(lake).tables.users ?? { files: [], removed: [] };
    expect(removed.length).toBeGreaterThan(0);
    for (const { path } of [...files, ...removed]) rmSync(join(lake.folder, 'acme/users', path));
    await nights(world, lake, 12, 6);
    await expectWhole(world, lake);
  });

  test('goes on with the other organizations if one can not be published', async () => {
    const { world, lake } = await worldWithLake();
    const organizations = ['acme', 'bolt', 'crane'];
    const sendToAll = (on: string) =>
      world.sendTogether(organizations.map((orgId) => [orgId, [event(on, 'ada')]]));
    for (const on of ['2026-07-06', '2026-07-07']) await sendToAll(on);
    await build(world, lake);
    for (const { path, bytes } of snapshotOf(lake, 'bolt').tables.users?.files ?? [])
      writeFileSync(join(lake.folder, 'bolt/users', path), Buffer.alloc(bytes));
    // One of its days changes, so the other is read.
    await sendToAll('2026-07-07');
    await sendToAll('2026-07-08');
    await expect(build(world, lake)).rejects.toThrow(LakeFailed);
    const hasDay = (orgId: string) =>
      snapshotOf(lake, orgId).tables.users?.files.some(({ days }) => '2026-07-08' in days);
    expect(organizations.map(hasDay)).toEqual([true, false, true]);
    await lake.repair(world.store);
    await expectWhole(world, lake);
  });

  test('begins again where the snapshot is gone, and leaves no file of before', async () => {
    const { world, lake } = await worldWithLake();
    await nights(world, lake, 3);
    // As if the process had ended while it removed the organization.
    renameSync(join(lake.folder, 'acme', SNAPSHOT), join(lake.folder, 'acme', NEXT));
    rmSync(join(lake.folder, 'acme/users'), { recursive: true });
    await new Lake(world.config, world.clock).publish(world.store, []);
    await expectWhole(world, lake);
    expect(readdirSync(join(lake.folder, 'acme/tools')).length).toBe(2);
  });

  test('does not take a snapshot that it may not read for one that is gone', async () => {
    const { world, lake } = await worldWithLake();
    await nights(world, lake, 2);
    const snapshot = join(lake.folder, 'acme', SNAPSHOT);
    const before = readFileSync(snapshot, 'utf8');
    rmSync(snapshot);
    mkdirSync(snapshot);
    await expect(new Lake(world.config, world.clock).publish(world.store, [])).rejects.toThrow(LakeFailed);
    rmSync(snapshot, { recursive: true });
    writeFileSync(snapshot, before);
    await expectWhole(world, lake);
  });
});

/** Builds and publishes nights, of each a day and, in every second one, late events of the day before. */
async function nights(world: World, lake: Lake, end: number, begin = 0): Promise<void> {
  for (let night = begin; night < end; night += 1) {
    const on = addDays('2026-01-20' as Day, night);
    world.now = Date.parse(`${addDays(on, 1)}T00:15:00Z`);
    const late = night % 2 === 1 ? [event(addDays(on, -1), `late-${night}`)] : [];
    await world.send([event(on, 'ada'), ...late]);
    await build(world, lake);
  }
}
