import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRefused } from '../disk/refusals.js';
import { rm } from '../disk/renames.js';
import { codeOf } from '../exit.js';
import { bodyOf } from '../ingest/body-name.js';
import type { Store } from '../store/store.js';

/** The folder of links to waiting events and to files for computers, while a backup copies them. */
export function heldFolder(data: string, id: string): string {
  return join(data, `held-${id}`);
}

/** The entries of a folder; none if it doesn't exist. */
async function entriesOf(folder: string, kind: 'isFile' | 'isDirectory'): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry[kind]()).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Links the files of a folder into another one, except those that vanish meanwhile, and answers their names. */
async function linkFiles(
  from: string,
  to: string,
  isWanted: (name: string) => boolean = () => true,
): Promise<string[]> {
  const linked: string[] = [];
  for (const name of (await entriesOf(from, 'isFile')).filter(isWanted)) {
    if (linked.length === 0) await mkdir(to, { recursive: true });
    try {
      const [source, copy] = [join(from, name), join(to, name)];
      // A disk without links takes the room of a copy.
      await link(source, copy).catch((error) =>
        isRefused(error) ? copyFile(source, copy) : Promise.reject(error),
      );
      linked.push(name);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
  return linked;
}

/**
 * Links the bodies that are acknowledged and not settled. TRICKY: nothing is settled meanwhile, but files still move on their way to
 * being settled. Visiting the folders in the order of that way finds every file, some of them twice.
 */
async function linkInbox(from: string, to: string): Promise<void> {
  const ready = join(from, 'ready');
  await linkFiles(ready, join(to, 'ready'), (name) => bodyOf(name) !== undefined);
  for (const token of await entriesOf(join(from, 'settling'), 'isDirectory'))
    for (const name of await linkFiles(join(from, 'settling', token), join(to, 'settling', token)))
      await rm(join(to, 'ready', name), { force: true });
}

/**
 * Keeps a data folder's files unchanged during a copy: the database in its place, and waiting files as links in the held folder, which
 * is removed in the end. Every event that was acknowledged before `heldAt` is in one of the two.
 */
export async function hold(
  { store, data, clock }: { store: Store; data: string; clock: () => number },
  id: string,
  during: (heldAt: number) => Promise<void>,
): Promise<void> {
  const held = heldFolder(data, id);
  let heldAt = 0;
  const at = async () => {
    heldAt = clock();
    await mkdir(held, { mode: 0o700 });
    await linkInbox(join(data, 'inbox'), join(held, 'inbox'));
    await linkFiles(join(data, 'objects'), join(held, 'objects'));
  };
  try {
    await store.hold(at, () => during(heldAt));
  } finally {
    await rm(held, { recursive: true, force: true });
  }
}
