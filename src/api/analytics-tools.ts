import { z } from 'zod';
import { type Day, isDay } from '../day.js';
import { ANSWERS, type Answer, GROUPS, isPaged, isTotals } from './answer-names.js';
import { BudgetQuery, OwnBudgetQuery } from './budget-query.js';
import { limitOf } from './page-limit.js';
import type { RouteTool, ToolText } from './route-tool.js';
import { SilenceQuery } from './silence-query.js';
import {
  ChangesQuery,
  Filters,
  faultOfComparison,
  NEEDS_GROUPS,
  SummaryQuery,
  type Totals,
  TotalsQuery,
} from './totals-query.js';

const A_DAY = 'must be a calendar date as YYYY-MM-DD';
const A_CURSOR = 'must be a user id of 1 to 128 characters';

const day = (description: string, example: string) =>
  z
    .string(A_DAY)
    .refine(isDay, A_DAY)
    .meta({ description, format: 'date', examples: [example] });

export const Range = {
  startDate: day('first day, in UTC', '2026-06-01'),
  endDate: day('last day, in UTC: yesterday or earlier', '2026-06-07'),
};

export const RANGE_ERRORS = { 400: `The parameter startDate is required: it ${A_DAY}.` };

const Page = {
  user_id: Filters.user_id,
  team: Filters.team,
  cost_center: Filters.cost_center,
  limit: limitOf('users per page'),
  cursor: z
    .string(A_CURSOR)
    .min(1, A_CURSOR)
    .max(128, A_CURSOR)
    .meta({ description: 'next_cursor of the previous page', examples: ['ada'] })
    .optional(),
};

/** All query parameters; each endpoint takes some of them. */
export interface Query extends Totals {
  readonly startDate: Day;
  readonly endDate: Day;
  readonly group_by?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Adds what is wrong with a comparison. */
function addFault(query: Query, context: z.core.$RefinementCtx): void {
  const [parameter, message] =
    faultOfComparison({ ...query, from: query.startDate, to: query.endDate }) ?? [];
  if (parameter !== undefined && message !== undefined)
    context.addIssue({ code: 'custom', path: [parameter], message });
}

/** The query parameters of an answer's endpoint. */
export function queryOf(answer: Answer): z.ZodType<Query> {
  const groups = GROUPS[answer];
  const Grouped = {
    ...Range,
    group_by: z
      .enum(groups, `must be ${groups.join(', ')} or absent`)
      .meta({ description: 'one row per group, or per group and day', examples: groups.slice(0, 1) })
      .optional(),
  };
  const shape = groups.length > 0 ? Grouped : Range;
  if (answer === 'summary')
    return z.strictObject({ ...Grouped, ...SummaryQuery, ...TotalsQuery }).superRefine((query, context) => {
      for (const name of NEEDS_GROUPS)
        if (query[name] !== undefined && query.group_by === undefined)
          context.addIssue({ code: 'custom', path: [name], message: 'needs group_by' });
      addFault(query, context);
    });
  if (answer === 'changes')
    return z.strictObject({ ...Range, ...ChangesQuery, ...Filters }).superRefine(addFault);
  if (answer === 'focus') return z.strictObject({ ...shape, ...Filters });
  if (answer === 'costs') return z.strictObject({ ...shape, ...TotalsQuery });
  return isPaged(answer) ? z.strictObject({ ...shape, ...Page }) : z.strictObject(shape);
}

/** What the endpoints answer, for the reference and for AI agents. */
export const SUMMARIES: Record<Answer, string> = {
  tokens: 'Tokens and credits per day',
  tools: 'Tools, MCP servers, skills, commands, hooks and autonomy per day',
  activity: 'Active users, sessions and messages per day',
  productivity: 'Files, languages, commits and pull requests per day',
  users: 'Users on the days on which they were active, in pages',
  quality: 'How far the numbers of each day can be trusted',
  summary: 'Totals of a range, by user, model, agent and more',
  changes:
    'Why the cost of a range differs from that of the days before: teams, people, tokens, models, prices',
  costs: 'List prices of the tokens per day, by user, model, agent and more',
  focus:
    'List prices and contracted costs per day, agent, model and kind of token, as FOCUS 1.2 has them, for FinOps tools',
  vendor_lines: 'Lines of code that vendors say their agents suggested, added and removed, per day and agent',
  coverage: 'Which agents and channels reported on which users, and how far they agree, in pages',
};

export const ME = "The caller's own rows of /users";
export const TODAY = 'The open day so far, counted on request';
export const ADOPTION = 'How many people use each MCP server and skill, per week, newly, and again';
export const MARKS = 'What needs a look: who is stuck, which servers and tools fail, what spreads';

export const MarksQuery = {
  endDate: day('the day as of which it is asked: yesterday by default', '2026-06-07').optional(),
};

const REPORT: ToolText = {
  name: 'report',
  title: 'Daily numbers',
  about:
    'One answer of the analytics API, exact for each UTC day: one row per day, or per user and day for users and me. Use it for what happened day by day. billable_tokens are credits of the rate card, neither tokens nor dollars. A day without events is a row of zeros; a day that is not built yet has no row.',
};

const COVERAGE: ToolText = {
  name: 'coverage',
  title: 'Who reports, and how',
  about:
    'Which coding agents and channels (transcripts, hooks, telemetry) reported events of which users, per user, day and agent. Use it when numbers look too low or someone is missing.',
};

const SUMMARY: ToolText = {
  name: 'summary',
  title: 'Totals of a range',
  about:
    'Cost in USD, tokens, sessions, tool calls, files, commits and active users of a range of days, in all or by user, model, agent, repository, client, tool or MCP server, per day, week or month if wanted. Use it for how much, who and where. cost_usd leaves out unpriced_tokens. billable_tokens are credits of the rate card, not dollars.',
};

const CHANGES: ToolText = {
  name: 'changes',
  title: 'Why the cost changed',
  about:
    'What a range cost, what the days before cost, and the steps from these to that in USD, which add up: teams whose data begin, people, tokens per person, choice of models, prices. Use it for why a cost changed; for who changed it, ask summary with compare and sort=change:abs by team, user, repo or model. A single row now means that the days before cannot be compared.',
};

const COSTS: ToolText = {
  name: 'costs',
  title: 'Costs per day',
  about:
    'What the tokens of each UTC day cost in USD at the list prices of that day, by kind of token, with the models that have no known price and their share of the tokens. billable_tokens are credits of the rate card, not dollars.',
};

const SILENCE: ToolText = {
  name: 'silence',
  title: 'Who went silent',
  about:
    'Which laptops (collectors) and agents of people stopped reporting, since when, and what somebody knows about it. Use it when numbers look too low. idle agents have nothing to send. Without people by name only the counts in meta.',
};

const BUDGETS: ToolText = {
  name: 'budgets',
  title: 'Budgets of a month',
  about:
    "What of each monthly budget in USD is spent, of the organization, teams, cost centres, people, agents and models, with a forecast of the month's end. Use it for whether a budget holds. state too_early: fewer than 15 days are built.",
};

/** The answers that are tools of their own. */
const OWN_TOOLS: Partial<Record<Answer, ToolText>> = {
  coverage: COVERAGE,
  summary: SUMMARY,
  changes: CHANGES,
  costs: COSTS,
};

/** The endpoints as tools for AI agents, which ask for costs and not for their export. */
export const analyticsTools: readonly RouteTool[] = [
  ...ANSWERS.filter((answer) => answer !== 'focus').map((answer) => ({
    ...(OWN_TOOLS[answer] === undefined
      ? { tool: REPORT, answer: { name: answer, about: SUMMARIES[answer] } }
      : { tool: OWN_TOOLS[answer] }),
    path: answer,
    action: isTotals(answer) ? ('read its own analytics' as const) : ('read analytics' as const),
    input: queryOf(answer),
  })),
  {
    tool: SILENCE,
    path: 'silence',
    action: 'read analytics' as const,
    input: SilenceQuery,
  },
  {
    tool: BUDGETS,
    answer: { name: 'budgets', about: 'all budgets of the organization' },
    path: 'budgets',
    action: 'read analytics' as const,
    input: BudgetQuery,
  },
  {
    tool: BUDGETS,
    answer: { name: 'me', about: "the caller's own budget" },
    path: 'me/budget',
    action: 'read its own analytics' as const,
    input: OwnBudgetQuery,
  },
  {
    tool: REPORT,
    answer: { name: 'me', about: ME },
    path: 'me',
    action: 'read its own analytics' as const,
    input: z.strictObject(Range),
  },
  {
    tool: REPORT,
    answer: { name: 'today', about: TODAY },
    path: 'today',
    action: 'read analytics' as const,
    input: z.strictObject({}),
  },
  {
    tool: REPORT,
    answer: { name: 'adoption', about: ADOPTION },
    path: 'adoption',
    action: 'read analytics' as const,
    input: z.strictObject(Range),
  },
  {
    tool: REPORT,
    answer: { name: 'marks', about: MARKS },
    path: 'marks',
    action: 'read its own analytics' as const,
    input: z.strictObject(MarksQuery),
  },
].map((tool) => ({
  ...tool,
  method: 'GET',
  path: `/api/v1/analytics/${tool.path}`,
  form: 'application/json',
  rest: 'ask for fewer days or another group_by, or use sql',
}));
