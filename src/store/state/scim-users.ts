import { z } from 'zod';
import { EmailText, NO_CONTROLS } from '../../input/name-text.js';
import { quote } from '../sql-text.js';
import type { Row, Store } from '../store.js';
import { whenErased } from './erased-names.js';
import { OfOrganizations } from './of-store.js';
import { OF_ONE_PERSON } from './person.js';
import { type ScimChoice, scimRows } from './scim-rows.js';

const Words = z
  .string()
  .max(200)
  .regex(...NO_CONTROLS)
  .optional();

/** What a provider says of a user beside the ids. It is kept as it came, so that the provider reads what it wrote. */
export const ScimProfile = z.object({
  displayName: Words,
  name: z.object({ formatted: Words, familyName: Words, givenName: Words }).optional(),
  emails: z
    .array(z.object({ value: EmailText.max(128), type: Words, primary: z.boolean().optional() }))
    .max(OF_ONE_PERSON)
    .optional(),
});
export type ScimProfile = Readonly<z.infer<typeof ScimProfile>>;

/** A user of SCIM. Instants are Unix milliseconds. */
export interface ScimUser {
  /** A UUID. */
  readonly scimId: string;
  /** The person. */
  readonly userId: string;
  readonly userName: string;
  /** '' if unknown. */
  readonly externalId: string;
  readonly isActive: boolean;
  readonly profile: ScimProfile;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** Why the identity provider keeps somebody out. */
export type ShutOut = 'deactivated' | 'deleted';

/** The names that the identity provider keeps out, by organization. Changes drop them. */
const inactive = new OfOrganizations<ReadonlyMap<string, ShutOut>>(['scim_users', 'deleted_scim_users']);
whenErased((store) => inactive.drop(store));

/** The attributes by which the store itself finds users. Only of user names is case ignored. */
const FOUND_BY = {
  id: 'scim_id = $value',
  userName: 'lower_case(user_name) = lower_case($value)',
  externalId: 'external_id = $value',
} as const;

/** How to find the users whose attribute has a value; undefined for an attribute by which the store can't. */
export function choiceOfUsers(attribute: string, value: string): ScimChoice | undefined {
  const name = Object.keys(FOUND_BY).find((known) => known.toLowerCase() === attribute.toLowerCase());
  return name === undefined
    ? undefined
    : { where: FOUND_BY[name as keyof typeof FOUND_BY], parameters: { value } };
}

/** The users of an organization, the oldest first. */
export async function scimUsers(store: Store, orgId: string, choice?: ScimChoice): Promise<ScimUser[]> {
  return (await scimRows(store, 'scim_users', orgId, choice)).map(userOf);
}

/** The ids of the users of an organization, by the people that they are. */
export async function scimIdsOfPeople(store: Store, orgId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await store.select('SELECT user_id, scim_id FROM scim_users WHERE org_id = $org_id', {
    org_id: orgId,
  });
  return new Map(rows.map(({ user_id, scim_id }) => [String(user_id), String(scim_id)]));
}

function userOf(row: Row): ScimUser {
  return {
    scimId: String(row.scim_id),
    userId: String(row.user_id),
    userName: String(row.user_name),
    externalId: String(row.external_id),
    isActive: row.is_active === true,
    profile: ScimProfile.parse(JSON.parse(String(row.profile))),
    createdAt: Number(row.created_at),
    modifiedAt: Number(row.modified_at),
  };
}

/** Adds a user, or replaces the one with its id. */
export async function saveScimUser(
  store: Store,
  orgId: string,
  user: ScimUser,
  { isNew }: { readonly isNew: boolean },
): Promise<void> {
  const parameters = {
    ...{ org_id: orgId, scim_id: user.scimId, user_id: user.userId, user_name: user.userName },
    ...{ external_id: user.externalId, profile: JSON.stringify(user.profile), modified_at: user.modifiedAt },
  };
  await store.run([
    isNew
      ? {
          sql: `INSERT INTO scim_users SELECT $org_id, $scim_id, $user_id, $user_name, $external_id, ${user.isActive}, $profile,
            instant($created_at), instant($modified_at)`,
          parameters: { ...parameters, created_at: user.createdAt },
        }
      : {
          sql: `UPDATE scim_users SET user_id = $user_id, user_name = $user_name, external_id = $external_id,
            is_active = ${user.isActive}, profile = $profile, modified_at = instant($modified_at)
            WHERE org_id = $org_id AND scim_id = $scim_id`,
          parameters,
        },
  ]);
  inactive.drop(store);
}

/** Removes a user from all groups, and then the user. The person stays, and is kept out under all names. */
export async function removeScimUser(
  store: Store,
  orgId: string,
  scimId: string,
  names: readonly string[],
  now: number,
): Promise<void> {
  const parameters = { org_id: orgId, scim_id: scimId };
  const rows = names.map((name) => `SELECT ${quote(orgId)}, ${quote(name)}, instant(${now})`);
  await store.run([
    { sql: 'DELETE FROM scim_members WHERE org_id = $org_id AND member_id = $scim_id', parameters },
    letInSql(orgId, names),
    { sql: `INSERT INTO deleted_scim_users ${rows.join(' UNION ALL ')}` },
    { sql: 'DELETE FROM scim_users WHERE org_id = $org_id AND scim_id = $scim_id', parameters },
  ]);
  inactive.drop(store);
}

/** Lets somebody in again whom the identity provider had deleted. */
export async function letInAgain(store: Store, orgId: string, names: readonly string[]): Promise<void> {
  await store.run([letInSql(orgId, names)]);
  inactive.drop(store);
}

function letInSql(orgId: string, names: readonly string[]) {
  return {
    sql: `DELETE FROM deleted_scim_users WHERE org_id = ${quote(orgId)} AND name IN (${names.map(quote).join(', ')})`,
  };
}

/** Why the identity provider keeps somebody out, by the user id for which the name of a credential counts; undefined if it doesn't. */
export async function shutOutOf(store: Store, orgId: string, userId: string): Promise<ShutOut | undefined> {
  const names = await inactive.get(store, orgId, async () => {
    const rows = await store.select(
      `SELECT name, max(reason) AS reason FROM (
        SELECT name, 'deleted' AS reason FROM deleted_scim_users WHERE org_id = $org_id
        UNION ALL SELECT user_id AS name, 'deactivated' AS reason FROM scim_users WHERE org_id = $org_id AND NOT is_active
        UNION ALL SELECT user_name AS name, 'deactivated' AS reason FROM scim_users WHERE org_id = $org_id AND NOT is_active
        UNION ALL SELECT external_id AS name, 'deactivated' AS reason FROM scim_users WHERE org_id = $org_id AND NOT is_active
      ) AS kept_out GROUP BY name`,
      { org_id: orgId },
    );
    return new Map(rows.map(({ name, reason }) => [String(name), String(reason) as ShutOut]));
  });
  return names.get(userId);
}
