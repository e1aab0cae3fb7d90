import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { inOneForm, isMapped, withoutWords } from '../src/hooks/payload.js';
import { writerOf } from '../src/hooks/payload-agent.js';
import type { Payload } from '../src/hooks/payload-members.js';
import { RequestMapper } from '../src/ingest/request-mapper.js';
import { HOOKS } from '../src/ingest/source.js';
import { buildApp } from '../src/service/app.js';
import { CLI } from './program.js';
import { countsOf } from './samples.js';
import { temporaryFolder, World } from './world.js';

/**
 * Payloads of Cursor. No Cursor could be run: they have the members and forms of payloads that others recorded with versions 2.7 to 3.24 and
 * with the command line of 2026, and invented values.
 */

const AT = Date.parse('2026-06-10T10:00:00Z');
const SECRET = 'words that nobody keeps';
const CONVERSATION = '0c2f7a5e-5a8e-4c58-9d0e-7a0c7be0f001';
const GENERATION = '5b9d1f7c-93a0-4f65-8a53-1c1d90b0a002';

const common = {
  conversation_id: CONVERSATION,
  generation_id: GENERATION,
  model: 'claude-opus-5-5-medium',
  model_id: 'claude-opus-5-5',
  model_params: [
    { id: 'context', value: '300k' },
    { id: 'effort', value: 'medium' },
  ],
  session_id: CONVERSATION,
  cursor_version: '3.10.17',
  workspace_roots: ['/home/ada/engine'],
  user_email: 'Ada@acme.example',
  transcript_path: `/home/ada/.cursor/projects/home-ada-engine/agent-transcripts/${CONVERSATION}.jsonl`,
};
const told = (hook_event_name: string, more: object = {}): Payload => ({
  ...common,
  hook_event_name,
  ...more,
});
const call = (
  tool_name: string,
  tool_use_id: string,
  tool_input: object,
  output: object,
  more: object = {},
) =>
  told('postToolUse', {
    ...{ tool_name, tool_use_id, tool_input, tool_output: JSON.stringify(output) },
    ...{ duration: 79.471, cwd: '', ...more },
  });
const counters = {
  ...{ input_tokens: 1_947_096, output_tokens: 10_348 },
  ...{ cache_read_tokens: 1_506_478, cache_write_tokens: 440_604 },
};

/** A turn: every kind of payload that `hooks install` asks for. */
const TURN: readonly Payload[] = [
  told('sessionStart', { generation_id: '', is_background_agent: false, composer_mode: 'agent' }),
  told('beforeSubmitPrompt', { prompt: `/fix it: ${SECRET}`, attachments: [], transcript_path: null }),
  call(
    'Shell',
    '3215f49c-0001',
    { command: `git commit -m "${SECRET}"`, cwd: '', timeout: 30_000 },
    { output: `[main 1a2b3c4] ${SECRET}\n`, exitCode: 0 },
  ),
  call(
    'Write',
    'call_1\nctc_1',
    { file_path: '/home/ada/engine/new.ts', content: SECRET },
    { file_path: '/home/ada/engine/new.ts', success: true },
  ),
  told('afterFileEdit', { file_path: '/home/ada/engine/new.ts', edits: [] }),
  call('Write', 'tool_2', { file_path: '/home/ada/engine/app.ts', content: SECRET }, { success: true }),
  told('afterFileEdit', {
    file_path: '/home/ada/engine/app.ts',
    edits: [
      { old_string: `a\n${SECRET}\nb\n`, new_string: 'a\nx\ny\nb\n' },
      { old_string: SECRET, new_string: '' },
    ],
  }),
  call('MCP:list_issues', 'mcp_1', { limit: 1 }, { content: SECRET }),
  told('postToolUseFailure', {
    ...{ tool_name: 'Shell', tool_input: { command: 'false' }, tool_use_id: 'f_1', is_interrupt: false },
    ...{ error_message: SECRET, failure_type: 'error', duration: 347.259, cwd: '' },
  }),
  told('postToolUseFailure', {
    ...{ tool_name: 'Read', tool_input: { file_path: SECRET }, tool_use_id: 'f_2', is_interrupt: false },
    ...{ error_message: SECRET, failure_type: 'permission_denied', duration: 0 },
  }),
  told('stop', { status: 'completed', loop_count: 0, ...counters }),
  told('sessionEnd', { reason: 'user_close', duration_ms: 132_279, final_status: 'completed' }),
];

const RESPONSE = told('afterAgentResponse', { text: SECRET, ...counters });

/** What `hooks send` sends of a payload that a hook got which was installed for an agent; undefined for nothing. */
function sent(payload: Payload, installed = 'cursor'): Payload | undefined {
  const agent = writerOf(payload, installed, {});
  const own = inOneForm(payload, agent);
  return isMapped(own) ? { ...withoutWords(own), agent } : undefined;
}

const mapper = new RequestMapper(HOOKS);
afterAll(() => mapper.close());

async function eventsOf(payload: Payload): Promise<Record<string, unknown>[]> {
  const document = sent(payload);
  if (document === undefined) return [];
  expect(withoutWords(inOneForm(document))).toEqual(withoutWords(document));
  expect(JSON.stringify(document)).not.toContain(SECRET);
  const lines = await mapper.map({ payload_id: 'p', ...document, user_id: 'ada', timestamp: AT });
  return lines.map((line) => JSON.parse(line));
}

describe('a payload of Cursor', () => {
  test('becomes events of its conversation, without words', async () => {
    const events = (await Promise.all(TURN.map(eventsOf))).flat();
    for (const event of events)
      expect(event).toMatchObject({
        ...{ agent: 'cursor', agent_version: '3.10.17', session_id: CONVERSATION, client: 'desktop' },
        ...{ cwd: '/home/ada/engine', user_email: 'ada@acme.example', channel: 'hook' },
      });
    const own = events.map(({ type, event_id, tool_name, mcp_server, success, is_stopped, ...more }) => {
      const { path, operation, lines_added, lines_removed, commit_sha, command_name, duration_ms, reason } =
        more;
      const members = {
        ...{ tool_name, mcp_server, success, is_stopped, path, operation, lines_added, lines_removed },
        ...{ commit_sha, command_name, duration_ms, reason },
      };
      return JSON.parse(JSON.stringify({ type, event_id, ...members }));
    });
    expect(own).toEqual(
      expect.arrayContaining([
        { type: 'session_start', event_id: `session_start:hook:${CONVERSATION}` },
        { type: 'user_message', event_id: `turn:hook:${GENERATION}` },
        { type: 'slash_command', event_id: `slash:hook:${GENERATION}`, command_name: 'fix' },
        {
          ...{ type: 'tool_call', event_id: 'tool:3215f49c-0001', tool_name: 'Shell' },
          ...{ success: true, duration_ms: 79 },
        },
        { type: 'git_commit', event_id: 'commit:3215f49c-0001', commit_sha: '1a2b3c4' },
        {
          ...{ type: 'file_change', event_id: 'file:hook:p', path: '/home/ada/engine/new.ts' },
          ...{ operation: 'create', lines_removed: 0 },
        },
        {
          ...{ type: 'file_change', event_id: 'file:hook:p', path: '/home/ada/engine/app.ts' },
          ...{ operation: 'edit', lines_added: 2, lines_removed: 2 },
        },
        {
          ...{ type: 'tool_call', event_id: 'tool:mcp_1', tool_name: 'list_issues', mcp_server: 'unknown' },
          ...{ success: true, duration_ms: 79 },
        },
        {
          ...{ type: 'tool_call', event_id: 'tool:f_1', tool_name: 'Shell' },
          ...{ success: false, duration_ms: 347 },
        },
        // Nobody's failure: a person, a rule or a hook refused it.
        {
          ...{ type: 'tool_call', event_id: 'tool:f_2', tool_name: 'Read' },
          ...{ success: false, is_stopped: true, duration_ms: 0 },
        },
        {
          ...{ type: 'session_end', event_id: `session_end:hook:${CONVERSATION}`, reason: 'user_close' },
        },
      ]),
    );
    expect(events).toHaveLength(14);
    expect(events.filter(({ type }) => type === 'model_usage')).toMatchObject([
      {
        ...{ event_id: `usage:hook:${GENERATION}`, model: 'claude-opus-5-5', effort: 'medium' },
        ...{ input_tokens: 14, output_tokens: 10_348 },
        ...{ cache_read_tokens: 1_506_478, cache_write_tokens: 440_604 },
      },
    ]);
  });

  test.each([
    ['no caches', { input_tokens: 13_431, output_tokens: 67 }, [13_431, 67, 0, 0]],
    ['more in caches than input', { input_tokens: 5, output_tokens: 1, cache_read_tokens: 9 }, [0, 1, 9, 0]],
  ])('has tokens with %s', async (_, more, expected) => {
    const [usage] = await eventsOf(told('stop', more));
    const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage ?? {};
    expect([input_tokens, output_tokens, cache_read_tokens, cache_write_tokens]).toEqual(expected);
  });

  test.each([
    told('stop', { status: 'error' }),
    told('stop', { input_tokens: 0, output_tokens: 0 }),
    told('preCompact', { trigger: 'manual' }),
    told('beforeShellExecution', { command: 'git commit' }),
    told('afterShellExecution', { command: 'git commit', output: '[main 1a2b3c4] x' }),
    told('afterAgentThought', { text: SECRET }),
    told('subagentStop', { status: 'completed', task: SECRET }),
    told('constructor'),
  ])('that tells nothing of its own becomes nothing (%#)', async (payload) => {
    expect(await eventsOf(payload)).toEqual([]);
  });

  test('of the model that Cursor chooses has the name of telemetry, and one of print mode is of no terminal', async () => {
    const print = { cursor_version: '2026.07.23-e383d2b', generation_id: CONVERSATION, model: 'default' };
    const { model_id, ...rest } = told('stop', { ...print, ...counters });
    expect(await eventsOf(rest)).toMatchObject([{ model: 'Auto', client: 'non-interactive-cli' }]);
    const terminal = { cursor_version: '2026.07.23-e383d2b' };
    expect(await eventsOf(told('sessionStart', terminal))).toMatchObject([{ client: 'terminal-ui' }]);
  });
});

/** Payloads of one conversation after the other, as `hooks send` and the service take them. */
async function counted(documents: readonly (Payload | undefined)[], at = AT) {
  const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
  const app = buildApp(world);
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'ada' }, world.now);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (const [index, document] of documents.entries()) {
    if (document === undefined) continue;
    const payload = JSON.stringify({ payload_id: `r${index}`, ...document, timestamp: at + index });
    const answer = await app.inject({ method: 'POST', url: '/api/v1/hooks', headers, payload });
    expect([answer.statusCode, answer.body]).toEqual([202, '']);
  }
  await world.inbox.drain(world.store);
  await world.build();
  const [tokens] = await world.store.select(
    `SELECT CAST(sum(input_tokens) AS VARCHAR) AS input, CAST(sum(output_tokens) AS VARCHAR) AS output, count(*) AS calls
    FROM counted_events WHERE type = 'model_usage'`,
  );
  expect(await world.store.select('SELECT * FROM rejects')).toEqual([]);
  const agents = await world.store.select('SELECT DISTINCT agent FROM events');
  return {
    counts: await countsOf(world, 'acme'),
    tokens: Object.values(tokens ?? {}).map(Number),
    agents: agents.map(({ agent }) => agent),
  };
}

describe('a turn of Cursor counts once', () => {
  const expected = {
    tokens: [14, 10_348, 1],
    agents: ['cursor'],
    counts: {
      ...{ turns: 1, tool_calls: 6, failed_tool_calls: 2, commits: 1 },
      ...{ files_created: 1, files_edited: 1 },
    },
  };
  const all = TURN.map((payload) => sent(payload));
  // What Cursor runs of the hooks of Claude Code, whose announcements of calls it has as well.
  const others = TURN.filter(
    ({ hook_event_name }) => !['afterFileEdit', 'stop'].includes(String(hook_event_name)),
  );
  const announced = TURN.filter(({ tool_use_id }) => tool_use_id !== undefined).map((payload) => ({
    ...payload,
    hook_event_name: 'preToolUse',
  }));
  const byClaude = [...announced, ...others].map((payload) => sent(payload, 'claude-code'));

  test.each([
    ['as it happened', all],
    ['backwards', all.toReversed()],
    ['with the answer before the stop', [...all.slice(0, -2), sent(RESPONSE), ...all.slice(-2)]],
    ['with the answer after it', [...all, sent(RESPONSE)]],
    ['with the answer alone', [...all.filter((one) => one?.hook_event_name !== 'stop'), sent(RESPONSE)]],
    ["from Cursor's hooks and Claude Code's", [...all, ...byClaude]],
    ["from Claude Code's and Cursor's", [...byClaude, ...all]],
    ['as its own hooks send it, without the client', [...TURN]],
  ])('%s', async (_, documents) => {
    expect(await counted(documents)).toMatchObject(expected);
  });

  test('and every other one too, also where generations are conversations', async () => {
    const turns = [1, 2].map((turn) =>
      sent(told('stop', { generation_id: CONVERSATION, input_tokens: turn, output_tokens: turn })),
    );
    expect(await counted([...turns, ...turns])).toMatchObject({ tokens: [3, 3, 2] });
    const step = { generation_id: `${GENERATION}-2-3bkg` };
    const steps = [sent(told('afterAgentResponse', { ...step, ...counters })), sent(RESPONSE)];
    expect(await counted(steps)).toMatchObject({ tokens: [14, 10_348, 1] });
  });
});

describe("the settings of Claude Code's hooks", () => {
  const claude = {
    ...{ session_id: 's', cwd: '/p', hook_event_name: 'SessionStart' },
    transcript_path: '/elsewhere/projects/p/s.jsonl',
  };
  const { transcript_path, ...untold } = claude;

  test.each([
    ['Claude Code', claude, {}, 'claude-code'],
    ['Claude Code in a terminal of Cursor', claude, { CURSOR_VERSION: '3.1' }, 'claude-code'],
    ['Cursor', TURN[0] ?? {}, {}, 'cursor'],
    ['Cursor before it had a version', { ...claude, conversation_id: 'c', generation_id: 'g' }, {}, 'cursor'],
    ['Copilot in VS Code', { ...claude, timestamp: '2026-06-10T10:00:00Z' }, {}, 'copilot-chat'],
    [
      'Copilot in VS Code by its folder',
      { ...claude, transcript_path: '/u/workspaceStorage/1/GitHub.copilot-chat/transcripts/s.jsonl' },
      {},
      'copilot-chat',
    ],
    ['Devin', untold, { DEVIN_PROJECT_DIR: '/p' }, 'devin'],
    ['Grok', { ...claude, transcript_path: '/home/ada/.grok/sessions/s.jsonl' }, {}, 'grok'],
    ['somebody', untold, {}, undefined],
  ])('run for %s too, whose payloads are its own', (_, payload, environment, agent) => {
    expect(writerOf(payload, 'claude-code', environment)).toBe(agent);
  });

  test.each([
    // Copilot's command line and Grok write other names, which become nothing.
    { sessionId: 's', timestamp: 1, cwd: '/p', toolName: 'bash', toolArgs: '{}' },
    { hookEventName: 'post_tool_use', sessionId: 's', toolName: 'Shell', workspaceRoot: '/p' },
    { hook_event_name: 'post_tool_use', session_id: 's', tool_name: 'Shell', workspace_root: '/p' },
  ])('take nothing in another form: %j', (payload) => {
    expect(sent(payload, 'claude-code')).toBeUndefined();
  });
});

test('hooks send tells Cursor from Claude Code, and reads what begins with a byte order mark', async () => {
  const home = temporaryFolder();
  const send = async (agent: string, payload: Payload) => {
    const environment = { PATH: process.env.PATH, HOME: home, CLAUDE_CODE_ENTRYPOINT: 'cli' };
    const child = spawn('node', [CLI, 'hooks', 'send', '--agent', agent], { env: environment });
    child.stdout.on('data', (data) => expect(String(data)).toBe(''));
    child.stdin.end(`\uFEFF${JSON.stringify(payload)}`);
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  };
  const spool = join(home, '.daybook', 'hooks', 'spool');
  mkdirSync(spool, { recursive: true });
  writeFileSync(join(home, '.daybook', 'hooks', 'none'), '');
  for (const agent of ['cursor', 'claude-code']) await send(agent, TURN.at(-2) ?? {});
  await send('claude-code', { ...common, hook_event_name: 'SessionStart' });
  const documents = readdirSync(spool)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')));
  expect(documents).toMatchObject([
    { agent: 'cursor', payload_id: GENERATION, input_tokens: 1_947_096 },
    { agent: 'cursor', payload_id: GENERATION, input_tokens: 1_947_096 },
    { agent: 'cursor', payload_id: CONVERSATION, hook_event_name: 'SessionStart' },
  ]);
  for (const document of documents) expect(document).not.toHaveProperty('entrypoint');
});
