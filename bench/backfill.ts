import { rmSync } from 'node:fs';
import type { BareDay } from './bare-engine.js';
import { generateEvents } from './generate-events.js';
import { FIRST_DAY } from './generate-organization.js';
import type { Night } from './night.js';
import { after, type Size, sayBytes } from './nights.js';
import { median, runProgram, type Taken } from './run-process.js';
import { count, table } from './table.js';

/** How many events a file has; and how many files there are at least. */
const PIECE = 2_000_000;
const PIECES = 4;

/** All days at once: files with events of every day are taken in one after the other, then all days are built and published. */
export async function backfill(data: string, { days, perDay }: Size): Promise<void> {
  rmSync(data, { recursive: true, force: true });
  const events = days * perDay;
  const pieces = Math.max(PIECES, Math.ceil(events / PIECE));
  const taken: Taken[] = [];
  const ratios: number[] = [];
  let stored = 0;
  const row = table('step          ', '     events', ' seconds', 'events/s', 'read_json', '  MiB');
  const say = (step: string, of: number, { seconds, memory }: Taken, ratio = '') =>
    row(step, count(of), seconds.toFixed(2), count(of / seconds), ratio, String(memory));
  for (let piece = 1; piece <= pieces; piece += 1) {
    const size = Math.round((events * piece) / pieces) - stored;
    const path = await generateEvents(`${data}-${piece}.ndjson`, size, {
      first: stored,
      day: FIRST_DAY,
      days,
    });
    const bare = await runProgram<BareDay>('bare-engine', 'duckdb', 'day', path);
    const [{ ingest, ...night }] = await runProgram<[Night]>('night', data, 'ingest', after(days), path);
    rmSync(path);
    stored += size;
    if (night.events !== stored) throw new Error(`${night.events} of ${stored} events are stored`);
    taken.push(ingest);
    ratios.push(bare.load.seconds / ingest.seconds);
    if (piece === 1 || piece === pieces)
      say(`ingest, file ${piece}`, size, ingest, ratios.at(-1)?.toFixed(2));
  }
  const seconds = taken.reduce((sum, one) => sum + one.seconds, 0);
  const memory = Math.max(...taken.map((one) => one.memory));
  say('ingest, all', events, { seconds, memory }, median(ratios).toFixed(2));
  const [{ build, publish }] = await runProgram<[Night]>('night', data, 'build,publish', after(days));
  say('build', events, build);
  say('publish', events, publish);
  sayBytes(data, events);
  rmSync(data, { recursive: true });
}
