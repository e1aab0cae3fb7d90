import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rm } from '../disk/renames.js';
import type { Bucket } from '../objects/bucket.js';
import type { Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { type Indexed, NotBodies, readBodies, writeBody } from './bucket-bodies.js';
import { asideKey, partsOf, placeOf, type Ready, SETTLING } from './bucket-names.js';
import type { Aside, BucketView } from './bucket-view.js';
import { type AsideList, DAMAGED } from './set-aside.js';
import { type Entry, settledOf, settlePart } from './settle-part.js';
import { BATCH_BYTES, BATCH_FILES } from './settle-schedule.js';

/** How long the list of the objects of a batch can be: each takes 27 bytes. */
const LIST_BYTES = 1 << 20;

/** Whether the store has the body at a place. */
type IsSettled = (place: string) => boolean;

/** A body in an object, and its place. */
interface Placed extends Indexed {
  readonly place: string;
}

/**
 * Settles objects of an inbox in a bucket. Which objects make a batch is noted in the bucket before the batch is settled, and its token names
 * parts by their first and last place, so whoever comes next knows from the store which bodies it has. The note stays until its objects are gone.
 */
export class BucketSettler {
  /** The bodies of objects that stay, so that they needn't be read to know that nothing is to be done. */
  private readonly indexes = new Map<string, readonly Placed[]>();
  /** The objects of each token. */
  private readonly batches = new Map<string, readonly string[]>();

  constructor(
    private readonly bucket: Bucket,
    private readonly view: BucketView,
    private readonly asides: AsideList,
    private readonly folder: string,
    private readonly clock: () => number,
  ) {}

  /** Settles what the view has of some groups. */
  async settle(store: Store, led: ReadonlySet<number>): Promise<void> {
    const { view } = this;
    await this.readBatches();
    const waiting = new Map(view.waiting.map((object) => [object.id, object]));
    for (const id of this.indexes.keys()) if (!waiting.has(id)) this.indexes.delete(id);
    const inBatches = new Set([...this.batches.values()].flat());
    for (const [token, ids] of this.batches) {
      const objects = ids.flatMap((id) => waiting.get(id) ?? []);
      if (objects.some((one) => isOf(one, led))) await this.settleBatch(store, token, objects, led);
    }
    const rest = [...waiting.values()].filter((one) => !inBatches.has(one.id) && isOf(one, led));
    for (const objects of inParts(rest)) {
      const token = ulid(this.clock());
      const ids = objects.map(({ id }) => id);
      await this.bucket.put(`${SETTLING}${token}`, ids.join('\n'));
      this.batches.set(token, ids);
      await this.settleBatch(store, token, objects, led);
    }
    for (const [place, aside] of view.aside)
      if (led.has(partsOf(place).group) && !view.has(partsOf(place).object))
        await this.settleAside(store, place, aside);
    await this.forgetBatches();
  }

  /** Reads the notes of batches that other nodes have written, or an earlier process. */
  private async readBatches(): Promise<void> {
    const there = new Set(this.view.tokens);
    for (const token of this.batches.keys()) if (!there.has(token)) this.batches.delete(token);
    for (const token of there) {
      if (this.batches.has(token)) continue;
      const text = await this.bucket.text(`${SETTLING}${token}`, LIST_BYTES);
      if (text !== undefined) this.batches.set(token, text.split('\n'));
    }
  }

  /** Whether the store has a body: in any batch that has its object, because a node that lost its lease may have begun another. */
  private async settledNow(store: Store, token: string, ids: ReadonlySet<string>): Promise<IsSettled> {
    const batches = [...this.batches].filter(([one, own]) => one === token || own.some((id) => ids.has(id)));
    const all = await Promise.all(
      batches.map(async ([one, own]) => ({ own: new Set(own), isSettled: await settledOf(store, one) })),
    );
    // TRICKY: a part of a batch also reaches over places of objects that aren't in it.
    return (place) =>
      this.view.aside.has(place) ||
      all.some(({ own, isSettled }) => own.has(partsOf(place).object) && isSettled(place));
  }

  private async settleBatch(
    store: Store,
    token: string,
    objects: readonly Ready[],
    led: ReadonlySet<number>,
  ): Promise<void> {
    const ids = new Set(objects.map(({ id }) => id));
    const isSettled = await this.settledNow(store, token, ids);
    const isWanted = (place: string) => led.has(partsOf(place).group) && !isSettled(place);
    const folder = join(this.folder, token);
    await mkdir(folder, { recursive: true });
    try {
      // Each group's files, in parts between which other bodies of the batch stay.
      const runs = new Map<number, Entry[][]>([...led].map((group) => [group, [[]]]));
      const part = () => {
        for (const own of runs.values()) own.push([]);
      };
      for (const object of objects) {
        const known = this.indexes.get(object.id);
        if (!isOf(object, led) || known?.every(({ place }) => !isWanted(place)) === true) continue;
        const read = await this.read(object, folder, isWanted);
        if (read === undefined) part();
        for (const { place, body, bytes } of read?.bodies ?? []) {
          const own = runs.get(partsOf(place).group);
          const path = join(folder, place);
          if (isWanted(place) && read?.damaged.has(place) === true) {
            await this.setAside({ ...body, path, bytes, place }, DAMAGED);
          } else if (isWanted(place)) {
            own?.at(-1)?.push({ ...body, path, bytes, place });
            continue;
          }
          own?.push([]);
        }
      }
      for (const run of [...runs.values()].flat()) {
        if (run.length === 0) continue;
        await settlePart(store, token, run, this.clock, {
          settled: async ({ path }) => rm(path, { force: true }),
          failed: (file, error) => this.setAside(file, error),
        });
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    // Other nodes settle other groups: the last one removes the object.
    const isNow = await this.settledNow(store, token, ids);
    const done = objects.filter(
      ({ id }) => this.indexes.get(id)?.every(({ place }) => isNow(place)) === true,
    );
    if (done.length === 0) return;
    await this.bucket.remove(done.map(({ key }) => key));
    for (const { id } of done) {
      this.indexes.delete(id);
      this.view.remove(id);
    }
    const own = this.batches.get(token) ?? [];
    if (done.length === objects.length && own.every((id) => !this.view.has(id))) {
      await this.bucket.remove([`${SETTLING}${token}`]);
      this.batches.delete(token);
    }
  }

  /** Reads an object and writes its bodies that are wanted into a folder, by their places. Answers undefined if it is gone, or damaged. */
  private async read(object: Ready, folder: string, isWanted: (place: string) => boolean) {
    const name = this.bucket.nameOf(object.key);
    if (this.asides.isResting(name)) return undefined;
    const placed = (number: number, { body }: Indexed) => placeOf(object.id, number, body.orgId);
    try {
      const read = await this.bucket.get(object.key, object.bytes, (pieces) =>
        readBodies(pieces, (number, one) => {
          const place = placed(number, one);
          return isWanted(place) ? join(folder, place) : undefined;
        }),
      );
      if (read === undefined) {
        this.view.remove(object.id);
        return undefined;
      }
      const bodies = read.index.map((one, number) => ({ ...one, place: placed(number, one) }));
      this.indexes.set(object.id, bodies);
      return { bodies, damaged: new Set([...read.damaged].map((number) => bodies[number]?.place)) };
    } catch (error) {
      if (!(error instanceof NotBodies)) throw error;
      this.asides.rest(name, DAMAGED);
      return undefined;
    }
  }

  /** Keeps a body apart that can't be settled, so that its object can go. */
  private async setAside(file: Entry, why: unknown): Promise<void> {
    const key = asideKey(file.place, file);
    const bytes = await readFile(file.path);
    await this.bucket.put(key, bytes);
    this.view.aside.set(file.place, { key, body: file, bytes: bytes.length });
    this.report(key, why);
  }

  private report(key: string, why: unknown): void {
    const name = this.bucket.nameOf(key);
    if (typeof why === 'string') this.asides.rest(name, why);
    else this.asides.fail(name, why);
  }

  /** Settles a body that was set aside, if it can be settled now. */
  private async settleAside(store: Store, place: string, { key, body, bytes }: Aside): Promise<void> {
    if (this.asides.isResting(this.bucket.nameOf(key))) return;
    const token = `aside.${place}`;
    const path = join(this.folder, place);
    let isDone = (await settledOf(store, token))(place);
    if (!isDone) {
      await mkdir(this.folder, { recursive: true });
      const read = await this.bucket.get(key, bytes, (pieces) => writeBody(pieces, body, path));
      if (read === false) return this.report(key, DAMAGED);
      const file = { ...body, path, bytes, place };
      if (read !== undefined)
        await settlePart(store, token, [file], this.clock, {
          settled: async () => {
            isDone = true;
          },
          failed: (_, error) => this.report(key, error),
        });
      await rm(path, { force: true });
    }
    if (!isDone) return;
    await this.bucket.remove([key]);
    this.view.aside.delete(place);
  }

  /**
   * Removes notes of batches whose objects are gone. The list before must have had them too: the objects of a note that is newer than that may be
   * newer than what this list shows of objects.
   */
  private async forgetBatches(): Promise<void> {
    const over = [...this.batches].filter(
      ([token, ids]) => this.view.earlier.has(token) && ids.every((id) => !this.view.has(id)),
    );
    for (const [token] of over) this.batches.delete(token);
    if (over.length > 0) await this.bucket.remove(over.map(([token]) => `${SETTLING}${token}`));
  }
}

function isOf({ groups }: Ready, led: ReadonlySet<number>): boolean {
  return groups.some((group) => led.has(group));
}

/** Objects in parts that are settled together. */
function* inParts(objects: readonly Ready[]): Generator<Ready[], void, undefined> {
  let part: Ready[] = [];
  let [bytes, files] = [0, 0];
  for (const object of objects) {
    if (part.length > 0 && (bytes + object.bytes > BATCH_BYTES || files + object.bodies > BATCH_FILES)) {
      yield part;
      part = [];
      [bytes, files] = [0, 0];
    }
    part.push(object);
    bytes += object.bytes;
    files += object.bodies;
  }
  if (part.length > 0) yield part;
}
