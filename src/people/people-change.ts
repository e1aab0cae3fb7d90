import { isDeepStrictEqual } from 'node:util';
import { Stale } from '../api/revision-tag.js';
import { addDays } from '../day.js';
import { UsageError } from '../exit.js';
import { KINDS, type Kind } from '../input/kinds.js';
import { requireNotErased } from '../store/state/erased-names.js';
import { inTurn } from '../store/state/of-store.js';
import {
  changePeople,
  FIRST_DAY,
  LAST_DAY,
  type Membership,
  noteRenamedDays,
  OF_ONE_PERSON,
  type Person,
  peopleOf,
  peopleTurn,
} from '../store/state/person.js';
import type { Store } from '../store/store.js';

/** How many people an organization can have. */
export const PEOPLE_AT_MOST = 100_000;

/** A name would be that of two people. */
export class SharedName extends UsageError {
  override name = 'SharedName';
}

/** A change would give or take a name, and may not. */
export class MovedName extends UsageError {
  override name = 'MovedName';
}

/** How a change is made. */
export interface ChangeOptions {
  readonly author: string;
  /** Whether the newest revision is the expected one. */
  readonly isExpected?: ((revision: number) => boolean) | undefined;
  /** Only finds out what would change. */
  readonly isTrial?: boolean | undefined;
  /** Whether every name must stay with the person who has it: whoever gives names away can see a person's numbers under another one. */
  readonly keepsNames?: boolean | undefined;
}

/** A person who is added, changed or removed, in words. */
export interface PersonChange {
  readonly user_id: string;
  readonly change: string;
}

/** A change of people that was made, or would be. */
export interface ChangedPeople {
  /** The newest revision. */
  readonly revision: number;
  /** By user ids. */
  readonly changes: readonly PersonChange[];
  /** How many built days count for other users since, and are built again by the next build. */
  readonly days: number;
}

/**
 * Replaces the people of an organization by those that `make` makes of them. Throws Stale when the revision isn't the
 * expected one, and a UsageError that says why people can't be so; then nothing changes.
 */
export async function replacePeople(
  store: Store,
  orgId: string,
  make: (before: readonly Person[]) => readonly Person[],
  options: ChangeOptions,
  now: number,
): Promise<ChangedPeople> {
  const changed = await inTurn(store, peopleTurn(orgId), (turn) =>
    replaceInTurn(turn, orgId, make, options, now),
  );
  const isMade = changed.changes.length > 0 && options.isTrial !== true;
  return { ...changed, days: isMade ? await noteRenamedDays(store, orgId) : 0 };
}

/** The same in a turn of people, at whose end the days are noted. */
export async function replaceInTurn(
  turn: Store,
  orgId: string,
  make: (before: readonly Person[]) => readonly Person[],
  { author, isExpected = () => true, isTrial = false, keepsNames = false }: ChangeOptions,
  now: number,
): Promise<Omit<ChangedPeople, 'days'>> {
  const { revision, people: before } = await peopleOf(turn, orgId);
  if (!isExpected(revision)) throw new Stale(revision);
  const after = make(before).map(inOrder);
  requireSound(after);
  if (keepsNames) requireSameNames(before, after);
  const known = new Map(before.map((person) => [person.userId, inOrder(person)]));
  const wanted = new Set(after.map(({ userId }) => userId));
  const removed = before.map(({ userId }) => userId).filter((userId) => !wanted.has(userId));
  const saved = after.filter((person) => !isDeepStrictEqual(person, known.get(person.userId)));
  await requireNotErased(
    turn,
    orgId,
    saved.flatMap(({ userId, emails, aliases }) => [userId, ...emails, ...aliases]),
  );
  const changes = [
    ...removed.map((user_id) => ({ user_id, change: 'removed' })),
    ...saved.map((person) => ({
      user_id: person.userId,
      change: inWords(known.get(person.userId), person),
    })),
  ].sort((one, other) => (one.user_id < other.user_id ? -1 : 1));
  if (isTrial || changes.length === 0) return { revision, changes };
  await changePeople(turn, { orgId, revision, author, removed, saved }, now);
  return { revision: revision + 1, changes };
}

/** A person as it is stored: each name once, and in an order of its own. */
function inOrder({ userId, name, emails, aliases, memberships }: Person): Person {
  const [first, ...rest] = [...new Set(emails)];
  const others = new Set(aliases.filter((alias) => alias !== userId && !emails.includes(alias)));
  return {
    userId,
    name,
    emails: first === undefined ? [] : [first, ...rest.sort()],
    aliases: [...others].sort(),
    memberships: KINDS.flatMap((kind) =>
      memberships
        .filter((one) => one.kind === kind)
        .sort((one, other) => (one.firstDay < other.firstDay ? -1 : 1)),
    ),
  };
}

const WORDS: Record<Kind, string> = { team: 'team', cost_center: 'cost centre' };

/** Throws a UsageError for people of whom two have one name, or one who belongs to two groups of a kind on a day. */
function requireSound(people: readonly Person[]): void {
  if (people.length > PEOPLE_AT_MOST)
    throw new UsageError(`An organization can have ${PEOPLE_AT_MOST} people, not ${people.length}.`);
  const users = new Set<string>();
  for (const { userId } of people) {
    if (users.has(userId)) throw new UsageError(`Two people have the user id ${userId}: merge them.`);
    users.add(userId);
  }
  const owners = new Map<string, string>();
  for (const { userId, emails, aliases, memberships } of people) {
    const most = Math.max(emails.length, aliases.length, memberships.length);
    if (most > OF_ONE_PERSON)
      throw new UsageError(
        `${userId} has ${most} names or memberships, of which a person can have ${OF_ONE_PERSON}: remove some.`,
      );
    for (const name of [...emails, ...aliases]) {
      const owner = name !== userId && users.has(name) ? name : owners.get(name);
      if (owner !== undefined)
        throw new SharedName(`${name} names both ${owner} and ${userId}: only one person can have it.`);
      if (name !== userId) owners.set(name, userId);
    }
    for (const kind of KINDS)
      requireApart(
        userId,
        kind,
        memberships.filter((one) => one.kind === kind),
      );
  }
}

/** Throws a MovedName if an alias or address is added, removed or given to another person. */
function requireSameNames(before: readonly Person[], after: readonly Person[]): void {
  const [then, now] = [before, after].map(ownersOfNames);
  for (const name of new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])]))
    if (then?.get(name) !== now?.get(name))
      throw new MovedName(
        `The organization protects people, so only an auditor or "daybook people import" on the service's machine can add, remove or move an alias or address, as this change does with ${name}: leave these as they are.`,
      );
}

function ownersOfNames(people: readonly Person[]): ReadonlyMap<string, string> {
  return new Map(
    people.flatMap(({ userId, emails, aliases }) =>
      [...emails, ...aliases].filter((name) => name !== userId).map((name) => [name, userId] as const),
    ),
  );
}

/** Memberships come by their first days. */
function requireApart(userId: string, kind: Kind, memberships: readonly Membership[]): void {
  for (const [place, { name, firstDay, lastDay }] of memberships.entries()) {
    if (lastDay < firstDay)
      throw new UsageError(
        `${userId} belongs to the ${WORDS[kind]} ${name} until ${lastDay}, before it begins on ${firstDay}: correct one of the days.`,
      );
    const next = memberships[place + 1];
    if (next !== undefined && next.firstDay <= lastDay)
      throw new UsageError(
        `${userId} belongs to the ${WORDS[kind]}s ${name} and ${next.name} on ${next.firstDay}: end the first one before.`,
      );
  }
}

function membershipInWords({ kind, name, firstDay, lastDay, isLead }: Membership): string {
  const days = [
    ...(firstDay === FIRST_DAY ? [] : [`from ${firstDay}`]),
    ...(lastDay === LAST_DAY ? [] : [`to ${lastDay}`]),
  ];
  return [WORDS[kind], name, ...days, ...(isLead ? ['as lead'] : [])].join(' ');
}

/** How a person differs from before, as `added: Ada, team Web` or `+ alias ada-laptop, - team Web`. */
function inWords(before: Person | undefined, after: Person): string {
  const said = ({ name, emails, aliases, memberships }: Person) => [
    ...(name === '' ? [] : [`name ${name}`]),
    ...emails,
    ...aliases.map((alias) => `alias ${alias}`),
    ...memberships.map(membershipInWords),
  ];
  const now = said(after);
  if (before === undefined) return ['added', ...(now.length === 0 ? [] : [now.join(', ')])].join(': ');
  const then = said(before);
  const parts = [
    ...then.filter((part) => !now.includes(part)).map((part) => `- ${part}`),
    ...now.filter((part) => !then.includes(part)).map((part) => `+ ${part}`),
  ];
  return parts.length === 0 ? `first address ${after.emails[0]}` : parts.join(', ');
}

/** Memberships of a kind after a person moves to a group on a day: that of the day before ends. An empty name means that the person belongs to none. */
export function moved(
  before: readonly Membership[],
  { kind, name, isLead }: Pick<Membership, 'kind' | 'name' | 'isLead'>,
  today: Membership['firstDay'],
): Membership[] {
  const others = before.filter((one) => one.kind !== kind);
  const own = before.filter((one) => one.kind === kind);
  const present = own.find(({ firstDay, lastDay }) => firstDay <= today && today <= lastDay);
  if (present?.name === name) return before.map((one) => (one === present ? { ...one, isLead } : one));
  const kept = own
    .filter(({ firstDay }) => firstDay < today)
    .map((one) => (one.lastDay >= today ? { ...one, lastDay: addDays(today, -1) } : one));
  const firstDay = own.length === 0 ? FIRST_DAY : today;
  const next = name === '' ? [] : [{ kind, name, firstDay, lastDay: LAST_DAY, isLead }];
  return [...others, ...kept, ...next];
}
