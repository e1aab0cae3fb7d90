import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isInstalled } from '../test/clickhouse/engine.js';
import type { BareDay } from './bare-engine.js';
import { DAY, generateEvents } from './generate-events.js';
import type { Night } from './night.js';
import { runParts } from './parts.js';
import { runProgram, type Taken } from './run-process.js';
import { compare, count } from './table.js';
import { transcripts } from './transcripts.js';

/** Canonical events of a day: DuckDB and ClickHouse alone load them and ask five queries, Daybook takes them in and builds the day. */
async function events(folder: string, number: number, rounds: number): Promise<void> {
  const path = await generateEvents(join(folder, `events-${number}.ndjson`), number);
  const now = String(Date.parse(DAY) + 97 * 900_000);
  const all: Record<string, Taken>[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const data = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
    try {
      const duckdb = await runProgram<BareDay>('bare-engine', 'duckdb', 'day', path);
      const clickhouse = await runProgram<BareDay>('bare-engine', 'clickhouse', 'day', path);
      const [night] = await runProgram<[Night]>('night', data, 'ingest,build,publish', now, path);
      if (night.events !== number) throw new Error(`${night.events} events are stored`);
      all.push([
        {
          'DuckDB alone: read_json into a typed table': duckdb.load,
          'ClickHouse alone: the same': clickhouse.load,
          'Daybook: ingest': night.ingest,
        },
        {
          'DuckDB alone: five queries of the day': duckdb.ask,
          'ClickHouse alone: the same': clickhouse.ask,
          'Daybook: build': night.build,
          'Daybook: publish': night.publish,
        },
      ]);
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  }
  console.log(`${count(number)} events of a day`);
  compare(all);
}

/**
 * Daybook beside ccusage, and beside DuckDB and ClickHouse alone as limits, in turns: on `--megabytes` of transcripts and on `--events`
 * canonical events. `--part transcripts` or `--part events` runs one of the two.
 */
export async function peers(root: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      megabytes: { type: 'string', default: '400' },
      events: { type: 'string', default: '2000000' },
      rounds: { type: 'string', default: '5' },
      part: { type: 'string', multiple: true, default: ['transcripts', 'events'] },
    },
  });
  if (!isInstalled()) throw new Error('Install ClickHouse first: node scripts/chdb.js');
  const folder = join(root, 'bench', 'out', 'data');
  const rounds = Number(values.rounds);
  await runParts(values.part, {
    transcripts: () => transcripts(root, folder, Number(values.megabytes) * 1e6, rounds),
    events: () => events(folder, Number(values.events), rounds),
  });
}
