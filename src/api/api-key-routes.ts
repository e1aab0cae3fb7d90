import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { userOf } from '../store/state/person.js';
import type { Store } from '../store/store.js';
import {
  countValidKeys,
  createKey,
  findKey,
  Key,
  KeyEmail,
  KeyEnd,
  KeyName,
  KeyUser,
  newestKeys,
  revokeKey,
} from './api-keys.js';
import type { Caller } from './caller.js';
import { ApiError } from './errors.js';
import { DEFAULT_LIMIT, limitOf } from './page-limit.js';
import { aboutEveryone, aboutUsers } from './read-audit.js';
import type { ApiDeps } from './route-family.js';

/** All keys are in memory, so each organization has its share of it. */
export const MOST_KEYS = 20_000;

const EXAMPLE_ID = 'key_01JWN2ZK4Q8V7T5R3P1M9X6C0B';
const KeyId = z.string().meta({ description: 'id of the key', examples: [EXAMPLE_ID] });

const KeyRow = Key.omit({ org_id: true })
  .extend({
    is_current: z
      .boolean()
      .meta({ description: 'whether it is the credential of this request', examples: [false] }),
  })
  .meta({ id: 'ApiKey', description: 'an API key; the key itself is not stored' });

const CreatedKey = KeyRow.extend({
  key: z.string().meta({ description: 'the key itself; shown only once', examples: ['dbk_k3J9'] }),
}).meta({ id: 'CreatedApiKey' });

const NewKey = z
  .strictObject({
    role: Key.shape.role,
    name: KeyName.meta({ description: 'what the key is for', examples: ['dashboard'] }).optional(),
    user_id: KeyUser.meta({
      description: 'the user or service that it belongs to; a member sees only the numbers of this user',
      examples: ['ada'],
    }).optional(),
    user_email: KeyEmail.meta({
      description: "the user's address",
      examples: ['ada@acme.example'],
    }).optional(),
    expires_at: KeyEnd.meta({
      description: 'when it ends, in Unix milliseconds',
      examples: [1_830_297_600_000],
    }).optional(),
  })
  .meta({ id: 'NewApiKey' });

const noKey = (id: string) =>
  `There is no API key ${id.slice(0, 100)} in this organization: GET /api/v1/api-keys lists them.`;
const TOO_MANY = `The organization has ${MOST_KEYS} valid API keys: revoke those that are not used.`;

/** A key as its organization sees it. */
function rowOf({ org_id: _, ...key }: Key, { credential }: Caller): z.infer<typeof KeyRow> {
  return { ...key, is_current: key.fingerprint === credential };
}

/** A key as a request may see it: without what tells of another person, if it may not see people by name. */
function shownTo({ caller, protection }: FastifyRequest, key: Key): Key {
  if (protection === undefined || key.user_id === caller.userId) return key;
  const created_by = key.created_by && protection.nameOf(key.created_by);
  if (key.user_id === null) return { ...key, created_by };
  const user_id = protection.nameOf(key.user_id);
  return { ...key, user_id, created_by, name: null, user_email: null, last_used_on: null };
}

/** Throws 403 for a key by which somebody who may not see people by name would see another person's numbers, or could rename people. */
async function requireOwnKey(
  { caller, protection }: FastifyRequest,
  { role, user_id: userId }: z.infer<typeof NewKey>,
  store: Store,
): Promise<void> {
  if (protection === undefined) return;
  const isOwn = userId === undefined || (await userOf(store, caller.orgId, userId)) === caller.userId;
  if (isOwn && role !== 'scim') return;
  throw new ApiError(
    403,
    'The organization protects people, so only an auditor or "daybook keys create" on the service\'s machine can make a key of another user or of role scim: leave out user_id, or set it to your own.',
  );
}

/** The API keys of the caller's organization (docs/api.md, "API keys and sessions"). */
export const apiKeyRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  const config = { action: 'manage API keys' } as const;
  const byId = {
    config: { ...config, errors: { 404: noKey(EXAMPLE_ID) } },
    params: z.strictObject({ key_id: KeyId }),
  };

  app.get(
    '',
    {
      config: {
        ...config,
        about: aboutEveryone,
        isProtected: true,
        errors: { 400: 'The parameter limit must be an integer from 1 to 100.' },
      },
      schema: {
        tags: ['keys'],
        operationId: 'listApiKeys',
        summary: 'The API keys of the organization, newest first',
        description: 'Revoked and expired keys are listed too.',
        querystring: z.strictObject({
          limit: limitOf('keys per page'),
          cursor: KeyId.min(1)
            .max(100)
            .meta({ description: 'meta.next_cursor of the previous page' })
            .optional(),
        }),
        response: {
          200: z.object({
            data: z.array(KeyRow),
            meta: z.object({
              has_more: z.boolean().meta({ description: 'whether there are more keys', examples: [true] }),
              next_cursor: z
                .string()
                .nullable()
                .meta({ description: 'what to send as cursor for the next page', examples: [EXAMPLE_ID] }),
            }),
          }),
        },
      },
    },
    async (request) => {
      const { caller, query } = request;
      const limit = Number(query.limit ?? DEFAULT_LIMIT);
      const keys = await newestKeys(store, caller.orgId, { limit: limit + 1, before: query.cursor });
      const data = keys.slice(0, limit).map((key) => rowOf(shownTo(request, key), caller));
      const has_more = keys.length > limit;
      return { data, meta: { has_more, next_cursor: has_more ? (data.at(-1)?.key_id ?? null) : null } };
    },
  );

  app.post(
    '',
    {
      config: { ...config, errors: { 409: TOO_MANY } },
      schema: {
        tags: ['keys'],
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: 'Only this answer has the key itself.',
        body: NewKey,
        response: { 201: CreatedKey },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const { role, name, user_id: userId, user_email: email, expires_at: expiresAt } = body;
      const now = clock();
      await requireOwnKey(request, body, store);
      if (expiresAt !== undefined && expiresAt <= now)
        throw new ApiError(400, 'The member expires_at must be in the future.');
      if ((await countValidKeys(store, caller.orgId, now)) >= MOST_KEYS) throw new ApiError(409, TOO_MANY);
      const createdBy = caller.userId ?? caller.credential;
      const wanted = { orgId: caller.orgId, role, name, userId, email, expiresAt, createdBy };
      const { key, ...made } = await createKey(store, wanted, now);
      return reply.status(201).send({ ...rowOf(made, caller), key });
    },
  );

  app.get(
    '/:key_id',
    {
      config: byId.config,
      schema: {
        tags: ['keys'],
        operationId: 'getApiKey',
        summary: 'Get an API key',
        params: byId.params,
        response: { 200: KeyRow },
      },
    },
    async (request) => {
      const { caller, params } = request;
      const key = await findKey(store, params.key_id, caller.orgId);
      if (key === undefined) throw new ApiError(404, noKey(params.key_id));
      request.about = aboutUsers([key.user_id], 'totals');
      return rowOf(shownTo(request, key), caller);
    },
  );

  app.delete(
    '/:key_id',
    {
      config: byId.config,
      schema: {
        tags: ['keys'],
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description:
          'It ends with the next request, and so do the browser sessions that began with it. You can revoke the key that you use.',
        params: byId.params,
        response: { 204: z.null() },
      },
    },
    async ({ caller, params: { key_id } }, reply) => {
      const key = await revokeKey(store, key_id, clock(), caller.orgId);
      if (key === undefined) throw new ApiError(404, noKey(key_id));
      return reply.status(204).send(null);
    },
  );
};
