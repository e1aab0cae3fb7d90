import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { nameText } from '../input/name-text.js';
import { usersOf } from '../store/state/person.js';
import {
  AUDITORS_AT_MOST,
  changePrivacy,
  MODES,
  newestPrivacy,
  type PrivacyRevision,
  privacyHistory,
  SMALLEST_GROUP,
} from '../store/state/privacy-revisions.js';
import { authorOf } from './caller.js';
import { DEFAULT_LIMIT, limitOf } from './page-limit.js';
import { protectionOf } from './protection.js';
import { IfMatch, REVISION_ERRORS, REVISION_HEADERS, requireMatch, tagOf } from './revision-tag.js';
import { may } from './roles.js';
import type { ApiDeps } from './route-family.js';

/** The settings that an owner changes. */
export const PrivacyChange = z.strictObject({
  mode: z.enum(MODES).meta({
    description: 'protected: only auditors see rows and names of people',
    examples: ['protected'],
  }),
  smallestGroup: z
    .int()
    .min(SMALLEST_GROUP.least)
    .max(SMALLEST_GROUP.most)
    .default(SMALLEST_GROUP.usual)
    .meta({ description: 'how many people a group has at least that is shown', examples: [5] }),
  auditors: z
    .array(nameText(128))
    .max(AUDITORS_AT_MOST)
    .default([])
    .meta({ description: 'user ids of those who see people by name', examples: [['ada']] }),
});

/** A change of the settings. */
const shared = {
  ...PrivacyChange.shape,
  auditors: z
    .array(z.string())
    .nullable()
    .meta({
      description: 'user ids of those who see people by name; null for all but owners',
      examples: [['ada']],
    }),
  auditorCount: z
    .int()
    .min(0)
    .meta({ description: 'how many they are', examples: [1] }),
};
const changedBy = z.string().nullable();
const fingerprint = z
  .string()
  .nullable()
  .meta({
    description:
      "of the key or other credential with which it was made; null for all but owners, and for a command on the service's machine",
    examples: ['3f1c9a527d0e'],
  });

const Answer = z
  .object({
    ...shared,
    revision: z
      .int()
      .min(0)
      .meta({ description: 'number of the newest change; 0 before the first', examples: [3] }),
    seesNames: z.boolean().meta({ description: 'whether you see people by name', examples: [false] }),
    changedBy: changedBy.meta({
      description: 'who made it; null for all but owners, and before the first',
      examples: ['ada'],
    }),
    changedAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'null before the first change', examples: ['2026-06-01T09:30:00.250Z'] }),
  })
  .meta({ id: 'Privacy', description: 'who may see people by name' });

const Change = z
  .object({
    ...shared,
    revision: z
      .int()
      .min(1)
      .meta({ description: 'number of the change, from 1', examples: [3] }),
    changedBy: changedBy.meta({ description: 'who made it; null for all but owners', examples: ['ada'] }),
    fingerprint,
    changedAt: z.iso.datetime().meta({ examples: ['2026-06-01T09:30:00.250Z'] }),
  })
  .meta({ id: 'PrivacyRevision', description: 'who might see people by name after a change' });

const CURSOR = /^[1-9]\d{0,14}$/;

/** A revision as a request may see it: names of auditors and authors are for owners. */
function shownTo({ caller }: FastifyRequest, found: PrivacyRevision) {
  const { revision, mode, smallestGroup, auditors, author, fingerprint } = found;
  const isOwner = may(caller.role, 'change privacy');
  return {
    ...{ revision, mode, smallestGroup, auditorCount: auditors.length },
    auditors: isOwner ? [...auditors] : null,
    changedBy: isOwner ? author : null,
    fingerprint: isOwner ? fingerprint : null,
  };
}

function bodyOf(request: FastifyRequest, found: PrivacyRevision): z.infer<typeof Answer> {
  const { fingerprint: _, ...shown } = shownTo(request, found);
  return {
    ...shown,
    seesNames: request.protection === undefined,
    changedAt: found.changedAt === null ? null : new Date(found.changedAt).toISOString(),
  };
}

/** Who may see people by name (docs/privacy.md). */
export const privacyRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  app.get(
    '',
    {
      config: { action: 'use the page', headers: REVISION_HEADERS },
      schema: {
        tags: ['privacy'],
        operationId: 'getPrivacy',
        summary: 'Who may see people by name',
        response: { 200: Answer },
      },
    },
    async (request, reply) => {
      const { orgId } = request.caller;
      const found = await newestPrivacy(store, orgId);
      reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
      return bodyOf(request, found);
    },
  );

  app.put(
    '',
    {
      config: {
        action: 'change privacy',
        headers: REVISION_HEADERS,
        errors: REVISION_ERRORS,
      },
      schema: {
        tags: ['privacy'],
        operationId: 'putPrivacy',
        summary: 'Change who may see people by name',
        description:
          'It counts from the next request on. With If-Match, only if that is still the newest revision.',
        headers: IfMatch,
        body: PrivacyChange,
        response: { 200: Answer },
      },
    },
    async (request, reply) => {
      const { caller, body, headers } = request;
      const { orgId } = caller;
      // An alias means the person.
      const auditors = await usersOf(store, orgId, body.auditors);
      const found = await changePrivacy(
        store,
        orgId,
        ({ revision }) => {
          requireMatch(headers['if-match'], orgId, revision);
          return { ...body, auditors };
        },
        authorOf(caller),
        clock(),
        caller.credential,
      );
      reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
      request.protection = await protectionOf(store, caller, clock());
      return bodyOf(request, found);
    },
  );

  app.get(
    '/history',
    {
      config: {
        action: 'use the page',
        errors: { 400: 'The parameter limit must be an integer from 1 to 100.' },
      },
      schema: {
        tags: ['privacy'],
        operationId: 'getPrivacyHistory',
        summary: 'The changes of who may see people by name, newest first',
        querystring: z.strictObject({
          limit: limitOf('changes per page'),
          cursor: z
            .string()
            .regex(CURSOR, 'must be the nextCursor of an answer')
            .optional()
            .meta({ description: 'pagination.nextCursor of the previous page', examples: ['3'] }),
        }),
        response: {
          200: z.object({
            changes: z.array(Change),
            pagination: z.object({
              hasMore: z.boolean().meta({ examples: [true] }),
              nextCursor: z
                .string()
                .nullable()
                .meta({ description: 'null if hasMore is false', examples: ['3'] }),
            }),
          }),
        },
      },
    },
    async (request) => {
      const { limit = DEFAULT_LIMIT, cursor } = request.query;
      const size = Number(limit);
      const found = await privacyHistory(store, request.caller.orgId, {
        limit: size + 1,
        before: cursor === undefined ? undefined : Number(cursor),
      });
      const changes = found.slice(0, size).map((one) => ({
        ...shownTo(request, one),
        changedAt: new Date(Number(one.changedAt)).toISOString(),
      }));
      const hasMore = found.length > size;
      return {
        changes,
        pagination: { hasMore, nextCursor: hasMore ? String(changes.at(-1)?.revision) : null },
      };
    },
  );
};
