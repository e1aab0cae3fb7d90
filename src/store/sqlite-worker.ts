import { closeSync, openSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';
import type { RowsRequest } from './sqlite-rows.js';

/** How much is written at once: characters. */
const PIECE_CHARACTERS = 1 << 20;
/** How long a database may be locked by its program: milliseconds. */
const LOCKED_MS = 5000;

/** Writes rows as lines, and answers the newest `updated_at`. If not all can be read, the last line is no JSON. */
function writeRows({ path, statement, since, spool }: RowsRequest): number {
  const out = openSync(spool, 'w', 0o600);
  let newest = since;
  let piece = '';
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
    try {
      for (const { line, updated_at } of database.prepare(statement).iterate({ since })) {
        newest = Math.max(newest, Number(updated_at));
        piece += `${line}\n`;
        if (piece.length < PIECE_CHARACTERS) continue;
        writeFileSync(out, piece);
        piece = '';
      }
    } finally {
      database.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    piece += 'unreadable\n';
  }
  writeFileSync(out, piece);
  closeSync(out);
  return newest;
}

parentPort?.postMessage(writeRows(workerData as RowsRequest));
