import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../exit.js';

/** The file of the database, in the data folder. */
export const DATABASE = 'daybook.duckdb';

/** The file in which batches are checked on their way to a database elsewhere. */
export const STAGING = 'staging.duckdb';

/** The socket at which the process that has the database open answers commands, in the data folder unless its path is too long. */
export const SOCKET = 'daybook.sock';

/** The folder of files that are restored, until all of them are in place: nobody opens the database while it is there. */
export const RESTORED = 'restored';

/** Throws a UsageError for a data folder in which only some of a backup's files are in place. */
export function refuseHalfRestored(folder: string): void {
  if (existsSync(join(folder, RESTORED)))
    throw new UsageError(`A restore into ${folder} was interrupted: run the same "daybook restore" again.`);
}
