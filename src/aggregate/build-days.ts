import { type Day, lastClosedDay } from '../day.js';
import { reasonOf, UsageError } from '../exit.js';
import { type Breach, ChecksFailed } from '../store/day-checks.js';
import { staleDays } from '../store/stale-days.js';
import { noteRenamedDays } from '../store/state/person.js';
import { keyOf, type OrgDay, orgDayOf, type Store } from '../store/store.js';
import { isOfStore } from '../store/store-fault.js';

/** Days with few events are built in larger groups, because a transaction's own cost exceeds theirs. */
const FEW_EVENTS = 200_000;
const SMALL_DAYS_AT_ONCE = 5000;

/** If this many days fail even when built alone, the cause isn't their data, and the other days would fail too. */
const FAILURES_AT_MOST = 100;

/** The days to build. Without `from`, `to` and `all`: those that are stale or were never built. */
export interface BuildRange {
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
  /** Includes days that are up to date. */
  readonly all?: boolean | undefined;
}

/** The result of a build. */
export interface Built {
  /** The built days, oldest first. */
  readonly days: OrgDay[];
  /** The claims that days broke, and the errors that kept days from being computed. Such a day stays as it was, and stale. */
  readonly breaches: Breach[];
}

/** Divides days, in order, into groups that are built together. */
async function grouped(store: Store, days: readonly OrgDay[]): Promise<OrgDay[][]> {
  if (days.length <= store.daysAtOnce) return days.length === 0 ? [] : [[...days]];
  const rows = await store.select(
    'SELECT org_id, day, sum(accepted) AS events FROM arrivals GROUP BY org_id, day',
  );
  const eventsOf = new Map(rows.map((row) => [`${row.day} ${row.org_id}`, Number(row.events)]));
  const groups: OrgDay[][] = [];
  let group: OrgDay[] = [];
  let events = 0;
  for (const day of days) {
    const more = eventsOf.get(keyOf(day)) ?? 0;
    const limit = events + more <= FEW_EVENTS ? SMALL_DAYS_AT_ONCE : store.daysAtOnce;
    if (group.length >= limit) {
      groups.push(group);
      group = [];
      events = 0;
    }
    group.push(day);
    events += more;
  }
  return group.length > 0 ? [...groups, group] : groups;
}

/** Whether an organization's day is among some. */
function isAmong({ orgId, day }: OrgDay, days: readonly OrgDay[]): boolean {
  return days.some((other) => other.orgId === orgId && other.day === day);
}

/**
 * Builds days together, except those that break a claim or can't be computed, for example if they need too much memory or a value fits
 * no type. The others can still be built: days that look back on a failed day are built again once it succeeds.
 */
async function buildTogether(
  store: Store,
  days: readonly OrgDay[],
  batch: number,
  builtAt: number,
  built: Built,
): Promise<void> {
  try {
    await store.build(days, batch, builtAt);
    built.days.push(...days);
  } catch (error) {
    if (isOfStore(error)) throw error;
    const breaches = error instanceof ChecksFailed ? error.breaches : [];
    const [only, ...others] = days;
    if (only !== undefined && others.length === 0) {
      const { orgId, day } = only;
      if (breaches.length > 0) built.breaches.push(...breaches.map((breach) => ({ ...breach, orgId, day })));
      else if (built.breaches.filter(({ check }) => check === null).length >= FAILURES_AT_MOST) throw error;
      else built.breaches.push({ orgId, day, check: null, difference: reasonOf(error) });
      return;
    }
    const sound = days.filter((day) => !isAmong(day, breaches));
    // A claim may not say which days are wrong, and an error never does: then the list of sound days is useless. Halves narrow it down.
    const isFound = sound.length > 0 && sound.length < days.length;
    if (isFound) built.breaches.push(...breaches);
    const half = Math.ceil(days.length / 2);
    for (const part of isFound ? [sound] : [days.slice(0, half), days.slice(half)])
      await buildTogether(store, part, batch, builtAt, built);
  }
}

/**
 * Builds closed days, oldest first. A day that breaks a claim of `sql/check`, or can't be computed, stays as it was and doesn't stop the
 * others. `from` and `to` choose days, stale or not. Stale days before them whose own events have changed are built too, since the
 * chosen ones look back on them.
 */
export async function build(
  store: Store,
  range: BuildRange,
  clock: () => number,
  progress: (done: number, total: number) => void = () => {},
): Promise<Built> {
  const last = lastClosedDay(clock());
  if (range.to !== undefined && range.to > last) {
    throw new UsageError(`--to must be ${last} or earlier: later days have not ended yet (UTC).`);
  }
  if (range.from !== undefined && range.from > (range.to ?? last)) {
    throw new UsageError(`--from must not be after ${range.to === undefined ? last : '--to'}.`);
  }
  const built: Built = { days: [], breaches: [] };
  await noteRenamedDays(store);
  // Nodes that begin together each begin with another group.
  const first = store.groups.length === 1 ? 0 : Math.floor(Math.random() * store.groups.length);
  const groups = [...store.groups.slice(first), ...store.groups.slice(0, first)];
  const isDue = await dueGroups(store, range, last);
  for (const group of groups.filter(isDue))
    await store.leading(`build ${group}`, () =>
      buildGroup(store, range, group, last, clock, built, progress),
    );
  if (groups.length > 1) built.days.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return built;
}

/** Tells the groups that may have days to build. Of several, most have none, which one look at all of them shows. */
async function dueGroups(
  store: Store,
  { from, to, all }: BuildRange,
  last: Day,
): Promise<(group: number) => boolean> {
  if (store.groups.length === 1 || all === true || from !== undefined || to !== undefined) return () => true;
  const due = new Set((await staleDays(store, last)).map(({ orgId }) => store.groupOf(orgId)));
  return (group) => due.has(group);
}

/** Builds the days of one group of organizations, which no other node builds meanwhile. */
async function buildGroup(
  store: Store,
  range: BuildRange,
  group: number,
  last: Day,
  clock: () => number,
  built: Built,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const isChosen = range.from !== undefined || range.to !== undefined;
  const inRange = ({ day }: OrgDay) => (range.from ?? '') <= day && day <= (range.to ?? last);
  const isOfGroup = ({ orgId }: OrgDay) => store.groupOf(orgId) === group;
  // Where several nodes settle, a build reads events up to the batch that it notes.
  const stale = async (batch: number) =>
    (await staleDays(store, last, undefined, store.groups.length === 1 ? undefined : batch)).filter(
      isOfGroup,
    );
  const run = async (due: readonly OrgDay[], batch: number) => {
    for (const days of await grouped(store, due)) {
      await buildTogether(store, days, batch, clock(), built);
      progress(built.days.length, Math.max(due.length, built.days.length));
    }
  };
  if (range.all === true || isChosen) {
    const batch = await store.newestBatch(group);
    const found = await stale(batch);
    const days = (
      await store.select(
        'SELECT org_id, day FROM days WHERE (org_id, day) NOT IN (SELECT org_id, day FROM removed_days)',
      )
    )
      .map(orgDayOf)
      .filter(isOfGroup);
    const due = new Map<string, OrgDay>();
    for (const day of [...days, ...found].filter(inRange))
      due.set(keyOf(day), { orgId: day.orgId, day: day.day });
    for (const { orgId, day, cause } of found) {
      if (day <= (range.to ?? last) && (cause === 'events' || cause === 'new'))
        due.set(keyOf({ orgId, day }), { orgId, day });
    }
    await run(
      [...due.keys()].sort().map((key) => due.get(key) as OrgDay),
      batch,
    );
  }
  // Later passes build only days that this build made stale. New events wait for the next build, since they may never stop arriving.
  for (let isFirst = true, more = !isChosen; more; isFirst = false) {
    const batch = await store.newestBatch(group);
    // A failed day is still stale, but would fail again.
    const due = (await stale(batch)).filter(
      (day) => (isFirst || day.cause === 'start') && !isAmong(day, built.breaches),
    );
    await run(due, batch);
    more = due.length > 0;
  }
}
