import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { checkForeign, LeftOut } from '../disk/foreign-file.js';
import { rmSync } from '../disk/renames.js';
import { isCompressed, isWhole } from './line-numbers.js';
import { fileLimitOf, limitOf, rowsOfDatabase, sideFilesOf, unitOf } from './source-sql.js';
import { writeRows } from './sqlite-rows.js';
import type { Batch, BatchFile, Settled, SideFile, SourceSql } from './store.js';

/** How much any compressed file may unpack to, in bytes, and how many times its size a large one. JSON of agents packs to a tenth. */
const UNPACKED_BYTES = 64 << 20;
const UNPACKED_TIMES = 100;

/** So many files are looked at before others have their turn. */
const CHECKED_TOGETHER = 200;

/** The tools for reading the files of a batch. */
interface Reading {
  /** Where files of lines are written. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does something with those files of a batch that can be read, and returns the ones that were left out: a database, a device or a file that has no end
 * must be found out before anybody waits for the store. Lines of a database are in a file that takes its place, and its state says from when
 * on it has to be read the next time. Files of the caller's own are as they are.
 */
export async function withReadable(
  batch: Batch,
  { folder, signal }: Reading,
  work: (batch: Batch) => Promise<Settled>,
): Promise<Settled> {
  if (batch.token !== undefined) return work(batch);
  const { source } = batch;
  const spools: string[] = [];
  const newSpool = () => {
    const spool = join(folder, `lines-${process.pid}-${nextSpool()}.tmp`);
    spools.push(spool);
    return spool;
  };
  const leftOut: string[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof LeftOut)) throw error;
    leftOut.push(error.message);
  };
  try {
    const files: BatchFile[] = [];
    for (const [index, file] of batch.files.entries()) {
      if (index % CHECKED_TOGETHER === 0) await setImmediate();
      signal?.throwIfAborted();
      try {
        if (unitOf(source, file.path) === 'database')
          files.push(await spooled(file, source, newSpool(), signal));
        else {
          const readable = await readableAs(source, file.path);
          // A file that is gone is missed by nobody.
          if (readable === undefined) continue;
          const sideFiles = readableBeside(source, file.path, note);
          if (source.replay === undefined) files.push({ ...file, ...readable, sideFiles });
          else {
            const spool = newSpool();
            await source.replay(file.path, spool, limitOf(source));
            files.push({ ...file, path: spool, unit: 'document', sideFiles });
          }
        }
      } catch (error) {
        note(error);
      }
    }
    if (files.length === 0 && batch.files.length > 0) return { ...NOTHING, leftOut };
    const settled = await work({ ...batch, files });
    return { ...settled, leftOut: [...leftOut, ...settled.leftOut] };
  } finally {
    for (const spool of spools) rmSync(spool, { force: true });
  }
}

const NOTHING: Omit<Settled, 'leftOut'> = {
  accepted: 0,
  duplicates: 0,
  rejected: 0,
  mended: 0,
  byReason: {},
  examples: [],
};

let made = 0;

/** Batches of one process can be read at the same time. */
function nextSpool(): number {
  made += 1;
  return made;
}

/** The lines of a database in place of it. */
async function spooled(
  file: BatchFile,
  source: SourceSql,
  spool: string,
  signal: AbortSignal | undefined,
): Promise<BatchFile> {
  const { path, state, since = 0 } = file;
  const next = await writeRows({ path, statement: rowsOfDatabase(source), since, spool }, signal);
  return { ...file, path: spool, unit: 'database', state: state && `${state} ${next}` };
}

/** How a file is read; undefined where it is gone. Throws LeftOut for one that can't be read to its end. */
async function readableAs(source: SourceSql, path: string): Promise<Pick<BatchFile, 'isWhole'> | undefined> {
  // A document is read up to its own limit.
  const isDocument = unitOf(source, path) === 'document' && source.replay === undefined;
  const bytes = checkForeign(path, isDocument ? {} : { limitBytes: fileLimitOf(source) });
  if (bytes === undefined || !isCompressed(path)) return bytes === undefined ? undefined : {};
  const limitBytes = Math.min(fileLimitOf(source), Math.max(UNPACKED_BYTES, UNPACKED_TIMES * bytes));
  return { isWhole: await isWhole(path, limitBytes) };
}

/**
 * Those files beside another one that can be read, each and all together no larger than a document of the source. `note` gets LeftOut for the
 * others.
 */
export function readableBeside(
  source: SourceSql,
  path: string,
  note: (error: LeftOut) => void,
): readonly SideFile[] {
  let bytes = 0;
  return sideFilesOf(source, path).filter((file) => {
    try {
      const size = checkForeign(file.path, { limitBytes: limitOf(source) - bytes });
      bytes += size ?? 0;
      return size !== undefined;
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      note(error);
      return false;
    }
  });
}
