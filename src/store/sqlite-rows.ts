import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PACKAGE_ROOT } from '../package-root.js';
import { rowsOfDatabase, unitOf } from './source-sql.js';
import type { BatchFile, SourceSql } from './store.js';

const WORKER = join(PACKAGE_ROOT, 'dist', 'store', 'sqlite-worker.js');

/** Rows can be committed later than the time in them: what was updated so long before the newest row is read again. */
const OVERLAP_MS = 600_000;

/** What the worker does: it reads one state of a database, with its write-ahead log, while another program may write it. */
export interface RowsRequest {
  readonly path: string;
  /** Gives the columns `line` (JSON) and `updated_at` (Unix milliseconds) of what was updated at `:since` or later. */
  readonly statement: string;
  readonly since: number;
  /** The NDJSON file that is written. */
  readonly spool: string;
}

/** The newest `updated_at` of the rows that were written. The worker is a thread, because SQLite waits for the disk. */
async function writeRows(request: RowsRequest): Promise<number> {
  const worker = new Worker(WORKER, { workerData: request });
  try {
    const [newest] = (await once(worker, 'message')) as [number];
    return newest;
  } finally {
    await worker.terminate();
  }
}

/**
 * Lets files of lines take the place of the SQLite databases among files while `work` reads them. The states of databases say
 * from when on they have to be read the next time.
 */
export async function withRows<T>(
  files: readonly BatchFile[],
  source: SourceSql,
  folder: string,
  work: (files: readonly BatchFile[]) => Promise<T>,
): Promise<T> {
  const spools: string[] = [];
  const spooled = async (file: BatchFile): Promise<BatchFile> => {
    const spool = join(folder, `lines-${process.pid}-${spools.length}.tmp`);
    spools.push(spool);
    const { path, state, since = 0 } = file;
    const newest = await writeRows({ path, statement: rowsOfDatabase(source), since, spool });
    const next = Math.max(0, newest - OVERLAP_MS);
    return { ...file, path: spool, unit: 'database', state: state && `${state} ${next}` };
  };
  try {
    const ready: BatchFile[] = [];
    for (const file of files)
      ready.push(unitOf(source, file.path) === 'database' ? await spooled(file) : file);
    return await work(ready);
  } finally {
    for (const spool of spools) rmSync(spool, { force: true });
  }
}
