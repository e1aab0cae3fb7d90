import { type Day, dayOf } from '../day.js';
import type { Kind } from '../input/kinds.js';
import { LAST_DAY, type Membership, type Person } from '../store/state/person.js';
import { groupNamesOfPeople } from '../store/state/scim-groups.js';
import type { Store } from '../store/store.js';
import { type GroupTable, groupTableOf } from './group-table.js';
import { moved, replaceInTurn } from './people-change.js';

const COLUMNS = { team: 'team', cost_center: 'costCenter' } as const satisfies Record<
  Kind,
  keyof GroupTable[number]
>;

/**
 * Makes all active users of SCIM members of the teams and cost centres that the owner's table gives to their groups, from today on. It can be
 * repeated. Runs in a turn of people.
 */
export async function joinTeams(store: Store, orgId: string, author: string, now: number): Promise<void> {
  const table = await groupTableOf(store, orgId);
  if (table.length === 0) return;
  const groups = await groupNamesOfPeople(store, orgId);
  const today = dayOf(now);
  const withTeams = (person: Person): Person => {
    const user = [person.userId, ...person.aliases, ...person.emails].find((name) => groups.has(name));
    const own = groups.get(user ?? '');
    return own === undefined
      ? person
      : { ...person, memberships: byGroups(person.memberships, own, table, today) };
  };
  await replaceInTurn(store, orgId, (before) => before.map(withTeams), { author }, now);
}

/**
 * The memberships of a person who is in some groups. A team that the table names has the members of its groups: a person who is in none of
 * them leaves it. A team that the table doesn't name ends only when a group gives another one.
 */
export function byGroups(
  before: readonly Membership[],
  groups: ReadonlySet<string>,
  table: GroupTable,
  today: Day,
): Membership[] {
  let memberships = [...before];
  for (const [kind, column] of Object.entries(COLUMNS) as [Kind, (typeof COLUMNS)[Kind]][]) {
    const wanted = table.find((row) => row[column] !== undefined && groups.has(row.group))?.[column];
    const present = memberships.find(
      (one) => one.kind === kind && one.firstDay <= today && today <= one.lastDay,
    );
    const isOfTable = table.some((row) => row[column] !== undefined && row[column] === present?.name);
    if (wanted === undefined && !isOfTable) continue;
    if (present !== undefined && wanted === present.name && present.lastDay > today) continue;
    const begun = memberships.filter((one) => one.kind !== kind || one.firstDay <= today);
    memberships =
      wanted === present?.name
        ? // Somebody who was deactivated today goes on.
          begun.map((one) => (one === present ? { ...one, lastDay: LAST_DAY } : one))
        : moved(begun, { kind, name: wanted ?? '', isLead: false }, today);
  }
  return memberships;
}

/** The memberships of a person who leaves: today is the last day. */
export function ended(before: readonly Membership[], today: Day): Membership[] {
  return before
    .filter(({ firstDay }) => firstDay <= today)
    .map((one) => (one.lastDay > today ? { ...one, lastDay: today } : one));
}
