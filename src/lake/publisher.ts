import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { sync, writeWhole } from '../folder.js';
import { keyOf, type OrgDay, type Store } from '../store/store.js';
import { type Days, filesThere, isShared, readDays, sharedDays, writeCatalog, writeDays } from './catalog.js';
import { type Due, mostRows, note, ownTables, type Staged, sharedTables } from './due-days.js';
import { keepRows, rowsIn } from './kept-rows.js';
import { fileOf, LAKE_TABLES, type LakeTable, quietFileOf } from './lake-paths.js';
import { Staging } from './staging.js';
import { dueTables, isSame, knownDays, parted, storedDays } from './stored-days.js';

/** Days with so few rows in each table are written together, as long as they are in order then. */
const ROWS_TOGETHER = 100_000;
const DAYS_TOGETHER = 200;

/** How many files are finished at once. */
const FILES_AT_ONCE = 8;

const Intent = z.array(z.object({ orgId: z.string(), day: DaySchema }));

/** Does work for each of many, some at once. */
async function each<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker));
}

function oldest(days: readonly Day[]): Day | undefined {
  return days.reduce<Day | undefined>(
    (first, day) => (first === undefined || day < first ? day : first),
    undefined,
  );
}

/** Writes the files of the lake, one organization after the other. */
export class Publisher {
  /** Whether it ends at the next step. The next start goes on with what is left. */
  isClosing = false;
  private readonly staging: Staging;
  private readonly intent: string;
  /** The days whose files can be others than the catalog says: they were being replaced when a process ended. */
  private readonly suspects = new Map<string, OrgDay>();
  /** The organizations whose files of quiet days can be others than the catalog says. */
  private readonly suspectOrgs = new Set<string>();

  /** `folder` is the lake's. */
  constructor(private readonly folder: string) {
    this.staging = new Staging(join(folder, '_staging'));
    this.intent = join(folder, '_intent');
  }

  /**
   * Takes over from the process before, whatever it was at when it ended. `differing` finds out what a damaged list of the days
   * that it was replacing no longer says.
   */
  async begin(differing: (intent: string) => Promise<readonly OrgDay[]>): Promise<void> {
    mkdirSync(this.folder, { recursive: true });
    await this.staging.clear();
    const intended = this.intended();
    for (const day of intended ?? (await differing(this.intent))) this.suspect(day);
    if (intended === undefined) await rm(this.intent, { recursive: true, force: true });
    await writeCatalog(this.folder);
  }

  /** The days whose files were being replaced; undefined when the list of them is damaged. */
  private intended(): readonly OrgDay[] | undefined {
    if (!existsSync(this.intent)) return [];
    try {
      return Intent.parse(JSON.parse(readFileSync(this.intent, 'utf8')));
    } catch {
      return undefined;
    }
  }

  /** Removes what was written aside and not put in place. */
  abandon(): Promise<void> {
    return this.staging.clear();
  }

  /** Has a day's files written again, whatever the catalog says. */
  suspect({ orgId, day }: OrgDay): void {
    this.suspects.set(keyOf({ orgId, day }), { orgId, day });
    this.suspectOrgs.add(orgId);
  }

  /** Publishes what isn't published yet of an organization's days. */
  async publish(store: Store, orgId: string, from?: Day, to?: Day): Promise<void> {
    const days = readDays(this.folder, orgId);
    const stored = await storedDays(store, orgId, from, to);
    const first = oldest([...(Object.keys(days.days) as Day[]), ...stored.keys()]);
    const due: Due[] = [];
    let isNoted = true;
    for (const [day, one] of stored) {
      const known = days.days[day];
      const tables = dueTables(one, this.suspects.has(keyOf({ orgId, day })) ? undefined : known);
      if (tables.size > 0)
        due.push({ day, stored: one, tables, own: ownTables(this.folder, { orgId, day }, one, first) });
      else if (known !== undefined && known.built_at !== one.built_at) {
        known.built_at = one.built_at;
        isNoted = false;
      }
    }
    if (await this.publishQuiet(store, days, due)) isNoted = true;
    const others = due.filter((one) => one.own.size > 0 || sharedTables(one).length === 0);
    for (const group of parted(others, mostRows, ROWS_TOGETHER, DAYS_TOGETHER)) {
      if (this.isClosing) return;
      await this.publishGroup(store, days, group);
      isNoted = true;
    }
    if (!isNoted) await writeDays(this.folder, days);
    this.suspectOrgs.delete(orgId);
  }

  /** Writes the files that quiet days share where days come to them or leave them. Answers whether there were any. */
  private async publishQuiet(store: Store, days: Days, due: readonly Due[]): Promise<boolean> {
    const { folder, staging } = this;
    const orgId = days.org_id;
    const coming = due.filter((one) => sharedTables(one).length > 0);
    const leaving = due.flatMap(({ day, own }) =>
      [...own].filter((table) => isShared(days.days[day]?.tables[table])).map((table) => ({ day, table })),
    );
    const tables = LAKE_TABLES.filter(
      (table) =>
        coming.some((one) => sharedTables(one).includes(table)) ||
        leaving.some((one) => one.table === table) ||
        (this.suspectOrgs.has(orgId) && existsSync(quietFileOf(folder, table, orgId))),
    );
    if (tables.length === 0) return false;
    await staging.open();
    const files: Staged[] = [];
    for (const table of tables) {
      const left = new Set(leaving.filter((one) => one.table === table).map(({ day }) => day));
      const shared = new Set(sharedDays(days, table).filter((day) => !left.has(day)));
      for (const one of coming) if (sharedTables(one).includes(table)) shared.add(one.day);
      const path = await staging.writeTogether(store, table, orgId, [...shared].sort());
      files.push(await this.finish(path, quietFileOf(folder, table, orgId), true));
    }
    // A day that a build has replaced meanwhile is published after that build.
    const changed = await this.changedSince(store, orgId, coming);
    if (changed.size > 0)
      return this.publishQuiet(
        store,
        days,
        due.filter((one) => !changed.has(one)),
      );
    const some = [...coming, ...leaving].map(({ day }) => day);
    await this.exchange(days, some, async () => {
      for (const file of files) this.place(file);
      for (const { day, table } of leaving) delete days.days[day]?.tables[table];
      for (const one of coming) note(days, one, new Map());
      return files;
    });
    await staging.clear();
    return true;
  }

  /** Writes the files of some days aside, and puts them all in place when they are whole. */
  private async publishGroup(store: Store, days: Days, group: readonly Due[]): Promise<void> {
    const { folder, staging } = this;
    const orgId = days.org_id;
    await staging.open();
    const staged = new Map<Due, Map<LakeTable, Staged>>(group.map((one) => [one, new Map()]));
    for (const table of LAKE_TABLES) {
      const due = group.filter(({ tables, own }) => tables.has(table) && own.has(table));
      if (due.length === 0) continue;
      const daysOf = (some: readonly Due[]) => some.map(({ day }) => day);
      const filled = due.filter(({ stored }) => stored.tables.get(table)?.rows !== 0);
      const paths = await staging.write(store, table, orgId, daysOf(due), daysOf(filled));
      await each(due, async (one) => {
        const target = fileOf(folder, table, { orgId, day: one.day });
        // What is removed is not kept for anybody.
        const isKept = !(table === 'events' && one.stored.is_removed);
        staged.get(one)?.set(table, await this.finish(String(paths.get(one.day)), target, isKept));
      });
    }
    const changed = await this.changedSince(store, orgId, group);
    const whole = group.filter((one) => !changed.has(one));
    if (whole.length > 0)
      await this.exchange(
        days,
        whole.map(({ day }) => day),
        async () => {
          for (const one of whole) {
            const files = staged.get(one) ?? new Map<LakeTable, Staged>();
            // All at once, so that who reads several tables hardly ever sees some of them new and some old.
            for (const file of files.values()) this.place(file);
            note(days, one, files);
            await turn();
          }
          return whole.flatMap((one) => [...(staged.get(one)?.values() ?? [])]);
        },
      );
    await staging.clear();
  }

  /** Makes a staged file ready to take its place, and has the disk keep it. `isKept` says whether it keeps rows for readers. */
  private async finish(path: string, target: string, isKept: boolean): Promise<Staged> {
    const rows = await rowsIn(path);
    if (isKept && existsSync(target))
      await keepRows(path, target).catch((error: unknown) => {
        // A file that can't be read has no readers.
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      });
    return { path, target, rows, bytes: await sync(path) };
  }

  private place({ path, target }: Staged): void {
    mkdirSync(dirname(target), { recursive: true });
    renameSync(path, target);
  }

  /** Those of some due days, in order, that a build has replaced since they were found due. */
  private async changedSince(store: Store, orgId: string, due: readonly Due[]): Promise<Set<Due>> {
    const [from, to] = [due[0]?.day, due.at(-1)?.day];
    if (from === undefined) return new Set();
    const now = await storedDays(store, orgId, from, to);
    return new Set(
      due.filter(({ day, stored }) => {
        const present = now.get(day);
        return present === undefined || !isSame(present, stored);
      }),
    );
  }

  /**
   * Puts files in place and notes it in the catalog. The next start begins again with all of the days where this is cut off.
   * `replace` answers the files.
   */
  private async exchange(
    days: Days,
    some: readonly Day[],
    replace: () => Promise<readonly Staged[]>,
  ): Promise<void> {
    const { folder } = this;
    const orgId = days.org_id;
    for (const day of some) this.suspects.set(keyOf({ orgId, day }), { orgId, day });
    await writeWhole(this.intent, JSON.stringify([...this.suspects.values()]));
    const folders = new Set<string>();
    for (const { target } of await replace())
      for (let path = dirname(target); path !== dirname(folder); path = dirname(path)) folders.add(path);
    await each(folders, async (path) => void (await sync(path)));
    await writeDays(folder, days);
    for (const day of some) this.suspects.delete(keyOf({ orgId, day }));
    if (this.suspects.size === 0) rmSync(this.intent, { force: true });
  }

  /** Takes away the days of an organization that the store doesn't have: another database was here before. */
  async forget(store: Store, orgId: string): Promise<void> {
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
    if (known.size === 0)
      for (const table of LAKE_TABLES) await rm(quietFileOf(this.folder, table, orgId), { force: true });
    await writeDays(this.folder, days);
  }

  /**
   * Removes the files of days that earlier versions gave each day, rows or not: they have no rows, or those of a quiet day,
   * which are published with the others then. Answers how many. Where events were removed the file stays: a copy of the lake
   * elsewhere is overwritten with it.
   */
  async shrink(store: Store, orgId: string): Promise<number> {
    const days = readDays(this.folder, orgId);
    const first = oldest(Object.keys(days.days) as Day[]);
    const files: string[] = [];
    for (const [day, { tables, isQuiet, is_removed }] of await storedDays(store, orgId)) {
      const published = days.days[day]?.tables;
      if (published === undefined || day === first) continue;
      for (const table of LAKE_TABLES) {
        const isNeeded = (tables.get(table)?.rows ?? 0) > 0 ? !isQuiet : table === 'events' && is_removed;
        if (isNeeded || published[table]?.bytes === undefined) continue;
        delete published[table];
        files.push(fileOf(this.folder, table, { orgId, day }));
      }
    }
    // What the catalog doesn't have is published again, wherever this is cut off.
    if (files.length > 0) await writeDays(this.folder, days);
    for (const file of files) await rm(dirname(file), { recursive: true, force: true });
    return files.length;
  }
}
