import { statSync } from 'node:fs';
import { join } from 'node:path';
import { checkForeign, LeftOut } from '../disk/foreign-file.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { inOwnProcess, ProcessEnded } from './own-process.js';

const PROGRAM = join(PACKAGE_ROOT, 'dist', 'store', 'sqlite-process.js');

/** Rows can be committed later than the time in them: those that were updated so long before the newest row are read again. */
const OVERLAP_MS = 600_000;

/** The limits of reading one database. Most of 2 GB is read in 12 s, and its first row comes after 2 s: a slow disk takes many times that. */
const LIMITS = { seconds: 300, idleSeconds: 60, memoryMb: 1024 };

/** The bytes of rows that any database may have, and how many times its own size more: they have names that the database doesn't. */
const ROW_BYTES = 64 << 20;
const ROWS_PER_BYTE = 4;

/** A read of one state of a database, with its write-ahead log, while another program may write it. */
export interface RowsRequest {
  readonly path: string;
  /** Gives the columns `line` (JSON) and `updated_at` (Unix milliseconds) of the rows that were updated at `:since` or later. */
  readonly statement: string;
  readonly since: number;
  /** The NDJSON file that is written. */
  readonly spool: string;
  /** How much is written at most. */
  readonly limitBytes: number;
}

/** The newest `updated_at` of the rows that were written; or why the database isn't read, as a clause; or an error of the system. */
export type RowsRead =
  | { readonly newest: number }
  | { readonly refused: string }
  | { readonly code: string; readonly message: string };

/**
 * Writes the rows of a SQLite database into a file, and answers from when on rows have to be read the next time, in Unix milliseconds.
 * Throws LeftOut for a database that isn't read.
 */
export async function writeRows(
  request: Omit<RowsRequest, 'limitBytes'>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { path, spool } = request;
  // SQLite opens these too.
  const sizes = ['', '-wal', '-shm', '-journal'].map((ending) => checkForeign(`${path}${ending}`) ?? 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const job: RowsRequest = { ...request, limitBytes: ROW_BYTES + ROWS_PER_BYTE * bytes };
  const progress = () => statSync(spool, { throwIfNoEntry: false })?.size ?? 0;
  try {
    const read = (await inOwnProcess(PROGRAM, job, { ...LIMITS, progress, signal })) as RowsRead;
    if ('refused' in read) throw new LeftOut(path, read.refused);
    if ('code' in read) throw Object.assign(new Error(read.message), { code: read.code, syscall: 'write' });
    return Math.max(0, read.newest - OVERLAP_MS);
  } catch (error) {
    throw error instanceof ProcessEnded ? new LeftOut(path, error.message) : error;
  }
}
