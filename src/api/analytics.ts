import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Day, dayOf, isDay, lastClosedDay, laterDay } from '../day.js';
import { Answerer } from './answer.js';
import { ApiError } from './errors.js';
import type { ApiDeps } from './family.js';
import { ANSWERS, type Answer, GROUPS } from './report.js';
import { Answers, MeAnswer, TodayAnswer } from './rows.js';
import { isKnownOf, sendAnswer } from './send.js';

const A_DAY = 'must be a day of the calendar as YYYY-MM-DD';
const A_LIMIT = 'must be an integer from 1 to 100';
const A_CURSOR = 'must be a user id of 1 to 128 characters';

const Range = {
  startDate: z.string(A_DAY).refine(isDay, A_DAY),
  endDate: z.string(A_DAY).refine(isDay, A_DAY),
};

const Page = {
  limit: z
    .string(A_LIMIT)
    .regex(/^([1-9]\d?|100)$/, A_LIMIT)
    .transform(Number)
    .optional(),
  cursor: z.string(A_CURSOR).min(1, A_CURSOR).max(128, A_CURSOR).optional(),
};

/** What the endpoints take: each a part of it. */
interface Query {
  readonly startDate: Day;
  readonly endDate: Day;
  readonly group_by?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The query parameters of an answer's endpoint. */
function queryOf(answer: Answer): z.ZodType<Query> {
  const group = GROUPS[answer];
  if (group !== undefined)
    return z.strictObject({ ...Range, group_by: z.literal(group, `must be ${group} or absent`).optional() });
  return answer === 'users' ? z.strictObject({ ...Range, ...Page }) : z.strictObject(Range);
}

/** Throws 400 for a range that is none, or that isn't over. */
function requireClosed({ startDate, endDate }: Pick<Query, 'startDate' | 'endDate'>, now: number): void {
  if (startDate > endDate) throw new ApiError(400, 'The parameter startDate must not be after endDate.');
  if (endDate >= dayOf(now)) {
    throw new ApiError(
      400,
      `The parameter endDate must be ${lastClosedDay(now)} or earlier: analytics data has a 24-hour lag.`,
    );
  }
}

/** The analytics endpoints (public-api.md 4.6-4.10, and ours), for managers and owners; `me` for members too. */
export const analytics: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  const answerer = new Answerer(store, config, clock);

  /** Answers a question that a request has. */
  const ask = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    { startDate, endDate, group_by, limit, cursor }: Query,
    userId?: string,
  ) => {
    requireClosed({ startDate, endDate }, clock());
    const isKnown = isKnownOf(request);
    const question = {
      answer,
      orgId: request.caller.orgId,
      startDate,
      endDate,
      from: laterDay(startDate, config.historyStart),
      to: endDate,
      groupBy: group_by,
      ...(answer === 'users' ? { limit: limit ?? 20, cursor } : {}),
      userId,
    };
    return sendAnswer(await answerer.answer(question, isKnown), isKnown, request, reply);
  };

  for (const answer of ANSWERS) {
    app.get(
      `/${answer}`,
      {
        config: { action: 'read analytics' },
        schema: { querystring: queryOf(answer), response: { 200: Answers[answer] } },
      },
      (request, reply) => ask(request, reply, answer, request.query),
    );
  }

  app.get(
    '/me',
    {
      config: { action: 'read own analytics' },
      schema: {
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
          'The credential is no user\'s, so there are no rows of its own: "daybook keys create --user" makes one that is.',
        );
      }
      return ask(request, reply, 'users', request.query, userId);
    },
  );

  app.get(
    '/today',
    {
      config: { action: 'read analytics' },
      schema: {
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
