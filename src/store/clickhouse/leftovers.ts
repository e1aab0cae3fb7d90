import { BUILT_TABLES } from '../day-builder.js';
import { GROUPS } from '../group.js';
import { quote } from '../sql-text.js';
import { BUILD_SCRATCH, rowsOf, SETTLE_SCRATCH, viewQueries } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { type Counted, isCounted, NEVER } from './counted-numbers.js';
import type { Attempt } from './ledger.js';
import { Names } from './names.js';

/** A preview has ended after so long. */
const PREVIEW_HOURS = 1;

const list = (tables: readonly string[]) => tables.map((table) => quote(rowsOf(table))).join(', ');

/** Every number has a partition of its own in these tables. */
async function dropWhere(session: ClickHouseSession, condition: string): Promise<void> {
  const parts = await session.select(
    `SELECT table, partition_id
    FROM (
      SELECT table, partition_id, toInt64OrZero(partition_id) AS number, max(modification_time) AS written_at
      FROM system.parts
      WHERE active AND database = currentDatabase() AND table IN (${list([...BUILT_TABLES, ...BUILD_SCRATCH, ...SETTLE_SCRATCH])})
      GROUP BY table, partition_id
    )
    WHERE ${condition}`,
  );
  for (const { table, partition_id } of parts)
    await session.run(`ALTER TABLE ${table} DROP PARTITION ID ${quote(String(partition_id))}`);
}

/** Drops the rows that an attempt has written for itself alone; of a preview, all of its rows. */
export function dropScratch(session: ClickHouseSession, { kind, number }: Attempt, isAll = false) {
  const tables =
    kind === 'batch' ? SETTLE_SCRATCH : isAll ? [...BUILT_TABLES, ...BUILD_SCRATCH] : BUILD_SCRATCH;
  return dropWhere(session, `number = ${number} AND table IN (${list(tables)})`);
}

/**
 * Drops the rows of earlier attempts that nobody reads any more, before a build: of replaced days, and of attempts that were cut off. `past` is
 * what counted so long ago that nobody reads by it; undefined where no other attempt is under way.
 */
export function dropLeftovers(session: ClickHouseSession, build: Attempt, past: Counted | undefined) {
  const conditions = leftoversOf(build, past).map(
    ([tables, condition]) => `table IN (${list(tables)}) AND (${condition})`,
  );
  return dropWhere(session, conditions.join(' OR '));
}

function leftoversOf(
  { group, number, counted }: Attempt,
  past: Counted | undefined,
): [tables: readonly string[], condition: string][] {
  if (counted === undefined || past === undefined)
    return [
      [BUILT_TABLES, 'number NOT IN (SELECT build FROM newest_days)'],
      [[...BUILD_SCRATCH, ...SETTLE_SCRATCH], 'true'],
    ];
  const isPreview = `number >= ${NEVER} AND written_at < now() - INTERVAL ${PREVIEW_HOURS} HOUR`;
  const ofGroup = `number % ${GROUPS} = ${group}`;
  const isEarlier = `${ofGroup} AND number < ${number}`;
  const wasRead = new Names(viewQueries(), past).spell('SELECT build FROM newest_days');
  const isReplaced = `number <= ${past.build.newest[group]} AND number NOT IN (${wasRead})`;
  return [
    [
      BUILT_TABLES,
      `${isPreview} OR ${isEarlier} AND (${isReplaced} OR NOT (${isCounted(counted.build, 'number')}))`,
    ],
    [BUILD_SCRATCH, `${isPreview} OR ${isEarlier}`],
    [SETTLE_SCRATCH, `${ofGroup} AND number <= ${counted.batch.newest[group]}`],
  ];
}
