import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runBuild } from '../src/aggregate/build-run.js';
import { Inbox } from '../src/ingest/inbox.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { Lake } from '../src/lake/data-lake.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { receive } from './receive.js';
import { measure, type Taken } from './run-process.js';

/** What the steps of a night took, and how many events the store has after it. */
export interface Night {
  readonly ingest: Taken;
  readonly build: Taken;
  readonly publish: Taken;
  readonly tidy: Taken;
  readonly events: number;
}

/**
 * A program: `node night.js DATA STEPS NOW [PATH [NOW PATH]...]` takes in a file of events for the organization acme, builds the days that are
 * over at NOW (Unix milliseconds) and publishes them, as the service would: those of the steps `ingest,build,publish` that are named. A
 * folder has the events of many organizations, as generateEvents writes them: they come through the inbox. Nights follow each other in one
 * process. It prints a Night of each, as JSON.
 */
const [data = '', steps = '', ...rest] = process.argv.slice(2);
let now = Number(rest[0]);
const clock = () => now;
const config = readConfig({ DAYBOOK_DATA: data });
const store = await DuckDbStore.open(data, { ...config, now: clock() });

/** Takes in a file, or what a folder has for each organization. */
async function takeIn(path: string): Promise<void> {
  if (statSync(path).isFile()) {
    const files = inputFiles([path], CANONICAL);
    await ingest(store, { orgId: 'acme', source: CANONICAL, files }, clock);
    return;
  }
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const bodies = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({
      orgId: parentPath.split('org=')[1] ?? '',
      text: () => readFileSync(join(parentPath, name)),
    }));
  const inbox = Inbox.open({ ...config, data }, clock);
  await receive(inbox, bodies);
  await inbox.drain(store);
  await inbox.close();
}

const nothing: Taken = { seconds: 0, memory: 0 };
const isAsked = (name: string) => steps.split(',').includes(name);
const step = (name: string, work: () => Promise<unknown>) =>
  isAsked(name) ? measure(work) : Promise.resolve(nothing);

/** Builds, publishes and tidies up as the service does in a night. */
async function run(): Promise<Pick<Night, 'build' | 'publish' | 'tidy'>> {
  let publish = nothing;
  let published: Promise<void> = Promise.resolve();
  const build = await measure(async () => {
    const { breaches, published: after } = await runBuild(store, 'nightly', {}, clock, {
      publish: async (days) => {
        publish = await step('publish', () => new Lake(config, clock).publish(store, days));
      },
    });
    if (breaches.length > 0) throw new Error(`a day breaks a claim: ${JSON.stringify(breaches[0])}`);
    published = after;
  });
  const { seconds, memory } = await measure(() => published);
  return { build, publish, tidy: { seconds: seconds - publish.seconds, memory } };
}

const nights: Night[] = [];
for (let index = 0; index < rest.length; index += 2) {
  now = Number(rest[index]);
  const night = {
    ingest: await step('ingest', () => takeIn(rest[index + 1] ?? '')),
    ...(isAsked('build') ? await run() : { build: nothing, publish: nothing, tidy: nothing }),
  };
  const [all] = await store.select('SELECT count(*) AS events FROM events');
  nights.push({ ...night, events: Number(all?.events) });
}
await store.close();
console.log(JSON.stringify(nights));
