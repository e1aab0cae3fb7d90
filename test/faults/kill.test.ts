import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RATE_CARD } from '../laws/law.js';
import { daybook } from '../program.js';
import { until } from '../service.js';
import { World } from '../world.js';
import { compare, idsIn } from './outcome.js';
import { KILLS, SEED } from './settings.js';
import { drain, Site } from './site.js';

/** How long a killed process lives at most, in milliseconds. It takes a few hundred to start. */
const LIFE_MS = { service: 2200, command: 1500 };

/** What is killed in a round, and when. */
const ROUNDS: Record<string, (site: Site) => Promise<void>> = {
  async serve(site) {
    await site.kill('serve', site.serve(), 300 + site.upTo(LIFE_MS.service));
  },

  async settle(site) {
    const service = site.serve();
    await site.serving(service);
    await site.kill('settle', service, site.upTo(LIFE_MS.service));
  },

  /** A service that builds and publishes for a command, and merges what is published already. */
  async build(site) {
    const service = site.serve();
    await site.serving(service);
    const command = site.start('build', '--all');
    const isLate = site.upTo(2) === 0;
    const life = 400 + site.upTo(LIFE_MS.command);
    const end = once(command, 'close');
    if (isLate) await end;
    await site.kill('build', service, isLate ? site.upTo(500) : life);
    command.kill('SIGKILL');
    await end;
  },

  async 'build alone'(site) {
    await site.kill('build alone', site.start('build', '--all'), 300 + site.upTo(LIFE_MS.command));
  },

  async publish(site) {
    await site.kill('publish', site.start('lake', 'publish'), 300 + site.upTo(LIFE_MS.command));
  },

  async ingest(site) {
    await site.ingestAll();
    await site.kill('ingest', site.start('ingest', '--org', 'initech', site.file()), 300 + site.upTo(700));
  },

  async 'ingest into a service'(site) {
    await site.ingestAll();
    const service = site.serve();
    await site.serving(service);
    const command = site.start('ingest', '--org', 'initech', site.file());
    const life = 300 + site.upTo(700);
    if (site.upTo(2) === 0) {
      await site.kill('ingest into a service', command, life);
      await site.kill('serve', service, site.upTo(200));
    } else {
      const end = once(command, 'close');
      await site.kill('ingest into a service', service, life);
      await end;
    }
  },

  async backup(site) {
    const service = site.serve();
    await site.serving(service);
    const folder = site.path('backup');
    const before = site.ledgers.map(({ acknowledged }) => [...acknowledged]);
    await site.kill('backup', site.start('backup', folder), 300 + site.upTo(900));
    await site.kill('serve', service, site.upTo(300));
    if (!existsSync(folder)) return;
    const restored = site.path('restored');
    const { code } = await daybook(['--data', restored, 'restore', folder]);
    expect(code).toBe(0);
    const world = await World.create(
      { DAYBOOK_DATA: restored, DAYBOOK_RATE_CARD: RATE_CARD },
      undefined,
      undefined,
      'DuckDB',
    );
    world.now = Date.now();
    await world.inbox.drain(world.store);
    for (const [index, { orgId }] of site.ledgers.entries()) {
      const found = new Set(await idsIn(world, orgId));
      expect(before[index]?.filter((id) => !found.has(id))).toEqual([]);
    }
    rmSync(folder, { recursive: true });
  },

  async restore(site) {
    const folder = site.path('backup');
    await site.run('backup', folder);
    const isDone = !(await site.kill(
      'restore',
      site.start('restore', '--replace', folder),
      300 + site.upTo(500),
    ));
    if (!isDone) await site.run('restore', '--replace', folder);
    rmSync(folder, { recursive: true });
    for (const name of readdirSync(site.data))
      if (name.startsWith('replaced')) rmSync(join(site.data, name), { recursive: true });
    // The lake isn't in a backup: it is published anew.
    for (const versions of site.versions) versions.forget();
  },

  async upgrade(site) {
    // What a killed process left in the log belongs to the file before it is made older.
    await site.run('build');
    await site.age();
    const copies = () => site.copies();
    const before = copies();
    const service = site.serve();
    if (site.upTo(3) > 0) await until(() => copies() !== before || service.exitCode !== null);
    if (await site.kill('upgrade', service, site.upTo(1000))) site.upgrades.push(await site.newestChange());
  },
};

test(`processes that are killed at random moments lose and double nothing, seed ${SEED}`, async () => {
  console.log(`FAULTS_SEED=${SEED} FAULTS_KILLS=${KILLS}`);
  const site = new Site();
  const senders = await site.senders();
  // Each kind comes before any comes once more; the briefest more often.
  const names = [...Object.keys(ROUNDS), 'serve', 'serve', 'settle', 'build alone', 'publish'];
  let next: string[] = [];
  while (site.killed < KILLS) {
    if (next.length === 0) next = [...names];
    const [name = ''] = next.splice(site.upTo(next.length), 1);

    await ROUNDS[name]?.(site);
    await site.note();
  }
  for (const sender of senders) await sender.stop();
  await drain(site);
  await site.note();
  const totals = await compare(site);
  console.log(
    `killed ${site.killed}: ${JSON.stringify(site.kills)}; upgrades ${site.upgrades}; ${JSON.stringify(totals)}`,
  );
  expect(totals.acknowledged).toBeGreaterThan(0);
}, 3_600_000);
