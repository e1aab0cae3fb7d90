import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { syncNow } from '../disk/refusals.js';
import { rm, rmSync } from '../disk/renames.js';
import { codeOf } from '../exit.js';
import type { S3Address } from '../settings/store-address.js';
import { Queue } from '../store/queue.js';
import type { Store } from '../store/store.js';
import { Acknowledged, type Checked } from './acknowledged.js';
import { type Encoding, PACKED_BYTES, UNPACKED_BYTES, unpacked, writeTexts } from './body.js';
import { BodyCheck, type BodySender, type Verdict } from './body-check.js';
import { type Body, digestOfBody } from './body-name.js';
import { BucketInbox } from './bucket-inbox.js';
import { BodyMemory, type Received } from './held-body.js';
import { Room } from './room.js';
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

type Texts = Iterable<string> | AsyncIterable<string>;

/** How many lines are written before others have their turn. */
const WRITTEN_TOGETHER = 2000;

/** How many bytes may wait on this node for a bucket that is slow before no more bodies are begun, and how many more those have that are. */
const PENDING_BYTES = 512 << 20;
const BEGUN_BYTES = 4 * UNPACKED_BYTES;

/** Where an inbox is. */
interface Place {
  /** The data folder. */
  readonly data: string;
  readonly inboxMb: number;
  /** The bucket in which bodies wait for the store; undefined for the data folder. */
  readonly inbox?: S3Address | undefined;
}

/**
 * Events on their way into the store, as files. Acknowledged events are on disk or in a bucket, and are settled soon. The way of a body:
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
 *
 * With a bucket, bodies that come together are acknowledged once they are one object there: bucket-inbox.ts. Small ones wait for that in memory,
 * and have no file. Bodies that wait in the folder from before are settled too.
 */
export class Inbox {
  private readonly disk = new Queue();
  private checked: Checked[] = [];
  private keeping: Promise<void> | undefined;
  private readonly memory = new BodyMemory();
  private readonly pending: Room;
  private readonly pendingBytes: number;

  private constructor(
    private readonly folder: string,
    private readonly clock: () => number,
    private readonly acknowledged: Acknowledged,
    private readonly bucket: BucketInbox | undefined,
  ) {
    this.pendingBytes = Math.min(PENDING_BYTES, acknowledged.limitBytes);
    this.pending = new Room(this.pendingBytes);
  }

  /** Opens an inbox. Deletes bodies that a killed process hadn't acknowledged. */
  static open({ data, inboxMb, inbox }: Place, clock: () => number): Inbox {
    const folder = join(data, 'inbox');
    const incoming = join(folder, 'incoming');
    mkdirSync(incoming, { recursive: true });
    for (const name of readdirSync(incoming)) discard(join(incoming, name));
    const limit = inboxMb * 2 ** 20;
    const acknowledged = Acknowledged.open(folder, limit, clock);
    const bucket =
      inbox === undefined ? undefined : new BucketInbox(inbox, join(folder, 'fetched'), limit, clock);
    // Before the first body is acknowledged: it is lost with the folder that it is in.
    for (const path of [folder, data]) syncNow(path);
    return new Inbox(folder, clock, acknowledged, bucket);
  }

  /** Looks what is set aside in an inbox that isn't open, and changes nothing. Only drains know all that the store fails on. */
  static async look({ data, inboxMb, inbox }: Place, clock: () => number): Promise<readonly SetAside[]> {
    const inFolder = await Acknowledged.look(data, clock);
    if (inbox === undefined) return inFolder;
    const bucket = new BucketInbox(inbox, join(data, 'inbox', 'fetched'), inboxMb * 2 ** 20, clock);
    return [...inFolder, ...(await bucket.search())];
  }

  /** The size of the bodies that wait to be settled, without those that are set aside. */
  get depth(): { readonly bytes: number; readonly files: number } {
    const { bytes, files } = this.acknowledged.depth;
    const { bytes: more, files: moreFiles } = this.bucket?.depth ?? { bytes: 0, files: 0 };
    return { bytes: bytes + more, files: files + moreFiles };
  }

  /** Since when nothing was settled although something waits; undefined unless that is too long. Unix milliseconds. */
  get stoppedSince(): number | undefined {
    return this.acknowledged.stoppedSince ?? this.bucket?.stoppedSince;
  }

  /** What the last drain couldn't settle. */
  get setAside(): readonly SetAside[] {
    return [...this.acknowledged.setAside, ...(this.bucket?.setAside ?? [])];
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
      (write) => unpacked(body, encoding, PACKED_BYTES, (pieces) => write(check.keep(pieces))),
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
    return this.take(receipt, (write) => write(texts()));
  }

  /** Writes a body to disk, and acknowledges it unless it is empty or isn't wanted any more. */
  private async take(
    receipt: Receipt,
    read: (write: (texts: Texts) => Promise<Received>) => Promise<Received>,
    isWanted = () => true,
  ): Promise<void> {
    const { bucket, acknowledged } = this;
    const { orgId, requestId } = receipt;
    if ((bucket ?? acknowledged).isFull(orgId)) throw new InboxFull();
    const path = join(this.folder, 'incoming', requestId);
    const waits = bucket === undefined ? undefined : this.waits(orgId);
    const memory = this.memory.body();
    try {
      const { bytes, sha256, held } = await read((texts) =>
        waits === undefined ? writeTexts(path, texts) : memory.receive(path, waits.counted(texts)),
      );
      const file = { path, body: { ...receipt, digest: digestOfBody(sha256) }, bytes, held };
      const isKept = bytes > 0 && isWanted();
      if (isKept) await (bucket === undefined ? this.acknowledge(file) : bucket.keep(file));
      if (held === undefined && !(isKept && bucket === undefined)) await rm(path);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      waits?.end();
      memory.end();
    }
  }

  /** Counts the bytes of a body that waits on this node, in memory nearly the same. Throws InboxFull when they are too many. */
  private waits(orgId: string) {
    const { pending } = this;
    if (pending.isFull(orgId)) throw new InboxFull();
    const most = this.pendingBytes + BEGUN_BYTES;
    let bytes = 0;
    return {
      async *counted(texts: Texts) {
        for await (const text of texts) {
          pending.take(orgId, text.length);
          bytes += text.length;
          if (pending.taken > most) throw new InboxFull();
          yield text;
        }
      },
      end: () => pending.giveBack(orgId, bytes),
    };
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
    this.bucket?.start(store, watcher);
  }

  /** Settles all bodies. One drain at a time: a call meanwhile waits for the one under way, and for the rest. */
  async drain(store: Store): Promise<void> {
    await this.acknowledged.drain(store);
    await this.bucket?.drain(store);
  }

  /** Finishes the work under way. Acknowledged bodies wait for the next start. */
  async close(): Promise<void> {
    await this.acknowledged.close();
    await this.bucket?.close();
  }
}
