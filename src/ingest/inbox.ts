import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { syncNow } from '../disk/refusals.js';
import { rm, rmSync } from '../disk/renames.js';
import { codeOf } from '../exit.js';
import { Queue } from '../store/queue.js';
import type { Store } from '../store/store.js';
import { Acknowledged, type Checked } from './acknowledged.js';
import { type Encoding, PACKED_BYTES, unpacked, writeTexts } from './body.js';
import { BodyCheck, type BodySender, type Verdict } from './body-check.js';
import { type Body, digestOfBody } from './body-name.js';
import type { SetAside } from './set-aside.js';
import type { Watcher } from './settle-schedule.js';

/** The sender of a body, and its encoding. */
export interface Sender extends BodySender {
  /** Names the body: its rejected lines are kept under it. */
  readonly requestId: string;
  readonly encoding: Encoding;
}

/** Whose lines came when, in which request. */
export type Receipt = Omit<Body, 'digest'>;

/** As much waits of the organization as may: nothing was taken. */
export class InboxFull extends Error {
  override name = 'InboxFull';
}

/** Deletes a leftover of an earlier process. One that can't be deleted disturbs nobody. */
function discard(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (codeOf(error) === '') throw error;
  }
}

/** How many lines are written before others have their turn. */
const WRITTEN_TOGETHER = 2000;

/**
 * Events on their way into the store, as files. Acknowledged events are on disk, and are settled soon. The way of a body:
 *
 *     received, unpacked           body.ts
 *     split into lines, judged     body-check.ts
 *     written, hashed, synced      body.ts
 *     acknowledged                 together with those that came while the disk was at work
 *     settled                      acknowledged.ts
 *
 * and its files:
 *
 *     incoming/<request>           being received; nobody was told that it is there
 *     ready/<body>                 acknowledged; the name says whose it is and when it came, see body-name.ts
 *     settling/<token>/<body>      being settled; the store knows the token once it has been
 */
export class Inbox {
  private readonly disk = new Queue();
  private checked: Checked[] = [];
  private keeping: Promise<void> | undefined;

  private constructor(
    private readonly folder: string,
    private readonly clock: () => number,
    private readonly acknowledged: Acknowledged,
  ) {}

  /** Opens the inbox of a data folder. Deletes bodies that a killed process hadn't acknowledged. */
  static open(data: string, limitMb: number, clock: () => number): Inbox {
    const folder = join(data, 'inbox');
    const incoming = join(folder, 'incoming');
    mkdirSync(incoming, { recursive: true });
    for (const name of readdirSync(incoming)) discard(join(incoming, name));
    const acknowledged = Acknowledged.open(folder, limitMb * 2 ** 20, clock);
    // Before the first body is acknowledged: it is lost with the folder that it is in.
    for (const path of [folder, data]) syncNow(path);
    return new Inbox(folder, clock, acknowledged);
  }

  /** The size of the bodies that wait to be settled, without those that are set aside. */
  get depth(): { readonly bytes: number; readonly files: number } {
    return this.acknowledged.depth;
  }

  /** Since when nothing was settled although something waits; undefined unless that is too long. Unix milliseconds. */
  get stoppedSince(): number | undefined {
    return this.acknowledged.stoppedSince;
  }

  /** The files that the last drain couldn't settle. */
  get setAside(): readonly SetAside[] {
    return this.acknowledged.setAside;
  }

  /**
   * Takes a body, and returns the verdict once its valid events are on disk. When it throws (InboxFull, TooLarge, TooManyLines,
   * NotUnpacked, NotAnArray, Gone), or the verdict has events of others, it has kept nothing.
   */
  async receive(body: Readable, sender: Sender): Promise<Verdict> {
    const { requestId, orgId, encoding } = sender;
    const receivedAt = this.clock();
    const check = new BodyCheck(sender, receivedAt);
    await this.take(
      { requestId, orgId, receivedAt },
      (path) => unpacked(body, encoding, PACKED_BYTES, (pieces) => writeTexts(path, check.keep(pieces))),
      () => check.ofOthers === 0,
    );
    return check;
  }

  /**
   * Takes lines that were checked when they were received, as BodyCheck writes them, and returns once they are on disk. When it throws
   * (InboxFull), it has kept nothing.
   */
  receiveChecked(lines: readonly string[], receipt: Receipt): Promise<void> {
    function* texts() {
      for (let at = 0; at < lines.length; at += WRITTEN_TOGETHER)
        yield `${lines.slice(at, at + WRITTEN_TOGETHER).join('\n')}\n`;
    }
    return this.take(receipt, (path) => writeTexts(path, texts()));
  }

  /** Writes a body to disk, and acknowledges it unless it is empty or isn't wanted any more. */
  private async take(
    receipt: Receipt,
    write: (path: string) => Promise<{ bytes: number; sha256: string }>,
    isWanted = () => true,
  ): Promise<void> {
    if (this.acknowledged.isFull(receipt.orgId)) throw new InboxFull();
    const path = join(this.folder, 'incoming', receipt.requestId);
    try {
      const { bytes, sha256 } = await write(path);
      if (bytes === 0 || !isWanted()) await rm(path);
      else await this.acknowledge({ path, body: { ...receipt, digest: digestOfBody(sha256) }, bytes });
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /** Acknowledges a body. Those that come while the disk is at work go together after that. */
  private acknowledge(one: Checked): Promise<void> {
    this.checked.push(one);
    this.keeping ??= this.disk.run(() => {
      this.keeping = undefined;
      return this.acknowledged.keep(this.checked.splice(0));
    });
    return this.keeping;
  }

  /** Settles bodies from now on. */
  start(store: Store, watcher: Watcher): void {
    this.acknowledged.start(store, watcher);
  }

  /** Settles all bodies. One drain at a time: a call meanwhile waits for the one under way, and for the rest. */
  drain(store: Store): Promise<void> {
    return this.acknowledged.drain(store);
  }

  /** Finishes the work under way. Acknowledged bodies wait for the next start. */
  close(): Promise<void> {
    return this.acknowledged.close();
  }
}
