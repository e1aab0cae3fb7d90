import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../src/aggregate/build-days.js';
import { addDays, dayOf } from '../src/day.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { Lake } from '../src/lake/data-lake.js';
import { readConfig } from '../src/settings/config.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { databaseOf, isInstalled } from '../test/clickhouse/engine.js';
import { runProcess } from './run-process.js';

/** Six years before yesterday, and yesterday. */
const YESTERDAY = addDays(dayOf(Date.now()), -1);
const DAYS = [addDays(YESTERDAY, -6 * 365), YESTERDAY];

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}

/** One event of six years ago and one of yesterday: how long the program takes to build and publish the days, and the files. */
export async function emptyDays(root: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const events = join(folder, 'events.ndjson');
    const lines = DAYS.map((day) =>
      JSON.stringify({
        event_id: day,
        type: 'user_message',
        timestamp: `${day}T10:00:00Z`,
        user_id: 'ada',
        session_id: day,
      }),
    );
    writeFileSync(events, `${lines.join('\n')}\n`);
    const data = join(folder, 'data');
    const cli = (...args: string[]) =>
      runProcess('node', [join(root, 'dist', 'cli.js'), '--data', data, ...args]);
    await cli('ingest', '--org', 'acme', events);
    const built = await cli('build');
    console.log(built.output.trim());
    console.log(`daybook build: ${built.seconds.toFixed(1)} s, ${Math.round(built.memory)} MiB`);
    console.log(`files in the lake: ${filesIn(join(data, 'lake'))}`);
    console.log(`daybook lake verify: ${(await cli('lake', 'verify')).seconds.toFixed(1)} s`);
    if (!isInstalled()) return;
    const other = join(folder, 'clickhouse');
    const config = readConfig({ DAYBOOK_DATA: other });
    const connected = databaseOf(other, (work) => void undo.unshift(work));
    const store = await ClickHouseStore.with(other, { ...config, now: Date.now() }, connected);
    undo.unshift(() => store.close());
    const files = inputFiles([events], CANONICAL);
    await ingest(store, { orgId: 'acme', source: CANONICAL, files }, Date.now);
    const started = performance.now();
    await build(store, {}, Date.now);
    const published = performance.now();
    await new Lake(config, Date.now).publish(store, []);
    const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
    console.log(
      `ClickHouse: built in ${seconds(started, published)} s, published in ${seconds(published, performance.now())} s`,
    );
  } finally {
    for (const work of undo) await work();
    rmSync(folder, { recursive: true, force: true });
  }
}
