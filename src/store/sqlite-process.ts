import { closeSync, openSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { Decompress } from 'fzstd';
import { mebibytes } from '../disk/foreign-file.js';
import { namesIn } from './sql-text.js';
import type { RowsRead, RowsRequest } from './sqlite-rows.js';

/** How much is written at once: characters. */
const PIECE_CHARACTERS = 1 << 20;
/** How long a database may be locked by its program: milliseconds. */
const LOCKED_MS = 5000;
/** The longest text of a database, and the memory of SQLite: bytes. */
const TEXT_BYTES = 128 << 20;
const SQLITE_BYTES = 384 << 20;

/** The database isn't read. The message is a clause. */
class Refused extends Error {}

/** Throws Refused if a table that the statement reads isn't a table: a view can have any number of rows, at any cost. */
function requireTables(database: DatabaseSyncInstance, statement: string): void {
  const list = database.prepare('SELECT type FROM pragma_table_list(?)');
  for (const name of namesIn(statement))
    for (const { type } of list.all(name))
      if (type !== 'table') throw new Refused(`its table ${name} is not a table (${type})`);
}

/** The text that was packed with zstd; null where it is none, or none that SQLite would read. */
function unzstd(packed: unknown): string | null {
  if (!(packed instanceof Uint8Array)) return null;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    const unpacking = new Decompress((piece) => {
      bytes += piece.length;
      if (bytes > TEXT_BYTES) throw new RangeError('The text is too long.');
      pieces.push(piece);
    });
    unpacking.push(packed, true);
    return Buffer.concat(pieces).toString('utf8');
  } catch {
    return null;
  }
}

/** Writes rows as lines, and answers the newest `updated_at`. If not all can be read, the last line is no JSON. */
function writeRows({ path, statement, since, spool, limitBytes }: RowsRequest): number {
  const out = openSync(spool, 'w', 0o600);
  let newest = since;
  let piece = '';
  let written = 0;
  const write = () => {
    written += Buffer.byteLength(piece);
    if (written > limitBytes) throw new Refused(`its rows have more than ${mebibytes(limitBytes)}`);
    writeFileSync(out, piece);
    piece = '';
  };
  try {
    const database = new DatabaseSync(path, {
      readOnly: true,
      timeout: LOCKED_MS,
      defensive: true,
      limits: { length: TEXT_BYTES },
    });
    try {
      database.exec(`PRAGMA hard_heap_limit = ${SQLITE_BYTES}; PRAGMA trusted_schema = OFF`);
      database.function('unzstd', { deterministic: true, directOnly: true }, unzstd);
      requireTables(database, statement);
      for (const { line, updated_at } of database.prepare(statement).iterate({ since })) {
        newest = Math.max(newest, Number(updated_at));
        piece += `${line}\n`;
        if (piece.length >= PIECE_CHARACTERS) write();
      }
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof Refused || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    piece += 'unreadable\n';
  }
  write();
  closeSync(out);
  return newest;
}

/**
 * The program of a process that reads one database: it gets a RowsRequest as a message, and answers RowsRead. SQLite blocks its thread for
 * as long as it takes, so a thread reads, and the process can still end with its parent.
 */
if (isMainThread) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.once('message', (request) => {
    const reader = new Worker(fileURLToPath(import.meta.url), { workerData: request });
    reader.on('message', (read) => process.send?.(read));
    reader.on('error', () => process.kill(process.pid, 'SIGKILL'));
  });
} else {
  let read: RowsRead;
  try {
    read = { newest: writeRows(workerData as RowsRequest) };
  } catch (error) {
    // Whether the disk is full is for others to say.
    const { code } = error as NodeJS.ErrnoException;
    read =
      error instanceof Refused ? { refused: error.message } : { code: code ?? '', message: String(error) };
  }
  parentPort?.postMessage(read);
}
