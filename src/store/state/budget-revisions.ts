import { z } from 'zod';
import { nameText } from '../../input/name-text.js';
import type { Store } from '../store.js';
import { type Revision, Revisions } from './revisions.js';

/** What a budget can be of. */
export const BUDGET_SCOPES = ['organization', 'team', 'cost_center', 'person', 'agent', 'model'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** How many budgets an organization can have. */
export const BUDGETS_AT_MOST = 1000;

const DOLLARS = 'must be a number of dollars from 0.01 to 1000000000 with at most 2 decimals';

/** What may be spent in each month. TRICKY: an erasure looks for the members in this order in JSON. */
export const Budget = z
  .strictObject({
    scope: z.enum(BUDGET_SCOPES).meta({ description: 'what the budget is of', examples: ['team'] }),
    name: nameText(255)
      .nullable()
      .default(null)
      .meta({
        description:
          'which one: a team, cost centre, user id, agent, or a model by its key; null for the organization, and for each person without a budget of their own',
        examples: ['Compilers'],
      }),
    usd: z
      .number(DOLLARS)
      .min(0.01, DOLLARS)
      .max(1_000_000_000, DOLLARS)
      .refine((usd) => Number(usd.toFixed(2)) === usd, DOLLARS)
      .meta({ description: 'dollars of the price list in a month', examples: [3000] }),
  })
  .superRefine(({ scope, name }, context) => {
    const fault = nameFaultOf(scope, name);
    if (fault !== undefined) context.addIssue({ code: 'custom', path: ['name'], message: fault });
  });
export type Budget = z.infer<typeof Budget>;

function nameFaultOf(scope: BudgetScope, name: string | null): string | undefined {
  if (scope === 'organization') return name === null ? undefined : 'must be null for the organization';
  return name === null && scope !== 'person' ? `must name the ${scope}` : undefined;
}

/** All budgets of an organization. */
export const Budgets = z
  .array(Budget)
  .max(BUDGETS_AT_MOST)
  .refine(
    (budgets) =>
      new Set(budgets.map(({ scope, name }) => JSON.stringify([scope, name]))).size === budgets.length,
    'must not have two budgets of the same scope and name',
  );

/** The budgets of an organization after a change of them; revision 0 before the first. */
export interface BudgetRevision extends Omit<Revision, 'document'> {
  readonly budgets: readonly Budget[];
}

const revisions = new Revisions('budget_revisions', 'budgets', '[]');

function budgetsOf({ document, ...revision }: Revision): BudgetRevision {
  return { ...revision, budgets: z.array(Budget).parse(JSON.parse(document)) };
}

/** The newest budgets of an organization. */
export async function newestBudgets(store: Pick<Store, 'select'>, orgId: string): Promise<BudgetRevision> {
  return budgetsOf(await revisions.newest(store, orgId));
}

/** The newest changes of an organization's budgets, the newest one first. */
export async function budgetHistory(
  store: Pick<Store, 'select'>,
  orgId: string,
  limit: number,
): Promise<BudgetRevision[]> {
  return (await revisions.history(store, orgId, limit)).map(budgetsOf);
}

/** Changes budgets. `make` gets the newest revision, and throws if it may not be changed. Equal budgets are no change. */
export async function changeBudgets(
  store: Store,
  orgId: string,
  make: (before: BudgetRevision) => readonly Budget[],
  author: string,
  now: number,
): Promise<BudgetRevision> {
  const documentOf = (before: Revision) =>
    JSON.stringify(
      [...make(budgetsOf(before))].sort(inOrder).map(({ scope, name, usd }) => ({ scope, name, usd })),
    );
  return budgetsOf(await revisions.change(store, orgId, documentOf, author, now));
}

/** Budgets by scope, as BUDGET_SCOPES has them, and then by name. */
function inOrder(one: Budget, other: Budget): number {
  const byScope = BUDGET_SCOPES.indexOf(one.scope) - BUDGET_SCOPES.indexOf(other.scope);
  if (byScope !== 0) return byScope;
  return (one.name ?? '') < (other.name ?? '') ? -1 : 1;
}
