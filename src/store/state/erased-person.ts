import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { UsageError } from '../../exit.js';
import { quote } from '../sql-text.js';
import type { Store } from '../store.js';
import { hasName, peopleOf, usersOf } from './person.js';

/** Names that are shorter are looked for only where a whole value is a name. */
const SHORTEST = 3;

/** Names of so many characters, and addresses, are looked for as words of free texts too. */
const DISTINCT = 6;

/** A person with all names, and what takes their place. */
export const ErasedPerson = z.object({
  orgId: z.string(),
  /** Each name under which events, keys and people who sign in can come, with its pseudonym: the user id is the first. */
  names: z.array(z.object({ name: z.string(), pseudonym: z.string() })).min(1),
  /** The texts that say who it is, as far as they are looked for within other texts: the longest first. */
  words: z.array(z.string()),
});
export type ErasedPerson = z.infer<typeof ErasedPerson>;

/** The user id that takes the person's place. */
export function pseudonymOf({ names: [first] }: ErasedPerson): string {
  return first?.pseudonym ?? '';
}

/** The names of a person, each once. */
export function namesOfErased({ names }: ErasedPerson): string[] {
  return names.map(({ name }) => name);
}

/**
 * Finds everything that names a person of an organization: the user id, addresses, aliases, and what identity providers, keys and events say of
 * them. Addresses that other users have too aren't the person's. Answers undefined for somebody who left no trace.
 */
export async function findPerson(
  store: Store,
  orgId: string,
  named: string,
): Promise<ErasedPerson | undefined> {
  const org = { org_id: orgId };
  const { people } = await peopleOf(store, orgId);
  const person = people.find((one) => hasName(one, named));
  const userId = person?.userId ?? (await userWithAddress(store, orgId, named)) ?? named;
  const known = new Set([userId, ...(person?.aliases ?? []), ...(person?.emails ?? [])]);
  const texts = async (sql: string, of: ReadonlySet<string> = known) =>
    (await store.select(sql, { ...org, names: [...of] })).flatMap((row) => Object.values(row).map(String));
  // Days that were built before an alias was taken back still count it for the person.
  for (const name of await texts(
    'SELECT DISTINCT named_user_id FROM user_aliases WHERE org_id = $org_id AND user_id IN $names',
  ))
    known.add(name);
  const profiles = await store.select(
    'SELECT user_name, external_id, profile FROM scim_users WHERE org_id = $org_id AND user_id IN $names',
    { ...org, names: [...known] },
  );
  const said: string[] = [person?.name ?? ''];
  for (const { user_name, external_id, profile } of profiles) {
    for (const name of [user_name, external_id]) if (name !== '') known.add(String(name));
    said.push(...textsIn(JSON.parse(String(profile))));
  }
  const emails = [
    ...(await texts(
      `SELECT user_email FROM (
        SELECT user_email FROM events WHERE org_id = $org_id AND user_id IN $names
        UNION SELECT user_email FROM user_emails WHERE org_id = $org_id AND user_id IN $names
      ) AS said WHERE user_email IS NOT NULL AND user_email <> ''`,
    )),
    ...(await texts(
      `SELECT DISTINCT user_email FROM keys
      WHERE org_id = $org_id AND user_id IN $names AND user_email IS NOT NULL AND user_email <> ''`,
    )),
  ];
  const unknown = [...new Set(emails)]
    .sort()
    .concat(said.filter((text) => text.includes('@')))
    .filter((email) => !known.has(email));
  if (unknown.length > 0) {
    const own = [...known].map(quote).join(', ');
    const shared = new Set(
      (
        await store.select(
          `SELECT user_email FROM (
            SELECT user_email FROM events WHERE org_id = $org_id AND user_email IN $emails AND user_id NOT IN (${own})
            UNION SELECT user_email FROM user_emails WHERE org_id = $org_id AND user_email IN $emails AND user_id NOT IN (${own})
            UNION SELECT alias AS user_email FROM aliases WHERE org_id = $org_id AND alias IN $emails AND user_id NOT IN (${own})
          ) AS shared`,
          { ...org, emails: unknown },
        )
      ).map(({ user_email }) => String(user_email)),
    );
    for (const email of unknown) if (!shared.has(email)) known.add(email);
  }
  if (!(await hasTrace(store, orgId, [...known]))) return undefined;
  const pseudonym = `erased-${randomBytes(4).toString('hex')}`;
  const names = [...known].map((name, place) => ({
    name,
    pseudonym: place === 0 ? pseudonym : `${pseudonym}-${place + 1}`,
  }));
  // A first name alone says too little.
  return { orgId, names, words: wordsOf([...known, ...said.filter((text) => /[@\s]/.test(text))]) };
}

/** The columns in which a person can stand by name: of state, and of data. */
const TRACES = [
  [
    ...[['people', 'user_id'] as const, ['keys', 'user_id'] as const, ['vendor_roster', 'user_id'] as const],
    ...[['deleted_scim_users', 'name'] as const, ['access_log', 'user_id'] as const],
  ],
  [
    ...[['events', 'user_id'] as const, ['events', 'user_email'] as const],
    ...[['coverage', 'user_id'] as const, ['user_emails', 'user_id'] as const],
    ['ingested_files', 'user_id'] as const,
  ],
];

async function hasTrace(store: Store, orgId: string, names: readonly string[]): Promise<boolean> {
  for (const columns of TRACES) {
    const counts = columns.map(
      ([table, column]) => `(SELECT count(*) FROM ${table} WHERE org_id = $org_id AND ${column} IN $names)`,
    );
    const [trace] = await store.select(`SELECT ${counts.join(' + ')} AS found`, { org_id: orgId, names });
    if (Number(trace?.found) > 0) return true;
  }
  return false;
}

/** The user of an address that is nobody's user id or alias. Throws a UsageError if several users have it. */
async function userWithAddress(store: Store, orgId: string, address: string): Promise<string | undefined> {
  const parameters = { org_id: orgId, address };
  const rows = [
    ...(await store.select(
      `SELECT DISTINCT user_id FROM (
        SELECT user_id FROM events WHERE org_id = $org_id AND (user_email = $address OR user_id = $address)
        UNION ALL SELECT user_id FROM user_emails WHERE org_id = $org_id AND user_email = $address
      ) AS said WHERE user_id IS NOT NULL AND user_id <> 'unknown'`,
      parameters,
    )),
    ...(await store.select(
      `SELECT DISTINCT user_id FROM keys
      WHERE org_id = $org_id AND (user_email = $address OR user_id = $address) AND user_id IS NOT NULL AND user_id <> 'unknown'`,
      parameters,
    )),
  ];
  const users = await usersOf(
    store,
    orgId,
    rows.map(({ user_id }) => String(user_id)),
  );
  if (users.length < 2 || users.includes(address)) return users.includes(address) ? address : users[0];
  throw new UsageError(
    `${users.length} users of ${orgId} have this address: ${users.join(', ')}. Erase each of them by the user id.`,
  );
}

/** All texts in a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function wordsOf(texts: readonly string[]): string[] {
  const words = texts.flatMap((text) =>
    text.includes('@') ? [text, text.slice(0, text.indexOf('@'))] : [text],
  );
  const wanted = words.filter((word) => word.length >= SHORTEST);
  return [...new Set(wanted.map((word) => word.toLowerCase()))].sort(
    (one, other) => other.length - one.length || (one < other ? -1 : 1),
  );
}

/** A text as a pattern that it alone matches, for both engines (RE2). */
const literal = (text: string) => text.replace(/[!-/:-@[-`{-~]/g, '\\$&');

/** The pattern of one of a person's words. */
export function wordPattern(word: string): string {
  return `(?i)${literal(word)}`;
}

/** The patterns by which a person is found within texts. None of them matches if there are no words. */
export function patternsOf({ words }: Pick<ErasedPerson, 'words'>) {
  const one = (some: readonly string[]) => (some.length === 0 ? '[^\\s\\S]' : some.map(literal).join('|'));
  const all = one(words);
  const distinct = one(words.filter((word) => word.length >= DISTINCT || word.includes('@')));
  return {
    /** A name anywhere: for texts of the person's own. */
    within: `(?i)(${all})`,
    /** A name that is a whole part of a path or an address: for texts of others. */
    component: `(?i)(^|[/\\\\:@"])(${all})($|[/\\\\:@"])`,
    /** A long name or an address as a word: for texts of others. */
    word: `(?i)(^|[^\\pL\\pN])(${distinct})($|[^\\pL\\pN])`,
    /** The owner of a repository, by its key. */
    owner: `(?i)(^|/)(${all})/`,
    /** The home folder of the person. */
    home: `(?i)([/\\\\](?:home|users)[/\\\\])(${all})($|[/\\\\\\s"'])`,
  };
}
