import { LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { ERASED_PERSON } from '../store/state/erased-names.js';

/**
 * The members of events, declared once. The check over HTTP, the OpenAPI document, the SQL that reads events (sql/source/canonical,
 * sql/source/checked, sql/ingest/rules.sql and sentences.sql) and the tables of docs/events.md come from here. Each member but
 * org_id has a column of its name in `events`. To add a member, add it here and in a new file in sql/change, and run
 * `npm run docs`.
 */

interface Base {
  readonly isRequired?: true;
  /** Its description in docs/events.md and the OpenAPI document. */
  readonly about?: string;
}

export interface Text extends Base {
  readonly kind: 'text';
  /** Unicode characters. */
  readonly min?: number;
  readonly max?: number;
  /** The only texts that it can be. */
  readonly values?: readonly string[];
  /** The expression that it must match as a whole, for JavaScript and RE2, and the same in words. */
  readonly pattern?: readonly [expression: string, words: string];
  /** Whether it can be an address with a password, which is removed. */
  readonly isAddress?: true;
  /** Whether it may be empty in what agents log and report, which is any channel but \`event\`. */
  readonly isEmptyInLogs?: true;
  /** Whether `(none)` is the same as no value: answers have groups by it, and filters call the group without a value so. */
  readonly isGroup?: true;
  /** Whether a leading slash is removed. */
  readonly isCommand?: true;
  /** The value that is stored when it is absent. */
  readonly default?: string;
  readonly example: string;
}

export interface Integer extends Base {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  readonly example: number;
}

/** A number with at most nine decimals; further ones are rounded. */
export interface Decimal extends Base {
  readonly kind: 'decimal';
  readonly min: number;
  readonly max: number;
  readonly example: number;
}

export interface Truth extends Base {
  readonly kind: 'boolean';
  readonly example: boolean;
}

/** RFC 3339 with Z or an offset, or Unix milliseconds. */
export interface Instant extends Base {
  readonly kind: 'instant';
  readonly example: string;
}

export type Member = Text | Integer | Decimal | Truth | Instant;
export type Members = Readonly<Record<string, Member>>;

/** An instant as text. */
export const RFC3339 =
  /^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** A day's sum of such counts still fits 64 bits. */
export const MOST = 100_000_000_000;

const text = (example: string, more: Partial<Text> = {}): Text => ({
  kind: 'text',
  max: 2048,
  example,
  ...more,
});
const name = (example: string, more: Partial<Text> = {}) =>
  text(example, { isRequired: true, min: 1, ...more });
const count = (example: number, more: Partial<Integer> = {}): Integer => ({
  kind: 'integer',
  min: 0,
  max: MOST,
  example,
  ...more,
});

const DURATION = count(250);
const WEB_SEARCHES = count(2, { about: 'web searches that the provider bills' });

/** A model and its tokens. */
const TOKENS = {
  model: name('claude-sonnet-4-5'),
  input_tokens: count(120, { isRequired: true, about: 'uncached input' }),
  output_tokens: count(840, { isRequired: true }),
  cache_read_tokens: count(5000),
  cache_write_tokens: count(60),
  cache_write_1h_tokens: count(25, { about: 'the part of cache_write_tokens that lives an hour' }),
} satisfies Members;

/** Lines of a file or of files. */
const LINES = { lines_added: count(12), lines_removed: count(3) } satisfies Members;

/** A lower-case word that a vendor or an agent uses for one of a few ways. */
const word = (example: string, about: string) =>
  text(example, {
    pattern: [
      '[a-z][a-z0-9_.-]{0,31}',
      'a lower-case word of at most 32 letters, digits, dots, hyphens and underscores that begins with a letter',
    ],
    about,
  });

/** The members of events of every type. Faults are named in this order. */
export const COMMON = {
  event_id: name('01JWN2', {
    max: 200,
    about: 'counts once per organization, UTC day and id, however often and whenever it comes',
  }),
  type: { kind: 'text', isRequired: true, example: 'tool_call', about: 'one of the types below' },
  timestamp: {
    kind: 'instant',
    isRequired: true,
    about:
      'RFC 3339 with `Z` or an offset, or Unix milliseconds; in 2020 or later, at most 24 hours in the future',
    example: '2026-06-01T09:30:00.250Z',
  },
  user_id: name('ada', { max: 128, about: 'who works with the agent' }),
  session_id: name('s-1', {
    max: 128,
    isEmptyInLogs: true,
    about:
      "the agent's session; it can be empty where `channel` says that it comes from an agent's logs or telemetry, and then counts in no number of sessions",
  }),
  user_email: text('ada@acme.example', {
    min: 1,
    max: 320,
    about: 'the newest one of all events counts',
  }),
  client: text('terminal-ui', {
    pattern: [
      '[a-z][a-z0-9-]{0,31}',
      'a lower-case name of at most 32 letters, digits and hyphens that begins with a letter',
    ],
    about:
      '`terminal-ui`, `web`, `non-interactive-cli`, or another lower-case name of at most 32 letters, digits and hyphens',
  }),
  autonomy_mode: text('auto-low', {
    values: ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'],
    about: 'the mode in force when it happened',
  }),
  org_id: { kind: 'text', example: 'acme', about: 'the organization that the lines are sent to, or absent' },
  agent: text('claude-code', { max: 128, isGroup: true, about: 'the program; `(none)` is read as absent' }),
  agent_version: text('2.1.4', { max: 128, about: 'its version' }),
  repo: text('github.com/acme/engine', {
    isAddress: true,
    isGroup: true,
    about: 'the repository, in any spelling of its address; `(none)` is read as absent',
  }),
  git_branch: text('main', { about: 'the branch' }),
  repo_owner: text('acme', { about: 'the owner of the repository, where telemetry names it' }),
  head_commit: text('4b825dc642cb6eb9a060e54bf8d69288fbee4904', {
    max: 64,
    about: 'the commit that is checked out',
  }),
  cwd: text('/home/ada/engine', { about: 'the folder that the agent works in' }),
  agent_id: text('a3f9c2', { max: 128, about: 'the sub-agent that did it; absent for the main one' }),
  parent_agent_id: text('a1b0d4', { max: 128, about: 'the sub-agent that started this one' }),
  team: text('payments', { max: 128, about: 'the team of the user at that time' }),
  department: text('engineering', { max: 128, about: 'the department of the user at that time' }),
  cost_center: text('4711', { max: 128, about: 'who pays for it' }),
  is_installation: {
    kind: 'boolean',
    example: false,
    about: 'whether `user_id` is an installation of an agent, as telemetry can name, and not a person',
  },
  channel: text('event', {
    values: ['event', 'log', 'hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api'],
    default: 'event',
    about: 'where the event comes from',
  }),
} satisfies Members;

/** The members that only events of some types have. */
export const TYPES = {
  session_start: {},
  session_end: { reason: text('logout') },
  user_message: {},
  assistant_message: {},
  model_usage: {
    ...TOKENS,
    request_id: text('req_011CQ', { max: 200, about: "the model provider's id of the call" }),
    requested_model: text('claude-sonnet-4-5', {
      about: 'the model that was asked for, if another one answered',
    }),
    speed: word('fast', '`standard`, or a faster mode that costs more, such as `fast`'),
    service_tier: word(
      'priority',
      "the provider's tier of the call, such as `standard`, `priority`, `flex` or `batch`",
    ),
    region: word('us', 'where it had to be computed, if that costs more, such as `us` or `eu`'),
    effort: word('high', 'how hard the model was asked to think'),
    provider: word('anthropic', 'who serves the model, such as `anthropic`, `bedrock` or `vertex`'),
    plan: word(
      'team',
      'the subscription that the call belongs to, such as `pro`, `max`, `team` or `enterprise`',
    ),
    web_searches: WEB_SEARCHES,
    reported_cost_usd: {
      kind: 'decimal',
      min: 0,
      max: 1_000_000,
      example: 0.002825,
      about: 'what the agent or provider says that the call cost, in US dollars',
    },
  },
  other_usage: { ...TOKENS, web_searches: WEB_SEARCHES, duration_ms: DURATION },
  tool_call: {
    // Odd names are parse artifacts, which are counted: only the line has a limit.
    tool_name: { kind: 'text', isRequired: true, example: 'Edit' },
    mcp_server: text('github'),
    success: { kind: 'boolean', example: true },
    is_stopped: {
      kind: 'boolean',
      example: false,
      about:
        'whether the call was refused by a person, a rule or a hook, or was interrupted by a person: then it is no failed call',
    },
    duration_ms: DURATION,
  },
  file_change: {
    path: name('src/app.ts'),
    operation: text('edit', { isRequired: true, values: ['create', 'edit'] }),
    ...LINES,
  },
  git_commit: { commit_sha: text('4b825dc642cb6eb9a060e54bf8d69288fbee4904') },
  pull_request: { url: text('https://github.com/acme/engine/pull/7', { isAddress: true }) },
  skill_use: { skill_name: name('release-notes') },
  slash_command: { command_name: name('review', { isCommand: true, about: 'a leading slash is removed' }) },
  hook_run: {
    hook_event: name('PostToolUse'),
    command: name('npm run format', { isAddress: true }),
    matcher: text('Edit|Write'),
    exit_code: count(0, { min: -MOST }),
    duration_ms: DURATION,
    timed_out: { kind: 'boolean', example: false },
  },
  retention_sweep: {
    transcripts_deleted: count(12, {
      isRequired: true,
      about: 'transcripts that the agent deleted from the machine because they were old',
    }),
    period_days: count(30, { about: 'how many days it keeps them' }),
  },
} satisfies Record<string, Members>;

/** The types that only Daybook's own reports of vendors have: nobody can send such events. */
export const REPORTED_TYPES = {
  vendor_lines: { lines_suggested: count(40, { about: 'lines that were suggested' }), ...LINES },
} satisfies Record<string, Members>;

/** No agent is older than 2020, and a clock that was never set would make thousands of empty days. */
export const FIRST_MS = Date.UTC(2020);
/** How far in the future an event can be when it is received. */
export const AHEAD_MS = 86_400_000;
/** The instants that RFC 3339 can write. */
export const [LEAST_MS, MOST_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.UTC(10000, 0) - 1];

/** Whether an event that is received at one instant can have another one as its timestamp: both in Unix milliseconds. */
export function isTimely(instant: number, receivedAt: number): boolean {
  return instant >= FIRST_MS && instant <= receivedAt + AHEAD_MS;
}

/** A fault of an event: the reason, of the closed list in docs/events.md, and the member, as in `wrong_type user_id`. */
export type Fault = string;

function listOf(values: readonly string[], last: string): string {
  return `${values.slice(0, -1).join(', ')} ${last} ${values.at(-1)}`;
}

/** The type and limits of a member, in words. */
export function wordsOf(member: Member): { type: string; value?: string } {
  switch (member.kind) {
    case 'boolean':
      return { type: 'true or false' };
    case 'instant':
      return { type: 'a string or an integer', value: 'in 2020 or later' };
    case 'integer':
      return { type: 'an integer', value: `from ${member.min} to ${member.max}` };
    case 'decimal':
      return { type: 'a number', value: `from ${member.min} to ${member.max}` };
    case 'text': {
      const { min = 0, max, values, pattern } = member;
      const type = 'a string';
      if (values !== undefined) return { type, value: listOf(values, 'or') };
      if (pattern !== undefined) return { type, value: pattern[1] };
      if (max === undefined) return { type };
      return { type, value: `${min > 0 ? `${min} to ` : 'at most '}${max} characters long` };
    }
  }
}

/** All members that an event which is sent can have, by their names. A name means the same in all types that have it. */
export const SENT_MEMBERS: Members = Object.assign({}, COMMON, ...Object.values(TYPES));
/** These and those of reports. */
export const MEMBERS: Members = Object.assign({}, SENT_MEMBERS, ...Object.values(REPORTED_TYPES));

/** Over HTTP, longer lines are checked for levels and values before they are parsed. */
export const PLAIN_CHARACTERS = 8192;

/** The sentence that says what would be accepted, by fault; `{org_id}` stands for the organization of the lines. */
export const SENTENCES: ReadonlyMap<Fault, string> = new Map([
  ['not_json', 'The line must be one JSON document in UTF-8.'],
  ['not_an_object', 'The line must be a JSON object.'],
  ['line_too_long', 'The line must be at most 1 MiB long.'],
  [
    'line_too_long json',
    `Over HTTP, a line of more than ${PLAIN_CHARACTERS} characters must have at most ${LEVELS_AT_MOST} levels and ${VALUES_AT_MOST} values.`,
  ],
  ...Object.entries(MEMBERS).flatMap(([name, member]) => {
    const { type, value } = wordsOf(member);
    const sentences: [Fault, string][] = [[`wrong_type ${name}`, `${name} must be ${type}.`]];
    if (member.isRequired === true) sentences.unshift([`missing_member ${name}`, `${name} is required.`]);
    if (value !== undefined) sentences.push([`value_out_of_range ${name}`, `${name} must be ${value}.`]);
    return sentences;
  }),
  ['unknown_type type', `type must be one of ${Object.keys(TYPES).join(', ')}.`],
  ['bad_timestamp timestamp', 'timestamp must be RFC 3339 with Z or an offset, or Unix milliseconds.'],
  ['timestamp_in_future timestamp', 'timestamp must be at most 24 hours in the future.'],
  ['org_mismatch org_id', 'org_id must be {org_id} or absent.'],
  [ERASED_PERSON, 'user_id or user_email names a person who was erased, of whom nothing is taken any more.'],
]);
