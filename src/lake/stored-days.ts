import { hash } from 'node:crypto';
import type { Day } from '../day.js';
import { BUILT_TABLES } from '../store/day-builder.js';
import { readSql } from '../store/sql-text.js';
import type { Store } from '../store/store.js';
import { COLUMNS, isShared, type PublishedDay } from './catalog.js';
import { LAKE_TABLES, type LakeTable } from './lake-paths.js';

/** A day as the store has it. The rows of its events are about as many; where none are told there are none. */
export interface StoredDay extends Omit<PublishedDay, 'tables'> {
  /** Whether neither it nor a day that its trailing windows reach ever had an event: see sql/lake/days.sql. */
  readonly isQuiet: boolean;
  readonly tables: ReadonlyMap<LakeTable, Stock>;
}

/** What the store has of a table and a day. */
interface Stock {
  readonly rows: number;
  readonly digest?: string;
}

const WITHOUT_ROWS = BUILT_TABLES.map((table) => [table, { rows: 0, digest: hash('sha256', '') }] as const);

/** The built days of one organization that can be published, as the store has them. */
export async function storedDays(
  store: Pick<Store, 'select'>,
  orgId: string,
  from = '0001-01-01' as Day,
  to = '9999-12-31' as Day,
): Promise<Map<Day, StoredDay>> {
  const rows = await store.select(readSql('lake/days.sql'), {
    org_id: orgId,
    from: { day: from },
    to: { day: to },
  });
  const days = new Map<Day, StoredDay & { tables: Map<LakeTable, Stock> }>();
  for (const row of rows) {
    const day = row.day as Day;
    const found = days.get(day) ?? {
      columns: COLUMNS,
      built_at: Number(row.built_at),
      batch: Number(row.batch),
      settled_at: Number(row.settled_at),
      is_removed: row.is_removed === 1,
      isQuiet: row.is_quiet === 1,
      tables: new Map<LakeTable, Stock>([
        ...WITHOUT_ROWS,
        ['events', { rows: row.is_removed === 1 ? 0 : Number(row.events) }],
      ]),
    };
    found.tables.set(row.table_name as LakeTable, {
      rows: Number(row.row_count),
      digest: String(row.digest),
    });
    days.set(day, found);
  }
  return days;
}

/** The days that an organization has in the store, built or in need of it. */
export async function knownDays(store: Pick<Store, 'select'>, orgId: string): Promise<Set<Day>> {
  const rows = await store.select('SELECT day FROM day_inputs WHERE org_id = $org_id', { org_id: orgId });
  return new Set(rows.map((row) => row.day as Day));
}

/** Parts days, in their order, into those that are looked at together: with so many rows, and so many of them, at most. */
export function parted<T>(
  days: readonly T[],
  rowsOf: (day: T) => number,
  mostRows: number,
  mostDays = Number.POSITIVE_INFINITY,
): T[][] {
  const parts: T[][] = [];
  let rows = 0;
  for (const day of days) {
    const more = rowsOf(day);
    const part = parts.at(-1);
    if (part === undefined || part.length >= mostDays || rows + more > mostRows) {
      parts.push([day]);
      rows = 0;
    } else part.push(day);
    rows += more;
  }
  return parts;
}

/** The tables of a day whose rows aren't those that are published, or aren't where they belong. */
export function dueTables(stored: StoredDay, published: PublishedDay | undefined): Set<LakeTable> {
  if (published?.columns !== stored.columns) return new Set(LAKE_TABLES);
  const areEventsThere =
    published.batch === stored.batch &&
    published.settled_at === stored.settled_at &&
    published.is_removed === stored.is_removed;
  return new Set(
    LAKE_TABLES.filter((table) => {
      const there = published.tables[table];
      if (there === undefined || (isShared(there) && !stored.isQuiet)) return true;
      return table === 'events' ? !areEventsThere : there.digest !== stored.tables.get(table)?.digest;
    }),
  );
}

/** Whether the store still has of a day what it had. */
export function isSame(day: StoredDay, before: StoredDay): boolean {
  return (
    day.batch === before.batch &&
    day.is_removed === before.is_removed &&
    [...day.tables].every(([table, { digest }]) => before.tables.get(table)?.digest === digest)
  );
}
