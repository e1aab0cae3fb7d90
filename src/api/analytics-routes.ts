import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { dayOf, lastClosedDay, laterDay } from '../day.js';
import { costTermsOf } from '../money/cost-terms.js';
import { hideMark } from '../store/state/hidden-marks.js';
import { userOf, usersOf } from '../store/state/person.js';
import { AdoptionAnswer, adoptionOf } from './adoption.js';
import {
  ADOPTION,
  MARKS,
  MarksQuery,
  ME,
  type Query,
  queryOf,
  RANGE_ERRORS,
  Range,
  SUMMARIES,
  TODAY,
} from './analytics-tools.js';
import { ANSWERS, type Answer, hasRowPages, isPaged, isTotals } from './answer-names.js';
import { columnsOf, placeOf, tellingFilter } from './answer-rows.js';
import { Answers, MeAnswer, PlaceAnswer, TodayAnswer } from './answer-schemas.js';
import { Answerer, type Question } from './answerer.js';
import { budgetAnswers } from './budget-answers.js';
import { authorOf, ownUser } from './caller.js';
import { ApiError } from './errors.js';
import { guardedRange } from './guarded-range.js';
import { HiddenMarkAnswer, HiddenMarkBody, MarksAnswer, marksOf } from './marks.js';
import { DEFAULT_LIMIT } from './page-limit.js';
import { FOR_AUDITORS } from './protection.js';
import { type About, aboutEveryone, aboutUsers } from './read-audit.js';
import { may } from './roles.js';
import type { ApiDeps } from './route-family.js';
import { formOf, isKnownOf, sendAnswer } from './send-answer.js';
import { silenceAnswers } from './silence-answers.js';
import { beforeOf, keysOf, requireFewFilters, TOTALS_LIMIT, type Totals, totalsOf } from './totals-query.js';

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

/** What a caller may ask of the totals: a member has only own ones. Throws 403 for those of others. */
function totalsFor({ caller: { role, userId } }: FastifyRequest, query: Totals): Totals {
  const totals = totalsOf(query);
  if (may(role, 'read analytics')) return totals;
  const own = ownUser(userId);
  if (totals.user_id?.some((user) => user !== own) === true)
    throw new ApiError(
      403,
      `This key sees only the numbers of its own user: leave out user_id, or set it to ${own}.`,
    );
  return { ...totals, user_id: [own] };
}

/** The answers that tell no few people apart: totals, and those of whole days without groups. */
const GUARDED: readonly Answer[] = ['summary', 'changes', 'costs', 'activity', 'quality'];

/** Throws 403 for a question that tells people apart by itself. */
function requireGroups({ answer, groupBy, totals }: Question): void {
  const isOfPeople = groupBy === 'user' || totals?.user_id !== undefined;
  if (!GUARDED.includes(answer) || isOfPeople || (!isTotals(answer) && groupBy !== undefined))
    throw new ApiError(403, FOR_AUDITORS);
}

/** Whom an answer is about: the users that a request names, or only the caller's own for a member. */
function aboutOf(answer: Answer, { query, caller: { role, userId } }: FastifyRequest): About {
  const { user_id, group_by, group_keys } = Object(query) as Readonly<Record<string, unknown>>;
  const isByUser = isPaged(answer) || group_by === 'user' || (answer === 'tokens' && group_by === undefined);
  const keys = group_by === 'user' ? (keysOf(String(group_keys)) ?? []) : [];
  const own = isTotals(answer) && !may(role, 'read analytics') && user_id === undefined ? [userId] : [];
  return aboutUsers([user_id, ...keys, ...own].flat(), isByUser ? 'everyone' : 'totals');
}

/** The CSV of an answer without rows. */
function csvExample(answer: Answer): string {
  return `${columnsOf(answer).join(',')}\r\n`;
}

/** Throws 400 for a question about some people's part of a bill, which has no people. */
function requireEverybody({
  user_id,
  team,
  cost_center,
}: Pick<Query, 'user_id' | 'team' | 'cost_center'>): void {
  if ([user_id, team, cost_center].some((filter) => filter !== undefined))
    throw new ApiError(
      400,
      'A bill has no people: leave out user_id, team and cost_center, or set group_by=month.',
    );
}

/** The analytics endpoints (docs/api.md, "Analytics"). */
export const analyticsRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  const answerer = new Answerer(store, config, clock);

  /** A question that tells the sender no few people apart. Throws 403 if it would. */
  const guarded = async ({ protection, caller }: FastifyRequest, question: Question): Promise<Question> => {
    const users = question.totals?.user_id ?? question.userIds;
    const isOwn = users?.length === 1 && users[0] === caller.userId;
    if (protection === undefined || isOwn) return question;
    requireGroups(question);
    requireFewFilters(question.totals ?? {});
    const { floor } = protection;
    const { from, to } = question;
    const told = await guardedRange(store, caller.orgId, floor, {
      from,
      to,
      historyStart: config.historyStart,
    });
    const asked = await answerer.withSettings({
      ...question,
      ...told,
      before: beforeOf(question, question.totals?.compare),
    });
    const telling = await store.snapshot((select) => tellingFilter(select, asked));
    if (telling === undefined) return asked;
    throw new ApiError(
      403,
      `The filter ${telling.filter}=${telling.value.slice(0, 100)} would tell fewer than ${floor} people apart, and the organization protects people: leave it out, or ask for more days.`,
    );
  };

  /** Answers a request. */
  const ask = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    asked: Query,
    ownId?: string,
  ) => {
    // An alias in a filter means the person.
    const user_id = asked.user_id && (await usersOf(store, request.caller.orgId, asked.user_id));
    const query = { ...asked, user_id };
    if (query.group_by === 'vendor') requireEverybody(query);
    const { startDate, endDate, group_by, limit, cursor } = query;
    requireClosed({ startDate, endDate }, clock());
    const isKnown = isKnownOf(request);
    const form = formOf(request);
    const question: Question = {
      answer,
      form,
      orgId: request.caller.orgId,
      startDate,
      endDate,
      from: laterDay(startDate, config.historyStart),
      to: endDate,
      groupBy: group_by,
      ...(isPaged(answer)
        ? {
            ...{ limit: Number(limit ?? DEFAULT_LIMIT), cursor },
            belonging: { team: query.team, cost_center: query.cost_center },
          }
        : {}),
      ...(isTotals(answer)
        ? {
            ...(hasRowPages(answer) ? { limit: Number(limit ?? TOTALS_LIMIT), cursor } : {}),
            totals: totalsFor(request, query),
            historyStart: config.historyStart,
          }
        : {}),
      userIds: ownId === undefined ? (isPaged(answer) ? query.user_id : undefined) : [ownId],
      isOwn: ownId !== undefined,
    };
    const told = await guarded(request, question);
    return sendAnswer(await answerer.answer(told, isKnown), isKnown, request, reply, {
      form,
      publicUrl: config.publicUrl,
    });
  };

  for (const answer of ANSWERS) {
    app.get(
      `/${answer}`,
      {
        config: {
          action: isTotals(answer) ? 'read its own analytics' : 'read analytics',
          about: (request) => aboutOf(answer, request),
          isProtected: true,
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
        about: ({ caller }) => aboutUsers([caller.userId], 'totals'),
        isProtected: true,
        errors: RANGE_ERRORS,
        isTagged: true,
        csvExample: csvExample('users'),
      },
      schema: {
        tags: ['analytics'],
        summary: ME,
        querystring: z.strictObject(Range),
        response: { 200: MeAnswer },
      },
    },
    (request, reply) => {
      return ask(request, reply, 'users', request.query, ownUser(request.caller.userId));
    },
  );

  app.get(
    '/me/place',
    {
      config: {
        action: 'read its own analytics',
        about: ({ caller }) => aboutUsers([caller.userId], 'totals'),
        isProtected: true,
        errors: RANGE_ERRORS,
      },
      schema: {
        tags: ['analytics'],
        operationId: 'getAnalyticsMePlace',
        summary: 'Where your numbers stand among those of all people, of whom nobody is named',
        querystring: z.strictObject(Range),
        response: { 200: PlaceAnswer },
      },
    },
    async ({ caller: { orgId, userId }, protection, query: { startDate, endDate } }) => {
      requireClosed({ startDate, endDate }, clock());
      const own = ownUser(userId);
      const range = { from: laterDay(startDate, config.historyStart), to: endDate };
      const terms = await costTermsOf(store, orgId);
      const rows = await store.snapshot((select) =>
        placeOf(select, { orgId, ...range, terms }, own, protection?.floor),
      );
      return {
        data: rows as z.infer<typeof PlaceAnswer>['data'],
        meta: { org_id: orgId, start_date: startDate, end_date: endDate },
      };
    },
  );

  app.get(
    '/adoption',
    {
      config: {
        action: 'read analytics',
        about: () => ({ scope: 'totals' }),
        isProtected: true,
        errors: RANGE_ERRORS,
      },
      schema: {
        tags: ['analytics'],
        summary: ADOPTION,
        querystring: z.strictObject(Range),
        response: { 200: AdoptionAnswer },
      },
    },
    async ({ caller: { orgId }, protection, query: { startDate, endDate } }) => {
      requireClosed({ startDate, endDate }, clock());
      const { historyStart } = config;
      const from = laterDay(startDate, historyStart);
      const asked = { orgId, from, to: endDate, historyStart, floor: protection?.floor };
      return {
        data: await adoptionOf(store, asked),
        meta: { org_id: orgId, start_date: startDate, end_date: endDate },
      };
    },
  );

  app.get(
    '/marks',
    {
      config: {
        action: 'read its own analytics',
        about: ({ caller: { role, userId } }) =>
          may(role, 'read analytics') ? aboutEveryone() : aboutUsers([userId], 'totals'),
        isProtected: true,
        errors: { 400: 'The parameter endDate must be a calendar date as YYYY-MM-DD.' },
      },
      schema: {
        tags: ['analytics'],
        summary: MARKS,
        querystring: z.strictObject(MarksQuery),
        response: { 200: MarksAnswer },
      },
    },
    async ({ caller: { orgId, role, userId }, protection, query }) => {
      const day = query.endDate ?? lastClosedDay(clock());
      requireClosed({ startDate: day, endDate: day }, clock());
      const ownId = may(role, 'read analytics') ? undefined : ownUser(userId);
      return {
        data: await marksOf(store, {
          ...{ orgId, day, ownId, floor: protection?.floor },
          ...{ historyStart: config.historyStart, nameOf: protection?.nameOf },
        }),
        meta: { org_id: orgId, end_date: day },
      };
    },
  );

  app.post(
    '/marks/hidden',
    {
      config: {
        action: 'hide marks',
        about: ({ body }) => aboutUsers([Object(body).user_id], 'totals'),
      },
      schema: {
        tags: ['analytics'],
        operationId: 'hideMark',
        summary: 'Say that a person who is marked as stuck needs no look',
        description: 'It counts until the run of days ends on which the mark is based.',
        body: HiddenMarkBody,
        response: { 200: HiddenMarkAnswer },
      },
    },
    async ({ caller, body }) => {
      const { orgId } = caller;
      const now = clock();
      const day = lastClosedDay(now);
      const userId = await userOf(store, orgId, body.user_id);
      const asked = { orgId, day, historyStart: config.historyStart, ownId: userId };
      const [mark] = await marksOf(store, asked);
      if (mark === undefined || mark.since === null) return { data: { is_hidden: false } };
      await hideMark(store, { orgId, userId, since: mark.since, day, author: authorOf(caller) }, now);
      return { data: { is_hidden: true } };
    },
  );

  app.get(
    '/today',
    {
      config: { action: 'read analytics', about: aboutEveryone, isTagged: true },
      schema: {
        tags: ['analytics'],
        summary: TODAY,
        querystring: z.strictObject({}),
        response: { 200: TodayAnswer },
      },
    },
    async (request, reply) => {
      const answered = await answerer.today(request.caller.orgId);
      return sendAnswer(answered, isKnownOf(request), request, reply);
    },
  );

  silenceAnswers(app, { store, config, clock });
  budgetAnswers(app, { store, config, clock });
};
