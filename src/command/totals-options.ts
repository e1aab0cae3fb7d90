import type { Command } from 'commander';
import { type Answer, isTotals } from '../api/answer-names.js';
import type { Totals } from '../api/totals-query.js';
import { UsageError } from '../exit.js';

/** The note below tables with dollars and credits. */
export const ABOUT_COSTS =
  'cost_usd has list prices and leaves out unpriced_tokens.\nbillable_tokens are credits of the rate card, not dollars.';

/** The options of `report` for the summary and costs. */
export interface TotalsOptions {
  readonly limit?: number;
  readonly interval?: string;
  readonly sort?: string;
  readonly compare?: string;
  readonly search?: string;
  readonly groupKeys?: string;
  readonly user?: readonly string[];
  readonly model?: readonly string[];
  readonly agent?: readonly string[];
  readonly repo?: readonly string[];
  readonly client?: readonly string[];
  readonly team?: readonly string[];
  readonly costCenter?: readonly string[];
  readonly tool?: readonly string[];
  readonly mcpServer?: readonly string[];
}

/** Adds these options to a command. */
export function withTotals(command: Command): Command {
  return command
    .option('--interval <interval>', 'day, week or month: one row for each (summary)')
    .option(
      '--sort <member>',
      'a number to sort by, such as sessions or cost_usd:asc; with --compare also change, change:asc or change:abs (summary)',
    )
    .option(
      '--compare <range>',
      'previous: with as many days before; month: with the same days of the month before (summary, changes)',
    )
    .option('--search <text>', 'only groups whose name has this text in it (summary)')
    .option('--group-keys <keys>', 'only these groups, such as \'["ada","grace"]\' (summary)')
    .option('--limit <rows>', 'only the first rows (summary, costs)', limitOf)
    .option(
      '--user <user>',
      'only this user; repeat it for any of several (summary, changes, costs, focus; likewise the next eight)',
      several,
    )
    .option('--model <model>', 'only this model', several)
    .option('--agent <agent>', 'only this agent', several)
    .option('--repo <repo>', 'only this repository, in any spelling of its address', several)
    .option('--client <client>', 'only this client', several)
    .option('--team <team>', 'only people who belonged to this team on the day', several)
    .option('--cost-center <name>', 'only people who belonged to this cost centre on the day', several)
    .option('--tool <tool>', 'only this tool', several)
    .option('--mcp-server <server>', 'only this MCP server', several);
}

/** All values of a repeated option. */
function several(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** A number of rows. Throws a UsageError for anything else. */
function limitOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--limit must be a positive integer, not "${text}".`);
}

/** The request for the summary or costs. Throws a UsageError for an option that the answer doesn't have. */
export async function askedTotals(
  answer: Answer,
  groupBy: string | undefined,
  options: TotalsOptions,
): Promise<Totals | undefined> {
  const { interval, sort, compare, search, groupKeys: group_keys } = options;
  const { user: user_id, model, agent, repo, client, team, tool } = options;
  const { costCenter: cost_center, mcpServer: mcp_server } = options;
  const ofSummary = { interval, sort, compare, search, group_keys };
  const filters = { user_id, model, agent, repo, client, team, cost_center, tool, mcp_server };
  const isGiven = (values: object) => Object.values(values).some((value) => value !== undefined);
  if (!isTotals(answer)) {
    if (isGiven({ ...ofSummary, ...filters, limit: options.limit }))
      throw new UsageError(
        `${answer} takes no filter, --sort or --limit: only summary, changes, costs and focus do.`,
      );
    return undefined;
  }
  if (answer === 'costs' && isGiven(ofSummary))
    throw new UsageError(
      'costs takes no --interval, --sort, --compare, --search or --group-keys: only summary does.',
    );
  if (answer === 'changes' && isGiven({ ...ofSummary, compare: undefined, limit: options.limit }))
    throw new UsageError(
      'changes takes no --interval, --sort, --search, --group-keys or --limit: only summary does.',
    );
  if (answer === 'focus' && isGiven({ ...ofSummary, limit: options.limit }))
    throw new UsageError(
      'focus takes no --interval, --sort, --compare, --search, --group-keys or --limit: only summary does.',
    );
  if (groupBy === undefined && isGiven({ search, group_keys }))
    throw new UsageError('--search and --group-keys need --group-by.');
  const { Totals } = await import('../api/totals-query.js');
  const { data, error } = Totals.safeParse({ ...ofSummary, ...filters });
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return data;
  const option = String(issue.path[0]).replace('_id', '').replaceAll('_', '-');
  throw new UsageError(`--${option} ${issue.message}.`);
}
