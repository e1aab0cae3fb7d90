import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, type Day, dayOf } from '../src/day.js';
import { CLI, runHere, TODAY } from './program.js';
import { ending, temporaryFolder } from './world.js';

const atEnd = ending();

/** The real program as seen by a client that knows only docs/api.md. */

const [FIRST, SECOND, THIRD] = [-4, -3, -2].map((days) => addDays(TODAY, days)) as [Day, Day, Day];
const RANGE = { startDate: FIRST, endDate: THIRD };
const PEOPLE = Array.from({ length: 45 }, (_, index) => `user-${String(index).padStart(2, '0')}`);

/** The client: a base address and an API key. */
class Client {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  async get(path: string, query: Record<string, string> = {}) {
    const response = await fetch(`${this.baseUrl}${path}?${new URLSearchParams(query)}`, {
      headers: { Authorization: `Bearer ${this.apiKey}` },
    });
    return { response, body: (await response.json()) as Body };
  }
}

interface Body {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly meta: Readonly<Record<string, unknown>>;
}

let url: string;
let child: ChildProcess;
const keys = { manager: '', owner: '', member: '', guest: '' };

beforeAll(async () => {
  const data = join(temporaryFolder(atEnd), 'data');
  const cwd = temporaryFolder(atEnd);
  const daybook = async (...args: string[]) => {
    const { stdout, stderr, code } = await runHere(['--data', data, ...args], { cwd });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const events = PEOPLE.flatMap((user_id, index) =>
    [FIRST, THIRD].flatMap((day) => {
      const common = { timestamp: `${day}T09:00:00Z`, user_id, session_id: 's', client: 'web' };
      return [
        { ...common, type: 'user_message' },
        { ...common, type: 'tool_call', tool_name: 'Edit', autonomy_mode: 'auto-low' },
        { ...common, type: 'model_usage', model: 'claude-sonnet-4-5', input_tokens: index, output_tokens: 1 },
        { ...common, type: 'file_change', path: 'a.ts', operation: 'create' },
      ].map((event, part) => ({ ...event, event_id: `${user_id} ${part}` }));
    }),
  );
  const file = join(cwd, 'events.ndjson');
  writeFileSync(file, events.map((event) => JSON.stringify(event)).join('\n'));
  await daybook('ingest', '--org', 'acme', file);
  await daybook('build');
  for (const role of ['manager', 'owner', 'member', 'guest'] as const) {
    const user = role === 'member' ? ['--user', 'nobody'] : [];
    keys[role] = JSON.parse(
      await daybook('keys', 'create', '--org', 'acme', '--role', role, ...user, '--json'),
    ).key;
  }
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_'));
  child = spawn('node', [CLI, '--data', data, 'serve', '--port', '0'], {
    env: { ...Object.fromEntries(inherited), DAYBOOK_LOG_LEVEL: 'warn', DAYBOOK_BUILD_AT: 'off' },
  });
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += chunk;
    const [, found] = /Daybook serves on (http:\S+) from/.exec(said) ?? [];
    if (found === undefined) continue;
    url = found;
    break;
  }
});
afterAll(() => child.kill('SIGKILL'));

/** The members that such clients read of each row, with their types. */
const ROWS: Record<string, Record<string, 'string' | 'number' | 'array' | 'object' | 'string or null'>> = {
  tokens: {
    ...{ date: 'string', billable_tokens: 'number', input_tokens: 'number', output_tokens: 'number' },
    ...{ cache_read_tokens: 'number', cache_write_tokens: 'number', by_model: 'array', by_user: 'array' },
  },
  tools: {
    ...{ date: 'string', tool_calls: 'number', by_tool: 'array', mcp_users_with_mcp: 'number' },
    ...{ mcp_by_server: 'array', skills_invocations: 'number', skills_by_name: 'array' },
    ...{ slash_commands_invocations: 'number', slash_commands_by_name: 'array', hooks_invocations: 'number' },
    ...{ hooks_by_event: 'array', web_users: 'number', autonomy_ratio_avg: 'number' },
    ...{ autonomy_ratio_p50: 'number', autonomy_ratio_p90: 'number', tool_calls_per_session_avg: 'number' },
    ...{ user_turns_per_session_avg: 'number', tool_autonomy_level_ratio: 'object' },
  },
  activity: {
    ...{ date: 'string', daily_active_users: 'number', weekly_active_users: 'number' },
    ...{ monthly_active_users: 'number', daily_active_users_by_client: 'object', sessions: 'number' },
    ...{ messages: 'number', user_messages: 'number' },
  },
  productivity: {
    ...{ date: 'string', files_created: 'number', files_edited: 'number', by_extension: 'array' },
    ...{ by_language: 'array', git_commits: 'number', git_prs_created: 'number' },
  },
  users: {
    ...{ user_id: 'string', user_email: 'string or null', date: 'string', tool_calls: 'number' },
    ...{ billable_tokens: 'number', primary_model: 'string', primary_model_tier: 'string' },
    ...{ files_created: 'number', files_edited: 'number', git_commits: 'number', git_prs_created: 'number' },
    ...{ mcp_calls: 'number', skill_calls: 'number', slash_commands: 'number', hooks: 'number' },
    ...{ sessions: 'number', messages: 'number', user_messages: 'number', assistant_messages: 'number' },
    ...{ autonomy_ratio: 'number', delegation_level: 'string', languages: 'array' },
  },
};

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

describe('a client that knows only the documentation', () => {
  test('reads every endpoint: an envelope, and a row per day with the members that are listed', async () => {
    for (const role of ['manager', 'owner'] as const) {
      for (const [endpoint, members] of Object.entries(ROWS)) {
        const client = new Client(url, keys[role]);
        const { response, body } = await client.get(`/api/v1/analytics/${endpoint}`, RANGE);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toMatch(/^application\/json/);
        expect(body.meta).toMatchObject({ org_id: 'acme', start_date: FIRST, end_date: THIRD });
        expect(body.data.length).toBeGreaterThan(0);
        for (const row of body.data)
          for (const [member, kind] of Object.entries(members))
            expect(kind.split(' or '), `${endpoint}.${member}`).toContain(kindOf(row[member]));
        if (endpoint !== 'users') expect(body.data.map(({ date }) => date)).toEqual([FIRST, SECOND, THIRD]);
      }
    }
  });

  test('reads groups as rows of their own, each with its group_key', async () => {
    const client = new Client(url, keys.manager);
    const group = async (endpoint: string, group_by: string) =>
      (await client.get(`/api/v1/analytics/${endpoint}`, { ...RANGE, group_by })).body.data;
    expect(await group('tools', 'tool_name')).toMatchObject([
      { date: FIRST, group_key: 'Edit', tool_calls: 45 },
      { date: THIRD, group_key: 'Edit', tool_calls: 45 },
    ]);
    expect(await group('activity', 'client')).toEqual([
      { date: FIRST, group_key: 'web', daily_active_users: 45 },
      { date: THIRD, group_key: 'web', daily_active_users: 45 },
    ]);
    expect(await group('tokens', 'model')).toMatchObject([
      { date: FIRST, group_key: 'claude-sonnet-4-5', input_tokens: 990, output_tokens: 45 },
      { date: THIRD, group_key: 'claude-sonnet-4-5', input_tokens: 990, output_tokens: 45 },
    ]);
  });

  test('reads all users page by page: takes next_cursor while has_more, with the same other parameters', async () => {
    const client = new Client(url, keys.manager);
    for (const limit of [undefined, '7', '45', '100']) {
      const query: Record<string, string> = { ...RANGE, ...(limit === undefined ? {} : { limit }) };
      const seen: unknown[] = [];
      let pages = 0;
      for (;;) {
        const { response, body } = await client.get('/api/v1/analytics/users', query);
        expect(response.status).toBe(200);
        pages += 1;
        seen.push(...body.data.map(({ user_id, date }) => `${user_id} ${date}`));
        const { has_more, next_cursor } = body.meta;
        if (has_more !== true) break;
        expect(typeof next_cursor).toBe('string');
        query.cursor = String(next_cursor);
      }
      expect(pages).toBe(Math.ceil(PEOPLE.length / Number(limit ?? 20)));
      expect(seen).toEqual(PEOPLE.flatMap((user) => [`${user} ${FIRST}`, `${user} ${THIRD}`]));
    }
  });

  test('reads what is wrong: title, detail, status and a request id', async () => {
    const path = '/api/v1/analytics/users';
    const refused: [number, string, string, Record<string, string>][] = [
      [400, 'manager', 'startDate', { ...RANGE, startDate: '02/01/2026' }],
      [400, 'manager', 'endDate', { startDate: FIRST }],
      [400, 'manager', '24-hour lag', { ...RANGE, endDate: dayOf(Date.now()) }],
      [400, 'manager', 'limit', { ...RANGE, limit: '0' }],
      [400, 'manager', 'limit', { ...RANGE, limit: '101' }],
      [401, 'nobody', 'Authorization', RANGE],
      [403, 'member', 'member', RANGE],
      [403, 'guest', 'guest', RANGE],
    ];
    for (const [status, who, what, query] of refused) {
      const client = new Client(url, Object.entries(keys).find(([role]) => role === who)?.[1] ?? '');
      const { response, body } = await client.get(path, query);
      expect(response.status).toBe(status);
      expect(body).toEqual({
        title: response.statusText,
        detail: expect.stringContaining(what),
        status,
        requestId: response.headers.get('x-request-id'),
      });
    }
  });
});
