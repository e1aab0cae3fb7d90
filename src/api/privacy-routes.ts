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
  SMALLEST_GROUP,
} from '../store/state/privacy-revisions.js';
import { authorOf } from './caller.js';
import { ApiError } from './errors.js';
import { protectionOf } from './protection.js';
import { isExpectedBy, Stale, tagOf } from './revision-tag.js';
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

const Answer = z
  .object({
    ...PrivacyChange.shape,
    revision: z
      .int()
      .min(0)
      .meta({ description: 'number of the newest change; 0 before the first', examples: [3] }),
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
    seesNames: z.boolean().meta({ description: 'whether you see people by name', examples: [false] }),
    changedBy: z
      .string()
      .nullable()
      .meta({ description: 'who made it; null for all but owners, and before the first', examples: ['ada'] }),
    changedAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'null before the first change', examples: ['2026-06-01T09:30:00.250Z'] }),
  })
  .meta({ id: 'Privacy', description: 'who may see people by name' });

const TAGGED = { etag: `"${tagOf('acme', 3)}"` };

function bodyOf({ caller, protection }: FastifyRequest, found: PrivacyRevision): z.infer<typeof Answer> {
  const { revision, mode, smallestGroup, auditors, author, changedAt } = found;
  const isOwner = may(caller.role, 'change privacy');
  return {
    ...{ revision, mode, smallestGroup, auditorCount: auditors.length },
    auditors: isOwner ? [...auditors] : null,
    seesNames: protection === undefined,
    changedBy: isOwner ? author : null,
    changedAt: changedAt === null ? null : new Date(changedAt).toISOString(),
  };
}

/** Who may see people by name (docs/privacy.md). */
export const privacyRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  app.get(
    '',
    {
      config: { action: 'use the page', headers: TAGGED },
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
        headers: TAGGED,
        errors: { 412: 'The newest revision is 3, not the one in If-Match: read it again.' },
      },
      schema: {
        tags: ['privacy'],
        operationId: 'putPrivacy',
        summary: 'Change who may see people by name',
        description:
          'It counts from the next request on. With If-Match, only if that is still the newest revision.',
        headers: z.looseObject({
          'if-match': z
            .string()
            .optional()
            .meta({ description: 'the ETag of what you read, or its revision', examples: ['"3"'] }),
        }),
        body: PrivacyChange,
        response: { 200: Answer },
      },
    },
    async (request, reply) => {
      const { caller, body, headers } = request;
      const { orgId } = caller;
      const isExpected = isExpectedBy(headers['if-match'], orgId);
      // An alias means the person.
      const auditors = await usersOf(store, orgId, body.auditors);
      try {
        const found = await changePrivacy(
          store,
          orgId,
          ({ revision }) => {
            if (!isExpected(revision)) throw new Stale(revision);
            return { ...body, auditors };
          },
          authorOf(caller),
          clock(),
        );
        reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
        request.protection = await protectionOf(store, caller, clock());
        return bodyOf(request, found);
      } catch (error) {
        if (error instanceof Stale) throw new ApiError(412, error.ofHeader);
        throw error;
      }
    },
  );
};
