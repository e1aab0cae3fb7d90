import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COPILOT_CLI } from '../src/ingest/source.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsIn, countsOf, readTruth, testSamples, usageOf } from './samples.js';
import { jsonLines, SourceWorld } from './told.js';
import { World } from './world.js';

const copilot = new SourceWorld(COPILOT_CLI);

const at = (seconds: number) => `2026-06-10T10:00:${String(seconds).padStart(2, '0')}.000Z`;
const ms = (seconds: number) => Date.parse(at(seconds));

const line = (seconds: number, type: string, data: object, more: object = {}) => ({
  type,
  data,
  id: `${type}-${seconds}`,
  timestamp: at(seconds),
  ...more,
});

const START = line(0, 'session.start', {
  sessionId: 'morning',
  copilotVersion: '1.0.102',
  context: { cwd: '/home/ada/engine', branch: 'main' },
});
const prompt = (seconds: number, data: object = {}, more: object = {}) =>
  line(seconds, 'user.message', { content: 'Please greet whoever comes in.', ...data }, more);
const answer = (seconds: number) =>
  line(seconds, 'assistant.message', { messageId: `m${seconds}`, content: 'I greet them from now on.' });
const record = (seconds: number, apiCallId: string | undefined, outputTokens = 20, more: object = {}) =>
  line(
    seconds,
    'session.usage_record',
    {
      usage: {
        model: 'gpt-5.4',
        apiCallId,
        inputTokens: 1000,
        outputTokens,
        cacheReadTokens: 900,
        cacheWriteTokens: 30,
        reasoningTokens: 5,
      },
    },
    more,
  );
const shutdown = (seconds: number, counters: Record<string, number[]>) =>
  line(seconds, 'session.shutdown', {
    modelMetrics: Object.fromEntries(
      Object.entries(counters).map(([model, [input, output, read, write]]) => [
        model,
        {
          usage: { inputTokens: input, outputTokens: output, cacheReadTokens: read, cacheWriteTokens: write },
        },
      ]),
    ),
  });
const started = (seconds: number, toolName: string, more: object = {}) =>
  line(seconds, 'tool.execution_start', { toolCallId: `call_${seconds}`, toolName, ...more });
/** What became of the tool that started `seconds` after ten; it took a second. */
const completed = (seconds: number, success: boolean, more: object = {}) =>
  line(seconds + 1, 'tool.execution_complete', { toolCallId: `call_${seconds}`, success, ...more });

const LINES = [
  prompt(1),
  record(2, 'chatcmpl-1'),
  answer(2),
  started(3, 'create', { arguments: { path: '/e/new.py', file_text: 'print("good morning")' } }),
  completed(3, true, {
    fileEdits: [{ path: '/e/new.py', kind: 'create' }],
    result: { content: 'what the tool printed' },
  }),
  started(5, 'bash', { arguments: { command: 'git commit -m "Greet them"' } }),
  completed(5, true, { shellExecution: { exitCode: 0 }, result: { content: '[main 0123abc] Greet them' } }),
];

const tell = (lines: readonly object[]) =>
  copilot.tell({ 'session-state/morning/events.jsonl': jsonLines(lines) });

const USAGE = 'event_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, request_id';

describe('usage', () => {
  test('is that of each call, also of sub-agents, and of no shutdown', async () => {
    const { events } = await tell([
      START,
      record(1, 'chatcmpl-1'),
      record(2, 'chatcmpl-2', 7, { agentId: 'helper' }),
      record(3, undefined),
      shutdown(4, { 'gpt-5.4': [3000, 47, 2700, 90] }),
    ]);
    expect(await events('model_usage', USAGE)).toEqual([
      ['usage:chatcmpl-1', 70, 20, 900, 30, 'chatcmpl-1'],
      ['usage:chatcmpl-2', 70, 7, 900, 30, 'chatcmpl-2'],
      ['usage:session.usage_record-3', 70, 20, 900, 30, null],
    ]);
  });

  test('of older versions is what the totals have grown by, or all if they began again', async () => {
    const { events } = await tell([
      START,
      shutdown(1, { 'gpt-5.4': [1000, 20, 900, 30], 'claude/opus.4': [100, 5, 0, 0] }),
      shutdown(2, { 'gpt-5.4': [1500, 21, 1000, 30], 'claude/opus.4': [100, 5, 0, 0] }),
      shutdown(3, { 'gpt-5.4': [100, 30, 0, 0] }),
    ]);
    expect(await events('model_usage', USAGE)).toEqual([
      ['usage:session.shutdown-1:claude/opus.4', 100, 5, 0, 0, null],
      ['usage:session.shutdown-1:gpt-5.4', 70, 20, 900, 30, null],
      ['usage:session.shutdown-2:gpt-5.4', 400, 1, 100, 0, null],
      ['usage:session.shutdown-3:gpt-5.4', 100, 30, 0, 0, null],
    ]);
  });

  test('of a session that a newer version resumes is both', async () => {
    const { events } = await tell([
      START,
      shutdown(1, { 'gpt-5.4': [1000, 20, 900, 30] }),
      record(2, 'chatcmpl-2'),
      shutdown(3, { 'gpt-5.4': [2000, 40, 1800, 60] }),
    ]);
    expect((await events('model_usage', 'event_id')).flat()).toEqual([
      'usage:session.shutdown-1:gpt-5.4',
      'usage:chatcmpl-2',
    ]);
  });
});

test('a turn is what a person wrote', async () => {
  const { events } = await tell([
    START,
    prompt(1),
    prompt(2, { source: 'user' }),
    prompt(3, { source: 'agent-helper' }, { agentId: 'helper' }),
    prompt(4, { source: 'skill-pdf' }),
    prompt(5, { isAutopilotContinuation: true }),
  ]);
  expect(await events('user_message', 'event_id, session_id, agent_version, git_branch, cwd')).toEqual([
    ['turn:user.message-1', 'morning', '1.0.102', 'main', '/home/ada/engine'],
    ['turn:user.message-2', 'morning', '1.0.102', 'main', '/home/ada/engine'],
  ]);
});

test('a tool call succeeds unless Copilot or the exit code denies it', async () => {
  const { events } = await tell([
    START,
    started(1, 'bash'),
    completed(1, true, { shellExecution: { exitCode: 3 } }),
    started(3, 'tiny-add_numbers', { mcpServerName: 'tiny', mcpToolName: 'add_numbers' }),
    completed(3, true),
    started(5, 'bash', { arguments: 'no object' }),
    completed(5, false, { error: { code: 'denied' } }),
    started(7, 'view'),
  ]);
  expect(await events('tool_call', 'event_id, tool_name, mcp_server, success, duration_ms')).toEqual([
    ['tool:call_1', 'bash', null, false, 1000],
    ['tool:call_3', 'mcp__tiny__add_numbers', 'tiny', true, 1000],
    ['tool:call_5', 'bash', null, false, 1000],
    ['tool:call_7', 'view', null, null, null],
  ]);
});

test('files, commits and pull requests are those of tools that succeeded', async () => {
  const url = 'https://github.com/acme/engine/pull/7';
  const { events } = await tell([
    START,
    ...LINES,
    started(11, 'edit'),
    completed(11, true, {
      fileEdits: [
        { path: '/e/a', kind: 'edit' },
        { path: '/e/b', kind: 'delete' },
      ],
    }),
    started(13, 'edit'),
    completed(13, false, { fileEdits: [{ path: '/e/c', kind: 'edit' }] }),
    started(15, 'bash', { arguments: { command: 'git commit -m y' } }),
    completed(15, true, { shellExecution: { exitCode: 1 } }),
    started(17, 'bash', { arguments: { command: 'gh pr create --fill' } }),
    completed(17, true, { result: { content: url } }),
    started(19, 'github-create_pull_request', {
      mcpServerName: 'github',
      mcpToolName: 'create_pull_request',
    }),
    completed(19, true, { result: { content: `{"url":"${url}"}` } }),
  ]);
  expect(await events('file_change', 'path, operation')).toEqual([
    ['/e/new.py', 'create'],
    ['/e/a', 'edit'],
  ]);
  expect(await events('git_commit', 'event_id, occurred_at, commit_sha')).toEqual([
    ['commit:call_5', ms(6), '0123abc'],
  ]);
  expect(await events('pull_request', 'event_id, url')).toEqual([
    ['pull_request:call_17', url],
    ['pull_request:call_19', url],
  ]);
});

test('the mode is that of permissions, or spec as long as the agent plans', async () => {
  const permissions = (seconds: number, mode: string) =>
    line(seconds, 'session.permissions_changed', { mode, previousMode: 'manual' });
  const { events } = await tell([
    START,
    prompt(1),
    permissions(2, 'assisted'),
    prompt(3),
    line(4, 'session.mode_changed', { newMode: 'plan', previousMode: 'interactive' }),
    prompt(5),
    line(6, 'session.mode_changed', { newMode: 'interactive', previousMode: 'plan' }),
    permissions(7, 'allow-all'),
    prompt(8),
    prompt(9, { agentMode: 'plan' }),
  ]);
  expect((await events('user_message', 'autonomy_mode')).flat()).toEqual([
    null,
    'auto-medium',
    'spec',
    'auto-high',
    'spec',
  ]);
});

test('a skill that was invoked is a use of it', async () => {
  const { events } = await tell([
    START,
    line(1, 'skill.invoked', { name: 'review', content: 'how to review' }),
  ]);
  expect(await events('skill_use', 'skill_name')).toEqual([['review']]);
});

test('lines without a session are rejected', async () => {
  const { byReason } = await tell([prompt(1), shutdown(2, { 'gpt-5.4': [1, 1, 0, 0] })]);
  expect(byReason).toEqual({ missing_member: 2 });
});

test('sessions give the same however they grew', async () => {
  const old = [
    START,
    prompt(1),
    answer(2),
    shutdown(3, { a: [9, 9, 0, 0] }),
    shutdown(4, { a: [19, 10, 0, 0] }),
  ];
  const texts = (lines: readonly object[]) => lines.map((one) => JSON.stringify(one));
  await expectSameHoweverGrown(copilot.world, COPILOT_CLI, [
    // Without any session.start the lines would be nobody's.
    {
      name: 'morning/events.jsonl',
      lines: texts([START, START, START, START, ...LINES, shutdown(9, { a: [9, 9, 0, 0] })]),
    },
    { name: 'evening/events.jsonl', versions: [2, 3, 4, 5].map((count) => jsonLines(old.slice(0, count))) },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  const file = world.file('events.jsonl', jsonLines([START, ...LINES]));
  expect(await world.ingest([file], { source: COPILOT_CLI, userId: 'ada' })).toMatchObject({ accepted: 7 });
  await world.build();
  await expectNoText(world, LINES, ['/e/new.py']);
});

testSamples(
  'captures/copilot-cli/edit-commit',
  'a recorded session has all that happened',
  async (folder) => {
    const truth = readTruth(folder);
    const { calls, input_uncached, cached, output } = truth.totals.all;
    const { orgId, byReason, events } = await copilot.read(join(folder, 'logs'));
    expect(byReason).toEqual({});
    expect(await usageOf(copilot.world, orgId)).toEqual({
      '2026-11-22 stub-1': [calls, input_uncached, cached, output],
    });
    expect(await countsOf(copilot.world, orgId)).toEqual(countsIn(truth));
    expect((await events('tool_call', 'event_id')).flat().sort()).toEqual(
      truth.tool_calls.map((call) => `tool:${call.id_sent_by_stub}`).sort(),
    );
  },
);
