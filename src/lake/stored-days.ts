import { hash } from 'node:crypto';
import type { Day } from '../day.js';
import { quote, readSql, withinDays, withSources } from '../store/sql-text.js';
import type { Parameters, Row, Store } from '../store/store.js';
import { shownColumns } from '../store/tables.js';
import { isOfPeople, type LakeTable, NO_DAY } from './lake-paths.js';
import { parted } from './merge-plan.js';

/** How many organizations are published or compared together, and of how many days. Facts about each of them are in memory. */
const ORGANIZATIONS_AT_ONCE = 250;
const DAYS_AT_ONCE = 100_000;
/** How many batches one statement names. */
const BATCHES_AT_ONCE = 2000;

/** Organizations in the groups that are published or compared together. */
export async function inGroups(store: Pick<Store, 'select'>, orgIds: readonly string[]): Promise<string[][]> {
  const rows = await store.select('SELECT org_id, count(*) AS days FROM days GROUP BY org_id');
  const days = new Map(rows.map((row) => [String(row.org_id), Number(row.days)]));
  return parted(orgIds, (orgId) => days.get(orgId) ?? 0, DAYS_AT_ONCE, ORGANIZATIONS_AT_ONCE);
}

/** The rows of a table and a day in the store. */
export interface Stock {
  /** Exact for day tables; for events about as many. */
  readonly rows: number;
  /** See DayRows. */
  readonly digest: string;
}

/** A built day that can be published, or what has no day. */
export interface StoredDay {
  /** Whether retention has removed its events. */
  readonly isRemoved: boolean;
  /** Its tables that have rows. */
  readonly tables: ReadonlyMap<LakeTable, Stock>;
}

/** The days of each organization, and with NO_DAY what has none. */
export type StoredDays = ReadonlyMap<string, ReadonlyMap<Day, StoredDay>>;

/** How much of a SHA-256 tells a day's rows apart. */
const DIGEST_CHARACTERS = 16;

/** The built days of some organizations that can be published, as the store has them. */
export async function storedDays(
  store: Pick<Store, 'select' | 'definitions'>,
  orgIds: readonly string[],
  from = '0001-01-01' as Day,
  to = '9999-12-31' as Day,
): Promise<StoredDays> {
  const wanted = orgIds.map((orgId) => `SELECT ${quote(orgId)} AS org_id`).join(' UNION ALL ');
  const select = (file: string, more: Parameters = {}) =>
    store.select(withSources(readSql(file), { wanted }), { from: { day: from }, to: { day: to }, ...more });
  type Found = StoredDay & { readonly tables: Map<LakeTable, Stock> };
  const organizations = new Map<string, Map<Day, Found>>();
  const rows = await select('lake/days.sql', { definitions: store.definitions });
  const settledAt = await settlingsOf(store, rows);
  for (const row of rows) {
    const days = organizations.get(String(row.org_id)) ?? new Map<Day, Found>();
    organizations.set(String(row.org_id), days);
    const isRemoved = row.is_removed === 1;
    const events = { rows: Number(row.events), digest: `${row.batch}-${settledAt(row)}` };
    const found: Found = days.get(row.day as Day) ?? {
      isRemoved,
      tables: new Map(events.rows > 0 && !isRemoved ? [['events', events]] : []),
    };
    days.set(row.day as Day, found);
    found.tables.set(row.table_name as LakeTable, {
      rows: Number(row.row_count),
      digest: String(row.digest).slice(0, DIGEST_CHARACTERS),
    });
  }
  const tablesOf = ({ org_id, day }: Row) => organizations.get(String(org_id))?.get(day as Day)?.tables;
  for (const row of await select('lake/day_quality.sql')) {
    const digest = hash('sha256', JSON.stringify(row)).slice(0, DIGEST_CHARACTERS);
    tablesOf(row)?.set('day_quality', { rows: 1, digest });
  }
  for (const row of await select('lake/records.sql'))
    tablesOf(row)?.set(row.table_name as LakeTable, {
      rows: Number(row.row_count),
      digest: String(row.digest),
    });
  for (const row of await store.select(withSources(readSql('lake/people.sql'), { wanted }))) {
    const days = organizations.get(String(row.org_id)) ?? new Map<Day, Found>();
    organizations.set(String(row.org_id), days);
    const found: Found = days.get(NO_DAY) ?? { isRemoved: false, tables: new Map() };
    days.set(NO_DAY, found);
    if (row.table_name !== null)
      found.tables.set(row.table_name as LakeTable, {
        rows: Number(row.row_count),
        digest: String(row.revision),
      });
  }
  return organizations;
}

/** When the newest batch of each of some rows was settled: Unix milliseconds, or null for none. */
async function settlingsOf(store: Pick<Store, 'select'>, rows: readonly Row[]) {
  const keyOf = (row: Row) => `${row.batch} ${row.org_id}`;
  const batches = [...new Set(rows.map(({ batch }) => Number(batch)))].filter((batch) => batch > 0);
  const settled = new Map<string, unknown>();
  for (let next = 0; next < batches.length; next += BATCHES_AT_ONCE) {
    const some = batches.slice(next, next + BATCHES_AT_ONCE).join(', ');
    const found = await store.select(
      `SELECT org_id, batch, settled_at FROM batches WHERE batch IN (${some})`,
    );
    for (const row of found) settled.set(keyOf(row), row.settled_at);
  }
  return (row: Row) => settled.get(keyOf(row)) ?? null;
}

/** The newest change of the people of each organization that has built days. */
export async function peopleRevisions(store: Pick<Store, 'select'>): Promise<Map<string, number>> {
  const rows = await store.select(
    'SELECT org_id, max(revision) AS revision FROM people_revisions WHERE org_id IN (SELECT org_id FROM days) GROUP BY org_id',
  );
  return new Map(rows.map((row) => [String(row.org_id), Number(row.revision)]));
}

/** The condition that `org_id` is one of some. */
function ofOrganizations(orgIds: readonly string[]): string {
  return orgIds.length === 0 ? 'false' : `org_id IN (${[...new Set(orgIds)].map(quote).join(', ')})`;
}

/** The days that each of some organizations has in the store, built or in need of it, and NO_DAY if its people were ever changed. */
export function knownDays(store: Pick<Store, 'select'>, orgIds: readonly string[]): Promise<DaysOf> {
  const isAsked = ofOrganizations(orgIds);
  return daysOf(
    store,
    `SELECT org_id, day FROM day_inputs WHERE ${isAsked}
    UNION ALL SELECT DISTINCT org_id, CAST('${NO_DAY}' AS DATE) AS day FROM people_revisions WHERE ${isAsked}`,
  );
}

/** The days of which events have arrived, of each of some organizations. */
export function arrivedDays(store: Pick<Store, 'select'>, orgIds: readonly string[]): Promise<DaysOf> {
  return daysOf(
    store,
    `SELECT DISTINCT org_id, day FROM arrivals WHERE ${ofOrganizations(orgIds)} AND changed > 0`,
  );
}

/** Days by organization. */
type DaysOf = ReadonlyMap<string, ReadonlySet<Day>>;

async function daysOf(store: Pick<Store, 'select'>, sql: string): Promise<DaysOf> {
  const found = new Map<string, Set<Day>>();
  for (const row of await store.select(sql)) {
    const own = found.get(String(row.org_id)) ?? new Set<Day>();
    found.set(String(row.org_id), own.add(row.day as Day));
  }
  return found;
}

/**
 * The SELECT of a table's rows of some days of organizations, and perhaps of other days of theirs. The reader leaves those out, since a
 * condition for each organization takes longer than reading more.
 */
export function rowsOfDays(
  table: LakeTable,
  asked: readonly { readonly orgId: string; readonly days: readonly Day[] }[],
): string {
  const some = asked.filter(({ days }) => days.length > 0);
  const names = shownColumns(table).map(({ name }) => name);
  const isAsked = ofOrganizations(some.map(({ orgId }) => orgId));
  const days = some.flatMap((one) => one.days);
  if (isOfPeople(table))
    return `SELECT ${names.join(', ')}, CAST('${NO_DAY}' AS DATE) AS day FROM ${table} WHERE ${isAsked}`;
  return `SELECT ${names.join(', ')} FROM ${table} WHERE ${isAsked} AND ${withinDays('day', days)}`;
}
