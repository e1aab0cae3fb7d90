import { z } from 'zod';
import type { Day } from '../../day.js';
import { grouped } from '../../input/grouped.js';
import type { Kind } from '../../input/kinds.js';
import { EmailText, nameText } from '../../input/name-text.js';
import { quote, readSql } from '../sql-text.js';
import type { Row, Store } from '../store.js';
import { whenErased } from './erased-names.js';
import { inTurn, OfOrganizations } from './of-store.js';

/** The days of a membership that always was, and of one of which no end is known. */
export const FIRST_DAY = '1970-01-01' as Day;
export const LAST_DAY = '2100-01-01' as Day;

/** Answers give names in brackets to groups that are none, such as "(none)". */
export const GroupName = nameText(128).refine(
  (name) => !name.startsWith('('),
  'must not begin with a bracket',
);

/** What a person belongs to from one day to another. */
export interface Membership {
  readonly kind: Kind;
  readonly name: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly isLead: boolean;
}

/** How many names, and how many memberships, a person can have. */
export const OF_ONE_PERSON = 100;

/** Events that name nobody have the user id `unknown`, which is nobody's name. */
export const UserId = nameText(128).refine((name) => name !== 'unknown', 'must not be unknown');

/** The name of a person; '' if unknown. */
export const PersonName = z.union([z.literal(''), nameText(200)]);

/** An address of a person, which is an alias too. */
export const PersonEmail = EmailText.max(128);

/** A person, with all names under which events can come. */
export interface Person {
  readonly userId: string;
  /** '' if unknown. */
  readonly name: string;
  /** The first one is shown. */
  readonly emails: readonly string[];
  readonly aliases: readonly string[];
  readonly memberships: readonly Membership[];
}

/** Whether a name is one of a person's: the user id, an address or an alias. */
export function hasName({ userId, emails, aliases }: Person, name: string): boolean {
  return userId === name || emails.includes(name) || aliases.includes(name);
}

/** The people of an organization after one change of them; revision 0 before the first. */
export interface People {
  readonly revision: number;
  /** By their user ids. */
  readonly people: readonly Person[];
}

/** How many rows one statement writes. */
const TOGETHER = 500;

/** The aliases of an organization in memory. */
interface Aliases {
  /** The person of each alias. */
  readonly users: ReadonlyMap<string, string>;
  /** The rows of each person. */
  readonly ofUser: ReadonlyMap<string, readonly Row[]>;
}

/** The aliases of each store's organizations. Changes drop them. */
const known = new OfOrganizations<Aliases>(['aliases']);
whenErased((store) => known.drop(store));

/** The turn in which the people of an organization change, and what an identity provider says of them. */
export function peopleTurn(orgId: string): string {
  return `people ${orgId}`;
}

/** Runs work that reads the people of an organization and changes them. */
export async function inPeopleTurn<T>(
  store: Store,
  orgId: string,
  work: (turn: Store) => Promise<T>,
): Promise<T> {
  const done = await inTurn(store, peopleTurn(orgId), work);
  await noteRenamedDays(store, orgId);
  return done;
}

/** The people of an organization. */
export async function peopleOf(store: Store, orgId: string): Promise<People> {
  return store.snapshot(async (select) => {
    const org = { org_id: orgId };
    const people = await select(
      'SELECT user_id, name, email FROM people WHERE org_id = $org_id ORDER BY user_id',
      org,
    );
    const aliases = rowsByUser(
      await select('SELECT user_id, alias, is_email FROM aliases WHERE org_id = $org_id ORDER BY alias', org),
    );
    const memberships = rowsByUser(
      await select(
        `SELECT user_id, kind, name, first_day, last_day, is_lead FROM memberships
        WHERE org_id = $org_id ORDER BY kind DESC, first_day`,
        org,
      ),
    );
    return {
      revision: await peopleRevision(select, orgId),
      people: people.map(({ user_id, name, email }) => {
        const names = aliases.get(String(user_id)) ?? [];
        const emails = names.filter(({ is_email }) => is_email === true).map(({ alias }) => String(alias));
        // An address can be the user id itself, which is no alias.
        const first = email === '' ? [] : [String(email)];
        return {
          userId: String(user_id),
          name: String(name),
          emails: [...first, ...emails.filter((other) => other !== email)],
          aliases: names.filter(({ is_email }) => is_email !== true).map(({ alias }) => String(alias)),
          memberships: (memberships.get(String(user_id)) ?? []).map((row) => ({
            kind: row.kind as Kind,
            name: String(row.name),
            firstDay: row.first_day as Day,
            lastDay: row.last_day as Day,
            isLead: row.is_lead === true,
          })),
        };
      }),
    };
  });
}

/** The number of the newest change of an organization's people; 0 before the first. */
export async function peopleRevision(select: Store['select'], orgId: string): Promise<number> {
  const [newest] = await select(
    'SELECT coalesce(max(revision), 0) AS revision FROM people_revisions WHERE org_id = $org_id',
    { org_id: orgId },
  );
  return Number(newest?.revision);
}

function rowsByUser(rows: readonly Row[]): ReadonlyMap<string, Row[]> {
  return grouped(rows, ({ user_id }) => String(user_id));
}

/** A change of an organization's people: whom it removes, and whom it adds or replaces. */
export interface PeopleChange {
  readonly orgId: string;
  /** The newest revision, after which this one comes. */
  readonly revision: number;
  readonly author: string;
  /** User ids. */
  readonly removed: readonly string[];
  readonly saved: readonly Person[];
}

/** Makes a change, in a turn of people: all of it or nothing, where the engine has transactions. */
export async function changePeople(store: Store, change: PeopleChange, now: number): Promise<void> {
  const { orgId, author, removed, saved } = change;
  const touched = [...removed, ...saved.map(({ userId }) => userId)];
  const made = { org_id: orgId, revision: change.revision + 1 };
  const statements = ['people', 'aliases', 'memberships'].flatMap((table) =>
    inParts(touched).map(
      (some) =>
        `DELETE FROM ${table} WHERE org_id = ${quote(orgId)} AND user_id IN (${some.map(quote).join(', ')})`,
    ),
  );
  const insert = (table: string, rows: readonly string[]) =>
    statements.push(...inParts(rows).map((some) => `INSERT INTO ${table} VALUES ${some.join(', ')}`));
  const row = (...values: string[]) => `(${[quote(orgId), ...values].join(', ')})`;
  insert(
    'people',
    saved.map(({ userId, name, emails }) => row(quote(userId), quote(name), quote(emails[0] ?? ''))),
  );
  insert(
    'aliases',
    saved.flatMap(({ userId, emails, aliases }) => [
      ...emails.filter((email) => email !== userId).map((email) => row(quote(email), quote(userId), 'true')),
      ...aliases.map((alias) => row(quote(alias), quote(userId), 'false')),
    ]),
  );
  insert(
    'memberships',
    saved.flatMap(({ userId, memberships }) =>
      memberships.map(({ kind, name, firstDay, lastDay, isLead }) =>
        row(quote(userId), quote(kind), quote(name), quote(firstDay), quote(lastDay), String(isLead)),
      ),
    ),
  );
  await store.run([
    // First, for an engine without transactions: see noteRenamedDays.
    {
      sql: `INSERT INTO renamed_days SELECT $org_id, CAST('${FIRST_DAY}' AS DATE), CAST($revision AS BIGINT)`,
      parameters: made,
    },
    ...statements.map((sql) => ({ sql })),
    {
      sql: `INSERT INTO people_revisions
        SELECT $org_id, CAST($revision AS BIGINT), $author, instant($now), CAST($people AS BIGINT)`,
      parameters: { ...made, author, now, people: touched.length },
    },
  ]);
  known.drop(store);
}

/** The newest change of each organization whose renamed days weren't noted yet: it has a row of a day on which nothing can be. */
async function unnoted(select: Store['select'], orgId?: string): Promise<Map<string, number>> {
  const rows = await select(
    `SELECT org_id, max(revision) AS revision FROM renamed_days
    WHERE day = CAST('${FIRST_DAY}' AS DATE) AND org_id = coalesce($org_id, org_id) GROUP BY org_id`,
    { org_id: orgId ?? null },
  );
  return new Map(rows.map(({ org_id, revision }) => [String(org_id), Number(revision)]));
}

/**
 * Notes the built days that count for other users since people have changed, of one organization or of all: they are stale from then on. That
 * comes after the change, by which no build counts any more that read the people of before. Whoever is interrupted leaves it to the next one.
 * Answers how many days they are.
 */
export async function noteRenamedDays(store: Store, only?: string): Promise<number> {
  let days = 0;
  for (const [orgId, revision] of await unnoted(store.select.bind(store), only)) {
    const rows = await store.select(readSql('state/renamed_days.sql'), { org_id: orgId });
    days += rows.length;
    const renamed = rows.map(({ day }) => `(${quote(orgId)}, ${quote(String(day))}, ${revision})`);
    await inTurn(store, peopleTurn(orgId), async (turn) => {
      // Another one may have done it meanwhile.
      if ((await unnoted(turn.select.bind(turn), orgId)).get(orgId) !== revision) return;
      await turn.run([
        ...inParts(renamed).map((some) => ({ sql: `INSERT INTO renamed_days VALUES ${some.join(', ')}` })),
        {
          sql: `DELETE FROM renamed_days WHERE org_id = $org_id AND day = CAST('${FIRST_DAY}' AS DATE) AND revision <= CAST($revision AS BIGINT)`,
          parameters: { org_id: orgId, revision },
        },
      ]);
    });
  }
  return days;
}

/** A list in parts that one statement can write. */
export function inParts<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / TOGETHER) }, (_, part) =>
    list.slice(part * TOGETHER, (part + 1) * TOGETHER),
  );
}

/** The aliases of an organization. They are kept in memory. */
function aliasesOf(store: Store, orgId: string): Promise<Aliases> {
  return known.get(store, orgId, async () => {
    const rows = await store.select(
      'SELECT alias, user_id FROM aliases WHERE org_id = $org_id ORDER BY alias',
      { org_id: orgId },
    );
    return {
      users: new Map(rows.map(({ alias, user_id }) => [String(alias), String(user_id)])),
      ofUser: rowsByUser(rows),
    };
  });
}

/** The user for whom a name counts: the person if it is an alias, else itself. */
export async function userOf(store: Store, orgId: string, name: string): Promise<string> {
  return (await aliasesOf(store, orgId)).users.get(name) ?? name;
}

/** The users for whom names count, each once and in order. */
export async function usersOf(store: Store, orgId: string, names: readonly string[]): Promise<string[]> {
  return [...new Set(await Promise.all(names.map((name) => userOf(store, orgId, name))))].sort();
}

/** All names that count for a user: the user id and the aliases. */
export async function namesOf(store: Store, orgId: string, userId: string): Promise<string[]> {
  const rows = (await aliasesOf(store, orgId)).ofUser.get(userId) ?? [];
  return [userId, ...rows.map(({ alias }) => String(alias))];
}

/** A name that may be another name of a user. */
export interface ProposedAlias {
  readonly user_id: string;
  readonly alias: string;
  /** `spelling` if only upper case and white space tell them apart, `address` if both have one address. */
  readonly reason: string;
}

/** The first 1,000 names of an organization that may be other names of its users. */
export async function proposedAliases(store: Store, orgId: string): Promise<ProposedAlias[]> {
  const rows = await store.select(readSql('state/same_people.sql'), { org_id: orgId });
  return rows.map(({ user_id, alias, reason }) => ({
    user_id: String(user_id),
    alias: String(alias),
    reason: String(reason),
  }));
}
