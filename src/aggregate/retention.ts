import { retentionDaysOf } from '../controls/control-revisions.js';
import { addDays, type Day, dayOf } from '../day.js';
import { keyOf, type OrgDay, orgDayOf, type Store } from '../store/store.js';
import { staleDays } from './stale-days.js';

/**
 * Removes the raw events that are more than some days old, of days that are built and not stale: their tables stay, and are
 * never built again. How many days that is the organization's controls say, else `byDefault`, which undefined is for ever.
 * Answers the days whose events went. `now` is Unix milliseconds.
 */
export async function removeOldEvents(
  store: Store,
  byDefault: number | undefined,
  now: number,
): Promise<OrgDay[]> {
  const own = await retentionDaysOf(store);
  const all = [...own.values(), ...(byDefault === undefined ? [] : [byDefault])];
  if (all.length === 0) return [];
  // The newest day of which every event is that old.
  const lastOf = (days: number): Day => addDays(dayOf(now), -days - 1);
  const last = lastOf(Math.min(...all));
  const isOld = ({ orgId, day }: OrgDay) => {
    const days = own.get(orgId) ?? byDefault;
    return days !== undefined && day <= lastOf(days);
  };
  const stale = new Set((await staleDays(store, last)).map(keyOf));
  const built = await store.select('SELECT org_id, day FROM days WHERE day <= $last', {
    last: { day: last },
  });
  return store.removeEvents(
    built.map(orgDayOf).filter((day) => isOld(day) && !stale.has(keyOf(day))),
    now,
  );
}
