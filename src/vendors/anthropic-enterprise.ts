import { z } from 'zod';
import { addDays, type Day } from '../day.js';
import { PullFault, type VendorClient } from './vendor-client.js';
import { type Report, reportSource } from './vendor-report.js';

/**
 * Anthropic's analytics of organizations on the plan Enterprise: https://platform.claude.com/docs/en/api/beta/organization/analytics.
 * They tell of all products. Only Claude Code's count here.
 */
const PRODUCT = 'claude_code';

const count = z.number().int().min(0);

/** How many rows are asked for at a time, the most that Anthropic gives. */
const ROWS = 1000;

/** A person, whose address is null once the account is deleted. It has had two names. */
const Actor = z
  .object({
    user_id: z.string().min(1),
    email_address: z.string().min(1).nullish(),
    email: z.string().min(1).nullish(),
  })
  .transform(({ user_id, email_address, email }) => personOf(user_id, email_address ?? email));

const Group = {
  actor: Actor,
  starting_at: z.string().nullish(),
  product: z.string().nullish(),
  model: z.string().min(1).nullish(),
  speed: z.string().min(1).nullish(),
};

interface Grouped {
  readonly starting_at?: string | null | undefined;
  readonly product?: string | null | undefined;
}

const UsageRow = z.object({
  ...Group,
  uncached_input_tokens: count,
  cache_creation: z.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
  cache_read_input_tokens: count,
  output_tokens: count,
  server_tool_use: z.object({ web_search_requests: count.nullish() }).nullish(),
});

const CostRow = z.object({
  ...Group,
  currency: z.string(),
  /** Cents, with fractions. */
  amount: z.coerce.number().min(0),
});

const ActivityRow = z.object({
  user: z.object({ id: z.string().min(1), email_address: z.string().min(1).nullish() }),
  claude_code_metrics: z.object({
    core_metrics: z.object({
      commit_count: count,
      pull_request_count: count,
      lines_of_code: z.object({ added_count: count, removed_count: count }),
    }),
  }),
});

function personOf(id: string, address: string | null | undefined) {
  const email = address?.toLowerCase() ?? null;
  return { email, user: email ?? `anthropic:${id}` };
}

/** All rows of an answer. */
async function rowsOf<Row>(client: VendorClient, row: z.ZodType<Row>, path: string): Promise<Row[]> {
  const Page = z.object({
    data: z.array(row),
    has_more: z.boolean().nullish(),
    next_page: z.string().nullish(),
  });
  const pages = await client.pages(Page, { path }, ({ has_more, next_page }) => {
    if (has_more === true && next_page == null)
      throw new PullFault('Anthropic says that there is another page, but not which one');
    return next_page == null ? undefined : { path: `${path}&page=${encodeURIComponent(next_page)}` };
  });
  return pages.flatMap(({ data }) => data);
}

/** The rows of Claude Code on a day in a report of usage or costs. */
async function groupsOf<Row extends Grouped>(
  client: VendorClient,
  row: z.ZodType<Row>,
  report: string,
  day: Day,
): Promise<Row[]> {
  const groups = ['product', 'model', 'speed'].map((name) => `group_by[]=${name}`).join('&');
  const range = `starting_at=${day}T00:00:00Z&ending_at=${addDays(day, 1)}T00:00:00Z&bucket_width=1d`;
  const path = `/v1/organizations/analytics/${report}?${range}&products[]=${PRODUCT}&${groups}&limit=${ROWS}`;
  const rows = await rowsOf(client, row, path);
  return rows.filter(({ starting_at, product }) => {
    if (starting_at != null && !starting_at.startsWith(day))
      throw new PullFault(`Anthropic answers for ${starting_at.slice(0, 10)} when it is asked for ${day}`);
    return product === PRODUCT;
  });
}

/** What each person used of each model with Claude Code, and what it costs. Subscriptions are among it. */
export const ANTHROPIC_ENTERPRISE_USAGE: Report = {
  vendor: 'anthropic-enterprise',
  source: reportSource('anthropic-enterprise-usage'),
  revisedDays: 30,
  fetch: async (client, day) => {
    const used = await groupsOf(client, UsageRow, 'user_usage_report', day);
    const costs = await groupsOf(client, CostRow, 'user_cost_report', day);
    return [
      ...used.map(({ actor, model, speed, cache_creation, server_tool_use, ...tokens }) => ({
        ...{ day, ...actor, model: model ?? null, speed: speed ?? null },
        ...{ input: tokens.uncached_input_tokens, output: tokens.output_tokens },
        cache_read: tokens.cache_read_input_tokens,
        cache_write: cache_creation.ephemeral_5m_input_tokens + cache_creation.ephemeral_1h_input_tokens,
        cache_write_1h: cache_creation.ephemeral_1h_input_tokens,
        web_searches: server_tool_use?.web_search_requests ?? 0,
      })),
      ...costs.map(({ actor, model, speed, currency, amount }) => ({
        ...{ day, ...actor, model: model ?? null, speed: speed ?? null },
        cents: currency === 'USD' ? amount : null,
      })),
    ];
  },
};

/** The commits, pull requests and lines of each person with Claude Code. */
export const ANTHROPIC_ENTERPRISE_ACTIVITY: Report = {
  vendor: 'anthropic-enterprise',
  source: reportSource('anthropic-enterprise-activity'),
  lateDays: 4,
  revisedDays: 14,
  fetch: async (client, day) => {
    const path = `/v1/organizations/analytics/users?date=${day}&limit=${ROWS}`;
    const rows = await rowsOf(client, ActivityRow, path);
    return rows.map(({ user, claude_code_metrics: { core_metrics } }) => ({
      ...{ day, ...personOf(user.id, user.email_address) },
      ...{ commits: core_metrics.commit_count, pull_requests: core_metrics.pull_request_count },
      added: core_metrics.lines_of_code.added_count,
      removed: core_metrics.lines_of_code.removed_count,
    }));
  },
};
