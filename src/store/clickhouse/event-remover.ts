import { removableOf } from '../removable-days.js';
import { valuesOf } from '../sql-text.js';
import { type OrgDay, orgDayOf } from '../store.js';
import type { Commit } from './clickhouse-builder.js';
import { rowsOf } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import type { Ledger } from './ledger.js';
import type { Replicas } from './replicas.js';

/** How many days one statement notes as removed: a server takes texts of 256 KiB by default. */
const REMOVED_TOGETHER = 2000;

/** Removes the events of days. */
export class EventRemover {
  constructor(
    private readonly replicas: Replicas,
    private readonly ledger: Ledger,
  ) {}

  /** Days of one group that are noted count as removed from then on; their rows can go at any time after that. */
  async remove(days: readonly OrgDay[], removedAt: number, group: number, commit: Commit): Promise<OrgDay[]> {
    const { ledger } = this;
    const having = async () => this.replicas.having(await ledger.counted());
    const session = await having();
    const note = (some: readonly OrgDay[], build?: number) => noteRemoved(session, some, removedAt, build);
    const removed = await removableOf((sql, parameters) => session.select(sql, parameters), days);
    if ((await ledger.counted()) === undefined) {
      for (let at = 0; at < removed.length; at += REMOVED_TOGETHER)
        await commit(() => note(removed.slice(at, at + REMOVED_TOGETHER)));
    } else if (removed.length > 0) {
      const attempt = await ledger.begin('build', group);
      for (let at = 0; at < removed.length; at += REMOVED_TOGETHER)
        await note(removed.slice(at, at + REMOVED_TOGETHER), attempt.number);
      await ledger.commit(attempt, {
        row: async () => undefined,
        written: async () => new Map([['removed_days', removed.length]]),
      });
    }
    await ledger.forgetEvents(group);
    await takeOut(await having());
    return removed;
  }
}

function noteRemoved(
  session: ClickHouseSession,
  days: readonly OrgDay[],
  removedAt: number,
  build?: number,
): Promise<void> {
  const [into, number] = build === undefined ? ['removed_days', ''] : ['removed_days_rows', `, ${build}`];
  return session.run(
    `INSERT INTO ${into} SELECT org_id, day, instant($removed_at)${number} FROM VALUES('org_id String, day Date', ${valuesOf(days)})`,
    { removed_at: removedAt },
  );
}

/**
 * Covers work that was cut off before it got here, too. TRICKY: the days are named, since a mutation takes a WITH in its condition, and finds
 * nothing by it.
 */
async function takeOut(session: ClickHouseSession): Promise<void> {
  const rows = await session.select(
    `SELECT DISTINCT org_id, day FROM ${rowsOf('events')} WHERE (org_id, day) IN (SELECT org_id, day FROM removed_days)`,
  );
  const left = rows.map(orgDayOf);
  for (let at = 0; at < left.length; at += REMOVED_TOGETHER) {
    const some = valuesOf(left.slice(at, at + REMOVED_TOGETHER));
    // Rows that are only marked as deleted would stay on disk until parts happen to be merged.
    await session.run(
      `ALTER TABLE ${rowsOf('events')} DELETE
      WHERE (org_id, day) IN (SELECT org_id, day FROM VALUES('org_id String, day Date', ${some}))
      SETTINGS mutations_sync = 2`,
    );
  }
}
