import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import {
  type BudgetRevision,
  Budgets,
  budgetHistory,
  changeBudgets,
  newestBudgets,
} from '../store/state/budget-revisions.js';
import { addRevisionRoutes } from './revision-routes.js';
import type { ApiDeps } from './route-family.js';

const inSettings = ({ budgets, ...revision }: BudgetRevision) => ({
  ...revision,
  settings: { budgets: [...budgets] },
});

/** What may be spent in each month (docs/budgets.md). */
export const budgetRoutes: FastifyPluginAsync<ApiDeps> = async (app, { store, clock }) =>
  addRevisionRoutes(app, {
    tag: 'budgets',
    action: 'manage budgets',
    subject: 'what may be spent in each month',
    effect:
      'The budgets of the body replace all. They count from the next request on, also for earlier months.',
    schema: z.strictObject({ budgets: Budgets }),
    newest: async (orgId) => inSettings(await newestBudgets(store, orgId)),
    change: async (orgId, { budgets }, author, check) => {
      const make = ({ revision }: BudgetRevision) => {
        check(revision);
        return budgets;
      };
      return inSettings(await changeBudgets(store, orgId, make, author, clock()));
    },
    history: async (orgId, limit) => (await budgetHistory(store, orgId, limit)).map(inSettings),
  });
