import { hash } from 'node:crypto';
import { closeSync, readSync, statSync } from 'node:fs';
import { openForeign } from '../disk/foreign-file.js';

/** How much of a file's end is looked at: bytes. */
const TAIL_BYTES = 4096;

/** A file as it is. */
export interface SeenFile {
  /** Bytes. */
  readonly size: number;
  /**
   * Tells this version of the file from earlier and later ones, without reading all of it: its size, its times and its last bytes. Two states
   * that are equal have the same content, unless somebody sets the clock of the machine back.
   */
  readonly state: string;
  /** When its content last changed: Unix milliseconds. */
  readonly changedAt: number;
}

/** Looks at a file; undefined where nothing is. Throws LeftOut as openForeign does. */
export function seeFile(path: string, limitBytes?: number): SeenFile | undefined {
  const opened = openForeign(path, limitBytes === undefined ? {} : { limitBytes });
  if (opened === undefined) return undefined;
  try {
    const { size, mtimeNs, ctimeNs } = opened.found;
    const tail = hash('md5', tailOf(opened.descriptor, Number(size)));
    const state = `${size} ${mtimeNs} ${ctimeNs} ${tail}`;
    return { size: Number(size), state, changedAt: Number(mtimeNs / 1_000_000n) };
  } finally {
    closeSync(opened.descriptor);
  }
}

/**
 * The same for a SQLite database with its write-ahead log. Reading it can leave an empty log, and changes the log's ctime if root
 * reads it.
 */
export function databaseState(path: string): Omit<SeenFile, 'size'> {
  const found = [path, `${path}-wal`]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .filter((one) => one !== undefined && one.size > 0n);
  return {
    state: found.map((one) => `${one?.size} ${one?.mtimeNs}`).join(', '),
    changedAt: Math.max(0, ...found.map((one) => Number((one?.mtimeNs ?? 0n) / 1_000_000n))),
  };
}

/** One for all files: to make one for each takes longer than to read it. */
const BUFFER = Buffer.alloc(TAIL_BYTES);

function tailOf(descriptor: number, size: number): Buffer {
  const tail = BUFFER.subarray(0, Math.min(size, TAIL_BYTES));
  return tail.subarray(0, readSync(descriptor, tail, 0, tail.length, size - tail.length));
}
