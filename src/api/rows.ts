import { z } from 'zod';
import { DaySchema } from '../day.js';
import type { Answer } from './report.js';

/** The rows of the analytics answers (public-api.md 2.6, 4.6-4.10; metrics.md for the members that those leave open). */

const Count = z.int().min(0);
const Ratio = z.number().min(0);

const Tokens = {
  billable_tokens: Count,
  input_tokens: Count,
  output_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
};

const Tier = z.enum(['standard', 'thinking']);
const ModelTokens = z.strictObject({ model_id: z.string(), model_tier: Tier, ...Tokens });

const TokensRow = z.strictObject({
  date: DaySchema,
  ...Tokens,
  by_model: z.array(ModelTokens),
  by_user: z.array(
    z.strictObject({
      user_id: z.string(),
      user_email: z.string().nullable(),
      billable_tokens: Count,
      by_model: z.array(ModelTokens),
    }),
  ),
});

const TokensGroup = z.strictObject({ date: DaySchema, group_key: z.string(), ...Tokens });

const NamedCount = z.strictObject({ name: z.string(), count: Count });

const ToolsRow = z.strictObject({
  date: DaySchema,
  tool_calls: Count,
  by_tool: z.array(z.strictObject({ tool: z.string(), invocations: Count })),
  mcp_users_with_mcp: Count,
  mcp_by_server: z.array(z.strictObject({ server: z.string(), invocations: Count })),
  skills_invocations: Count,
  skills_by_name: z.array(NamedCount),
  slash_commands_invocations: Count,
  slash_commands_by_name: z.array(NamedCount),
  hooks_invocations: Count,
  hooks_by_event: z.array(
    z.strictObject({ event: z.string(), matcher: z.string(), command: z.string(), count: Count }),
  ),
  web_users: Count,
  autonomy_ratio_avg: Ratio,
  autonomy_ratio_p50: Ratio,
  autonomy_ratio_p90: Ratio,
  tool_calls_per_session_avg: Ratio,
  user_turns_per_session_avg: Ratio,
  tool_autonomy_level_ratio: z.strictObject({
    auto_high: Ratio,
    auto_medium: Ratio,
    auto_low: Ratio,
    manual: Ratio,
  }),
});

const ToolsGroup = z.strictObject({ date: DaySchema, group_key: z.string(), tool_calls: Count });

const ActivityRow = z.strictObject({
  date: DaySchema,
  daily_active_users: Count,
  weekly_active_users: Count,
  monthly_active_users: Count,
  daily_active_users_by_client: z.record(z.string(), Count),
  sessions: Count,
  messages: Count,
  user_messages: Count,
});

const ActivityGroup = z.strictObject({ date: DaySchema, group_key: z.string(), daily_active_users: Count });

const ProductivityRow = z.strictObject({
  date: DaySchema,
  files_created: Count,
  files_edited: Count,
  by_extension: z.array(z.strictObject({ extension: z.string(), count: Count })),
  by_language: z.array(z.strictObject({ language: z.string(), count: Count })),
  git_commits: Count,
  git_prs_created: Count,
});

const UsersRow = z.strictObject({
  user_id: z.string(),
  user_email: z.string().nullable(),
  date: DaySchema,
  tool_calls: Count,
  billable_tokens: Count,
  primary_model: z.string(),
  primary_model_tier: Tier,
  files_created: Count,
  files_edited: Count,
  git_commits: Count,
  git_prs_created: Count,
  mcp_calls: Count,
  skill_calls: Count,
  slash_commands: Count,
  hooks: Count,
  sessions: Count,
  messages: Count,
  user_messages: Count,
  assistant_messages: Count,
  autonomy_ratio: Ratio,
  delegation_level: z.enum(['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual']),
  languages: z.array(z.string()),
});

const Instant = z.iso.datetime({ precision: 3 });
const Digest = z.string().regex(/^[0-9a-f]{64}$/);

/** Ours: how the lines of a day came, what its build found, and what its tables hold. */
const QualityRow = z.strictObject({
  date: DaySchema,
  events: Count,
  accepted: Count,
  duplicates: Count,
  late: Count,
  rejected: Count,
  rejected_by_reason: z.array(z.strictObject({ reason: z.string(), count: Count })),
  parse_artifacts: Count,
  events_without_client: Count,
  events_without_autonomy_mode: Count,
  models_not_on_rate_card: Count,
  built_at: Instant,
  first_built_at: Instant,
  digests: z.array(z.strictObject({ table: z.string(), rows: Count, digest: Digest })),
  restatements: z.array(
    z.strictObject({
      built_at: Instant,
      table: z.string(),
      old_digest: Digest,
      new_digest: Digest,
      reason: z.string(),
    }),
  ),
});

const Range = { org_id: z.string(), start_date: DaySchema, end_date: DaySchema };

/** Ours: when the newest of the days in the answer was built; null when there are none. */
const Meta = { ...Range, data_refreshed_at: Instant.nullable() };

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

const Page = { has_more: z.boolean(), next_cursor: z.string().nullable() };

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
  meta: z.object({ ...Range, final: z.literal(false), counted_at: Instant }),
});
