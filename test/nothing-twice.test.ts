import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import {
  CLAUDE_CODE,
  CODEX,
  COPILOT_CLI,
  GEMINI_CLI,
  OPENCODE,
  QWEN_CODE,
  type Source,
} from '../src/ingest/source.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import { type Attributes, logs, Receiver, recordedRequests } from './otlp/sender.js';
import { countsOf, type ModelCall, readTruth, sampleFolders, type Truth, testSamples } from './samples.js';
import { playsSlow } from './slow.js';
import { lines, NOW, type World } from './world.js';

/** What several channels report of a session counts once, whichever comes first: docs/quality.md. */

/** Tables about what came in, and not about what was done. */
const OF_CHANNELS = ['coverage', 'quality', 'shadowed_events', 'told_memberships'];

/** The rows of an organization's day tables. */
async function tablesOf(world: World, orgId: string): Promise<Record<string, object[]>> {
  const tables: Record<string, object[]> = {};
  for (const table of BUILT_TABLES) {
    const rows = await world.store.select(`SELECT * FROM ${table} WHERE org_id = $org_id ORDER BY ALL`, {
      org_id: orgId,
    });
    tables[table] = rows.map(({ org_id, build, ...row }) => row);
  }
  return tables;
}

/** The rows about what was done. Starts and ends of a session, which not every channel reports, are in the number of its events. */
async function workOf(world: World, orgId: string): Promise<Record<string, object[]>> {
  const tables = Object.entries(await tablesOf(world, orgId)).filter(([name]) => !OF_CHANNELS.includes(name));
  return Object.fromEntries(tables.map(([name, rows]) => [name, rows.map((row) => ({ ...row, events: 0 }))]));
}

/** Expects that quality and coverage have as many shadowed events as there are stored ones that don't count. */
async function expectShadowsCounted(world: World, orgId: string): Promise<void> {
  const [sums] = await world.store.select(
    `SELECT
      (SELECT count(*) FROM events WHERE org_id = $org_id) AS stored,
      (SELECT count(*) FROM counted_events WHERE org_id = $org_id) AS counted,
      (SELECT CAST(sum(shadowed) AS BIGINT) FROM quality WHERE org_id = $org_id) AS shadowed,
      (SELECT CAST(sum(shadowed) AS BIGINT) FROM coverage WHERE org_id = $org_id) AS covered`,
    { org_id: orgId },
  );
  const { stored, counted, shadowed, covered } = sums ?? {};
  expect(Number(shadowed)).toBeGreaterThan(0);
  expect([shadowed, covered].map(Number)).toEqual(
    [stored, stored].map((all) => Number(all) - Number(counted)),
  );
}

const SOURCES: Record<string, Source> = {
  codex: CODEX,
  'copilot-cli': COPILOT_CLI,
  'gemini-cli': GEMINI_CLI,
  opencode: OPENCODE,
  'qwen-code': QWEN_CODE,
};

/** What the logs of a recording have beside its session. */
const OTHERS: Record<string, string> = {
  // The parent of the fork, which is a recording of its own.
  'codex/fork': '01a20508-059d-7d20-99c3-b8737f9f2fb1',
  // A run before it.
  'opencode/otel': 'ses_dfaeb2d80ffejjp32F1E64ozEl',
};

/** The logs of a recording's own session. */
function logsOf(folder: string, name: string): string[] {
  const other = OTHERS[name];
  const all = join(folder, 'logs');
  if (other === undefined) return [all];
  return readdirSync(all, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.jsonl?$/.test(path) && !path.includes(other))
    .map((path) => join(all, path));
}

/** Recordings whose telemetry has calls for a title, in a session of their own, which stand in no log. */
const WITH_TITLES = ['codex/tui'];

/** The tokens of the day tables by day and model: calls, input with what was written to the cache, what was read from it, output. */
async function tokensOf(world: World, orgId: string): Promise<Record<string, number[]>> {
  const rows = await world.store.select(
    `SELECT CAST(day AS VARCHAR) || ' ' || model_id AS pair, calls, input_tokens + cache_write_tokens AS input, cache_read_tokens, output_tokens
    FROM user_models WHERE org_id = $org_id ORDER BY pair`,
    { org_id: orgId },
  );
  return Object.fromEntries(
    rows.map(({ pair, ...counters }) => [String(pair), Object.values(counters).map(Number)]),
  );
}

/** Of all days and models together. */
function sumOf(tokens: Record<string, number[]>): number[] {
  return Object.values(tokens).reduce((sum, counters) =>
    sum.map((one, index) => one + (counters[index] ?? 0)),
  );
}

/** The tokens of what really happened, by day and model. */
function tokensIn({ model_calls, reasoning_tokens_are }: Truth, isCounted: (call: ModelCall) => boolean) {
  const tokens: Record<string, number[]> = {};
  for (const { time, model, input, cached, output, reasoning } of model_calls.filter(isCounted)) {
    const outside = reasoning_tokens_are.startsWith('outside') ? reasoning : 0;
    const pair = `${time.slice(0, 10)} ${model}`;
    tokens[pair] = [1, input - cached, cached, output + outside].map(
      (counter, index) => counter + (tokens[pair]?.[index] ?? 0),
    );
  }
  return tokens;
}

/** The sessions that have usage. */
async function sessionsOf(world: World, orgId: string): Promise<unknown[]> {
  const rows = await world.store.select(
    `SELECT DISTINCT session_id FROM counted_events WHERE org_id = $org_id AND type = 'model_usage' ORDER BY session_id`,
    { org_id: orgId },
  );
  return rows.map(({ session_id }) => session_id);
}

describe('logs and telemetry of a recorded session', () => {
  testSamples('captures', 'are there for each agent that has both', async () => {
    for (const agent of Object.keys(SOURCES))
      expect(sampleFolders(`captures/${agent}`).flatMap((folder) => readdirSync(folder))).toContain('otlp');
  });

  for (const [agent, source] of Object.entries(SOURCES))
    for (const folder of sampleFolders(`captures/${agent}`)) {
      if (!['otlp', 'logs'].every((name) => readdirSync(folder).includes(name))) continue;
      const name = folder.split('/').slice(-2).join('/');
      testSamples(`captures/${name}`, `${name} count once, as what really happened`, async () => {
        const receiver = await Receiver.start(Date.parse('2027-01-01T12:00:00Z'));
        const { world } = receiver;
        const channels = {
          log: async (orgId: string) => {
            await world.ingest(logsOf(folder, name), { orgId, source, userId: 'ada' });
          },
          otlp: async (orgId: string) => {
            const { key } = await createKey(world.store, { orgId, role: 'member', userId: 'ada' }, world.now);
            for (const { signal, type, body } of recordedRequests(folder)) {
              const headers = { 'content-type': type, authorization: `Bearer ${key}` };
              expect((await receiver.post(signal, body, headers)).status).toBe(200);
            }
            await world.inbox.drain(world.store);
          },
        };
        await channels.log('log');
        await channels.otlp('otlp');
        await channels.log('log-otlp');
        await channels.otlp('otlp-log');
        await world.build();
        await channels.otlp('log-otlp');
        await channels.log('otlp-log');
        await world.build();

        const truth = readTruth(folder);
        // The spans of opencode don't tell a call for a title from the others, which its own files have.
        const isCounted = ({ kind }: ModelCall) => agent !== 'opencode' || kind !== 'aux';
        expect(await tokensOf(world, 'log-otlp')).toEqual(tokensIn(truth, isCounted));
        expect(await countsOf(world, 'log-otlp')).toMatchObject({
          turns: truth.person_turns.length,
          tool_calls: truth.tool_calls.length,
          failed_tool_calls: truth.tool_calls.filter(({ success }) => success === false).length,
          files_created: truth.files_created.length,
          files_edited: truth.files_edited.length,
          commits: truth.commits.length,
        });
        expect(await tablesOf(world, 'otlp-log')).toEqual(await tablesOf(world, 'log-otlp'));
        if (!WITH_TITLES.includes(name)) {
          expect(await workOf(world, 'log-otlp')).toEqual(await workOf(world, 'log'));
          expect(await sessionsOf(world, 'otlp')).toEqual(await sessionsOf(world, 'log'));
        }
        await expectShadowsCounted(world, 'log-otlp');
      });
    }
});

/** A session of Claude Code, as each channel reports it. `at` is the time of a second of it. */
function reportsOf(at: (second: number) => string) {
  const place = { sessionId: 'morning', cwd: '/home/ada/engine', gitBranch: 'main', version: '2.1.175' };
  const line = (type: string, second: number, more: object) => ({
    ...{ type, uuid: `${type}-${second}`, timestamp: at(second), isSidechain: false, entrypoint: 'cli' },
    ...{ ...place, ...more },
  });
  const prompt = (second: number, content: string) =>
    line('user', second, { message: { role: 'user', content }, permissionMode: 'acceptEdits' });
  const answer = (second: number, call: number, id: string, name: string, input: object) =>
    line('assistant', second, {
      requestId: `req_${call}`,
      message: {
        ...{ id: `msg_${call}`, model: 'claude-opus-4-6', role: 'assistant' },
        content: [{ type: 'tool_use', id, name, input }],
        usage: {
          input_tokens: call,
          output_tokens: 10,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
        },
      },
    });
  const result = (second: number, id: string, toolUseResult: unknown, more: object = {}) =>
    line('user', second, {
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x', ...more }] },
      toolUseResult,
    });
  const written = {
    type: 'create',
    filePath: '/home/ada/engine/a.ts',
    content: '1\n2\n',
    structuredPatch: [],
  };
  const committed = { stdout: '[main 1a2b3c4] x', stderr: '', interrupted: false };
  const write = { file_path: '/home/ada/engine/a.ts', content: '1\n2\n' };
  const commit = { command: 'git commit -m x' };
  const log = [
    prompt(1, 'Add a file'),
    answer(2, 1, 'toolu_1', 'Write', write),
    result(4, 'toolu_1', written),
    prompt(5, '<command-name>/review</command-name>'),
    answer(6, 2, 'toolu_2', 'Bash', commit),
    answer(7, 3, 'toolu_3', 'Skill', { skill: 'notes' }),
    answer(8, 4, 'toolu_4', 'Bash', { command: 'false' }),
    result(9, 'toolu_2', committed),
    result(9, 'toolu_3', 'x'),
    result(9, 'toolu_4', 'x', { is_error: true }),
    prompt(20, 'Thanks'),
    answer(21, 5, 'toolu_5', 'Read', {}),
    result(22, 'toolu_5', 'x'),
  ];

  const hook = (hook_event_name: string, second: number, more: object) => ({
    ...{
      hook_event_name,
      timestamp: at(second),
      payload_id: `${hook_event_name}-${second}`,
      entrypoint: 'cli',
    },
    ...{ session_id: 'morning', transcript_path: '/home/ada/.claude/projects/engine/morning.jsonl' },
    ...{ cwd: '/home/ada/engine', permission_mode: 'acceptEdits', ...more },
  });
  const ran = (second: number, tool_use_id: string, tool_name: string, input: object, response: unknown) =>
    hook('PostToolUse', second, { tool_use_id, tool_name, tool_input: input, tool_response: response });
  const sessions = [
    hook('SessionStart', 0, { source: 'startup' }),
    hook('SessionEnd', 23, { reason: 'other' }),
  ];
  const hooks = [
    ...sessions,
    hook('UserPromptSubmit', 1, { prompt: 'Add a file' }),
    ran(4, 'toolu_1', 'Write', write, written),
    hook('UserPromptSubmit', 5, { prompt: '/review' }),
    ran(9, 'toolu_2', 'Bash', commit, committed),
    ran(9, 'toolu_3', 'Skill', { skill: 'notes' }, { success: true }),
    hook('PostToolUseFailure', 9, { tool_use_id: 'toolu_4', tool_name: 'Bash', tool_input: {} }),
    hook('UserPromptSubmit', 20, { prompt: 'Thanks' }),
    ran(22, 'toolu_5', 'Read', {}, {}),
  ];

  const record = (name: string, second: number, attributes: Attributes) => ({
    attributes: {
      ...{ 'session.id': 'morning', 'event.name': name, 'event.timestamp': at(second) },
      ...{ 'app.entrypoint': 'cli', ...attributes },
    },
    body: `claude_code.${name}`,
  });
  // Telemetry has the end of a call.
  const request = (second: number, request_id: string, input_tokens: number, more: Attributes = {}) =>
    record('api_request', second, {
      ...{ request_id, model: 'claude-opus-4-6', input_tokens, output_tokens: 10 },
      ...{ cache_read_tokens: 100, cache_creation_tokens: 20, ...more },
    });
  const told = (
    second: number,
    tool_use_id: string,
    tool_name: string,
    success: boolean,
    more: Attributes = {},
  ) =>
    record('tool_result', second, {
      tool_use_id,
      tool_name,
      success: String(success),
      duration_ms: 1,
      ...more,
    });
  const title = request(3, 'req_title', 7, { query_source: 'auxiliary' });
  const otlp = [
    record('user_prompt', 1, { 'prompt.id': 'p-1' }),
    title,
    request(4, 'req_1', 1),
    told(4, 'toolu_1', 'Write', true, { tool_input: JSON.stringify({ file_path: write.file_path }) }),
    record('user_prompt', 5, { 'prompt.id': 'p-2', command_name: 'review' }),
    ...[2, 3, 4].map((call) => request(9, `req_${call}`, call)),
    told(9, 'toolu_2', 'Bash', true, { tool_parameters: JSON.stringify({ git_commit_id: '1a2b3c4' }) }),
    told(9, 'toolu_3', 'Skill', true, { tool_parameters: JSON.stringify({ skill_name: 'notes' }) }),
    told(9, 'toolu_4', 'Bash', false),
    record('user_prompt', 20, { 'prompt.id': 'p-3' }),
    request(22, 'req_5', 5),
    told(22, 'toolu_5', 'Read', true),
  ];
  return { log, hooks, otlp, sessions, title };
}

/** Sends to an organization what channels report. */
class Senders {
  private files = 0;

  constructor(
    private readonly receiver: Receiver,
    private readonly reports: ReturnType<typeof reportsOf>,
  ) {}

  async log(orgId: string): Promise<void> {
    const { world } = this.receiver;
    this.files += 1;
    const file = world.file(`${this.files}.jsonl`, `${lines(this.reports.log)}\n`);
    await world.ingest([file], { orgId, source: CLAUDE_CODE, userId: 'ada' });
  }

  async hooks(orgId: string, payloads: readonly object[] = this.reports.hooks): Promise<void> {
    const headers = await this.headersOf(orgId);
    for (const payload of payloads) {
      const sent = { method: 'POST', url: '/api/v1/hooks', headers, payload } as const;
      expect((await this.receiver.app.inject(sent)).statusCode).toBe(202);
    }
    await this.receiver.world.inbox.drain(this.receiver.world.store);
  }

  async otlp(orgId: string, records = this.reports.otlp): Promise<void> {
    const body = logs({ 'service.name': 'claude-code', 'service.version': '2.1.175' }, records);
    const answer = await this.receiver.post('logs', body, await this.headersOf(orgId));
    expect([answer.status, answer.json()]).toEqual([200, {}]);
    await this.receiver.world.inbox.drain(this.receiver.world.store);
  }

  private async headersOf(orgId: string): Promise<Record<string, string>> {
    const { store, now } = this.receiver.world;
    const { key } = await createKey(store, { orgId, role: 'member', userId: 'ada' }, now);
    return { authorization: `Bearer ${key}` };
  }
}

const ORDERS = [
  ['log', 'hooks', 'otlp'],
  ['log', 'otlp', 'hooks'],
  ['hooks', 'log', 'otlp'],
  ['hooks', 'otlp', 'log'],
  ['otlp', 'log', 'hooks'],
  ['otlp', 'hooks', 'log'],
] as const;

describe('transcript, hooks and telemetry of a session of Claude Code', () => {
  const starts = [
    ['on one day', '2026-06-10T10:00:00Z'],
    ['over midnight, in a call and its tool', '2026-06-10T23:59:57Z'],
    ['over midnight, in tools', '2026-06-10T23:59:51.500Z'],
    ['over midnight, between prompts', '2026-06-10T23:59:45Z'],
  ] as const;
  test.each(playsSlow() ? starts : starts.slice(0, 2))('count once in any order, %s', async (_, start) => {
    const receiver = await Receiver.start(NOW);
    const { world } = receiver;
    const reports = reportsOf((second) => new Date(Date.parse(start) + second * 1000).toISOString());
    const senders = new Senders(receiver, reports);
    // The best channel of each kind: hooks alone have the start and the end, and telemetry alone a call for a title.
    await senders.log('best');
    await senders.hooks('best', reports.sessions);
    await senders.otlp('best', [reports.title]);
    for (const order of ORDERS)
      for (const channel of order) await senders[channel](`at-the-end-${order.join('-')}`);
    for (const place of [0, 1, 2]) {
      for (const order of ORDERS) await senders[order[place] ?? 'log'](`in-between-${order.join('-')}`);
      await world.build();
    }
    // Without the transcript, telemetry has the usage and the replies, on the day when they ended.
    for (const order of [
      ['hooks', 'otlp'],
      ['otlp', 'hooks'],
    ] as const) {
      for (const channel of order) await senders[channel](order.join('-'));
      await world.build();
      expect(await countsOf(world, order.join('-'))).toEqual(await countsOf(world, 'best'));
      expect(sumOf(await tokensOf(world, order.join('-')))).toEqual(sumOf(await tokensOf(world, 'best')));
    }
    const best = await tablesOf(world, 'best');
    const [first = ''] = ORDERS.map((order) => `at-the-end-${order.join('-')}`);
    const all = await tablesOf(world, first);
    for (const [name, rows] of Object.entries(best))
      if (!OF_CHANNELS.includes(name)) expect({ [name]: all[name] }).toEqual({ [name]: rows });
    await expectShadowsCounted(world, first);
    for (const order of ORDERS)
      for (const when of ['at-the-end', 'in-between'])
        expect(await tablesOf(world, `${when}-${order.join('-')}`)).toEqual(all);
  });
});

test('a call of a model and its tool over midnight count once, even if nothing comes after them', async () => {
  const receiver = await Receiver.start(NOW);
  const { world } = receiver;
  const start = Date.parse('2026-06-10T23:59:38.500Z');
  const senders = new Senders(
    receiver,
    reportsOf((second) => new Date(start + second * 1000).toISOString()),
  );
  await senders.log('log');
  for (const [index, order] of ORDERS.entries())
    for (const channel of order) {
      await senders[channel](`order-${index}`);
      if (index % 2 === 0) await world.build();
    }
  await world.build();
  const { user_tools, tools, productivity } = await tablesOf(world, 'log');
  const first = await tablesOf(world, 'order-0');
  expect(first.user_tools).toEqual(user_tools);
  expect(first.productivity).toEqual(productivity);
  expect(first.tools?.[0]).toEqual(tools?.[0]);
  expect(await tokensOf(world, 'order-0')).toEqual({ '2026-06-10 claude-opus-4-6': [6, 142, 600, 60] });
  for (const index of ORDERS.keys()) expect(await tablesOf(world, `order-${index}`)).toEqual(first);
});
