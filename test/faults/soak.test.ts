import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Load } from './load.js';
import { SEED, SOAK_MINUTES } from './settings.js';
import { end, Site } from './site.js';

/** From then on memory may not grow any more; in a short run from its middle on. */
const SETTLED_MINUTES = Math.min(10, SOAK_MINUTES / 2);
/** How often all is done at least in each half of the time after that: less would not show what takes memory. */
const ROUNDS = 3;
const SAMPLE_MS = 500;
/** How much higher its peak may be in the last half of the time that is left than in the first: a short run hasn't seen all that takes memory. */
const GROWTH = SOAK_MINUTES >= 20 ? 1.1 : 1.5;

/** The MiB that a process and those below it keep in memory. */
function residentMb(pid: number | undefined): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        const of = (member: string) =>
          Number(new RegExp(`^${member}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
        return [{ pid: Number(name), parent: of('PPid'), mb: of('VmRSS') / 1024 }];
      } catch {
        // It has ended.
        return [];
      }
    });
  const below = new Set([pid]);
  // A process is listed after the one that started it, unless the numbers have begun anew.
  for (const one of processes) if (below.has(one.parent)) below.add(one.pid);
  return processes.reduce((sum, one) => sum + (below.has(one.pid) ? one.mb : 0), 0);
}

test.runIf(process.platform === 'linux')(
  `memory stays flat under a load of everything for ${SOAK_MINUTES} minutes, seed ${SEED}`,
  async () => {
    const site = new Site();
    Object.assign(site.env, { DAYBOOK_MEMORY_MB: '256', DAYBOOK_SQL_MEMORY_MB: '128' });
    const load = await Load.on(site);
    const service = site.serve();
    await site.serving(service);
    await load.begun();
    /** The MiB at most within some minutes, and until all was done some times. */
    const peakOf = async (minutes: number) => {
      const before = load.counts;
      const isDone = () =>
        Object.entries(load.counts).every(([name, count]) => count >= (before[name] ?? 0) + ROUNDS);
      const end = performance.now() + minutes * 60_000;
      let most = 0;
      while (performance.now() < end || !isDone()) {
        most = Math.max(most, residentMb(service.pid));
        await wait(SAMPLE_MS);
      }
      return most;
    };
    const settling = await peakOf(SETTLED_MINUTES);
    const half = (SOAK_MINUTES - SETTLED_MINUTES) / 2;
    const [first, last] = [await peakOf(half), await peakOf(half)];
    const peaks = [settling, first, last].map((mb) => Math.round(mb));
    console.log(
      `MiB at most, until settled and in each half after: ${peaks.join(' ')}; ${JSON.stringify(load.counts)}`,
    );
    await load.stop();
    expect(load.refusals).toEqual(new Set());
    await end(service);
    expect(last).toBeLessThan(GROWTH * first);
  },
  (SOAK_MINUTES + 10) * 60_000,
);
