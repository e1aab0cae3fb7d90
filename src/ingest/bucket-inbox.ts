import { rm } from '../disk/renames.js';
import { Bucket } from '../objects/bucket.js';
import type { S3Address } from '../settings/store-address.js';
import { withLed } from '../store/leading.js';
import type { Store } from '../store/store.js';
import type { Checked } from './acknowledged.js';
import { BucketSettler } from './bucket-settler.js';
import { BucketView } from './bucket-view.js';
import { BucketWriter } from './bucket-writer.js';
import { AsideList, FOREIGN, type SetAside } from './set-aside.js';
import { SettleSchedule, STOPPED_MS, type Waiting, type Watcher } from './settle-schedule.js';

/** How often the bucket is listed while this node has nothing in it: other nodes may have. */
const LOOK_MS = 5000;

/** The longest body that is read to find a person in it. */
const OBJECT_BYTES = 256 << 20;

/** The bodies in a bucket that were acknowledged, by any node, on their way into the store. */
export class BucketInbox implements Waiting {
  private readonly bucket: Bucket;
  private readonly view: BucketView;
  private readonly writer: BucketWriter;
  private readonly settler: BucketSettler;
  private readonly asides: AsideList;
  private readonly schedule = new SettleSchedule(this);
  private report: Watcher['setAside'] = () => {};
  private isNew = false;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    address: S3Address,
    /** Where bodies are while they are settled. Nothing of it need stay. */
    private readonly folder: string,
    readonly limitBytes: number,
    private readonly clock: () => number,
  ) {
    this.bucket = new Bucket(address);
    this.asides = new AsideList(clock);
    this.view = new BucketView(this.bucket, limitBytes, clock);
    this.settler = new BucketSettler(this.bucket, this.view, this.asides, folder, clock);
    this.writer = new BucketWriter(this.bucket, clock, (object) => {
      this.view.add(object);
      this.isNew = true;
    });
  }

  /** What waits, in bytes and bodies, as far as this node knows: bodies of other nodes are known a few seconds later. */
  get depth(): { readonly bytes: number; readonly files: number } {
    return this.view.depth;
  }

  get setAside(): readonly SetAside[] {
    const { bucket } = this;
    const start = bucket.nameOf('');
    return this.asides.entries.map((entry) => {
      const key = entry.path.slice(start.length);
      const object = {
        text: () => bucket.text(key, OBJECT_BYTES),
        remove: () => bucket.remove([key]),
      };
      return { ...entry, object };
    });
  }

  get stoppedSince(): number | undefined {
    const { depth, movedAt } = this.view;
    return depth.files > 0 && this.clock() - movedAt >= STOPPED_MS ? movedAt : undefined;
  }

  isFull(orgId: string): boolean {
    return this.view.isFull(orgId);
  }

  /** Returns once a body is in the bucket. Throws NotKept. */
  keep(file: Checked): Promise<void> {
    return this.writer.keep(file);
  }

  hasCome(): boolean {
    const { isNew } = this;
    this.isNew = false;
    return isNew;
  }

  async look(): Promise<void> {
    if (performance.now() - this.lookedAt < LOOK_MS) return;
    this.lookedAt = performance.now();
    const { files } = this.depth;
    await this.view.refresh();
    if (this.depth.files > files) this.isNew = true;
  }

  start(store: Store, { failed, setAside }: Watcher): void {
    this.report = setAside;
    this.schedule.start(store, failed);
  }

  drain(store: Store): Promise<void> {
    return this.schedule.drain(store);
  }

  close(): Promise<void> {
    return this.schedule.close();
  }

  async settleAll(store: Store): Promise<void> {
    await withLed(store, async (led) => {
      // Listed only now: whoever had a group before has committed what it will.
      await this.refresh();
      this.asides.begin();
      for (const key of this.view.foreign) this.asides.put(this.bucket.nameOf(key), FOREIGN);
      try {
        await this.settler.settle(store, led);
      } finally {
        await rm(this.folder, { recursive: true, force: true });
      }
      this.asides.end(this.report);
    });
  }

  private async refresh(): Promise<void> {
    this.lookedAt = performance.now();
    await this.view.refresh();
  }

  /** Looks what is set aside, and changes nothing. */
  async search(): Promise<readonly SetAside[]> {
    await this.view.refresh();
    this.asides.begin();
    for (const key of this.view.foreign) this.asides.put(this.bucket.nameOf(key), FOREIGN);
    for (const { key } of this.view.aside.values())
      this.asides.put(this.bucket.nameOf(key), "the store couldn't settle it");
    this.asides.end(this.report);
    return this.setAside;
  }
}
