import { existsSync, readdirSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LAKE_TABLES } from './lake-paths.js';

/** Removes what earlier versions wrote: a file for each table and day, as `users/org_id=acme/day=2026-06-01/data.parquet`. */
export async function removeOldLake(lake: string): Promise<void> {
  for (const name of ['_catalog', '_catalog.json', '_intent'])
    await rm(join(lake, name), { recursive: true, force: true });
  for (const table of LAKE_TABLES) {
    const folder = join(lake, table);
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder).filter((one) => one.startsWith('org_id=')))
      await rm(join(folder, name), { recursive: true });
    // An organization may have this name.
    await rmdir(folder).catch(() => undefined);
  }
}
