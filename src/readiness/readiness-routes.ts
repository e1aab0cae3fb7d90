import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { filterOf } from '../api/filter.js';
import { DEFAULT_LIMIT, limitOf } from '../api/page-limit.js';
import type { ApiDeps } from '../api/route-family.js';
import { own } from '../input/own.js';
import { Level, nextSteps, sharesOf } from './maturity-level.js';
import { CriterionId, RepoId, Report, ReportId, Submission } from './readiness-report.js';
import { criteriaOf, type Repository, reportsOf, repositoriesOf, saveReport } from './stored-reports.js';

/** A report of fifty criteria has some 10 KiB. */
const BODY_BYTES = 1 << 18;

/** More than there can be. Larger limits are capped to this, because the parameter has no maximum. */
const LIMIT = 999_999_999;
const LARGEST = 'largest number to return';

const Reports = z.object({ reports: z.array(Report) }).meta({ id: 'ReadinessReports' });

const Count = z.object({ numerator: z.number(), denominator: z.number() });

const RepositoryRow = z
  .object({
    repoId: RepoId,
    repoUrl: z.string().meta({
      description: 'its address in the newest report',
      examples: ['https://github.com/acme/api'],
    }),
    level: Level.nullable().meta({ description: 'level of the latest report', examples: [2] }),
    latestReport: Report,
    metByLevel: z
      .array(
        z.object({
          level: Level.meta({ examples: [1] }),
          criteria: z
            .int()
            .min(1)
            .meta({ description: 'how many it has', examples: [8] }),
          ratio: z
            .number()
            .min(0)
            .max(1)
            .meta({
              description: 'share of its criteria that are met; 0.8 opens the next level',
              examples: [0.5],
            }),
        }),
      )
      .meta({ description: 'levels that have criteria in the latest report, lowest first' }),
    nextSteps: z
      .array(
        z.object({
          id: CriterionId,
          level: Level.meta({ description: 'level of the criterion', examples: [1] }),
          description: z
            .string()
            .nullable()
            .meta({
              description: 'what holds if it is met; null if Daybook does not ship it',
              examples: ['It has tests'],
            }),
        }),
      )
      .meta({ description: 'criteria that are not met, those that raise the level first' }),
    change: z
      .object({
        since: ReportId,
        level: z
          .int()
          .min(-4)
          .max(4)
          .nullable()
          .meta({
            description: 'levels gained or, below 0, lost; null where either report has none',
            examples: [1],
          }),
        criteria: z
          .array(
            z.object({
              id: CriterionId,
              before: Count.nullable().meta({ description: 'null where that report did not have it' }),
              after: Count.nullable().meta({ description: 'null where the latest report does not have it' }),
            }),
          )
          .meta({ description: 'criteria whose counts have changed, by id' }),
      })
      .nullable()
      .meta({
        description: 'what has changed since the report before; null where there is none',
        examples: [
          {
            since: 'b7e64d10-92c3-4f5a-8e7d-1c0a9b3f6d28',
            level: 1,
            criteria: [{ id: 'unit_tests', before: null, after: { numerator: 1, denominator: 2 } }],
          },
        ],
      }),
  })
  .meta({ id: 'RepositoryReadiness', description: 'a repository by its newest report' });

const Repositories = z.object({ repositories: z.array(RepositoryRow) }).meta({ id: 'Repositories' });

/** A repository's newest report, with the differences from the one before. */
function rowOf({ latest, before }: Repository): z.infer<typeof RepositoryRow> {
  const { repoId, repoUrl, level } = latest;
  const criteria = criteriaOf(latest);
  const count = (report: Report, id: string) => {
    const { numerator, denominator } = own(report.report, id) ?? {};
    return numerator === undefined || denominator === undefined ? null : { numerator, denominator };
  };
  const change = (before: Report) => {
    const ids = [...new Set([...Object.keys(before.report), ...Object.keys(latest.report)])].sort();
    return {
      since: before.reportId,
      level: level === null || before.level === null ? null : level - before.level,
      criteria: ids
        .map((id) => ({ id, before: count(before, id), after: count(latest, id) }))
        .filter(
          ({ before, after }) =>
            before?.numerator !== after?.numerator || before?.denominator !== after?.denominator,
        ),
    };
  };
  return {
    repoId,
    repoUrl,
    level,
    latestReport: latest,
    metByLevel: [...sharesOf(criteria)].map(([level, ratio]) => ({
      level,
      criteria: criteria.filter((one) => one.level === level).length,
      ratio,
    })),
    nextSteps: nextSteps(
      criteria.flatMap((one) => (one.level === undefined ? [] : [{ ...one, level: one.level }])),
    ).map(({ id, level, description }) => ({ id, level, description })),
    change: before === undefined ? null : change(before),
  };
}

/** The JSON of a list, from the JSON of its elements. */
async function* listOf(name: string, parts: AsyncIterable<string[]>): AsyncGenerator<string> {
  let before = `{"${name}":[`;
  for await (const part of parts) {
    if (part.length === 0) continue;
    yield before + part.join(',');
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

/** Sends JSON while it is produced. A failure before the first piece is an ordinary error. */
async function sendPieces(reply: FastifyReply, pieces: AsyncGenerator<string>): Promise<FastifyReply> {
  const { value: first } = await pieces.next();
  async function* all() {
    yield first;
    yield* pieces;
  }
  return reply.type('application/json; charset=utf-8').send(Readable.from(all(), { objectMode: false }));
}

/** Readiness reports (docs/api.md, "Readiness reports"). */
export const readinessRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  app.get(
    '/maturity-level-reports',
    {
      config: {
        action: 'read readiness reports',
        errors: { 400: 'The parameter limit must be a positive integer.' },
      },
      schema: {
        tags: ['readiness'],
        summary: 'Readiness reports, newest first',
        description: 'For the next page, send the reportId of the last report as startAfter.',
        querystring: z.strictObject({
          repoId: filterOf(RepoId, {
            description: 'only reports of these repositories',
            examples: ['repo_97f5a7d1b3c8e204', 'repo_c9f0f895fb98ab91'],
          }),
          limit: limitOf(LARGEST, false),
          startAfter: ReportId.meta({
            description: 'reportId of the last report of the previous page',
          }).optional(),
        }),
        response: { 200: Reports },
      },
    },
    async (request, reply) => {
      const { repoId: repoIds, limit = DEFAULT_LIMIT, startAfter } = request.query;
      const page = { repoIds, limit: Math.min(Number(limit), LIMIT), startAfter };
      return sendPieces(reply, listOf('reports', reportsOf(store, request.caller.orgId, page)));
    },
  );

  app.post(
    '/maturity-level-reports',
    {
      bodyLimit: BODY_BYTES,
      config: { action: 'submit readiness reports' },
      schema: {
        tags: ['readiness'],
        summary: 'Submit a readiness report',
        description: '"daybook readiness check --submit" checks a repository and submits the report.',
        body: Submission,
        response: { 201: Report },
      },
    },
    async (request, reply) =>
      reply.status(201).send(await saveReport(store, request.caller.orgId, request.body, clock())),
  );

  app.get(
    '/repositories',
    {
      config: {
        action: 'read readiness reports',
        errors: { 400: 'The parameter limit must be an integer from 1 to 100.' },
      },
      schema: {
        tags: ['readiness'],
        summary: 'Repositories with their newest readiness reports, ordered by address',
        description: 'For the next page, send the repoId of the last repository as startAfter.',
        querystring: z.strictObject({
          limit: limitOf(LARGEST),
          startAfter: RepoId.meta({
            description: 'repoId of the last repository of the previous page',
          }).optional(),
        }),
        response: { 200: Repositories },
      },
    },
    async (request) => {
      const { limit = DEFAULT_LIMIT, startAfter } = request.query;
      const found = await repositoriesOf(store, request.caller.orgId, { limit: Number(limit), startAfter });
      return { repositories: found.map(rowOf) };
    },
  );
};
