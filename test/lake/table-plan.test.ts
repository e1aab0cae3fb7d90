import { describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { COLUMNS } from '../../src/lake/lake-paths.js';
import type { DataFile, TableState } from '../../src/lake/snapshot.js';
import { inGroups, type StoredDay } from '../../src/lake/stored-days.js';
import { isCheckpointDue, isTurn, planTable } from '../../src/lake/table-plan.js';

const columns = COLUMNS.get('users') ?? '';
const rowsOf = (days: Iterable<{ readonly rows: number }>) =>
  [...days].reduce((sum, { rows }) => sum + rows, 0);

/** Plans 365 nights, each with so many rows of a table. Answers how many rows were written for each one, and the files that are left. */
function planYear(perNight: number): { timesWritten: number; files: readonly DataFile[]; most: number } {
  const stored = new Map<Day, StoredDay>();
  let state: TableState | undefined;
  let [written, most] = [0, 0];
  for (let night = 0; night < 365; night += 1) {
    const day = addDays('2026-01-01' as Day, night);
    stored.set(day, { isRemoved: false, tables: new Map([['users', { rows: perNight, digest: day }]]) });
    const plan = planTable('users', state, 'acme', stored, night + 1, 0);
    const added = (plan?.files ?? []).map(({ days }, index): DataFile => {
      written += rowsOf(days);
      return {
        path: `part-${night}-${index}.parquet`,
        bytes: 0,
        rows: rowsOf(days),
        columns,
        days: Object.fromEntries(
          days.map(({ day: one, published_at = night + 1, ...more }) => [one, { ...more, published_at }]),
        ),
      };
    });
    const files = [...(plan?.kept ?? []), ...added];
    most = Math.max(most, files.length);
    state = {
      version: night,
      id: 'id',
      created_at: 0,
      columns,
      files,
      history: [],
      removed: [],
      first_commit: 0,
      checkpoints: [],
    };
  }
  return { timesWritten: written / (365 * perNight), files: state?.files ?? [], most };
}

test('writes the rows of a year of nights a few times each, and keeps few files', () => {
  const year = planYear(275);
  expect(year.timesWritten).toBeLessThan(5);
  expect(year.most).toBeLessThan(15);
  expect(year.files.flatMap(({ days }) => Object.keys(days))).toHaveLength(365);
});

test('merges no files to one of more than half a million rows', () => {
  const { files, timesWritten } = planYear(50_000);
  expect(Math.max(...files.map(({ rows }) => rows))).toBe(500_000);
  expect(timesWritten).toBeLessThan(3);
  expect(planYear(275_000)).toMatchObject({ timesWritten: 1, most: 365 });
});

test('gives a tenth of the tables that are published together a turn each time', () => {
  const organizations = Array.from({ length: 2_000 }, (_, index) => `org-${index}`);
  const versions = Array.from({ length: 10 }, (_, version) => version);
  for (const version of versions) {
    const turns = organizations.filter((orgId) => isTurn(orgId, 'users', version));
    expect(turns.length).toBeGreaterThan(organizations.length / 20);
    expect(turns.length).toBeLessThan(organizations.length / 5);
  }
  for (const orgId of organizations)
    expect(versions.filter((version) => isTurn(orgId, 'users', version))).toHaveLength(1);
});

describe('a file of replaced rows', () => {
  const DAY_MS = 86_400_000;
  const [gone, kept, next] = ['2026-01-01', '2026-02-01', '2026-03-10'] as [Day, Day, Day];
  const stored = (isRemoved: boolean) =>
    new Map(
      [gone, kept, next].map((day): [Day, StoredDay] =>
        isRemoved && day === gone
          ? [day, { isRemoved, tables: new Map() }]
          : [day, { isRemoved: false, tables: new Map([['events', { rows: 1, digest: day }]]) }],
      ),
    );
  const file = (day: Day): DataFile => ({
    path: day,
    bytes: 1,
    rows: 1,
    columns: COLUMNS.get('events') ?? '',
    days: { [day]: { rows: 1, digest: day, published_at: 1 } },
  });
  const state = (files: readonly DataFile[]): TableState => ({
    ...{ version: 1, id: 'id', created_at: 0, columns: COLUMNS.get('events') ?? '' },
    ...{ files: [...files], removed: [], first_commit: 0, checkpoints: [] },
    history: [
      {
        path: 'old',
        rows: 20_000,
        columns: COLUMNS.get('events') ?? '',
        versions: [
          { day: gone, from: 1, until: DAY_MS },
          { day: kept, from: 1, until: 50 * DAY_MS },
        ],
      },
    ],
  });
  const plan = (before: TableState, isRemoved: boolean, at: number) =>
    planTable('events', before, 'acme', stored(isRemoved), at * DAY_MS, 30 * DAY_MS);

  test('goes with the events that retention removes, also where it is kept for others', () => {
    // At first only the other day is asked for.
    const first = plan(state([file(gone), file(kept)]), false, 60);
    expect(first).toMatchObject({ isErasing: false, newHistory: undefined });
    expect(first?.history).toEqual(state([]).history);
    const second = plan(
      { ...state([file(gone), file(kept), file(next)]), history: [...(first?.history ?? [])] },
      true,
      61,
    );
    expect(second).toMatchObject({ isErasing: true, history: [], removed: [gone, 'old'] });
    expect(second?.newHistory?.versions).toEqual([{ day: kept, from: 1, until: 50 * DAY_MS }]);
  });

  test('goes when it is kept no longer, also of a table that does not change', () => {
    const before = state([file(gone), file(kept), file(next)]);
    expect(plan(before, false, 60)).toBeUndefined();
    expect(plan(before, false, 81)).toMatchObject({ history: [], removed: ['old'], files: [] });
  });
});

test('a checkpoint names no file that can not be read', () => {
  const state: TableState = {
    ...{ version: 0, id: 'id', created_at: 0, columns: 'columns' },
    ...{ history: [], removed: [], first_commit: 0, checkpoints: [] },
    files: [{ path: 'a', bytes: 1, rows: 1, columns: 'columns', days: {} }],
  };
  while (!isTurn('acme', 'users', state.version)) state.version += 1;
  expect(isCheckpointDue('acme', 'users', state)).toBe(false);
  state.files = [];
  expect(isCheckpointDue('acme', 'users', state)).toBe(true);
});

test('organizations of many days are published in smaller groups', async () => {
  const orgIds = Array.from({ length: 300 }, (_, index) => `org-${index}`);
  const groups = (days: number) =>
    inGroups({ select: async () => orgIds.map((org_id) => ({ org_id, days })) }, orgIds);
  expect((await groups(1)).map(({ length }) => length)).toEqual([250, 50]);
  expect((await groups(1000)).map(({ length }) => length)).toEqual([100, 100, 100]);
});
