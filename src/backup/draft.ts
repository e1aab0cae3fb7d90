import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { rm } from '../disk/renames.js';
import { isRunning } from '../disk/running.js';

/** Creates this process's own draft of a folder beside it, and removes drafts that killed processes left behind. */
export async function makeDraft(parent: string, name: string): Promise<string> {
  const start = `${name}.unfinished-`;
  for (const other of await readdir(parent))
    if (other.startsWith(start) && !isRunning(Number(other.slice(start.length))))
      await rm(join(parent, other), { recursive: true, force: true });
  const draft = join(parent, `${start}${process.pid}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  return draft;
}
