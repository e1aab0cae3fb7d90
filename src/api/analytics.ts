import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Config } from '../config.js';
import { dayOf, isDay, lastClosedDay, laterDay } from '../day.js';
import type { Store } from '../store/store.js';
import { requireRole } from './auth.js';
import { ApiError, analyticsProblem } from './errors.js';
import type { Caller } from './keys.js';
import { ANSWERS, type Answer, GROUPS, report } from './report.js';
import { Answers } from './rows.js';

export interface ApiDeps {
  readonly store: Store;
  readonly config: Config;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it; set before a handler runs. */
    caller: Caller;
  }
}

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

/** The query parameters of an answer's endpoint. */
function queryOf(answer: Answer) {
  const group = GROUPS[answer];
  const groupBy = group === undefined ? z.never() : z.literal(group, `must be ${group} or absent`);
  const page = answer === 'users' ? Page : { limit: z.never().optional(), cursor: z.never().optional() };
  return z.strictObject({ ...Range, group_by: groupBy.optional(), ...page });
}

/** The names that an endpoint's query can have. */
function parametersOf(answer: Answer): string[] {
  return [
    ...Object.keys(Range),
    ...(GROUPS[answer] === undefined ? [] : ['group_by']),
    ...(answer === 'users' ? Object.keys(Page) : []),
  ];
}

/** The sentence for a query that its schema refuses: the first parameter that is wrong, and what would be accepted. */
function sentenceOf(
  url: string,
  validation: { instancePath: string; message?: string; params: unknown }[],
): string {
  const answer = ANSWERS.find((name) => url.includes(`/analytics/${name}`)) ?? 'tokens';
  const accepted = parametersOf(answer);
  const given = [...new URL(url, 'http://localhost').searchParams.keys()];
  const unknown = given.find((name) => !accepted.includes(name));
  if (unknown !== undefined)
    return `There is no parameter ${unknown.slice(0, 100)}: /${answer} takes ${accepted.join(', ')}.`;
  const [issue] = validation;
  const name = issue?.instancePath.slice(1).split('/')[0] ?? '';
  if (!given.includes(name)) return `The parameter ${name} is required: it ${issue?.message}.`;
  return `The parameter ${name} ${issue?.message}.`;
}

/** The analytics endpoints (public-api.md 4.6-4.10, and quality), for managers and owners. */
export const analytics: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  app.addHook('onRequest', async (request) => {
    request.caller = await requireRole(store, clock, request, ['owner', 'manager']);
  });

  for (const answer of ANSWERS) {
    app.get(
      `/${answer}`,
      { schema: { querystring: queryOf(answer), response: { 200: Answers[answer] } } },
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
          limit: limit ?? 20,
          cursor,
        });
        reply.header('cache-control', 'private, no-cache');
        return { data, meta: { org_id: orgId, start_date: startDate, end_date: endDate, ...page } };
      },
    );
  }

  app.setNotFoundHandler({ preHandler: [] }, (request) => {
    throw new ApiError(
      404,
      `There is no ${request.method} ${request.url.split('?')[0]}: analytics has GET /${ANSWERS.join(', /')}.`,
    );
  });

  app.setErrorHandler((error, request, reply) => {
    let status = 500;
    let detail = 'The server could not answer; its log has the cause under this request id.';
    if (error instanceof ApiError) {
      ({ status, detail } = error);
    } else if (hasZodFastifySchemaValidationErrors(error)) {
      status = 400;
      detail = sentenceOf(request.url, error.validation);
    } else if (error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500) {
      status = Number(error.statusCode);
      detail = 'The request is not one that this endpoint can read.';
    }
    if (status >= 500) request.log.error({ err: error }, 'the request failed');
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    return reply.status(status).send(analyticsProblem(status, detail, request.id));
  });
};
