import { quote } from '../sql-text.js';
import type { Row, Store } from '../store.js';
import { inParts } from './person.js';
import { type ScimChoice, scimRows } from './scim-rows.js';

/** A group of SCIM. Instants are Unix milliseconds. */
export interface ScimGroup {
  /** A UUID. */
  readonly scimId: string;
  readonly displayName: string;
  /** '' if unknown. */
  readonly externalId: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** A member of a group, who is a user. */
export interface ScimMember {
  readonly scimId: string;
  readonly userName: string;
}

/** The attributes by which the store itself finds groups. Only of names is case ignored. */
const FOUND_BY = {
  id: 'scim_id = $value',
  displayName: 'lower_case(display_name) = lower_case($value)',
  externalId: 'external_id = $value',
} as const;

/** How to find the groups whose attribute has a value; undefined for an attribute by which the store can't. */
export function choiceOfGroups(attribute: string, value: string): ScimChoice | undefined {
  const name = Object.keys(FOUND_BY).find((known) => known.toLowerCase() === attribute.toLowerCase());
  return name === undefined
    ? undefined
    : { where: FOUND_BY[name as keyof typeof FOUND_BY], parameters: { value } };
}

/** The groups of an organization, the oldest first. */
export async function scimGroups(store: Store, orgId: string, choice?: ScimChoice): Promise<ScimGroup[]> {
  return (await scimRows(store, 'scim_groups', orgId, choice)).map(groupOf);
}

function groupOf(row: Row): ScimGroup {
  return {
    scimId: String(row.scim_id),
    displayName: String(row.display_name),
    externalId: String(row.external_id),
    createdAt: Number(row.created_at),
    modifiedAt: Number(row.modified_at),
  };
}

/** The members of some groups by the ids of these, in the order of their user names. */
export async function membersOf(
  store: Store,
  orgId: string,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, ScimMember[]>> {
  const found = new Map<string, ScimMember[]>(groupIds.map((groupId) => [groupId, []]));
  if (groupIds.length === 0) return found;
  const rows = await store.select(
    `SELECT DISTINCT m.group_id AS group_id, u.scim_id AS scim_id, u.user_name AS user_name
    FROM scim_members AS m JOIN scim_users AS u ON u.org_id = m.org_id AND u.scim_id = m.member_id
    WHERE m.org_id = $org_id AND m.group_id IN $group_ids ORDER BY user_name, scim_id`,
    { org_id: orgId, group_ids: groupIds },
  );
  for (const { group_id, scim_id, user_name } of rows)
    found.get(String(group_id))?.push({ scimId: String(scim_id), userName: String(user_name) });
  return found;
}

/** The names of the groups of each active user, by person; of users without a group as well. */
export async function groupNamesOfPeople(
  store: Store,
  orgId: string,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await store.select(
    `SELECT u.user_id AS user_id, g.display_name AS display_name
    FROM scim_users AS u
    LEFT JOIN scim_members AS m ON m.org_id = u.org_id AND m.member_id = u.scim_id
    LEFT JOIN scim_groups AS g ON g.org_id = m.org_id AND g.scim_id = m.group_id
    WHERE u.org_id = $org_id AND u.is_active`,
    { org_id: orgId },
  );
  const found = new Map<string, Set<string>>();
  for (const { user_id, display_name } of rows) {
    const names = found.get(String(user_id)) ?? new Set<string>();
    found.set(String(user_id), display_name === null ? names : names.add(String(display_name)));
  }
  return found;
}

/** Adds a group, or replaces the one with its id. */
export async function saveScimGroup(
  store: Store,
  orgId: string,
  group: ScimGroup,
  { isNew }: { readonly isNew: boolean },
): Promise<void> {
  const parameters = {
    ...{ org_id: orgId, scim_id: group.scimId, display_name: group.displayName },
    ...{ external_id: group.externalId, modified_at: group.modifiedAt },
  };
  await store.run([
    isNew
      ? {
          sql: `INSERT INTO scim_groups SELECT $org_id, $scim_id, $display_name, $external_id, instant($created_at),
            instant($modified_at)`,
          parameters: { ...parameters, created_at: group.createdAt },
        }
      : {
          sql: `UPDATE scim_groups SET display_name = $display_name, external_id = $external_id,
            modified_at = instant($modified_at) WHERE org_id = $org_id AND scim_id = $scim_id`,
          parameters,
        },
  ]);
}

/** Adds users who aren't members to a group, and removes members. */
export async function changeScimMembers(
  store: Store,
  orgId: string,
  groupId: string,
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
): Promise<void> {
  const rows = added.map((id) => `(${[orgId, groupId, id].map(quote).join(', ')})`);
  const statements = [
    ...inParts(rows).map((some) => ({ sql: `INSERT INTO scim_members VALUES ${some.join(', ')}` })),
    ...inParts(removed).map((some) => ({
      sql: `DELETE FROM scim_members
        WHERE org_id = ${quote(orgId)} AND group_id = ${quote(groupId)} AND member_id IN (${some.map(quote).join(', ')})`,
    })),
  ];
  if (statements.length > 0) await store.run(statements);
}

/** Removes the members of a group, and then the group. */
export async function removeScimGroup(store: Store, orgId: string, scimId: string): Promise<void> {
  const parameters = { org_id: orgId, scim_id: scimId };
  await store.run([
    { sql: 'DELETE FROM scim_members WHERE org_id = $org_id AND group_id = $scim_id', parameters },
    { sql: 'DELETE FROM scim_groups WHERE org_id = $org_id AND scim_id = $scim_id', parameters },
  ]);
}
