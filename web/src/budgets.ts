import type { Address } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, useFresh } from './client.js';
import { dayText, figure } from './format.js';
import type { Look } from './marks.js';

export type BudgetsAnswer = Answers['getAnalyticsBudgets'];
export type Budget = BudgetsAnswer['data'][number];

/** All budgets of the month. Asks for nothing where they aren't wanted. */
export function useBudgets(isWanted = true): Asked<BudgetsAnswer> {
  return useFresh(isWanted ? 'api/v1/analytics/budgets' : undefined);
}

/** What each kind of budget is of. */
export const SCOPES: Readonly<Record<Budget['scope'], string>> = {
  ...{ organization: 'organization', team: 'team', cost_center: 'cost centre' },
  ...{ person: 'person', agent: 'agent', model: 'model' },
};

/** The page with the numbers of a budget's group. */
export function pageOfBudget(address: Address, { scope, name }: Budget): Address | undefined {
  const of = (page: string) => ({ ...address, path: [page], choices: { name: name ?? '' } });
  if (scope === 'organization') return { ...address, path: ['operations', 'budgets'], choices: {} };
  if (name === null) return { ...address, path: ['operations', 'budgets'], choices: {} };
  if (scope === 'team') return of('teams');
  if (scope === 'person') return of('people');
  if (scope === 'model') return of('models');
  return { ...address, path: [], filters: { [scope]: [name] }, choices: {} };
}

/** Whether more is spent than a budget, or will be by its forecast. */
export function isOver({ state, forecast_usd, budget_usd }: Budget): boolean {
  return state === 'above' || (state === 'may_not_hold' && (forecast_usd ?? 0) > budget_usd);
}

const passed = ({ state }: Budget): number => Number(state === 'above');

/** The budgets that need a look, those of people together. */
export function budgetLooks(budgets: readonly Budget[], address: Address, organization: string): Look[] {
  const over = budgets
    .filter(isOver)
    .sort((one, other) => passed(other) - passed(one) || (other.spent_ratio ?? 0) - (one.spent_ratio ?? 0));
  const people = over.filter(({ scope }) => scope === 'person');
  const [first] = people;
  const above = budgets.find(({ people_above }) => people_above !== null)?.people_above ?? 0;
  const shared = { word: 'budget', tone: 'warn' } as const;
  return [
    ...over
      .filter(({ scope }) => scope !== 'person')
      .map((budget) => ({
        ...shared,
        name: budget.name ?? organization,
        ...(budget.scope === 'organization' ? {} : { kind: SCOPES[budget.scope] }),
        to: pageOfBudget(address, budget),
        reason: overText(budget),
      })),
    ...(first !== undefined && people.length === 1
      ? [{ ...shared, name: first.name ?? '', to: pageOfBudget(address, first), reason: overText(first) }]
      : []),
    ...(first !== undefined && people.length > 1
      ? [
          {
            ...shared,
            name: `${people.length} people`,
            to: { ...address, path: ['operations', 'budgets'], choices: {} },
            reason: `highest: ${first.name}, ${overText(first)}`,
          },
        ]
      : []),
    ...(above > 0
      ? [{ ...shared, name: `${above} people`, reason: 'spent more than the budget of each person' }]
      : []),
  ];
}

function overText({ state, spent_usd, budget_usd, forecast_usd, all_on }: Budget): string {
  const budget = figure(budget_usd, 'dollars');
  return state === 'above'
    ? `${figure(spent_usd, 'dollars')} of ${budget}${all_on === null ? '' : `, passed on ${dayText(all_on)}`}`
    : `forecast ${figure(forecast_usd, 'dollars')}, budget ${budget}`;
}
