import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Day, dayOf, isDay, lastClosedDay, laterDay } from '../day.js';
import { ANSWERS, type Answer, GROUPS, isPaged } from './answer-names.js';
import { columnsOf } from './answer-rows.js';
import { Answers, MeAnswer, TodayAnswer } from './answer-schemas.js';
import { Answerer } from './answerer.js';
import { ApiError } from './errors.js';
import { DEFAULT_LIMIT, limitOf } from './page-limit.js';
import type { ApiDeps } from './route-family.js';
import { formOf, isKnownOf, sendAnswer } from './send-answer.js';

const A_DAY = 'must be a calendar date as YYYY-MM-DD';
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

const RANGE_ERRORS = { 400: `The parameter startDate is required: it ${A_DAY}.` };

const Page = {
  limit: limitOf('users per page'),
  cursor: z
    .string(A_CURSOR)
    .min(1, A_CURSOR)
    .max(128, A_CURSOR)
    .meta({ description: 'next_cursor of the previous page', examples: ['ada'] })
    .optional(),
};

/** All query parameters; each endpoint takes some of them. */
interface Query {
  readonly startDate: Day;
  readonly endDate: Day;
  readonly group_by?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The query parameters of an answer's endpoint. */
function queryOf(answer: Answer): z.ZodType<Query> {
  const groups = GROUPS[answer];
  const Grouped = {
    ...Range,
    group_by: z
      .enum(groups, `must be ${groups.join(', ')} or absent`)
      .meta({ description: 'one row per group and day instead of one per day', examples: groups.slice(0, 1) })
      .optional(),
  };
  const shape = groups.length > 0 ? Grouped : Range;
  return isPaged(answer) ? z.strictObject({ ...shape, ...Page }) : z.strictObject(shape);
}

/** Throws 400 if a range is empty or hasn't ended. */
function requireClosed({ startDate, endDate }: Pick<Query, 'startDate' | 'endDate'>, now: number): void {
  if (startDate > endDate) throw new ApiError(400, 'The parameter startDate must not be after endDate.');
  if (endDate >= dayOf(now)) {
    throw new ApiError(
      400,
      `The parameter endDate must be ${lastClosedDay(now)} or earlier: analytics data has a 24-hour lag.`,
    );
  }
}

/** The CSV of an answer without rows. */
function csvExample(answer: Answer): string {
  return `${columnsOf(answer).join(',')}\r\n`;
}

const SUMMARIES: Record<Answer, string> = {
  tokens: 'Tokens and credits per day',
  tools: 'Tools, MCP servers, skills, commands, hooks and autonomy per day',
  activity: 'Active users, sessions and messages per day',
  productivity: 'Files, languages, commits and pull requests per day',
  users: 'Users on the days on which they were active, in pages',
  quality: 'How far the numbers of each day can be trusted',
  coverage: 'Which agents and channels reported on which users, and how far they agree, in pages',
};

/** The analytics endpoints (public-api.md 4.6-4.10, and ours), for managers and owners; `me` for members too. */
export const analyticsRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  const answerer = new Answerer(store, config, clock);

  /** Answers a request. */
  const ask = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    { startDate, endDate, group_by, limit, cursor }: Query,
    userId?: string,
  ) => {
    requireClosed({ startDate, endDate }, clock());
    const isKnown = isKnownOf(request);
    const form = formOf(request);
    const question = {
      answer,
      form,
      orgId: request.caller.orgId,
      startDate,
      endDate,
      from: laterDay(startDate, config.historyStart),
      to: endDate,
      groupBy: group_by,
      ...(isPaged(answer) ? { limit: Number(limit ?? DEFAULT_LIMIT), cursor } : {}),
      userId,
    };
    return sendAnswer(await answerer.answer(question, isKnown), isKnown, request, reply, {
      form,
      publicUrl: config.publicUrl,
    });
  };

  for (const answer of ANSWERS) {
    app.get(
      `/${answer}`,
      {
        config: {
          action: 'read analytics',
          errors: RANGE_ERRORS,
          isTagged: true,
          csvExample: csvExample(answer),
        },
        schema: {
          tags: ['analytics'],
          summary: SUMMARIES[answer],
          querystring: queryOf(answer),
          response: { 200: Answers[answer] },
        },
      },
      (request, reply) => ask(request, reply, answer, request.query),
    );
  }

  app.get(
    '/me',
    {
      config: {
        action: 'read its own analytics',
        errors: RANGE_ERRORS,
        isTagged: true,
        csvExample: csvExample('users'),
      },
      schema: {
        tags: ['analytics'],
        summary: "The caller's own rows of /users",
        querystring: z.strictObject(Range),
        response: { 200: MeAnswer },
      },
    },
    (request, reply) => {
      const { userId } = request.caller;
      if (userId === null) {
        throw new ApiError(
          403,
          'This key belongs to no user, so it has no rows of its own: create one with "daybook keys create --user".',
        );
      }
      return ask(request, reply, 'users', request.query, userId);
    },
  );

  app.get(
    '/today',
    {
      config: { action: 'read analytics', isTagged: true },
      schema: {
        tags: ['analytics'],
        summary: 'The open day so far, counted on request',
        querystring: z.strictObject({}),
        response: { 200: TodayAnswer },
      },
    },
    async (request, reply) => {
      const answered = await answerer.today(request.caller.orgId);
      return sendAnswer(answered, isKnownOf(request), request, reply);
    },
  );
};
