import { z } from 'zod';
import { BUDGET_SCOPES } from '../store/state/budget-revisions.js';

/** A month, `YYYY-MM`. */
export const Month = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'must be a month as YYYY-MM')
  .meta({ description: 'the month, in UTC; this one by default', examples: ['2026-06'] });

/** The parameters of the answer about budgets. */
export const BudgetQuery = z.strictObject({
  month: Month.optional(),
  scope: z
    .enum(BUDGET_SCOPES, `must be ${BUDGET_SCOPES.join(', ')} or absent`)
    .meta({ description: 'only budgets of this kind', examples: ['team'] })
    .optional(),
});

/** Those of the answer about the caller's own. */
export const OwnBudgetQuery = z.strictObject({ month: Month.optional() });
