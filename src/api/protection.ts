import type { Day } from '../day.js';
import { readSql } from '../store/sql-text.js';
import { nameHash } from '../store/state/organization-secret.js';
import { privacyOf } from '../store/state/privacy-revisions.js';
import type { Store } from '../store/store.js';
import type { Caller } from './caller.js';

/** How many hexadecimal digits a pseudonym has. */
const DIGITS = 12;

/** What somebody sees who may not see people by name. */
export interface Protection {
  /** How many people a group has at least that is shown. */
  readonly floor: number;
  /** What an answer says of a user: the own id, and pseudonyms for all others. */
  readonly nameOf: (userId: string) => string;
}

/** The answer to a request for something that only auditors see. */
export const FOR_AUDITORS =
  'The organization protects people, so only the auditors that an owner names see this: ask for totals of teams, agents, models or repositories.';

/** How a caller is kept from seeing people by name; undefined for one who may. A tool on the service's machine can read everything there. */
export async function protectionOf(
  store: Store,
  { orgId, userId, credential }: Caller,
  now: number,
): Promise<Protection | undefined> {
  const { mode, smallestGroup, auditors } = await privacyOf(store, orgId);
  const seesNames =
    mode === 'open' || credential === 'local' || (userId !== null && auditors.includes(userId));
  if (seesNames) return undefined;
  const hash = await nameHash(store, orgId, 'pseudonym', now);
  return {
    floor: smallestGroup,
    nameOf: (name) => (name === userId ? name : `person-${hash(name).toString('hex').slice(0, DIGITS)}`),
  };
}

/** What a question may not tell: no group of fewer people than the floor, and no day on which fewer were active. */
export interface Guard {
  readonly floor: number;
  readonly quietDays: readonly QuietDay[];
}

/** A day on which few people were active, and the one with which it counts. */
export interface QuietDay {
  readonly day: Day;
  readonly countedOn: Day;
}

/** The quiet days of an organization, the first one first. */
export async function quietDaysOf(
  store: Pick<Store, 'select'>,
  orgId: string,
  floor: number,
): Promise<QuietDay[]> {
  const rows = await store.select(readSql('state/quiet_days.sql'), { org_id: orgId, floor });
  return rows.map(({ day, counted_on }) => ({ day: day as Day, countedOn: counted_on as Day }));
}

/** Quiet days as rows of `day` and `counted_on`. */
export function quietDaysSql(days: readonly QuietDay[] = []): string {
  const rows = days.map(
    ({ day, countedOn }) => `SELECT DATE '${day}' AS day, DATE '${countedOn}' AS counted_on`,
  );
  return rows.length === 0
    ? "SELECT DATE '1970-01-01' AS day, DATE '1970-01-01' AS counted_on WHERE 1 = 0"
    : rows.join(' UNION ALL ');
}

/** A range with the quiet days that count with its days. */
export function withQuietDays<Range extends { readonly from: Day; readonly to: Day }>(
  range: Range,
  quiet: readonly QuietDay[],
): Range {
  const days = quiet
    .filter(({ countedOn }) => range.from <= countedOn && countedOn <= range.to)
    .map(({ day }) => day);
  const all = [range.from, range.to, ...days].sort();
  return { ...range, from: all[0] ?? range.from, to: all.at(-1) ?? range.to };
}
