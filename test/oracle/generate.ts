import fc from 'fast-check';
import type { SentEvent } from './event.js';

/**
 * Organizations for the laws: lists of valid events as they are sent. Few users, sessions, names and instants, so that they
 * meet; and of each kind of value the ones at which a definition could go wrong.
 */

/** Noon of the day that is open. */
export const NOW = Date.parse('2026-06-10T12:00:00.000Z');

const MS_PER_DAY = 86_400_000;
const MIDNIGHT = Date.parse('2026-06-10T00:00:00.000Z');

/** Days before the open one, so that pairs stand at both sides of the trailing 7 and 30 days, and far outside. */
const DAYS_BACK = [0, 1, 2, 3, 7, 8, 9, 30, 31, 32, 38];

/** Milliseconds of a day: the first and the last ones, and a few between at which events meet. */
const TIMES = [0, 1, MS_PER_DAY - 1, MS_PER_DAY - 2, 9 * 3_600_000, 9 * 3_600_000 + 1, 15 * 3_600_000];

function oneOf<T>(...values: readonly T[]): fc.Arbitrary<T> {
  return fc.constantFrom(...values);
}

/** One of the values, half of the time one of the first three: those meet. */
function oftenFirst<T>(values: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(oneOf(...values.slice(0, 3)), oneOf(...values));
}

/** A member that is often absent, and sometimes null, which is the same. */
function optional<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> {
  return fc.oneof(
    { weight: 4, arbitrary: value },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constant(undefined) },
  );
}

/** The same instant in its spellings: UTC, with an offset, with more digits than count, in lower case, Unix milliseconds. */
const SPELLINGS: ((at: number) => string | number)[] = [
  (at) => new Date(at).toISOString(),
  (at) => new Date(at).toISOString().replace('Z', '999Z'),
  (at) => new Date(at).toISOString().toLowerCase(),
  (at) => new Date(at + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30'),
  (at) => new Date(at - 8 * 3_600_000).toISOString().replace('Z', '-08:00'),
  (at) => at,
];

const day = oneOf(...DAYS_BACK);
const timestampOn = (back: fc.Arbitrary<number>): fc.Arbitrary<string | number> =>
  fc
    .record({ back, time: oneOf(...TIMES), spelling: oneOf(...SPELLINGS) })
    .map(({ back, time, spelling }) => {
      // On the open day events are at most those of the next 24 hours.
      return spelling(MIDNIGHT - back * MS_PER_DAY + time);
    });

const USERS = ['ada', 'Ada', 'grace', 'unknown', 'ådá', 'zuse', '𝒹ana'];
const SESSIONS = ['s1', 's2', 'S1', 's3', ''];
const EMAILS = ['ada@acme.example', 'Ada@acme.example', 'ada@globex.example', 'å@acme.example'];
const CLIENTS = ['terminal-ui', 'web', 'non-interactive-cli', 'ide', 'a', 'constructor'];
const MODES = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'];

/** Of the card in test/oracle/rate-card.json: by exact id, by a prefix, by the longer of two, not listed, in other case. */
const MODELS = [
  'sonnet-4',
  'sonnet-4-5',
  'sonnet-4-5-20250929',
  'sonnet-4-20250514',
  'haiku',
  'opus-5',
  // A model that no list knows.
  'strange-5',
  'us.anthropic.sonnet-4-5-20250929-v1:0',
  'openrouter/anthropic/Sonnet-4.5[1m]',
  'free',
  'Sonnet-4',
  'unlisted',
  'æther',
];
/** Numbers of tokens: few, so that sums are equal, and such that credits end in .5 at the card's rates. */
const TOKENS = [0, 1, 2, 3, 5, 10, 90, 110, 1000, 250_000, 100_000_000_000];

const TOOL_NAMES = [
  'Read',
  'read',
  ' Read\t',
  '\rRead\n',
  '\vRead\f',
  'x',
  'Bash',
  'search',
  'Search',
  'mcp__github__search',
  'mcp__GitHub__search',
  ' mcp__GITHUB__search ',
  'github___search',
  'GitHub___search',
  'mcp__github__search__all',
  'mcp__my_server__run',
  'my_server___run',
  'mcp__github',
  'mcp__github__',
  'mcp____run',
  'xmcp__github__search',
  'a____b',
  'mcp__a___b',
  'x:y/z.1-2',
  `a${'b'.repeat(127)}`,
];
const PARSE_ARTIFACTS = [
  '',
  '  ',
  '1st',
  '_Read',
  'Read file',
  'Bash(ls)',
  '<invoke name="Read">',
  'Écrire',
  'Read\nWrite',
  'mcp__git hub__search',
  `a${'b'.repeat(128)}`,
  'Read\u00a0',
];
const MCP_SERVERS = ['github', 'GitHub', ' GITHUB\n', 'linear', 'ÉCOLE', 'école', '', '  '];

const PATHS = [
  'src/main.ts',
  'src/main.TS',
  'src/App.TSX',
  'App.tsx',
  'src/.env',
  '.gitignore',
  'Makefile',
  'src/Makefile',
  'makefile',
  'Dockerfile.ts',
  'README.md',
  'notes',
  'v1.2/notes',
  'notes.',
  '.config.json',
  '.eslintrc.local.yaml',
  'prod.env.local',
  'my.gitignore',
  'home.blade.php',
  'index.php',
  'a.h',
  'a.h.in',
  'a.unknown',
  'C:\\work\\main.rs',
  'kernel.cl',
  'x.shader',
  'line\nbreak.py',
  'dir.py/sub/',
  'constructor',
  'a.constructor',
  'ÄÖ.MD',
  'x.y..z',
];

const NAMES = ['review', 'Review', ' review', 'review\t', 'deploy', 'ünder', 'a', '  '];
const COMMANDS = ['review', '/review', ' /review', 'review ', 'Review', '/deploy', 'ünder', '//a', 'a'];

/** The members that are of one type alone. */
const own: { [type: string]: Record<string, fc.Arbitrary<unknown>> } = {
  session_start: {},
  session_end: { reason: optional(oneOf('error', 'other')) },
  user_message: {},
  assistant_message: {},
  model_usage: {
    model: oftenFirst(MODELS),
    input_tokens: oneOf(...TOKENS),
    output_tokens: oneOf(...TOKENS),
    cache_read_tokens: optional(oneOf(...TOKENS)),
    cache_write_tokens: optional(oneOf(...TOKENS)),
    cache_write_1h_tokens: optional(oneOf(...TOKENS)),
    request_id: optional(oneOf('r1', 'r2')),
    requested_model: optional(oneOf('sonnet-4', 'opus-5')),
    speed: optional(oneOf('fast', 'standard')),
    service_tier: optional(oneOf('priority', 'flex', 'default')),
    region: optional(oneOf('us', 'not_available')),
    effort: optional(oneOf('high', 'low')),
    provider: optional(oneOf('anthropic', 'bedrock')),
    plan: optional(oneOf('team', 'max')),
    web_searches: optional(oneOf(0, 1, 3)),
    reported_cost_usd: optional(oneOf(0, 0.5, 0.002825, 1_000_000)),
  },
  other_usage: {
    model: oftenFirst(MODELS),
    input_tokens: oneOf(...TOKENS),
    output_tokens: oneOf(...TOKENS),
    cache_read_tokens: optional(oneOf(...TOKENS)),
    cache_write_tokens: optional(oneOf(...TOKENS)),
    cache_write_1h_tokens: optional(oneOf(...TOKENS)),
    web_searches: optional(oneOf(0, 1, 3)),
    duration_ms: optional(oneOf(0, 1, 9 * 3_600_000, MS_PER_DAY, 6 * MS_PER_DAY, 7 * MS_PER_DAY)),
  },
  tool_call: {
    tool_name: fc.oneof(
      { weight: 5, arbitrary: oftenFirst(TOOL_NAMES) },
      { weight: 1, arbitrary: oneOf(...PARSE_ARTIFACTS) },
    ),
    mcp_server: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: optional(oftenFirst(MCP_SERVERS)) },
    ),
    success: optional(fc.boolean()),
    is_stopped: optional(fc.boolean()),
    duration_ms: optional(oneOf(0, 1, 200)),
  },
  file_change: {
    path: oftenFirst(PATHS),
    operation: oneOf('create', 'edit', 'edit'),
    lines_added: optional(oneOf(0, 1, 20)),
    lines_removed: optional(oneOf(0, 1, 20)),
  },
  git_commit: { commit_sha: optional(oneOf('5c07c91', '5C07C91', '9fceb02', '')) },
  pull_request: { url: optional(oneOf('https://git.example/1', 'https://git.example/2', '')) },
  skill_use: { skill_name: oftenFirst(NAMES) },
  slash_command: { command_name: oftenFirst(COMMANDS) },
  hook_run: {
    hook_event: oneOf('Stop', 'PostToolUse'),
    matcher: optional(oneOf('', '*', 'Bash', 'bash')),
    command: oneOf('lint', 'Lint', 'test '),
    exit_code: optional(oneOf(0, 1, -1)),
    duration_ms: optional(oneOf(0, 1, 200)),
    timed_out: optional(fc.boolean()),
  },
  retention_sweep: { transcripts_deleted: oneOf(0, 1, 12), period_days: optional(oneOf(7, 30)) },
};

/** What decides whether an event counts, and which copy of it stands. */
const ORIGINS = {
  is_installation: optional(fc.boolean()),
  agent: optional(oneOf('claude-code', 'claude-code', 'codex', 'copilot-cli', '')),
  channel: optional(oneOf('event', 'log', 'hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api')),
};

/** Repositories, most of them in several spellings. */
const REPOS = [
  'github.com/acme/api',
  'git@github.com:Acme/API.git',
  'https://GitHub.com/acme/api/',
  'ssh://git@github.com:22/acme/api.git',
  'https://git.acme.example:8443/Shop.git',
  'git@git.acme.example:Shop',
  'git@git.acme.example:shop',
  'https://dev.azure.com/acme/_git/My%20Shop',
  'git@ssh.dev.azure.com:v3/Acme/my shop/My%20Shop',
  'acme/API',
  'C:/src/API',
  '/src/API.git',
  '',
];

/** What no number depends on, but which copy of an event stands. */
const PLACES = {
  repo: optional(oneOf(...REPOS)),
  ...Object.fromEntries(
    ['agent_version', 'git_branch', 'cwd', 'repo_owner', 'head_commit', 'agent_id', 'parent_agent_id'].map(
      (member) => [member, optional(oneOf('a', 'B', ''))],
    ),
  ),
  ...Object.fromEntries(
    ['team', 'department', 'cost_center'].map((member) => [
      member,
      optional(oneOf('a', 'B', ' c', 'é', '(none)', '')),
    ]),
  ),
};

/** Types as often as they are worth looking at. */
const TYPES: [type: string, weight: number][] = [
  ['session_start', 1],
  ['session_end', 1],
  ['user_message', 5],
  ['assistant_message', 2],
  ['model_usage', 5],
  ['other_usage', 2],
  ['tool_call', 8],
  ['file_change', 4],
  ['git_commit', 2],
  ['pull_request', 2],
  ['skill_use', 2],
  ['slash_command', 2],
  ['hook_run', 2],
  ['retention_sweep', 1],
];

/** What an organization draws its events from: the fewer, the more they meet. */
const cast = fc.record({
  days: fc.uniqueArray(day, { minLength: 1, maxLength: 4 }),
  users: fc.uniqueArray(oneOf(...USERS), { minLength: 1, maxLength: 4 }),
  sessions: fc.uniqueArray(oneOf(...SESSIONS), { minLength: 1, maxLength: 3 }),
  types: fc.oneof(
    { weight: 1, arbitrary: fc.constant(TYPES) },
    { weight: 1, arbitrary: fc.uniqueArray(oneOf(...TYPES), { minLength: 1, maxLength: 3 }) },
  ),
});

/** Event ids are few enough that some come twice: on one day as copies, on two days as two events. */
const eventId = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 100, max: 9999 }).map((number) => `e${number}`) },
  { weight: 1, arbitrary: oneOf('e1', 'e2') },
);

function eventOf(from: {
  days: number[];
  users: string[];
  sessions: string[];
  types: readonly [string, number][];
}): fc.Arbitrary<SentEvent> {
  return fc
    .oneof(
      ...from.types.map(([type, weight]) => ({
        weight,
        arbitrary: fc.record({
          event_id: eventId,
          type: fc.constant(type),
          timestamp: timestampOn(oneOf(...from.days)),
          user_id: oneOf(...from.users),
          session_id: oneOf(...from.sessions),
          user_email: optional(oneOf(...EMAILS)),
          client: optional(oneOf(...CLIENTS)),
          autonomy_mode: optional(oneOf(...MODES)),
          ...ORIGINS,
          ...PLACES,
          // A member that its type doesn't list is ignored.
          ...(type === 'user_message'
            ? { tool_name: fc.option(fc.constant('Read'), { nil: undefined }) }
            : {}),
          ...own[type],
        }),
      })),
    )
    .map((event) => inSession(event as unknown as SentEvent));
}

/** Only logs and telemetry may name no session. */
function inSession(event: SentEvent): SentEvent {
  const isOfLogs = (event.channel ?? 'event') !== 'event';
  return event.session_id === '' && !isOfLogs ? { ...event, session_id: 's1' } : event;
}

/** A copy of an event, as it was sent or with some members of another event of its type: which one stands must not depend on the order. */
function withCopies(events: SentEvent[]): fc.Arbitrary<SentEvent[]> {
  const copy = fc
    .record({
      original: oneOf(...events),
      other: oneOf(...events),
      taken: fc.subarray([
        'timestamp',
        'session_id',
        'user_id',
        'user_email',
        'client',
        'own',
        'output_tokens',
      ]),
    })
    .map(({ original, other, taken }): SentEvent => {
      const members = taken.flatMap((member) =>
        member === 'own' ? Object.keys(own[original.type] ?? {}) : [member],
      );
      const changed = members.filter(
        (member) =>
          (original.type === other.type ||
            ['timestamp', 'session_id', 'user_id', 'user_email', 'client'].includes(member)) &&
          Object.hasOwn(other, member),
      );
      const taking = Object.fromEntries(changed.map((member) => [member, other[member]]));
      return inSession({ ...original, ...taking });
    });
  return fc.array(copy, { maxLength: 4 }).map((copies) => [...events, ...copies]);
}

/** The events of one organization: 1 to about 40. */
export const organization: fc.Arbitrary<SentEvent[]> = cast
  .chain((from) => fc.array(eventOf(from), { minLength: 1, maxLength: 36, size: 'max' }))
  .chain(withCopies);

/** The usual way of a call, and ways that differ from it in one thing that has a price of its own. */
const WAYS = [
  {},
  { speed: 'fast' },
  { service_tier: 'priority' },
  { region: 'us' },
  { input_tokens: 250_000 },
  { web_searches: 3 },
  { reported_cost_usd: 0.5 },
  { cache_write_tokens: 90, cache_write_1h_tokens: 90, reported_cost_usd: 0.5 },
  { cache_write_tokens: 90, reported_cost_usd: 0.25 },
];

/** Calls of few models on few days, so that those of one model on one day are made in several ways. */
export const calls: fc.Arbitrary<SentEvent[]> = fc
  .array(
    fc
      .record({
        event_id: fc.integer({ min: 100, max: 9999 }).map((number) => `e${number}`),
        type: fc.constant('model_usage'),
        timestamp: timestampOn(oneOf(1, 1, 2)),
        user_id: oneOf('ada', 'grace'),
        session_id: oneOf('s1', 's2'),
        agent: fc.constant('claude-code'),
        model: oneOf('sonnet-4', 'sonnet-4', 'opus-5', 'unlisted'),
        input_tokens: oneOf(10, 1000),
        output_tokens: oneOf(1, 110),
        way: oneOf(...WAYS),
      })
      .map(({ way, ...call }) => ({ ...call, ...way })),
    { minLength: 36, maxLength: 48, size: 'max' },
  )
  .map((events) => events as unknown as SentEvent[]);

/**
 * Few sessions and event ids on days far apart: sessions start earlier than was known, and leave days again, when a copy of their
 * only event there belongs to another session or user.
 */
export const movingSessions: fc.Arbitrary<SentEvent[]> = fc
  .uniqueArray(day, { minLength: 2, maxLength: 3 })
  .chain((days) =>
    fc.array(
      fc.record({
        event_id: oneOf('e1', 'e2', 'e3'),
        type: oneOf('session_start', 'user_message', 'assistant_message'),
        timestamp: timestampOn(oneOf(...days)),
        user_id: oneOf('ada', 'ada', 'grace'),
        session_id: oneOf('s1', 's2'),
        user_email: optional(oneOf(...EMAILS)),
      }),
      { minLength: 2, maxLength: 14, size: 'max' },
    ),
  )
  .map((events) => events as unknown as SentEvent[]);

const MOVING_USAGE = fc
  .record({
    type: fc.constant('model_usage'),
    model: oneOf('opus-5', 'free', 'unknown'),
    input_tokens: fc.constant(1),
    output_tokens: oneOf(1, 2),
  })
  .chain((usage) =>
    oneOf(
      ...['log', 'otlp_log'].map((channel) => ({ agent: 'codex', channel, request_id: 'r1' })),
      ...['log', 'otlp_span', 'otlp_metric'].map((channel) => ({ agent: 'droid', channel })),
      ...['r1', 'r2', null].map((request_id) => ({ agent: 'copilot-cli', channel: 'log', request_id })),
    ).map((origin) => ({ ...usage, ...origin })),
  );

/**
 * Usage of few requests and sessions, replies, prompts, calls of tools, and starts and ends of sessions, on two days next to each other and
 * one before, by all channels: which of it counts on one changes with what arrives for another.
 */
export const movingChannels: fc.Arbitrary<SentEvent[]> = fc
  .array(
    fc
      .record({
        event_id: oneOf('e1', 'e2', 'e3', 'e4', 'e5', 'e6'),
        timestamp: timestampOn(oneOf(31, 32, 38)),
        user_id: oneOf('ada', 'grace'),
        session_id: oneOf('s1', 's2'),
      })
      .chain((event) =>
        fc
          .oneof(
            { weight: 2, arbitrary: MOVING_USAGE },
            fc.record({
              type: fc.constant('other_usage'),
              agent: oneOf('codex', 'droid'),
              channel: fc.constant('log'),
              model: oneOf('opus-5', 'free'),
              input_tokens: oneOf(1, 2, 3),
              output_tokens: fc.constant(5),
              duration_ms: oneOf(0, 9 * 3_600_000, 2 * MS_PER_DAY),
            }),
            fc.record({
              type: fc.constant('tool_call'),
              tool_name: oneOf('Bash', 'Read'),
              channel: oneOf('event', 'log', 'hook', 'otlp_log'),
            }),
            fc.record({
              type: fc.constant('user_message'),
              channel: oneOf('log', 'hook', 'otlp_log'),
            }),
            fc.record({
              type: fc.constant('assistant_message'),
              event_id: oneOf('message:otlp:r1', 'message:otlp:r2'),
              channel: oneOf('log', 'otlp_log', 'otlp_span'),
            }),
            fc.record({
              type: oneOf('session_start', 'session_end'),
              agent: oneOf('codex', 'droid', 'copilot-cli', 'copilot-chat'),
              channel: oneOf('log', 'hook', 'otlp_log', 'otlp_span'),
            }),
          )
          .map((more) => ({ ...event, ...more })),
      ),
    { minLength: 2, maxLength: 8, size: 'max' },
  )
  .map((events) => events as unknown as SentEvent[]);

/**
 * Telemetry that names no person, and transcripts of a few users in the same sessions, on days next to each other and apart: for whom
 * it counts on one changes with what arrives for another.
 */
export const movingUsers: fc.Arbitrary<SentEvent[]> = fc
  .array(
    fc
      .record({
        event_id: oneOf('e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e8'),
        timestamp: timestampOn(oneOf(1, 2, 31, 38)),
        session_id: oneOf('s1', 's1', 's2', ''),
        agent: oneOf('claude-code', 'claude-code', 'codex'),
        request_id: oneOf('r1', 'r2', null),
        type: oneOf('user_message', 'model_usage', 'model_usage'),
      })
      .chain((event) =>
        oneOf(
          ...['ada', 'ada', 'grace', 'unknown'].map((user_id) => ({ user_id, channel: 'log' })),
          ...['otlp_log', 'otlp_log', 'otlp_metric', 'hook'].flatMap((channel) => [
            { user_id: 'unknown', channel },
            { user_id: 'machine', channel, is_installation: true },
            { user_id: 'grace', channel },
          ]),
          { user_id: 'ada', channel: 'event' },
        ).map((origin): object => {
          const { request_id, ...common } = { ...event, ...origin };
          return common.type === 'model_usage'
            ? { ...common, request_id, model: 'opus-5', input_tokens: 1, output_tokens: 2 }
            : common;
        }),
      ),
    { minLength: 2, maxLength: 10, size: 'max' },
  )
  .map((events) => events.map((event) => inSession(event as unknown as SentEvent)));

/** A pair of copies with an id and users of its own, so that it also decides an e-mail. */
export function ofTheirOwn([one, other]: [SentEvent, SentEvent], index: number): [SentEvent, SentEvent] {
  const alone = (event: SentEvent): SentEvent => ({
    ...event,
    event_id: `e${index}`,
    user_id: `${event.user_id}-${index}`,
  });
  return [inSession(alone(one)), inSession(alone(other))];
}

/** Two copies of each of some events, which differ in one member: it decides which of them stands. */
export const copies: fc.Arbitrary<[SentEvent, SentEvent][]> = fc
  .array(
    fc
      .constantFrom(...TYPES)
      .chain(([type]) => {
        const event = eventOf({
          days: [1, 2],
          users: USERS,
          sessions: SESSIONS,
          types: [
            [type, 9],
            ['user_message', 1],
          ],
        });
        const members = [
          ...['timestamp', 'user_id', 'session_id', 'user_email', 'client', 'autonomy_mode', 'type'],
          ...Object.keys({ ...ORIGINS, ...PLACES }),
        ];
        const ofType = Object.keys(own[type] ?? {});
        return fc.record({
          one: event,
          other: event,
          member: fc.oneof(oneOf(...members), oneOf(...(ofType.length > 0 ? ofType : members))),
        });
      })
      .map(({ one, other, member }): [SentEvent, SentEvent] => {
        const isPossible =
          Object.hasOwn(one, member) &&
          Object.hasOwn(other, member) &&
          // The tool of a user message is ignored and may be missing; others need theirs.
          (member !== 'tool_name' || one.type === other.type);
        return member === 'type' || !isPossible
          ? [one, { ...other, timestamp: one.timestamp, session_id: one.session_id, user_id: one.user_id }]
          : [one, { ...one, [member]: other[member] }];
      }),
    { minLength: 1, maxLength: 120, size: 'max' },
  )
  .map((pairs) => pairs.map(ofTheirOwn));
