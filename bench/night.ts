import { build } from '../src/aggregate/build-days.js';
import { readConfig } from '../src/config.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { Lake } from '../src/lake/data-lake.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';

/** What one night took, in seconds. */
export interface Night {
  readonly ingest: number;
  readonly build: number;
  readonly publish: number;
}

/**
 * A program: `node night.js DATA NOW PATH...` takes files in, builds the days that are over at NOW (Unix milliseconds) and publishes them,
 * in a process of its own as the service would. It prints a Night as JSON.
 */
const [data = '', now = '', ...paths] = process.argv.slice(2);
const clock = () => Number(now);
const config = readConfig({ DAYBOOK_DATA: data });
const store = await DuckDbStore.open(data, { ...config, now: clock() });
const lake = new Lake(config, clock);

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

const files = inputFiles(paths, CANONICAL);
const night: Night = {
  ingest: await seconds(() => ingest(store, { orgId: 'acme', source: CANONICAL, files }, clock)),
  build: await seconds(() => build(store, {}, clock)),
  publish: await seconds(() => lake.publish(store, [])),
};
await store.close();
console.log(JSON.stringify(night));
