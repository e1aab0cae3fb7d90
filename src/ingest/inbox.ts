import { createReadStream, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { sync } from '../folder.js';
import { collectGarbage } from '../memory.js';
import { Queue } from '../queue.js';
import type { Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { type Encoding, writeBody } from './body.js';
import { Checker, type Sent, type Verdict } from './check.js';
import { requireOrganization } from './organization.js';
import { PlainLines } from './plain.js';

/** How much is settled together: bytes and files. */
const BATCH_BYTES = 256 << 20;
const BATCH_FILES = 5000;
/** How often it is looked whether something waits. */
const SETTLE_MS = 1000;
/** While more comes in, so many times only: a batch costs about the same whether it is small or not so small. */
const PATIENCE = 10;
/** When nothing has come for so many times, all that takes memory for it rests until something comes. */
const REST_AFTER = 10;
/** How much is checked together by the rules of sql/ingest. */
const GROUP_FILES = 64;
const GROUP_BYTES = 64 << 20;

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
  readonly orgId: string;
  readonly requestId: string;
  readonly bytes: number;
}

/**
 * Events on their way into the store, as files: what was acknowledged is on disk, and is settled as soon as may be.
 *
 *     incoming/<request>           being received; nobody was told that it is there
 *     checking/                    temporary files of the checker
 *     ready/<org>/<request>        acknowledged
 *     settling/<token>/<request>   being settled as one batch; the store knows the token once it has been
 */
export class Inbox {
  private waiting: Waiting[] = [];
  private draining: Promise<void> | undefined;
  private opened: Promise<Checker> | undefined;
  private isChecking = false;
  private readonly disk = new Queue();
  private checked: Checked[] = [];
  private keeping: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Whether something was acknowledged since it was last looked. */
  private hasCome = false;
  /** Bytes and files that were acknowledged and are not settled yet. */
  private held = { bytes: 0, files: 0 };

  private constructor(
    private readonly folder: string,
    private readonly limitBytes: number,
    private readonly clock: () => number,
  ) {}

  /** Opens the inbox of a data folder. What a killed process was told and never acknowledged goes. */
  static open(data: string, limitMb: number, clock: () => number): Inbox {
    const folder = join(data, 'inbox');
    for (const part of ['incoming', 'checking']) rmSync(join(folder, part), { recursive: true, force: true });
    for (const part of ['incoming', 'ready', 'settling']) mkdirSync(join(folder, part), { recursive: true });
    const inbox = new Inbox(folder, limitMb * 2 ** 20, clock);
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const found = statSync(join(folder, path));
      if (found.isFile()) {
        inbox.held.bytes += found.size;
        inbox.held.files += 1;
      }
    }
    return inbox;
  }

  /** What is acknowledged and waits to be settled. */
  get depth(): { readonly bytes: number; readonly files: number } {
    return this.held;
  }

  /**
   * Takes a body in, and answers once what is valid in it is on disk. Throws InboxFull, TooLarge and NotAnArray, and then
   * has taken nothing. A verdict with events of others has taken nothing either.
   */
  async receive(body: Readable, sender: Sender): Promise<Verdict> {
    if (this.held.bytes >= this.limitBytes) throw new InboxFull();
    const { requestId, orgId } = sender;
    const path = join(this.folder, 'incoming', requestId);
    try {
      const plain = new PlainLines(sender, this.clock());
      const look = (piece: Buffer) => plain.add(piece);
      let bytes = await writeBody(body, path, sender.encoding, sender.isArray ? undefined : look);
      if (sender.isArray) {
        if (!(await (await this.checker()).toLines(path, `${path}.lines`))) throw new NotAnArray();
        bytes = await sync(`${path}.lines`);
        await rename(`${path}.lines`, path);
        for await (const piece of createReadStream(path)) look(piece);
      }
      const verdict = plain.end() ?? (await this.check({ path, orgId, onlyUser: sender.onlyUser }, bytes));
      if (verdict.ofOthers > 0) await rm(path);
      else await this.keep({ path, orgId, requestId, bytes });
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
    this.opened ??= Checker.open(join(this.folder, 'checking'));
    return this.opened;
  }

  /** Has the checker look at what waits, many bodies at once while there are many. */
  private async checkWaiting(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    while (this.waiting.length > 0) {
      const group = this.nextGroup();
      try {
        const checker = await this.checker();
        const verdicts = await checker.check(
          group.map(({ file }) => file),
          this.clock(),
        );
        for (const [index, one] of group.entries()) one.resolve(verdicts[index] as Verdict);
      } catch (error) {
        for (const one of group) one.reject(error);
      }
    }
    this.isChecking = false;
  }

  /** Takes the bodies that are checked next from those that wait: one at least. */
  private nextGroup(): Waiting[] {
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
    const changed = new Set<string>();
    for (const { path, orgId, requestId, bytes } of group) {
      const folder = join(ready, orgId);
      if (!changed.has(folder) && (await mkdir(folder, { recursive: true })) !== undefined)
        changed.add(ready);
      changed.add(folder);
      await rename(path, join(folder, `${requestId}.ndjson`));
      this.held.bytes += bytes;
      this.held.files += 1;
      this.hasCome = true;
    }
    for (const folder of changed) await sync(folder);
  }

  /**
   * Settles from now on what comes: as soon as no more comes, or there is a batch of it, or it has waited for some seconds.
   * Failures go to `report`, and are tried again.
   */
  start(store: Store, report: (error: unknown) => void): void {
    let looks = 0;
    let quiet = 0;
    this.timer = setInterval(() => {
      const { hasCome } = this;
      this.hasCome = false;
      quiet = this.held.files > 0 ? 0 : quiet + 1;
      if (quiet === REST_AFTER)
        this.closeChecker()
          .then(() => store.rest())
          .then(collectGarbage)
          .catch(report);
      if (this.held.files === 0 || this.draining !== undefined) return;
      looks += 1;
      if (hasCome && looks < PATIENCE && this.held.bytes < Math.min(BATCH_BYTES, this.limitBytes / 2)) return;
      looks = 0;
      this.drain(store).catch(report);
    }, SETTLE_MS);
  }

  /** Settles all that is there. One at a time: who calls meanwhile waits for the one under way, and for the rest. */
  async drain(store: Store): Promise<void> {
    while (this.draining !== undefined) await this.draining;
    this.draining = this.settleAll(store);
    try {
      await this.draining;
    } finally {
      this.draining = undefined;
    }
  }

  private async settleAll(store: Store): Promise<void> {
    // What a killed process was settling.
    for (const token of await readdir(join(this.folder, 'settling'))) await this.settle(store, token);
    for (const orgId of (await readdir(join(this.folder, 'ready'))).sort()) {
      const ready = join(this.folder, 'ready', orgId);
      const names = (await readdir(ready)).sort();
      for (let next = 0; next < names.length; ) {
        const token = `${ulid(this.clock())}.${orgId}`;
        const folder = join(this.folder, 'settling', token);
        await mkdir(folder);
        let bytes = 0;
        for (const name of names.slice(next, next + BATCH_FILES)) {
          bytes += (await stat(join(ready, name))).size;
          await rename(join(ready, name), join(folder, name));
          next += 1;
          if (bytes > BATCH_BYTES) break;
        }
        await this.settle(store, token);
      }
    }
  }

  /** Settles the files of one batch, unless the store has them already, and removes them. */
  private async settle(store: Store, token: string): Promise<void> {
    const folder = join(this.folder, 'settling', token);
    const paths = (await readdir(folder)).sort().map((name) => join(folder, name));
    let bytes = 0;
    for (const path of paths) bytes += (await stat(path)).size;
    const [known] = await store.select('SELECT count(*) AS batches FROM batches WHERE token = $token', {
      token,
    });
    if (Number(known?.batches) === 0 && paths.length > 0) {
      const orgId = token.slice(token.indexOf('.') + 1);
      await requireOrganization(store, orgId, this.clock());
      // What was valid when it was acknowledged is valid later too.
      await store.settle({ orgId, format: 'canonical', paths, receivedAt: this.clock(), token });
    }
    await rm(folder, { recursive: true });
    this.held.bytes -= bytes;
    this.held.files -= paths.length;
  }

  /** It takes memory that nobody needs while nothing comes. */
  private async closeChecker(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await (await opened)?.close();
  }

  /** Finishes what is under way. What is acknowledged stays where it is until the next start. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    while (this.draining !== undefined) await this.draining.catch(() => undefined);
    await this.closeChecker();
  }
}
