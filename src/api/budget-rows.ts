import { addDays, type Day, lastClosedDay, laterDay } from '../day.js';
import { costTermsOf } from '../money/cost-terms.js';
import { quote, readSql, withSources } from '../store/sql-text.js';
import {
  BUDGET_SCOPES,
  type Budget,
  type BudgetScope,
  newestBudgets,
} from '../store/state/budget-revisions.js';
import { closedNamesOf } from '../store/state/closed-names.js';
import { usersOf } from '../store/state/person.js';
import type { Parameters, ReadColumns, Row, Store } from '../store/store.js';
import { memberNames } from '../store/tables.js';
import { type Form, type Reading, type ReportRequest, sqlOfAnswer, totalsSql } from './answer-rows.js';
import { guardedRange } from './guarded-range.js';

/** Which budgets are asked for. */
export interface BudgetQuestion {
  readonly orgId: string;
  /** This month by default. */
  readonly month?: string | undefined;
  readonly scope?: BudgetScope | undefined;
  /** Of the budget of this person alone. */
  readonly userId?: string | undefined;
  /** How many people may be told apart at least, if the reader may not see people by name. */
  readonly floor?: number | undefined;
}

/** The groups of `/costs` that budgets are of. */
const GROUPS: Readonly<Record<BudgetScope, string | undefined>> = {
  organization: undefined,
  team: 'team',
  cost_center: 'cost_center',
  person: 'user',
  agent: 'agent',
  model: 'model_key',
};

/** The days of a month of which an answer can be: those that are over, with the month before, which the forecast looks back on. */
export interface BudgetDays {
  readonly month: string;
  /** The days of the month. */
  readonly days: readonly Day[];
  readonly from: Day;
  readonly to: Day;
}

/** The days of a month, or of this one, at an instant (Unix milliseconds). */
export function budgetDays(asked: string | undefined, historyStart: Day, now: number): BudgetDays {
  const closed = lastClosedDay(now);
  const month = asked ?? addDays(closed, 1).slice(0, 7);
  const first = `${month}-01` as Day;
  const days = Array.from({ length: 31 }, (_, place) => addDays(first, place)).filter((day) =>
    day.startsWith(month),
  );
  const before = `${addDays(first, -1).slice(0, 7)}-01` as Day;
  const last = days.at(-1) ?? first;
  return { month, days, from: laterDay(before, historyStart), to: last < closed ? last : closed };
}

/** What is read of an organization, whichever scope a budget has. */
interface Known {
  readonly request: ReportRequest;
  readonly days: BudgetDays;
  /** The rows of the organization's days, if its groups may tell no more than the month. */
  readonly organizationDay: string | undefined;
}

/** A SELECT of literal rows, which has no rows without any. */
function literal(rows: readonly string[], none: string): string {
  return rows.length === 0
    ? `SELECT ${none} WHERE 1 = 0`
    : rows.map((row) => `SELECT ${row}`).join(' UNION ALL ');
}

const NO_BUDGET = "'' AS name, CAST(0 AS DOUBLE) AS usd";
const NO_DAY = "DATE '1970-01-01' AS day, CAST('0' AS DECIMAL(38, 12)) AS cost_usd";

/** The statement that reads the budgets of one scope, and its parameters. */
function scopeSql(
  { request, days, organizationDay }: Known,
  scope: BudgetScope,
  budgets: readonly Budget[],
  userId: string | undefined,
) {
  const isGuarded = request.guard !== undefined;
  const isOfPeople = scope === 'person';
  const isSpread = isGuarded && scope !== 'organization' && !isOfPeople;
  const { guard, ...unguarded } = request;
  const asked = {
    ...(isOfPeople ? unguarded : request),
    groupBy: GROUPS[scope],
    totals: {
      ...(isSpread ? { interval: 'month' as const } : {}),
      ...(userId === undefined ? {} : { user_id: [userId] }),
    },
  };
  const { text, parameters } = totalsSql(isSpread ? 'summary' : 'costs', asked);
  // In protected mode budgets of single people would be a way to ask for them one by one.
  const named = isOfPeople && isGuarded ? budgets.filter(({ name }) => name === null) : budgets;
  const usual = isOfPeople ? budgets.find(({ name }) => name === null) : undefined;
  const sources = {
    ...(isSpread
      ? {
          month_row: text,
          organization_day: organizationDay ?? literal([], NO_DAY),
          name_day: readSql('report/budget_month.sql'),
        }
      : { cost_row: text, name_day: readSql('report/budget_day.sql') }),
    budget: literal(
      named.map(({ name, usd }) => `${quote(name ?? '')} AS name, CAST(${usd} AS DOUBLE) AS usd`),
      NO_BUDGET,
    ),
    month_day: days.days.map((day) => `SELECT DATE '${day}' AS day`).join(' UNION ALL '),
  };
  const own: Parameters = {
    ...{ scope, month_name: days.month, month: { day: days.days[0] as Day } },
    ...{ month_end: { day: days.days.at(-1) as Day }, closed: { day: days.to } },
    ...{ has_default: usual === undefined ? 0 : 1, default_usd: usual?.usd ?? 0 },
    ...{ is_spread: isSpread ? 1 : 0, tells_people: isOfPeople && isGuarded ? 0 : 1 },
    people_at_least: guard?.floor ?? 0,
  };
  return {
    text: withSources(readSql('report/budgets.sql'), sources),
    parameters: { ...parameters, ...own },
  };
}

/** What the budgets of an organization are, and what else an answer about them needs: all that is read before its snapshot. */
export async function preparedBudgets(
  store: Store,
  { orgId, month, scope, userId, floor }: BudgetQuestion,
  historyStart: Day,
  now: number,
) {
  const days = budgetDays(month, historyStart, now);
  const range = { from: days.from, to: days.to, historyStart };
  const [{ budgets }, terms, closedNames, guarded] = await Promise.all([
    newestBudgets(store, orgId),
    costTermsOf(store, orgId),
    closedNamesOf(store, orgId),
    floor === undefined ? undefined : guardedRange(store, orgId, floor, range),
  ]);
  const request: ReportRequest = { orgId, ...range, ...guarded, terms, closedNames };
  const wanted = await ofPeople(store, orgId, budgets);
  const asked = userId === undefined ? wanted : ownOf(wanted, userId);
  return { days, request, asked: asked.filter((one) => scope === undefined || one.scope === scope), userId };
}

/** Budgets in which an alias means the person: the first budget of a person counts. */
async function ofPeople(store: Store, orgId: string, budgets: readonly Budget[]): Promise<Budget[]> {
  const known = new Set<string>();
  const found: Budget[] = [];
  for (const budget of budgets) {
    const [name] =
      budget.scope === 'person' && budget.name !== null
        ? await usersOf(store, orgId, [budget.name])
        : [budget.name];
    const key = JSON.stringify([budget.scope, name]);
    if (!known.has(key)) found.push({ ...budget, name: name ?? null });
    known.add(key);
  }
  return found;
}

/** The budget of one person: the own one, else that of each person. */
function ownOf(budgets: readonly Budget[], userId: string): Budget[] {
  const people = budgets.filter(({ scope }) => scope === 'person');
  const own = people.find(({ name }) => name === userId) ?? people.find(({ name }) => name === null);
  return own === undefined ? [] : [{ ...own, name: userId }];
}

/** The statement of each scope that has budgets, and its parameters. */
async function statements(
  select: Store['select'],
  { days, request, asked, userId }: Awaited<ReturnType<typeof preparedBudgets>>,
) {
  const scopes = BUDGET_SCOPES.filter((scope) => asked.some((budget) => budget.scope === scope));
  const organizationDay = request.guard === undefined ? undefined : await organizationDays(select, request);
  const known: Known = { request, days, organizationDay };
  const of = (scope: BudgetScope) =>
    scopeSql(
      known,
      scope,
      asked.filter((budget) => budget.scope === scope),
      userId,
    );
  return { scopes, of };
}

/** Reads the budgets of a month as rows of sql/answer/budgets.sql: one result for each scope. All SELECTs must see one state of the store. */
export async function readBudgets(
  select: Store['select'],
  readColumns: ReadColumns,
  prepared: Awaited<ReturnType<typeof preparedBudgets>>,
  form: Form,
): Promise<Reading> {
  const { scopes, of } = await statements(select, prepared);
  async function* results() {
    // An answer without rows has columns, too.
    for (const scope of scopes.length === 0 ? (['organization'] as const) : scopes) {
      const { text, parameters } = of(scope);
      yield await readColumns(sqlOfAnswer('budgets', form), { report_budgets: text }, parameters);
    }
  }
  return { columns: memberNames('budgets'), results: results() };
}

/** The budgets of a month as rows of sql/report/budgets.sql. */
export async function budgetRows(
  select: Store['select'],
  prepared: Awaited<ReturnType<typeof preparedBudgets>>,
): Promise<Row[]> {
  const { scopes, of } = await statements(select, prepared);
  const rows: Row[] = [];
  for (const scope of scopes) {
    const { text, parameters } = of(scope);
    rows.push(...(await select(text, parameters)));
  }
  return rows;
}

/** The cost of the organization on each day, as a guarded request may tell it: rows of `day` and `cost_usd`. */
async function organizationDays(select: Store['select'], request: ReportRequest): Promise<string> {
  const { text, parameters } = totalsSql('costs', { ...request, totals: {} });
  const rows = await select(
    withSources(
      'SELECT DISTINCT place, day, CAST(coalesce(cost_usd, 0) AS VARCHAR) AS cost_usd FROM cost_row',
      {
        cost_row: text,
      },
    ),
    parameters,
  );
  return literal(
    rows.map(
      ({ day, cost_usd }) => `DATE '${day}' AS day, CAST('${cost_usd}' AS DECIMAL(38, 12)) AS cost_usd`,
    ),
    NO_DAY,
  );
}

/** The days of a month that are over and not built, although there are days before them. */
export async function unbuiltDays(
  select: Store['select'],
  orgId: string,
  { days, from, to }: BudgetDays,
): Promise<Day[]> {
  const rows = await select(
    'SELECT day FROM activity WHERE org_id = $org_id AND day BETWEEN $from AND $to ORDER BY day',
    { org_id: orgId, from: { day: from }, to: { day: to } },
  );
  const built = rows.map(({ day }) => day as Day);
  const [first] = built;
  return days.filter((day) => first !== undefined && day > first && day <= to && !built.includes(day));
}
