import { z } from 'zod';
import { PullFault } from './vendor-client.js';
import { type Report, reportSource } from './vendor-report.js';

const count = z.number().int().min(0).nullish();

const Links = z.object({ download_links: z.array(z.url()).max(1000) });
/** GitHub answers an empty list for a day of which there is nothing. */
const Answered = z.union([Links, z.array(z.unknown()).max(0)]);

/** Lines that were suggested, and those that came into files. */
const LINES = { loc_suggested_to_add_sum: count, loc_added_sum: count, loc_deleted_sum: count };

/** What Copilot's usage metrics say of one person on one day: https://docs.github.com/en/copilot/reference/copilot-usage-metrics */
const Row = z.object({
  day: z.string(),
  user_login: z.string().min(1),
  user_initiated_interaction_count: count,
  ai_credits_used: z.number().min(0).nullish(),
  ...LINES,
  totals_by_feature: z.array(z.object({ feature: z.string(), ...LINES })).nullish(),
  totals_by_cli: z
    .object({
      prompt_count: count,
      token_usage: z.object({ prompt_tokens_sum: count, output_tokens_sum: count }).nullish(),
    })
    .nullish(),
});

/** The report is a line for each person, or one document with all of them. */
const Document = z.union([
  z.object({ day_totals: z.array(Row) }).transform((one) => one.day_totals),
  Row.transform((row) => [row]),
]);

const LINE_MEMBERS = ['loc_suggested_to_add_sum', 'loc_added_sum', 'loc_deleted_sum'] as const;

/** The lines of the CLI, and all others, which are in the totals only. */
function linesOf(row: Pick<z.infer<typeof Row>, (typeof LINE_MEMBERS)[number] | 'totals_by_feature'>) {
  const ofCli = row.totals_by_feature?.filter(({ feature }) => feature === 'copilot_cli') ?? [];
  return Object.fromEntries(
    LINE_MEMBERS.flatMap((name) => {
      const cli = ofCli.reduce((sum, one) => sum + (one[name] ?? 0), 0);
      const all = row[name];
      return [
        [name, all == null ? null : Math.max(0, all - cli)],
        [`cli_${name}`, ofCli.length === 0 ? null : cli],
      ];
    }),
  );
}

/** The day of each person with GitHub Copilot. */
export const GITHUB_COPILOT: Report = {
  vendor: 'github',
  source: reportSource('github-copilot'),
  revisedDays: 4,
  fetch: async (client, day, account) => {
    const path = `/${account}/copilot/metrics/reports/users-1-day?day=${day}`;
    const answered = await client.json(Answered, { path });
    const rows: z.infer<typeof Row>[] = [];
    for (const link of 'download_links' in answered ? answered.download_links : [])
      for (const part of await client.lines(Document, link)) rows.push(...part);
    return rows.map(({ day: told, user_login, user_initiated_interaction_count, ...row }) => {
      if (told !== day) throw new PullFault(`GitHub answers for ${told} when it is asked for ${day}`);
      const { totals_by_cli: cli } = row;
      const ofCli = cli?.prompt_count ?? 0;
      return {
        ...{ day, email: null, user: user_login },
        prompts: Math.max(0, (user_initiated_interaction_count ?? 0) - ofCli),
        cli_prompts: ofCli,
        cli_prompt_tokens: cli?.token_usage?.prompt_tokens_sum ?? 0,
        cli_output_tokens: cli?.token_usage?.output_tokens_sum ?? 0,
        ...linesOf(row),
      };
    });
  },
};
