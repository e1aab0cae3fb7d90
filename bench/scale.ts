import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateEvents } from './generate-events.js';
import type { Night } from './night.js';
import { median, runProcess } from './run-process.js';

const MS_PER_DAY = 86_400_000;
const FIRST_DAY = '2025-07-01';
/** A figure is the median of so many nights. */
const NIGHTS = 3;
/** Of how many days before there are late events. */
const LATE_DAYS = 30;

function midnight(index: number): number {
  return Date.parse(FIRST_DAY) + index * MS_PER_DAY;
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/**
 * A year of an organization of 10,000 users, night by night: a day is taken in, built and published, each night by a process of its own.
 * Says what a night takes after 30, 120 and 365 days, and with late events of the month before. `--events` is how many events the year
 * has, `--days` how many days.
 */
export async function scale(root: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { events: { type: 'string', default: '100000000' }, days: { type: 'string', default: '365' } },
  });
  const days = Number(values.days);
  const events = Math.round(Number(values.events) / days);
  const folder = mkdtempSync(join(tmpdir(), 'daybook-scale-'));
  const data = join(folder, 'data');
  const program = join(root, 'bench', 'out', 'bench', 'night.js');

  const nights: (Night & { memory: number })[] = [];
  /** Takes in one day, and so many late events of each of the days before it. */
  const pass = async (index: number, late: number): Promise<void> => {
    const dayOf = (back: number) => new Date(midnight(index - back)).toISOString().slice(0, 10);
    const paths = [
      await generateEvents(join(folder, 'day.ndjson'), events, { day: dayOf(0), first: index * events }),
    ];
    for (let back = 1; late > 0 && back <= LATE_DAYS; back += 1)
      paths.push(
        await generateEvents(join(folder, `late-${back}.ndjson`), late, {
          day: dayOf(back),
          first: (days + back) * events,
        }),
      );
    // A quarter of an hour after the day is over.
    const now = String(midnight(index + 1) + MS_PER_DAY / 96);
    const { output, memory } = await runProcess('node', [program, data, now, ...paths]);
    for (const path of paths) rmSync(path);
    nights.push({ ...JSON.parse(output.trim().split('\n').at(-1) ?? ''), memory });
  };
  const say = (what: string, some: typeof nights) => {
    const of = (step: keyof Night) => `${step} ${median(some.map((one) => one[step])).toFixed(2)} s`;
    const rate = Math.round(events / median(some.map((one) => one.ingest)));
    console.log(
      `${what}: ${of('ingest')} (${rate} events/s), ${of('build')}, ${of('publish')}, at most ${Math.max(...some.map((one) => one.memory))} MiB`,
    );
  };
  try {
    console.log(`${days} days of ${events} events`);
    for (let index = 0; index < days; index += 1) {
      await pass(index, 0);
      const count = index + 1;
      if (![30, 120, days].includes(count)) continue;
      say(`day ${count}`, nights.slice(-NIGHTS));
      const [all, lake] = [data, join(data, 'lake')].map((one) => bytesOf(one) / count / events);
      console.log(`day ${count}: ${all?.toFixed(1)} bytes an event, ${lake?.toFixed(1)} of them in the lake`);
    }
    if (days <= LATE_DAYS) return;
    await pass(days, Math.round(events / 100 / LATE_DAYS));
    say(`day ${days + 1}, with 1 % late events of ${LATE_DAYS} days`, nights.slice(-1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
