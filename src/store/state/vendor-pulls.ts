import { type Day, dayOf } from '../../day.js';
import { quote } from '../sql-text.js';
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

/** A report of a vendor that lacks something: its last pull had a fault, or was too long ago. */
export interface TroubledReport {
  readonly report: string;
  /** Unix milliseconds. */
  readonly pulled_at: number;
  /** Whether there was no pull on the day before or since, although there is one each night. */
  readonly is_late: boolean;
  readonly missed_days: number;
  readonly oldest_missed_day: Day | null;
  /** The last fault; null for none. */
  readonly fault: string | null;
}

/** The reports of an organization that lack something. `last` is the newest closed day. */
export async function troubledReports(
  store: Pick<Store, 'select'>,
  orgId: string,
  last: Day,
): Promise<TroubledReport[]> {
  return (await newestPulls(store, orgId))
    .map(({ report, pulledAt, missed, fault }) => ({
      ...{ report, pulled_at: pulledAt, is_late: dayOf(pulledAt) < last },
      ...{ missed_days: missed.length, oldest_missed_day: [...missed].sort()[0] ?? null },
      fault: fault === '' ? null : fault,
    }))
    .filter(({ is_late, missed_days, fault }) => is_late || missed_days > 0 || fault !== null);
}

/** Forgets the pulls of reports that aren't pulled any more. */
export async function forgetOtherPulls(
  store: Store,
  orgId: string,
  reports: readonly string[],
): Promise<void> {
  const known = (await newestPulls(store, orgId)).map(({ report }) => report);
  const others = known.filter((report) => !reports.includes(report));
  if (others.length === 0) return;
  const names = others.map(quote).join(', ');
  await store.run([
    {
      sql: `DELETE FROM vendor_pulls WHERE org_id = $org_id AND report IN (${names})`,
      parameters: { org_id: orgId },
    },
  ]);
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
