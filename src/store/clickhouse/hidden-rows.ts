import { GROUPS } from '../group.js';
import { rowsOf } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { type Counted, isCounted, type Kind } from './counted-numbers.js';
import type { Attempt } from './ledger.js';

/** Tables of which the newest row of a key counts: the kind and the column of its number, and the key. */
const NEWEST_COUNTS = [
  { table: 'user_emails', kind: 'batch', column: 'batch', key: 'org_id, user_id' },
  { table: 'digests', kind: 'build', column: 'build', key: 'org_id, day, table_name' },
  { table: 'day_inputs', kind: 'build', column: 'build', key: 'org_id, day' },
  { table: 'days', kind: 'build', column: 'version', key: 'org_id, day' },
] as const;

/** How many copies may have given way before they are taken out. */
const REMOVALS_AT_MOST = 10_000;

/**
 * Takes out rows that no view shows any more, after a batch has come to count: if there are many, or if `isDue`. Nobody sees a difference, so it
 * can be cut off anywhere. Answers whether it did. `past` is what counted so long ago that nobody reads by it any more; undefined where views say what counts now.
 */
export async function takeOutHidden(
  session: ClickHouseSession,
  { group, number, counted }: Attempt,
  past: Counted | undefined,
  isDue: boolean,
): Promise<boolean> {
  const ofGroup = (column: string) => `${column} % ${GROUPS} = ${group}`;
  /** Numbers of attempts that never come to count. */
  const isDead = (kind: Kind, column: string) => {
    if (counted === undefined) return `${column} IN (SELECT number FROM abandoned WHERE kind = '${kind}')`;
    const end = kind === 'batch' ? number : counted.build.newest[group];
    return `(${ofGroup(column)} AND ${column} < ${end} AND NOT (${isCounted(counted[kind], column)}))`;
  };
  /** Numbers that count for everybody who reads. */
  const counts = (kind: Kind, column: string) =>
    past === undefined
      ? `NOT ${isDead(kind, column)}`
      : `(${ofGroup(column)} AND ${isCounted(past[kind], column)})`;
  const removed = counts('batch', 'removed_by');
  const [hidden] = await session.select(`SELECT count(*) AS rows FROM removals WHERE ${removed}`);
  if (Number(hidden?.rows) <= REMOVALS_AT_MOST && !isDue) return false;
  const remove = (table: string, condition: string) => session.run(`DELETE FROM ${table} WHERE ${condition}`);
  await remove(
    rowsOf('events'),
    `${isDead('batch', 'batch')} OR (org_id, day, event_id, batch) IN (
      SELECT org_id, day, event_id, batch FROM removals WHERE ${removed}
    )`,
  );
  await remove('removals', `${removed} OR ${isDead('batch', 'removed_by')}`);
  for (const table of ['arrivals', 'rejects', 'mended_lines', 'ingested_files'])
    await remove(rowsOf(table), isDead('batch', 'batch'));
  for (const table of ['restatements', 'touches']) await remove(rowsOf(table), isDead('build', 'build'));
  for (const { table, kind, column, key } of NEWEST_COUNTS) {
    const rows = rowsOf(table);
    await remove(
      rows,
      `${isDead(kind, column)} OR ${counts(kind, column)} AND (${key}, ${column}) NOT IN (
        SELECT ${key}, max(${column}) FROM ${rows} WHERE ${counts(kind, column)} GROUP BY ${key}
      )`,
    );
  }
  return true;
}
