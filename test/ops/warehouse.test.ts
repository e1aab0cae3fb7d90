import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { Lake } from '../../src/lake/data-lake.js';
import { buildApp } from '../../src/service/app.js';
import { event, temporaryFolder, World } from '../world.js';

const SCRIPT = join(PACKAGE_ROOT, 'ops', 'warehouse', 'changed-days.sh');
const run = promisify(execFile);

test('an export has the days that have changed since what was loaded, and only these', async () => {
  const world = await World.create();
  world.now = Date.parse('2026-06-13T00:30:00Z');
  const lake = new Lake(world.config, world.clock);
  onTestFinished(() => lake.close());
  const app = buildApp(world);
  onTestFinished(() => app.close());
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'manager' }, world.now);
  const folder = join(temporaryFolder(), 'the export');
  const exporting = async (...tables: string[]) => {
    const env = { ...process.env, DAYBOOK_URL: address, DAYBOOK_KEY: key };
    const { stdout } = await run('bash', [SCRIPT, folder, ...tables], { env });
    return stdout.trim().split('\n').filter(Boolean);
  };
  const built = async (events: readonly object[]) => {
    await world.send(events);
    world.now += 60_000;
    await world.build();
    await lake.repair(world.store);
  };
  const printed = (table: string, day: string) => `${table} ${day} ${folder}/${table}/${day}.parquet`;
  const users = (day: string) =>
    world.store.select(
      `SELECT user_id, CAST(day AS VARCHAR) AS day, sessions FROM read_parquet('${folder}/users/${day}.parquet') ORDER BY user_id`,
    );
  const on = (id: string, day: string, more = {}) =>
    event(id, { timestamp: `2026-06-${day}T10:00:00Z`, session_id: id, ...more });
  const loaded = () => copyFileSync(join(folder, 'exported.csv'), join(folder, 'loaded.csv'));

  await built([on('a', '10'), on('b', '11'), on('c', '11', { user_id: 'grace' })]);
  const first = await exporting('users', 'activity');
  expect(first.filter((line) => line.startsWith('users '))).toEqual([
    printed('users', '2026-06-10'),
    printed('users', '2026-06-11'),
    printed('users', '2026-06-12'),
  ]);
  expect(await users('2026-06-12')).toEqual([]);
  expect(await users('2026-06-11')).toMatchObject([
    { user_id: 'ada', day: '2026-06-11', sessions: 1 },
    { user_id: 'grace', day: '2026-06-11', sessions: 1 },
  ]);

  // Nothing says yet that it was loaded.
  expect(await exporting('users', 'activity')).toEqual(first);
  loaded();
  expect(await exporting('users', 'activity')).toEqual([]);

  await built([on('late', '10', { user_id: 'linus' }), on('new', '12')]);
  const changed = await exporting('users', 'activity');
  expect(changed.filter((line) => line.startsWith('users '))).toEqual([
    printed('users', '2026-06-10'),
    printed('users', '2026-06-12'),
  ]);
  expect(await users('2026-06-10')).toMatchObject([{ user_id: 'ada' }, { user_id: 'linus' }]);
  loaded();
  expect(await exporting('users', 'activity')).toEqual([]);

  // A table that isn't there ends it before anything counts as loaded.
  await expect(exporting('users', 'user')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no day table user'),
  });
  rmSync(join(folder, 'loaded.csv'));
  expect(await exporting('users')).toHaveLength(3);
  expect(existsSync(join(folder, 'headers'))).toBe(false);
});

test('an export that is refused says so and ends', async () => {
  const world = await World.create();
  const app = buildApp(world);
  onTestFinished(() => app.close());
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const env = { ...process.env, DAYBOOK_URL: address, DAYBOOK_KEY: 'dbk_wrong' };
  await expect(run('bash', [SCRIPT, temporaryFolder(), 'users'], { env })).rejects.toMatchObject({
    stderr: expect.stringContaining('401'),
  });
});
