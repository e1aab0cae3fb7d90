import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../src/data-files.js';
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

/** How much a store gets: so many days, of so many events of 10,000 users, who are of one organization or of many. */
export interface Size {
  readonly days: number;
  readonly perDay: number;
  readonly organizations: number;
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
  rmSync(data, { recursive: true, force: true });
  const told = [...TOLD.filter((day) => day + NIGHTS < days), days];
  const late = Math.round(perDay * LATE_SHARE);
  let stored = 0;

  /** Nights that follow each other, in one process as in a service; of the last ones it is told what they take. */
  const pass = async (indexes: readonly number[], isLate: boolean, isTold: boolean): Promise<Told[]> => {
    const events = perDay + (isLate ? late : 0);
    const paths: string[] = [];
    const bare: number[] = [];
    for (const index of indexes) {
      const path = await generateEvents(`${data}-${index}.ndjson`, events, {
        first: stored,
        day: dayAt(index),
        organizations,
        ...(isLate ? { late, lateDays: Math.min(LATE_DAYS, index) } : {}),
      });
      const isCompared = isTold && organizations === 1;
      bare.push(
        isCompared
          ? (await runProgram<BareDay>('bare-engine', 'duckdb', 'day', path)).load.seconds
          : Number.NaN,
      );
      paths.push(path);
      stored += events;
    }
    const args = indexes.flatMap((index, at) => [after(index + 1), paths[at] ?? '']);
    const passed = await runProgram<Night[]>('night', data, 'ingest,build,publish', ...args);
    for (const path of paths) rmSync(path, { recursive: true });
    if (passed.at(-1)?.events !== stored)
      throw new Error(`${passed.at(-1)?.events} of ${stored} events are stored`);
    return passed.map((night, at) => ({ ...night, bare: bare[at] ?? Number.NaN }));
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

  const closed: number[] = [];
  for (let index = 0; index <= days; ) {
    const next = told.find((day) => day > index) ?? days + 1;
    if (told.includes(index)) {
      say(`${index + 1}, late`, perDay + late, await pass([index], true, true));
      index += 1;
    } else if (next - index > WARM + NIGHTS) {
      await pass([index], false, false);
      index += 1;
    } else {
      const indexes = Array.from({ length: next - index }, (_, at) => index + at);
      const last = (await pass(indexes, false, true)).slice(-NIGHTS);
      say(String(next), perDay, last);
      sayBytes(data, stored);
      closed.push(median(last.map(({ build }) => build.seconds)));
      index = next;
    }
  }
  if (closed.length === 1) return;
  const ratio = (closed.at(-1) ?? Number.NaN) / (closed[0] ?? Number.NaN);
  console.log(`build at day ${days} / at day ${told[0]}: ${ratio.toFixed(2)} (bar: at most 1.2)`);
}
