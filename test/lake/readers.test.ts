import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { runBuild } from '../../src/aggregate/build-run.js';
import { Lake } from '../../src/lake/data-lake.js';
import { PACKAGE_ROOT } from '../../src/package-root.js';
import { isInstalled } from '../clickhouse/engine.js';
import { World } from '../world.js';

const SECONDS = process.env.SLOW_TESTS === undefined ? 5 : 120;
const DAYS = ['2026-07-07', '2026-07-08', '2026-07-09'];
const USERS = 60;

/** Has another process read the lake, and answers when it does. */
async function read(engine: string, lake: Lake): Promise<{ child: ChildProcess; said: Promise<string> }> {
  const modules = join(PACKAGE_ROOT, 'test/clickhouse/node_modules/installed.json');
  const script = join(PACKAGE_ROOT, 'test/lake/reader.js');
  const args = [script, engine, lake.folder, String(DAYS.length), String(USERS), modules];
  const child = spawn('node', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = text(child.stdout);
  await Promise.race([once(child.stdout, 'data'), said]);
  return { child, said };
}

test(`programs that read while days are built again for ${SECONDS} seconds see whole days of one build alone`, async () => {
  const world = await World.create();
  const lake = new Lake(world.config.data);
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
    await runBuild(world.store, 'command', {}, world.clock, { publish });
  };
  await buildAnother();
  const engines = isInstalled() ? ['duckdb', 'clickhouse'] : ['duckdb'];
  const readers = await Promise.all(engines.map((engine) => read(engine, lake)));
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end && readers.every(({ child }) => child.exitCode === null))
    await buildAnother();
  for (const { child } of readers) child.stdin?.end();
  for (const [index, { said }] of readers.entries()) {
    const found = JSON.parse((await said).replace('reading\n', ''));
    if (SECONDS > 5) console.log(`${engines[index]}: ${JSON.stringify(found)} of ${calls} builds`);
    expect(found).toEqual({ reads: expect.any(Number), builds: expect.any(Number), faults: [] });
    expect(found.reads).toBeGreaterThan(3);
    expect(found.builds).toBeGreaterThan(DAYS.length * 2);
  }
  expect((await lake.verify(world.store)).differences).toEqual([]);
});
