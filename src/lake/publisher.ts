import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Day } from '../day.js';
import { writeWhole } from '../disk/folder.js';
import { sync } from '../disk/refusals.js';
import { rename, rm, rmdir } from '../disk/renames.js';
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
import { EARLIER, earlierPath, earlierText, instantsIn } from './earlier-snapshot.js';
import type { LakeBucket } from './lake-bucket.js';
import {
  COLUMNS,
  folderOf,
  isOfPeople,
  isRecord,
  LAKE_TABLES,
  type LakeTable,
  NO_DAY,
  tableFolder,
} from './lake-paths.js';
import { parted } from './merge-plan.js';
import { type NewFile, NewFiles } from './new-files.js';
import {
  NEXT,
  namesIn,
  noSnapshot,
  readNext,
  readSnapshot,
  SNAPSHOT,
  type Snapshot,
  snapshotText,
  type TableState,
} from './snapshot.js';
import { inGroups, type StoredDay, storedDays } from './stored-days.js';
import { isCheckpointDue, planTable, type TablePlan, withoutFiles } from './table-plan.js';

/** How long a reader may take from a list of files to their rows. */
const READ_LIMIT_MS = 3_600_000;

/** How many files are synced at once. */
const FILES_AT_ONCE = 8;

/** How many tables are written at once: small rows of many organizations keep one core busy. */
const TABLES_AT_ONCE = 2;

/** The most checkpoints that one statement writes, and the most actions in them: its memory grows with both. */
const CHECKPOINTS_TOGETHER = 250;
const ACTIONS_TOGETHER = 10_000;

/** A publication of an organization. */
interface Work {
  readonly orgId: string;
  /** When it is published: Unix milliseconds. */
  readonly at: number;
  readonly before: Snapshot;
  readonly stored: ReadonlyMap<Day, StoredDay>;
  readonly tables: readonly TablePlan[];
}

/** The organizations and days to publish. Without `from` and `to`: all days. */
export interface Publication {
  readonly orgIds: readonly string[];
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
}

/** Does work for each item, some at once. If one of them fails, throws its error as soon as none is running any more. */
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
  private readonly staging: NewFiles;

  /** `lake` is its folder; `keepMs` is how long replaced files are kept. */
  constructor(
    private readonly lake: string,
    private readonly keepMs: number,
    /** Aborts when it shall end before the next organizations. The next start goes on with them. */
    private readonly closing: AbortSignal,
    /** Where the lake is, if it isn't in the folder. */
    private readonly bucket?: LakeBucket,
  ) {
    this.staging = new NewFiles(join(lake, '_staging'));
  }

  /** Removes files that were written but not put in place. */
  abandon(): Promise<void> {
    return this.staging.clear();
  }

  /**
   * Publishes days that aren't published yet. Answers the organizations whose days changed meanwhile, so that some are left. `now` is Unix
   * milliseconds. If an organization can't be published, publishes the others and then throws its error.
   */
  async publish(store: Store, { orgIds, ...days }: Publication, now: number): Promise<string[]> {
    const left: string[] = [];
    const failed: unknown[] = [];
    const publish = async (publication: Publication) => {
      if (this.closing.aborted) return;
      try {
        left.push(...(await this.publishSome(store, publication, now)));
      } catch (error) {
        if (isOfStore(error)) throw error;
        // Each alone, so that one can't keep the others from being published, and with all days, because a missing file has other days too.
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
    for (const before of this.bucket === undefined ? [] : snapshots)
      for (const table of LAKE_TABLES) {
        const own = stored.get(before.org_id) ?? new Map<Day, StoredDay>();
        const plan = planTable(table, before.tables[table], before.org_id, own, now);
        const sources = plan?.files.flatMap((file) => file.sources) ?? [];
        await this.bucket?.fetch(
          before.org_id,
          sources.map((path) => ({ path: join(table, path) })),
        );
      }
    const works = snapshots.flatMap((before): Work[] => {
      const orgId = before.org_id;
      // Instants of an organization's publications are never the same.
      const at = Math.max(now, before.published_at + 1);
      const own = stored.get(orgId) ?? new Map<Day, StoredDay>();
      const tables = LAKE_TABLES.flatMap((table) => {
        const plan = (state?: TableState) => planTable(table, state, orgId, own, at);
        const planned = plan(before.tables[table]);
        return (from === undefined ? this.withoutGone(planned, orgId, plan) : planned) ?? [];
      });
      const days = new Set(before.days);
      const isSame = tables.length === 0 && [...own.keys()].every((day) => day === NO_DAY || days.has(day));
      return isSame ? [] : [{ orgId, at, before, stored: own, tables }];
    });
    // A process may have ended before it removed files.
    for (const snapshot of from === undefined ? snapshots : [])
      if (!works.some(({ before }) => before === snapshot)) await this.sweep(snapshot, now);
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
          !isRecord(table) &&
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
      async (work) => {
        if (!(await this.exchange(work, files))) left.push(work);
      },
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
      const sources = planned.files.flatMap((file) => file.sources);
      const folder = tableFolder(this.lake, orgId, table);
      const gone = new Set(sources.filter((path) => !existsSync(join(folder, path))));
      if (gone.size === 0) break;
      planned = plan(withoutFiles(before, gone));
    }
    return planned;
  }

  /** The snapshot of an organization. A publication that was cut off is ended first. */
  async begin(orgId: string): Promise<Snapshot> {
    await this.bucket?.pull(orgId);
    const before = readSnapshot(this.lake, orgId);
    const next = readNext(this.lake, orgId);
    const isFirst = Object.values(next?.tables ?? {}).every(({ version }) => version === 0);
    if (
      next !== undefined &&
      next.published_at > (before?.published_at ?? 0) &&
      (before !== undefined || isFirst)
    ) {
      await this.commit(before ?? noSnapshot(orgId), next);
      return next;
    }
    if (before !== undefined) return before;
    // Without a snapshot it isn't known which commits and files are valid.
    await this.removeLocally(folderOf(orgId));
    return noSnapshot(orgId);
  }

  private async writeFiles(store: Store, works: readonly Work[]): Promise<Map<NewFile, WrittenFile>> {
    const written = new Map<NewFile, WrittenFile>();
    const write = async (table: LakeTable) => {
      const plans = works.flatMap(({ tables }) => tables.filter((plan) => plan.table === table));
      const found = await this.staging.write(
        store,
        this.lake,
        table,
        plans.flatMap((plan) => plan.files),
      );
      for (const [file, one] of found) written.set(file, one);
    };
    await each(LAKE_TABLES, write, TABLES_AT_ONCE);
    await each(written.values(), ({ path }) => sync(path));
    return written;
  }

  /** Writes the checkpoints that are due. They repeat commits that are there already, so this may be cut off anywhere. */
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
        mkdirSync(join(folder, LOG), { recursive: true });
        await rename(file.path, join(folder, checkpointPath(state.version)));
        await writeWhole(join(folder, LAST_CHECKPOINT), lastCheckpointText(state.version, sizes[slot] ?? 0));
        await this.bucket?.upload(
          orgId,
          [checkpointPath(state.version), LAST_CHECKPOINT].map((path) => join(table, path)),
        );
      });
    }
  }

  /**
   * Puts the files of an organization in place, and then the snapshot that names them. Answers false if another node has published meanwhile: the
   * next publication goes on from there.
   */
  private async exchange(work: Work, files: ReadonlyMap<NewFile, WrittenFile>): Promise<boolean> {
    const { orgId, at, before, stored, tables } = work;
    const days = [...new Set([...before.days, ...stored.keys()])].filter((day) => day !== NO_DAY).sort();
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
    const { bucket } = this;
    if (bucket !== undefined) {
      const added = Object.entries(next.tables).flatMap(([table, state]) => {
        const there = new Set(before.tables[table as LakeTable]?.files.map(({ path }) => path));
        return state.files.flatMap(({ path }) => (there.has(path) ? [] : [join(table, path)]));
      });
      await bucket.upload(orgId, added);
      if (!(await bucket.claim(before, next))) return false;
    }
    await writeWhole(join(this.lake, folderOf(orgId), NEXT), snapshotText(next));
    await this.commit(before, next);
    await this.sweep(next, at);
    return true;
  }

  /** Puts the files of a table in place, and answers its state with them. */
  private async place(
    { before, kept, removed, files, isErasing, table }: TablePlan,
    written: ReadonlyMap<NewFile, WrittenFile>,
    { orgId, at }: Work,
  ): Promise<TableState | undefined> {
    const folder = tableFolder(this.lake, orgId, table);
    const columns = COLUMNS.get(table) ?? '';
    const added: TableState['files'] = [];
    for (const [index, file] of files.entries()) {
      const one = written.get(file);
      if (one === undefined) continue;
      // Two nodes may publish at one instant: in a bucket, each has names of its own.
      const own = this.bucket === undefined ? '' : `-${randomUUID().slice(0, 8)}`;
      const path = `part-${at}-${index}${own}.parquet`;
      mkdirSync(folder, { recursive: true });
      await rename(one.path, join(folder, path));
      const days = file.days.map(({ day, rows, digest, published_at = at }) => [
        day,
        { rows, digest, published_at },
      ]);
      added.push({ path, bytes: one.bytes, rows: one.rows, columns, days: Object.fromEntries(days) });
    }
    if (before === undefined && added.length === 0) return undefined;
    if (added.length > 0) await sync(folder);
    const isSame = added.length === 0 && kept.length === before?.files.length;
    const checkpoints = [...(before?.checkpoints ?? [])];
    if (isCheckpointDue(orgId, table, before)) checkpoints.push({ version: before.version, at });
    // A reader needs commits before a checkpoint only if it has found them already. The checkpoint's own stays, as Delta wants it.
    const settled = checkpoints.filter((one) => one.at <= at - READ_LIMIT_MS).at(-1);
    return {
      version: (before?.version ?? -1) + (isSame ? 0 : 1),
      id: before?.id ?? randomUUID(),
      created_at: before?.created_at ?? at,
      columns: isSame && before !== undefined ? before.columns : columns,
      files: [...kept, ...added],
      removed: isErasing
        ? []
        : [
            ...(before?.removed ?? []).filter((one) => !this.isExpired(table, one, at)),
            ...removed.map((path) => ({ path, at })),
          ],
      erased_at: isErasing ? at : (before?.erased_at ?? 0),
      first_commit: Math.max(before?.first_commit ?? 0, settled?.version ?? 0),
      checkpoints: checkpoints.filter(({ version }) => version >= (settled?.version ?? 0)),
    };
  }

  /** Makes a snapshot whose files are in place the current one. Writes the commits of its tables, keeps the snapshot before, and exchanges them. */
  private async commit(before: Snapshot, next: Snapshot): Promise<void> {
    const folder = join(this.lake, folderOf(next.org_id));
    for (const table of LAKE_TABLES) {
      const [old, state] = [before.tables[table], next.tables[table]];
      if (state === undefined || state.version === old?.version) continue;
      await writeWhole(join(folder, table, commitPath(state.version)), commitText(table, old, next));
    }
    if (before.published_at > 0 && this.keepMs > 0)
      await writeWhole(join(folder, earlierPath(before.published_at)), earlierText(before));
    await this.bucket?.commit(before, next, before.published_at > 0 && this.keepMs > 0);
    await rename(join(folder, NEXT), join(folder, SNAPSHOT));
    await sync(folder);
  }

  /** Whether a file that was replaced at an instant can be removed: no snapshot that can be asked for names it, and no query still reads it. */
  private isExpired(table: LakeTable, { at }: { readonly at: number }, now: number): boolean {
    return at <= now - (isOfPeople(table) ? 0 : this.keepMs) - READ_LIMIT_MS;
  }

  /** Removes the earlier snapshots and the files of an organization that no reader needs any more. */
  private async sweep(snapshot: Snapshot, now: number): Promise<void> {
    const folder = join(this.lake, folderOf(snapshot.org_id));
    const local = (inner: string) => namesIn(join(folder, inner)).map((name) => join(inner, name));
    const inners = [EARLIER, ...Object.keys(snapshot.tables).flatMap((table) => [table, join(table, LOG)])];
    const unneeded = this.unneeded(snapshot, now, inners.flatMap(local));
    // Until the folder is synced, a crash may bring back the snapshot before, which needs these files.
    if (unneeded.length > 0) await sync(folder);
    for (const path of unneeded) await rm(join(folder, path), { force: true });
    if (this.bucket === undefined) return;
    const names = await this.bucket.names(snapshot.org_id);
    // A file that is newer than the snapshot is of a publication that another node is about to begin.
    const isOld = (name: string) => Number(/part-(\d+)-/.exec(name)?.[1] ?? 0) <= snapshot.published_at;
    // A node that is slow may still want to follow one of the last snapshots.
    const followed = names
      .flatMap((name) => /^_next\/(\d+)\.json$/.exec(name)?.[1] ?? [])
      .sort((a, b) => Number(a) - Number(b))
      .slice(0, -2);
    await this.bucket.remove(snapshot.org_id, [
      ...this.unneeded(snapshot, now, names).filter(isOld),
      ...followed.filter((at) => Number(at) < now - READ_LIMIT_MS).map((at) => `_next/${at}.json`),
    ]);
  }

  /** Which of the names in an organization's folder no reader needs any more. */
  private unneeded(snapshot: Snapshot, now: number, names: readonly string[]): string[] {
    const unneeded: string[] = [];
    let replacedAt = snapshot.published_at;
    for (const instant of instantsIn(names).reverse()) {
      if (replacedAt <= now - this.keepMs) unneeded.push(earlierPath(instant));
      replacedAt = instant;
    }
    for (const [table, state] of Object.entries(snapshot.tables) as [LakeTable, TableState][]) {
      const removed = state.removed.filter((one) => !this.isExpired(table, one, now));
      const needed = new Set([...state.files, ...removed].map(({ path }) => path));
      const checkpoints = new Set(state.checkpoints.map(({ version }) => version));
      const isNeeded = (path: string) => {
        const { version, isCheckpoint } = versionOf(path) ?? {};
        if (version === undefined) return needed.has(path) || !path.endsWith('.parquet');
        return isCheckpoint === true
          ? checkpoints.has(version) || version > (state.checkpoints.at(-1)?.version ?? -1)
          : version >= state.first_commit;
      };
      const start = join(table, '/');
      for (const name of names)
        if (name.startsWith(start) && !isNeeded(name.slice(start.length))) unneeded.push(name);
    }
    return unneeded;
  }

  /** Removes everything that is published in an organization's folder, given the folder's name. */
  async remove(name: string): Promise<void> {
    await this.bucket?.removeFolder(name);
    await this.removeLocally(name);
  }

  private async removeLocally(name: string): Promise<void> {
    const folder = join(this.lake, name);
    // The next snapshot first: a publication can't be ended without the files that it names.
    for (const file of [NEXT, SNAPSHOT]) await rm(join(folder, file), { force: true });
    for (const inner of [EARLIER, ...LAKE_TABLES])
      await rm(join(folder, inner), { recursive: true, force: true });
    await rmdir(folder).catch(() => undefined);
  }
}
