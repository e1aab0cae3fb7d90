import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { authorOf, type Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { DEFAULT_LIMIT, limitOf } from '../api/page-limit.js';
import { isExpectedBy, Stale, tagOf } from '../api/revision-tag.js';
import type { ApiDeps } from '../api/route-family.js';
import { UsageError } from '../exit.js';
import { type Author, type Change, type Controls, NoRevision, SETTINGS_BYTES } from './control-revisions.js';
import { EXAMPLE, Settings } from './control-settings.js';
import { mapSecrets } from './settings-secrets.js';

const user = z.object({
  id: z.string().meta({ examples: ['ada'] }),
  email: z.string().meta({ description: "'' if unknown", examples: ['ada@acme.example'] }),
  name: z.string().meta({ examples: ['ada'] }),
});
const updatedAt = z.iso.datetime().meta({ examples: ['2026-06-01T09:30:00.250Z'] });
const revision = z
  .int()
  .min(0)
  .meta({ description: 'number of the change, from 1', examples: [7] });

const ChangeRecord = z
  .object({ revision, settings: Settings, user, updatedAt })
  .meta({ id: 'ControlsChange', description: 'the settings after a change, and who made it' });

const Current = z
  .object({
    revision: revision.meta({ description: 'number of the newest change; 0 before the first' }),
    settings: Settings,
    user: user.nullable().meta({ examples: [{ id: 'ada', email: 'ada@acme.example', name: 'ada' }] }),
    updatedAt: updatedAt.nullable().meta({ examples: ['2026-06-01T09:30:00.250Z'] }),
  })
  .meta({
    id: 'Controls',
    description: 'the newest settings; user and updatedAt are null before the first change',
  });

/** A position in the history: a revision's number, encoded so that clients don't do arithmetic with it. */
const CURSOR = /^[A-Za-z0-9_-]{11}$/;

function cursorOf(revision: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(revision));
  return bytes.toString('base64url');
}

function revisionOf(cursor: string): number {
  const position = Buffer.from(cursor, 'base64url').readBigUInt64BE();
  return Number(position < Number.MAX_SAFE_INTEGER ? position : Number.MAX_SAFE_INTEGER);
}

function detailsOf(caller: Caller): Author {
  const id = authorOf(caller);
  return { id, email: caller.email ?? '', name: id };
}

/** A change as a request may see it: by a pseudonym, if the request may not see people by name. */
function shownTo<Shown extends Pick<Change, 'user'>>({ protection }: FastifyRequest, change: Shown): Shown {
  const { user } = change;
  if (protection === undefined || user === null || protection.nameOf(user.id) === user.id) return change;
  const id = protection.nameOf(user.id);
  return { ...change, user: { id, email: '', name: id } };
}

/** An example of the ETag header. */
const TAGGED = { etag: `"${tagOf('acme', 7)}"` };

const A_REVISION = 'must be the number of a revision, or 0 for the settings before the first';
const revisionParameter = (description: string, example: number) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,14})$/, A_REVISION)
    .meta({
      // A query string has only texts, but this one is a number.
      type: 'integer',
      pattern: undefined,
      minimum: 0,
      description,
      examples: [example],
    });

const value = (description: string, example: unknown) =>
  z
    .unknown()
    .meta({ description, examples: [example] })
    .optional();

const DifferenceRecord = z
  .object({
    member: z
      .string()
      .meta({ description: 'the path of the member', examples: ['networkPolicy.allowedIps[10.0.0.0/8]'] }),
    before: value('absent if the older revision has no such member', '10.0.0.0/8'),
    after: value('absent if the newer revision has no such member', '10.0.0.0/8'),
  })
  .meta({ id: 'ControlsDifference', description: 'a member that two revisions have differently' });

const noRevision = (revision: number) =>
  `There is no revision ${revision}: GET /api/v0/organization/enterprise-controls/history lists them.`;

/** The dependencies of the routes of controls. */
interface ControlsDeps extends ApiDeps {
  readonly controls: Controls;
}

/** Enterprise controls (docs/controls.md). */
export const controlsRoutes: FastifyPluginAsyncZod<ControlsDeps> = async (app, { controls }) => {
  app.get(
    '/enterprise-controls',
    {
      config: { action: 'read enterprise controls', headers: TAGGED },
      schema: {
        tags: ['controls'],
        summary: 'The newest settings',
        response: { 200: Current },
      },
    },
    async (request, reply) => {
      const { orgId } = request.caller;
      const change = await controls.current(orgId);
      reply.header('etag', `"${tagOf(orgId, change.revision)}"`);
      return shownTo(request, change) as z.infer<typeof Current>;
    },
  );

  app.put(
    '/enterprise-controls',
    {
      bodyLimit: SETTINGS_BYTES,
      config: {
        action: 'change enterprise controls',
        headers: TAGGED,
        errors: { 412: 'The newest revision is 7, not the one in If-Match: read it again.' },
      },
      schema: {
        tags: ['controls'],
        summary: 'Replace all settings',
        description:
          'Each call creates a revision. With If-Match, only if that is still the newest revision. A secret given as *** stays as it is.',
        headers: z.looseObject({
          'if-match': z
            .string()
            .optional()
            .meta({
              description: 'the ETag of the settings that you read, or their revision',
              examples: ['"0"'],
            }),
        }),
        body: z
          .strictObject({ settings: Settings })
          .meta({ examples: [{ settings: mapSecrets(EXAMPLE, (_, place) => `the ${place.at(-1)}`) }] }),
        response: { 200: ChangeRecord },
      },
    },
    async (request, reply) => {
      const { caller, body, ip: address } = request;
      const isExpected = isExpectedBy(request.headers['if-match'], caller.orgId);
      try {
        const options = { isExpected, address };
        const change = await controls.replace(caller.orgId, body.settings, detailsOf(caller), options);
        reply.header('etag', `"${tagOf(caller.orgId, change.revision)}"`);
        return change as z.infer<typeof ChangeRecord>;
      } catch (error) {
        if (error instanceof Stale) throw new ApiError(412, error.message);
        if (error instanceof UsageError) throw new ApiError(400, error.message);
        throw error;
      }
    },
  );

  app.get(
    '/enterprise-controls/history',
    {
      config: {
        action: 'read enterprise controls',
        errors: { 400: 'The parameter limit must be an integer from 1 to 100.' },
      },
      schema: {
        tags: ['controls'],
        summary: 'The changes of the settings, newest first',
        querystring: z.strictObject({
          limit: limitOf('changes per page'),
          cursor: z
            .string()
            .regex(CURSOR, 'must be the nextCursor of an answer')
            .optional()
            .meta({ description: 'pagination.nextCursor of the previous page', examples: [cursorOf(7)] }),
        }),
        response: {
          200: z.object({
            changes: z.array(ChangeRecord),
            pagination: z.object({
              hasMore: z.boolean().meta({ examples: [true] }),
              nextCursor: z
                .string()
                .nullable()
                .meta({ description: 'null if hasMore is false', examples: [cursorOf(7)] }),
            }),
          }),
        },
      },
    },
    async (request) => {
      const { caller, query } = request;
      const { limit = DEFAULT_LIMIT, cursor } = query;
      const before = cursor === undefined ? undefined : revisionOf(cursor);
      const { changes, hasMore } = await controls.history(caller.orgId, Number(limit), before);
      const last = changes.at(-1);
      return {
        changes: changes.map((change) => shownTo(request, change)) as z.infer<typeof ChangeRecord>[],
        pagination: { hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last.revision) : null },
      };
    },
  );

  app.get(
    '/enterprise-controls/differences',
    {
      config: {
        action: 'read enterprise controls',
        errors: { 400: `The parameter from ${A_REVISION}.`, 404: noRevision(7) },
      },
      schema: {
        tags: ['controls'],
        summary: 'What two revisions have differently',
        description: 'A secret that was replaced is listed too, as *** before and after.',
        querystring: z.strictObject({
          from: revisionParameter('the older revision', 0),
          to: revisionParameter('the newer revision', 1),
        }),
        response: { 200: z.object({ differences: z.array(DifferenceRecord) }) },
      },
    },
    async ({ caller, query: { from, to } }) => {
      try {
        return { differences: await controls.difference(caller.orgId, Number(from), Number(to)) };
      } catch (error) {
        if (error instanceof NoRevision) throw new ApiError(404, noRevision(error.revision));
        throw error;
      }
    },
  );
};
