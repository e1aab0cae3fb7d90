import { existsSync, readdirSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { earlierFolderOf, folderOf, LAKE_TABLES } from './lake-paths.js';
import { foldersIn, ownerOf } from './snapshot.js';

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

/**
 * Moves the folders of organizations to the names that they have now. Where file names that differ only in case are the same, one folder can
 * have the files of several organizations: that is removed with `remove`, and all of them are published again.
 */
export async function moveOldFolders(
  lake: string,
  orgIds: readonly string[],
  remove: (name: string) => Promise<void>,
  isThere = (name: string) => existsSync(join(lake, name)),
): Promise<void> {
  for (const orgId of orgIds) {
    const [old, name] = [earlierFolderOf(orgId), folderOf(orgId)];
    const folders = new Set(foldersIn(lake));
    if (!folders.has(old)) continue;
    const isShared = orgIds.some((other) => {
      const one = earlierFolderOf(other);
      const isSame = one !== old && one.toLowerCase() === old.toLowerCase();
      return isSame && !folders.has(one) && isThere(one);
    });
    // Another organization's name can be what this one had: only the owner's folder moves.
    if (!isShared && (old === name || ownerOf(lake, old) !== orgId)) continue;
    if (isShared || folders.has(name)) await remove(old);
    else await rename(join(lake, old), join(lake, name));
  }
}
