import { hash } from 'node:crypto';
import { type BigIntStats, closeSync, openSync, readSync, statSync } from 'node:fs';

/** How much of a file's end is looked at: bytes. */
const TAIL_BYTES = 4096;

/** What the file system knows of a path; undefined where nothing is. */
export function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/**
 * Tells a file as it is from what it was before or becomes later, without reading all of it: by its size, its times and its
 * last bytes. Two states of a file that are equal have the same content, unless somebody sets the clock of the machine back.
 * Undefined for a file that is gone.
 */
export function fileState(path: string, found = statOf(path)): string | undefined {
  if (found === undefined) return undefined;
  const { size, mtimeNs, ctimeNs } = found;
  return `${size} ${mtimeNs} ${ctimeNs} ${hash('md5', tailOf(path, Number(size)))}`;
}

/**
 * The same for a SQLite database with its write-ahead log. Reading it can leave an empty log, and changes the log's ctime if root
 * reads it.
 */
export function databaseState(path: string): string {
  return [path, `${path}-wal`]
    .map(statOf)
    .flatMap((found) => (found === undefined || found.size === 0n ? [] : [`${found.size} ${found.mtimeNs}`]))
    .join(', ');
}

/** One for all files: to make one for each takes longer than to read it. */
const BUFFER = Buffer.alloc(TAIL_BYTES);

function tailOf(path: string, size: number): Buffer {
  const tail = BUFFER.subarray(0, Math.min(size, TAIL_BYTES));
  const file = openSync(path, 'r');
  try {
    return tail.subarray(0, readSync(file, tail, 0, tail.length, size - tail.length));
  } finally {
    closeSync(file);
  }
}
