import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../src/aggregate/build-days.js';
import { addDays, type Day } from '../src/day.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { readConfig } from '../src/settings/config.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import type { Store } from '../src/store/store.js';
import { databaseOf, isInstalled } from '../test/clickhouse/engine.js';
import { answersOf } from '../test/clickhouse/same.js';
import { DAY, generateEvents } from './generate-events.js';

const USERS = 2000;
const DAYS = 40;
const EVENTS = 1_000_000;
/** Those that come after the first build. */
const LATE = 30_000;

const LAST = addDays(DAY as Day, DAYS - 1);
const clock = () => Date.parse(`${addDays(DAY as Day, DAYS)}T00:15:00.000Z`);

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

/** Answers of an organization of 2,000 users and 40 days from both engines, before and after late events: byte for byte. */
export async function engines(root: string): Promise<void> {
  if (!isInstalled()) throw new Error('Install the engine first: node scripts/chdb.js');
  const folder = join(root, 'bench', 'out', 'data');
  const shape = { users: USERS, days: DAYS };
  const files = [
    await generateEvents(join(folder, `events-${USERS}-users-${DAYS}-days.ndjson`), EVENTS, shape),
    await generateEvents(join(folder, `late-${USERS}-users-${DAYS}-days.ndjson`), LATE, {
      ...shape,
      first: EVENTS,
    }),
  ];
  const undo: (() => void | Promise<void>)[] = [];
  const atEnd = (work: () => void | Promise<void>) => void undo.unshift(work);
  try {
    const open = async (name: 'DuckDB' | 'ClickHouse'): Promise<Store> => {
      const data = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
      atEnd(() => rmSync(data, { recursive: true, force: true }));
      const { rateCard, prices } = readConfig({ DAYBOOK_DATA: data });
      const settings = { data, memoryMb: 2048, rateCard, prices, now: clock() };
      const store =
        name === 'DuckDB'
          ? await DuckDbStore.open(data, settings)
          : await ClickHouseStore.with(data, settings, databaseOf(data, atEnd));
      atEnd(() => store.close());
      return store;
    };
    const stores = { DuckDB: await open('DuckDB'), ClickHouse: await open('ClickHouse') };
    for (const [index, file] of files.entries()) {
      const answers: Record<string, string>[] = [];
      for (const [name, store] of Object.entries(stores)) {
        const request = {
          orgId: 'acme',
          source: CANONICAL,
          files: inputFiles([file], CANONICAL),
        };
        const { accepted } = await timed(`${name} ingest`, () => ingest(store, request, clock));
        if (accepted !== (index === 0 ? EVENTS : LATE)) throw new Error(`${name} took ${accepted} events`);
        const { breaches } = await timed(`${name} build`, () => build(store, {}, clock));
        if (breaches.length > 0) throw new Error(`${name}: ${JSON.stringify(breaches[0])}`);
        answers.push(await timed(`${name} answers`, () => answersOf(store, 'acme', DAY as Day, LAST)));
      }
      const [duckdb = {}, clickhouse = {}] = answers;
      for (const [answer, json] of Object.entries(duckdb)) {
        const isSame = json === clickhouse[answer];
        console.log(`${answer}: ${json.length} bytes, ${isSame ? 'the same' : 'DIFFERENT'}`);
        if (!isSame) process.exitCode = 1;
      }
    }
  } finally {
    for (const work of undo) await work();
  }
}
