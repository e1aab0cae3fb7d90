import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MS_PER_DAY } from '../day.js';
import { writeWhole } from '../disk/folder.js';
import { reasonOf, UsageError } from '../exit.js';
import type { S3Address } from '../settings/store-address.js';
import { inTurn } from '../store/leading.js';
import { Queue } from '../store/queue.js';
import type { OrgDay, Store } from '../store/store.js';
import { StoreUnavailable } from '../store/store-fault.js';
import { LOG } from './delta-log.js';
import { LakeBucket } from './lake-bucket.js';
import { folderOf, LAKE } from './lake-paths.js';
import { type Publication, Publisher } from './publisher.js';
import { foldersIn, organizationsIn, readSnapshot, SNAPSHOT, snapshotText } from './snapshot.js';
import { knownDays, peopleRevisions } from './stored-days.js';
import { compare, distrust, type Verified } from './verify.js';

/** The lake could not be written. The days are built all the same. */
export class LakeFailed extends Error {
  override name = 'LakeFailed';

  constructor(folder: string, cause: unknown) {
    super(
      `The days are built, but could not all be published to the lake ${folder} (${reasonOf(cause)}): remove the cause, and run "daybook lake publish".`,
      { cause },
    );
  }
}

/** The organizations that have days in the store, in order. */
async function organizationsOf(store: Pick<Store, 'select'>): Promise<string[]> {
  const rows = await store.select('SELECT DISTINCT org_id FROM days ORDER BY org_id');
  return rows.map((row) => String(row.org_id));
}

/** Where a lake is. */
interface Place {
  /** The data folder. */
  readonly data: string;
  readonly lakeKeepDays: number;
  /** The bucket with the lake; undefined for the data folder. */
  readonly lake?: S3Address | undefined;
}

/** Publishes the built days as Delta Lake tables. Only the process that has the store open writes them. */
export class Lake {
  readonly folder: string;
  private readonly bucket: LakeBucket | undefined;
  private readonly publisher: Publisher;
  private readonly queue = new Queue();
  private readonly closing = new AbortController();
  /** Whether every day of the store is published, except for those that `publish` is called with. */
  private isWhole = false;
  /** The newest change of people that is published, of each organization. */
  private people: ReadonlyMap<string, number> = new Map();

  constructor(
    { data, lakeKeepDays, lake }: Place,
    private readonly clock: () => number,
  ) {
    this.folder = join(data, LAKE);
    this.bucket = lake === undefined ? undefined : new LakeBucket(lake, this.folder);
    this.publisher = new Publisher(this.folder, lakeKeepDays * MS_PER_DAY, this.closing.signal, this.bucket);
  }

  /**
   * Publishes some days as the store has them, and people who have changed. At a process's first publication, and after a failure, it publishes all
   * days that aren't published yet. Throws LakeFailed.
   */
  async publish(store: Store, days: readonly OrgDay[]): Promise<void> {
    await this.exclusive(store, async () => {
      if (this.closing.signal.aborted) return;
      // Another node may have built days and ended before it published them.
      const isFull = !this.isWhole || this.bucket !== undefined;
      this.isWhole = false;
      const own = days.map(({ day }) => day).sort();
      const people = await peopleRevisions(store);
      const changed = [...people.keys()].filter((orgId) => people.get(orgId) !== this.people.get(orgId));
      const left = isFull
        ? await this.publishAll(store)
        : await this.publishSome(store, {
            orgIds: [...new Set([...days.map(({ orgId }) => orgId), ...changed])],
            from: own[0],
            to: own.at(-1),
          });
      this.isWhole = left.length === 0 && !this.closing.signal.aborted;
      this.people = people;
    });
  }

  private publishSome(store: Store, publication: Publication): Promise<string[]> {
    return this.publisher.publish(store, publication, this.clock());
  }

  private async publishAll(store: Store): Promise<string[]> {
    mkdirSync(this.folder, { recursive: true });
    await this.publisher.abandon();
    return this.publishSome(store, { orgIds: await organizationsOf(store) });
  }

  /** Compares the lake with the store, for one organization or for all. Days that are just being built or published aren't differences. */
  async verify(store: Store, orgId?: string): Promise<Verified> {
    const all = await this.queue.run(() => this.compare(store, orgId));
    if (all.differences.length === 0) return all;
    const some = [...new Set(all.differences.map((difference) => difference.orgId))];
    const { differences } = await this.queue.run(() => this.compareSome(store, some));
    return { ...all, differences };
  }

  /** Publishes files again that differ from the store, and removes days that the store doesn't have. Answers the differences. */
  async repair(store: Store): Promise<Verified> {
    // Interrupted publications are ended first: ending them later would replace the snapshots that are changed here.
    await this.exclusive(store, async () => {
      for (const orgId of await organizationsOf(store)) await this.publisher.begin(orgId);
    });
    const found = await this.verify(store);
    await this.exclusive(store, async () => {
      this.isWhole = false;
      const stored = await organizationsOf(store);
      const folders = new Set(stored.map(folderOf));
      const names = new Set([...foldersIn(this.folder), ...((await this.bucket?.folders()) ?? [])]);
      for (const name of names) if (!folders.has(name)) await this.publisher.remove(name);
      const known = await knownDays(store, stored);
      for (const orgId of stored) {
        const snapshot = readSnapshot(this.folder, orgId);
        if (snapshot === undefined) continue;
        const own = found.differences.filter((one) => one.orgId === orgId);
        // A table without its commits begins again.
        if (own.some(({ path }) => path.includes(LOG))) await this.publisher.remove(folderOf(orgId));
        else {
          const text = snapshotText(distrust(snapshot, own, known.get(orgId) ?? new Set()));
          await writeWhole(join(this.folder, folderOf(orgId), SNAPSHOT), text);
          await this.bucket?.replace(orgId, text);
        }
      }
      const left = await this.publishAll(store);
      this.isWhole = left.length === 0;
    });
    return found;
  }

  private async compareSome(store: Store, orgIds: readonly string[]): Promise<Verified> {
    for (const orgId of orgIds) await this.bucket?.fetchAll(orgId);
    return compare(store, this.folder, orgIds);
  }

  private async compare(store: Store, orgId?: string): Promise<Verified> {
    await this.bucket?.pullAll();
    const orgIds = new Set([...(await organizationsOf(store)), ...organizationsIn(this.folder)]);
    if (orgId !== undefined && !orgIds.has(orgId))
      throw new UsageError(
        `Neither the store nor the lake has days of an organization ${orgId}: "daybook status" lists the organizations.`,
      );
    return this.compareSome(store, orgId === undefined ? [...orgIds].sort() : [orgId]);
  }

  /** Removes everything that is published of an organization, earlier versions too. The next publication begins again. */
  async forget(store: Store, orgId: string): Promise<void> {
    const isDone = await this.exclusive(store, async () => {
      this.isWhole = false;
      await this.publisher.abandon();
      await this.publisher.remove(folderOf(orgId));
    });
    if (!isDone) throw new StoreUnavailable('The service stops before it could write to the lake.');
  }

  /** Stops a running publication at its next step. The next start goes on with it. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.queue.run(async () => {});
  }

  /**
   * Does work, one node at a time: rows of before an erasure are never published after it. Answers false if the lake is closed while it waits
   * for its turn.
   */
  private exclusive(store: Store, work: () => Promise<void>): Promise<boolean> {
    return this.queue.run(async () => {
      try {
        if (this.bucket !== undefined)
          return await inTurn((own) => store.trying('lake', own), work, this.closing.signal);
        await work();
        return true;
      } catch (error) {
        // If the disk is full, other parts of the service need the room.
        await this.publisher.abandon().catch(() => undefined);
        throw new LakeFailed(this.folder, error);
      }
    });
  }
}
