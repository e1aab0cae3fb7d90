import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../src/aggregate/build-days.js';
import { Inbox } from '../src/ingest/inbox.js';
import { Lake } from '../src/lake/data-lake.js';
import { readConfig } from '../src/settings/config.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { databaseOf, isInstalled } from '../test/clickhouse/engine.js';
import { receive } from './receive.js';

const ORGANIZATIONS = 2000;
const EVENTS = 3;
const ROUNDS = 3;

/** When the days of the events are over. */
const BUILT_AT = Date.parse('2026-06-12T12:00:00Z');

/** The events that an organization sends in a round. Half of the first round's come again in the second. */
function bodyOf(round: number): string {
  const lines = Array.from({ length: EVENTS }, (_, index) =>
    JSON.stringify({
      event_id: `event-${Math.max(0, round - 1)}-${index + (round === 1 ? 2 : 0)}`,
      type: 'user_message',
      timestamp: `2026-06-1${index % 2}T10:00:0${index}Z`,
      user_id: 'ada',
      session_id: 'first',
      user_email: 'ada@acme.example',
    }),
  );
  return `${lines.join('\n')}\n`;
}

/** Small bodies of many organizations: how long it takes to acknowledge one of each, to settle them, and to build and publish their two days. */
export async function organizations(_: string, args: readonly string[]): Promise<void> {
  const count = Number(args.find((arg) => /^\d+$/.test(arg)) ?? ORGANIZATIONS);
  for (const engine of isInstalled() ? ['DuckDB', 'ClickHouse'] : ['DuckDB']) {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
    const undo: (() => void | Promise<void>)[] = [];
    try {
      const config = readConfig({ DAYBOOK_DATA: join(folder, 'data') });
      const settings = { ...config, now: Date.now() };
      const store =
        engine === 'DuckDB'
          ? await DuckDbStore.open(config.data, settings)
          : await ClickHouseStore.with(
              config.data,
              settings,
              databaseOf(config.data, (work) => void undo.unshift(work)),
            );
      undo.unshift(() => store.close());
      const inbox = Inbox.open(config, Date.now);
      undo.unshift(() => inbox.close());
      for (let round = 0; round < ROUNDS; round += 1) {
        const started = performance.now();
        const text = () => bodyOf(round);
        await receive(
          inbox,
          Array.from({ length: count }, (_, index) => ({ orgId: `org-${index}`, text })),
        );
        const acknowledged = performance.now();
        const before = process.cpuUsage();
        await inbox.drain(store);
        const { user, system } = process.cpuUsage(before);
        const [all] = await store.select(
          'SELECT count(*) AS events, count(DISTINCT org_id) AS organizations FROM events',
        );
        console.log(
          `${engine}, round ${round + 1}: ${count} organizations with ${EVENTS} events each acknowledged in ${((acknowledged - started) / 1000).toFixed(1)} s, settled in ${((performance.now() - acknowledged) / 1000).toFixed(1)} s (bar: less than 20; ${((user + system) / 1e6).toFixed(1)} s of processor time): ${all?.events} events of ${all?.organizations} organizations`,
        );
      }
      const started = performance.now();
      const { days } = await build(store, {}, () => BUILT_AT);
      const built = performance.now();
      const lake = new Lake(config, () => BUILT_AT);
      await lake.publish(store, []);
      const published = performance.now();
      const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
      console.log(
        `${engine}: ${days.length} days built in ${seconds(started, built)} s, published in ${seconds(built, published)} s (bar: together less than 60)`,
      );
    } finally {
      for (const work of undo) await work();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
