import type { Bucket } from '../objects/bucket.js';
import { Queue } from '../store/queue.js';
import type { Body } from './body-name.js';
import { ASIDE, asideIn, READY, type Ready, readyIn, SETTLING } from './bucket-names.js';
import { Room } from './room.js';

/** A body that is set aside in the bucket. */
export interface Aside {
  readonly key: string;
  readonly body: Body;
  readonly bytes: number;
}

/** The objects of an inbox in a bucket, as this node has seen them last, with its own since. Other nodes' are known when they are listed. */
export class BucketView {
  /** The objects that wait, by their ids. */
  private objects = new Map<string, Ready>();
  private room: Room;
  private bodies = 0;
  /** The tokens of batches whose objects are noted in the bucket. */
  tokens: readonly string[] = [];
  /** The tokens that the list before had too. */
  earlier: ReadonlySet<string> = new Set();
  /** What is set aside, by its place. */
  readonly aside = new Map<string, Aside>();
  /** Objects among those that wait that Daybook has not written. */
  foreign: readonly string[] = [];
  /** When something was settled last, or began to wait: Unix milliseconds. */
  movedAt = 0;
  private readonly lists = new Queue();
  private changes: { added: Ready[]; removed: Set<string> } | undefined;

  constructor(
    private readonly bucket: Bucket,
    readonly limitBytes: number,
    private readonly clock: () => number,
  ) {
    this.room = new Room(limitBytes);
  }

  get depth(): { readonly bytes: number; readonly files: number } {
    return { bytes: this.room.taken, files: this.bodies };
  }

  /** In the order in which they were written, about. */
  get waiting(): readonly Ready[] {
    return [...this.objects.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  has(id: string): boolean {
    return this.objects.has(id);
  }

  isFull(orgId: string): boolean {
    return this.room.isFull(orgId);
  }

  /** Notes an object that this node has written. */
  add(object: Ready): void {
    this.changes?.added.push(object);
    if (this.objects.size === 0) this.movedAt = this.clock();
    this.count(object, 1);
    this.objects.set(object.id, object);
  }

  /** Notes an object that this node has removed. */
  remove(id: string): void {
    this.changes?.removed.add(id);
    const object = this.objects.get(id);
    if (object === undefined) return;
    this.count(object, -1);
    this.objects.delete(id);
    this.movedAt = this.clock();
  }

  private count({ bytes, bodies, organizations }: Ready, sign: 1 | -1): void {
    let left = bytes;
    const change = (orgId: string, own: number) =>
      sign === 1 ? this.room.take(orgId, own) : this.room.giveBack(orgId, own);
    for (const [orgId, own] of organizations) {
      left -= own;
      change(orgId, own);
    }
    // Of organizations that the name had no room for, and the index.
    change('', left);
    this.bodies += sign * bodies;
  }

  /** Lists the bucket. One list at a time: each notes what changes meanwhile. */
  refresh(): Promise<void> {
    return this.lists.run(() => this.list());
  }

  private async list(): Promise<void> {
    const changes = { added: [] as Ready[], removed: new Set<string>() };
    this.changes = changes;
    const found: Ready[] = [];
    const [tokens, foreign] = [[] as string[], [] as string[]];
    const aside = new Map<string, Aside>();
    for await (const one of this.bucket.list('')) {
      const { key, bytes } = one;
      const ready = readyIn(one);
      const set = asideIn(key);
      if (ready !== undefined) found.push(ready);
      else if (set !== undefined) aside.set(set.place, { key, body: set.body, bytes });
      else if (key.startsWith(SETTLING)) tokens.push(key.slice(SETTLING.length));
      else if (key.startsWith(READY) || key.startsWith(ASIDE)) foreign.push(key);
    }
    this.changes = undefined;
    const before = this.objects;
    this.objects = new Map();
    this.room = new Room(this.limitBytes);
    this.bodies = 0;
    for (const one of [...found, ...changes.added]) {
      if (changes.removed.has(one.id) || this.objects.has(one.id)) continue;
      this.count(one, 1);
      this.objects.set(one.id, one);
    }
    if (before.size === 0 || [...before.keys()].some((id) => !this.objects.has(id)))
      this.movedAt = this.clock();
    this.earlier = new Set(this.tokens);
    this.tokens = tokens;
    this.aside.clear();
    for (const [place, one] of aside) this.aside.set(place, one);
    this.foreign = foreign;
  }
}
