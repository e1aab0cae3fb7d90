import fs from 'node:fs';
import promises from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from '../exit.js';

/** The errors for a file that another program has open, such as a virus scanner on Windows. It passes within seconds. */
const HELD_OPEN = ['EPERM', 'EBUSY', 'EACCES'];

/** How long to wait before each further try, in milliseconds. On other systems these errors seldom pass: a folder isn't writable. */
export function pausesOn(platform: NodeJS.Platform): readonly number[] {
  return platform === 'win32' ? [10, 50, 100, 200, 400, 800, 1600, 2400] : [10, 30, 90];
}

const PAUSES = pausesOn(process.platform);

function requireHeldOpen(error: unknown): void {
  if (!HELD_OPEN.includes(codeOf(error))) throw error;
}

/** Tries work on a file again while another program may have the file open. All renames and removals go through this. */
async function again(work: () => Promise<void>): Promise<void> {
  for (const pause of PAUSES) {
    try {
      return await work();
    } catch (error) {
      requireHeldOpen(error);
      await wait(pause);
    }
  }
  return work();
}

/** The same for callers that can't wait without stopping the process. */
function againNow(work: () => void): void {
  for (const pause of PAUSES) {
    try {
      work();
      return;
    } catch (error) {
      requireHeldOpen(error);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
  }
  work();
}

interface Removal {
  readonly force?: boolean;
  readonly recursive?: boolean;
}

export const rename = (from: string, to: string) => again(() => promises.rename(from, to));
export const rm = (path: string, options: Removal = {}) => again(() => promises.rm(path, options));
export const rmdir = (path: string) => again(() => promises.rmdir(path));
export const renameSync = (from: string, to: string) => againNow(() => fs.renameSync(from, to));
export const rmSync = (path: string, options: Removal = {}) => againNow(() => fs.rmSync(path, options));
