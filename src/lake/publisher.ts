import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Day } from '../day.js';
import { sync, writeWhole } from '../disk/folder.js';
import type { Store, WrittenFile } from '../store/store.js';
import { isOfStore } from '../store/store-fault.js';
import {
  checkpointPath,
  checkpointsSql,
  commitPath,
  commitText,
  LAST_CHECKPOINT,
  LOG,
  lastCheckpointText,
  versionOf,
} from './delta-log.js';
import { COLUMNS, DAY_QUALITY, folderOf, LAKE_TABLES, type LakeTable, tableFolder } from './lake-paths.js';
import { parted } from './merge-plan.js';
import { type NewFile, NewFiles } from './new-files.js';
import {
  NEXT,
  noSnapshot,
  readNext,
  readSnapshot,
  SNAPSHOT,
  type Snapshot,
  snapshotText,
  type TableState,
} from './snapshot.js';
import { inGroups, type StoredDay, storedDays } from './stored-days.js';
import { isCheckpointDue, newFilesOf, planTable, type TablePlan, withoutFiles } from './table-plan.js';

/** How long a reader may take from a list of files to their rows. */
const READ_LIMIT_MS = 3_600_000;

/** How many files are synced at once. */
const FILES_AT_ONCE = 8;

/** How many tables are written at once: small rows of many organizations keep one core busy. */
const TABLES_AT_ONCE = 2;

/** How many checkpoints are written by one statement, whose memory grows with them, and of how many files they tell. */
const CHECKPOINTS_TOGETHER = 250;
const ACTIONS_TOGETHER = 10_000;

/** The folder of replaced rows, in a table's folder. */
const HISTORY = '_history';

/** What is published of an organization. */
interface Work {
  readonly orgId: string;
  /** When it is published: Unix milliseconds. */
  readonly at: number;
  readonly before: Snapshot;
  readonly stored: ReadonlyMap<Day, StoredDay>;
  readonly tables: readonly TablePlan[];
}

/** What to publish. Without `from` and `to`: all days. */
export interface Publication {
  readonly orgIds: readonly string[];
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
}

/** Does work for each of many, some at once. Throws what one of them threw, when none is under way any more. */
async function each<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  atOnce = FILES_AT_ONCE,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  for (const ended of await Promise.allSettled(Array.from({ length: atOnce }, worker)))
    if (ended.status === 'rejected') throw ended.reason;
}

/** Writes the files of the lake. */
export class Publisher {
  /** Whether it ends before the next organizations. The next start goes on with them. */
  isClosing = false;
  private readonly staging: NewFiles;

  /** `lake` is its folder; `keepMs` is how long replaced rows are kept. */
  constructor(
    private readonly lake: string,
    private readonly keepMs: number,
  ) {
    this.staging = new NewFiles(join(lake, '_staging'));
  }

  /** Removes what was written and not put in place. */
  abandon(): Promise<void> {
    return this.staging.clear();
  }

  /**
   * Publishes what isn't published yet. Answers the organizations of which something is left, because their days changed meanwhile. `now` is Unix
   * milliseconds. Throws what kept an organization from being published when all others are.
   */
  async publish(store: Store, { orgIds, ...days }: Publication, now: number): Promise<string[]> {
    const left: string[] = [];
    const failed: unknown[] = [];
    const publish = async (publication: Publication) => {
      if (this.isClosing) return;
      try {
        left.push(...(await this.publishSome(store, publication, now)));
      } catch (error) {
        if (isOfStore(error)) throw error;
        // Alone, so that one can't keep the others from being published, and whole: a file that is gone has other days too.
        if (publication.orgIds.length > 1 || publication.from !== undefined)
          for (const orgId of publication.orgIds) await publish({ orgIds: [orgId] });
        else failed.push(error);
      }
    };
    for (const some of await inGroups(store, orgIds)) await publish({ orgIds: some, ...days });
    if (failed.length > 0) throw failed[0];
    return left;
  }

  private async publishSome(store: Store, publication: Publication, now: number): Promise<string[]> {
    const { orgIds, from, to } = publication;
    const revision = await store.revision();
    const stored = await storedDays(store, orgIds, from, to);
    const snapshots: Snapshot[] = [];
    for (const orgId of orgIds) snapshots.push(await this.begin(orgId));
    const works = snapshots.flatMap((before): Work[] => {
      const orgId = before.org_id;
      // Instants of an organization's publications are never the same.
      const at = Math.max(now, before.published_at + 1);
      const own = stored.get(orgId) ?? new Map<Day, StoredDay>();
      const tables = LAKE_TABLES.flatMap((table) => {
        const plan = (state?: TableState) => planTable(table, state, orgId, own, at, this.keepMs);
        const planned = plan(before.tables[table]);
        return (from === undefined ? this.withoutGone(planned, orgId, plan) : planned) ?? [];
      });
      const days = new Set(before.days);
      const isSame = tables.length === 0 && [...own.keys()].every((day) => days.has(day));
      return isSame ? [] : [{ orgId, at, before, stored: own, tables }];
    });
    // What a process had no time to remove before it ended, of tables that don't get to it now.
    const planned = new Map(works.map(({ orgId, tables }) => [orgId, tables.map(({ table }) => table)]));
    for (const snapshot of from === undefined ? snapshots : []) {
      const own = planned.get(snapshot.org_id);
      const unswept = LAKE_TABLES.filter(
        (table) =>
          own?.includes(table) !== true &&
          snapshot.tables[table]?.removed.some((removed) => isExpired(removed, now)),
      );
      // It may not have synced the snapshot either, and the one before still has these files.
      if (unswept.length > 0) await sync(join(this.lake, folderOf(snapshot.org_id)));
      for (const table of unswept) await this.sweep(snapshot, table, now);
    }
    if (works.length === 0) return [];
    await this.staging.open();
    const files = await this.writeFiles(store, works);
    await this.writeCheckpoints(store, works);
    // A day that has changed meanwhile is published after the build that changed it.
    const after =
      (await store.revision()) === revision
        ? stored
        : await storedDays(
            store,
            works.map(({ orgId }) => orgId),
            from,
            to,
          );
    const isChanged = ({ orgId, tables }: Work) =>
      tables.some(
        ({ table, files }) =>
          // What has arrived changes at any time.
          table !== DAY_QUALITY &&
          files.some(({ days }) =>
            days.some(
              ({ day, digest, published_at }) =>
                published_at === undefined &&
                after.get(orgId)?.get(day)?.tables.get(table)?.digest !== digest,
            ),
          ),
      );
    const left = works.filter(isChanged);
    await each(
      works.filter((work) => !left.includes(work)),
      (work) => this.exchange(work, files),
    );
    await this.staging.clear();
    return left.map(({ orgId }) => orgId);
  }

  /** A plan that reads no file that is gone. `plan` makes another one, without such files. */
  private withoutGone(
    first: TablePlan | undefined,
    orgId: string,
    plan: (state: TableState) => TablePlan | undefined,
  ): TablePlan | undefined {
    let planned = first;
    while (planned?.before !== undefined) {
      const { table, before } = planned;
      const sources = newFilesOf(planned).flatMap((file) => file.sources);
      const folder = tableFolder(this.lake, orgId, table);
      const gone = new Set(sources.filter((path) => !existsSync(join(folder, path))));
      if (gone.size === 0) break;
      planned = plan(withoutFiles(before, gone));
    }
    return planned;
  }

  /** The snapshot of an organization. A publication that was cut off is ended first. */
  async begin(orgId: string): Promise<Snapshot> {
    const before = readSnapshot(this.lake, orgId);
    const next = readNext(this.lake, orgId);
    const isFirst = Object.values(next?.tables ?? {}).every(({ version }) => version === 0);
    if (
      next !== undefined &&
      next.published_at > (before?.published_at ?? 0) &&
      (before !== undefined || isFirst)
    ) {
      await this.commit(before, next);
      return next;
    }
    if (before !== undefined) return before;
    // Nobody knows which commits and files are there.
    await this.remove(folderOf(orgId));
    return noSnapshot(orgId);
  }

  private async writeFiles(store: Store, works: readonly Work[]): Promise<Map<NewFile, WrittenFile>> {
    const written = new Map<NewFile, WrittenFile>();
    const write = async (table: LakeTable) => {
      const plans = works.flatMap(({ tables }) => tables.filter((plan) => plan.table === table));
      const found = await this.staging.write(store, this.lake, table, plans.flatMap(newFilesOf));
      for (const [file, one] of found) written.set(file, one);
    };
    await each(LAKE_TABLES, write, TABLES_AT_ONCE);
    await each(written.values(), ({ path }) => sync(path));
    return written;
  }

  /** Writes the checkpoints that are due. They say what is committed already, so it doesn't matter how far this gets. */
  private async writeCheckpoints(store: Store, works: readonly Work[]): Promise<void> {
    const due = works.flatMap(({ orgId, tables }) =>
      tables.flatMap(({ before: state, table }) =>
        isCheckpointDue(orgId, table, state) ? [{ orgId, table, state }] : [],
      ),
    );
    const actions = ({ state }: { readonly state: TableState }) => state.files.length + state.removed.length;
    for (const some of parted(due, actions, ACTIONS_TOGETHER, CHECKPOINTS_TOGETHER)) {
      const { sql, sizes } = checkpointsSql(some);
      const written = await this.staging.copy(store, sql, {}, some.length);
      await each(some.entries(), async ([slot, { orgId, table, state }]) => {
        const folder = tableFolder(this.lake, orgId, table);
        const file = written.get(slot);
        if (file === undefined) throw new Error(`DuckDB wrote no checkpoint for ${folder}`);
        await sync(file.path);
        await rename(file.path, join(folder, checkpointPath(state.version)));
        await writeWhole(join(folder, LAST_CHECKPOINT), lastCheckpointText(state.version, sizes[slot] ?? 0));
      });
    }
  }

  /** Puts the files of an organization in place, and then the snapshot that has them. */
  private async exchange(work: Work, files: ReadonlyMap<NewFile, WrittenFile>): Promise<void> {
    const { orgId, at, before, stored, tables } = work;
    const days = [...new Set([...before.days, ...stored.keys()])].sort();
    const next: Snapshot = {
      ...before,
      published_at: at,
      newest_day: days.at(-1) ?? null,
      days,
      tables: { ...before.tables },
    };
    for (const plan of tables) {
      const state = await this.place(plan, files, work);
      if (state !== undefined) next.tables[plan.table] = state;
    }
    await writeWhole(join(this.lake, folderOf(orgId), NEXT), snapshotText(next));
    await this.commit(before, next);
    for (const { table } of tables) await this.sweep(next, table, at);
  }

  /** Puts the files of a table in place, and answers its state with them. */
  private async place(
    { before, kept, removed, files, history, newHistory, isErasing, table }: TablePlan,
    written: ReadonlyMap<NewFile, WrittenFile>,
    { orgId, at }: Work,
  ): Promise<TableState | undefined> {
    const folder = tableFolder(this.lake, orgId, table);
    const columns = COLUMNS.get(table) ?? '';
    const move = async (file: NewFile, path: string) => {
      const one = written.get(file);
      if (one === undefined) return [];
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      await rename(one.path, join(folder, path));
      return [{ path, bytes: one.bytes, rows: one.rows, columns }];
    };
    const added: TableState['files'] = [];
    for (const [index, file] of files.entries())
      for (const one of await move(file, `part-${at}-${index}.parquet`))
        added.push({
          ...one,
          days: Object.fromEntries(
            file.days.map(({ day, rows, digest, published_at = at }) => [
              day,
              { rows, digest, published_at },
            ]),
          ),
        });
    const replaced: TableState['history'] = [];
    if (newHistory !== undefined)
      for (const { bytes: _, ...one } of await move(newHistory, join(HISTORY, `part-${at}.parquet`)))
        replaced.push({ ...one, versions: newHistory.versions });
    if (before === undefined && added.length === 0) return undefined;
    if (added.length > 0) await sync(folder);
    if (replaced.length > 0) await sync(join(folder, HISTORY));
    const isSame = added.length === 0 && kept.length === before?.files.length;
    const checkpoints = [...(before?.checkpoints ?? [])];
    if (isCheckpointDue(orgId, table, before)) checkpoints.push({ version: before.version, at });
    // Commits before a checkpoint are needed by readers only that have found them already. Its own stays, as Delta wants it.
    const settled = checkpoints.filter((one) => isExpired(one, at)).at(-1);
    return {
      version: (before?.version ?? -1) + (isSame ? 0 : 1),
      id: before?.id ?? randomUUID(),
      created_at: before?.created_at ?? at,
      columns: isSame && before !== undefined ? before.columns : columns,
      files: [...kept, ...added],
      history: [...history, ...replaced],
      removed: [
        ...(before?.removed ?? []).filter((one) => !isExpired(one, at)),
        ...removed.map((path) => ({ path, at })),
      ].map((one) => (isErasing ? { ...one, at: 0 } : one)),
      first_commit: Math.max(before?.first_commit ?? 0, settled?.version ?? 0),
      checkpoints: checkpoints.filter(({ version }) => version >= (settled?.version ?? 0)),
    };
  }

  /** Makes a snapshot that has all its files the one that readers find: the commits of its tables, then itself. */
  private async commit(before: Snapshot | undefined, next: Snapshot): Promise<void> {
    const folder = join(this.lake, folderOf(next.org_id));
    for (const table of LAKE_TABLES) {
      const [old, state] = [before?.tables[table], next.tables[table]];
      if (state === undefined || state.version === old?.version) continue;
      await writeWhole(join(folder, table, commitPath(state.version)), commitText(table, old, next));
    }
    await rename(join(folder, NEXT), join(folder, SNAPSHOT));
    await sync(folder);
  }

  /** Removes the files of a table that no reader needs any more. */
  private async sweep(snapshot: Snapshot, table: LakeTable, at: number): Promise<void> {
    const state = snapshot.tables[table];
    const folder = tableFolder(this.lake, snapshot.org_id, table);
    if (state === undefined) return;
    const needed = new Set(
      [...state.files, ...state.history, ...state.removed.filter((one) => !isExpired(one, at))].map(
        ({ path }) => path,
      ),
    );
    const checkpoints = new Set(state.checkpoints.map(({ version }) => version));
    const isNeeded = (path: string) => {
      const { version, isCheckpoint } = versionOf(path) ?? {};
      if (version === undefined) return needed.has(path) || !path.endsWith('.parquet');
      return isCheckpoint === true
        ? checkpoints.has(version) || version > (state.checkpoints.at(-1)?.version ?? -1)
        : version >= state.first_commit;
    };
    for (const inner of ['', HISTORY, LOG])
      for (const name of existsSync(join(folder, inner)) ? readdirSync(join(folder, inner)) : [])
        if (!isNeeded(join(inner, name)) && name !== LOG && name !== HISTORY)
          await rm(join(folder, inner, name), { force: true });
  }

  /** Removes what is published in an organization's folder, of which this is the name. */
  async remove(name: string): Promise<void> {
    const folder = join(this.lake, name);
    // The next one first: without the files that it names nobody may go on with it.
    for (const file of [NEXT, SNAPSHOT]) await rm(join(folder, file), { force: true });
    for (const table of LAKE_TABLES) await rm(join(folder, table), { recursive: true, force: true });
    await rmdir(folder).catch(() => undefined);
  }
}

/** Whether nobody needs any more what was replaced at an instant. */
function isExpired({ at }: { readonly at: number }, now: number): boolean {
  return at <= now - READ_LIMIT_MS;
}
