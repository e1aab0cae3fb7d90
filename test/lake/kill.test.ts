import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { build } from '../../src/aggregate/build-days.js';
import { readConfig } from '../../src/config.js';
import { ingest } from '../../src/ingest/ingest-files.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { LAKE_TABLES, lakeSql } from '../../src/lake/lake-paths.js';
import { DuckDbStore } from '../../src/store/duckdb-store.js';
import { freePort } from '../ask.js';
import { CLI } from '../program.js';
import { NOW, temporaryFolder } from '../world.js';

const KILLS = process.env.SLOW_TESTS === undefined ? 2 : 20;
const DAYS = Array.from({ length: 9 }, (_, index) => `2026-07-0${index + 1}`);
const USERS = 10;

/** Whether something was made since an instant: what was left by a process before doesn't count. */
function isNew(path: string, since: number): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > since;
}

/** What a process that publishes can be seen at, in the order in which it comes. */
const POINTS = ['_staging/events', '_staging/users', '_intent', 'users/org_id=acme/day=2026-07-02'];

test('a service that is killed while it publishes leaves whole files, and the next one publishes the rest', async () => {
  const folder = temporaryFolder();
  const config = readConfig({ DAYBOOK_DATA: join(folder, 'data'), DAYBOOK_THREADS: '1' });
  const lake = join(config.data, 'lake');
  let child: ChildProcess | undefined;
  onTestFinished(() => void child?.kill('SIGKILL'));

  /** Builds the days once more, as a process does that ends before it publishes them; each user has a call more then. */
  const buildAnother = async (calls: number) => {
    const store = await DuckDbStore.open(config.data, { ...config, now: NOW });
    const lines = DAYS.flatMap((day) =>
      Array.from({ length: USERS }, (_, user) =>
        JSON.stringify({
          event_id: `${day}-${user}-${calls}`,
          type: 'tool_call',
          tool_name: 'Read',
          timestamp: `${day}T10:00:00Z`,
          user_id: `user-${user}`,
          session_id: 's',
        }),
      ),
    );
    const path = join(folder, 'events.ndjson');
    writeFileSync(path, `${lines.join('\n')}\n`);
    const files = [{ path, size: statSync(path).size }];
    await ingest(store, { orgId: 'acme', source: CANONICAL, files }, () => NOW);
    await build(store, { to: DAYS.at(-1) as never }, () => NOW);
    return store;
  };
  const start = async () => {
    const args = [CLI, 'serve', '--port', String(await freePort())];
    const env = { PATH: process.env.PATH ?? '', DAYBOOK_DATA: config.data, DAYBOOK_BUILD_AT: 'off' };
    const started = spawn('node', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    return started;
  };

  const stopped: Record<string, number> = {};
  for (let round = 0; round < KILLS; round += 1) {
    const calls = round + 1;
    await (await buildAnother(calls)).close();
    const since = Date.now();
    const started = await start();
    const point = join(lake, String(POINTS[(round + 1) % POINTS.length]));
    while (!isNew(point, since) && started.exitCode === null) await wait(1);
    await wait((round * 7) % 20);
    started.kill('SIGKILL');
    await once(started, 'exit');
    const at = isNew(join(lake, '_intent'), since)
      ? 'replacing'
      : isNew(join(lake, '_staging'), since)
        ? 'writing'
        : 'whole';
    stopped[at] = (stopped[at] ?? 0) + 1;
    // Whatever it was at: each day has the rows of a build, none goes back to an older one.
    const store = await DuckDbStore.open(config.data, { ...config, now: NOW });
    if (existsSync(join(lake, 'users'))) {
      const rows = await store.select(
        `SELECT count(*) AS users, min(tool_calls) AS low, max(tool_calls) AS high FROM (${lakeSql(lake, 'users')}) GROUP BY day`,
      );
      for (const row of rows) {
        expect(row).toMatchObject({ users: USERS, low: row.high });
        expect(row.low).toBeLessThanOrEqual(calls);
      }
    }
    await store.close();
  }
  if (KILLS > 2) console.log(`killed ${JSON.stringify(stopped)}`);
  expect((stopped.replacing ?? 0) + (stopped.writing ?? 0)).toBeGreaterThan(0);

  const last = await start();
  await once(last.stdout as NodeJS.ReadableStream, 'data');
  const verify = async () => {
    const asked = spawn('node', [CLI, '--data', config.data, 'lake', 'verify'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said, [code]] = await Promise.all([text(asked.stdout), once(asked, 'close')]);
    return { code, said };
  };
  const compared = expect.stringMatching(
    new RegExp(
      String.raw`^The lake has the same rows as the store\.\nCompared: 1 organization, 9 built days, ${LAKE_TABLES.length} tables; \d+ rows in \d+ files\.\n`,
    ),
  );
  expect(await verify()).toEqual({ code: 0, said: compared });
  last.kill('SIGTERM');
  await once(last, 'exit');
  expect(existsSync(join(lake, '_intent'))).toBe(false);
  expect(await verify()).toEqual({ code: 0, said: compared });
}, 1_800_000);
