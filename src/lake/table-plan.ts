import { hash } from 'node:crypto';
import type { Day } from '../day.js';
import { COLUMNS, type LakeTable } from './lake-paths.js';
import { planMerge, SMALL_ROWS } from './merge-plan.js';
import type { NewFile } from './new-files.js';
import { type DataFile, type DayRows, DISTRUSTED, type OldFile, type TableState } from './snapshot.js';
import type { Stock, StoredDay } from './stored-days.js';

/** A table has a turn after so many commits: Delta's default for checkpoints. */
const COMMITS_PER_TURN = 10;

/**
 * Whether it is a table's turn after a version: its small files are merged with the next commit, and the commits before it get a checkpoint. That
 * takes longer than publishing a day, so it is the turn of a tenth of the tables that are published together.
 */
export function isTurn(orgId: string, table: LakeTable, version: number): boolean {
  const shift = Number.parseInt(hash('sha256', `${table} ${orgId}`).slice(0, 8), 16);
  return (version + 1 + shift) % COMMITS_PER_TURN === 0;
}

/**
 * Whether a table gets a checkpoint of the version that it had before: at its turn, unless there is one. One that names a file that can't be read
 * would lead readers to it until the next one.
 */
export function isCheckpointDue(
  orgId: string,
  table: LakeTable,
  state: TableState | undefined,
): state is TableState {
  return (
    state !== undefined &&
    isTurn(orgId, table, state.version) &&
    state.checkpoints.at(-1)?.version !== state.version &&
    state.files.every(({ days }) => Object.keys(days).length > 0)
  );
}

/** A new file of a table. Its days are in the order of their rows. */
export interface PlannedFile extends NewFile {
  readonly days: readonly (NewFile['days'][number] & { readonly digest: string })[];
}

/** A new file of replaced rows. */
export interface PlannedHistory extends NewFile {
  readonly versions: OldFile['versions'];
}

/** What a publication does to a table. Paths are in the table's folder. */
export interface TablePlan {
  readonly table: LakeTable;
  readonly before: TableState | undefined;
  /** The files that stay, those that nobody is led to any more, and the new ones. */
  readonly kept: readonly DataFile[];
  readonly removed: readonly string[];
  readonly files: readonly PlannedFile[];
  /** Files of replaced rows that stay, and the new one. */
  readonly history: readonly OldFile[];
  readonly newHistory: PlannedHistory | undefined;
  /** Whether rows go for good: no file that ever had them may stay. */
  readonly isErasing: boolean;
}

/** The files that a plan writes. */
export function newFilesOf({ files, newHistory }: TablePlan): NewFile[] {
  return newHistory === undefined ? [...files] : [...files, newHistory];
}

/** A version of a day, and the file that has it. */
type Version = OldFile['versions'][number] & { readonly path: string; readonly rows: number };

/** A state without files that aren't there: their days are published again, and rows that were replaced are gone. */
export function withoutFiles(state: TableState, paths: ReadonlySet<string>): TableState {
  return {
    ...state,
    files: state.files.map((file) => (paths.has(file.path) ? { ...file, days: {} } : file)),
    history: state.history.filter(({ path }) => !paths.has(path)),
  };
}

/** The days that change, with what the store has of them: nothing if they go. */
function dueDays(table: LakeTable, files: readonly DataFile[], stored: ReadonlyMap<Day, StoredDay>) {
  const due = new Map<Day, Stock | undefined>();
  const published = new Set<Day>();
  for (const { columns, days } of files)
    for (const [day, { digest }] of Object.entries(days) as [Day, DayRows][]) {
      published.add(day);
      const one = stored.get(day);
      const stock = one?.tables.get(table);
      const isSame = columns === COLUMNS.get(table) && digest === stock?.digest;
      if (one === undefined ? digest === DISTRUSTED : !isSame) due.set(day, stock);
    }
  for (const [day, { tables }] of stored)
    if (tables.has(table) && !published.has(day)) due.set(day, tables.get(table));
  return due;
}

/** Plans what a publication at an instant does to a table; undefined if nothing changes. */
export function planTable(
  table: LakeTable,
  state: TableState | undefined,
  orgId: string,
  stored: ReadonlyMap<Day, StoredDay>,
  at: number,
  keepMs: number,
): TablePlan | undefined {
  const due = dueDays(table, state?.files ?? [], stored);
  const erased = new Set<Day>();
  for (const day of due.keys()) if (!stored.has(day)) erased.add(day);
  if (table === 'events') for (const [day, { isRemoved }] of stored) if (isRemoved) erased.add(day);
  const hasErased = (days: Iterable<string>) => [...days].some((day) => erased.has(day as Day));
  const hasTurn = state !== undefined && isTurn(orgId, table, state.version);
  const merge = planMerge(
    state?.files ?? [],
    new Map([...due].map(([day, stock]) => [day, stock?.rows ?? 0])),
    hasTurn,
  );

  const replaced: Version[] = [];
  const history: OldFile[] = [];
  for (const file of keepMs === 0 ? [] : merge.merged) {
    const versions = (Object.entries(file.days) as [Day, DayRows][])
      .filter(([day, { digest }]) => due.has(day) && !erased.has(day) && digest !== DISTRUSTED)
      .map(([day, { rows, published_at }]) => ({
        day,
        from: published_at,
        until: at,
        path: file.path,
        rows,
      }));
    // A file of which no row counts any more needn't be copied.
    const { path, rows, columns } = file;
    if (versions.length > 0 && versions.length === Object.keys(file.days).length)
      history.push({ path, rows, columns, versions: versions.map(versionOf) });
    else replaced.push(...versions);
  }
  const before = state?.history ?? [];
  const isErasing =
    hasErased(before.flatMap(({ versions }) => versions.map(({ day }) => day))) ||
    hasErased(merge.merged.flatMap(({ days }) => Object.keys(days)));
  const isMerging =
    hasTurn && (replaced.length > 0 || before.filter(({ rows }) => rows <= SMALL_ROWS).length > 1);
  let isExpiring = false;
  for (const old of before) {
    const isKept = ({ until }: OldFile['versions'][number]) => until > at - keepMs;
    const isMerged = isMerging && old.rows <= SMALL_ROWS;
    if (!old.versions.some(isKept)) isExpiring = true;
    // With all that it has, also what is kept no longer: it may have to go for good.
    else if (!isMerged && !hasErased(old.versions.map(({ day }) => day))) history.push(old);
    else
      for (const version of old.versions)
        if (isKept(version) && !erased.has(version.day))
          replaced.push({ ...version, path: old.path, rows: Math.ceil(old.rows / old.versions.length) });
  }
  if (merge.merged.length === 0 && merge.files.length === 0 && !isErasing && !isExpiring) return undefined;
  const whole = new Set(history.map(({ path }) => path));
  return {
    table,
    before: state,
    kept: merge.kept,
    removed: pathsOf([...merge.merged, ...before]).filter((path) => !whole.has(path)),
    files: merge.files.map((days) => ({
      orgId,
      at,
      days: days.map(({ day, rows, from }) => {
        const { digest = '', published_at } = from?.days[day] ?? {};
        return published_at === undefined
          ? { day, rows, digest: due.get(day)?.digest ?? '' }
          : { day, rows, digest, published_at };
      }),
      sources: pathsOf(days.flatMap(({ from }) => from ?? [])),
    })),
    history,
    newHistory:
      replaced.length === 0
        ? undefined
        : {
            orgId,
            at,
            days: replaced.map(({ day, rows, from }) => ({ day, rows, published_at: from })),
            sources: pathsOf(replaced),
            versions: replaced.map(versionOf),
          },
    isErasing,
  };
}

function versionOf({ day, from, until }: Version): OldFile['versions'][number] {
  return { day, from, until };
}

function pathsOf(files: readonly { readonly path: string }[]): string[] {
  return [...new Set(files.map(({ path }) => path))];
}
