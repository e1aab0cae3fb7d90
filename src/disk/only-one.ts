import { linkSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from '../exit.js';
import { isRefused } from './refusals.js';
import { renameSync, rmSync } from './renames.js';
import { isRunning } from './running.js';

/** Lets one process at a time do some work, using a file with its process id. A killed process doesn't block others. */
export class OnlyOne {
  private constructor(
    private readonly path: string,
    private readonly holdsMs: number,
    private readonly clock: () => number,
  ) {}

  /**
   * Undefined while another process holds the file. A process without a sign of life for `holdsMs` counts as gone, even if its id is in use
   * again. `clock` gives Unix milliseconds.
   */
  static at(path: string, holdsMs: number, clock: () => number): OnlyOne | undefined {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const one = new OnlyOne(path, holdsMs, clock);
    return one.touch() ? one : undefined;
  }

  /**
   * Gives a sign of life. If this process was silent for too long, for example on a laptop that slept, another one may have the file; if
   * none has, it takes the file again. Answers whether this process holds it.
   */
  touch(): boolean {
    if (pidIn(this.path) !== process.pid) return this.take();
    const seconds = this.clock() / 1000;
    try {
      utimesSync(this.path, seconds, seconds);
      return true;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      return this.take();
    }
  }

  /** Waits, and gives signs of life meanwhile. */
  async rest(ms: number, pause: (ms: number) => Promise<unknown> = wait): Promise<void> {
    const piece = this.holdsMs / 3;
    for (let left = ms; left > 0; left -= piece) {
      this.touch();
      await pause(Math.min(left, piece));
    }
  }

  end(): void {
    if (pidIn(this.path) === process.pid) rmSync(this.path, { force: true });
  }

  private take(): boolean {
    const { path } = this;
    if (this.isHeld(path)) return false;
    // TRICKY: renamed, not removed: by now the file may belong to another process, which then gets it back.
    const stale = `${path}.${process.pid}`;
    try {
      renameSync(path, stale);
      if (this.isHeld(stale)) {
        renameSync(stale, path);
        return false;
      }
      rmSync(stale, { force: true });
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    try {
      makeWhole(path, String(process.pid));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  }

  /** Whether another process holds a file. */
  private isHeld(path: string): boolean {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || Math.abs(this.clock() - found.mtimeMs) > this.holdsMs) return false;
    const pid = pidIn(path);
    return pid !== process.pid && isRunning(pid);
  }
}

/** Makes a file that isn't there yet. TRICKY: with its content at once, or another process would see one that nobody holds. */
function makeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    linkSync(draft, path);
  } catch (error) {
    // Not every file system has hard links.
    if (!isRefused(error)) throw error;
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The process that holds a file; 0 if none does. */
function pidIn(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
