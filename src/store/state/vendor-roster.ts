import type { Day } from '../../day.js';
import { addDays, dayOf } from '../../day.js';
import { quote, quoteInstant, readSql } from '../sql-text.js';
import type { Store } from '../store.js';
import { erasedIn } from './erased-names.js';
import { inTurn } from './of-store.js';
import { GroupName, PersonName, UserId } from './person.js';

/** A person whom a vendor lists, or one team of a person. */
export interface RosterRow {
  /** The address or login. */
  readonly user: string;
  readonly name?: string | null | undefined;
  readonly team?: string | null | undefined;
  /** Whether the vendor bills it. */
  readonly isSeat: boolean;
  /** An instant or a day; without it, unknown. */
  readonly lastActive?: string | null | undefined;
}

/** How many rows a statement writes. */
const TOGETHER = 500;
/** How long what a vendor lists is kept without being fetched again: days. */
const KEPT_DAYS = 30;
/** A seat is unused after so many days without an event. */
const UNUSED_DAYS = 30;

/** Replaces what a report lists. People who were erased, and names that nobody can have, are left out. */
export async function replaceRoster(
  store: Store,
  orgId: string,
  report: string,
  rows: readonly RosterRow[],
  now: number,
): Promise<void> {
  const isErased = await erasedIn(store, orgId);
  const found = new Map<string, string>();
  for (const { user, name, team, isSeat, lastActive } of rows) {
    if (isErased?.(user) === true || !UserId.safeParse(user).success) continue;
    const known = [name, team].map((text) => text ?? '');
    const [fullName = '', group = ''] = [
      PersonName.safeParse(known[0]).success && isErased?.(known[0] ?? '') !== true ? known[0] : '',
      GroupName.safeParse(known[1]).success ? known[1] : '',
    ];
    const day = /^\d{4}-\d{2}-\d{2}/.exec(lastActive ?? '')?.[0] ?? '';
    const texts = [orgId, report, user, fullName, group].map(quote).join(', ');
    found.set(`${user}\n${group}`, `(${texts}, ${isSeat}, ${quote(day)}, ${quoteInstant(now)})`);
  }
  const values = [...found.values()];
  const statements = [
    `DELETE FROM vendor_roster WHERE org_id = ${quote(orgId)} AND report = ${quote(report)}`,
  ];
  for (let next = 0; next < values.length; next += TOGETHER)
    statements.push(`INSERT INTO vendor_roster VALUES ${values.slice(next, next + TOGETHER).join(', ')}`);
  // Otherwise two that replace the same list would both leave their rows.
  await inTurn(store, `vendor_roster ${orgId}`, (turn) => turn.run(statements.map((sql) => ({ sql }))));
}

/** Removes what other reports than these have listed. */
export async function removeOtherRosters(
  store: Store,
  orgId: string,
  reports: readonly string[],
): Promise<void> {
  const others = reports.length === 0 ? '' : ` AND report NOT IN (${reports.map(quote).join(', ')})`;
  await store.run([{ sql: `DELETE FROM vendor_roster WHERE org_id = ${quote(orgId)}${others}` }]);
}

/** Removes what wasn't fetched again for a month. */
export async function removeOldRosters(store: Store, now: number): Promise<void> {
  const before = now - KEPT_DAYS * 24 * 60 * 60 * 1000;
  await store.run([{ sql: `DELETE FROM vendor_roster WHERE pulled_at < ${quoteInstant(before)}` }]);
}

/** What a vendor's list proposes of one person. */
export interface RosterProposal {
  readonly report: string;
  /** As the vendor has it. */
  readonly name: string;
  /** '' if unknown. */
  readonly fullName: string;
  /** The person who has this name already; null if nobody has. */
  readonly userId: string | null;
  /** The person whose other name it may be; null if nobody has one like it. */
  readonly likelyUserId: string | null;
  /** Teams that the person doesn't belong to today. */
  readonly teams: readonly string[];
  /** Whether it is billed, and no event was seen for 30 days. */
  readonly isUnused: boolean;
}

/** What the lists of an organization's vendors propose, by names: who is missing, whose name it may be, teams, and unused seats. */
export async function rosterProposals(store: Store, orgId: string, now: number): Promise<RosterProposal[]> {
  const today = dayOf(now);
  const day = (value: Day) => ({ day: value });
  const rows = await store.select(readSql('state/vendor_roster.sql'), {
    ...{ org_id: orgId, today: day(today), since: day(addDays(today, -UNUSED_DAYS)) },
  });
  const found = new Map<string, RosterProposal & { teams: string[] }>();
  for (const row of rows) {
    const [report, name, fullName, team] = ['report', 'name', 'full_name', 'team'].map((one) =>
      String(row[one]),
    ) as [string, string, string, string];
    const key = `${name}\n${report}`;
    const before = found.get(key);
    const teams = [
      ...(before?.teams ?? []),
      ...(team === '' || team === row.present_team || before?.teams.includes(team) ? [] : [team]),
    ];
    const [known, alike] = [String(row.known_id), String(row.alike_id)];
    found.set(key, {
      ...{ report, name, fullName, teams },
      userId: known === '' ? null : known,
      likelyUserId: known !== '' || alike === '' ? null : alike,
      isUnused: before?.isUnused === true || Number(row.is_unused) === 1,
    });
  }
  return [...found.values()].filter(
    ({ userId, teams, isUnused }) => userId === null || teams.length > 0 || isUnused,
  );
}
