import { randomUUID } from 'node:crypto';
import { ScimError } from '../api/errors.js';
import { joinTeams } from '../people/group-teams.js';
import {
  changeScimMembers,
  choiceOfGroups,
  removeScimGroup,
  type ScimGroup,
  saveScimGroup,
  scimGroups,
} from '../store/state/scim-groups.js';
import { countScimRows } from '../store/state/scim-rows.js';
import { scimIdsOfPeople } from '../store/state/scim-users.js';
import type { GroupBody } from './scim-body.js';
import type { ScimContext } from './user-changes.js';

/** How many groups an organization can have. */
const GROUPS_AT_MOST = 10_000;

/**
 * Makes a group what the provider says, or a new one, with these members. They belong to the teams that the owner's table gives from then on.
 * Runs in a turn of people. Throws a ScimError for a name that another group has, and for members who aren't users.
 */
export async function saveGroup(
  context: ScimContext,
  before: { readonly group: ScimGroup; readonly members: ReadonlySet<string> } | undefined,
  { displayName, externalId }: GroupBody,
  members: ReadonlySet<string>,
): Promise<ScimGroup> {
  const { store, orgId, author, now } = context;
  const others = await scimGroups(store, orgId, choiceOfGroups('displayName', displayName));
  if (others.some(({ scimId }) => scimId !== before?.group.scimId))
    throw new ScimError(409, 'uniqueness', `There is a group ${displayName}: change that one.`);
  if (before === undefined && (await countScimRows(store, 'scim_groups', orgId)) >= GROUPS_AT_MOST)
    throw new ScimError(
      400,
      'invalidValue',
      `An organization can have ${GROUPS_AT_MOST} groups: remove some.`,
    );
  const added = [...members].filter((id) => before?.members.has(id) !== true);
  const removed = [...(before?.members ?? [])].filter((id) => !members.has(id));
  await requireUsers(context, added);
  const group: ScimGroup = {
    ...{ scimId: before?.group.scimId ?? randomUUID(), displayName, externalId },
    ...{ createdAt: before?.group.createdAt ?? now, modifiedAt: now },
  };
  await saveScimGroup(store, orgId, group, { isNew: before === undefined });
  await changeScimMembers(store, orgId, group.scimId, { added, removed });
  await joinTeams(store, orgId, author, now);
  return group;
}

/** Removes a group. Its members leave the team that it gave. Runs in a turn of people. */
export async function removeGroup({ store, orgId, author, now }: ScimContext, scimId: string): Promise<void> {
  await removeScimGroup(store, orgId, scimId);
  await joinTeams(store, orgId, author, now);
}

async function requireUsers({ store, orgId }: ScimContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const known = new Set((await scimIdsOfPeople(store, orgId)).values());
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw new ScimError(
      400,
      'invalidValue',
      `There is no user ${unknown}: create it before it becomes a member.`,
    );
}
