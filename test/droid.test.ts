import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DROID } from '../src/ingest/source.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsOf, testSamples } from './samples.js';
import { jsonLines, SourceWorld } from './told.js';
import { World } from './world.js';

const droid = new SourceWorld(DROID);

const at = (seconds: number) => `2026-06-10T10:00:${String(seconds).padStart(2, '0')}.000Z`;
const ms = (seconds: number) => Date.parse(at(seconds));

const START = {
  type: 'session_start',
  id: 'morning',
  title: 'Greetings',
  version: 2,
  cwd: '/home/ada/engine',
};

function message(seconds: number, role: string, content: unknown, more: object = {}): object {
  return { type: 'message', id: `m${seconds}`, timestamp: at(seconds), message: { role, content, ...more } };
}

const text = (words: string) => [{ type: 'text', text: words }];
const prompt = (seconds: number, more: object = {}) =>
  message(seconds, 'user', text('Please greet whoever comes in.'), more);
const toolUse = (seconds: number, id: string, name: string, input: object) =>
  message(seconds, 'assistant', [{ type: 'tool_use', id, name, input }]);
const toolResult = (seconds: number, id: string, content: string, more: object = {}) =>
  message(seconds, 'user', [{ type: 'tool_result', tool_use_id: id, content, ...more }]);

const SETTINGS = {
  model: 'claude-opus-4-6',
  autonomyLevel: 'medium',
  tags: [{ name: 'exec' }],
  tokenUsage: {
    inputTokens: 10,
    outputTokens: 20,
    cacheCreationTokens: 3,
    cacheReadTokens: 400,
    thinkingTokens: 5,
  },
};

const MESSAGES = [
  prompt(1),
  toolUse(2, 'call_1', 'Create', { file_path: '/home/ada/new.py', content: 'print("good morning")' }),
  toolResult(3, 'call_1', 'The file was written as asked.'),
  toolUse(4, 'call_2', 'Execute', { command: 'git commit -m "Greet them"' }),
  toolResult(5, 'call_2', '[main 0123abc] Greet them'),
  message(6, 'assistant', text('I greet them from now on.')),
];

/** Reads one session, with or without its settings. */
const tell = (lines: readonly object[], settings?: object) =>
  droid.tell({
    'morning.jsonl': jsonLines(lines),
    ...(settings === undefined ? {} : { 'morning.settings.json': JSON.stringify(settings) }),
  });

test('the usage is the total of the settings, at the time of the first message', async () => {
  const { events } = await tell([START, ...MESSAGES], SETTINGS);
  const columns =
    'event_id, occurred_at, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, client, autonomy_mode';
  expect(await events('model_usage', columns)).toEqual([
    ['usage:morning', ms(1), 'claude-opus-4-6', 10, 25, 400, 3, 'non-interactive-cli', 'auto-medium'],
  ]);
});

test('without settings there is no usage, client or mode', async () => {
  const { events } = await tell([START, ...MESSAGES]);
  expect(await events('model_usage', 'event_id')).toEqual([]);
  expect(await events('user_message', 'client, autonomy_mode, cwd, session_id')).toEqual([
    [null, null, '/home/ada/engine', 'morning'],
  ]);
});

test('a turn is what a person wrote', async () => {
  const reminder = '<system-reminder>\nBe brief.\n</system-reminder>\n';
  const lines = [
    START,
    { ...message(1, 'user', text('context')), id: 'context-m1' },
    message(2, 'user', text('hidden'), { visibility: 'llm_only' }),
    message(3, 'user', text(reminder)),
    message(4, 'user', text(`${reminder}\nGreet them`)),
    message(5, 'user', 'Greet them'),
    message(6, 'user', [{ type: 'image' }]),
    toolResult(7, 'call_1', 'done'),
    { ...prompt(8), hookEventName: 'Stop' },
  ];
  const { events } = await tell(lines);
  expect(await events('user_message', 'event_id')).toEqual(
    [4, 5, 6].map((one) => [`turn:${ms(one)}:m${one}`]),
  );
  const helper = await tell(lines, { tags: [{ name: 'subagent' }] });
  expect(await helper.events('user_message', 'event_id')).toEqual([]);
});

test('a tool call succeeds unless its result is an error, or its command has another exit code', async () => {
  const results = ['', 'Error: Command failed (exit code: 1)\nno such file', 'say (exit code: 1)'];
  const { events } = await tell([
    START,
    ...results.flatMap((result, index) => [
      toolUse(2 * index, `call_${index}`, 'Execute', { command: 'ls' }),
      toolResult(2 * index + 1, `call_${index}`, result),
    ]),
    toolUse(10, 'call_10', 'Read', {}),
    toolResult(11, 'call_10', 'refused', { is_error: true }),
    toolUse(12, 'call_12', 'Read', {}),
  ]);
  expect(await events('tool_call', 'event_id, tool_name, success')).toEqual([
    ['tool:call_0', 'Execute', true],
    ['tool:call_1', 'Execute', false],
    ['tool:call_2', 'Execute', true],
    ['tool:call_10', 'Read', false],
    ['tool:call_12', 'Read', null],
  ]);
});

test('files and commits are those of tools that succeeded', async () => {
  const patch = '*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.py\n+y\n*** End Patch';
  const { events } = await tell([
    START,
    ...MESSAGES,
    toolUse(10, 'call_10', 'ApplyPatch', { patch }),
    toolResult(11, 'call_10', 'done'),
    toolUse(12, 'call_12', 'Edit', { file_path: 'c.py' }),
    toolResult(13, 'call_12', 'not found', { is_error: true }),
  ]);
  expect(await events('file_change', 'path, operation')).toEqual([
    ['/home/ada/new.py', 'create'],
    ['a.py', 'create'],
    ['b.py', 'edit'],
  ]);
  expect(await events('git_commit', 'event_id, commit_sha')).toEqual([['commit:call_2', '0123abc']]);
});

test('the mode is spec from a prompt that asks for a plan until one that does not', async () => {
  const { events } = await tell(
    [
      START,
      prompt(1),
      prompt(2, { interactionMode: 'spec' }),
      message(3, 'assistant', text('a plan')),
      prompt(4, { interactionMode: 'auto' }),
    ],
    { autonomyMode: 'auto-high' },
  );
  expect(await events('user_message', 'autonomy_mode')).toEqual([['auto-high'], ['spec'], ['auto-high']]);
  expect(await events('assistant_message', 'autonomy_mode')).toEqual([['spec']]);
});

test('what isn’t a session is rejected', async () => {
  const { byReason } = await tell([
    { type: 'system', session_id: 's', timestamp: at(1) },
    { type: 'message', session_id: 's', timestamp: at(2), role: 'user', text: 'Greet them' },
    { type: 'completion', session_id: 's', timestamp: at(3) },
  ]);
  expect(byReason).toEqual({ missing_member: 1 });
});

test('sessions give the same however they grew', async () => {
  const settings = [1, 2, 20].map((outputTokens) =>
    JSON.stringify({ ...SETTINGS, tokenUsage: { ...SETTINGS.tokenUsage, outputTokens } }),
  );
  const evening = { ...START, id: 'evening' };
  await expectSameHoweverGrown(droid.world, DROID, [
    // Without any session_start the messages would be nobody's.
    {
      name: 'morning.jsonl',
      lines: [START, START, START, START, ...MESSAGES].map((one) => JSON.stringify(one)),
    },
    {
      name: 'evening.jsonl',
      versions: [1, 4, 7].map((count) => jsonLines([evening, ...MESSAGES].slice(0, count))),
    },
    { name: 'evening.settings.json', versions: settings },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  world.file('morning.settings.json', JSON.stringify(SETTINGS));
  const file = world.file('morning.jsonl', jsonLines([START, ...MESSAGES]));
  expect(await world.ingest([file], { source: DROID, userId: 'ada' })).toMatchObject({ accepted: 9 });
  await world.build();
  await expectNoText(world, MESSAGES, ['/home/ada/new.py']);
});

describe('real sessions', () => {
  testSamples('transcripts/factory-droid', 'of a public project count as they should', async (folder) => {
    const { orgId, byReason, events } = await droid.read(join(folder, 'Glubiz+zirv-dynamic-cli'));
    expect(byReason).toEqual({});
    expect(await countsOf(droid.world, orgId)).toMatchObject({
      turns: 1,
      replies: 2,
      tool_calls: 1,
      failed_tool_calls: 1,
    });
    expect(await events('model_usage', 'event_id')).toEqual([]);
  });

  testSamples(
    'transcripts/factory-droid',
    'of a fixture have a failed command and a turn with a reminder',
    async (folder) => {
      const { orgId, byReason } = await droid.read(join(folder, 'jazzyalex+agent-sessions'));
      // The lines of three streams are no sessions.
      expect(byReason).toEqual({ missing_member: 4 });
      expect(await countsOf(droid.world, orgId)).toMatchObject({
        turns: 4,
        replies: 6,
        tool_calls: 1,
      });
    },
  );
});
