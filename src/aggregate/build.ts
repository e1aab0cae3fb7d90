import { type Day, lastClosedDay } from '../day.js';
import { UsageError } from '../exit.js';
import { newestBatch, type OrgDay, type Store } from '../store/store.js';
import { staleDays } from './stale.js';

/** What to build. Without `from`, `to` and `all`: what is stale or was never built. */
export interface BuildRange {
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
  /** Also the days that are up to date. */
  readonly all?: boolean | undefined;
}

/** The days that a build has built, oldest first, and the organizations that they are of. */
export interface Built {
  readonly days: OrgDay[];
}

/**
 * Builds closed days, oldest first. `from` and `to` choose days, stale or not; the stale days before them whose own events
 * have changed are built too, since the chosen ones look back on them.
 */
export async function build(
  store: Store,
  range: BuildRange,
  clock: () => number,
  progress: (done: number, total: number) => void = () => {},
): Promise<Built> {
  const last = lastClosedDay(clock());
  if (range.to !== undefined && range.to > last) {
    throw new UsageError(`--to must be ${last} or earlier: later days are not over yet in UTC.`);
  }
  if (range.from !== undefined && range.from > (range.to ?? last)) {
    throw new UsageError(`--from must not be after ${range.to === undefined ? last : '--to'}.`);
  }
  const isChosen = range.from !== undefined || range.to !== undefined;
  const inRange = ({ day }: OrgDay) => (range.from ?? '') <= day && day <= (range.to ?? last);
  const built: OrgDay[] = [];
  const run = async (due: readonly OrgDay[], batch: number) => {
    for (let start = 0; start < due.length; start += store.daysAtOnce) {
      const days = due.slice(start, start + store.daysAtOnce);
      await store.build(days, batch, clock());
      built.push(...days);
      progress(built.length, Math.max(due.length, built.length));
    }
  };
  if (range.all === true || isChosen) {
    const batch = await newestBatch(store);
    const stale = await staleDays(store, last);
    const days = (await store.select('SELECT org_id, day FROM days')).map((row) => ({
      orgId: String(row.org_id),
      day: row.day as Day,
    }));
    const due = new Map<string, OrgDay>();
    for (const day of [...days, ...stale].filter(inRange))
      due.set(`${day.day} ${day.orgId}`, { orgId: day.orgId, day: day.day });
    for (const { orgId, day, cause } of stale) {
      if (day <= (range.to ?? last) && (cause === 'events' || cause === 'new'))
        due.set(`${day} ${orgId}`, { orgId, day });
    }
    await run(
      [...due.keys()].sort().map((key) => due.get(key) as OrgDay),
      batch,
    );
  }
  // Until nothing is stale: a build can move the start of a session to or from a later day, and events can have come meanwhile.
  for (let more = !isChosen; more; ) {
    const batch = await newestBatch(store);
    const stale = await staleDays(store, last);
    await run(stale, batch);
    more = stale.length > 0;
  }
  return { days: built };
}
