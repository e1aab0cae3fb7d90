import {
  appendFileSync,
  copyFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Lake } from '../../src/lake/data-lake.js';
import type { LakeTable } from '../../src/lake/lake-paths.js';
import { SNAPSHOT, snapshotText } from '../../src/lake/snapshot.js';
import { ask, build, event, expectWhole, lakeRows, snapshotOf, worldWithLake } from './lake-world.js';

describe('lake verify', () => {
  test('names every file that is missing, damaged or of other rows, and publish puts it right', async () => {
    const { world, lake } = await worldWithLake();
    await world.send(['2026-07-07', '2026-07-08', '2026-07-09'].map((on) => event(on, `user-of-${on}`)));
    await build(world, lake);
    for (const orgId of ['globex', 'nobody']) await world.send([event('2026-07-09', 'grace')], { orgId });
    await build(world, lake);
    // An organization that the store doesn't have: the lake of another database.
    cpSync(join(lake.folder, 'nobody'), join(lake.folder, 'stranger'), { recursive: true });
    const text = readFileSync(join(lake.folder, 'stranger', SNAPSHOT), 'utf8');
    writeFileSync(join(lake.folder, 'stranger', SNAPSHOT), text.replace('"nobody"', '"stranger"'));
    const path = (table: LakeTable, orgId = 'acme') =>
      join(lake.folder, orgId, table, snapshotOf(lake, orgId).tables[table]?.files[0]?.path ?? '');
    const change = async (table: LakeTable, select: string, orgId = 'acme') => {
      await ask(
        `COPY (${select} FROM '${path(table, orgId)}') TO '${path(table, orgId)}.new' (FORMAT parquet)`,
      );
      renameSync(`${path(table, orgId)}.new`, path(table, orgId));
      // What is told of the size is not what this is about.
      const file = join(lake.folder, orgId, SNAPSHOT);
      const snapshot = snapshotOf(lake, orgId);
      const [first] = snapshot.tables[table]?.files ?? [];
      if (first !== undefined) first.bytes = statSync(path(table, orgId)).size;
      writeFileSync(file, snapshotText(snapshot));
    };
    rmSync(path('users'));
    truncateSync(path('tools'), 100);
    appendFileSync(path('quality'), 'x');
    await change(
      'user_tools',
      "SELECT * REPLACE (CASE WHEN day = '2026-07-08' THEN 7 ELSE tool_calls END AS tool_calls)",
    );
    await change(
      'events',
      "SELECT * REPLACE (CASE WHEN day = '2026-07-08' THEN 'eve' ELSE user_id END AS user_id)",
    );
    await change('users', "SELECT * REPLACE (DATE '2019-01-01' AS day)", 'globex');
    writeFileSync(path('user_tools', 'globex'), Buffer.alloc(statSync(path('user_tools', 'globex')).size));
    rmSync(join(lake.folder, 'nobody/users/_delta_log/00000000000000000000.json'));
    const told = ({ differences }: Awaited<ReturnType<Lake['verify']>>) =>
      differences
        .map(({ path, detail }) =>
          `${path} ${detail}`
            .replace(/part-\d+-0/, 'part')
            .replace(/(has )\d+( bytes where the snapshot has )\d+/, '$1N$2M')
            .replace(/(can't be read: ).*/, '$1why'),
        )
        .sort();
    const expected = [
      'acme/events/part.parquet has other rows than the store of 2026-07-08',
      'acme/quality/part.parquet has N bytes where the snapshot has M',
      'acme/tools/part.parquet has N bytes where the snapshot has M',
      'acme/user_tools/part.parquet has other rows than the store of 2026-07-08',
      'acme/users/part.parquet is missing',
    ];
    const others = [
      "globex/user_tools/part.parquet can't be read: why",
      'globex/users/part.parquet has other rows than the store of 2019-01-01 and 1 more',
      'nobody/users/_delta_log/00000000000000000000.json is missing',
    ];
    expect(told(await lake.verify(world.store, 'acme'))).toEqual(expected);
    const all = told(await lake.verify(world.store));
    expect(all.filter((one) => !one.startsWith('stranger/'))).toEqual([...expected, ...others]);
    expect(all.filter((one) => one.startsWith('stranger/')).length).toBeGreaterThan(5);
    expect(told(await lake.repair(world.store))).toEqual(all);
    await expectWhole(world, lake);
    expect(readdirSync(lake.folder).sort()).toEqual(['acme', 'globex', 'nobody']);
    expect((await lakeRows(lake, 'users', 'SELECT count(*)::INT AS n FROM rows_of'))[0]?.n).toBe(5);
  });

  test('compares what builds and arrivals recorded', async () => {
    const { world, lake } = await worldWithLake();
    const rejected = event('2026-07-08', 'ada', { event_id: 7 });
    await world.send([event('2026-07-08', 'ada'), rejected]);
    await build(world, lake);
    world.now += 1000;
    await world.send([event('2026-07-08', 'grace')]);
    await build(world, lake);
    await expectWhole(world, lake);
    for (const table of ['digests', 'rejects', 'restatements'] as const) {
      const count = 'SELECT count(*)::INT AS n FROM rows_of';
      const before = await lakeRows(lake, table, count);
      expect(before, table).not.toEqual([{ n: 0 }]);
      rmSync(join(lake.folder, 'acme', table), { recursive: true });
      expect((await lake.verify(world.store)).differences.map((one) => one.table)).toContain(table);
      await lake.repair(world.store);
      expect(await lakeRows(lake, table, count)).toEqual(before);
    }
    // A line that is rejected after the build waits for the next publication.
    await world.send([event('2026-07-08', 'linus', { event_id: 8 })]);
    expect((await lake.verify(world.store)).differences).toEqual([]);
    await lake.repair(world.store);
    await expectWhole(world, lake);
  });

  test('publishes a lake that is not there, also that of an empty store', async () => {
    const { world, lake } = await worldWithLake();
    expect((await lake.repair(world.store)).organizations).toBe(0);
    await world.send([event('2026-07-08', 'ada')]);
    await build(world, lake);
    rmSync(lake.folder, { recursive: true });
    expect((await lake.repair(world.store)).differences.length).toBeGreaterThan(5);
    await expectWhole(world, lake);
  });

  test('finds a day that the lake lacks', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada')]);
    await build(world, lake);
    copyFileSync(join(lake.folder, 'acme', SNAPSHOT), join(world.folder, 'before'));
    await world.send([event('2026-07-09', 'ada')]);
    await build(world, lake);
    copyFileSync(join(world.folder, 'before'), join(lake.folder, 'acme', SNAPSHOT));
    const { differences } = await lake.verify(world.store);
    const told = differences.map(({ path, detail }) => `${path} ${detail}`);
    expect(told).toContain('acme/users has no rows of 2026-07-09');
    expect(told).toContain('acme/events has no rows of 2026-07-09');
  });
});
