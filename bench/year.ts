import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../src/aggregate/build-days.js';
import type { Day } from '../src/day.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { Lake } from '../src/lake/data-lake.js';
import { type Config, readConfig } from '../src/settings/config.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { ROLL_UPS, rollUpTable } from '../src/store/roll-ups.js';
import { DAYS, dayAt, LARGE, NOW, writeEvents } from './generate-organization.js';
import { type Server, serveFilled } from './service.js';

const ORGANIZATION = {
  ...LARGE,
  models: ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-5', 'gpt-5'],
  usages: 2,
  repos: 200,
};
/** How many days are written, taken in and built; the others are copies of them. */
const DAYS_BUILT = 30;

/** The tables that the answers of built days are read from, and what says that they are built. */
const COPIED = [...BUILT_TABLES, 'days', 'digests'];

/** Takes in and builds the first days of an organization, and copies their rows until they are a year. */
async function fill(store: DuckDbStore, config: Config, folder: string): Promise<void> {
  const daysBuilt = async () => Number((await store.select('SELECT count(*) AS days FROM days'))[0]?.days);
  if ((await daysBuilt()) === 0) {
    const path = join(folder, 'events.ndjson');
    await writeEvents(path, ORGANIZATION, [0, DAYS_BUILT]);
    await ingest(
      store,
      { orgId: 'acme', source: CANONICAL, files: inputFiles([path], CANONICAL) },
      () => NOW,
    );
    rmSync(path);
    await build(store, { to: dayAt(DAYS_BUILT - 1) as Day }, () => NOW);
  }
  for (let days = await daysBuilt(); days < DAYS; days = await daysBuilt()) {
    const copied = Math.min(days, DAYS - days);
    // All tables at once: what is cut off goes on from here.
    await store.run(
      COPIED.map((table) => ({
        sql: `INSERT INTO ${table} SELECT * REPLACE (day + ${days} AS day) FROM ${table} WHERE day < DATE '${dayAt(copied)}' ORDER BY org_id, day`,
      })),
    );
    console.log(`${days + copied} of ${DAYS} days are there`);
  }
  await store.run(ROLL_UPS.map((one) => ({ sql: rollUpTable(one) })));
  // Otherwise the service would do it while it is measured.
  await new Lake(config, () => NOW).publish(store, []);
}

/**
 * Starts a service with an organization of 10,000 users who work each day of a year, all days built; what is made once stays. Answers
 * it with the key of a manager.
 */
export async function startYear(root: string): Promise<Server & { readonly key: string }> {
  const folder = join(root, 'bench', 'out', 'data', 'year');
  const isFilled = existsSync(join(folder, 'filled'));
  mkdirSync(folder, { recursive: true });
  const config = readConfig({ DAYBOOK_DATA: folder });
  const store = await DuckDbStore.open(folder, { ...config, memoryMb: 1024, now: NOW });
  if (!isFilled) await fill(store, config, folder);
  writeFileSync(join(folder, 'filled'), '');
  await store.close();
  const { keys, ...server } = await serveFilled(root, folder, ['acme']);
  return { ...server, key: keys[0] ?? '' };
}
