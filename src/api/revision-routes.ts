import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { UsageError } from '../exit.js';
import type { SettingsChange } from '../store/state/revisions.js';
import { authorOf } from './caller.js';
import { ApiError } from './errors.js';
import { DEFAULT_LIMIT, limitOf } from './page-limit.js';
import type { Protection } from './protection.js';
import { IfMatch, REVISION_ERRORS, REVISION_HEADERS, requireMatch, Stale, tagOf } from './revision-tag.js';
import type { Action } from './roles.js';

/** Settings of organizations that are changed whole, and whose changes are kept. */
interface KeptSettings<Settings extends object> {
  /** Of their routes in the reference. It also ends the names of their operations. */
  readonly tag: string;
  readonly action: Action;
  /** What they say, such as `where alerts and digests go`. */
  readonly subject: string;
  /** What a change does. */
  readonly effect: string;
  readonly schema: z.ZodObject & z.ZodType<Settings>;
  readonly newest: (orgId: string) => Promise<SettingsChange<Settings>>;
  /** `check` gets the newest revision, and throws if it may not be changed. A UsageError is the sender's fault. */
  readonly change: (
    orgId: string,
    settings: Settings,
    author: string,
    check: (revision: number) => void,
  ) => Promise<SettingsChange<Settings>>;
  /** The newest changes, the newest one first. */
  readonly history: (orgId: string, limit: number) => Promise<readonly SettingsChange<Settings>[]>;
}

/** The members of an answer that say which change of settings it is. */
const RevisionMembers = {
  revision: z
    .int()
    .min(0)
    .meta({ description: 'number of the change; 0 before the first', examples: [3] }),
  changedBy: z
    .string()
    .nullable()
    .meta({ description: 'who made it, or a pseudonym; null before the first', examples: ['ada'] }),
  changedAt: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'null before the first change', examples: ['2026-06-01T09:30:00.250Z'] }),
};

/** Adds the routes that read settings, change them, and list the changes. */
export function addRevisionRoutes<Settings extends object>(
  app: FastifyInstance,
  { tag, action, subject, effect, schema, newest, change, history }: KeptSettings<Settings>,
): void {
  const name = `${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}`;
  const Answer = z
    .object({ ...RevisionMembers, ...schema.shape })
    .meta({ id: name, description: `${subject}, after a change of it` });
  const bodyOf = (
    { revision, author, changedAt, settings }: SettingsChange<Settings>,
    protection: Protection | undefined,
  ) => ({
    revision,
    changedBy: author === null || protection === undefined ? author : protection.nameOf(author),
    changedAt: changedAt === null ? null : new Date(changedAt).toISOString(),
    ...settings,
  });
  const send = (
    { caller: { orgId }, protection }: FastifyRequest,
    reply: FastifyReply,
    found: SettingsChange<Settings>,
  ) => {
    reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
    return bodyOf(found, protection);
  };

  app.get(
    '',
    {
      config: { action, headers: REVISION_HEADERS },
      schema: {
        tags: [tag],
        operationId: `get${name}`,
        summary: `${subject.slice(0, 1).toUpperCase()}${subject.slice(1)}`,
        response: { 200: Answer },
      },
    },
    async (request, reply) => send(request, reply, await newest(request.caller.orgId)),
  );

  app.put<{ Headers: z.infer<typeof IfMatch> }>(
    '',
    {
      config: { action, headers: REVISION_HEADERS, errors: REVISION_ERRORS },
      schema: {
        tags: [tag],
        operationId: `put${name}`,
        summary: `Change ${subject}`,
        description: `${effect} With If-Match, only if that is still the newest revision.`,
        headers: IfMatch,
        body: schema,
        response: { 200: Answer },
      },
    },
    async (request, reply) => {
      const { caller, body, headers } = request;
      const check = (revision: number) => requireMatch(headers['if-match'], caller.orgId, revision);
      try {
        return send(request, reply, await change(caller.orgId, body as Settings, authorOf(caller), check));
      } catch (error) {
        const isFault = error instanceof UsageError && !(error instanceof Stale);
        throw isFault ? new ApiError(400, error.message) : error;
      }
    },
  );

  app.get<{ Querystring: { limit?: string } }>(
    '/history',
    {
      config: { action, errors: { 400: 'The parameter limit must be an integer from 1 to 100.' } },
      schema: {
        tags: [tag],
        operationId: `get${name}History`,
        summary: `The newest changes of ${subject}, newest first`,
        querystring: z.strictObject({ limit: limitOf('changes') }),
        response: { 200: z.object({ changes: z.array(Answer) }) },
      },
    },
    async ({ caller: { orgId }, query: { limit = DEFAULT_LIMIT }, protection }) => ({
      changes: (await history(orgId, Number(limit))).map((one) => bodyOf(one, protection)),
    }),
  );
}
