import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { build } from '../../src/aggregate/build-days.js';
import { ingest } from '../../src/ingest/ingest-files.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { EARLIER } from '../../src/lake/earlier-snapshot.js';
import { LAKE_TABLES } from '../../src/lake/lake-paths.js';
import { lakeSql } from '../../src/lake/lake-sql.js';
import { NEXT, readSnapshot, SNAPSHOT, snapshotText } from '../../src/lake/snapshot.js';
import { readConfig } from '../../src/settings/config.js';
import { DuckDbStore } from '../../src/store/duckdb-store.js';
import { freePort } from '../ask.js';
import { CLI } from '../program.js';
import { playsSlow } from '../slow.js';
import { NOW, temporaryFolder } from '../world.js';

const KILLS = playsSlow() ? 20 : 2;
const DAYS = Array.from({ length: 9 }, (_, index) => `2026-07-0${index + 1}`);
const USERS = 10;

/** Whether something was made since an instant: what was left by a process before doesn't count. */
function isNew(path: string, since: number): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > since;
}

/** What a process that publishes can be seen at. The files of the last round are old enough to be removed. */
const POINTS = [
  '_staging',
  '_staging/1.parquet',
  'acme/users/_delta_log',
  'acme/_next.json',
  'acme/_snapshot.json',
];

test('a service that is killed while it publishes leaves a whole publication, and the next one publishes the rest', async () => {
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

  /** Makes what was replaced old enough to be removed. */
  const age = () => {
    const snapshot = readSnapshot(lake, 'acme');
    if (snapshot === undefined) return;
    rmSync(join(lake, 'acme', EARLIER), { recursive: true, force: true });
    for (const { removed, checkpoints } of Object.values(snapshot.tables))
      for (const one of [...removed, ...checkpoints]) one.at = 1;
    writeFileSync(join(lake, 'acme', SNAPSHOT), snapshotText(snapshot));
  };

  const stopped: Record<string, number> = {};
  /** How many calls a user has in the lake. */
  let published = 0;
  for (let round = 0; round < KILLS; round += 1) {
    const calls = round + 1;
    await (await buildAnother(calls)).close();
    age();
    const before = readSnapshot(lake, 'acme')?.published_at;
    const since = Date.now();
    const started = await start();
    const point = join(lake, String(POINTS[(round + 1) % POINTS.length]));
    // Some are there too briefly to be seen: then it is killed once it has published.
    const isReached = () => isNew(point, since) || isNew(join(lake, 'acme', SNAPSHOT), since);
    while (!isReached() && started.exitCode === null) await wait(1);
    await wait((round * 7) % 20);
    started.kill('SIGKILL');
    await once(started, 'exit');
    const after = readSnapshot(lake, 'acme');
    const at = existsSync(join(lake, 'acme', NEXT))
      ? 'committing'
      : after?.published_at === before
        ? 'writing'
        : existsSync(join(lake, '_staging'))
          ? 'removing'
          : 'whole';
    stopped[at] = (stopped[at] ?? 0) + 1;
    // Whatever it was at: all tables have the rows of one build, and none goes back to an older one.
    const store = await DuckDbStore.open(config.data, { ...config, now: NOW });
    if (after !== undefined) {
      const [row] = await store.select(
        `SELECT count(*) AS users, min(tool_calls) AS low, max(tool_calls) AS high, (SELECT count(*) FROM (${lakeSql(lake, 'events', [after])})) AS events
        FROM (${lakeSql(lake, 'users', [after])})`,
      );
      const low = Number(row?.low);
      expect(row).toEqual({
        users: USERS * DAYS.length,
        low,
        high: low,
        events: USERS * DAYS.length * low,
      });
      // Several that follow each other can be killed before they have published.
      expect(low).toBeGreaterThanOrEqual(published);
      expect(low).toBeLessThanOrEqual(calls);
      published = low;
    }
    await store.close();
  }
  if (KILLS > 2) console.log(`killed ${JSON.stringify(stopped)}`);
  expect(Object.keys(stopped).length).toBeGreaterThan(0);

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
  expect(existsSync(join(lake, 'acme', NEXT))).toBe(false);
  expect(await verify()).toEqual({ code: 0, said: compared });
}, 1_800_000);
