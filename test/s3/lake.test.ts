import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Lake } from '../../src/lake/data-lake.js';
import { snapshotAt } from '../../src/lake/earlier-snapshot.js';
import { fetchPublished, removeGone } from '../../src/lake/fetched-lake.js';
import { lakeSql } from '../../src/lake/lake-sql.js';
import { readSnapshot } from '../../src/lake/snapshot.js';
import { readConfig } from '../../src/settings/config.js';
import { ask, build, event } from '../lake/lake-world.js';
import { playsSlow } from '../slow.js';
import { temporaryFolder, World } from '../world.js';
import * as published from './published.js';
import { withCredentials } from './s3-credentials.js';
import { S3Server } from './s3-server.js';

let server: S3Server;
let world: World;
beforeEach(async () => {
  withCredentials(onTestFinished);
  server = await S3Server.start();
  onTestFinished(() => server.close());
  world = await World.create();
});

/** A node with a disk of its own, the store of all and the bucket of all. */
function node(): Lake {
  const { lake } = readConfig({ DAYBOOK_LAKE: server.address('lake') });
  return new Lake({ data: join(temporaryFolder(), 'data'), lakeKeepDays: 30, lake }, world.clock);
}

const filesOf = (table: string, orgId = 'acme') => published.filesOf(server, table, orgId);
const inSnapshot = (table: string, orgId = 'acme') => published.inSnapshot(server, table, orgId);

async function differences(lake: Lake): Promise<unknown[]> {
  return [...(await lake.verify(world.store)).differences];
}

test('the lake is in the bucket, and whichever node publishes goes on with it', async () => {
  const [first, second] = [node(), node()];
  await world.send([event('2026-06-01', 'ada'), event('2026-06-02', 'grace')]);
  await build(world, first);
  expect(filesOf('users')).toEqual(inSnapshot('users'));
  expect(filesOf('users')).toHaveLength(1);
  expect(await differences(second)).toEqual([]);
  for (let day = 3; day < 13; day += 1) {
    world.now += 3_600_000;
    await world.send([event(`2026-06-${String(day).padStart(2, '0')}`, 'ada'), event('2026-06-01', 'late')]);
    await build(world, day % 2 === 0 ? first : second);
  }
  expect(inSnapshot('users').length).toBeGreaterThan(0);
  expect(server.keys('lake/acme/users/_delta_log/').some((key) => key.endsWith('.checkpoint.parquet'))).toBe(
    true,
  );
  for (const lake of [first, second, node()]) expect(await differences(lake)).toEqual([]);
});

test('of nodes that publish at once one does, and nothing is lost', async () => {
  const nodes = [node(), node(), node()];
  server.delayOf = () => Math.random() * 10;
  for (let day = 1; day < 6; day += 1) {
    world.now += 60_000;
    await world.send([event(`2026-06-0${day}`, 'ada')]);
    await world.build();
    await Promise.all(nodes.map((lake) => lake.publish(world.store, [])));
  }
  server.delayOf = () => 0;
  await nodes[0]?.publish(world.store, []);
  expect(filesOf('users')).toEqual(inSnapshot('users'));
  expect(filesOf('events')).toEqual(inSnapshot('events'));
  expect(await differences(node())).toEqual([]);
});

test('a publication that is cut off anywhere is finished by another node', async () => {
  await world.send([event('2026-06-01', 'ada')]);
  await build(world, node());
  const step = playsSlow() ? 1 : 31;
  let isWhole = false;
  for (let after = 1; !isWhole; after += step) {
    world.now += 60_000;
    await world.send([event('2026-06-02', `user-${after}`)]);
    await world.build();
    let left = after;
    server.faultOf = () => {
      left -= 1;
      return left > 0 ? undefined : left === 0 ? 'lost answer' : 'cut';
    };
    isWhole = await node()
      .publish(world.store, [])
      .then(
        () => true,
        () => false,
      );
    server.faultOf = () => undefined;
    const next = node();
    await next.publish(world.store, []);
    expect(filesOf('users'), `after ${after}`).toEqual(inSnapshot('users'));
    expect(await differences(next), `after ${after}`).toEqual([]);
  }
});

test('files are repaired, retention removes rows at once, and what is forgotten is gone', async () => {
  const lake = node();
  await world.send([event('2026-06-01', 'ada'), event('2026-06-20', 'grace')]);
  await build(world, lake);
  const [key = ''] = server.keys('lake/acme/users/part-');
  const whole = server.objects.get(key) as Buffer;
  server.objects.set(key, whole.subarray(0, 100));
  const other = node();
  expect(await differences(other)).toHaveLength(1);
  await other.repair(world.store);
  expect(await differences(node())).toEqual([]);
  const before = filesOf('events');
  await build(world, other, 30);
  expect(filesOf('events')).not.toEqual(before);
  expect(server.keys('lake/acme/events/part-').map((name) => name.slice('lake/acme/events/'.length))).toEqual(
    filesOf('events'),
  );
  await other.forget(world.store, 'acme');
  expect(server.keys('lake/acme/')).toEqual([]);
  await other.publish(world.store, []);
  expect(await differences(node())).toEqual([]);
});

test('a node removes files that the bucket no longer has, once no query can read them', async () => {
  const [publisher, own] = [node(), node()];
  const { lake } = readConfig({ DAYBOOK_LAKE: server.address('lake') });
  const place = { data: dirname(own.folder), lake, lakeCacheMb: 1 };
  await removeGone(place);
  await world.send([event('2026-06-01', 'ada')]);
  await build(world, publisher);
  await fetchPublished(place, 'acme');
  const parquet = () =>
    readdirSync(own.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.parquet'),
    );
  const first = parquet();
  // As an erasure does.
  await publisher.forget(world.store, 'acme');
  world.now += 60_000;
  await publisher.publish(world.store, []);
  await fetchPublished(place, 'acme');
  await removeGone(place);
  expect(parquet()).toEqual(expect.arrayContaining(first));
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (const name of parquet()) utimesSync(join(own.folder, name), old, old);
  await removeGone(place);
  const left = parquet();
  expect(left.length).toBeGreaterThan(0);
  expect(left.filter((name) => first.includes(name) || !server.objects.has(`lake/${name}`))).toEqual([]);
  // A node that only publishes makes room here.
  writeFileSync(join(own.folder, left[0] ?? ''), Buffer.alloc(2 << 20));
  utimesSync(join(own.folder, left[0] ?? ''), old, old);
  await removeGone(place);
  expect(parquet()).toHaveLength(left.length - 1);
});

test('a node fetches what a query reads, of now or of an earlier instant, and makes room for it', async () => {
  const publisher = node();
  await world.send([event('2026-06-01', 'ada')]);
  await build(world, publisher);
  const then = world.now;
  world.now += 3_600_000;
  await world.send([event('2026-06-01', 'grace')]);
  await build(world, publisher);
  const { lake } = readConfig({ DAYBOOK_LAKE: server.address('lake') });
  const place = { data: temporaryFolder(), lake, lakeCacheMb: 1 };
  const folder = join(place.data, 'lake');
  const usersAt = async (asOf?: number) => {
    await fetchPublished(place, 'acme', asOf);
    const current = readSnapshot(folder, 'acme');
    const published = current === undefined ? undefined : snapshotAt(folder, current, asOf);
    const rows = await ask(
      `SELECT user_id FROM (${lakeSql(folder, 'users', published === undefined ? [] : [published])}) ORDER BY user_id`,
    );
    return rows.map(({ user_id }) => user_id);
  };
  expect(await usersAt()).toEqual(['ada', 'grace']);
  expect(await usersAt(then)).toEqual(['ada']);
  const { GET } = server.counts;
  expect(await usersAt()).toEqual(['ada', 'grace']);
  // The snapshot, and no file again.
  expect(server.counts.GET).toBe(Number(GET) + 1);
  const parquet = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'));
  const old = new Date(Date.now() - 2 * 3_600_000);
  writeFileSync(join(folder, 'acme', 'users', 'part-1-0.parquet'), Buffer.alloc(2 << 20));
  utimesSync(join(folder, 'acme', 'users', 'part-1-0.parquet'), old, old);
  const before = parquet().length;
  expect(await usersAt()).toEqual(['ada', 'grace']);
  expect(parquet()).toHaveLength(before - 1);
  await fetchPublished(place, 'nobody');
  expect(readSnapshot(folder, 'nobody')).toBeUndefined();
});

test('a file that a query comes to need while others are removed is not removed', async () => {
  const { lake } = readConfig({ DAYBOOK_LAKE: server.address('lake') });
  const place = { data: temporaryFolder(), lake, lakeCacheMb: 1 };
  const folder = join(place.data, 'lake', 'acme', 'users');
  mkdirSync(folder, { recursive: true });
  const old = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const [first, second] = ['first', 'second'].map((name) => join(folder, `${name}.parquet`)) as [
    string,
    string,
  ];
  for (const [place, path] of [first, second].entries()) {
    writeFileSync(path, Buffer.alloc(2 << 20));
    utimesSync(path, old(5 - place), old(5 - place));
    server.objects.set(`lake/acme/users/${path.slice(folder.length + 1)}`, Buffer.alloc(2 << 20));
  }
  const removed = vi.spyOn(promises, 'rm').mockImplementationOnce(async (path) => {
    rmSync(path);
    utimesSync(second, new Date(), new Date());
  });
  onTestFinished(() => removed.mockRestore());
  await removeGone(place);
  expect([first, second].map((path) => existsSync(path))).toEqual([false, true]);
});
