import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../exit.js';
import { isRunning } from '../running.js';

/** After this time without a sign of life a process counts as gone, even if its number is in use again. */
const HOLDS_MS = 15 * 60_000;

/** Lets one process at a time work in a folder. A process that was killed doesn't block others. */
export class OnlyOne {
  private constructor(private readonly path: string) {}

  /** Undefined while another process works there. `now` is Unix milliseconds. */
  static in(folder: string, now: number): OnlyOne | undefined {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'running');
    if (isHeld(path, now)) return undefined;
    // TRICKY: moved, not removed, since by now it can be that of another process, which gets it back.
    const stale = `${path}.${process.pid}`;
    try {
      renameSync(path, stale);
      if (isHeld(stale, now)) {
        renameSync(stale, path);
        return undefined;
      }
      rmSync(stale, { force: true });
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return undefined;
      throw error;
    }
    return new OnlyOne(path);
  }

  /** Gives a sign of life. */
  touch(now: number): void {
    utimesSync(this.path, now / 1000, now / 1000);
  }

  end(): void {
    rmSync(this.path, { force: true });
  }
}

function isHeld(path: string, now: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || Math.abs(now - found.mtimeMs) > HOLDS_MS) return false;
  const pid = Number(readFileSync(path, 'utf8'));
  return pid !== process.pid && isRunning(pid);
}
