import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  type BudgetRevision,
  Budgets,
  budgetHistory,
  changeBudgets,
  newestBudgets,
} from '../store/state/budget-revisions.js';
import { authorOf } from './caller.js';
import { DEFAULT_LIMIT, limitOf } from './page-limit.js';
import type { Protection } from './protection.js';
import {
  IfMatch,
  REVISION_ERRORS,
  REVISION_HEADERS,
  RevisionMembers,
  requireMatch,
  revisionMembers,
  tagOf,
} from './revision-tag.js';
import type { ApiDeps } from './route-family.js';

const Answer = z
  .object({ ...RevisionMembers, budgets: Budgets })
  .meta({ id: 'Budgets', description: 'what may be spent in each month, after a change of it' });

function bodyOf(found: BudgetRevision, protection: Protection | undefined): z.infer<typeof Answer> {
  return { ...revisionMembers(found, protection), budgets: [...found.budgets] };
}

/** What may be spent in each month (docs/budgets.md). */
export const budgetRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  app.get(
    '',
    {
      config: { action: 'manage budgets', headers: REVISION_HEADERS },
      schema: {
        tags: ['budgets'],
        operationId: 'getBudgets',
        summary: 'What may be spent in each month',
        response: { 200: Answer },
      },
    },
    async ({ caller: { orgId }, protection }, reply) => {
      const found = await newestBudgets(store, orgId);
      reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
      return bodyOf(found, protection);
    },
  );

  app.put(
    '',
    {
      config: {
        action: 'manage budgets',
        headers: REVISION_HEADERS,
        errors: REVISION_ERRORS,
      },
      schema: {
        tags: ['budgets'],
        operationId: 'putBudgets',
        summary: 'Change what may be spent in each month',
        description:
          'The budgets of the body replace all. They count from the next request on, also for earlier months. With If-Match, only if that is still the newest revision.',
        headers: IfMatch,
        body: z.strictObject({ budgets: Budgets }),
        response: { 200: Answer },
      },
    },
    async ({ caller, body, headers, protection }, reply) => {
      const { orgId } = caller;
      const make = ({ revision }: BudgetRevision) => {
        requireMatch(headers['if-match'], orgId, revision);
        return body.budgets;
      };
      const found = await changeBudgets(store, orgId, make, authorOf(caller), clock());
      reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
      return bodyOf(found, protection);
    },
  );

  app.get(
    '/history',
    {
      config: {
        action: 'manage budgets',
        errors: { 400: 'The parameter limit must be an integer from 1 to 100.' },
      },
      schema: {
        tags: ['budgets'],
        operationId: 'getBudgetsHistory',
        summary: 'The newest changes of budgets, newest first',
        querystring: z.strictObject({ limit: limitOf('changes') }),
        response: { 200: z.object({ changes: z.array(Answer) }) },
      },
    },
    async ({ caller: { orgId }, query: { limit = DEFAULT_LIMIT }, protection }) => ({
      changes: (await budgetHistory(store, orgId, Number(limit))).map((one) => bodyOf(one, protection)),
    }),
  );
};
