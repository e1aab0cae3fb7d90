import { z } from 'zod';
import { DaySchema } from '../day.js';
import type { Answer } from './report.js';

/** The rows of the analytics answers (public-api.md 2.6, 4.6-4.10; metrics.md for the members that those leave open). */

/** A count: what of, and one as an answer may have it. */
const count = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });
const ratio = (description: string, example: number) =>
  z
    .number()
    .min(0)
    .meta({ description, examples: [example] });
const name = (description: string, example: string) => z.string().meta({ description, examples: [example] });

const UserId = name('identifier of the user', 'ada');
const UserEmail = z
  .string()
  .nullable()
  .meta({
    description: 'the newest e-mail that an event gives, if any does',
    examples: ['ada@acme.example'],
  });
const Tier = z
  .enum(['standard', 'thinking'])
  .meta({ description: 'tier of the model on the rate card', examples: ['standard'] });

const Tokens = {
  billable_tokens: count('standard credits, by the rate card', 41250),
  input_tokens: count('tokens sent that no cache had', 18200),
  output_tokens: count('tokens that models wrote', 6400),
  cache_read_tokens: count('tokens read from the cache', 91000),
  cache_write_tokens: count('tokens written to the cache', 12500),
};

const ModelTokens = z
  .strictObject({ model_id: name('the model', 'claude-sonnet-4-5'), model_tier: Tier, ...Tokens })
  .meta({ id: 'ModelTokens' });

const TokensRow = z
  .strictObject({
    date: DaySchema,
    ...Tokens,
    by_model: z.array(ModelTokens),
    by_user: z.array(
      z.strictObject({
        user_id: UserId,
        user_email: UserEmail,
        billable_tokens: Tokens.billable_tokens,
        by_model: z.array(ModelTokens),
      }),
    ),
  })
  .meta({ id: 'TokensDay', description: 'the tokens of a day' });

const TokensGroup = z
  .strictObject({ date: DaySchema, group_key: name('the model', 'claude-sonnet-4-5'), ...Tokens })
  .meta({ id: 'TokensOfModel', description: 'the tokens of a model on a day' });

const ToolCalls = count('calls of tools', 171);

const ToolsRow = z
  .strictObject({
    date: DaySchema,
    tool_calls: ToolCalls,
    by_tool: z.array(z.strictObject({ tool: name('the tool', 'Edit'), invocations: count('its calls', 64) })),
    mcp_users_with_mcp: count('users who called a tool of an MCP server', 3),
    mcp_by_server: z.array(
      z.strictObject({
        server: name('the MCP server, in lower case', 'github'),
        invocations: count('calls of its tools', 12),
      }),
    ),
    skills_invocations: count('skills used', 4),
    skills_by_name: z.array(
      z.strictObject({ name: name('the skill', 'release-notes'), count: count('how often', 4) }),
    ),
    slash_commands_invocations: count('slash commands used', 9),
    slash_commands_by_name: z.array(
      z.strictObject({
        name: name('the command, without its slash', 'review'),
        count: count('how often', 9),
      }),
    ),
    hooks_invocations: count('commands of hooks that ran', 23),
    hooks_by_event: z.array(
      z.strictObject({
        event: name('the event of the hook', 'PostToolUse'),
        matcher: name('what the hook is for, empty for all', 'Edit'),
        command: name('the command', 'npm run format'),
        count: count('how often', 23),
      }),
    ),
    web_users: count('users of the web app', 2),
    autonomy_ratio_avg: ratio('tool calls per user turn', 6.5),
    autonomy_ratio_p50: ratio('the median of the same over the sessions of the day', 5),
    autonomy_ratio_p90: ratio('its 90th percentile', 11.2),
    tool_calls_per_session_avg: ratio('tool calls per session', 13),
    user_turns_per_session_avg: ratio('user turns per session', 2),
    tool_autonomy_level_ratio: z
      .strictObject({
        auto_high: ratio('share of auto-high', 0.25),
        auto_medium: ratio('share of auto-medium', 0.25),
        auto_low: ratio('share of auto-low', 0.5),
        manual: ratio('share of manual', 0),
      })
      .meta({ description: 'shares of tool calls by the mode in which they were made' }),
  })
  .meta({ id: 'ToolsDay', description: 'the tools of a day' });

const ToolsGroup = z
  .strictObject({ date: DaySchema, group_key: name('the tool', 'Edit'), tool_calls: ToolCalls })
  .meta({ id: 'ToolOnDay', description: 'the calls of a tool on a day' });

const ActiveUsers = count('users who were active on the day', 12);

const ActivityRow = z
  .strictObject({
    date: DaySchema,
    daily_active_users: ActiveUsers,
    weekly_active_users: count('users who were active on this day or the 6 before', 31),
    monthly_active_users: count('users who were active on this day or the 29 before', 48),
    daily_active_users_by_client: z.record(z.string(), z.int().min(0)).meta({
      description: 'users by client: who used several counts for each of them',
      examples: [{ 'terminal-ui': 11, web: 2, 'non-interactive-cli': 0 }],
    }),
    sessions: count('sessions that began', 40),
    messages: count('messages of users and agents', 512),
    user_messages: count('messages of users', 88),
  })
  .meta({ id: 'ActivityDay', description: 'who was active on a day' });

const ActivityGroup = z
  .strictObject({
    date: DaySchema,
    group_key: name('the client', 'terminal-ui'),
    daily_active_users: ActiveUsers,
  })
  .meta({ id: 'ActivityOfClient', description: 'the users of a client on a day' });

const Productivity = {
  files_created: count('files that agents made', 7),
  files_edited: count('files that were there and that agents changed', 35),
};
const GitCommits = count('commits made by agents', 9);
const GitPullRequests = count('pull requests made by agents', 2);

const ProductivityRow = z
  .strictObject({
    date: DaySchema,
    ...Productivity,
    by_extension: z.array(
      z.strictObject({
        extension: name('extension of the files, empty for none', '.ts'),
        count: count('files', 31),
      }),
    ),
    by_language: z.array(
      z.strictObject({ language: name('language of the files', 'TypeScript'), count: count('files', 31) }),
    ),
    git_commits: GitCommits,
    git_prs_created: GitPullRequests,
  })
  .meta({ id: 'ProductivityDay', description: 'what was made on a day' });

const UsersRow = z
  .strictObject({
    user_id: UserId,
    user_email: UserEmail,
    date: DaySchema,
    tool_calls: ToolCalls,
    billable_tokens: Tokens.billable_tokens,
    primary_model: name('the model used most', 'claude-sonnet-4-5'),
    primary_model_tier: Tier,
    ...Productivity,
    git_commits: GitCommits,
    git_prs_created: GitPullRequests,
    mcp_calls: count('calls of tools of MCP servers', 12),
    skill_calls: count('skills used', 4),
    slash_commands: count('slash commands used', 9),
    hooks: count('commands of hooks that ran', 23),
    sessions: count('sessions that began', 5),
    messages: count('messages of the user and of agents', 131),
    user_messages: count('messages of the user', 24),
    assistant_messages: count('messages of agents', 107),
    autonomy_ratio: ratio('tool calls per user turn', 7.125),
    delegation_level: z
      .enum(['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'])
      .meta({ description: 'the autonomy mode used most', examples: ['auto-low'] }),
    languages: z.array(name('a language of the files', 'TypeScript')),
  })
  .meta({ id: 'UserDay', description: 'a user on a day' });

const instant = (description: string) =>
  z.iso.datetime({ precision: 3 }).meta({ description, examples: ['2026-06-08T00:15:04.000Z'] });
const digest = (description: string, digit: string) =>
  z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description, examples: [digit.repeat(64)] });

/** Ours: how the lines of a day came, what its build found, and what its tables hold. */
const QualityRow = z
  .strictObject({
    date: DaySchema,
    events: count('events that the numbers of the day are made of', 1840),
    accepted: count('events of the day that count, up to now', 1840),
    duplicates: count('copies of events that were there', 12),
    late: count('events that came after the day was first built', 3),
    rejected: count('lines that broke a rule', 1),
    rejected_by_reason: z.array(
      z.strictObject({ reason: name('the rule', 'missing_member'), count: count('lines', 1) }),
    ),
    parse_artifacts: count('names of tools that no agent can have called', 0),
    events_without_client: count('events that name no client', 0),
    events_without_autonomy_mode: count('events that name no autonomy mode', 6),
    models_not_on_rate_card: count('models that the default rates applied to', 0),
    built_at: instant('when the day was built last'),
    first_built_at: instant('when the day was built first'),
    digests: z.array(
      z.strictObject({
        table: name('the day table', 'users'),
        rows: count('its rows', 12),
        digest: digest('SHA-256 of its rows', '3'),
      }),
    ),
    restatements: z.array(
      z.strictObject({
        built_at: instant('when'),
        table: name('the day table that changed', 'users'),
        old_digest: digest('before', '1'),
        new_digest: digest('after', '3'),
        reason: name('why', 'late events'),
      }),
    ),
  })
  .meta({ id: 'QualityDay', description: 'how far the numbers of a day can be trusted' });

const Range = {
  org_id: name('the organization', 'acme'),
  start_date: DaySchema,
  end_date: DaySchema.meta({ format: 'date', examples: ['2026-06-07'] }),
};

/** Ours: when the newest of the days in the answer was built; null when there are none. */
const Meta = {
  ...Range,
  data_refreshed_at: z.iso
    .datetime({ precision: 3 })
    .nullable()
    .meta({
      description: 'when the newest of these days was built; null when none is',
      examples: ['2026-06-08T00:15:04.000Z'],
    }),
};

/** The rows of each answer, ungrouped and with `group_by`. */
const ROWS: Record<Answer, { day: z.ZodObject; group?: z.ZodObject }> = {
  tokens: { day: TokensRow, group: TokensGroup },
  tools: { day: ToolsRow, group: ToolsGroup },
  activity: { day: ActivityRow, group: ActivityGroup },
  productivity: { day: ProductivityRow },
  users: { day: UsersRow },
  quality: { day: QualityRow },
};

/** The names of an answer's members, in their order. */
export function columnsOf(answer: Answer, isGrouped: boolean): string[] {
  const { day, group } = ROWS[answer];
  return Object.keys((isGrouped && group !== undefined ? group : day).shape);
}

const Page = {
  has_more: z.boolean().meta({ description: 'whether there are more users', examples: [true] }),
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'what to send as cursor for the next page', examples: ['ada'] }),
};

function answerOf(answer: Answer): z.ZodType {
  const { day, group } = ROWS[answer];
  const data = group === undefined ? z.array(day) : z.union([z.array(day), z.array(group)]);
  return z.object({ data, meta: z.object(answer === 'users' ? { ...Meta, ...Page } : Meta) });
}

/** What each endpoint answers. */
export const Answers = {
  tokens: answerOf('tokens'),
  tools: answerOf('tools'),
  activity: answerOf('activity'),
  productivity: answerOf('productivity'),
  users: answerOf('users'),
  quality: answerOf('quality'),
} satisfies Record<Answer, z.ZodType>;

/** Ours: the caller's own rows of `/users`. */
export const MeAnswer = z.object({ data: z.array(UsersRow), meta: z.object(Meta) });

/** Ours: the open day so far, a row of each answer, and of users one for each who was active. */
export const TodayAnswer = z.object({
  data: z.object({
    tokens: TokensRow,
    tools: ToolsRow,
    activity: ActivityRow,
    productivity: ProductivityRow,
    users: z.array(UsersRow),
  }),
  meta: z.object({
    ...Range,
    final: z.literal(false).meta({ description: 'the day is not over', examples: [false] }),
    counted_at: instant('when it was counted'),
  }),
});
