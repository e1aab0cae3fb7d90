import { addDays, dayOf } from '../day.js';
import { keyOf, type OrgDay, orgDayOf, type Store } from '../store/store.js';
import { staleDays } from './stale.js';

/**
 * Removes the raw events that are more than some days old, of days that are built and not stale: their tables stay, and are
 * never built again. Answers the days whose events went. `now` is Unix milliseconds.
 */
export async function removeOldEvents(store: Store, retentionDays: number, now: number): Promise<OrgDay[]> {
  // The newest day of which every event is that old.
  const last = addDays(dayOf(now), -retentionDays - 1);
  const stale = new Set((await staleDays(store, last)).map(keyOf));
  const built = await store.select('SELECT org_id, day FROM days WHERE day <= $last', {
    last: { day: last },
  });
  return store.removeEvents(
    built.map(orgDayOf).filter((day) => !stale.has(keyOf(day))),
    now,
  );
}
