import { setTimeout as wait } from 'node:timers/promises';
import type { FrontProcess } from '../clickhouse/front/process.js';

/** What goes wrong with two ClickHouse servers of one engine. `random` gives numbers from 0 to below 1. */
export function serverFaults(front: FrontProcess, random: () => number): Record<string, () => Promise<void>> {
  return {
    'break off': () => front.take('cut', { match: '^INSERT', times: 1 + Math.floor(random() * 3) }),
    'lose a server': async () => {
      const server = Math.floor(random() * 2);
      await front.take('refuse', { server });
      await wait(random() * 2000);
      await front.take('answer', { server });
    },
  };
}
