import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../exit.js';

/** The file of the database, in the data folder. */
export const DATABASE = 'daybook.duckdb';

/** The file in which batches are checked before they go to a database elsewhere. */
export const STAGING = 'staging.duckdb';

/** The file of the prices that `daybook prices update` fetched, in the data folder. */
export const FETCHED_PRICES = 'fetched-prices.json';

/** The socket of the process that has the database open. It is in the data folder unless the path is too long. */
export const SOCKET = 'daybook.sock';

/** The folder of restored files until all of them are in place. While it exists, no process opens the database. */
export const RESTORED = 'restored';

/** Throws a UsageError for a data folder in which only some of the restored files are in place. */
export function refuseHalfRestored(folder: string): void {
  if (existsSync(join(folder, RESTORED)))
    throw new UsageError(`A restore into ${folder} was interrupted: run the same "daybook restore" again.`);
}
