import { addDays, type Day } from '../day.js';
import { keyOf, type OrgDay, orgDayOf, type Parameters, type Store } from './store.js';

/** A trailing window reaches 30 days: an event changes the 29 days after its own. */
const WINDOW_DAYS_AFTER = 29;

/** Why a day has to be built. */
export type Cause =
  /** It never was. */
  | 'new'
  /** Its own events have changed, or for whom they count, or the definitions have. */
  | 'events'
  /** Events of a day that its trailing windows reach have changed. */
  | 'window'
  /** A build changed something that it looks back on: the start of a session moved, other events count, or a day went in that a check had kept out. */
  | 'start';

export interface StaleDay extends OrgDay {
  readonly cause: Cause;
}

/**
 * The closed days that are stale or were never built, oldest first, without those whose events are gone: of every
 * organization or of one, from its first event's day to `last`, those without events too. Events of batches after `upTo` don't matter yet.
 */
export async function staleDays(
  store: Store,
  last: Day,
  only?: string,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<StaleDay[]> {
  const [where, and] = only === undefined ? ['', ''] : ['WHERE org_id = $org_id', 'AND org_id = $org_id'];
  const org: Parameters = only === undefined ? {} : { org_id: only };
  const days = await store.select(
    `SELECT
      days.org_id AS org_id,
      days.day AS day,
      CASE WHEN day_inputs.definitions = $definitions THEN days.batch ELSE -1 END AS batch
    FROM days
    LEFT JOIN day_inputs ON day_inputs.org_id = days.org_id AND day_inputs.day = days.day
    ${where.replace('org_id', 'days.org_id')}`,
    { ...org, definitions: store.definitions },
  );
  const renamed = await store.select(
    `SELECT DISTINCT renamed_days.org_id AS org_id, renamed_days.day AS day
    FROM renamed_days
    JOIN day_inputs ON day_inputs.org_id = renamed_days.org_id AND day_inputs.day = renamed_days.day
    WHERE renamed_days.revision > coalesce(day_inputs.people_revision, 0) ${and.replace('org_id', 'renamed_days.org_id')}`,
    org,
  );
  const touched = await store.select(
    `SELECT org_id, day, max(batch) AS batch FROM arrivals WHERE changed > 0 AND day <= $last AND batch <= $batch ${and} GROUP BY org_id, day ORDER BY day`,
    { ...org, last: { day: last }, batch: upTo },
  );
  const removed = await store.select(`SELECT org_id, day FROM removed_days ${where}`, org);
  const moved = await store.select(`SELECT DISTINCT org_id, day FROM touches ${where}`, org);
  const builtBatch = new Map(days.map((row) => [keyOf(orgDayOf(row)), Number(row.batch)]));
  const touchedBatch = new Map(touched.map((row) => [keyOf(orgDayOf(row)), Number(row.batch)]));
  const isRemoved = new Set(removed.map((row) => keyOf(orgDayOf(row))));
  const isRenamed = new Set(renamed.map((row) => keyOf(orgDayOf(row))));
  const isMoved = new Set(moved.map((row) => keyOf(orgDayOf(row))));
  const firstDays = new Map<string, Day>();
  for (const row of touched)
    if (!firstDays.has(String(row.org_id))) firstDays.set(String(row.org_id), row.day as Day);
  const stale: StaleDay[] = [];
  for (const [orgId, firstDay] of firstDays) {
    // The newest batch that any day in reach of the window got, and on which day: a queue with falling batches.
    const window: { day: Day; batch: number }[] = [];
    for (let day = firstDay; day <= last; day = addDays(day, 1)) {
      const key = keyOf({ orgId, day });
      const built = builtBatch.get(key);
      const batch = touchedBatch.get(key);
      const oldest = addDays(day, -WINDOW_DAYS_AFTER);
      while (window[0] !== undefined && window[0].day < oldest) window.shift();
      if (isRemoved.has(key)) {
        // It stays as it is.
      } else if (built === undefined) stale.push({ orgId, day, cause: 'new' });
      else if (built < 0 || (batch ?? 0) > built || isRenamed.has(key))
        stale.push({ orgId, day, cause: 'events' });
      else if ((window[0]?.batch ?? 0) > built) stale.push({ orgId, day, cause: 'window' });
      else if (isMoved.has(key)) stale.push({ orgId, day, cause: 'start' });
      if (batch !== undefined) {
        while ((window.at(-1)?.batch ?? Number.POSITIVE_INFINITY) <= batch) window.pop();
        window.push({ day, batch });
      }
    }
  }
  return stale.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
}
