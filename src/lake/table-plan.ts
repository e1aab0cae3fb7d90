import { hash } from 'node:crypto';
import type { Day } from '../day.js';
import { COLUMNS, type LakeTable } from './lake-paths.js';
import { planMerge } from './merge-plan.js';
import type { NewFile } from './new-files.js';
import { type DataFile, type DayRows, DISTRUSTED, type TableState } from './snapshot.js';
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
 * Whether a table gets a checkpoint of the version that it had before: at its turn, unless there is one. A checkpoint that names a file that can't be
 * read would lead readers to it until the next checkpoint.
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

/** The changes of a publication to a table. Paths are in the table's folder. */
export interface TablePlan {
  readonly table: LakeTable;
  readonly before: TableState | undefined;
  /** The files that stay, those that are replaced, and the new ones. */
  readonly kept: readonly DataFile[];
  readonly removed: readonly string[];
  readonly files: readonly PlannedFile[];
  /** Whether rows are removed for good: no file that ever had them may stay. */
  readonly isErasing: boolean;
}

/** A state without the days of files that are missing, so that they are published again. */
export function withoutFiles(state: TableState, paths: ReadonlySet<string>): TableState {
  return {
    ...state,
    files: state.files.map((file) => (paths.has(file.path) ? { ...file, days: {} } : file)),
  };
}

/** The days that change, with their rows in the store; undefined for days that are removed. */
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

/** Plans a publication of a table at an instant; undefined if nothing changes. */
export function planTable(
  table: LakeTable,
  state: TableState | undefined,
  orgId: string,
  stored: ReadonlyMap<Day, StoredDay>,
  at: number,
): TablePlan | undefined {
  const due = dueDays(table, state?.files ?? [], stored);
  const isErased = (day: Day) =>
    due.has(day) && due.get(day) === undefined && (stored.get(day)?.isRemoved ?? true);
  const hasTurn = state !== undefined && isTurn(orgId, table, state.version);
  const merge = planMerge(
    state?.files ?? [],
    new Map([...due].map(([day, stock]) => [day, stock?.rows ?? 0])),
    hasTurn,
  );
  if (merge.merged.length === 0 && merge.files.length === 0) return undefined;
  return {
    table,
    before: state,
    kept: merge.kept,
    removed: pathsOf(merge.merged),
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
    // A file that can't be read may have had any day.
    isErasing: merge.merged.some(({ days }) => {
      const own = Object.keys(days) as Day[];
      return own.length === 0 || own.some(isErased);
    }),
  };
}

function pathsOf(files: readonly { readonly path: string }[]): string[] {
  return [...new Set(files.map(({ path }) => path))];
}
