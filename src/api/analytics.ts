import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Day, dayOf, isDay, lastClosedDay, laterDay } from '../day.js';
import { ApiError } from './errors.js';
import type { ApiDeps } from './family.js';
import { ANSWERS, type Answer, GROUPS, report } from './report.js';
import { Answers } from './rows.js';

const A_DAY = 'must be a day of the calendar as YYYY-MM-DD';
const A_LIMIT = 'must be an integer from 1 to 100';
const A_CURSOR = 'must be a user id of 1 to 128 characters';

const day = (description: string, example: string) =>
  z
    .string(A_DAY)
    .refine(isDay, A_DAY)
    .meta({ description, format: 'date', examples: [example] });

const Range = {
  startDate: day('first day, in UTC', '2026-06-01'),
  endDate: day('last day, in UTC: yesterday or earlier', '2026-06-07'),
};

const Page = {
  limit: z
    .string(A_LIMIT)
    .regex(/^([1-9]\d?|100)$/, A_LIMIT)
    .meta({
      // All that a query has is text; what is meant is a number.
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'users per page',
      examples: [20],
    })
    .optional(),
  cursor: z
    .string(A_CURSOR)
    .min(1, A_CURSOR)
    .max(128, A_CURSOR)
    .meta({ description: 'next_cursor of the page before', examples: ['ada'] })
    .optional(),
};

/** What the endpoints take: each a part of it. */
interface Query {
  readonly startDate: Day;
  readonly endDate: Day;
  readonly group_by?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The query parameters of an answer's endpoint. */
function queryOf(answer: Answer): z.ZodType<Query> {
  const group = GROUPS[answer];
  if (group !== undefined)
    return z.strictObject({
      ...Range,
      group_by: z
        .literal(group, `must be ${group} or absent`)
        .meta({ description: 'a row for each of these and day, instead of a row a day', examples: [group] })
        .optional(),
    });
  return answer === 'users' ? z.strictObject({ ...Range, ...Page }) : z.strictObject(Range);
}

const SUMMARIES: Record<Answer, string> = {
  tokens: 'Tokens and credits per day',
  tools: 'Tools, MCP servers, skills, commands, hooks and autonomy per day',
  activity: 'Active users, sessions and messages per day',
  productivity: 'Files, languages, commits and pull requests per day',
  users: 'Users on the days on which they were active, page by page',
  quality: 'How far the numbers of each day can be trusted',
};

/** The analytics endpoints (public-api.md 4.6-4.10, and quality), for managers and owners. */
export const analytics: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  for (const answer of ANSWERS) {
    app.get(
      `/${answer}`,
      {
        config: {
          action: 'read analytics',
          errors: { 400: `The parameter startDate is required: it ${A_DAY}.` },
        },
        schema: {
          tags: ['analytics'],
          summary: SUMMARIES[answer],
          querystring: queryOf(answer),
          response: { 200: Answers[answer] },
        },
      },
      async (request, reply) => {
        const { startDate, endDate, group_by, limit, cursor } = request.query;
        if (startDate > endDate)
          throw new ApiError(400, 'The parameter startDate must not be after endDate.');
        if (endDate >= dayOf(clock())) {
          const last = lastClosedDay(clock());
          throw new ApiError(
            400,
            `The parameter endDate must be ${last} or earlier: analytics data has a 24-hour lag.`,
          );
        }
        const { orgId } = request.caller;
        const { data, page } = await report(store, answer, {
          orgId,
          from: laterDay(startDate, config.historyStart),
          to: endDate,
          groupBy: group_by,
          limit: Number(limit ?? 20),
          cursor,
        });
        reply.header('cache-control', 'private, no-cache');
        return { data, meta: { org_id: orgId, start_date: startDate, end_date: endDate, ...page } };
      },
    );
  }
};
