import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { revokeKeysOf } from '../api/api-keys.js';
import { ScimError } from '../api/errors.js';
import { dayOf } from '../day.js';
import { UsageError } from '../exit.js';
import { ended, joinTeams } from '../people/group-teams.js';
import { replaceInTurn, SharedName } from '../people/people-change.js';
import { hasName, type Person, PersonEmail, PersonName, UserId } from '../store/state/person.js';
import {
  choiceOfUsers,
  letInAgain,
  removeScimUser,
  type ScimProfile,
  type ScimUser,
  saveScimUser,
  scimIdsOfPeople,
  scimUsers,
} from '../store/state/scim-users.js';
import type { Store } from '../store/store.js';
import type { UserBody } from './scim-body.js';

/** Where a change of SCIM is made, when and by whom. */
export interface ScimContext {
  readonly store: Store;
  readonly orgId: string;
  /** For the history of the people. */
  readonly author: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Ends the browser sessions of somebody, once the turn is over. */
  readonly signOut: (userId: string) => void;
}

/**
 * Makes a user what the provider says, or a new one, and the person too. Runs in a turn of people. Throws a ScimError if somebody else has one of
 * the names.
 */
export async function saveUser(
  context: ScimContext,
  before: ScimUser | undefined,
  { userName, externalId, active: isActive, ...profile }: UserBody,
): Promise<ScimUser> {
  const { store, orgId, now } = context;
  const others = await scimUsers(store, orgId, choiceOfUsers('userName', userName));
  if (others.some(({ scimId }) => scimId !== before?.scimId))
    throw new ScimError(409, 'uniqueness', `There is a user ${userName}: change that one.`);
  const person = await savePerson(context, before, { userName, externalId, active: isActive, ...profile });
  if (!isActive) await shutOut(context, person);
  const user: ScimUser = {
    ...{
      scimId: before?.scimId ?? randomUUID(),
      userId: person.userId,
      userName,
      externalId,
      isActive,
      profile,
    },
    ...{ createdAt: before?.createdAt ?? now, modifiedAt: now },
  };
  await saveScimUser(store, orgId, user, { isNew: before === undefined });
  if (before === undefined) await letInAgain(store, orgId, allNames(person));
  if (isActive && before?.isActive === false) await joinTeams(store, orgId, context.author, now);
  return user;
}

/** Removes a user. The person stays, with all numbers, and is kept out until there is such a user again. Runs in a turn of people. */
export async function removeUser(context: ScimContext, user: ScimUser): Promise<void> {
  const { userName, externalId, profile } = user;
  const person = await savePerson(context, user, { userName, externalId, active: false, ...profile });
  await shutOut(context, person);
  await removeScimUser(context.store, context.orgId, user.scimId, allNames(person), context.now);
}

/** Adds what the provider says to the person who has one of the names, or to a new one. Names that the person had stay aliases. */
async function savePerson(
  { store, orgId, author, now }: ScimContext,
  before: ScimUser | undefined,
  { userName, externalId, active: isActive, ...profile }: UserBody,
): Promise<Person> {
  const emails = emailsOf(profile);
  const names = [...(before === undefined ? [] : [before.userId]), userName, externalId, ...emails];
  const users = await scimIdsOfPeople(store, orgId);
  let saved: Person | undefined;
  const change = (people: readonly Person[]): Person[] => {
    const known = personOf(people, names);
    const user = users.get(known?.userId ?? '');
    if (user !== undefined && user !== before?.scimId)
      throw new ScimError(
        409,
        'uniqueness',
        `The person ${known?.userId} has one of these names and is the user ${user}: change that one.`,
      );
    const { userId, memberships } = known ?? { userId: userName, memberships: [] };
    const person = {
      userId,
      name: nameOf(profile) || (known?.name ?? ''),
      emails: [...emails, ...(known?.emails ?? [])],
      aliases: [...(known?.aliases ?? []), userName, ...(externalId === '' ? [] : [externalId])],
      memberships: isActive ? memberships : ended(memberships, dayOf(now)),
    };
    saved = inBounds(person);
    return [...people.filter((one) => one !== known), saved];
  };
  try {
    await replaceInTurn(store, orgId, change, { author }, now);
  } catch (error) {
    if (error instanceof SharedName)
      throw new ScimError(409, 'uniqueness', `Correct the names: ${error.message}`);
    if (error instanceof UsageError) throw new ScimError(400, 'invalidValue', error.message);
    throw error;
  }
  if (saved === undefined) throw new Error('the person is missing');
  return saved;
}

function personOf(people: readonly Person[], names: readonly string[]): Person | undefined {
  for (const name of names) {
    const found = people.find((person) => hasName(person, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

const Bounds = z.object({ name: PersonName, emails: z.array(PersonEmail), aliases: z.array(UserId) });

function inBounds(person: Person): Person {
  const { error } = Bounds.safeParse(person);
  if (error === undefined) return person;
  const [issue] = error.issues;
  throw new ScimError(
    400,
    'invalidValue',
    `The ${issue?.path.join('.')} of ${person.userId} ${issue?.message}: correct the people.`,
  );
}

/** The primary address comes first. */
function emailsOf({ emails = [] }: ScimProfile): string[] {
  return [...emails.filter(({ primary }) => primary), ...emails.filter(({ primary }) => !primary)].map(
    ({ value }) => value,
  );
}

function nameOf({
  displayName = '',
  name: { formatted = '', givenName = '', familyName = '' } = {},
}: ScimProfile): string {
  return (
    [displayName, formatted, `${givenName} ${familyName}`].map((name) => name.trim()).find(Boolean) ?? ''
  );
}

/** Ends the keys and the browser sessions of a person under all names. */
async function shutOut({ store, orgId, now, signOut }: ScimContext, person: Person): Promise<void> {
  const names = allNames(person);
  await revokeKeysOf(store, orgId, names, now);
  for (const name of names) signOut(name);
}

function allNames({ userId, emails, aliases }: Person): string[] {
  return [...new Set([userId, ...emails, ...aliases])];
}
