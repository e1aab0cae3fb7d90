import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { runBuild } from '../../src/aggregate/build-run.js';
import { createKey } from '../../src/api/api-keys.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { Lake } from '../../src/lake/data-lake.js';
import { Seen } from '../../src/lake/snapshot.js';
import { buildApp } from '../../src/service/app.js';
import { isInstalled } from '../clickhouse/engine.js';
import { playsSlow } from '../slow.js';
import { World } from '../world.js';

const SECONDS = playsSlow() ? 120 : 5;
const DAYS = ['2026-07-07', '2026-07-08', '2026-07-09'];
const USERS = 60;

const Answer = z.object({
  data: z.array(z.record(z.string(), z.number())).default([]),
  meta: z.object({ snapshot: Seen }).optional(),
});

/** What a reader has found. */
interface Found {
  readonly reads: number;
  /** How often it found a newer build. */
  readonly builds: number;
  readonly faults: unknown[];
}

/** Has another process read the lake, and answers when it does. */
async function read(engine: string, folder: string): Promise<{ child: ChildProcess; said: Promise<string> }> {
  const modules = join(PACKAGE_ROOT, 'test/clickhouse/node_modules/installed.json');
  const script = join(PACKAGE_ROOT, 'test/lake/reader.js');
  const args = [script, engine, folder, String(DAYS.length), String(USERS), modules];
  const child = spawn('node', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = text(child.stdout);
  await Promise.race([once(child.stdout, 'data'), said]);
  return { child, said };
}

/** Asks SQL over HTTP for numbers of several tables, which agree in each publication, until `isOver` of how often it has asked, and of how many publications. */
async function readOverHttp(
  world: World,
  isOver: (reads: number, builds: number) => boolean,
): Promise<Found> {
  const app = buildApp(world);
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'manager' }, world.now);
  const sql = `SELECT
    (SELECT sum(tool_calls) FROM users) AS of_users,
    (SELECT count(*) FROM events) AS of_events,
    (SELECT sum(tool_calls) FROM user_tools) AS of_tools,
    (SELECT min(tool_calls) FROM users) AS low,
    (SELECT max(tool_calls) FROM users) AS high`;
  let reads = 0;
  const faults: unknown[] = [];
  const publications = new Map<string, number>();
  while (!isOver(reads, publications.size) && faults.length < 5) {
    const given = await fetch(`${url}/api/v1/sql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sql }),
    });
    reads += 1;
    const { data, meta } = Answer.parse(await given.json());
    const [row] = data;
    const low = row?.low ?? 0;
    const calls = USERS * DAYS.length * low;
    const isWhole = [row?.of_users, row?.of_events, row?.of_tools].every((found) => found === calls);
    if (!isWhole || low !== row?.high) faults.push({ status: given.status, row });
    const at = String(meta?.snapshot.published_at);
    if ((publications.get(at) ?? low) !== low) faults.push({ at, row });
    publications.set(at, low);
  }
  return { reads, builds: publications.size, faults };
}

test(`whoever reads while days are built again for ${SECONDS} seconds sees all of one publication`, async () => {
  const world = await World.create();
  const lake = new Lake(world.config, world.clock);
  let calls = 0;
  /** Each user has called one tool more on each day. */
  const buildAnother = async () => {
    calls += 1;
    await world.send(
      DAYS.flatMap((day) =>
        Array.from({ length: USERS }, (_, user) => ({
          event_id: `${day}-${user}-${calls}`,
          type: 'tool_call',
          tool_name: 'Read',
          timestamp: `${day}T10:00:00Z`,
          user_id: `user-${user}`,
          session_id: `session-${user}`,
        })),
      ),
    );
    const publish = (days: Parameters<Lake['publish']>[1]) => lake.publish(world.store, days);
    return runBuild(world.store, 'command', {}, world.clock, { publish });
  };
  await (await buildAnother()).finished;
  const engines = isInstalled() ? ['duckdb', 'clickhouse'] : ['duckdb'];
  const readers = await Promise.all(engines.map((engine) => read(engine, join(lake.folder, 'acme'))));
  let isOver = false;
  /** Whether whoever asks over HTTP has seen enough. */
  let hasSeen = false;
  const overHttp = readOverHttp(world, (reads, builds) => {
    hasSeen = reads >= 5 && builds > 1;
    return isOver;
  });
  const end = performance.now() + SECONDS * 1000;
  while ((performance.now() < end || !hasSeen) && readers.every(({ child }) => child.exitCode === null))
    await (await buildAnother()).finished;
  isOver = true;
  for (const { child } of readers) child.stdin?.end();
  const found = await Promise.all(
    readers.map(async ({ said }): Promise<Found> => JSON.parse((await said).replace('reading\n', ''))),
  );
  for (const [index, one] of [...found, await overHttp].entries()) {
    if (SECONDS > 5) console.log(`${[...engines, 'HTTP'][index]}: ${JSON.stringify(one)} of ${calls} builds`);
    expect(one).toEqual({ reads: expect.any(Number), builds: expect.any(Number), faults: [] });
    expect(one.reads).toBeGreaterThan(3);
    expect(one.builds).toBeGreaterThan(1);
  }
  expect((await lake.verify(world.store)).differences).toEqual([]);
});
