import { existsSync, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from './exit.js';

/** The sentence for a data folder that the system doesn't let us write to. */
export function unwritable(folder: string, error: unknown): UsageError {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return new UsageError(
    `Daybook can't write to ${folder}${code}: make that possible, or choose another folder with --data or DAYBOOK_DATA.`,
  );
}

/** Makes a folder and those above it. Throws a UsageError where that can't be. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && dirname(path) !== path; path = dirname(path))
    missing.unshift(path);
  // TRICKY: one at a time, since making them at once never ends where the system only pretends, as below /proc.
  for (const path of missing) {
    try {
      mkdirSync(path);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue;
      throw unwritable(folder, error);
    }
  }
}

/** Has the disk keep a file's bytes, or a folder's entries, and answers its size in bytes. */
export async function sync(path: string): Promise<number> {
  const opened = await open(path, 'r');
  try {
    await opened.sync();
    return (await opened.stat()).size;
  } finally {
    await opened.close();
  }
}
