import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RESTORED } from './data-files.js';
import { UsageError } from './exit.js';

/** Throws a UsageError for a data folder in which only some of a backup's files are in place. */
export function refuseHalfRestored(folder: string): void {
  if (existsSync(join(folder, RESTORED)))
    throw new UsageError(`A restore into ${folder} was interrupted: run the same "daybook restore" again.`);
}
