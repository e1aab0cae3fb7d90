import { retentionDaysOf } from '../controls/control-revisions.js';
import { addDays, type Day, dayOf, MS_PER_DAY } from '../day.js';
import { staleDays } from '../store/stale-days.js';
import { removeOldEntries } from '../store/state/access-log.js';
import { removeOldAlerts } from '../store/state/alert-log.js';
import { removeOldHeartbeats } from '../store/state/heartbeat.js';
import { noteRenamedDays } from '../store/state/person.js';
import { removeOldPulls } from '../store/state/vendor-pulls.js';
import { removeOldRosters } from '../store/state/vendor-roster.js';
import { keyOf, type OrgDay, orgDayOf, type Store } from '../store/store.js';

/** If the clock is further ahead of the newest record than this, it must have been so for a while to be believed. */
const AHEAD_AT_MOST_MS = 7 * MS_PER_DAY;
const A_WHILE_MS = MS_PER_DAY / 2;

/** Whether the clock can be right: events that it removes are gone for good. True if no records are old enough to tell. */
async function isPlausible(store: Store, now: number): Promise<boolean> {
  const before = { before: now - A_WHILE_MS };
  const rows = [
    ...(await store.select(
      'SELECT max(settled_at) AS newest FROM batches WHERE settled_at <= instant($before)',
      before,
    )),
    ...(await store.select(
      'SELECT max(started_at) AS newest FROM runs WHERE started_at <= instant($before)',
      before,
    )),
  ];
  // For no rows, ClickHouse's max is 0.
  const newest = Math.max(...rows.map((row) => Number(row.newest ?? 0)));
  return newest === 0 || newest >= now - AHEAD_AT_MOST_MS;
}

/**
 * Removes raw events older than a number of days, of built days that aren't stale: the tables of these days stay, and are never built
 * again. The organization's controls set the number, else `byDefault`; undefined keeps events for ever. Answers the days whose
 * events were removed. `now` is Unix milliseconds: a clock that has just jumped far ahead removes nothing yet.
 */
export async function removeOldEvents(
  store: Store,
  byDefault: number | undefined,
  now: number,
): Promise<OrgDay[]> {
  const own = await retentionDaysOf(store);
  const all = [...own.values(), ...(byDefault === undefined ? [] : [byDefault])];
  if (all.length === 0 || !(await isPlausible(store, now))) return [];
  // The newest day whose events are all that old.
  const lastOf = (days: number): Day => addDays(dayOf(now), -days - 1);
  const last = lastOf(Math.min(...all));
  const isOld = ({ orgId, day }: OrgDay) => {
    const days = own.get(orgId) ?? byDefault;
    return days !== undefined && day <= lastOf(days);
  };
  await noteRenamedDays(store);
  const stale = new Set((await staleDays(store, last)).map(keyOf));
  const built = await store.select('SELECT org_id, day FROM days WHERE day <= $last', {
    last: { day: last },
  });
  return store.removeEvents(
    built.map(orgDayOf).filter((day) => isOld(day) && !stale.has(keyOf(day))),
    now,
  );
}

/** Removes entries of the access log, heartbeats, alerts and their messages, pulls, and vendors' lists that are old enough. As above, a clock that has just jumped far ahead removes nothing yet. */
export async function removeOldState(store: Store, now: number): Promise<void> {
  if (!(await isPlausible(store, now))) return;
  await removeOldEntries(store, now);
  await removeOldHeartbeats(store, now);
  await removeOldAlerts(store, now);
  await removeOldPulls(store, now);
  await removeOldRosters(store, now);
}
