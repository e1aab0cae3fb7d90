import { z } from 'zod';
import { PullFault } from './vendor-client.js';
import { type Report, reportSource } from './vendor-report.js';

const count = z.number().int().min(0);

/** A row of Claude Code's analytics: https://platform.claude.com/docs/en/manage-claude/claude-code-analytics-api */
const ClaudeCodeRow = z.object({
  date: z.string(),
  actor: z.discriminatedUnion('type', [
    z.object({ type: z.literal('user_actor'), email_address: z.string().min(1) }),
    z.object({ type: z.literal('api_actor'), api_key_name: z.string().min(1) }),
  ]),
  customer_type: z.string().nullish(),
  core_metrics: z.object({
    commits_by_claude_code: count,
    pull_requests_by_claude_code: count,
    lines_of_code: z.object({ added: count, removed: count }).nullish(),
  }),
  model_breakdown: z.array(
    z.object({
      model: z.string().min(1),
      tokens: z.object({ input: count, output: count, cache_read: count, cache_creation: count }),
      estimated_cost: z.object({ currency: z.string(), amount: z.number().min(0) }),
    }),
  ),
});

/** How many rows are asked for at a time, the most that Anthropic gives. */
const ROWS = 1000;

/** The day of each person with Claude Code, as far as Anthropic's API was used. Subscriptions are missing. */
export const ANTHROPIC_CLAUDE_CODE: Report = {
  vendor: 'anthropic',
  source: reportSource('anthropic-claude-code'),
  revisedDays: 30,
  fetch: async (client, day) => {
    const path = `/v1/organizations/usage_report/claude_code?starting_at=${day}&limit=${ROWS}`;
    const rows = await client.rows(ClaudeCodeRow, path);
    return (
      rows
        // A subscription is in the analytics of the enterprise, and would count twice.
        .filter(({ customer_type }) => customer_type !== 'subscription')
        .map(({ date, actor, core_metrics, model_breakdown }) => {
          if (!date.startsWith(day))
            throw new PullFault(`Anthropic answers for ${date.slice(0, 10)} when it is asked for ${day}`);
          const email = actor.type === 'user_actor' ? actor.email_address.toLowerCase() : null;
          return {
            ...{ day, email, user: email ?? `api-key:${'api_key_name' in actor ? actor.api_key_name : ''}` },
            ...{ core_metrics, model_breakdown },
          };
        })
    );
  },
};
