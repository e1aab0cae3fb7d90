import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { sync } from '../folder.js';
import { Queue } from '../queue.js';
import { keyOf, type OrgDay, type Store } from '../store/store.js';
import {
  type Days,
  filesThere,
  organizationsIn,
  readDays,
  writeCatalog,
  writeDays,
  writeWhole,
} from './catalog.js';
import { keepRows, rowsIn } from './file.js';
import { fileOf, LAKE, LAKE_TABLES, type LakeTable } from './place.js';
import { Staging } from './staging.js';
import { dueTables, isSame, knownDays, parted, type StoredDay, storedDays } from './stored.js';
import { compare, type Verified } from './verify.js';

/** Days with so few rows in each table are written together, as long as they are in order then. */
const ROWS_TOGETHER = 100_000;
const DAYS_TOGETHER = 200;

/** How many files are finished at once. */
const FILES_AT_ONCE = 8;

/** The lake could not be written. The days are built all the same. */
export class LakeFailed extends Error {
  override name = 'LakeFailed';

  constructor(folder: string, cause: unknown) {
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    super(
      `The days are built, but not all of them are in the lake ${folder} (${reason}): make that possible, and run "daybook lake publish".`,
      { cause },
    );
  }
}

/** The tables of a day that are to be written. */
interface Due {
  readonly day: Day;
  readonly stored: StoredDay;
  readonly tables: ReadonlySet<LakeTable>;
}

const Intent = z.array(z.object({ orgId: z.string(), day: DaySchema }));

/** The rows of the largest table of a day. */
function rowsOf({ stored }: Due): number {
  return Math.max(...[...stored.tables.values()].map(({ rows }) => rows));
}

/** The organizations that have days in the store, in order. */
async function organizationsOf(store: Pick<Store, 'select'>): Promise<string[]> {
  const rows = await store.select('SELECT DISTINCT org_id FROM days ORDER BY org_id');
  return rows.map((row) => String(row.org_id));
}

/** Does work for each of many, some at once. */
async function each<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker));
}

/**
 * The built days as Parquet files, for whoever wants to read them: a file a table, organization and day. Who has the store
 * open is the only one that writes it.
 */
export class Lake {
  readonly folder: string;
  private readonly staging: Staging;
  private readonly intent: string;
  private readonly queue = new Queue();
  /** The days whose files can be others than the catalog says: they were being replaced when a process ended. */
  private readonly suspects = new Map<string, OrgDay>();
  /** Whether all days are published that the store has, but for those that are told of. */
  private isWhole = false;
  private isClosing = false;

  /** `data` is the data folder. */
  constructor(data: string) {
    this.folder = join(data, LAKE);
    this.staging = new Staging(join(this.folder, '_staging'));
    this.intent = join(this.folder, '_intent');
  }

  /**
   * Publishes some days as the store has them, and in a process's first time, or after a failure, all that aren't. Throws
   * LakeFailed.
   */
  publish(store: Store, days: readonly OrgDay[]): Promise<void> {
    return this.exclusive(async () => {
      if (this.isClosing) return;
      const isFull = !this.isWhole;
      this.isWhole = false;
      if (isFull) await this.begin();
      const orgIds = isFull ? await organizationsOf(store) : [...new Set(days.map(({ orgId }) => orgId))];
      for (const orgId of orgIds) {
        const own = days.filter((day) => day.orgId === orgId).map(({ day }) => day);
        own.sort();
        const [from, to] = isFull ? [undefined, undefined] : [own[0], own.at(-1)];
        await this.publishOrganization(store, orgId, from, to);
      }
      this.isWhole = !this.isClosing;
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

  /** Publishes what differs from the store, and takes away what the store doesn't have. Answers what differed. */
  async repair(store: Store): Promise<Verified> {
    const found = await this.verify(store);
    await this.exclusive(async () => {
      for (const { orgId, day } of found.differences)
        this.suspects.set(keyOf({ orgId, day }), { orgId, day });
      for (const orgId of new Set(found.differences.map((one) => one.orgId))) await this.forget(store, orgId);
      this.isWhole = false;
    });
    await this.publish(store, []);
    return found;
  }

  private async compare(store: Store, orgId?: string, only?: ReadonlySet<string>): Promise<Verified> {
    const orgIds = new Set([...(await organizationsOf(store)), ...organizationsIn(this.folder)]);
    const parts: Verified[] = [];
    for (const id of orgId === undefined ? [...orgIds].sort() : [orgId])
      parts.push(await compare(store, this.folder, id, only));
    return {
      differences: parts.flatMap(({ differences }) => differences),
      files: parts.reduce((sum, { files }) => sum + files, 0),
      days: parts.reduce((sum, { days }) => sum + days, 0),
    };
  }

  /** Takes away the days of an organization that the store doesn't have: another database was here before. */
  private async forget(store: Store, orgId: string): Promise<void> {
    const known = await knownDays(store, orgId);
    const days = readDays(this.folder, orgId);
    const there = LAKE_TABLES.flatMap((table) => filesThere(this.folder, table, orgId));
    for (const day of new Set([...there, ...(Object.keys(days.days) as Day[])])) {
      if (known.has(day)) continue;
      for (const table of LAKE_TABLES)
        await rm(dirname(fileOf(this.folder, table, { orgId, day })), { recursive: true, force: true });
      delete days.days[day];
      this.suspects.delete(keyOf({ orgId, day }));
    }
    await writeDays(this.folder, days);
  }

  /** Ends at the next step what is under way. The next start goes on with it. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.queue.run(async () => {});
  }

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      try {
        return await work();
      } catch (error) {
        // On a full disk others need the room.
        await this.staging.clear().catch(() => undefined);
        throw new LakeFailed(this.folder, error);
      }
    });
  }

  /** Takes over from the process before, whatever it was at when it ended. */
  private async begin(): Promise<void> {
    mkdirSync(this.folder, { recursive: true });
    await this.staging.clear();
    if (existsSync(this.intent))
      for (const day of Intent.parse(JSON.parse(readFileSync(this.intent, 'utf8'))))
        this.suspects.set(keyOf(day), day);
    await writeCatalog(this.folder);
  }

  private async publishOrganization(store: Store, orgId: string, from?: Day, to?: Day): Promise<void> {
    const days = readDays(this.folder, orgId);
    const stored = await storedDays(store, orgId, from, to);
    const due: Due[] = [];
    let isNoted = true;
    for (const [day, one] of stored) {
      const known = days.days[day];
      const tables = dueTables(one, this.suspects.has(keyOf({ orgId, day })) ? undefined : known);
      if (tables.size > 0) due.push({ day, stored: one, tables });
      else if (known !== undefined && known.built_at !== one.built_at) {
        known.built_at = one.built_at;
        isNoted = false;
      }
    }
    for (const group of parted(due, rowsOf, ROWS_TOGETHER, DAYS_TOGETHER)) {
      if (this.isClosing) return;
      await this.publishGroup(store, days, group);
      isNoted = true;
    }
    if (!isNoted) await writeDays(this.folder, days);
  }

  /** Writes the files of some days aside, and puts them all in place when they are whole. */
  private async publishGroup(store: Store, days: Days, group: readonly Due[]): Promise<void> {
    const { folder, staging } = this;
    const orgId = days.org_id;
    await staging.open();
    const staged = new Map<Due, Map<LakeTable, { path: string; rows: number; bytes: number }>>();
    for (const table of LAKE_TABLES) {
      const due = group.filter(({ tables }) => tables.has(table));
      if (due.length === 0) continue;
      const daysOf = (some: readonly Due[]) => some.map(({ day }) => day);
      const filled = due.filter(({ stored }) => stored.tables.get(table)?.rows !== 0);
      const paths = await staging.write(store, table, orgId, daysOf(due), daysOf(filled));
      await each(due, async (one) => {
        const path = String(paths.get(one.day));
        const rows = await rowsIn(path);
        const target = fileOf(folder, table, { orgId, day: one.day });
        // What is removed is not kept for anybody.
        if (existsSync(target) && !(table === 'events' && one.stored.is_removed))
          await keepRows(path, target).catch((error: unknown) => {
            // A file that can't be read has no readers.
            if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
          });
        const tables = staged.get(one) ?? new Map();
        staged.set(one, tables.set(table, { path, rows, bytes: await sync(path) }));
      });
    }
    const [from, to] = [group[0]?.day as Day, group.at(-1)?.day as Day];
    const now = await storedDays(store, orgId, from, to);
    // A day that a build has replaced meanwhile is published after that build.
    const whole = group.filter(({ day, stored }) => {
      const present = now.get(day);
      return present !== undefined && isSame(present, stored);
    });
    if (whole.length > 0) {
      for (const { day } of whole) this.suspects.set(keyOf({ orgId, day }), { orgId, day });
      await writeWhole(this.intent, JSON.stringify([...this.suspects.values()]));
      const folders = new Set<string>();
      for (const one of whole) {
        const tables = staged.get(one) ?? new Map();
        const targets = [...tables].map(([table, { path }]) => ({
          path,
          target: fileOf(folder, table, { orgId, day: one.day }),
        }));
        for (const { target } of targets) mkdirSync(dirname(target), { recursive: true });
        // All at once, so that who reads several tables hardly ever sees some of them new and some old.
        for (const { path, target } of targets) renameSync(path, target);
        for (const { target } of targets)
          for (let path = dirname(target); path !== dirname(folder); path = dirname(path)) folders.add(path);
        const old = days.days[one.day];
        const { tables: _, ...state } = one.stored;
        days.days[one.day] = {
          ...state,
          tables: {
            ...old?.tables,
            ...Object.fromEntries(
              [...tables].map(([table, { rows, bytes }]) => [
                table,
                { rows, bytes, digest: one.stored.tables.get(table)?.digest },
              ]),
            ),
          },
        };
        await turn();
      }
      await each(folders, async (path) => void (await sync(path)));
      await writeDays(folder, days);
      for (const { day } of whole) this.suspects.delete(keyOf({ orgId, day }));
      if (this.suspects.size === 0) rmSync(this.intent, { force: true });
    }
    await staging.clear();
  }
}
