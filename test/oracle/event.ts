import { byteOrder } from './lists.js';

export type Type =
  | 'session_start'
  | 'session_end'
  | 'user_message'
  | 'assistant_message'
  | 'model_usage'
  | 'other_usage'
  | 'tool_call'
  | 'file_change'
  | 'git_commit'
  | 'pull_request'
  | 'skill_use'
  | 'slash_command'
  | 'hook_run'
  | 'retention_sweep';

/** A valid event as it is sent (docs/events.md). An optional member that is null is one that is absent. */
export interface SentEvent {
  readonly event_id: string;
  readonly type: Type;
  readonly timestamp: string | number;
  readonly user_id: string;
  readonly session_id: string;
  readonly [member: string]: string | number | boolean | null | undefined;
}

/** An event that counts. */
export interface StoredEvent {
  readonly day: string;
  readonly event_id: string;
  readonly type: Type;
  /** Unix milliseconds. */
  readonly occurred_at: number;
  readonly user_id: string;
  readonly session_id: string;
  /** An optional member, or one of its type alone, as stored; null where it has none. */
  readonly value: (member: string) => Value;
  readonly text: (member: string) => string | null;
  readonly count: (member: string) => number;
  /** What its person belongs to on its day, '' if to nothing; on a built day. */
  readonly belongs_to?: Readonly<Record<'team' | 'cost_center', string>>;
}

export type Value = string | number | boolean | null;

/** The members that every type can have and every view of events shows, in the order of the table's columns. */
export const OF_ALL_VIEWS = [
  'user_email',
  'client',
  'autonomy_mode',
  'agent',
  'agent_version',
  'repo',
  'git_branch',
  'cwd',
];

const OF_TABLE = [
  'repo_owner',
  'head_commit',
  'agent_id',
  'parent_agent_id',
  'team',
  'department',
  'cost_center',
];

/** The members that every type can have. */
export const OF_ALL_TYPES = [...OF_ALL_VIEWS, ...OF_TABLE, 'is_installation'];

/** The members that say how a call of a model was made, and what it is said to have cost. */
const OF_CALLS = [
  'requested_model',
  'speed',
  'service_tier',
  'region',
  'effort',
  'web_searches',
  'reported_cost_usd',
];

const OF_SERVING = ['provider', 'plan'];

export const OF_TYPE: Record<Type, readonly string[]> = {
  session_start: [],
  session_end: ['reason'],
  user_message: [],
  assistant_message: [],
  model_usage: [
    'model',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'cache_write_1h_tokens',
    'request_id',
    ...OF_CALLS,
    ...OF_SERVING,
  ],
  other_usage: [
    'model',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'cache_write_1h_tokens',
    'web_searches',
    'duration_ms',
  ],
  tool_call: ['tool_name', 'mcp_server', 'success', 'is_stopped', 'duration_ms'],
  file_change: ['path', 'operation', 'lines_added', 'lines_removed'],
  git_commit: ['commit_sha'],
  pull_request: ['url'],
  skill_use: ['skill_name'],
  slash_command: ['command_name'],
  hook_run: ['hook_event', 'matcher', 'command', 'exit_code', 'duration_ms', 'timed_out'],
  retention_sweep: ['transcripts_deleted', 'period_days'],
};

/** The members in the order of the table's columns: by them it is decided which of two copies stands. */
const COLUMNS = [
  ...OF_ALL_VIEWS,
  'reason',
  'model',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'tool_name',
  'mcp_server',
  'success',
  'duration_ms',
  'path',
  'operation',
  'lines_added',
  'lines_removed',
  'commit_sha',
  'url',
  'skill_name',
  'command_name',
  'hook_event',
  'matcher',
  'command',
  'exit_code',
  'timed_out',
  'request_id',
  'channel',
  'cache_write_1h_tokens',
  ...OF_TABLE,
  ...OF_CALLS,
  'is_installation',
  'is_stopped',
  ...OF_SERVING,
  'transcripts_deleted',
  'period_days',
];

/** The channels, the best first (docs/quality.md, "Events of several channels"). */
export const CHANNELS = ['event', 'log', 'hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api'];

/** The place of an event's channel among all: the best is the smallest. */
export function channelRank(event: Pick<StoredEvent, 'text'>): number {
  return CHANNELS.indexOf(event.text('channel') ?? 'event');
}

/** Whether a hook only announced a tool call. */
export function isAnnounced({ type, value }: StoredEvent): boolean {
  return type === 'tool_call' && value('channel') === 'hook' && value('success') === null;
}

class Copy implements StoredEvent {
  readonly event_id: string;
  readonly type: Type;
  readonly user_id: string;
  readonly session_id: string;
  readonly occurred_at: number;
  readonly day: string;

  constructor(private readonly sent: SentEvent) {
    this.event_id = sent.event_id;
    this.type = sent.type;
    this.user_id = sent.user_id;
    this.session_id = sent.session_id;
    this.occurred_at = instantOf(sent.timestamp);
    this.day = new Date(this.occurred_at).toISOString().slice(0, 10);
  }

  readonly value = (member: string): Value => {
    if (member === 'channel') return this.sent.channel ?? 'event';
    const isOwn = OF_ALL_TYPES.includes(member) || OF_TYPE[this.type].includes(member);
    const value = isOwn ? (this.sent[member] ?? null) : null;
    // A command is stored without its leading slash.
    return member === 'command_name' && typeof value === 'string' ? value.replace(/^\s*\//, '') : value;
  };

  readonly text = (member: string): string | null => {
    const value = this.value(member);
    return value === null ? null : String(value);
  };

  readonly count = (member: string): number => Number(this.value(member) ?? 0);
}

/** When an event happened, in Unix milliseconds: digits of a time stamp beyond the millisecond are cut off. */
export function instantOf(timestamp: string | number): number {
  if (typeof timestamp === 'number') return timestamp;
  return Date.parse(timestamp.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
}

/** Smaller values first, unknown ones last. */
function compare(one: Value, other: Value): number {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return typeof one === 'string' ? byteOrder(one, String(other)) : Number(one) - Number(other);
}

/** The tokens of a usage beside its output. */
function inputOf(copy: Copy): number {
  return copy.count('input_tokens') + copy.count('cache_read_tokens') + copy.count('cache_write_tokens');
}

/** Whether a copy of an event stands rather than another (docs/events.md, "Duplicates"). */
function isBetter(one: Copy, other: Copy): boolean {
  const isUsage = (copy: Copy) => copy.type === 'model_usage';
  if (isUsage(one) !== isUsage(other)) return isUsage(one);
  const difference =
    (isUsage(one) ? other.count('output_tokens') - one.count('output_tokens') : 0) ||
    (isUsage(one) ? inputOf(other) - inputOf(one) : 0) ||
    Number(isUsage(one) && one.text('model') === 'unknown') -
      Number(isUsage(other) && other.text('model') === 'unknown') ||
    channelRank(one) - channelRank(other) ||
    Number(isAnnounced(one)) - Number(isAnnounced(other)) ||
    one.occurred_at - other.occurred_at ||
    byteOrder(one.session_id, other.session_id) ||
    byteOrder(one.user_id, other.user_id) ||
    byteOrder(one.type, other.type);
  if (difference !== 0) return difference < 0;
  for (const column of COLUMNS) {
    const order = compare(one.value(column), other.value(column));
    if (order !== 0) return order < 0;
  }
  return false;
}

/** The events that count: of all copies with the same day and event_id, the one that stands. */
export function storedEvents(sent: readonly SentEvent[]): StoredEvent[] {
  const standing = new Map<string, Copy>();
  for (const event of sent) {
    const copy = new Copy(event);
    const key = JSON.stringify([copy.day, copy.event_id]);
    const before = standing.get(key);
    if (before === undefined || isBetter(copy, before)) standing.set(key, copy);
  }
  return [...standing.values()];
}
