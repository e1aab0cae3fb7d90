import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { dayOf } from '../day.js';
import { userOf } from '../store/state/person.js';
import { memberNames } from '../store/tables.js';
import { BudgetsAnswer } from './answer-schemas.js';
import { BudgetQuery, OwnBudgetQuery } from './budget-query.js';
import { type BudgetQuestion, preparedBudgets, readBudgets, unbuiltDays } from './budget-rows.js';
import { ownUser } from './caller.js';
import { ApiError } from './errors.js';
import { sendFresh } from './fresh-answer.js';
import { aboutUsers } from './read-audit.js';
import type { ApiDeps } from './route-family.js';

const ERRORS = { 400: 'The parameter month must be a month as YYYY-MM.' };
const CSV_EXAMPLE = `${memberNames('budgets').join(',')}\r\n`;

/** Adds the answers about budgets (docs/budgets.md). */
export function budgetAnswers(
  instance: FastifyInstance,
  { store, config, clock }: Pick<ApiDeps, 'store' | 'config' | 'clock'>,
): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  const answer = async (request: FastifyRequest, reply: FastifyReply, question: BudgetQuestion) => {
    const { month = '' } = question;
    if (month > dayOf(clock()).slice(0, 7))
      throw new ApiError(400, 'The parameter month must not be after this month.');
    const prepared = await preparedBudgets(store, question, config.historyStart, clock());
    const { orgId } = question;
    return sendFresh(request, reply, { store, config }, async (select, readColumns, form) => {
      const reading = await readBudgets(select, readColumns, prepared, form);
      const unbuilt = await unbuiltDays(select, orgId, prepared.days);
      return { reading, meta: { org_id: orgId, month: prepared.days.month, unbuilt_days: unbuilt } };
    });
  };

  app.get(
    '/budgets',
    {
      config: {
        action: 'read analytics',
        about: ({ query, protection }) => {
          const { scope = 'person' } = query as z.infer<typeof BudgetQuery>;
          return aboutUsers([], scope === 'person' && protection === undefined ? 'everyone' : 'totals');
        },
        isProtected: true,
        errors: ERRORS,
        isTagged: true,
        csvExample: CSV_EXAMPLE,
      },
      schema: {
        tags: ['analytics'],
        operationId: 'getAnalyticsBudgets',
        summary: 'What of each budget is spent, and whether it holds',
        querystring: BudgetQuery,
        response: { 200: BudgetsAnswer },
      },
    },
    (request, reply) =>
      answer(request, reply, {
        ...{ orgId: request.caller.orgId, floor: request.protection?.floor },
        ...request.query,
      }),
  );

  app.get(
    '/me/budget',
    {
      config: {
        action: 'read its own analytics',
        about: ({ caller }) => aboutUsers([caller.userId], 'totals'),
        isProtected: true,
        errors: ERRORS,
        isTagged: true,
        csvExample: CSV_EXAMPLE,
      },
      schema: {
        tags: ['analytics'],
        operationId: 'getAnalyticsMeBudget',
        summary: 'Your own budget, and whether it holds',
        querystring: OwnBudgetQuery,
        response: { 200: BudgetsAnswer },
      },
    },
    async (request, reply) => {
      const { orgId, userId } = request.caller;
      const own = await userOf(store, orgId, ownUser(userId));
      return answer(request, reply, { orgId, scope: 'person', userId: own, ...request.query });
    },
  );
}
