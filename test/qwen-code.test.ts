import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { QWEN_CODE } from '../src/ingest/source.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsIn, countsOf, readTruth, sampleFolders, testSamples, usageOf } from './samples.js';
import { jsonLines, SourceWorld } from './told.js';
import { World } from './world.js';

const qwen = new SourceWorld(QWEN_CODE);

const at = (seconds: number) => `2026-06-10T10:00:${String(seconds).padStart(2, '0')}.000Z`;
const ms = (seconds: number) => Date.parse(at(seconds));

/** A line of a chat: a session, a time (seconds after ten), and what is given. */
const line = (type: string, seconds: number, more: object = {}) => ({
  uuid: `${type}-${seconds}`,
  parentUuid: null,
  sessionId: 'morning',
  timestamp: at(seconds),
  type,
  cwd: '/home/ada/engine',
  version: '0.24.4',
  gitBranch: 'main',
  ...more,
});
const said = (...parts: object[]) => ({ message: { role: 'model', parts } });
const text = (words: string) => ({ text: words });
const call = (id: string, name: string, args: object) => ({ functionCall: { id, name, args } });
const usage = (prompt: number, cached: number, output: number, thoughts: number, total: number) => ({
  usageMetadata: {
    promptTokenCount: prompt,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output,
    thoughtsTokenCount: thoughts,
    totalTokenCount: total,
  },
});
const answer = (seconds: number, tokens: object, ...parts: object[]) =>
  line('assistant', seconds, { model: 'qwen3-coder', ...said(...parts), ...tokens });
/** What the program writes down of a call. */
const told = (seconds: number, id: string, { usageMetadata }: ReturnType<typeof usage>, more: object = {}) =>
  line('system', seconds, {
    subtype: 'ui_telemetry',
    systemPayload: {
      uiEvent: {
        'event.name': 'qwen-code.api_response',
        response_id: id,
        model: 'qwen3-coder',
        input_token_count: usageMetadata.promptTokenCount,
        output_token_count: usageMetadata.candidatesTokenCount,
        cached_content_token_count: usageMetadata.cachedContentTokenCount,
        thoughts_token_count: usageMetadata.thoughtsTokenCount,
        total_token_count: usageMetadata.totalTokenCount,
        ...more,
      },
    },
  });
const result = (seconds: number, id: string, response: object, more: object = {}) =>
  line('tool_result', seconds, {
    message: { role: 'user', parts: [{ functionResponse: { id, name: 'run_shell_command', response } }] },
    toolCallResult: { callId: id, status: 'success', resultDisplay: 'x', ...more },
  });

/** Reads the lines of a session. */
const chat = (...entries: object[]) => qwen.tell({ 'chats/morning.jsonl': jsonLines(entries) });

const COUNTERS = 'event_id, occurred_at, input_tokens, cache_read_tokens, output_tokens, request_id';

describe('usage', () => {
  test('has cached tokens outside of input, and thoughts in output where the total counts them beside it', async () => {
    const { events } = await chat(
      answer(1, usage(1000, 400, 50, 7, 1050)),
      answer(2, usage(1000, 400, 50, 7, 1057)),
      answer(3, usage(0, 0, 0, 0, 0)),
    );
    expect(await events('model_usage', COUNTERS)).toEqual([
      ['usage:assistant-1', ms(1), 600, 400, 50, null],
      ['usage:assistant-2', ms(2), 600, 400, 57, null],
    ]);
    expect(await events('assistant_message', 'event_id')).toHaveLength(3);
    expect(
      await events('assistant_message', 'session_id, agent, agent_version, git_branch, cwd, channel'),
    ).toContainEqual(['morning', 'qwen-code', '0.24.4', 'main', '/home/ada/engine', 'log']);
  });

  test('names its request if the program wrote it down, also of calls with the same tokens', async () => {
    const same = usage(10, 0, 1, 0, 11);
    const { events } = await chat(
      told(1, 'r1', same),
      answer(2, same),
      told(3, 'r2', same),
      answer(4, same),
      told(5, 'r3', usage(20, 0, 1, 0, 21)),
      answer(6, usage(20, 0, 1, 0, 21)),
    );
    expect(await events('model_usage', 'event_id, request_id')).toEqual([
      ['usage:assistant-2', 'r1'],
      ['usage:assistant-4', 'r2'],
      ['usage:assistant-6', 'r3'],
    ]);
  });

  test('of calls without an answer in the chat counts, once it is known that none follows', async () => {
    const { events } = await chat(
      told(1, 'compressed', usage(900, 0, 90, 0, 990)),
      told(2, 'r1', usage(20, 0, 1, 0, 21)),
      answer(3, usage(20, 0, 1, 0, 21)),
      told(4, 'remembered', usage(30, 10, 2, 0, 32), { subagent_name: 'managed-auto-memory-extractor' }),
      told(5, 'of a sub-agent', usage(40, 0, 2, 0, 42), { subagent_name: 'general-purpose' }),
      told(6, 'on its way', usage(50, 0, 2, 0, 52)),
    );
    expect(await events('model_usage', 'event_id, request_id, model, input_tokens')).toEqual([
      ['usage:compressed', 'compressed', 'qwen3-coder', 900],
      ['usage:assistant-3', 'r1', 'qwen3-coder', 20],
      ['usage:remembered', 'remembered', 'qwen3-coder', 20],
    ]);
  });

  test.each([
    ['what was compressed', line('system', 3, { subtype: 'chat_compression' }), true],
    ['the title', line('system', 3, { subtype: 'custom_title' }), true],
    ['the end of the turn', line('system', 3, { subtype: 'turn_result' }), true],
    ['a prompt', line('user', 3, said(text('Please go on.'))), true],
    ['a line for the program itself', line('system', 3, { subtype: 'attribution_snapshot' }), false],
    ['a line of a sub-agent', line('assistant', 3, { isSidechain: true, ...said(text('Yes.')) }), false],
  ])('of a call behind the last answer: %s says whether one may still follow', async (_, next, counts) => {
    const same = usage(20, 0, 1, 0, 21);
    const { events } = await chat(answer(1, same), told(2, 'auxiliary', usage(50, 0, 2, 0, 52)), next);
    expect((await events('model_usage', 'event_id')).flat()).toEqual(
      counts ? ['usage:assistant-1', 'usage:auxiliary'] : ['usage:assistant-1'],
    );
  });

  test('of a branch, which copies lines into another session, counts once', async () => {
    const lines = [told(1, 'r1', usage(20, 0, 1, 0, 21)), answer(2, usage(20, 0, 1, 0, 21))];
    const { events } = await qwen.tell({
      'chats/morning.jsonl': jsonLines(lines),
      'chats/noon.jsonl': jsonLines(lines.map((one) => ({ ...one, sessionId: 'noon' }))),
    });
    expect(await events('model_usage', 'event_id, session_id, request_id')).toEqual([
      ['usage:assistant-2', 'morning', 'r1'],
    ]);
  });

  test('without a model is rejected', async () => {
    const { byReason } = await chat({ ...answer(1, usage(1, 0, 1, 0, 2)), model: undefined });
    expect(byReason).toEqual({ missing_member: 1 });
  });
});

const sub = { isSidechain: true, agentId: 'helper-1' };
const SUB_AGENT = [
  line('user', 20, { ...sub, ...said(text('Please write the helper.')) }),
  { ...answer(21, usage(30, 9, 5, 0, 35), text('I write it now.')), ...sub, model: undefined },
  { ...answer(22, {}, call('s1', 'write_file', { file_path: '/helper.txt' })), ...sub, model: undefined },
  line('tool_result', 23, {
    ...sub,
    message: { parts: [{ functionResponse: { id: 's1', response: { output: 'Successfully created it' } } }] },
    toolCallResult: { callId: 's1', durationMs: 12 },
  }),
];
const META = JSON.stringify({ persistedCliFlags: { model: 'qwen-small' }, resolvedApprovalMode: 'yolo' });

test('a sub-agent has the model and mode that stand beside its file, and its requests in the file of its session', async () => {
  const { events } = await qwen.tell({
    'chats/morning.jsonl': jsonLines([
      line('system', 1, { subtype: 'session_approval_mode', systemPayload: { mode: 'default' } }),
      told(21, 'r1', usage(30, 9, 5, 0, 35), { subagent_name: 'general-purpose' }),
    ]),
    'subagents/morning/agent-helper-1.jsonl': jsonLines(SUB_AGENT),
    'subagents/morning/agent-helper-1.meta.json': META,
  });
  expect(await events('model_usage', 'model, input_tokens, request_id, autonomy_mode')).toEqual([
    ['qwen-small', 21, 'r1', 'auto-high'],
  ]);
  expect(await events('user_message', 'event_id')).toEqual([]);
  expect(await events('assistant_message', 'event_id')).toEqual([['message:assistant-21']]);
  expect(await events('tool_call', 'event_id, success, duration_ms, autonomy_mode')).toEqual([
    ['tool:s1', true, 12, 'auto-high'],
  ]);
  expect(await events('file_change', 'path, operation')).toEqual([['/helper.txt', 'create']]);
});

test('a sub-agent is read again with the file of its session, and the other way round', () => {
  const context = (path: string) => QWEN_CODE.context?.(path);
  expect(context('/p/chats/morning.jsonl')).toEqual(['/p/subagents/morning']);
  expect(context('/p/chats/morning.jsonl.gz')).toEqual(['/p/subagents/morning']);
  expect(context('/p/subagents/morning/agent-1.jsonl')).toEqual([
    '/p/subagents/morning',
    '/p/chats/morning.jsonl',
  ]);
});

test('turns are what a person wrote', async () => {
  const user = (seconds: number, more: object) => line('user', seconds, { ...said(text('x')), ...more });
  const { events } = await chat(
    user(1, { provenance: 'real_user' }),
    user(2, {}),
    user(3, { subtype: 'mid_turn_user_message' }),
    user(4, { subtype: 'notification', provenance: 'system' }),
    user(5, { subtype: 'cron' }),
    user(6, { subtype: 'goal_runtime', provenance: 'goal_runtime' }),
    user(7, { isSidechain: true }),
    user(8, said({ functionResponse: { id: 'c' } })),
  );
  expect(await events('user_message', 'event_id')).toEqual([
    ['turn:user-1'],
    ['turn:user-2'],
    ['turn:user-3'],
  ]);
});

test('slash commands count when they are given, and modes are valid until the next one', async () => {
  const command = (seconds: number, phase: string) =>
    line('system', seconds, {
      subtype: 'slash_command',
      systemPayload: { phase, rawCommand: '/stats model' },
    });
  const mode = (seconds: number, name: string) =>
    line('system', seconds, { subtype: 'session_approval_mode', systemPayload: { mode: name } });
  const { events } = await chat(
    command(1, 'invocation'),
    command(1, 'result'),
    mode(2, 'plan'),
    answer(3, {}),
    mode(4, 'auto-edit'),
    answer(5, {}),
    mode(6, 'yolo'),
    answer(7, {}),
    mode(8, 'default'),
    answer(9, {}),
  );
  expect(await events('slash_command', 'command_name, autonomy_mode')).toEqual([['stats', null]]);
  expect((await events('assistant_message', 'autonomy_mode')).flat()).toEqual([
    'spec',
    'auto-low',
    'auto-high',
    'manual',
  ]);
});

describe('tools', () => {
  test('succeed by status, error and exit code, and say what they did', async () => {
    const shown = {
      resultDisplay: { fileDiff: 'x', diffStat: { model_added_lines: 3, model_removed_lines: 1 } },
    };
    const { events } = await chat(
      answer(
        1,
        {},
        call('c1', 'read_file', {}),
        call('c2', 'write_file', { file_path: '/a.py' }),
        call('c3', 'edit', { file_path: '/b.md' }),
        call('c4', 'edit', { file_path: '/c.md' }),
        call('c5', 'run_shell_command', { command: 'make' }),
        call('c6', 'run_shell_command', { command: 'git commit -m x' }),
        call('c7', 'mcp__tiny__add', {}),
        call('c8', 'skill', { skill: 'review' }),
        call('c9', 'run_shell_command', { command: 'gh pr create' }),
      ),
      result(2, 'c1', { output: 'x' }),
      result(3, 'c2', { output: 'Successfully created and wrote to new file: /a.py.' }),
      result(4, 'c3', { output: 'The file: /b.md has been updated.' }, shown),
      result(5, 'c4', { error: 'not read' }, { status: 'error' }),
      result(6, 'c5', { output: 'Output: x\nExit Code: 2\nSignal: (none)\nProcess Group PGID: (none)' }),
      result(7, 'c6', { output: 'Output: [main 1b0779c] x\nExit Code: 0\nSignal: (none)' }),
      result(8, 'c7', { error: 'denied' }, { status: 'cancelled' }),
      line('system', 9, {
        subtype: 'ui_telemetry',
        systemPayload: {
          uiEvent: { 'event.name': 'qwen-code.tool_call', call_id: 'c1', duration_ms: 46, success: true },
        },
      }),
      result(9, 'c9', { output: 'https://github.com/acme/engine/pull/7' }),
    );
    expect(await events('tool_call', 'event_id, success')).toEqual(
      [true, true, true, false, false, true, false, null, true].map((success, index) => [
        `tool:c${index + 1}`,
        success,
      ]),
    );
    expect((await events('tool_call', 'duration_ms')).flat().filter((duration) => duration !== null)).toEqual(
      [46],
    );
    expect(
      await events('file_change', 'event_id, occurred_at, path, operation, lines_added, lines_removed'),
    ).toEqual([
      ['file:c2', ms(3), '/a.py', 'create', null, null],
      ['file:c3', ms(4), '/b.md', 'edit', 3, 1],
    ]);
    expect(await events('git_commit', 'event_id, commit_sha')).toEqual([['commit:c6', '1b0779c']]);
    expect(await events('pull_request', 'url')).toEqual([['https://github.com/acme/engine/pull/7']]);
    expect(await events('skill_use', 'event_id, skill_name')).toEqual([['skill:c8', 'review']]);
  });
});

const MORNING = [
  line('user', 1, { provenance: 'real_user', ...said(text('Please say what the engine computes.')) }),
  told(2, 'r1', usage(90, 40, 5, 2, 95)),
  answer(
    3,
    usage(90, 40, 5, 2, 95),
    text('It computes Bernoulli numbers.'),
    call('c1', 'write_file', { file_path: '/new.md', content: 'the first line of it' }),
  ),
  result(4, 'c1', { output: 'Successfully created and wrote to new file: /new.md.' }),
  told(5, 'compressed', usage(900, 0, 90, 0, 990)),
  told(6, 'r2', usage(95, 40, 9, 2, 104)),
  answer(
    7,
    usage(95, 40, 9, 2, 104),
    call('c2', 'run_shell_command', { command: 'git commit -m "as asked"' }),
  ),
  result(8, 'c2', { output: 'Output: [main 0123abc] as asked' }),
  told(21, 'r3', usage(30, 9, 5, 0, 35), { subagent_name: 'general-purpose' }),
  told(22, 'titled', usage(50, 0, 2, 0, 52)),
  line('system', 23, { subtype: 'custom_title', systemPayload: { title: 'Numbers of the engine' } }),
];

test('chats give the same however they grew', async () => {
  await expectSameHoweverGrown(qwen.world, QWEN_CODE, [
    { name: 'chats/morning.jsonl', lines: MORNING.map((one) => JSON.stringify(one)) },
    {
      name: 'chats/noon.jsonl',
      lines: MORNING.slice(0, 5).map((one) => JSON.stringify({ ...one, sessionId: 'noon' })),
    },
    {
      name: 'subagents/morning/agent-1.jsonl',
      lines: SUB_AGENT.map((one) => JSON.stringify({ ...one, model: 'qwen-small' })),
    },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  const file = world.file('morning.jsonl', jsonLines(MORNING));
  const { accepted } = await world.ingest([file], { source: QWEN_CODE, userId: 'ada' });
  expect(accepted).toBe(11);
  await world.build();
  await expectNoText(world, MORNING, ['/new.md']);
});

testSamples('captures/qwen-code', 'recordings give what happened', async () => {
  for (const folder of sampleFolders('captures/qwen-code')) {
    const truth = readTruth(folder);
    const { orgId, byReason, events } = await qwen.read(join(folder, 'logs'));
    expect(byReason).toEqual({});
    const { calls, input_uncached, cached, output } = truth.totals.all;
    expect(Object.values(await usageOf(qwen.world, orgId))).toEqual([
      [calls, input_uncached, cached, output],
    ]);
    expect(await countsOf(qwen.world, orgId)).toEqual(countsIn(truth));
    expect(new Set((await events('tool_call', 'event_id, tool_name, success')).map(String))).toEqual(
      new Set(truth.tool_calls.map((tool) => `tool:${tool.id_sent_by_stub},${tool.name},${tool.success}`)),
    );
    expect((await events('model_usage', 'request_id')).flat().sort()).toEqual(
      truth.model_calls.map(({ response_id }) => response_id).sort(),
    );
  }
});
