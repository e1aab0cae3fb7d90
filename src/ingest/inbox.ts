import { createReadStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { codeOf, sync } from '../folder.js';
import { Queue } from '../queue.js';
import type { Store } from '../store/store.js';
import { StoreUnavailable } from '../store/store-fault.js';
import { Acknowledged, type Watcher } from './acknowledged.js';
import { type Encoding, writeBody } from './body.js';
import { type Body, nameOf } from './body-name.js';
import { LineCount, ValueCount } from './body-size.js';
import { Checker, Gone, type Sent, type Verdict } from './check.js';
import { PlainLines } from './plain.js';
import type { SetAside } from './set-aside.js';

/** How much is checked together by the rules of sql/ingest. */
const GROUP_FILES = 64;
const GROUP_BYTES = 16 << 20;

/** Who sends a body, and how it is written. */
export interface Sender {
  /** Names the body: its rejected lines are kept under it. */
  readonly requestId: string;
  readonly orgId: string;
  /** The user whose events alone the sender may send; null for any. */
  readonly onlyUser: string | null;
  readonly encoding: Encoding;
  /** Whether the body is a JSON array of events; else it is a line an event. */
  readonly isArray: boolean;
  /** Aborted when nobody waits for an answer any more. */
  readonly gone: AbortSignal;
}

/** What is waiting is as much as may wait: nothing was taken. */
export class InboxFull extends Error {
  override name = 'InboxFull';
}

/** The body is not the JSON array that it should be: nothing was taken. */
export class NotAnArray extends Error {
  override name = 'NotAnArray';
}

interface Waiting {
  readonly file: Sent;
  readonly bytes: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** A body on disk, all of whose lines were looked at. */
interface Checked {
  readonly path: string;
  readonly body: Body;
  readonly bytes: number;
}

/** Removes what is left of an earlier process. What can't be removed is in nobody's way. */
function discard(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (codeOf(error) === '') throw error;
  }
}

/**
 * Events on their way into the store, as files: what was acknowledged is on disk, and is settled as soon as may be.
 *
 *     incoming/<request>           being received; nobody was told that it is there
 *     checking/                    temporary files of the checker
 *     ready/<body>                 acknowledged; the name says whose it is and when it came, see body-name.ts
 *     settling/<token>/<body>      being settled; the store knows the token once it has been
 */
export class Inbox {
  private waiting: Waiting[] = [];
  private opened: Promise<Checker> | undefined;
  private isChecking = false;
  /** The bodies whose lines are looked at one by one. */
  private readonly numbered = new Set<Promise<void>>();
  private readonly disk = new Queue();
  private checked: Checked[] = [];
  private keeping: Promise<void> | undefined;

  private constructor(
    private readonly folder: string,
    private readonly limitBytes: number,
    private readonly clock: () => number,
    private readonly acknowledged: Acknowledged,
  ) {}

  /** Opens the inbox of a data folder. What a killed process was told and never acknowledged goes. */
  static open(data: string, limitMb: number, clock: () => number): Inbox {
    const folder = join(data, 'inbox');
    for (const part of ['incoming', 'checking']) {
      mkdirSync(join(folder, part), { recursive: true });
      for (const name of readdirSync(join(folder, part))) discard(join(folder, part, name));
    }
    return new Inbox(folder, limitMb * 2 ** 20, clock, Acknowledged.open(folder, limitMb * 2 ** 20, clock));
  }

  /** What is acknowledged and waits to be settled, without what is set aside. */
  get depth(): { readonly bytes: number; readonly files: number } {
    return this.acknowledged.depth;
  }

  /** What couldn't be settled at the last drain. */
  get setAside(): readonly SetAside[] {
    return this.acknowledged.setAside;
  }

  /**
   * Takes a body in, and answers once what is valid in it is on disk. Throws InboxFull, TooLarge, TooManyLines,
   * TooManyValues, NotAnArray and Gone, and then has taken nothing. A verdict with events of others has taken nothing either.
   */
  async receive(body: Readable, sender: Sender): Promise<Verdict> {
    if (this.acknowledged.depth.bytes >= this.limitBytes) throw new InboxFull();
    const { requestId, orgId, onlyUser, gone } = sender;
    const receivedAt = this.clock();
    const path = join(this.folder, 'incoming', requestId);
    try {
      const plain = new PlainLines(sender, receivedAt);
      const look = (piece: Buffer) => plain.add(piece);
      const count = sender.isArray ? new ValueCount(true) : new LineCount();
      let bytes = await writeBody(body, path, sender.encoding, (piece) => {
        count.add(piece);
        if (!sender.isArray) look(piece);
      });
      if (sender.gone.aborted) throw new Gone();
      if (sender.isArray) {
        if (!(await (await this.checker()).toLines(path, `${path}.lines`))) throw new NotAnArray();
        bytes = await sync(`${path}.lines`);
        await rename(`${path}.lines`, path);
        for await (const piece of createReadStream(path)) look(piece);
      }
      let verdict = plain.end();
      if (verdict === undefined) {
        if (!sender.isArray) await countValues(path);
        verdict = await this.check({ path, orgId, onlyUser, receivedAt, gone }, bytes);
      }
      if (verdict.ofOthers > 0) await rm(path);
      else await this.keep({ path, body: { requestId, orgId, receivedAt }, bytes });
      return verdict;
    } catch (error) {
      await rm(path, { force: true });
      await rm(`${path}.lines`, { force: true });
      throw error;
    }
  }

  /** Looks at a file of lines by the rules, with others that come. */
  private check(file: Sent, bytes: number): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ file, bytes, resolve, reject });
      void this.checkWaiting();
    });
  }

  /** Opened when it is first needed. */
  private checker(): Promise<Checker> {
    if (this.opened === undefined) {
      const opening = Checker.open(join(this.folder, 'checking'));
      this.opened = opening;
      // One that could not be opened, as on a full disk, is tried again by the next who needs it.
      opening.catch(() => {
        if (this.opened === opening) this.opened = undefined;
      });
    }
    return this.opened;
  }

  /** Has the checker look at what waits, many bodies at once while there are many. */
  private async checkWaiting(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    while (this.waiting.length > 0) {
      const group = this.nextGroup();
      if (group.length === 0) break;
      try {
        const checker = await this.checker();
        const isLarge = group.some(({ bytes }) => bytes > GROUP_BYTES);
        const files = group.map(({ file }) => file);
        const verdicts = isLarge ? [] : await checker.check(files);
        for (const [index, one] of group.entries()) {
          const verdict = verdicts[index];
          // Not waited for: those that come meanwhile go in between.
          if (verdict === undefined) this.checkNumbered(checker, one);
          else one.resolve(verdict);
        }
      } catch (error) {
        for (const one of group) this.failed(one)(error);
      }
    }
    this.isChecking = false;
  }

  private checkNumbered(checker: Checker, one: Waiting): void {
    const checking = checker
      .checkNumbered(one.file)
      .then(one.resolve, this.failed(one))
      .finally(() => this.numbered.delete(checking));
    this.numbered.add(checking);
  }

  /** Tells a sender that its body could not be checked. */
  private failed({ reject }: Waiting): (error: unknown) => void {
    return (error) => {
      reject(error);
      // Its database is of no use any more: the next group gets another.
      if (error instanceof StoreUnavailable) void this.closeChecker().catch(() => undefined);
    };
  }

  /** Takes the bodies that are checked next from those that wait: one at least, unless all senders have gone. */
  private nextGroup(): Waiting[] {
    for (const one of this.waiting) if (one.file.gone.aborted) one.reject(new Gone());
    this.waiting = this.waiting.filter(({ file }) => !file.gone.aborted);
    let bytes = 0;
    const over = this.waiting.findIndex((one) => {
      bytes += one.bytes;
      return bytes > GROUP_BYTES;
    });
    return this.waiting.splice(0, Math.min(GROUP_FILES, over < 0 ? GROUP_FILES : Math.max(1, over)));
  }

  /** Acknowledges a body. Those that come while the disk is at work go together after that. */
  private keep(one: Checked): Promise<void> {
    this.checked.push(one);
    this.keeping ??= this.disk.run(() => {
      this.keeping = undefined;
      return this.keepTogether(this.checked.splice(0));
    });
    return this.keeping;
  }

  /** Moves files to where they are acknowledged, and has the disk keep that. */
  private async keepTogether(group: readonly Checked[]): Promise<void> {
    const ready = join(this.folder, 'ready');
    for (const { path, body, bytes } of group) {
      await rename(path, join(ready, nameOf(body)));
      this.acknowledged.add(bytes);
    }
    await sync(ready);
  }

  /** Settles from now on what comes. */
  start(store: Store, watcher: Omit<Watcher, 'rest'>): void {
    const rest = async () => {
      if (!this.isChecking && this.numbered.size === 0) await this.closeChecker();
    };
    this.acknowledged.start(store, { ...watcher, rest });
  }

  /** Settles all that is there. One at a time: who calls meanwhile waits for the one under way, and for the rest. */
  drain(store: Store): Promise<void> {
    return this.acknowledged.drain(store);
  }

  /** It takes memory that nobody needs while nothing comes. */
  private async closeChecker(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await (await opened)?.close();
  }

  /** Finishes what is under way. What is acknowledged stays where it is until the next start. */
  async close(): Promise<void> {
    await this.acknowledged.close();
    await Promise.all(this.numbered);
    await this.closeChecker();
  }
}

/** Throws TooManyValues for a file of lines that would take too much memory to parse. */
async function countValues(path: string): Promise<void> {
  const count = new ValueCount(false);
  for await (const piece of createReadStream(path)) count.add(piece);
}
