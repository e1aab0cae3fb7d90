import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../disk/data-files.js';

/** How many bytes of existing data a checkpoint may write again. */
const REWRITTEN_AT_MOST = 32 << 20;

/** The bytes of a file; 0 if there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The bytes of files together, without those that aren't there. */
export function bytesOf(files: readonly { readonly path: string }[]): number {
  return files.reduce((sum, { path }) => sum + sizeOf(path), 0);
}

/** The bytes of the database in a folder and of its log. */
export function databaseBytes(folder: string): { readonly file: number; readonly log: number } {
  return { file: sizeOf(join(folder, DATABASE)), log: sizeOf(join(folder, `${DATABASE}.wal`)) };
}

/**
 * The bytes that a checkpoint may need: what is in the log, and the parts of the file that belong to the same rows, which are
 * written to new places. The engine gives up on a database whose checkpoint finds no room.
 */
export function checkpointBytes(folder: string): number {
  const { file, log } = databaseBytes(folder);
  return log === 0 ? 0 : log + Math.min(file, REWRITTEN_AT_MOST);
}
