import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { CODEX } from '../src/ingest/source.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsOf, EVENT, readTruth, sampleFolders, samples, testSamples, usageOf } from './samples.js';
import { ending, World } from './world.js';

const START = Date.parse('2026-06-10T10:00:00Z');
/** Ids of threads and turns, which sort by time. */
const uuid = (time: number, rest = 0) =>
  `019e${String(time).padStart(4, '0')}-0000-7000-8000-${String(rest).padStart(12, '0')}`;
const THREAD = uuid(1000);
const TURN = uuid(1001);

/** A line of a rollout, so many milliseconds after ten. */
const line = (ms: number, type: string, payload: object) => ({
  timestamp: new Date(START + ms).toISOString(),
  type,
  payload,
});
const message = (ms: number, type: string, more: object = {}) => line(ms, 'event_msg', { type, ...more });
const item = (ms: number, type: string, more: object, turn_id = TURN) =>
  message(ms, 'item_completed', { thread_id: THREAD, turn_id, item: { type, ...more } });
const response = (ms: number, type: string, more: object) => line(ms, 'response_item', { type, ...more });

const meta = (ms: number, more: object = {}) =>
  line(ms, 'session_meta', {
    id: THREAD,
    cwd: '/home/ada/engine',
    originator: 'codex-tui',
    cli_version: '0.142.0',
    source: 'cli',
    git: { branch: 'main', repository_url: 'https://ci:secret@git.acme.example/engine.git' },
    ...more,
  });
const begun = (ms: number, turn_id: unknown = TURN) => message(ms, 'task_started', { turn_id });
const setting = (ms: number, more: object = {}) =>
  line(ms, 'turn_context', {
    turn_id: TURN,
    cwd: '/home/ada/engine',
    model: 'gpt-5.5',
    approval_policy: 'on-request',
    sandbox_policy: { type: 'workspace-write' },
    ...more,
  });
const prompt = (ms: number, more: object = {}) =>
  message(ms, 'user_message', { message: 'Please say what the engine computes.', ...more });

type Tokens = [input: number, cached: number, output: number, written?: number];
const tokens = ([input, cached, output, written = 0]: Tokens) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  cache_write_input_tokens: written,
  output_tokens: output,
  reasoning_output_tokens: 1,
  total_tokens: input + output,
});
const count = (ms: number, total: Tokens, last: Tokens | null = total) =>
  message(ms, 'token_count', {
    info: { total_token_usage: tokens(total), last_token_usage: last === null ? null : tokens(last) },
  });
const record = (ms: number, response_id: string, usage: Tokens) =>
  line(ms, 'token_usage_record', { thread_id: THREAD, turn_id: TURN, response_id, usage: tokens(usage) });
const call = (ms: number, call_id: string, name: string, input: object, more: object = {}) =>
  response(ms, 'function_call', { name, arguments: JSON.stringify(input), call_id, ...more });
const output = (ms: number, call_id: string, text: unknown) =>
  response(ms, 'function_call_output', { call_id, output: text });
const reply = (ms: number, more: object = {}) =>
  response(ms, 'message', {
    role: 'assistant',
    content: [{ type: 'output_text', text: 'It computes Bernoulli numbers.' }],
    ...more,
  });

let world: World;
const atEnd = ending();
beforeAll(async () => {
  world = await World.create({}, atEnd);
});

let organizations = 0;
const newOrganization = () => `org-${++organizations}`;
const textOf = (lines: readonly object[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

/** Takes a rollout in, of a new organization unless one is given, and answers whose it is. */
async function told(
  lines: readonly object[],
  { orgId = newOrganization(), file = 'rollout.jsonl' }: { orgId?: string; file?: string } = {},
): Promise<string> {
  await world.ingest([world.file(file, textOf(lines))], { orgId, source: CODEX, userId: 'ada' });
  return orgId;
}

async function eventsOf(orgId: string, type: string, columns: string): Promise<unknown[]> {
  const rows = await world.store.select(
    `SELECT ${columns} FROM events WHERE org_id = $org_id AND type = '${type}' ORDER BY occurred_at, event_id`,
    { org_id: orgId },
  );
  return rows.map((row) => Object.values(row));
}

const USAGE = 'model, input_tokens, cache_read_tokens, output_tokens';
const usagesOf = (orgId: string) => eventsOf(orgId, 'model_usage', USAGE);

describe('usage', () => {
  test('is what a total has more than the one before, whatever the last usage says', async () => {
    const orgId = await told([
      meta(0),
      setting(1),
      message(2, 'token_count', { info: null }),
      count(3, [1000, 400, 50]),
      // An update of rate limits.
      count(4, [1000, 400, 50]),
      setting(5, { model: 'gpt-5.5-mini' }),
      count(6, [3000, 1400, 80, 100], [9, 9, 9]),
    ]);
    expect(
      await eventsOf(orgId, 'model_usage', `event_id, ${USAGE}, cache_write_tokens, occurred_at, session_id`),
    ).toEqual([
      [`usage:${THREAD}:1000:50`, 'gpt-5.5', 600, 400, 50, 0, START + 3, THREAD],
      [`usage:${THREAD}:3000:80`, 'gpt-5.5-mini', 900, 1000, 30, 100, START + 6, THREAD],
    ]);
  });

  test('is the last one where totals begin anew', async () => {
    const orgId = await told([
      meta(0),
      setting(1),
      count(2, [1000, 400, 50]),
      count(3, [700, 500, 60], [200, 100, 7]),
      count(4, [300, 0, 1], null),
    ]);
    expect(await usagesOf(orgId)).toEqual([
      ['gpt-5.5', 600, 400, 50],
      ['gpt-5.5', 100, 100, 7],
      ['gpt-5.5', 300, 0, 1],
    ]);
  });

  test('is a record of each response where there are records; totals that were counted before stay', async () => {
    const legacy = [meta(0), begun(1), setting(2), count(3, [1000, 400, 50])];
    const lines = [
      ...legacy,
      begun(5, uuid(1002)),
      setting(6, { turn_id: uuid(1002), model: 'gpt-6-sol' }),
      count(7, [1000, 400, 50]),
      record(8, 'resp_1', [500, 100, 9, 5]),
      count(9, [1500, 500, 59], [500, 100, 9]),
      record(10, 'resp_2', [0, 0, 0]),
      record(11, 'resp_3', [70, 0, 7]),
      count(12, [1570, 500, 66], [70, 0, 7]),
    ];
    const grown = await told(legacy);
    await told(lines, { orgId: grown });
    for (const orgId of [grown, await told(lines)])
      expect(await eventsOf(orgId, 'model_usage', `event_id, ${USAGE}, cache_write_tokens`)).toEqual([
        [`usage:${THREAD}:1000:50`, 'gpt-5.5', 600, 400, 50, 0],
        ['usage:resp_1', 'gpt-6-sol', 395, 100, 9, 5],
        ['usage:resp_3', 'gpt-6-sol', 70, 0, 7, 0],
      ]);
  });

  test('without a model is rejected, and so is everything of a file that names no thread', async () => {
    const ingest = (lines: object[]) =>
      world.ingest([world.file('rejected.jsonl', textOf(lines))], {
        orgId: newOrganization(),
        source: CODEX,
        userId: 'ada',
      });
    expect(await ingest([meta(0), count(1, [10, 0, 1]), prompt(2)])).toMatchObject({
      accepted: 1,
      examples: [{ line_no: 2, detail: 'model is required.' }],
    });
    expect(await ingest([setting(0), count(1, [10, 0, 1]), prompt(2)])).toMatchObject({
      accepted: 0,
      rejected: 2,
      examples: [{ line_no: 2, detail: 'session_meta is required.' }, { line_no: 3 }],
    });
  });
});

describe('a fork', () => {
  const CHILD = uuid(2000);
  const child = (ms: number, more: object = {}) => meta(ms, { id: CHILD, forked_from_id: THREAD, ...more });
  const OWN_TURN = uuid(2001);
  const parent = [
    meta(0),
    begun(1),
    setting(2),
    prompt(3),
    reply(4, { id: 'msg_1' }),
    call(5, 'call_1', 'exec_command', { cmd: 'git commit -m x' }),
    output(6, 'call_1', 'Process exited with code 0\nOutput:\n'),
    count(7, [1000, 400, 50]),
  ];
  /** The parent's lines, repeated at the time of the fork, which can take longer than a second. */
  const repeated = parent.map((one, index) => ({
    ...one,
    timestamp: new Date(START + 60_000 + 300 * index).toISOString(),
  }));
  const own = [
    begun(70_000, OWN_TURN),
    setting(70_001, { turn_id: OWN_TURN, model: 'gpt-6-sol' }),
    prompt(70_002),
    count(70_003, [1700, 600, 70], [700, 200, 20]),
  ];

  test('of an older version repeats its parent, whose lines count once, in either order', async () => {
    const files = [parent, [child(60_000), ...repeated, ...own]];
    for (const order of [files, [...files].reverse()]) {
      const orgId = newOrganization();
      for (const [index, lines] of order.entries()) await told(lines, { orgId, file: `${index}.jsonl` });
      expect(await eventsOf(orgId, 'model_usage', `session_id, ${USAGE}`)).toEqual([
        [THREAD, 'gpt-5.5', 600, 400, 50],
        [CHILD, 'gpt-6-sol', 500, 200, 20],
      ]);
      expect(await countsOf(world, orgId)).toMatchObject({ turns: 2, replies: 1, tool_calls: 1, commits: 1 });
    }
  });

  test('gives nothing until its own lines begin', async () => {
    const orgId = await told([child(60_000), ...repeated]);
    expect(await countsOf(world, orgId)).toMatchObject({ turns: 0, replies: 0, tool_calls: 0 });
    expect(await usagesOf(orgId)).toEqual([]);
  });

  test('whose turns have other ids begins after the first second', async () => {
    const turns = (lines: object[], id: string) =>
      JSON.parse(JSON.stringify(lines).replaceAll(TURN, id).replaceAll(OWN_TURN, '7')) as object[];
    const quick = parent.map((one) => ({ ...one, timestamp: new Date(START + 60_100).toISOString() }));
    const orgId = await told([child(60_000), ...turns(quick, '3'), ...turns(own, '3')]);
    expect(await usagesOf(orgId)).toEqual([['gpt-6-sol', 500, 200, 20]]);
  });

  test('of a newer version repeats nothing, and its first total has the parent’s in it', async () => {
    const base = { history_base: { thread_id: THREAD, end_ordinal_exclusive: 8 } };
    const orgId = await told([child(60_000, base), ...own, count(70_004, [1800, 600, 75], [100, 0, 5])]);
    expect(await usagesOf(orgId)).toEqual([
      ['gpt-6-sol', 500, 200, 20],
      ['gpt-6-sol', 100, 0, 5],
    ]);
  });

  test('as a sub-agent repeats turns without totals, and counts from 0', async () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: THREAD } } };
    const orgId = await told([
      child(60_000, { source }),
      ...repeated.slice(0, -1),
      begun(70_000, OWN_TURN),
      setting(70_001, { turn_id: OWN_TURN }),
      prompt(70_002),
      count(70_003, [300, 100, 20]),
    ]);
    expect(await usagesOf(orgId)).toEqual([['gpt-5.5', 200, 100, 20]]);
    expect(await countsOf(world, orgId)).toMatchObject({ turns: 0, replies: 0, tool_calls: 0 });
  });
});

describe('turns', () => {
  test('are messages by a person or a program, each once in whichever form', async () => {
    const later = uuid(1002);
    const orgId = await told([
      meta(0),
      begun(1),
      setting(2),
      response(3, 'message', {
        role: 'user',
        content: [{ type: 'input_text', text: '<environment_context>' }],
      }),
      prompt(4),
      item(5, 'UserMessage', { id: 'item-1' }),
      prompt(6, { kind: 'plain' }),
      prompt(6, { kind: 'plain' }),
      prompt(7, { kind: 'user_instructions' }),
      meta(8, { timestamp: 'of the resume' }),
      begun(9, later),
      item(10, 'UserMessage', { id: 'item-2' }, later),
      item(10, 'UserMessage', { id: 'item-2' }, later),
    ]);
    expect(await eventsOf(orgId, 'user_message', 'event_id, session_id')).toEqual([
      [`turn:${THREAD}:${TURN}:1`, THREAD],
      [`turn:${THREAD}:${TURN}:2`, THREAD],
      [`turn:${THREAD}:${later}:1`, THREAD],
    ]);
  });

  test('of threads that an agent has started are none', async () => {
    const turnsOf = async (source: object) =>
      (await countsOf(world, await told([meta(0, { source }), begun(1), prompt(2), reply(3)]))).turns;
    expect(await turnsOf({ subagent: 'review' })).toBe(0);
    expect(await turnsOf({ custom: 'an editor' })).toBe(1);
  });

  test('have replies, by the id of the message or by their place', async () => {
    const orgId = await told([
      meta(0),
      begun(1),
      reply(2),
      reply(2),
      reply(3),
      reply(4, { id: 'msg_1' }),
      reply(4, { id: 'msg_1' }),
    ]);
    expect(await eventsOf(orgId, 'assistant_message', 'event_id')).toEqual([
      [`message:${THREAD}:${TURN}:1`],
      [`message:${THREAD}:${TURN}:2`],
      ['message:msg_1'],
    ]);
  });
});

describe('tools', () => {
  const RESULT = 'event_id, tool_name, mcp_server, success, duration_ms';

  test('of older versions have the success of their end, else what their output says', async () => {
    const orgId = await told([
      meta(0),
      begun(1),
      call(2, 'c1', 'exec_command', { cmd: 'npm test' }),
      message(3, 'exec_command_end', { call_id: 'c1', exit_code: 3, duration: { secs: 1, nanos: 5e8 } }),
      output(4, 'c1', 'Wall time: 1.0 seconds\nProcess exited with code 3\nOutput:\n'),
      call(5, 'c2', 'shell', { command: ['bash', '-lc', 'ls'] }),
      output(
        6,
        'c2',
        '{"output":"Process exited with code 1","metadata":{"exit_code":0,"duration_seconds":0.2}}',
      ),
      // It goes on in the background.
      call(7, 'c3', 'exec_command', { cmd: 'sleep 9' }),
      output(8, 'c3', 'Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n'),
      call(9, 'c4', 'add', { a: 2 }, { namespace: 'mcp__tiny' }),
      message(10, 'mcp_tool_call_end', {
        call_id: 'c4',
        invocation: { server: 'tiny', tool: 'add' },
        result: { Ok: { content: [] } },
      }),
      message(11, 'web_search_end', { call_id: 'ws_1', action: { query: 'one' } }),
      response(12, 'web_search_call', { id: 'ws_1', action: { query: 'one' } }),
      response(13, 'web_search_call', { action: { query: 'without an end' } }),
      message(13, 'web_search_end', { call_id: 'ws_2', action: { query: 'two' } }),
      response(13, 'web_search_call', { action: { query: 'two' } }),
      response(13, 'web_search_call', { action: { query: 'two' } }),
      // What a script of exec has run shows only where it ended.
      response(14, 'custom_tool_call', {
        call_id: 'c5',
        name: 'exec',
        input: 'await tools.apply_patch("x")',
      }),
      message(15, 'patch_apply_end', { call_id: 'exec-1', success: false, changes: {} }),
      message(16, 'mcp_tool_call_end', {
        call_id: 'exec-2',
        invocation: { server: 'tiny', tool: 'fails' },
        result: { Ok: { isError: true } },
      }),
      message(17, 'mcp_tool_call_end', {
        call_id: 'exec-3',
        invocation: { server: 'tiny', tool: 'dies' },
        result: { Err: 'no such tool' },
      }),
      response(18, 'custom_tool_call_output', {
        call_id: 'c5',
        output: [{ type: 'input_text', text: 'Script completed\nWall time 0.1 seconds\nOutput:\n' }],
      }),
      call(19, 'c6', 'update_plan', { plan: [] }),
      output(20, 'c6', 'Plan updated'),
    ]);
    expect(await eventsOf(orgId, 'tool_call', RESULT)).toEqual([
      ['tool:c1', 'exec_command', null, false, 1500],
      ['tool:c2', 'shell', null, true, 200],
      ['tool:c3', 'exec_command', null, null, null],
      ['tool:c4', 'mcp__tiny__add', 'tiny', true, null],
      ['tool:ws_1', 'web_search', null, null, null],
      [`tool:${THREAD}:${START + 13}`, 'web_search', null, null, null],
      ['tool:ws_2', 'web_search', null, null, null],
      ['tool:c5', 'exec', null, true, 100],
      ['tool:exec-1', 'apply_patch', null, false, null],
      ['tool:exec-2', 'mcp__tiny__fails', 'tiny', false, null],
      ['tool:exec-3', 'mcp__tiny__dies', 'tiny', false, null],
      ['tool:c6', 'update_plan', null, null, null],
    ]);
  });

  test('of newer versions end with an item; what never ran says so in its output', async () => {
    const duration = { secs: 0, nanos: 12e6 };
    const orgId = await told([
      meta(0),
      begun(1),
      call(2, 'c1', 'exec_command', { cmd: 'exit 3' }),
      item(3, 'CommandExecution', { id: 'c1', exit_code: 3, status: 'failed', duration }),
      item(4, 'CommandExecution', { id: 'exec-1', exit_code: 0, status: 'completed', duration }),
      item(5, 'CommandExecution', { id: 'exec-2', status: 'declined' }),
      item(6, 'McpToolCall', { id: 'exec-3', server: 'tiny', tool: 'add', status: 'completed', result: {} }),
      item(7, 'McpToolCall', {
        id: 'exec-4',
        server: 'tiny',
        tool: 'add',
        status: 'completed',
        result: { isError: true },
      }),
      call(8, 'c2', 'exec_command', { cmd: 'touch a' }),
      output(9, 'c2', 'Wall time: 6.7 seconds\naborted by user'),
      call(10, 'c3', 'teleport', {}),
      output(11, 'c3', 'unsupported call: teleport'),
      call(12, 'c4', 'spawn_agent', {}, { namespace: 'collaboration' }),
    ]);
    expect(await eventsOf(orgId, 'tool_call', RESULT)).toEqual([
      ['tool:c1', 'exec_command', null, false, 12],
      ['tool:exec-1', 'exec_command', null, true, 12],
      ['tool:exec-2', 'exec_command', null, false, null],
      ['tool:exec-3', 'mcp__tiny__add', 'tiny', true, null],
      ['tool:exec-4', 'mcp__tiny__add', 'tiny', false, null],
      ['tool:c2', 'exec_command', null, false, 6700],
      ['tool:c3', 'teleport', null, false, null],
      ['tool:c4', 'spawn_agent', null, null, null],
    ]);
  });

  test('and messages of a review stand in two files, and count once', async () => {
    const command = ['/bin/bash', '-lc', 'git commit -m x'];
    const ended = item(5, 'CommandExecution', {
      id: 'c1',
      command,
      exit_code: 0,
      aggregated_output: '[main 0123abc] x',
    });
    const root = [meta(0), begun(1), setting(2), item(3, 'UserMessage', { id: 'item-1' }), ended];
    const review = [
      meta(0, { id: uuid(1500), session_id: THREAD, source: { subagent: 'review' } }),
      begun(1, uuid(1501)),
      setting(2, { turn_id: uuid(1501) }),
      item(3, 'UserMessage', { id: 'item-1' }, uuid(1501)),
      call(4, 'c1', 'exec_command', { cmd: 'git commit -m x' }),
      ended,
      record(6, 'resp_1', [10, 0, 1]),
    ];
    const seen: unknown[] = [];
    for (const order of [
      [root, review],
      [review, root],
    ]) {
      const orgId = newOrganization();
      for (const [index, lines] of order.entries()) await told(lines, { orgId, file: `${index}.jsonl` });
      expect(await countsOf(world, orgId)).toMatchObject({ turns: 1, tool_calls: 1, commits: 1 });
      expect(await usagesOf(orgId)).toHaveLength(1);
      seen.push(await eventsOf(orgId, 'tool_call', `${RESULT}, session_id`));
    }
    expect(seen).toEqual(Array(2).fill([['tool:c1', 'exec_command', null, true, null, uuid(1500)]]));
  });
});

test('patches change files as they say when they succeed', async () => {
  const changes = {
    '/home/ada/new.ts': { type: 'add', content: 'one\ntwo\n' },
    '/home/ada/old.ts': {
      type: 'update',
      unified_diff: '@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n',
      move_path: null,
    },
    '/home/ada/from.ts': {
      type: 'update',
      unified_diff: '@@ -1 +1 @@\n-b\n+c\n',
      move_path: '/home/ada/to.ts',
    },
    '/home/ada/gone.ts': { type: 'delete', content: 'x\n' },
  };
  const patch = '*** Begin Patch\n*** Add File: a b.ts\n+x\n*** Update File: c.ts\n*** End Patch';
  const orgId = await told([
    meta(0),
    begun(1),
    response(2, 'custom_tool_call', { call_id: 'c1', name: 'apply_patch', input: 'x' }),
    message(3, 'patch_apply_end', { call_id: 'c1', success: true, changes }),
    item(4, 'FileChange', {
      id: 'exec-1',
      status: 'completed',
      changes: { '/home/ada/new.ts': { type: 'update' } },
    }),
    item(5, 'FileChange', { id: 'exec-2', status: 'failed', changes }),
    message(6, 'patch_apply_end', { call_id: 'c2', success: false, changes }),
    response(7, 'custom_tool_call', { call_id: 'c3', name: 'apply_patch', input: patch }),
    response(8, 'custom_tool_call_output', { call_id: 'c3', output: 'Exit code: 0\nOutput:\n' }),
    response(9, 'custom_tool_call', { call_id: 'c4', name: 'apply_patch', input: patch }),
    response(10, 'custom_tool_call_output', { call_id: 'c4', output: 'apply_patch verification failed: x' }),
  ]);
  const paths = await eventsOf(orgId, 'file_change', 'path, operation, lines_added, lines_removed');
  expect(paths.sort()).toEqual(
    [
      ['/home/ada/new.ts', 'create', 2, 0],
      ['/home/ada/old.ts', 'edit', 2, 1],
      ['/home/ada/to.ts', 'edit', 1, 1],
      ['/home/ada/new.ts', 'edit', null, null],
      ['a b.ts', 'create', null, null],
      ['c.ts', 'edit', null, null],
    ].sort(),
  );
  expect(await eventsOf(orgId, 'file_change', 'event_id')).toContainEqual([
    `file:c1:${hash('md5', '/home/ada/to.ts')}`,
  ]);
});

test('commands that commit or open a pull request count when they succeed, wherever they stand', async () => {
  const done = (ms: number, id: string, text = '') =>
    output(ms, id, `Process exited with code 0\nOutput:\n${text}`);
  const script = (ms: number, id: string, input: string) =>
    response(ms, 'custom_tool_call', { call_id: id, name: 'exec', input });
  const completed = (ms: number, id: string) =>
    response(ms, 'custom_tool_call_output', {
      call_id: id,
      output: [
        { type: 'input_text', text: 'Script completed\nOutput:\n' },
        { type: 'input_text', text: '[main 4444444] x' },
      ],
    });
  const commit = 'const r = await tools.exec_command({cmd: "git add -A && git commit -m \\"x\\""}); text(r);';
  const orgId = await told([
    meta(0),
    begun(1),
    call(2, 'c1', 'exec_command', { cmd: 'git add -A && git commit -m "x"' }),
    done(3, 'c1', '[main 1111111] x\n'),
    call(4, 'c2', 'shell', { command: ['bash', '-lc', 'git commit -m x'] }),
    done(5, 'c2', 'nothing to commit, working tree clean'),
    call(6, 'c3', 'shell', { command: ['git', 'commit', '-m', 'x; y'] }),
    done(7, 'c3'),
    call(8, 'c4', 'exec_command', { cmd: 'git commit -m x' }),
    output(9, 'c4', 'Process exited with code 1\nOutput:\n'),
    // A commit that ends in the background.
    call(10, 'c5', 'exec_command', { cmd: 'git commit -m x' }),
    output(11, 'c5', 'Process running with session ID 7\nOutput:\n'),
    message(12, 'exec_command_end', { call_id: 'c5', exit_code: 0, aggregated_output: '[main 5555555] x\n' }),
    script(13, 'c6', commit),
    completed(14, 'c6'),
    // A script whose command shows itself.
    script(15, 'c7', commit),
    item(16, 'CommandExecution', {
      id: 'exec-1',
      command: ['/bin/bash', '-lc', 'git commit -m x'],
      exit_code: 0,
      aggregated_output: '[main 7777777] x\n',
    }),
    completed(17, 'c7'),
    script(18, 'c8', 'text("git commit")'),
    completed(19, 'c8'),
    call(20, 'c9', 'exec_command', { cmd: 'gh pr create --fill' }),
    done(21, 'c9', 'https://github.com/acme/engine/pull/7\n'),
    message(22, 'mcp_tool_call_end', {
      call_id: 'exec-2',
      invocation: { server: 'apps', tool: 'github.create_pull_request' },
      result: { Ok: { content: [{ type: 'text', text: 'https://github.com/acme/engine/pull/8' }] } },
    }),
    item(23, 'McpToolCall', {
      id: 'exec-3',
      server: 'github',
      tool: 'create_pull_request',
      status: 'failed',
      result: {},
    }),
  ]);
  expect(await eventsOf(orgId, 'git_commit', 'event_id, commit_sha, occurred_at')).toEqual([
    ['commit:c1', '1111111', START + 3],
    ['commit:c3', null, START + 7],
    ['commit:c5', '5555555', START + 12],
    ['commit:c6', '4444444', START + 14],
    ['commit:exec-1', '7777777', START + 16],
  ]);
  expect(await eventsOf(orgId, 'pull_request', 'event_id, url')).toEqual([
    ['pull_request:c9', 'https://github.com/acme/engine/pull/7'],
    ['pull_request:exec-2', 'https://github.com/acme/engine/pull/8'],
  ]);
});

test('settings hold from their turn on', async () => {
  const settings = [
    { collaboration_mode: { mode: 'plan' } },
    { approval_policy: 'untrusted' },
    { sandbox_policy: { mode: 'read-only' } },
    {},
    { sandbox_policy: { type: 'danger-full-access' }, cwd: '/home/ada/other' },
    { sandbox_policy: undefined, permission_profile: { type: 'disabled' } },
  ];
  const orgId = await told([
    meta(0),
    prompt(1),
    ...settings.flatMap((more, index) => [setting(10 * index + 10, more), prompt(10 * index + 11)]),
  ]);
  expect(await eventsOf(orgId, 'user_message', 'autonomy_mode, cwd')).toEqual([
    [null, '/home/ada/engine'],
    ['spec', '/home/ada/engine'],
    ['manual', '/home/ada/engine'],
    ['manual', '/home/ada/engine'],
    ['auto-medium', '/home/ada/engine'],
    ['auto-high', '/home/ada/other'],
    ['auto-high', '/home/ada/engine'],
  ]);
});

test('an event has the client, the checkout and the version of its thread', async () => {
  const orgId = await told([meta(0), prompt(1)]);
  expect(
    await eventsOf(orgId, 'user_message', 'agent, agent_version, client, repo, git_branch, channel, user_id'),
  ).toEqual([
    ['codex', '0.142.0', 'terminal-ui', 'https://git.acme.example/engine.git', 'main', 'log', 'ada'],
  ]);
});

const LEGACY = [
  meta(0),
  begun(1),
  setting(2),
  prompt(3),
  reply(4),
  call(5, 'c1', 'exec_command', { cmd: 'git commit -m "as it was asked"' }),
  message(6, 'exec_command_end', {
    call_id: 'c1',
    exit_code: 0,
    aggregated_output: '[main 0123abc] as it was asked',
  }),
  output(
    7,
    'c1',
    'Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n[main 0123abc] as it was asked',
  ),
  count(8, [1000, 400, 50]),
  count(9, [1000, 400, 50]),
  call(10, 'c2', 'exec_command', { cmd: 'npm run the-long-way' }),
  output(11, 'c2', 'Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n'),
  count(12, [1700, 900, 60], [700, 500, 10]),
  message(13, 'exec_command_end', { call_id: 'c2', exit_code: 1, duration: { secs: 3, nanos: 0 } }),
  response(14, 'custom_tool_call', {
    call_id: 'c3',
    name: 'apply_patch',
    input: '*** Update File: old.ts\n',
  }),
  message(15, 'patch_apply_end', {
    call_id: 'c3',
    success: true,
    changes: {
      '/home/ada/old.ts': {
        type: 'update',
        unified_diff: '@@ -1 +1 @@\n-the line before it\n+the line after it',
      },
    },
  }),
  response(16, 'custom_tool_call_output', { call_id: 'c3', output: 'Exit code: 0\nOutput:\n' }),
  // It is resumed, with another version.
  begun(100, uuid(1002)),
  setting(101, { turn_id: uuid(1002) }),
  prompt(102, { message: 'Please do it once more.' }),
  record(103, 'resp_1', [500, 100, 9]),
  count(104, [2200, 1000, 69], [500, 100, 9]),
  reply(105),
];
const FORK = [
  meta(60_000, { id: uuid(2000), forked_from_id: THREAD }),
  ...LEGACY.map((one) => ({ ...one, timestamp: new Date(START + 60_000).toISOString() })),
  begun(61_000, uuid(2001)),
  setting(61_001, { turn_id: uuid(2001) }),
  prompt(61_002),
  count(61_003, [2900, 1100, 80], [700, 100, 11]),
];
const NEWER = [
  meta(200_000, { id: uuid(3000), history_mode: 'paginated', cli_version: '0.169.0' }),
  begun(200_001, uuid(3001)),
  setting(200_002, { turn_id: uuid(3001) }),
  item(200_003, 'UserMessage', { id: 'item-1', content: [{ text: 'Please run the script.' }] }, uuid(3001)),
  response(200_004, 'custom_tool_call', {
    call_id: 'c9',
    name: 'exec',
    input: 'await tools.exec_command({cmd: "git commit -m \\"by the script\\""})',
  }),
  record(200_005, 'resp_9', [300, 0, 20]),
  item(200_006, 'CommandExecution', {
    id: 'exec-9',
    command: ['/bin/bash', '-lc', 'git commit -m "by the script"'],
    exit_code: 0,
    aggregated_output: '[main 9999999] by the script',
  }),
  response(200_007, 'custom_tool_call_output', {
    call_id: 'c9',
    output: [{ text: 'Script completed\nOutput:\n' }],
  }),
  count(200_008, [300, 0, 20]),
  reply(200_009, { id: 'msg_9' }),
];

test('rollouts give the same however they grew', async () => {
  const file = (name: string, lines: readonly object[]) => ({
    name: `2026/06/10/${name}.jsonl`,
    lines: lines.map((one) => JSON.stringify(one)),
  });
  await expectSameHoweverGrown(world, CODEX, [
    file('rollout-1', LEGACY),
    file('rollout-2', FORK),
    file('rollout-3', NEWER),
  ]);
});

/** A JSON value with each of its members, one at a time, replaced by each of some values. */
function spoiled(value: unknown, by: readonly unknown[]): unknown[] {
  if (value === null || typeof value !== 'object') return [...by];
  return Object.entries(value).flatMap(([name, member]) =>
    spoiled(member, by).map((other) =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other },
    ),
  );
}

test('whatever a member holds, the lines around it count', async () => {
  const values = [
    null,
    true,
    -1,
    1.5,
    9e18,
    1e300,
    '',
    'x',
    'x'.repeat(3000),
    [],
    {},
    [[{ a: [] }]],
    { a: 1 },
  ];
  const orgId = newOrganization();
  const folder = join(world.folder, orgId);
  mkdirSync(folder);
  let files = 0;
  for (const lines of [LEGACY, NEWER])
    for (const index of lines.keys())
      for (const other of spoiled(lines[index], values))
        world.file(join(orgId, `${++files}.jsonl`), textOf((lines as object[]).with(index, other as object)));
  expect(files).toBeGreaterThan(1000);
  await world.ingest([folder], { orgId, source: CODEX, userId: 'ada' });
  const ids = (orgId: string) => eventsOf(orgId, 'user_message', 'event_id');
  const whole = await told(LEGACY);
  await told(NEWER, { orgId: whole });
  expect(await ids(orgId)).toEqual(expect.arrayContaining(await ids(whole)));
});

test('a rollout that was archived and packed counts once', async () => {
  const orgId = await told(LEGACY);
  const before = await countsOf(world, orgId);
  const packed = world.file('rollout-packed.jsonl.gz', gzipSync(textOf(LEGACY)));
  expect(await world.ingest([packed], { orgId, source: CODEX, userId: 'ada' })).toMatchObject({
    accepted: 0,
    rejected: 0,
  });
  expect(await countsOf(world, orgId)).toEqual(before);
});

test('no text of prompts, replies, files and outputs is stored', async () => {
  const world = await World.create();
  const files = [LEGACY, NEWER].map((lines, index) => world.file(`${index}.jsonl`, textOf(lines)));
  const cut = world.file('cut.jsonl', textOf(LEGACY).slice(0, -40));
  await world.ingest([...files, cut], { source: CODEX, userId: 'ada' });
  await world.build();
  await expectNoText(world, [...LEGACY, ...NEWER]);
});

/** The lines of the rollouts in a folder that are JSON. */
function documentsIn(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n'))
    .flatMap((text) => {
      try {
        return [JSON.parse(text)];
      } catch {
        return [];
      }
    });
}

/** What the samples hold, by UTC day and model: usages, and input, cache read and output tokens. */
const EXPECTED = {
  '2025-09-19 aide-gpt-5': [19, 133698, 136832, 12551],
  '2025-12-18 gpt-5.2': [1, 1211, 10880, 182],
  '2026-04-11 gpt-5.4': [40, 258016, 2179584, 16250],
  '2026-04-16 gpt-5.4': [21, 114397, 970112, 7586],
  '2026-04-29 gpt-5.5': [17, 49240, 260480, 2324],
  '2026-04-30 gpt-5.4': [27, 116628, 508032, 8953],
  '2026-04-30 gpt-5.5': [175, 430789, 6969984, 34044],
  '2026-05-04 gpt-5.4': [20, 114938, 590336, 7062],
  '2026-06-17 gpt-5.5': [158, 1062372, 3630080, 61490],
  '2026-06-24 gpt-5.5': [44, 246054, 1693696, 14770],
  '2026-06-30 gpt-5.5': [13, 31585, 275840, 3445],
  '2026-07-01 gpt-5.5': [166, 434251, 20059904, 64177],
  '2026-07-02 gpt-5.5': [86, 569657, 7355136, 29840],
  '2026-07-07 gpt-5.5': [55, 265580, 3684992, 22514],
  '2026-07-08 gpt-5.5': [38, 137711, 1368832, 16585],
  '2026-07-09 gpt-5.5': [87, 657567, 6802560, 34757],
  '2026-07-11 gpt-5.6-sol': [27, 126574, 1337600, 3593],
  '2026-07-12 gpt-5.6-sol': [50, 151543, 2334208, 8064],
  '2026-07-13 gpt-5.6-sol': [66, 206893, 4889088, 13844],
  '2026-07-14 gpt-5.6-sol': [129, 324906, 10907392, 21289],
  '2026-07-15 gpt-5.6-sol': [57, 168651, 5097216, 10256],
  '2026-07-16 gpt-5.6-sol': [71, 207401, 8198400, 13214],
  '2026-08-03 gpt-5.6-luna': [1, 12757, 3584, 81],
};
/** A project whose files are fixtures of formats. */
const FIXTURES = 'jazzyalex+agent-sessions';

describe('the rollouts of public projects', () => {
  const AFTER = Date.parse('2026-12-01T00:00:00Z');
  const ingest = (world: World, paths: string[], orgId: string) =>
    world.ingest(paths, { orgId, source: CODEX, userId: 'ada' });

  testSamples(
    'transcripts/codex',
    'have the usage that is known of them, in whatever order they come',
    async (folder) => {
      const world = await World.create();
      world.now = AFTER;
      await ingest(world, [folder], 'once');
      expect(await usageOf(world, 'once')).toEqual(EXPECTED);
      const projects = readdirSync(folder).map((project) => join(folder, project));
      for (const project of projects.reverse()) await ingest(world, [project], 'backwards');
      expect(await ingest(world, projects, 'backwards')).toMatchObject({ accepted: 0 });
      const rowsOf = (orgId: string) =>
        world.store.select(`SELECT ${EVENT} FROM events WHERE org_id = $org_id ORDER BY ALL`, {
          org_id: orgId,
        });
      expect(await rowsOf('backwards')).toEqual(await rowsOf('once'));
      await world.build();
      await expectNoText(world, documentsIn(folder));
    },
  );

  testSamples(
    'transcripts/codex',
    'have the turns, replies, tools and files that are known of them',
    async (folder) => {
      const projects = readdirSync(folder).filter((project) => project !== FIXTURES);
      const world = await World.create();
      world.now = AFTER;
      await ingest(
        world,
        projects.map((project) => join(folder, project)),
        'real',
      );
      expect(await countsOf(world, 'real')).toMatchObject({
        turns: 96,
        replies: 692,
        tool_calls: 1927,
        files_created: 8,
        files_edited: 96,
      });
    },
  );

  testSamples('captures/codex', 'that were recorded have what really happened', async () => {
    const world = await World.create();
    world.now = AFTER;
    for (const folder of sampleFolders('captures/codex')) {
      const truth = readTruth(folder);
      const orgId = basename(folder);
      // The capture of a fork has its parent too, which is a capture of its own.
      const own = documentsIn(join(folder, 'logs')).length;
      expect(own, orgId).toBeGreaterThan(0);
      await ingest(world, [join(folder, 'logs')], orgId);
      await ingest(world, [join(folder, 'logs')], orgId);
      const only = orgId === 'fork' ? `AND session_id = '${truth.ids.thread}'` : '';
      const rowsOf = (columns: string, where: string) =>
        world.store.select(`SELECT ${columns} FROM events WHERE org_id = $org_id ${only} AND ${where}`, {
          org_id: orgId,
        });
      const { all, auxiliary } = truth.totals;
      expect(
        await rowsOf(
          `count(*) AS calls, CAST(sum(input_tokens + cache_write_tokens) AS BIGINT) AS input_uncached,
          CAST(sum(cache_read_tokens) AS BIGINT) AS cached, CAST(sum(output_tokens) AS BIGINT) AS output`,
          "type = 'model_usage'",
        ),
        orgId,
      ).toEqual([
        {
          calls: all.calls - (auxiliary?.calls ?? 0),
          input_uncached: all.input_uncached - (auxiliary?.input_uncached ?? 0),
          cached: all.cached - (auxiliary?.cached ?? 0),
          output: all.output - (auxiliary?.output ?? 0),
        },
      ]);
      expect(await rowsOf('1', "type = 'user_message'"), orgId).toHaveLength(truth.person_turns.length);
      const tools = await rowsOf('tool_name, success', "type = 'tool_call'");
      const toolsOf = (calls: readonly { name: string; success: unknown }[]) =>
        calls.map(({ name, success }) => `${name} ${success}`).sort();
      expect(
        toolsOf(tools.map(({ tool_name, success }) => ({ name: String(tool_name), success }))),
        orgId,
      ).toEqual(
        toolsOf(
          truth.tool_calls.map(({ name, mcp_server, success }) => ({
            name: mcp_server === undefined ? name : `mcp__${mcp_server}__${name}`,
            success,
          })),
        ),
      );
      const files = await rowsOf('path, operation', "type = 'file_change'");
      const count = (operation: string) => files.filter((file) => file.operation === operation).length;
      expect([count('create'), count('edit')], orgId).toEqual([
        truth.files_created.length,
        truth.files_edited.length,
      ]);
      const commits = await rowsOf('commit_sha', "type = 'git_commit'");
      expect(commits, orgId).toHaveLength(truth.commits.length);
      for (const { commit_sha } of commits)
        if (commit_sha !== null)
          expect(
            truth.commits.some(({ sha }) => sha.startsWith(String(commit_sha))),
            orgId,
          ).toBe(true);
    }
    await world.build();
    await expectNoText(world, documentsIn(samples('captures/codex') ?? ''));
  });
});
