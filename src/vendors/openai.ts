import { z } from 'zod';
import { addDays } from '../day.js';
import { PullFault } from './vendor-client.js';
import { type Report, reportSource } from './vendor-report.js';

const count = z.number().int().min(0).nullish();

/** The members of tokens are null where the workspace doesn't count them. */
const Tokens = {
  uncached_text_input_tokens: count,
  cached_text_input_tokens: count,
  text_output_tokens: count,
};

/** A row of the usage of a workspace: OpenAI's Codex Enterprise Analytics API. */
const UsageRow = z.object({
  start_time: z.number().int(),
  user_id: z.string().min(1),
  actor: z.object({ email: z.string().min(1).nullish() }).nullish(),
  totals: z.object(Tokens),
  models: z.array(z.object({ model: z.string().min(1), speed: z.string().nullish(), ...Tokens })).nullish(),
  code_attribution: z
    .object({ lines_of_code: z.object({ added: count, removed: count }).nullish() })
    .nullish(),
});

/** How many rows are asked for at a time. */
const ROWS = 100;

/** The day of each person with Codex, on ChatGPT's plans for companies. */
export const OPENAI_CODEX: Report = {
  vendor: 'openai',
  source: reportSource('openai-codex'),
  revisedDays: 7,
  fetch: async (client, day, account) => {
    const [start, end] = [day, addDays(day, 1)].map((one) => Date.parse(one) / 1000);
    const path = `/v1/analytics/codex/workspaces/${encodeURIComponent(account)}/usage?start_time=${start}&end_time=${end}&limit=${ROWS}`;
    const rows = await client.rows(UsageRow, path);
    return rows.map(({ start_time, user_id, actor, totals, models, code_attribution }) => {
      if (start_time !== start)
        throw new PullFault(`OpenAI answers for another day when it is asked for ${day}`);
      const email = actor?.email?.toLowerCase() ?? null;
      const told = models ?? [{ model: 'unknown', speed: null, ...totals }];
      const lines_of_code = code_attribution?.lines_of_code ?? null;
      return { day, email, user: email ?? `openai:${user_id}`, models: told, lines_of_code };
    });
  },
};
