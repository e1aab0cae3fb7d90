import { expect, test } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { COLUMNS, type LakeTable } from '../../src/lake/lake-paths.js';
import { type DataFile, DISTRUSTED, type TableState } from '../../src/lake/snapshot.js';
import { inGroups, type StoredDay } from '../../src/lake/stored-days.js';
import { isCheckpointDue, isTurn, planTable } from '../../src/lake/table-plan.js';

const columns = COLUMNS.get('users') ?? '';
const rowsOf = (days: Iterable<{ readonly rows: number }>) =>
  [...days].reduce((sum, { rows }) => sum + rows, 0);

/**
 * Plans 365 nights, each with so many rows of a table, and perhaps late ones of the day before. Answers how many rows were written for each one, and
 * the files that are left.
 */
function planYear(
  perNight: number,
  isLate = false,
): { timesWritten: number; files: readonly DataFile[]; most: number } {
  const stored = new Map<Day, StoredDay>();
  let state: TableState | undefined;
  let [written, most] = [0, 0];
  for (let night = 0; night < 365; night += 1) {
    const day = addDays('2026-01-01' as Day, night);
    stored.set(day, { isRemoved: false, tables: new Map([['users', { rows: perNight, digest: day }]]) });
    const late = addDays(day, -1);
    if (isLate && stored.has(late))
      stored.set(late, {
        isRemoved: false,
        tables: new Map([['users', { rows: perNight, digest: `${day}, late` }]]),
      });
    const plan = planTable('users', state, 'acme', stored, night + 1);
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
      removed: [],
      erased_at: 0,
      first_commit: 0,
      checkpoints: [],
    };
  }
  return { timesWritten: written / (365 * perNight), files: state?.files ?? [], most };
}

test('writes the rows of a year of nights a few times each, and keeps few files', () => {
  const year = planYear(275);
  expect(year.timesWritten).toBeLessThan(5);
  expect(year.most).toBeLessThan(17);
  expect(year.files.flatMap(({ days }) => Object.keys(days))).toHaveLength(365);
});

test('late events of the day before cost one more writing of a day, not of those that it was merged with', () => {
  const year = planYear(275, true);
  expect(year.timesWritten).toBeLessThan(8);
  expect(year.most).toBeLessThan(17);
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

test('rows go for good with the events of a day, with a day that the store does not have, and where days are not known', () => {
  const [removed, other] = ['2026-01-01', '2026-02-01'] as [Day, Day];
  const isErasing = (table: LakeTable, days: DataFile['days'], isRemoved: boolean) => {
    const columns = COLUMNS.get(table) ?? '';
    const has = (digest: string): StoredDay['tables'] => new Map([[table, { rows: 1, digest }]]);
    const stored = new Map<Day, StoredDay>([
      [removed, { isRemoved, tables: isRemoved && table === 'events' ? new Map() : has('another') }],
      [other, { isRemoved: false, tables: has('same') }],
    ]);
    const state: TableState = {
      ...{ version: 1, id: 'id', created_at: 0, columns },
      ...{ removed: [], erased_at: 0, first_commit: 0, checkpoints: [] },
      files: [{ path: 'part', bytes: 1, rows: 2, columns, days }],
    };
    return planTable(table, state, 'acme', stored, 2)?.isErasing;
  };
  const of = (digest: string) => ({ rows: 1, digest, published_at: 1 });
  const both = { [removed]: of('before'), [other]: of('same') };
  expect(isErasing('events', both, false)).toBe(false);
  expect(isErasing('events', both, true)).toBe(true);
  // Its day tables stay.
  expect(isErasing('users', both, true)).toBe(false);
  expect(isErasing('users', { ...both, ['2019-01-01' as Day]: of(DISTRUSTED) }, false)).toBe(true);
  expect(isErasing('users', {}, false)).toBe(true);
  expect(isErasing('events', { [other]: of('same') }, true)).toBeUndefined();
});

test('a checkpoint names no file that can not be read', () => {
  const state: TableState = {
    ...{ version: 0, id: 'id', created_at: 0, columns: 'columns' },
    ...{ removed: [], erased_at: 0, first_commit: 0, checkpoints: [] },
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
