import { beforeAll } from 'vitest';
import type { Row } from '../../src/store/store.js';
import { ending, World } from '../world.js';

export type Members = Readonly<Record<string, unknown>>;

/** Every type with the members that it requires. */
export const REQUIRED: Readonly<Record<string, Members>> = {
  session_start: {},
  session_end: {},
  user_message: {},
  assistant_message: {},
  model_usage: { model: 'claude-sonnet-4-5', input_tokens: 300, output_tokens: 40 },
  tool_call: { tool_name: 'mcp__github__search' },
  file_change: { path: 'engine/cards.ts', operation: 'edit' },
  git_commit: {},
  pull_request: {},
  skill_use: { skill_name: 'release-notes' },
  slash_command: { command_name: 'review' },
  hook_run: { hook_event: 'PostToolUse', command: 'npm run lint' },
  retention_sweep: { transcripts_deleted: 12 },
};

/** Every type with the members that it may have besides. */
export const OPTIONAL: Readonly<Record<string, Members>> = {
  session_start: {},
  session_end: { reason: 'logout' },
  user_message: {},
  assistant_message: {},
  model_usage: {
    cache_read_tokens: 5000,
    cache_write_tokens: 60,
    cache_write_1h_tokens: 25,
    request_id: 'req_011CQ',
    requested_model: 'claude-opus-4-6',
    speed: 'fast',
    service_tier: 'priority',
    region: 'us',
    effort: 'high',
    provider: 'anthropic',
    plan: 'team',
    web_searches: 2,
    reported_cost_usd: 0.002825,
  },
  tool_call: { mcp_server: 'github', success: false, is_stopped: true, duration_ms: 75 },
  file_change: { lines_added: 12, lines_removed: 3 },
  git_commit: { commit_sha: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' },
  pull_request: { url: 'https://github.com/acme/engine/pull/7' },
  skill_use: {},
  slash_command: {},
  hook_run: { matcher: 'Edit|Write', exit_code: 2, duration_ms: 900, timed_out: true },
  retention_sweep: { period_days: 30 },
};

export const TYPES = Object.keys(REQUIRED);

/** All members that some type lists, and the one that no event can have that is sent. */
export const OWN_MEMBERS = [
  ...new Set(TYPES.flatMap((type) => Object.keys({ ...REQUIRED[type], ...OPTIONAL[type] }))),
  'lines_suggested',
];

/** The members of every event that no event needs. */
export const COMMON_OPTIONAL: Members = {
  user_email: 'ada@acme.example',
  client: 'terminal-ui',
  org_id: 'acme',
  autonomy_mode: 'auto-low',
  agent: 'claude-code',
  agent_version: '2.1.4',
  repo: 'github.com/acme/engine',
  git_branch: 'main',
  cwd: '/home/ada/engine',
  repo_owner: 'acme',
  head_commit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  agent_id: 'a3f9c2',
  parent_agent_id: 'a1b0d4',
  team: 'payments',
  department: 'engineering',
  cost_center: '4711',
  is_installation: true,
  channel: 'otlp_log',
};

/** An event of Ada's of 15 June 2026: of its type with what the type requires, and what is given. */
export function event(event_id: string, members: Members = {}): Members {
  const type = typeof members.type === 'string' ? members.type : 'user_message';
  return {
    event_id,
    type,
    timestamp: '2026-06-15T10:00:00.000Z',
    user_id: 'ada',
    session_id: 'ada-1',
    ...REQUIRED[type],
    ...members,
  };
}

export function line(event_id: string, members: Members = {}): string {
  return JSON.stringify(event(event_id, members));
}

/** A line in which one member has a value that JSON.stringify doesn't write. */
export function lineWith(event_id: string, member: string, text: string, members: Members = {}): string {
  return line(event_id, { ...members, [member]: '<here>' }).replace('"<here>"', () => text);
}

/** A world for all tests of a file; each of them takes an organization of its own. */
export function sharedWorld(): { readonly world: World } {
  const atEnd = ending();
  let made: World | undefined;
  beforeAll(async () => {
    made = await World.create({}, atEnd);
  });
  return {
    get world() {
      if (made === undefined) throw new Error('the world is made before the first test');
      return made;
    },
  };
}

/** What an organization's events are, without where they came from. */
export async function eventsOf(world: World, org_id: string): Promise<Row[]> {
  const rows = await world.store.select(
    'SELECT * FROM events WHERE org_id = $org_id ORDER BY day, event_id',
    { org_id },
  );
  return rows.map(({ org_id, batch, ...row }) => row);
}

export async function idsOf(world: World, org_id: string): Promise<string[]> {
  return (await eventsOf(world, org_id)).map((row) => String(row.event_id)).sort();
}

export function rejectsOf(world: World, org_id: string): Promise<Row[]> {
  return world.store.select(
    'SELECT source, line_no, reason, detail, line, day FROM rejects WHERE org_id = $org_id ORDER BY batch, source, line_no',
    { org_id },
  );
}
