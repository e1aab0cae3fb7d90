import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../src/aggregate/build-days.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import type { Store } from '../src/store/store.js';
import { type Asked, ask, percentile } from './asking.js';
import { DAYS, dayAt, LARGE, NOW, SMALL, writeEvents } from './generate-organization.js';
import { median, runProgram } from './run-process.js';
import { serveFilled, startServer } from './service.js';

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

/** First pages of users that nobody has asked for before: 30 days each, another range each. */
function firstPages(key: string): Asked[] {
  return Array.from({ length: DAYS - 29 }, (_, day) => ({
    path: `/api/v1/analytics/users?startDate=${dayAt(day)}&endDate=${dayAt(day + 29)}`,
    key,
  }));
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
  await store.close();

  const ours = await serveFilled(root, folder, ['small', 'large']);
  const [small = '', large = ''] = ours.keys;
  const stops = [ours.stop];
  try {
    const times = (await ask(ours.url, firstPages(large), 20 * 30)).map(({ ms }) => ms);
    for (const share of [0.5, 0.99, 1])
      console.log(
        `uncached page of users, ${share === 1 ? 'slowest' : `p${share * 100}`} of ${times.length}: ${percentile(times, share).toFixed(0)} ms${share === 0.99 ? ' (bar: at most 100)' : ''}`,
      );
    const path = `/api/v1/analytics/tokens?startDate=${dayAt(DAYS - 30)}&endDate=${dayAt(DAYS - 1)}`;
    const answer = await fetch(ours.url + path, { headers: { authorization: `Bearer ${small}` } });
    const body = Buffer.from(await answer.arrayBuffer());
    writeFileSync(join(folder, 'body.json'), body);
    const bare = await startServer([
      join(root, 'bench', 'out', 'bench', 'bare-server.js'),
      join(folder, 'body.json'),
    ]);
    stops.push(bare.stop);
    const rateOf = async (url: string, seconds: number) => {
      const { rate, bytes } = await runProgram<{ rate: number; bytes: number }>(
        'load',
        url + path,
        small,
        String(CONNECTIONS),
        String(seconds),
      );
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
