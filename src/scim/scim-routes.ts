import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { authorOf } from '../api/caller.js';
import { ApiError, SCIM_TYPE } from '../api/errors.js';
import { parseJsonBodies } from '../api/json-body.js';
import { baseOf } from '../api/public-url.js';
import { aboutEveryone, aboutUsers } from '../api/read-audit.js';
import type { ApiDeps } from '../api/route-family.js';
import { inPeopleTurn } from '../store/state/person.js';
import {
  choiceOfGroups,
  membersOf,
  type ScimGroup,
  type ScimMember,
  scimGroups,
} from '../store/state/scim-groups.js';
import { countScimRows, type ScimChoice } from '../store/state/scim-rows.js';
import { choiceOfUsers, type ScimUser, scimUsers } from '../store/state/scim-users.js';
import { removeGroup, saveGroup } from './group-changes.js';
import { PatchBody, patchedGroup, patchedUser } from './patch-operations.js';
import { type Attributes, groupOf, memberIdsOf, userOf } from './scim-body.js';
import { filterOf } from './scim-filter.js';
import { GroupSchema, pathsOf, type ResourceSchema, TYPES, URN, UserSchema } from './scim-schemas.js';
import { removeUser, type ScimContext, saveUser } from './user-changes.js';

/** The dependencies of the routes of SCIM. */
export interface ScimDeps extends ApiDeps {
  readonly sessions: { endAll(orgId: string, userId: string): Promise<void> };
}

/** How many resources a page has at most, and if the request doesn't say it. */
const PAGE_AT_MOST = 200;
const PAGE = 100;

const integer = z
  .string()
  .regex(/^-?\d{1,9}$/, 'must be an integer')
  .transform(Number)
  .optional();
const names = z.string().max(1000).optional();
const Query = z.looseObject({
  filter: z.string().optional(),
  startIndex: integer,
  count: integer,
  attributes: names,
  excludedAttributes: names,
});
type Query = z.infer<typeof Query>;

const Params = z.strictObject({ id: z.string() });
const Body = z.looseObject({}, 'must be an object');

const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** A kind of resources, as the routes of lists and of single ones read it. */
interface Kind {
  readonly schema: ResourceSchema;
  readonly table: 'scim_users' | 'scim_groups';
  /** How the store finds those with a value; undefined if it can't. */
  readonly choice: (attribute: string, value: string) => ScimChoice | undefined;
  /** The chosen ones as resources. */
  readonly read: (request: FastifyRequest, choice?: ScimChoice) => Promise<Attributes[]>;
}

/** SCIM 2.0 (docs/scim.md). */
export const scimRoutes: FastifyPluginAsyncZod<ScimDeps> = async (app, deps) => {
  const { store, config, clock, sessions } = deps;
  parseJsonBodies(app, undefined, ['application/scim+json']);
  app.addHook('onSend', async (_, reply) => {
    if (reply.statusCode < 300) reply.type(SCIM_TYPE);
  });

  const baseOfScim = (request: FastifyRequest) => new URL('scim/v2', baseOf(config, request)).href;
  /** Changes take turns. Throws 403 for an owner who may not see people by name, and so may not rename them. */
  const inTurn = async <T>(request: FastifyRequest, work: (context: ScimContext) => Promise<T>) => {
    if (request.protection !== undefined && request.caller.role !== 'scim')
      throw new ApiError(
        403,
        'The organization protects people, so only an auditor and the identity provider change them here: use its key, of role scim.',
      );
    const { orgId } = request.caller;
    const signedOut: string[] = [];
    const done = await inPeopleTurn(store, orgId, (turn) =>
      work({
        ...{ store: turn, orgId, author: authorOf(request.caller), now: clock() },
        signOut: (userId) => signedOut.push(userId),
      }),
    );
    for (const userId of signedOut) await sessions.endAll(orgId, userId);
    return done;
  };

  const userResource = (
    request: FastifyRequest,
    { scimId, userName, externalId, isActive, profile, ...at }: ScimUser,
  ) => ({
    schemas: [UserSchema.id],
    id: scimId,
    ...(externalId === '' ? {} : { externalId }),
    userName,
    ...profile,
    active: isActive,
    meta: metaOf(request, 'User', scimId, at),
  });
  const groupResource = (
    request: FastifyRequest,
    { scimId, displayName, externalId, ...at }: ScimGroup,
    members: readonly ScimMember[],
  ) => ({
    schemas: [GroupSchema.id],
    id: scimId,
    ...(externalId === '' ? {} : { externalId }),
    displayName,
    members: members.map((member) => ({
      value: member.scimId,
      $ref: `${baseOfScim(request)}/Users/${member.scimId}`,
      display: member.userName,
    })),
    meta: metaOf(request, 'Group', scimId, at),
  });
  const metaOf = (
    request: FastifyRequest,
    resourceType: 'User' | 'Group',
    id: string,
    { createdAt, modifiedAt }: { createdAt: number; modifiedAt: number },
  ) => ({
    resourceType,
    created: new Date(createdAt).toISOString(),
    lastModified: new Date(modifiedAt).toISOString(),
    location: `${baseOfScim(request)}/${resourceType}s/${id}`,
  });

  const users: Kind = {
    ...{ schema: UserSchema, table: 'scim_users', choice: choiceOfUsers },
    read: async (request, choice) =>
      (await scimUsers(store, request.caller.orgId, choice)).map((user) => userResource(request, user)),
  };
  const groups: Kind = {
    ...{ schema: GroupSchema, table: 'scim_groups', choice: choiceOfGroups },
    read: async (request, choice) => {
      const { orgId } = request.caller;
      const found = await scimGroups(store, orgId, choice);
      const members = await membersOf(
        store,
        orgId,
        found.map(({ scimId }) => scimId),
      );
      return found.map((group) => groupResource(request, group, members.get(group.scimId) ?? []));
    },
  };

  const list = async ({ schema, table, choice, read }: Kind, request: FastifyRequest, query: Query) => {
    const startIndex = Math.max(1, query.startIndex ?? 1);
    const count = Math.min(PAGE_AT_MOST, Math.max(0, query.count ?? PAGE));
    const part = { offset: startIndex - 1, count };
    if (query.filter === undefined) {
      const total = await countScimRows(store, table, request.caller.orgId);
      return listOf(count === 0 ? [] : await read(request, part), total, startIndex, query);
    }
    const filter = filterOf(query.filter, pathsOf(schema));
    const { attribute = '', value = '' } = filter.equality ?? {};
    const found = choice(attribute, value);
    const all = found === undefined ? filter.match(await read(request)) : await read(request, found);
    return listOf(all.slice(part.offset, part.offset + count), all.length, startIndex, query);
  };

  const userOfId = async ({ store, orgId }: Pick<ScimContext, 'store' | 'orgId'>, id: string) => {
    const [user] = await scimUsers(store, orgId, choiceOfUsers('id', id));
    if (user === undefined) throw nothing('user', id);
    return user;
  };
  const groupOfId = async ({ store, orgId }: ScimContext, id: string) => {
    const [group] = await scimGroups(store, orgId, choiceOfGroups('id', id));
    if (group === undefined) throw nothing('group', id);
    const members = (await membersOf(store, orgId, [id])).get(id) ?? [];
    return { group, members: new Set(members.map(({ scimId }) => scimId)) };
  };
  const one = async ({ choice, read, schema }: Kind, request: FastifyRequest, id: string, query: Query) => {
    const [resource] = await read(request, choice('id', id));
    if (resource === undefined) throw nothing(schema === UserSchema ? 'user' : 'group', id);
    return chosen(resource, query);
  };
  const created = (reply: FastifyReply, resource: Attributes & { meta: { location: string } }) =>
    reply.status(201).header('location', resource.meta.location).send(resource);

  const reading = {
    config: { action: 'provision people' },
    schema: { hide: true, querystring: Query },
  } as const;
  const ofOne = { ...reading, schema: { ...reading.schema, params: Params } } as const;
  /** Owners keep the list of people, which SCIM only has in another form. */
  const aboutPeople = { ...reading.config, about: aboutEveryone, isProtected: true } as const;
  const readingPeople = { ...reading, config: aboutPeople } as const;
  const ofOnePerson = { ...ofOne, config: aboutPeople } as const;
  const consumes = ['application/scim+json', 'application/json'];
  const adding = { ...reading, schema: { ...reading.schema, consumes, body: Body } } as const;
  const replacing = { ...ofOne, schema: { ...ofOne.schema, consumes, body: Body } } as const;
  const patching = { ...ofOne, schema: { ...ofOne.schema, consumes, body: PatchBody } } as const;

  app.get('/ServiceProviderConfig', reading, async (request) => providerConfig(baseOfScim(request)));
  app.get('/ResourceTypes', reading, async (request, reply) => {
    const types = TYPES.map((type) => typeResource(type, baseOfScim(request)));
    return reply.send(listOf(types, types.length, 1));
  });
  app.get('/ResourceTypes/:id', ofOne, async (request) => {
    const type = TYPES.find(({ id }) => id === request.params.id);
    if (type === undefined) throw nothing('resource type', request.params.id);
    return typeResource(type, baseOfScim(request));
  });
  app.get('/Schemas', reading, async (request) => {
    const all = TYPES.map(({ schema }) => schema.definition.describe(`${baseOfScim(request)}/Schemas`));
    return listOf(all, all.length, 1);
  });
  app.get('/Schemas/:id', ofOne, async (request) => {
    const type = TYPES.find(({ schema }) => schema.id === request.params.id);
    if (type === undefined) throw nothing('schema', request.params.id);
    return type.schema.definition.describe(`${baseOfScim(request)}/Schemas`);
  });

  app.get('/Users', readingPeople, (request) => list(users, request, request.query));
  app.post('/Users', adding, async (request, reply) => {
    const user = userOf(request.body);
    const saved = await inTurn(request, (context) => saveUser(context, undefined, user));
    return created(reply, userResource(request, saved));
  });
  app.get('/Users/:id', ofOnePerson, async (request) => {
    const { userId } = await userOfId({ store, orgId: request.caller.orgId }, request.params.id);
    request.about = aboutUsers([userId], 'everyone');
    return one(users, request, request.params.id, request.query);
  });
  app.put('/Users/:id', replacing, async (request) => {
    const user = userOf(request.body);
    const saved = await inTurn(request, async (context) =>
      saveUser(context, await userOfId(context, request.params.id), user),
    );
    return userResource(request, saved);
  });
  app.patch('/Users/:id', patching, async (request) => {
    const saved = await inTurn(request, async (context) => {
      const before = await userOfId(context, request.params.id);
      const { id: _, meta: __, ...attributes } = userResource(request, before);
      return saveUser(context, before, userOf(await patchedUser(attributes, request.body)));
    });
    return userResource(request, saved);
  });
  app.delete('/Users/:id', ofOne, async (request, reply) => {
    await inTurn(request, async (context) => removeUser(context, await userOfId(context, request.params.id)));
    return reply.status(204).send();
  });

  app.get('/Groups', readingPeople, (request) => list(groups, request, request.query));
  app.post('/Groups', adding, async (request, reply) => {
    const group = groupOf(request.body);
    const members = new Set(memberIdsOf(request.body.members));
    const saved = await inTurn(request, (context) => saveGroup(context, undefined, group, members));
    const [resource] = await groups.read(request, choiceOfGroups('id', saved.scimId));
    return created(reply, resource as ReturnType<typeof groupResource>);
  });
  app.get('/Groups/:id', ofOnePerson, (request) => one(groups, request, request.params.id, request.query));
  app.put('/Groups/:id', replacing, async (request) => {
    const { id } = request.params;
    const group = groupOf(request.body);
    const members = new Set(memberIdsOf(request.body.members));
    await inTurn(request, async (context) =>
      saveGroup(context, await groupOfId(context, id), group, members),
    );
    return one(groups, request, id, request.query);
  });
  app.patch('/Groups/:id', patching, async (request, reply) => {
    await inTurn(request, async (context) => {
      const before = await groupOfId(context, request.params.id);
      const { displayName, externalId } = before.group;
      const after = await patchedGroup(
        { displayName, ...(externalId === '' ? {} : { externalId }) },
        before.members,
        request.body,
      );
      return saveGroup(context, before, groupOf(after.attributes), after.members);
    });
    // A group can have thousands of members, and both Okta and Entra accept an answer without it.
    return reply.status(204).send();
  });
  app.delete('/Groups/:id', ofOne, async (request, reply) => {
    await inTurn(request, async (context) => {
      const { group } = await groupOfId(context, request.params.id);
      await removeGroup(context, group.scimId);
    });
    return reply.status(204).send();
  });
};

function listOf(resources: readonly object[], totalResults: number, startIndex: number, query: Query = {}) {
  return {
    schemas: [LIST],
    ...{ totalResults, startIndex, itemsPerPage: resources.length },
    Resources: resources.map((resource) => chosen(resource as Attributes, query)),
  };
}

/** A resource with the attributes that a request asks for. */
function chosen(resource: Attributes, { attributes, excludedAttributes }: Query): Attributes {
  const wanted = namesIn(attributes);
  const unwanted = namesIn(excludedAttributes);
  const isShown = (name: string) =>
    ['schemas', 'id'].includes(name) ||
    (wanted.size > 0 ? wanted.has(name.toLowerCase()) : !unwanted.has(name.toLowerCase()));
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isShown(name)));
}

/** The attributes in a list; of a part, such as `name.givenName`, the whole. */
function namesIn(list = ''): ReadonlySet<string> {
  const own = list.replaceAll(`${URN}:User:`, '').replaceAll(`${URN}:Group:`, '').toLowerCase();
  return new Set(own.split(',').flatMap((name) => /^\s*(\w+)/.exec(name)?.[1] ?? []));
}

function typeResource({ id, endpoint, schema }: (typeof TYPES)[number], base: string) {
  return {
    schemas: [`${URN}:ResourceType`],
    ...{ id, name: id, endpoint, description: schema.definition.description, schema: schema.id },
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${id}` },
  };
}

function providerConfig(base: string) {
  const not = { supported: false };
  return {
    schemas: [`${URN}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { ...not, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: PAGE_AT_MOST },
    ...{ changePassword: not, sort: not, etag: not },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'API key',
        description: 'an API key of role scim as the bearer token',
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

function nothing(what: string, id: string): ApiError {
  return new ApiError(
    404,
    `There is no ${what} ${id.slice(0, 100)} in this organization: list them to find it.`,
  );
}
