import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Day } from '../../src/day.js';
import { Lake } from '../../src/lake/data-lake.js';
import { replacePeople } from '../../src/people/people-change.js';
import type { Person } from '../../src/store/state/person.js';
import type { World } from '../world.js';
import {
  build,
  event,
  expectWhole,
  filesOfLog,
  lakeRows,
  snapshotOf,
  worldWithLake,
  writtenFiles,
} from './lake-world.js';

const HOUR_MS = 3_600_000;

function person(userId: string, aliases: string[], teams: [string, string, string][]): Person {
  return {
    ...{ userId, name: `${userId} of the tests`, emails: [`${userId}@acme.example`], aliases },
    memberships: teams.map(([name, firstDay, lastDay]) => ({
      ...{ kind: 'team', name, isLead: false },
      ...{ firstDay: firstDay as Day, lastDay: lastDay as Day },
    })),
  };
}

async function save({ store, now }: World, orgId: string, people: readonly Person[]): Promise<void> {
  await replacePeople(store, orgId, () => people, { author: 'test' }, now);
}

const ALWAYS: [string, string] = ['1970-01-01', '2100-01-01'];

/** The people of all organizations in the lake. */
const people = (lake: Lake, asOf?: number) =>
  lakeRows(lake, 'people', 'SELECT org_id, user_id FROM rows_of ORDER BY ALL', asOf);

test('the people of each organization are published whole with the build after they change', async () => {
  const { world, lake } = await worldWithLake();
  await world.send([event('2026-07-08', 'ada')]);
  await world.send([event('2026-07-08', 'zuse')], { orgId: 'globex' });
  await save(world, 'acme', [
    person(
      'ada',
      ['ada-laptop'],
      [
        ['Compilers', '1970-01-01', '2026-07-05'],
        ['Engines', '2026-07-06', '2100-01-01'],
      ],
    ),
    person('grace', [], [['Compilers', ...ALWAYS]]),
  ]);
  await save(world, 'globex', [person('zuse', ['konrad'], [])]);
  await build(world, lake);
  expect(await people(lake)).toEqual([
    { org_id: 'acme', user_id: 'ada' },
    { org_id: 'acme', user_id: 'grace' },
    { org_id: 'globex', user_id: 'zuse' },
  ]);
  expect(await lakeRows(lake, 'aliases', 'SELECT * FROM rows_of WHERE NOT is_email ORDER BY ALL')).toEqual([
    { org_id: 'acme', alias: 'ada-laptop', user_id: 'ada', is_email: false },
    { org_id: 'globex', alias: 'konrad', user_id: 'zuse', is_email: false },
  ]);
  expect(
    await lakeRows(
      lake,
      'memberships',
      'SELECT user_id, name, first_day, last_day FROM rows_of ORDER BY ALL',
    ),
  ).toEqual([
    { user_id: 'ada', name: 'Compilers', first_day: '1970-01-01', last_day: '2026-07-05' },
    { user_id: 'ada', name: 'Engines', first_day: '2026-07-06', last_day: '2100-01-01' },
    { user_id: 'grace', name: 'Compilers', first_day: '1970-01-01', last_day: '2100-01-01' },
  ]);
  // They are no days that are served, and what is in an organization's folder is the organization's alone.
  expect([snapshotOf(lake).days, snapshotOf(lake).newest_day]).toEqual([
    ['2026-07-08', '2026-07-09'],
    '2026-07-09',
  ]);
  for (const path of writtenFiles(lake).keys())
    if (path.startsWith('acme'))
      expect(readFileSync(join(lake.folder, path), 'latin1')).not.toMatch(/zuse|konrad/);
  await expectWhole(world, lake);

  // Nothing has changed, so nothing is written. A change is, although no day is built.
  const before = writtenFiles(lake, '');
  world.now += HOUR_MS;
  await build(world, lake);
  expect(writtenFiles(lake, '')).toEqual(before);
  const globex = snapshotOf(lake, 'globex');
  await save(world, 'acme', [person('grace', [], [['Engines', ...ALWAYS]])]);
  await build(world, lake);
  expect(await people(lake)).toEqual([
    { org_id: 'acme', user_id: 'grace' },
    { org_id: 'globex', user_id: 'zuse' },
  ]);
  expect(snapshotOf(lake, 'globex')).toEqual(globex);
  await expectWhole(world, lake);

  // Those who leave last leave no rows.
  world.now += HOUR_MS;
  await save(world, 'acme', []);
  await build(world, lake);
  expect(await people(lake)).toEqual([{ org_id: 'globex', user_id: 'zuse' }]);
  await expectWhole(world, lake);
});

test('an earlier instant has the people of today, and those of then are gone after an hour', async () => {
  const { world, lake } = await worldWithLake();
  await world.send([event('2026-07-08', 'ada')]);
  await save(world, 'acme', [person('ada', [], [])]);
  await build(world, lake);
  const first = world.now;
  world.now += HOUR_MS;
  await save(world, 'acme', [person('grace', [], [])]);
  await build(world, lake);
  for (const asOf of [first, world.now])
    expect(await people(lake, asOf)).toEqual([{ org_id: 'acme', user_id: 'grace' }]);
  expect((await lakeRows(lake, 'users', 'SELECT user_id FROM rows_of', first))[0]).toEqual({
    user_id: 'ada',
  });
  world.now += HOUR_MS + 1;
  await world.send([event('2026-07-08', 'grace')]);
  await build(world, lake);
  const named = [...writtenFiles(lake, '').keys()].filter(
    (path) => path.includes('/people/') && readFileSync(join(lake.folder, path), 'latin1').includes('ada of'),
  );
  expect(named).toEqual([]);
  await expectWhole(world, lake);
});

test('the lake of another store gets its people, and what differs is found and put right', async () => {
  const { world, lake } = await worldWithLake();
  await world.send([event('2026-07-08', 'ada')]);
  await save(world, 'acme', [person('ada', [], [['Compilers', ...ALWAYS]])]);
  await build(world, lake);
  // Somebody has changed the store itself.
  await world.store.run([
    { sql: "DELETE FROM people WHERE user_id = 'ada'" },
    { sql: "INSERT INTO people VALUES ('acme', 'ada', 'Ada', 'ada@acme.example')" },
  ]);
  expect((await lake.verify(world.store)).differences).toMatchObject([{ table: 'people' }]);
  await lake.repair(world.store);
  await expectWhole(world, lake);
  expect(await lakeRows(lake, 'people', 'SELECT name FROM rows_of')).toEqual([{ name: 'Ada' }]);
  const { version, files } = snapshotOf(lake).tables.people ?? {};
  expect((await filesOfLog(join(lake.folder, 'acme', 'people'))).version).toBe(version);
  expect(files).toHaveLength(1);
  expect((await new Lake(world.config, world.clock).verify(world.store)).days).toBe(2);
});
