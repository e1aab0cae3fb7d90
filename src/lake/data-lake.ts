import { join } from 'node:path';
import { reasonOf, UsageError } from '../exit.js';
import { Queue } from '../queue.js';
import { keyOf, type OrgDay, type Store } from '../store/store.js';
import { organizationsIn } from './catalog.js';
import { LAKE, LAKE_TABLES } from './lake-paths.js';
import { Publisher } from './publisher.js';
import { compare, type Difference, type Verified } from './verify.js';

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

/**
 * The built days as Parquet files, for whoever wants to read them: a file for each table, organization and day that has rows,
 * and one for each table and organization with the rows of all quiet days. Only the process that has the store open writes it.
 */
export class Lake {
  readonly folder: string;
  private readonly publisher: Publisher;
  private readonly queue = new Queue();
  /** Whether all days are published that the store has, but for those that are told of. */
  private isWhole = false;

  /** `data` is the data folder. `note` hears of what was wrong and is put right. */
  constructor(
    data: string,
    private readonly note: (sentence: string) => void = () => {},
  ) {
    this.folder = join(data, LAKE);
    this.publisher = new Publisher(this.folder);
  }

  /**
   * Publishes some days as the store has them, and in a process's first time, or after a failure, all that aren't. Throws
   * LakeFailed.
   */
  publish(store: Store, days: readonly OrgDay[]): Promise<void> {
    return this.exclusive(async () => {
      if (this.publisher.isClosing) return;
      const isFull = !this.isWhole;
      this.isWhole = false;
      if (isFull) await this.publisher.begin((intent) => this.differing(store, intent));
      const orgIds = isFull ? await organizationsOf(store) : [...new Set(days.map(({ orgId }) => orgId))];
      for (const orgId of orgIds) {
        const own = days.filter((day) => day.orgId === orgId).map(({ day }) => day);
        own.sort();
        const [from, to] = isFull ? [undefined, undefined] : [own[0], own.at(-1)];
        await this.publisher.publish(store, orgId, from, to);
      }
      this.isWhole = !this.publisher.isClosing;
    });
  }

  /**
   * Compares the lake with the store: of one organization, or of all. A day that is being built or published isn't found
   * for that.
   */
  async verify(store: Store, orgId?: string): Promise<Verified> {
    const all = await this.queue.run(() => this.compare(store, orgId));
    const found = all.differences;
    if (found.length === 0) return all;
    // What was being published then is so by now.
    const again = await this.queue.run(() => this.compare(store, orgId, new Set(found.map(keyOf))));
    return { ...all, differences: again.differences };
  }

  /**
   * Publishes what differs from the store, and takes away what the store doesn't have and files that nobody needs. Answers
   * what differed, and how many files nobody needed.
   */
  async repair(store: Store): Promise<Verified & { readonly unneeded: number }> {
    const found = await this.verify(store);
    let unneeded = 0;
    await this.exclusive(async () => {
      for (const difference of found.differences) this.publisher.suspect(difference);
      for (const orgId of new Set(found.differences.map((one) => one.orgId)))
        await this.publisher.forget(store, orgId);
      for (const orgId of await organizationsOf(store)) unneeded += await this.publisher.shrink(store, orgId);
      this.isWhole = false;
    });
    await this.publish(store, []);
    return { ...found, unneeded };
  }

  private async compare(store: Store, orgId?: string, only?: ReadonlySet<string>): Promise<Verified> {
    const orgIds = new Set([...(await organizationsOf(store)), ...organizationsIn(this.folder)]);
    if (orgId !== undefined && !orgIds.has(orgId))
      throw new UsageError(
        `Neither the store nor the lake has days of an organization ${orgId}: "daybook status" lists the organizations.`,
      );
    const asked = orgId === undefined ? [...orgIds].sort() : [orgId];
    const total = { organizations: asked.length, tables: LAKE_TABLES.length };
    const differences: Difference[] = [];
    const sum = { differences, days: 0, files: 0, rows: 0, waiting: 0 };
    for (const id of asked) {
      const part = await compare(store, this.folder, id, only);
      sum.differences.push(...part.differences);
      sum.days += part.days;
      sum.files += part.files;
      sum.rows += part.rows;
      sum.waiting += part.waiting;
    }
    return { ...total, ...sum };
  }

  /** The days whose files differ, where nothing tells which were being replaced when a process ended: that only takes longer. */
  private async differing(store: Store, intent: string): Promise<readonly OrgDay[]> {
    const { differences } = await this.compare(store);
    this.note(
      `The file ${intent} is damaged: all files of the lake were compared with the store instead, and those that differ (${differences.length}) are rewritten.`,
    );
    return differences;
  }

  /** Ends at the next step what is under way. The next start goes on with it. */
  async close(): Promise<void> {
    this.publisher.isClosing = true;
    await this.queue.run(async () => {});
  }

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      try {
        return await work();
      } catch (error) {
        // On a full disk others need the room.
        await this.publisher.abandon().catch(() => undefined);
        throw new LakeFailed(this.folder, error);
      }
    });
  }
}
