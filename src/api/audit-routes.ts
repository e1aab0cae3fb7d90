import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { addDays, DaySchema } from '../day.js';
import { type AccessEntry, KEPT_DAYS, newestEntries, SCOPES } from '../store/state/access-log.js';
import { ApiError } from './errors.js';
import { filterOf } from './filter.js';
import { DEFAULT_LIMIT, limitOf } from './page-limit.js';
import { FOR_AUDITORS, type Protection } from './protection.js';
import { type AccessLog, aboutUsers } from './read-audit.js';
import type { ApiDeps } from './route-family.js';

const Read = z
  .object({
    askedAt: z.iso.datetime().meta({ examples: ['2026-06-01T09:30:00.250Z'] }),
    fingerprint: z.string().meta({
      description: "of the key or other credential that asked; local for a tool on the service's machine",
      examples: ['3f1c9a527d0e'],
    }),
    userId: z
      .string()
      .nullable()
      .meta({ description: 'whose credential it is; null if it belongs to no user', examples: ['ada'] }),
    address: z.string().meta({ description: 'from which the request came', examples: ['192.0.2.7'] }),
    path: z.string().meta({ description: 'of the answer', examples: ['/api/v1/analytics/users'] }),
    scope: z.enum(SCOPES).meta({
      description:
        'user: about one user; everyone: with a row for each person; totals: no person is told apart',
      examples: ['user'],
    }),
    about: z
      .string()
      .nullable()
      .meta({ description: 'the user who was asked about; null unless scope is user', examples: ['grace'] }),
    sql: z
      .object({
        digest: z.string().meta({
          description: 'the first 12 hexadecimal digits of the SHA-256 of the statement',
          examples: ['9b74c9897bac'],
        }),
        tables: z.array(z.string()).meta({ description: 'that the statement names', examples: [['users']] }),
      })
      .nullable()
      .meta({ description: 'null unless it was asked in SQL', examples: [null] }),
    status: z.int().meta({ description: 'of the answer: 403 if it was refused', examples: [200] }),
  })
  .meta({ id: 'Read', description: 'a request that was about a person, about everyone, or for totals' });

function bodyOf(
  { askedAt, sqlDigest, sqlTables, ...entry }: AccessEntry,
  protection: Protection | undefined,
): z.infer<typeof Read> {
  const shown = (name: string | null) =>
    name === null || protection === undefined ? name : protection.nameOf(name);
  const { fingerprint, userId, address, path, scope, about, status } = entry;
  const tables = (sqlTables ?? '').split(' ').filter((name) => name !== '');
  return {
    askedAt: new Date(askedAt).toISOString(),
    ...{ fingerprint, userId: shown(userId), address, path, scope, about: shown(about) },
    sql: sqlDigest === null ? null : { digest: sqlDigest, tables },
    status,
  };
}

const CURSOR = /^\d{1,16}$/;
const text = (max: number) =>
  z
    .string()
    .regex(/^[^\0]*$/)
    .min(1)
    .max(max);

const day = (description: string, example: string) =>
  DaySchema.optional().meta({ description, examples: [example] });

/** The dependencies of the route of the audit. */
interface AuditDeps extends ApiDeps {
  readonly accessLog: AccessLog;
}

/** Who read what about whom (docs/audit.md). */
export const auditRoutes: FastifyPluginAsyncZod<AuditDeps> = async (app, { store, accessLog }) => {
  app.get(
    '',
    {
      config: {
        action: 'read the audit',
        about: ({ query }) => aboutUsers([Object(query).about].flat(), 'everyone'),
        isProtected: true,
        errors: { 400: 'The parameter limit must be an integer from 1 to 100.' },
      },
      schema: {
        tags: ['audit'],
        operationId: 'getAudit',
        summary: 'Who asked for which answers about whom, newest first',
        description: `Entries are kept for ${KEPT_DAYS} days. A request that names several users has an entry for each.`,
        querystring: z.strictObject({
          about: filterOf(text(128), {
            description: 'only reads that named these users',
            examples: ['grace'],
          }),
          scope: filterOf(z.enum(SCOPES), { description: 'only reads of these scopes', examples: ['user'] }),
          userId: filterOf(text(128), {
            description: 'only reads by credentials of these users',
            examples: ['ada'],
          }),
          fingerprint: filterOf(text(64), {
            description: 'only reads by these credentials',
            examples: ['3f1c9a527d0e'],
          }),
          from: day('the first day, in UTC', '2026-06-01'),
          to: day('the last day, in UTC', '2026-06-30'),
          limit: limitOf('entries per page'),
          cursor: z
            .string()
            .regex(CURSOR, 'must be the nextCursor of an answer')
            .optional()
            .meta({
              description: 'pagination.nextCursor of the previous page',
              examples: ['1780306200250000'],
            }),
        }),
        response: {
          200: z.object({
            reads: z.array(Read),
            pagination: z.object({
              hasMore: z.boolean().meta({ examples: [true] }),
              nextCursor: z
                .string()
                .nullable()
                .meta({ description: 'null if hasMore is false', examples: ['1780306200250000'] }),
            }),
          }),
        },
      },
    },
    async ({ caller, protection, query: { limit = DEFAULT_LIMIT, cursor, from, to, ...filters } }) => {
      const isAskedByName = [filters.about, filters.userId].flat().some((name) => name !== undefined);
      if (protection !== undefined && isAskedByName) throw new ApiError(403, FOR_AUDITORS);
      await accessLog.save();
      const size = Number(limit);
      const entries = await newestEntries(
        store,
        caller.orgId,
        {
          ...filters,
          from: from && Date.parse(from),
          until: to && Date.parse(addDays(to, 1)),
          before: cursor === undefined ? undefined : Number(cursor),
        },
        size + 1,
      );
      const shown = entries.slice(0, size);
      const hasMore = entries.length > size;
      return {
        reads: shown.map((entry) => bodyOf(entry, protection)),
        pagination: { hasMore, nextCursor: hasMore ? String(shown.at(-1)?.entryNo) : null },
      };
    },
  );
};
