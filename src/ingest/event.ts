import { z } from 'zod';
import { MS_PER_DAY } from '../day.js';

/**
 * What an event is, for the reference and for lines that are plain. All others are checked by sql/ingest; a test sends events
 * that this takes and refuses, and both must do the same.
 */

const TEXT = 2048;
const MOST = 100_000_000_000;

const text = () => z.string().max(TEXT).nullish();
const required = (example: string) =>
  z
    .string()
    .min(1)
    .max(TEXT)
    .meta({ examples: [example] });
const count = () => z.int().min(0).max(MOST).nullish();
const tokens = (example: number) =>
  z
    .int()
    .min(0)
    .max(MOST)
    .meta({ examples: [example] });

/** No agent is older, and a clock that was never set would make thousands of empty days. */
const FIRST_MS = Date.UTC(2020);

/** Whether an event can be of an instant that is received at another: both in Unix milliseconds. */
export function isTimely(instant: number, receivedAt: number): boolean {
  return instant >= FIRST_MS && instant <= receivedAt + MS_PER_DAY;
}

const Timestamp = z
  .union([
    z
      .string()
      .regex(
        /^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/,
      )
      .meta({ format: 'date-time' }),
    z
      .int()
      .min(FIRST_MS)
      .max(Date.UTC(10000, 0) - 1),
  ])
  .meta({
    description: 'RFC 3339, or Unix milliseconds; in 2020 or later, at most 24 hours in the future',
    examples: ['2026-06-01T09:30:00.250Z'],
  });

/** The members that every type has. */
export const COMMON = z
  .looseObject({
    event_id: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'counts once per organization, UTC day and id', examples: ['01JWN2'] }),
    timestamp: Timestamp,
    user_id: z
      .string()
      .min(1)
      .max(128)
      .meta({ examples: ['ada'] }),
    session_id: z
      .string()
      .min(1)
      .max(128)
      .meta({ examples: ['s-1'] }),
    user_email: z.string().min(1).max(320).nullish(),
    client: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .nullish()
      .meta({ description: 'terminal-ui, web, non-interactive-cli, or another', examples: ['terminal-ui'] }),
    autonomy_mode: z.enum(['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual']).nullish(),
    org_id: z.string().nullish().meta({ description: 'the organization of the credential, or absent' }),
    agent: z.string().max(128).nullish(),
    agent_version: z.string().max(128).nullish(),
    repo: text(),
    git_branch: text(),
    cwd: text(),
    channel: z
      .enum(['event', 'log', 'hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api'])
      .nullish()
      .meta({ description: 'how it was learnt; event when absent' }),
  })
  .meta({ id: 'EventMembers', description: 'what events of every type have' });

/** The members that a type has of its own: docs/events.md. */
export const TYPES: Record<string, Record<string, z.ZodType>> = {
  session_start: {},
  session_end: { reason: text() },
  user_message: {},
  assistant_message: {},
  model_usage: {
    model: required('claude-sonnet-4-5'),
    input_tokens: tokens(120),
    output_tokens: tokens(840),
    cache_read_tokens: count(),
    cache_write_tokens: count(),
    cache_write_1h_tokens: count(),
    request_id: z.string().max(200).nullish(),
  },
  tool_call: {
    tool_name: z.string().meta({ examples: ['Edit'] }),
    mcp_server: text(),
    success: z.boolean().nullish(),
    duration_ms: count(),
  },
  file_change: {
    path: required('src/app.ts'),
    operation: z.enum(['create', 'edit']),
    lines_added: count(),
    lines_removed: count(),
  },
  git_commit: { commit_sha: text() },
  pull_request: { url: text() },
  skill_use: { skill_name: required('release-notes') },
  // A / before the name is taken off, and then there must be one.
  slash_command: { command_name: required('review').regex(/^(?![ \t\n\f\r]*\/$)/) },
  hook_run: {
    hook_event: required('PostToolUse'),
    command: required('npm run format'),
    matcher: text(),
    exit_code: z.int().min(-MOST).max(MOST).nullish(),
    duration_ms: count(),
    timed_out: z.boolean().nullish(),
  },
};

export const Event = z
  .intersection(
    COMMON,
    z.union(Object.entries(TYPES).map(([type, own]) => z.looseObject({ type: z.literal(type), ...own }))),
  )
  .meta({ id: 'Event', description: 'an event; members that its type does not have are ignored' });

const EXAMPLE = [
  {
    event_id: '01JWN2',
    type: 'tool_call',
    timestamp: '2026-06-01T09:30:00.250Z',
    user_id: 'ada',
    session_id: 's-1',
    client: 'terminal-ui',
    autonomy_mode: 'auto-low',
    tool_name: 'Edit',
    success: true,
  },
];

/** The bodies that events come in, by their media type. */
export const EVENT_BODIES = {
  'application/x-ndjson': z.string().meta({
    description: 'a line of JSON an event, each as an element of the array that application/json takes',
    examples: [EXAMPLE.map((event) => `${JSON.stringify(event)}\n`).join('')],
  }),
  'application/json': z.array(Event).meta({ examples: [EXAMPLE] }),
};
