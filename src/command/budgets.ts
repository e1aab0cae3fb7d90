import { userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { BUDGET_SCOPES, type BudgetRevision, type BudgetScope } from '../store/state/budget-revisions.js';
import { count, table } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';

interface ListOptions {
  readonly org: string;
  readonly json?: boolean;
}

interface ChangeOptions extends ListOptions {
  readonly scope: BudgetScope;
  readonly name?: string;
}

/** Adds `budgets` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const budgets = program
    .command('budgets')
    .description('say what may be spent in a month; "daybook report budgets" says what is');

  budgets
    .command('list')
    .description('list all budgets')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON')
    .action((options: ListOptions) => list(options, invocation));

  withBudget(budgets.command('set').description('set a budget, and leave all others as they are'))
    .requiredOption('--usd <dollars>', 'dollars of the price list in a month', Number)
    .action((options: ChangeOptions & { usd: number }) => change(options, options.usd, invocation));

  withBudget(budgets.command('remove').description('remove a budget')).action((options: ChangeOptions) =>
    change(options, null, invocation),
  );
}

/** Adds the options that name a budget. */
function withBudget(command: Command): Command {
  return command
    .requiredOption('--org <org>', 'organization')
    .addOption(
      new Option('--scope <scope>', 'what the budget is of').choices(BUDGET_SCOPES).makeOptionMandatory(),
    )
    .option(
      '--name <name>',
      'which one; without it the organization, or each person without a budget of their own',
    )
    .option('--json', 'print JSON');
}

async function list({ org, json }: ListOptions, { settings, clock }: Invocation): Promise<void> {
  tell(await call(settings(), clock, 'listBudgets', { orgId: org }), org, json);
}

async function change(
  { org, json, scope, name }: ChangeOptions,
  usd: number | null,
  { settings, clock }: Invocation,
): Promise<void> {
  if (usd !== null && !Number.isFinite(usd)) throw new UsageError('--usd must be a number of dollars.');
  const budget = { scope, name: name ?? null, usd };
  tell(
    await call(settings(), clock, 'changeBudget', { orgId: org, budget, user: userInfo().username }),
    org,
    json,
  );
}

function tell(found: BudgetRevision, org: string, json: boolean | undefined): void {
  print(json === true ? JSON.stringify(found) : inWords(found, org));
}

function inWords({ budgets }: BudgetRevision, org: string): string {
  if (budgets.length === 0) return `${org} has no budgets: "daybook budgets set" sets one.`;
  const rows = table(budgets.map(({ scope, name, usd }) => ({ scope, name: name ?? '', usd })));
  return `${rows}\n${org} has ${count(budgets.length, 'budget')}.`;
}
