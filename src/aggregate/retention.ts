import { addDays, type Day, dayOf } from '../day.js';
import type { OrgDay, Store } from '../store/store.js';
import { staleDays } from './stale.js';

/**
 * Removes the raw events that are more than some days old, of days that are built and not stale: their tables stay, and are
 * never built again. Answers the days whose events went. `now` is Unix milliseconds.
 */
export async function removeOldEvents(store: Store, retentionDays: number, now: number): Promise<OrgDay[]> {
  // The newest day of which every event is that old.
  const last = addDays(dayOf(now), -retentionDays - 1);
  const stale = new Set((await staleDays(store, last)).map(({ orgId, day }) => `${day} ${orgId}`));
  const built = await store.select('SELECT org_id, day FROM days WHERE day <= $last', {
    last: { day: last },
  });
  const days = built
    .map((row) => ({ orgId: String(row.org_id), day: row.day as Day }))
    .filter(({ orgId, day }) => !stale.has(`${day} ${orgId}`));
  return store.removeEvents(days, now);
}
