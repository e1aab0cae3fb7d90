import { rowsOfReport } from '../api/answer-rows.js';
import { type Day, dayOf } from '../day.js';
import { ingest } from '../ingest/ingest-files.js';
import type { InputFile } from '../ingest/input-files.js';
import type { Source } from '../ingest/source.js';
import type { Read, Store } from '../store/store.js';
import { build } from './build-days.js';

/** The organization of the one person whom a local folder is of. */
export const LOCAL = 'local';

/** What one person asks of the sessions on this machine. */
export interface LocalRequest {
  readonly userId: string;
  /** Files of each agent. */
  readonly agents: readonly { readonly source: Source; readonly files: readonly InputFile[] }[];
  readonly from: Day;
  /** One row each; of a model, for all days. */
  readonly rows: 'day' | 'week' | 'month' | 'model';
}

/** Rows of the summary (docs/api.md), and a sentence for each file that can't be read. */
export interface LocalNumbers {
  readonly rows: readonly Record<string, unknown>[];
  readonly total: Record<string, unknown>;
  readonly leftOut: readonly string[];
}

/**
 * Takes in what is new in the files, builds the days that have ended, and counts the open one (UTC) as a build would. `progress` gets bytes
 * of files.
 */
export async function localNumbers(
  store: Store,
  { userId, agents, from, rows }: LocalRequest,
  clock: () => number,
  progress: (done: number, total: number) => void,
): Promise<LocalNumbers> {
  const bytesOf = (files: readonly InputFile[]) => files.reduce((sum, { size }) => sum + size, 0);
  const all = agents.reduce((sum, { files }) => sum + bytesOf(files), 0);
  const leftOut: string[] = [];
  let before = 0;
  for (const { source, files } of agents) {
    const asked = { orgId: LOCAL, userId, source, files };
    const ingested = await ingest(store, asked, clock, (done) => progress(before + done, all));
    leftOut.push(...ingested.leftOut);
    before += bytesOf(files);
  }
  const { breaches } = await build(store, {}, clock);
  leftOut.push(...breaches.map(({ day, difference }) => `${day} could not be built: ${difference}.`));
  const today = dayOf(clock());
  const [open] = await store.select(
    'SELECT sum(accepted) AS events FROM arrivals WHERE org_id = $org_id AND day = $day',
    {
      org_id: LOCAL,
      day: { day: today },
    },
  );
  const read: Read<LocalNumbers> = async (select, readColumns) => {
    const summary = async (groupBy: string | undefined, totals: object) => {
      const asked = { orgId: LOCAL, from, to: today, groupBy, totals };
      return (await rowsOfReport(select, readColumns, 'summary', asked)).data;
    };
    const [total = {}] = await summary(undefined, {});
    const found = rows === 'model' ? summary('model', {}) : summary(undefined, { interval: rows });
    return { rows: (await found).filter(hasTokens), total, leftOut };
  };
  return Number(open?.events) > 0
    ? store.preview([{ orgId: LOCAL, day: today }], read)
    : store.snapshot(read);
}

function hasTokens(row: Readonly<Record<string, unknown>>): boolean {
  return ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'].some(
    (name) => Number(row[name]) > 0,
  );
}
