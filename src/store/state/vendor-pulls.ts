import type { Day } from '../../day.js';
import type { Row, Store } from '../store.js';

/** One time that a report of a vendor was pulled. */
export interface Pull {
  readonly report: string;
  /** Unix milliseconds. */
  readonly pulledAt: number;
  /** The days that were fetched whole. */
  readonly days: number;
  /** Of them, those that aren't as they were. */
  readonly changed: number;
  /** The days that couldn't be fetched. */
  readonly missed: readonly Day[];
  /** The last fault; '' for none. */
  readonly fault: string;
}

/** How long pulls are kept, but for the newest of each report. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

function pullOf(row: Row): Pull {
  return {
    report: String(row.report),
    pulledAt: Number(row.pulled_at),
    days: Number(row.days),
    changed: Number(row.changed),
    missed: JSON.parse(String(row.missed)),
    fault: String(row.fault),
  };
}

/** The newest pull of each report of an organization, by report. */
export async function newestPulls(store: Pick<Store, 'select'>, orgId: string): Promise<Pull[]> {
  const rows = await store.select(
    `SELECT report, pulled_at, days, changed, missed, fault FROM vendor_pulls
    WHERE org_id = $org_id AND (report, pulled_at) IN (
      SELECT report, max(pulled_at) FROM vendor_pulls WHERE org_id = $org_id GROUP BY report
    )
    ORDER BY report`,
    { org_id: orgId },
  );
  return rows.map(pullOf);
}

/** Notes a pull. */
export async function notePull(store: Store, orgId: string, pull: Pull): Promise<void> {
  const { report, pulledAt, days, changed, missed, fault } = pull;
  await store.run([
    {
      sql: `INSERT INTO vendor_pulls
        SELECT $org_id, $report, instant($pulled_at), CAST($days AS BIGINT), CAST($changed AS BIGINT), $missed, $fault`,
      parameters: {
        ...{ org_id: orgId, report, pulled_at: pulledAt, days, changed },
        ...{ missed: JSON.stringify(missed), fault },
      },
    },
  ]);
}

/** Removes old pulls, but for the newest of each report, by which the next one knows what to fetch. */
export async function removeOldPulls(store: Store, now: number): Promise<void> {
  await store.run([
    {
      sql: `DELETE FROM vendor_pulls
        WHERE pulled_at < instant($before)
          AND (org_id, report, pulled_at) NOT IN (SELECT org_id, report, max(pulled_at) FROM vendor_pulls GROUP BY org_id, report)`,
      parameters: { before: now - KEPT_MS },
    },
  ]);
}
