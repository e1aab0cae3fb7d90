import type { Day } from '../day.js';
import type { Person } from '../store/state/person.js';
import type { RosterProposal } from '../store/state/vendor-roster.js';
import { csvLine } from '../terminal/csv-line.js';
import { moved } from './people-change.js';

/** The columns that a proposal can change. A file replaces what a person has, so a line has that too. */
const COLUMNS = ['user_id', 'name', 'email', 'alias', 'team', 'is_lead'] as const;

/**
 * What vendors' lists propose as a file of people, for somebody to read, correct and import: a line for each person who would be added, or would get
 * another name or team. Where a vendor tells several teams, none is proposed.
 */
export function rosterFile(
  proposals: readonly RosterProposal[],
  people: readonly Person[],
  today: Day,
): string {
  const known = new Map(people.map((person) => [person.userId, person]));
  const wanted = new Map<string, Person>();
  for (const { name, fullName, userId, likelyUserId, teams } of proposals) {
    const id = userId ?? likelyUserId ?? name;
    const before = wanted.get(id) ??
      known.get(id) ?? { userId: id, name: '', emails: [], aliases: [], memberships: [] };
    const isNew = userId === null && id !== name;
    const isAddress = userId === null && name.includes('@');
    const [team, ...others] = teams;
    wanted.set(id, {
      ...before,
      name: before.name === '' ? fullName : before.name,
      emails: isAddress && !before.emails.includes(name) ? [...before.emails, name] : before.emails,
      aliases:
        isNew && !isAddress && !before.aliases.includes(name) ? [...before.aliases, name] : before.aliases,
      memberships:
        team === undefined || others.length > 0
          ? before.memberships
          : moved(before.memberships, { kind: 'team', name: team, isLead: false }, today),
    });
  }
  const lines = [...wanted.values()].filter((person) => person !== known.get(person.userId)).map(lineOf);
  return [csvLine(COLUMNS), ...lines].join('');

  function lineOf({ userId, name, emails, aliases, memberships }: Person): string {
    const team = memberships.find(
      ({ kind, firstDay, lastDay }) => kind === 'team' && firstDay <= today && today <= lastDay,
    );
    return csvLine([
      userId,
      name,
      emails.join(';'),
      aliases.join(';'),
      team?.name ?? '',
      team?.isLead === true,
    ]);
  }
}
