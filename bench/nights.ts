import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../src/disk/data-files.js';
import { LAKE } from '../src/lake/lake-paths.js';
import type { BareDay } from './bare-engine.js';
import { generateEvents } from './generate-events.js';
import { dayAt } from './generate-organization.js';
import type { Night } from './night.js';
import { median, runProgram } from './run-process.js';
import { count, table } from './table.js';

const MS_PER_DAY = 86_400_000;
/**
 * After so many nights, and after the last one, it is told what one more takes: the median of the last few. A night comes before them in the
 * same process, since a service has read before where its rows are.
 */
const TOLD = [30, 120, 365];
const NIGHTS = 3;
const WARM = 1;
/** The night after that has late events as well: which share, and of how many days before. */
const LATE_SHARE = 0.01;
const LATE_DAYS = 30;
/** How often the full store and the one of the first days are compared, in turns. */
const TURNS = 2;

/** How much a store gets: so many days, of so many events of 10,000 users, who are of one organization or of many. */
export interface Size {
  readonly days: number;
  readonly perDay: number;
  readonly organizations: number;
}

/** A store that nights fill: its folder, how many events it has, and how many nights it has had. */
interface Filled {
  readonly data: string;
  stored: number;
  nights: number;
}

/** A night, and how many seconds DuckDB alone took to load its events; NaN if it wasn't asked to. */
type Told = Night & { readonly bare: number };

/** A quarter of an hour after so many days: Unix milliseconds, as an argument. */
export function after(days: number): string {
  return String(Date.parse(dayAt(days)) + MS_PER_DAY / 96);
}

/** How many bytes of the database and of the lake an event takes. */
export function sayBytes(data: string, events: number): void {
  const lake = readdirSync(join(data, LAKE), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  const [database, published] = [statSync(join(data, DATABASE)).size, lake].map((bytes) =>
    (bytes / events).toFixed(1),
  );
  console.log(
    `bytes an event, ${count(events)} events: ${database} in the database, ${published} in the lake`,
  );
}

/** Fills a store night by night: a day is taken in, built and published. Says what a night takes. */
export async function nights(data: string, { days, perDay, organizations }: Size): Promise<void> {
  const full: Filled = { data, stored: 0, nights: 0 };
  let early: Filled | undefined;
  for (const folder of [data, `${data}-early`]) rmSync(folder, { recursive: true, force: true });
  const told = [...TOLD.filter((day) => day + WARM + NIGHTS < days), days];
  const late = Math.round(perDay * LATE_SHARE);

  /** Nights that follow each other, in one process as in a service; answers the last ones, of which it is told what they take. */
  const pass = async (store: Filled, some: number, isTold = true, isLate = false): Promise<Told[]> => {
    const events = perDay + (isLate ? late : 0);
    const made: { readonly path: string; readonly day: number; readonly stored: number }[] = [];
    for (let night = 0; night < some; night += 1) {
      const day = store.nights;
      const path = await generateEvents(`${store.data}-${day}.ndjson`, events, {
        first: store.stored,
        day: dayAt(day),
        organizations,
        ...(isLate ? { late, lateDays: Math.min(LATE_DAYS, day) } : {}),
      });
      store.stored += events;
      store.nights += 1;
      made.push({ path, day, stored: store.stored });
    }
    const bare: number[] = [];
    for (const { path } of isTold && organizations === 1 ? made.slice(-NIGHTS) : [])
      bare.push((await runProgram<BareDay>('bare-engine', 'duckdb', 'day', path)).load.seconds);
    const args = made.flatMap(({ path, day }) => [after(day + 1), path]);
    const passed = await runProgram<Night[]>('night', store.data, 'ingest,build,publish', ...args);
    for (const [at, { path, stored }] of made.entries()) {
      rmSync(path, { recursive: true });
      if (passed[at]?.events !== stored)
        throw new Error(`${passed[at]?.events} of ${stored} events are stored`);
    }
    return passed.slice(-NIGHTS).map((night, at) => ({ ...night, bare: bare[at] ?? Number.NaN }));
  };

  const row = table(
    'day       ',
    'events/s',
    'read_json',
    'ingest',
    '  build',
    'publish',
    '   tidy',
    '      MiB of each ',
  );
  const say = (day: string, events: number, some: readonly Told[]) => {
    const seconds = (of: (night: Told) => number) => median(some.map(of));
    const rate = seconds(({ ingest, bare }) => bare / ingest.seconds);
    const steps = ['ingest', 'build', 'publish', 'tidy'] as const;
    row(
      day,
      count(events / seconds(({ ingest }) => ingest.seconds)),
      Number.isNaN(rate) ? '' : rate.toFixed(2),
      ...steps.map((step) => seconds((night) => night[step].seconds).toFixed(2)),
      steps.map((step) => Math.max(...some.map((night) => night[step].memory))).join('/'),
    );
  };

  for (const day of told) {
    while (full.nights < day - NIGHTS - WARM) await pass(full, 1, false);
    say(String(day), perDay, await pass(full, day - full.nights));
    sayBytes(data, full.stored);
    if (early === undefined && day < days) {
      early = { ...full, data: `${data}-early` };
      cpSync(data, early.data, { recursive: true });
    }
    say(`${day + 1}, late`, perDay + late, await pass(full, 1, true, true));
  }
  if (early === undefined) return;

  // In turns, since an hour later a machine can be slower or faster by more than the bar allows.
  const [few, many]: [Told[], Told[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    few.push(...(await pass(early, WARM + NIGHTS)));
    many.push(...(await pass(full, WARM + NIGHTS)));
  }
  say(`${early.nights}, turns`, perDay, few);
  say(`${full.nights}, turns`, perDay, many);
  const [first = Number.NaN, last = Number.NaN] = [few, many].map((some) =>
    median(some.map(({ build }) => build.seconds)),
  );
  console.log(
    `build after ${full.nights} days / after ${early.nights} days: ${(last / first).toFixed(2)} (bar: at most 1.2)`,
  );
}
