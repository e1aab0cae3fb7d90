import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CLINE } from '../src/ingest/source.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsIn, countsOf, readTruth, sampleFolders, testSamples, usageOf } from './samples.js';
import { SourceWorld } from './told.js';
import { World } from './world.js';

const cline = new SourceWorld(CLINE);

const ms = (seconds: number) => Date.parse('2026-06-10T10:00:00.000Z') + 1000 * seconds;

const message = (seconds: number, role: string, content: unknown, more: object = {}) => ({
  id: `msg_${seconds}`,
  role,
  content,
  ts: ms(seconds),
  ...more,
});
const user = (seconds: number, words: string, mode = 'act') =>
  message(seconds, 'user', [{ type: 'text', text: `<user_input mode="${mode}">${words}</user_input>` }]);
const metrics = (input: number, read: number, write: number, output: number) => ({
  modelInfo: { id: 'grok-code', provider: 'x' },
  metrics: { inputTokens: input, cacheReadTokens: read, cacheWriteTokens: write, outputTokens: output },
});
const use = (id: string, name: string, input: object = {}) => ({ type: 'tool_use', id, name, input });
const result = (seconds: number, id: string, content: unknown, more: object = {}) =>
  message(seconds, 'user', [{ type: 'tool_result', tool_use_id: id, content, ...more }]);

const SESSION = {
  source: 'cli',
  interactive: false,
  cwd: '/home/ada/engine',
  metadata: { git: { url: 'https://ci:secret@example.com/engine.git', branch: 'main' } },
};
const session = (messages: object[], sessionId = 'morning') =>
  JSON.stringify({ version: 1, sessionId, origin: { version: '3.0.65' }, messages }, null, 2);

/** Reads the messages of a session of the CLI. */
const chat = (...messages: object[]) =>
  cline.tell({
    'sessions/morning/morning.messages.json': session(messages),
    'sessions/morning/morning.json': JSON.stringify(SESSION),
  });

const COUNTERS =
  'event_id, occurred_at, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens';

describe('the CLI', () => {
  test('counts cached tokens inside of input', async () => {
    const { events } = await chat(
      message(1, 'assistant', [{ type: 'text', text: 'x' }], metrics(1000, 400, 100, 50)),
      message(2, 'assistant', [], metrics(0, 0, 0, 0)),
    );
    expect(await events('model_usage', COUNTERS)).toEqual([
      [`usage:msg_1:${ms(1)}`, ms(1), 'grok-code', 500, 400, 100, 50],
    ]);
    expect(await events('assistant_message', 'event_id')).toHaveLength(2);
    expect(
      await events('model_usage', 'session_id, agent, agent_version, client, cwd, git_branch, repo, channel'),
    ).toEqual([
      [
        'morning',
        'cline',
        '3.0.65',
        'non-interactive-cli',
        '/home/ada/engine',
        'main',
        'https://example.com/engine.git',
        'log',
      ],
    ]);
  });

  test('counts a message once that another session took over', async () => {
    const answer = message(1, 'assistant', [use('t1', 'editor')], metrics(10, 0, 0, 5));
    const { events } = await cline.tell({
      'sessions/morning/morning.messages.json': session([answer]),
      'sessions/noon/noon.messages.json': session([answer], 'noon'),
    });
    for (const type of ['model_usage', 'assistant_message', 'tool_call'])
      expect(await events(type, 'event_id')).toHaveLength(1);
  });

  test('has turns of what a person wrote, with the mode that they wrote in', async () => {
    const { events } = await chat(
      user(1, 'Look around', 'plan'),
      message(2, 'assistant', [], metrics(1, 0, 0, 1)),
      user(3, '/deploy now', 'yolo'),
      message(4, 'assistant', [], metrics(1, 0, 0, 1)),
      user(5, 'Go on'),
      message(6, 'assistant', [], metrics(1, 0, 0, 1)),
      message(7, 'user', 'as a plain text'),
      message(8, 'user', [{ type: 'text', text: 'Go on.' }], { metadata: { kind: 'recovery_notice' } }),
      result(9, 't1', 'x'),
    );
    expect(await events('user_message', 'event_id, autonomy_mode')).toEqual([
      [`turn:msg_1:${ms(1)}`, 'spec'],
      [`turn:msg_3:${ms(3)}`, 'auto-high'],
      [`turn:msg_5:${ms(5)}`, null],
      [`turn:msg_7:${ms(7)}`, null],
    ]);
    expect(await events('slash_command', 'event_id, command_name')).toEqual([
      [`slash:msg_3:${ms(3)}`, 'deploy'],
    ]);
    expect(await events('assistant_message', 'autonomy_mode')).toEqual([['spec'], ['auto-high'], [null]]);
  });

  test('has the work of sub-agents in the session that started them', async () => {
    const { events } = await cline.tell({
      'sessions/morning/morning.json': JSON.stringify({ ...SESSION, interactive: true }),
      'sessions/morning/agent_1.messages.json': session(
        [
          message(1, 'user', [{ type: 'text', text: 'Help' }]),
          message(2, 'assistant', [], metrics(7, 0, 0, 1)),
        ],
        'morning__agent_1',
      ),
    });
    expect(await events('user_message', 'event_id')).toEqual([]);
    expect(await events('model_usage', 'session_id, input_tokens, client')).toEqual([
      ['morning', 7, 'terminal-ui'],
    ]);
  });

  test('says which tools succeeded, and what they did', async () => {
    const patch = '*** Begin Patch\n*** Add File: c.py\n+x\n*** Update File: d.py\n';
    const command = (query: string, success: boolean, printed = '') => ({ query, result: printed, success });
    const { events, byReason } = await chat(
      message(1, 'assistant', [
        use('t1', 'read_files'),
        use('t2', 'editor', { path: '/a.py' }),
        use('t3', 'editor', { path: '/b.md' }),
        use('t4', 'editor', { path: '/b.md' }),
        use('t5', 'no_such_tool'),
        use('t6', 'run_commands'),
        use('t7', 'run_commands'),
        use('t8', 'apply_patch', { input: patch }),
        use('t9', 'spawn_agent'),
      ]),
      result(2, 't1', [command('/b.md', true, '1 | one')]),
      result(3, 't2', JSON.stringify(command('edit:/a.py', true, 'File created successfully at: /a.py'))),
      result(4, 't3', JSON.stringify(command('edit:/b.md', true, 'Edited /b.md'))),
      result(5, 't4', JSON.stringify({ query: 'x', result: '', error: 'not found', success: false })),
      result(6, 't5', JSON.stringify({ error: 'unknown' }), { is_error: true }),
      result(7, 't6', [command('make', false), command('git commit -qm x', true)]),
      result(8, 't7', [
        command('git commit -m "Greet"', true, '[main d59360c] Greet'),
        command('gh pr create --fill', true, 'https://github.com/acme/engine/pull/7'),
        command('git commit -m x', false, 'nothing to commit'),
      ]),
      result(9, 't8', JSON.stringify(command('apply_patch', true, 'Done'))),
    );
    expect(byReason).toEqual({});
    expect(await events('tool_call', 'event_id, success')).toEqual(
      [true, true, true, false, false, false, false, true, null].map((success, index) => [
        `tool:t${index + 1}`,
        success,
      ]),
    );
    expect(await events('file_change', 'event_id, occurred_at, path, operation')).toEqual([
      ['file:t2', ms(3), '/a.py', 'create'],
      ['file:t3', ms(4), '/b.md', 'edit'],
      ['file:t8:c.py', ms(9), 'c.py', 'create'],
      ['file:t8:d.py', ms(9), 'd.py', 'edit'],
    ]);
    expect(await events('git_commit', 'event_id, commit_sha')).toEqual([
      ['commit:t6:2', null],
      ['commit:t7:1', 'd59360c'],
    ]);
    expect(await events('pull_request', 'event_id, url')).toEqual([
      ['pull_request:t7:2', 'https://github.com/acme/engine/pull/7'],
    ]);
  });
});

const entry = (seconds: number, say: string, text: string, more: object = {}) => ({
  ts: ms(seconds),
  type: 'say',
  say,
  text,
  ...more,
});
const request = (seconds: number, tokens: object, more: object = {}) =>
  entry(seconds, 'api_req_started', JSON.stringify({ request: 'x', ...tokens }), more);

describe('the extensions', () => {
  const TASK = 'globalStorage/saoudrizwan.claude-dev/tasks/1767225600000';
  const ROO = 'globalStorage/rooveterinaryinc.roo-cline/tasks/0a1b';

  test('write disjoint tokens, and the model in the entry or beside it', async () => {
    const tokens = { tokensIn: 100, tokensOut: 7, cacheReads: 40, cacheWrites: 3, cost: 0.1 };
    const { events } = await cline.tell({
      [`${TASK}/ui_messages.json`]: JSON.stringify([
        entry(0, 'task', 'Write it'),
        request(1, {}),
        request(2, tokens),
        entry(3, 'user_feedback', 'Do it again'),
        request(4, { tokensIn: 5, tokensOut: 1 }),
        request(5, { tokensIn: 6, tokensOut: 1 }, { modelInfo: { modelId: 'third' } }),
        request(6, { tokensIn: 9, tokensOut: 9 }, { partial: true }),
        { ...entry(7, 'task', 'x'), type: 'ask' },
      ]),
      [`${TASK}/task_metadata.json`]: JSON.stringify({
        model_usage: [
          { ts: ms(1), model_id: 'first' },
          { ts: ms(4), model_id: 'second' },
        ],
      }),
    });
    expect(await events('model_usage', COUNTERS)).toEqual([
      [`usage:1767225600000:${ms(2)}`, ms(2), 'first', 100, 40, 3, 7],
      [`usage:1767225600000:${ms(4)}`, ms(4), 'second', 5, 0, 0, 1],
      [`usage:1767225600000:${ms(5)}`, ms(5), 'third', 6, 0, 0, 1],
    ]);
    expect(await events('user_message', 'occurred_at, agent')).toEqual([
      [ms(0), 'cline'],
      [ms(3), 'cline'],
    ]);
    expect(await events('assistant_message', 'event_id')).toHaveLength(3);
  });

  test('have the model of Roo Code in what is sent to it', async () => {
    const { events } = await cline.tell({
      [`${ROO}/ui_messages.json`]: JSON.stringify([
        entry(0, 'text', '/init Write it'),
        request(1, { tokensIn: 5, tokensOut: 1 }),
        entry(2, 'text', 'I write it'),
      ]),
      [`${ROO}/api_conversation_history.json`]: JSON.stringify([
        { role: 'user', content: [{ type: 'text', text: '<environment_details>\n<model>kimi-k3</model>' }] },
      ]),
    });
    expect(await events('model_usage', 'session_id, agent, model')).toEqual([
      ['0a1b', 'roo-code', 'kimi-k3'],
    ]);
    expect(await events('user_message', 'occurred_at')).toEqual([[ms(0)]]);
    expect(await events('slash_command', 'command_name')).toEqual([['init']]);
  });

  test('are rejected where no model is known', async () => {
    const { byReason } = await cline.tell({
      [`${TASK}/ui_messages.json`]: JSON.stringify([request(1, { tokensIn: 5, tokensOut: 1 })]),
    });
    expect(byReason).toEqual({ missing_member: 1 });
  });
});

test('a document of another form is rejected, and an array beside it or a compressed file is not', async () => {
  const { byReason, events } = await cline.tell({
    'a.messages.json': JSON.stringify({ sessionId: 'x' }),
    'b.messages.json': JSON.stringify({ messages: [message(1, 'assistant', [], metrics(1, 0, 0, 1))] }),
    'c.messages.json': session([user(1, 'x')]).slice(0, -9),
    'd.messages.json.gz': gzipSync(session([user(1, 'x')])),
    'tasks/1/ui_messages.json': JSON.stringify([entry(0, 'task', 'x')]),
  });
  expect(byReason).toEqual({ missing_member: 2, not_json: 1 });
  expect(await events('user_message', 'session_id')).toEqual([['1'], ['morning']]);
});

test('only messages are read', () => {
  const isRead = (path: string) => CLINE.files.test(path);
  expect(isRead('/home/ada/.cline/data/sessions/1/1.messages.json')).toBe(true);
  expect(isRead('/home/ada/.cline/data/sessions/1/1.json')).toBe(false);
  expect(isRead('/home/ada/tasks/1/ui_messages.json')).toBe(true);
  expect(isRead('/home/ada/tasks/1/api_conversation_history.json')).toBe(false);
});

const MORNING = [
  user(1, 'Please say what the engine computes.', 'plan'),
  message(2, 'assistant', [{ type: 'text', text: 'It computes Bernoulli numbers.' }], metrics(90, 40, 0, 5)),
  user(3, 'Please commit what you have written.'),
  message(
    4,
    'assistant',
    [use('t1', 'editor', { path: '/new.md', new_text: 'the first line of it' })],
    metrics(95, 40, 0, 9),
  ),
  result(
    5,
    't1',
    JSON.stringify({ query: 'edit:/new.md', result: 'File created successfully at: /new.md', success: true }),
  ),
  message(
    6,
    'assistant',
    [use('t2', 'run_commands', { commands: ['git commit -m "as asked"'] })],
    metrics(99, 40, 0, 3),
  ),
  result(7, 't2', [{ query: 'git commit -m "as asked"', result: '[main 0123abc] as asked', success: true }]),
];

test('sessions give the same however they grew', async () => {
  const versions = (sessionId: string) =>
    [1, 2, 4, 5, 7].map((count) => session(MORNING.slice(0, count), sessionId));
  const task = [
    entry(0, 'task', 'x'),
    request(1, { tokensIn: 5, tokensOut: 1 }, { modelInfo: { modelId: 'm' } }),
  ];
  await expectSameHoweverGrown(cline.world, CLINE, [
    { name: 'morning/morning.messages.json', versions: versions('morning') },
    { name: 'noon/noon.messages.json', versions: versions('noon').slice(0, 3) },
    {
      name: 'tasks/1/ui_messages.json',
      versions: [1, 2].map((count) => JSON.stringify(task.slice(0, count))),
    },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  const file = world.file('morning.messages.json', session(MORNING));
  const { accepted } = await world.ingest([file], { source: CLINE, userId: 'ada' });
  expect(accepted).toBe(12);
  await world.build();
  // The queries, which the database knows, have the beginning of a result.
  await expectNoText(world, MORNING, ['/new.md', 'File created']);
});

testSamples('captures/cline', 'recordings give what happened', async () => {
  for (const folder of sampleFolders('captures/cline')) {
    const truth = readTruth(folder);
    const { orgId, byReason, events } = await cline.read(join(folder, 'logs'));
    expect(byReason, basename(folder)).toEqual({});
    const { calls, input_uncached, cached, output } = truth.totals.all;
    expect(Object.values(await usageOf(cline.world, orgId))).toEqual([
      [calls, input_uncached, cached, output],
    ]);
    expect(await countsOf(cline.world, orgId)).toEqual(countsIn(truth));
    expect(new Set((await events('tool_call', 'event_id, tool_name, success')).map(String))).toEqual(
      new Set(truth.tool_calls.map((tool) => `tool:${tool.id_sent_by_stub},${tool.name},${tool.success}`)),
    );
  }
});
