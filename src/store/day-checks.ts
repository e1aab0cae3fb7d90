import type { Day } from '../day.js';
import { readSqlFolder } from './sql-text.js';
import type { OrgDay, Store } from './store.js';

/** A due day that breaks a claim of `sql/check`, and how. */
export interface Breach extends OrgDay {
  /** The name of the claim's file, as `users_add_up`; null if the day can't be computed. */
  readonly check: string | null;
  /** The finding of the check, or the error of the database. */
  readonly difference: string;
}

/** Days of a build broke claims, so none of it was kept. */
export class ChecksFailed extends Error {
  override name = 'ChecksFailed';

  constructor(readonly breaches: readonly Breach[]) {
    super(breaches.slice(0, 1).map(sentenceOf).join());
  }
}

/** A breach as a sentence for people. */
export function sentenceOf({ check, orgId, day, difference }: Breach): string {
  return check === null
    ? `The day ${day} of ${orgId} stays as it was, because the database can't compute it (${difference.replace(/\.$/, '')}): report that, unless it says what to do.`
    : `The day ${day} of ${orgId} stays as it was, because the check ${check} found ${difference}: update Daybook or restore its folder sql/, run "daybook build" again, and report the check if it still fails.`;
}

/** Every due day that breaks a claim: the first breach of each, a claim and a day. */
export async function findBreaches(select: Store['select']): Promise<Breach[]> {
  const breaches: Breach[] = [];
  for (const { name, text } of readSqlFolder('check')) {
    // Some checks answer for every due day, with nothing to say of a sound one: finding those out is cheaper here.
    const rows = (await select(text)).filter(({ difference }) => difference !== '');
    const found = rows.map((row) => ({
      check: name,
      orgId: String(row.org_id),
      day: row.day as Day,
      difference: String(row.difference).replace(/; $/, ''),
    }));
    breaches.push(
      ...found.filter(
        ({ orgId, day }, index) =>
          found.findIndex((other) => other.orgId === orgId && other.day === day) === index,
      ),
    );
  }
  return breaches;
}
