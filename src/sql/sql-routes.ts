import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError, type ErrorStatus } from '../api/errors.js';
import type { About } from '../api/read-audit.js';
import type { ApiDeps } from '../api/route-family.js';
import { mediaTypeOf } from '../api/send-answer.js';
import { isKept } from '../lake/earlier-snapshot.js';
import { Seen } from '../lake/snapshot.js';
import type { SqlForm } from './query-job.js';
import { Queries } from './query-pool.js';
import { seenHeaders } from './seen-headers.js';
import { BUSY, PUBLISHED_S, RETRY_S, SqlError, type SqlFault, TURN, timeSentence } from './sql-error.js';
import { SQL_TABLES, SqlTable } from './sql-tables.js';
import { bodyOf, TableQuery } from './sql-tools.js';

/** The formats of answers by their media types; the first is the default. */
const FORMS = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
  'application/vnd.apache.arrow.stream': 'arrow',
  'application/vnd.apache.parquet': 'parquet',
} as const satisfies Record<string, SqlForm>;
const TYPES = Object.keys(FORMS) as (keyof typeof FORMS)[];

const binary = (what: string) => ({
  schema: { type: 'string', format: 'binary', description: `the rows as ${what}` },
  example: what,
});

const OTHER_FORMS = {
  'application/x-ndjson': {
    schema: { type: 'string', description: 'the rows, one JSON object per line' },
    example: '{"day":"2026-06-01","tool_calls":28}\n',
  },
  'text/csv': {
    schema: {
      type: 'string',
      description: 'the rows under a header line (RFC 4180); nested values are JSON text',
    },
    example: 'day,tool_calls\r\n2026-06-01,28\r\n',
  },
  'application/vnd.apache.arrow.stream': binary('an Arrow IPC stream'),
  'application/vnd.apache.parquet': binary('a Parquet file'),
};

/** Whom a statement is about. Nobody knows which rows of its tables it reads, so one with users is about everyone. */
function aboutSql(sql: unknown): About {
  // The body of a request that is refused isn't read.
  if (typeof sql !== 'string') return { scope: 'everyone' };
  const words = new Set(sql.toLowerCase().match(/\w+/g));
  const tables = SQL_TABLES.filter(({ name }) => words.has(name));
  const isByUser = tables.some(({ columns }) => columns.some(({ name }) => name === 'user_id'));
  return {
    scope: isByUser ? 'everyone' : 'totals',
    sqlDigest: hash('sha256', sql).slice(0, 12),
    sqlTables: tables.map(({ name }) => name).join(' '),
  };
}

/** The statuses of failed queries, by cause. */
const STATUSES: Record<SqlFault, ErrorStatus> = {
  query: 400,
  limit: 422,
  engine: 422,
  lake: 503,
  unpublished: 503,
  busy: 503,
  turn: 429,
};

function refusalOf(error: unknown): unknown {
  if (!(error instanceof SqlError)) return error;
  const after = { turn: RETRY_S, unpublished: PUBLISHED_S }[String(error.fault)];
  return new ApiError(
    STATUSES[error.fault],
    error.message,
    after === undefined ? {} : { 'retry-after': String(after) },
  );
}

const Answer = z
  .object({
    data: z
      .array(z.record(z.string(), z.unknown()))
      .meta({ description: 'the rows', examples: [[{ day: '2026-06-01', tool_calls: 28 }]] }),
    meta: z.object({
      columns: z.array(z.object({ name: z.string(), type: z.string() })).meta({
        description: "with DuckDB's types",
        examples: [
          [
            { name: 'day', type: 'DATE' },
            { name: 'tool_calls', type: 'BIGINT' },
          ],
        ],
      }),
      row_count: z.int().meta({ examples: [1] }),
      elapsed_ms: z.int().meta({ description: 'time taken to answer, in milliseconds', examples: [12] }),
      snapshot: Seen.meta({
        description: 'what was published when the query read it',
        examples: [{ newest_day: '2026-06-01', published_at: '2026-06-02T00:15:07.113Z' }],
      }),
    }),
  })
  .meta({ id: 'SqlAnswer' });

/** SQL on the lake of the caller's organization (docs/sql.md). */
export const sqlRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { config, clock }) => {
  const limits = config.sql;
  const queries = new Queries(config, (cause) => app.log.error({ cause }, 'a query failed'));
  app.addHook('onClose', async () => queries.close());

  app.post(
    '',
    {
      bodyLimit: limits.textKb * 1024,
      // Compressing an answer takes more time than the query; Parquet is small.
      compress: false,
      config: {
        action: 'run SQL',
        about: ({ body }) => aboutSql(Object(body).sql),
        forms: OTHER_FORMS,
        errors: {
          400: 'The body must be an object.',
          422: `${timeSentence(limits.timeSeconds)}.`,
          429: TURN,
          503: BUSY,
        },
      },
      schema: {
        tags: ['sql'],
        summary: 'Answer a SELECT on the events and day tables',
        description:
          "DuckDB answers from the organization's published days. An answer that fails after its first bytes breaks off without an end.",
        body: bodyOf(limits),
        response: { 200: Answer },
      },
    },
    async (request, reply) => {
      const { sql, params = [], as_of, limit } = request.body;
      const asOf = as_of === undefined ? undefined : Date.parse(as_of);
      if (asOf !== undefined && !isKept(asOf, config, clock()))
        throw new ApiError(
          400,
          `The member as_of must be in the last ${config.lakeKeepDays} days, for which replaced rows are kept, and not in the future.`,
        );
      const type = mediaTypeOf(request, TYPES) ?? 'application/json';
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const note = (cause: string) => request.log.error({ cause }, 'a query failed');
      const asked = { orgId: request.caller.orgId, asOf, sql, params, form: FORMS[type], limit };
      try {
        const { bytes, seen } = await queries.run(asked, gone.signal, note);
        const charset = type === 'text/csv' || type === 'application/json' ? '; charset=utf-8' : '';
        reply
          .headers({
            vary: 'accept',
            ...seenHeaders(seen),
          })
          .type(`${type}${charset}`);
        return (reply as FastifyReply).send(bytes);
      } catch (error) {
        throw refusalOf(error);
      }
    },
  );

  app.get(
    '/tables',
    {
      config: { action: 'run SQL', errors: { 400: 'There is no parameter timezone: use name.' } },
      schema: {
        tags: ['sql'],
        summary: 'The tables and views that SQL can read, with their columns',
        querystring: TableQuery,
        response: { 200: z.object({ data: z.array(SqlTable) }) },
      },
    },
    async ({ query: { name } }) => {
      const data = SQL_TABLES.filter((table) => name === undefined || table.name === name);
      if (data.length === 0)
        throw new ApiError(
          400,
          `There is no table ${name}: use ${SQL_TABLES.map((table) => table.name).join(', ')}.`,
        );
      return { data };
    },
  );
};
