import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { build } from '../src/aggregate/build-days.js';
import { createKey } from '../src/api/api-keys.js';
import { readConfig } from '../src/config.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import type { Store } from '../src/store/store.js';
import { DAYS, dayAt, FIRST_DAY, LARGE, NOW, SMALL, writeEvents } from './generate-organization.js';
import { median, runProcess } from './run-process.js';
import { startServer } from './service.js';

// Many short ones, one after the other: what else the machine does then slows both.
const ROUNDS = 15;
const SECONDS = 2;
const CONNECTIONS = 20;
/** Ingests a year of a large organization and a month of a small one, and builds it all. */
async function fill(store: Store, folder: string): Promise<void> {
  const path = join(folder, 'events.ndjson');
  const send = (orgId: string) =>
    ingest(store, { orgId, source: CANONICAL, files: inputFiles([path], CANONICAL) }, () => NOW);
  await writeEvents(path, SMALL, [DAYS - 30, DAYS]);
  await send('small');
  for (let day = 0; day < DAYS; day += 30) {
    await writeEvents(path, LARGE, [day, Math.min(DAYS, day + 30)]);
    await send('large');
    console.log(`events of ${Math.min(DAYS, day + 30)} of ${DAYS} days are stored`);
  }
  rmSync(path);
}

/** The time in milliseconds that a share of some requests doesn't exceed. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

/** The body of an answer, by a light client: what unpacks and parses it takes time of the service's processors. */
async function read(agent: Agent, url: string, key: string): Promise<Buffer> {
  const [answer] = (await once(
    get(url, { agent, headers: { authorization: `Bearer ${key}` } }),
    'response',
  )) as [IncomingMessage];
  return buffer(answer);
}

/** The times in milliseconds of first pages of users that nobody has asked for before: 30 days each, another range each. */
async function firstPages(url: string, key: string): Promise<number[]> {
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true });
  for (let day = 0; day + 30 <= DAYS; day += 1) {
    const path = `/api/v1/analytics/users?startDate=${dayAt(day)}&endDate=${dayAt(day + 29)}`;
    const started = performance.now();
    const body = await read(agent, url + path, key);
    times.push(performance.now() - started);
    const { data, meta } = JSON.parse(body.toString()) as { data: unknown[]; meta: { has_more: boolean } };
    if (data.length !== 20 * 30 || !meta.has_more) throw new Error(`a page has ${data.length} rows`);
  }
  agent.destroy();
  return times;
}

/** Answers from memory against a bare route with the same bytes; and pages of users that must be read. */
export async function serve(root: string): Promise<void> {
  const folder = join(root, 'bench', 'out', 'data', 'serve');
  const isFilled = existsSync(join(folder, 'filled'));
  if (!isFilled) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const config = readConfig({ DAYBOOK_DATA: folder });
  const store = await DuckDbStore.open(folder, { ...config, memoryMb: 1024, now: NOW });
  if (!isFilled) await fill(store, folder);
  await build(
    store,
    {},
    () => NOW,
    (done, total) => process.stdout.write(`\rbuilt ${done} of ${total} days`),
  );
  process.stdout.write('\n');
  writeFileSync(join(folder, 'filled'), '');
  const small = await createKey(store, { orgId: 'small', role: 'manager' }, NOW);
  const large = await createKey(store, { orgId: 'large', role: 'manager' }, NOW);
  await store.close();

  const ours = await startServer(
    [join(root, 'dist', 'cli.js'), '--data', folder, 'serve', '--port', '0'],
    {
      DAYBOOK_BUILD_AT: 'off',
      DAYBOOK_HISTORY_START: FIRST_DAY,
      // The limit is counted, and not reached.
      DAYBOOK_RATE_LIMIT: '1000000000',
    },
    // Each request is logged, as it would be.
    'ignore',
  );
  const stops = [ours.stop];
  try {
    const times = await firstPages(ours.url, large.key);
    for (const share of [0.5, 0.99, 1])
      console.log(
        `uncached page of users, ${share === 1 ? 'slowest' : `p${share * 100}`} of ${times.length}: ${percentile(times, share).toFixed(0)} ms${share === 0.99 ? ' (bar: at most 100)' : ''}`,
      );
    const path = `/api/v1/analytics/tokens?startDate=${dayAt(DAYS - 30)}&endDate=${dayAt(DAYS - 1)}`;
    const answer = await fetch(ours.url + path, { headers: { authorization: `Bearer ${small.key}` } });
    const body = Buffer.from(await answer.arrayBuffer());
    writeFileSync(join(folder, 'body.json'), body);
    const bare = await startServer([
      join(root, 'bench', 'out', 'bench', 'bare-server.js'),
      join(folder, 'body.json'),
    ]);
    stops.push(bare.stop);
    const rateOf = async (url: string, seconds: number) => {
      const { output } = await runProcess('node', [
        join(root, 'bench', 'out', 'bench', 'load.js'),
        url + path,
        small.key,
        String(CONNECTIONS),
        String(seconds),
      ]);
      const { rate, bytes } = JSON.parse(output) as { rate: number; bytes: number };
      if (bytes !== body.length) throw new Error(`an answer has ${bytes} bytes, not ${body.length}`);
      return rate;
    };
    for (const { url } of [bare, ours]) await rateOf(url, 2);
    const ratios: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const most = await rateOf(bare.url, SECONDS);
      const rate = await rateOf(ours.url, SECONDS);
      ratios.push(rate / most);
      console.log(
        `round ${round}: ${body.length} bytes, bare ${most.toFixed(0)}, ours ${rate.toFixed(0)} answers/s`,
      );
    }
    console.log(`answers/s of ours / of a bare route: ${median(ratios).toFixed(2)} (bar: at least 0.6)`);
  } finally {
    for (const stop of stops) await stop();
  }
}
