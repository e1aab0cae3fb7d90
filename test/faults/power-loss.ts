import type { ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../service.js';
import { compile, type Preloaded } from './preloaded.js';

/** What a disk writes at once. */
const PAGE = 4096;

/** A file or folder of the data folder. */
interface Entry {
  readonly type: 'f' | 'd';
  readonly inode: string;
  readonly path: string;
}

/** All that is in a folder, folders before what is in them. */
function entriesIn(folder: string, below = ''): Entry[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((one): Entry[] => {
    const path = join(below, one.name);
    const inode = String(statSync(join(folder, path), { bigint: true }).ino);
    if (one.isDirectory()) return [{ type: 'd', inode, path }, ...entriesIn(folder, path)];
    return one.isFile() ? [{ type: 'f', inode, path }] : [];
  });
}

/** A data folder whose power can fail: what is not synced then is dropped or torn. See synced.c. */
export class PowerLoss implements Preloaded {
  private readonly record: string;

  private constructor(
    private readonly data: string,
    readonly library: string,
    /** Gives numbers from 0 to below 1. */
    private readonly random: () => number,
  ) {
    this.record = `${data}.synced`;
  }

  /** Undefined without a compiler for C, or on another system than Linux. */
  static of(data: string, random: () => number): PowerLoss | undefined {
    const library = `${data}.so`;
    return compile('synced.c', library) ? new PowerLoss(data, library, random) : undefined;
  }

  get variables(): Record<string, string> {
    return { SYNCED_ROOT: this.data, SYNCED_RECORD: this.record };
  }

  /** Waits until a process has written to the database's log and has not synced it yet, or has ended. */
  async untilLogIsUnsynced(child: ChildProcess): Promise<void> {
    const mark = join(this.record, 'log');
    // One that was killed has left it.
    rmSync(mark, { force: true });
    await until(() => existsSync(mark) || child.exitCode !== null);
  }

  /** Takes all that is there as synced. Nobody works on the folder. */
  begin(): void {
    rmSync(this.record, { recursive: true, force: true });
    for (const part of ['data', 'held']) mkdirSync(join(this.record, part), { recursive: true });
    const entries = entriesIn(this.data);
    for (const { type, inode, path } of entries) {
      if (type === 'd') continue;
      copyFileSync(join(this.data, path), join(this.record, 'data', inode));
      linkSync(join(this.data, path), join(this.record, 'held', inode));
    }
    const tree = entries.map(({ type, inode, path }) => `${type} ${inode} ${path}\n`).join('');
    writeFileSync(join(this.record, 'tree'), tree);
  }

  /**
   * Leaves what a power failure does, after all processes were killed. Of what was made, renamed or removed since the last sync all
   * or nothing is kept, of the bytes that were written since nothing or some pages.
   */
  fail(): void {
    const current = entriesIn(this.data);
    const entries = this.random() < 0.5 ? current : this.syncedTree();
    const paths = new Map(current.map(({ inode, path }) => [inode, join(this.data, path)]));
    const left = `${this.data}.left`;
    mkdirSync(left, { mode: 0o700 });
    for (const { type, inode, path } of entries) {
      mkdirSync(type === 'd' ? join(left, path) : dirname(join(left, path)), {
        recursive: true,
        mode: 0o700,
      });
      if (type === 'f')
        writeFileSync(join(left, path), this.bytesOf(inode, paths.get(inode)), { mode: 0o600 });
    }
    rmSync(this.data, { recursive: true });
    rmSync(this.record, { recursive: true });
    renameSync(left, this.data);
  }

  private syncedTree(): Entry[] {
    const lines = readFileSync(join(this.record, 'tree'), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [type, inode = '', ...path] = line.split(' ');
      return { type: type === 'd' ? 'd' : 'f', inode, path: path.join(' ') };
    });
  }

  private bytesOf(inode: string, path: string | undefined): Buffer {
    const [synced, held] = ['data', 'held'].map((part) => join(this.record, part, inode)) as [string, string];
    const now = existsSync(held) ? readFileSync(held) : path === undefined ? undefined : readFileSync(path);
    const before = existsSync(synced) ? readFileSync(synced) : Buffer.alloc(0);
    if (now === undefined || now.equals(before) || this.random() < 0.5) return before;
    const length =
      this.upTo(2) === 0
        ? now.length
        : before.length + this.upTo(Math.max(0, now.length - before.length) + 1);
    const torn = Buffer.alloc(length);
    before.copy(torn);
    for (let at = 0; at < length; at += PAGE)
      if (at < now.length && (at >= before.length || this.upTo(2) === 0)) now.copy(torn, at, at, at + PAGE);
    return torn;
  }

  private upTo(most: number): number {
    return Math.floor(this.random() * most);
  }
}
