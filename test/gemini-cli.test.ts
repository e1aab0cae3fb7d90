import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GEMINI_CLI } from '../src/ingest/source.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsIn, countsOf, EVENT, readTruth, sampleFolders, testSamples, usageOf } from './samples.js';
import { jsonLines, SourceWorld } from './told.js';
import { World } from './world.js';

const gemini = new SourceWorld(GEMINI_CLI);

const at = (seconds: number) => `2026-06-10T10:00:${String(seconds).padStart(2, '0')}.000Z`;
const ms = (seconds: number) => Date.parse(at(seconds));

const HEADER = {
  sessionId: 'morning',
  projectHash: 'abc',
  startTime: at(0),
  lastUpdated: at(0),
  kind: 'main',
};
const user = (seconds: number, content: unknown, more: object = {}) => ({
  id: `user-${seconds}`,
  timestamp: at(seconds),
  type: 'user',
  content,
  ...more,
});
const answer = (seconds: number, id: string, more: object = {}) => ({
  id,
  timestamp: at(seconds),
  type: 'gemini',
  content: '',
  model: 'gemini-2.5-pro',
  ...more,
});
const tokens = (input: number, cached: number, output: number, thoughts: number, tool = 0) => ({
  tokens: { input, cached, output, thoughts, tool, total: input + output + thoughts + tool },
});
const text = (words: string) => [{ text: words }];
const call = (id: string, name: string, args: object, output: string, more: object = {}) => ({
  id,
  name,
  args,
  result: [{ functionResponse: { id, name, response: { output } } }],
  status: 'success',
  timestamp: at(9),
  ...more,
});
const shell = (id: string, command: string, output: string) =>
  call(id, 'run_shell_command', { command }, `<untrusted_context>\nOutput: ${output}\n</untrusted_context>`);

/** Reads the lines of a chat. */
const chat = (...entries: object[]) =>
  gemini.tell({ 'chats/session-1.jsonl': jsonLines([HEADER, ...entries]) });

const COUNTERS = 'event_id, occurred_at, input_tokens, cache_read_tokens, output_tokens';

describe('usage', () => {
  test('has cached tokens outside of input, those of tools inside, and thoughts in output', async () => {
    const told = await chat(answer(1, 'a', tokens(1000, 400, 50, 7, 3)));
    expect(await told.events('model_usage', COUNTERS)).toEqual([['usage:morning:a', ms(1), 603, 400, 57]]);
    expect(await told.events('model_usage', 'session_id, user_id, agent, channel, model, client')).toEqual([
      ['morning', 'ada', 'gemini-cli', 'log', 'gemini-2.5-pro', null],
    ]);
  });

  test('counts a message that is written again once, and keeps its tokens and time after a resume', async () => {
    const first = answer(1, 'a', tokens(1000, 400, 50, 7));
    const again = { id: 'a', timestamp: at(30), type: 'gemini', content: text('x') };
    const told = await chat(first, { ...first, toolCalls: [call('t', 'read_file', {}, 'x')] }, HEADER, {
      $set: { messages: [again], lastUpdated: at(30) },
    });
    expect(await told.events('model_usage', COUNTERS)).toEqual([['usage:morning:a', ms(1), 600, 400, 57]]);
    expect(await told.events('assistant_message', 'event_id, occurred_at')).toEqual([
      ['message:morning:a', ms(1)],
    ]);
    expect(await told.events('tool_call', 'event_id, occurred_at')).toEqual([['tool:morning:t', ms(1)]]);
  });

  test('without tokens is none', async () => {
    const told = await chat(answer(1, 'a', tokens(0, 0, 0, 0)), answer(2, 'b', { tokens: null }));
    expect(await told.events('model_usage', 'event_id')).toEqual([]);
    expect(await told.events('assistant_message', 'event_id')).toHaveLength(2);
  });

  test('of a message that was taken back counts', async () => {
    const told = await chat(answer(1, 'a', tokens(9, 0, 1, 0)), { $rewindTo: 'a' });
    expect(await told.events('model_usage', 'event_id')).toEqual([['usage:morning:a']]);
    expect(told.byReason).toEqual({});
  });
});

describe('turns', () => {
  test('are what a person wrote, not what the program writes in their name', async () => {
    const told = await chat(
      { $set: { messages: [user(1, text('<session_context>\nToday is Monday'))] } },
      user(2, text('Add a greeting')),
      user(3, 'and say it as a plain text'),
      user(4, [{ functionResponse: { name: 'read_file' } }]),
      user(5, text('System: Please continue.')),
      user(6, '[Function Response: read_many_files]--- a.ts'),
      user(7, ''),
      user(8, [{ inlineData: { mimeType: 'image/png' } }]),
      { id: 'info', timestamp: at(9), type: 'info', content: 'Request cancelled.' },
      // A summary of the history takes its place, with an answer that the model didn't give.
      {
        $set: { messages: [user(10, text('<state_snapshot>')), { ...answer(11, 'ack'), model: undefined }] },
      },
    );
    expect(await told.events('user_message', 'event_id')).toEqual(
      [2, 3, 8].map((seconds) => [`turn:morning:user-${seconds}`]),
    );
    expect(await told.events('assistant_message', 'event_id')).toEqual([]);
  });

  test('that begin with a command are slash commands as well', async () => {
    const told = await chat(
      user(1, text('You are asked to write GEMINI.md'), { displayContent: text('/init') }),
      user(2, '/tiny now'),
      user(3, '/home/ada is full'),
    );
    expect(await told.events('user_message', 'event_id')).toHaveLength(3);
    expect(await told.events('slash_command', 'event_id, command_name')).toEqual([
      ['slash:morning:user-1', 'init'],
      ['slash:morning:user-2', 'tiny'],
    ]);
  });

  test('of a sub-agent are none, since an agent wrote them', async () => {
    const header = { ...HEADER, sessionId: 'helper', kind: 'subagent' };
    const told = await gemini.tell({
      'chats/morning/helper.jsonl': jsonLines([header, user(1, 'Help'), answer(2, 'a', tokens(5, 0, 1, 0))]),
    });
    expect(await told.events('user_message', 'event_id')).toEqual([]);
    expect(await told.events('model_usage', 'event_id, session_id')).toEqual([['usage:helper:a', 'helper']]);
  });
});

describe('tools', () => {
  const calls = (...toolCalls: object[]) => chat(answer(1, 'a', { toolCalls }));

  test('succeed by their status, and shell commands by their exit code', async () => {
    const told = await calls(
      call('t1', 'read_file', {}, 'x'),
      call('t2', 'read_file', {}, 'x', { status: 'error' }),
      call('t3', 'write_file', { file_path: 'a' }, 'x', { status: 'cancelled' }),
      call('t4', 'read_file', {}, 'x', { status: 'executing' }),
      shell('t5', 'make', 'ok\nProcess Group PGID: 1447'),
      shell('t6', 'make', 'broken\nExit Code: 3\nProcess Group PGID: 1447'),
      shell('t7', 'cat log', 'Exit Code: 3\nall well'),
      call('t8', 'read_file', {}, 'Exit Code: 3'),
    );
    expect(await told.events('tool_call', 'event_id, success')).toEqual(
      [true, false, false, null, true, false, true, true].map((success, index) => [
        `tool:morning:t${index + 1}`,
        success,
      ]),
    );
    expect(await told.events('file_change', 'event_id')).toEqual([]);
  });

  test('of MCP servers name the server', async () => {
    const told = await calls(
      call('t1', 'mcp_tiny_add_numbers', {}, '5', { displayName: 'add_numbers (tiny MCP Server)' }),
      call('t2', 'mcp_tiny_add_numbers', {}, '5'),
    );
    expect(await told.events('tool_call', 'tool_name, mcp_server')).toEqual([
      ['mcp_tiny_add_numbers', 'tiny'],
      ['mcp_tiny_add_numbers', null],
    ]);
  });

  test('that change files say which, how, and how many lines', async () => {
    const display = (isNewFile: boolean, added: number, removed: number, filePath?: string) => ({
      resultDisplay: {
        isNewFile,
        filePath,
        diffStat: { model_added_lines: added, model_removed_lines: removed },
      },
    });
    const told = await calls(
      call('t1', 'write_file', { file_path: '/a.py' }, 'x', display(true, 2, 0)),
      call('t2', 'replace', { file_path: 'b.md' }, 'x', display(false, 3, 1, '/engine/b.md')),
      call('t3', 'replace', { file_path: 'b.md' }, 'x', { status: 'error' }),
      call('t4', 'read_file', { file_path: 'b.md' }, 'x'),
    );
    expect(
      await told.events('file_change', 'event_id, occurred_at, path, operation, lines_added, lines_removed'),
    ).toEqual([
      ['file:morning:t1', ms(9), '/a.py', 'create', 2, 0],
      ['file:morning:t2', ms(9), '/engine/b.md', 'edit', 3, 1],
    ]);
  });

  test('that commit or open a pull request say so if they succeeded', async () => {
    const told = await calls(
      shell('t1', 'git add -A && git commit -m "Greet"', '[main e741b3f] Greet\n 2 files changed'),
      shell('t2', 'git commit -qam x', '(empty)'),
      shell('t3', 'git commit -m x', 'nothing to commit\nExit Code: 1'),
      shell('t4', 'gh pr create --fill', 'https://github.com/acme/engine/pull/7'),
    );
    expect(await told.events('git_commit', 'event_id, commit_sha')).toEqual([
      ['commit:morning:t1', 'e741b3f'],
      ['commit:morning:t2', null],
    ]);
    expect(await told.events('pull_request', 'event_id, url')).toEqual([
      ['pull_request:morning:t4', 'https://github.com/acme/engine/pull/7'],
    ]);
  });
});

const MESSAGES = [
  user(1, text('Please say what the engine computes.')),
  answer(2, 'a', { content: 'It computes Bernoulli numbers.', ...tokens(90, 40, 5, 2) }),
  answer(2, 'a', {
    content: 'It computes Bernoulli numbers.',
    ...tokens(90, 40, 5, 2),
    toolCalls: [
      call(
        't1',
        'write_file',
        { file_path: 'new.md', content: 'the first line of it' },
        'Successfully written',
        {
          resultDisplay: { isNewFile: true, newContent: 'the first line of it' },
        },
      ),
    ],
  }),
  user(3, text('Please commit what you have written.')),
  answer(4, 'b', {
    ...tokens(95, 40, 9, 2),
    toolCalls: [shell('t2', 'git commit -m "as asked"', '[main 0123abc] as asked')],
  }),
];

test('a document and the lines that it became count once', async () => {
  const document = JSON.stringify({ ...HEADER, messages: MESSAGES }, null, 2);
  const lines = jsonLines([HEADER, ...MESSAGES, { $set: { sessionId: 'morning' } }]);
  const one = await gemini.tell({ 'chats/session-1.json': document });
  const both = await gemini.tell({ 'chats/session-1.json': document, 'chats/session-1.jsonl': lines });
  expect(await one.events('model_usage', COUNTERS)).toHaveLength(2);
  for (const type of [
    'model_usage',
    'user_message',
    'assistant_message',
    'tool_call',
    'file_change',
    'git_commit',
  ])
    expect(await both.events(type, EVENT)).toEqual(await one.events(type, EVENT));
});

test('files that are no chats are rejected, without their text', async () => {
  const told = await gemini.tell({
    // Of another program.
    'a.json': JSON.stringify({ sessionId: 'morning', turns: 1, messages: [{ role: 'user', content: 'x' }] }),
    'b.json': JSON.stringify({ history: [{ role: 'user', parts: [] }], meta: {} }),
    'c.json': JSON.stringify([HEADER]),
    // A chat whose header is missing.
    'd.jsonl': jsonLines([user(1, 'x'), answer(2, 'a', tokens(1, 0, 1, 0))]),
  });
  expect(told.byReason).toEqual({ missing_member: 4, not_an_object: 1 });
  const rejects = await gemini.world.store.select(
    'SELECT source, detail, line FROM rejects WHERE org_id = $org_id ORDER BY source, line_no',
    { org_id: told.orgId },
  );
  expect(rejects.map(({ source, detail, line }) => [basename(String(source)), detail, line])).toEqual([
    ['a.json', 'projectHash is required.', null],
    ['b.json', 'sessionId is required.', null],
    ['c.json', 'The line must be a JSON object.', null],
    ['d.jsonl', 'sessionId is required.', null],
    ['d.jsonl', 'sessionId is required.', null],
  ]);
});

test('of the folder of Gemini CLI only chats are read', () => {
  const isRead = (path: string) => GEMINI_CLI.files.test(path);
  expect(isRead('/home/ada/.gemini/tmp/engine/chats/session-1.jsonl')).toBe(true);
  expect(isRead('/home/ada/.gemini/tmp/engine/chats/morning/helper.jsonl')).toBe(true);
  expect(isRead('/home/ada/.gemini/tmp/engine/logs.json')).toBe(false);
  expect(isRead('/home/ada/.gemini/settings.json')).toBe(false);
  expect(isRead('/srv/copies/session-1.json')).toBe(true);
});

test('chats give the same however they grew', async () => {
  const document = (count: number) =>
    JSON.stringify({ ...HEADER, sessionId: 'evening', messages: MESSAGES.slice(0, count) });
  await expectSameHoweverGrown(gemini.world, GEMINI_CLI, [
    // Without any header the messages would be nobody's.
    {
      name: 'chats/session-1.jsonl',
      lines: [HEADER, HEADER, HEADER, HEADER, ...MESSAGES].map((one) => JSON.stringify(one)),
    },
    { name: 'chats/session-2.json', versions: [1, 2, 3, 5].map(document) },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  const file = world.file('session-1.jsonl', jsonLines([HEADER, ...MESSAGES]));
  const { accepted } = await world.ingest([file], { source: GEMINI_CLI, userId: 'ada' });
  expect(accepted).toBe(10);
  await world.build();
  // The queries, which the database knows, look for this mark.
  await expectNoText(world, MESSAGES, ['</untrusted_context>']);
});

describe('chats of real people', () => {
  testSamples('transcripts/gemini-cli', 'give the numbers that were counted by hand', async (folder) => {
    const { orgId, byReason, events } = await gemini.read(folder);
    expect(byReason).toEqual({ missing_member: 1 });
    expect(await usageOf(gemini.world, orgId)).toEqual({
      '2025-10-05 gemini-2.5-pro': [18, 140022, 326620, 6944],
      // Four more messages have only zeros.
      '2025-10-11 gemini-2.5-pro': [19, 165329, 399728, 11462],
      '2025-12-16 gemini-3-flash-preview': [1, 100, 0, 10],
      '2026-01-16 gemini-3-flash-preview': [1, 10, 0, 5],
      '2026-03-27 gemini-3.1-pro-preview-customtools': [3, 36522, 39826, 20941],
      '2026-04-23 gemini-3-flash-preview': [5, 113397, 48951, 3575],
      '2026-04-23 gemini-3.1-pro-preview': [1, 40238, 0, 718],
      '2026-04-29 gemini-3-flash-preview': [2, 12422, 11502, 228],
    });
    const daysOf = async (type: string, more = '') => {
      const days = await events(type, `CAST(day AS VARCHAR)${more}`);
      const counts: Record<string, number> = {};
      for (const values of days) counts[values.join(' ')] = (counts[values.join(' ')] ?? 0) + 1;
      return counts;
    };
    expect(await daysOf('user_message')).toEqual({
      '2025-10-05': 1,
      '2025-10-11': 2,
      '2025-12-16': 2,
      '2026-01-16': 1,
      '2026-03-27': 1,
      '2026-04-23': 2,
      '2026-04-29': 1,
    });
    expect(await daysOf('tool_call')).toEqual({
      '2025-12-16': 2,
      '2026-03-27': 7,
      '2026-04-23': 12,
      '2026-04-29': 1,
    });
    expect(await daysOf('file_change', ', operation')).toEqual({
      '2026-03-27 create': 1,
      '2026-03-27 edit': 3,
      '2026-04-23 edit': 2,
    });
  });
});

testSamples('captures/gemini-cli', 'recordings give what happened', async () => {
  for (const folder of sampleFolders('captures/gemini-cli')) {
    const truth = readTruth(folder);
    const { orgId, byReason, events } = await gemini.read(join(folder, 'logs'));
    expect(byReason).toEqual({});
    const { calls, input_uncached, cached, output, reasoning } = truth.totals.all;
    expect(Object.values(await usageOf(gemini.world, orgId))).toEqual([
      // Thoughts are outside of the output that Gemini's API reports.
      [calls, input_uncached, cached, output + reasoning],
    ]);
    expect(await countsOf(gemini.world, orgId)).toEqual(countsIn(truth));
    const tools = await events('tool_call', 'event_id, tool_name, success, mcp_server');
    expect(new Set(tools.map(([id, ...rest]) => [String(id).split('__').at(-1), ...rest].join()))).toEqual(
      new Set(
        truth.tool_calls.map(({ id_sent_by_stub, name, success, mcp_server }) =>
          [id_sent_by_stub, name, success, mcp_server].join(),
        ),
      ),
    );
    const printed = (await events('git_commit', 'commit_sha')).flat().filter((sha) => sha !== null);
    for (const sha of printed)
      expect(truth.commits.some((commit) => commit.sha.startsWith(String(sha)))).toBe(true);
  }
});
