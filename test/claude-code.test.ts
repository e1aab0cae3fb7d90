import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { DAY_TABLES } from '../src/store/day-builder.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { EVENT, samples } from './samples.js';
import { ending, undoing, World } from './world.js';

const AT = '2026-06-10T10:00:';

/** A line of a transcript: a session, a time (seconds after ten), and what is given. */
function line(type: string, seconds: number, more: object): object {
  return {
    type,
    uuid: `${type}-${seconds}`,
    timestamp: `${AT}${String(seconds).padStart(2, '0')}.000Z`,
    sessionId: 'morning',
    isSidechain: false,
    cwd: '/home/ada/engine',
    gitBranch: 'main',
    version: '2.1.29',
    ...more,
  };
}

const usage = (output: number, more: object = {}) => ({
  input_tokens: 3,
  output_tokens: output,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 20,
  ...more,
});

function answer(
  seconds: number,
  id: string,
  requestId: string | undefined,
  content: object[],
  counters: object,
  more: object = {},
): object {
  const model = 'claude-opus-4-5-20251101';
  return line('assistant', seconds, {
    message: { id, model, role: 'assistant', content, usage: counters },
    requestId,
    ...more,
  });
}

const toolUse = (id: string, name: string, input: object = {}) => ({ type: 'tool_use', id, name, input });

function toolResult(seconds: number, id: string, toolUseResult: unknown, more: object = {}): object {
  const content = [{ type: 'tool_result', tool_use_id: id, content: 'as the tool said', ...more }];
  return line('user', seconds, { message: { role: 'user', content }, toolUseResult });
}

const prompt = (seconds: number, content: unknown, more: object = {}) =>
  line('user', seconds, { message: { role: 'user', content }, ...more });

let world: World;
const atEnd = ending();
beforeAll(async () => {
  world = await World.create({}, atEnd);
});

let organizations = 0;
const newOrganization = () => `org-${++organizations}`;

/** Takes a transcript in, of a new organization unless one is given, and answers whose it is. */
async function told(
  lines: readonly (object | string)[],
  { orgId = newOrganization(), file = 'morning.jsonl' }: { orgId?: string; file?: string } = {},
): Promise<string> {
  const text = lines.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry))).join('\n');
  await world.ingest([world.file(file, `${text}\n`)], { orgId, source: CLAUDE_CODE, userId: 'ada' });
  return orgId;
}

async function eventsOf(orgId: string, type: string, columns: string): Promise<unknown[]> {
  const rows = await world.store.select(
    `SELECT ${columns} FROM events WHERE org_id = $org_id AND type = '${type}' ORDER BY occurred_at, event_id`,
    { org_id: orgId },
  );
  return rows.map((row) => Object.values(row));
}

const COUNTERS = 'event_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens';

describe('usage', () => {
  test('is the largest of a streamed answer, at the time of its first line', async () => {
    const orgId = await told([
      answer(1, 'msg_1', 'req_1', [{ type: 'thinking', thinking: 'x' }], usage(1)),
      answer(2, 'msg_1', 'req_1', [{ type: 'text', text: 'x' }], usage(40)),
      answer(3, 'msg_1', 'req_1', [toolUse('t1', 'Read')], usage(250)),
    ]);
    expect(await eventsOf(orgId, 'model_usage', `${COUNTERS}, occurred_at`)).toEqual([
      ['usage:msg_1:req_1', 3, 250, 100, 20, Date.parse(`${AT}01.000Z`)],
    ]);
    expect(await eventsOf(orgId, 'assistant_message', 'event_id')).toEqual([['message:msg_1']]);
  });

  test('takes cache writes from the flat field or the split, whichever is larger', async () => {
    const split = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 12 };
    const none = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
    const orgId = await told([
      answer(1, 'msg_1', 'req_1', [], usage(1, { cache_creation: split })),
      answer(2, 'msg_2', 'req_2', [], usage(1, { cache_creation: none })),
      answer(3, 'msg_3', 'req_3', [], usage(1)),
    ]);
    expect(await eventsOf(orgId, 'model_usage', 'cache_write_tokens, cache_write_1h_tokens')).toEqual([
      [42, 12],
      [20, 0],
      [20, null],
    ]);
  });

  test('counts one message under two requests twice, but a side chain’s replay and a line without request id not', async () => {
    const lines = [
      answer(1, 'msg_1', 'req_1', [], usage(10)),
      answer(2, 'msg_1', 'req_2', [], usage(11)),
      answer(3, 'msg_1', 'req_3', [], usage(12), { isSidechain: true }),
      answer(4, 'msg_1', undefined, [], usage(13)),
      answer(5, 'msg_2', 'req_5', [], usage(14), { isSidechain: true }),
      answer(6, 'msg_2', 'req_6', [], usage(15), { isSidechain: true }),
    ];
    const expected = [['usage:msg_1:req_1'], ['usage:msg_1:req_2'], ['usage:msg_2:']];
    expect(await eventsOf(await told(lines), 'model_usage', 'event_id')).toEqual(expected);
    // In batches of their own, in any order.
    for (const order of [lines, [...lines].reverse()]) {
      const orgId = newOrganization();
      for (const [index, entry] of order.entries()) await told([entry], { orgId, file: `${index}.jsonl` });
      expect(await eventsOf(orgId, 'model_usage', 'event_id')).toEqual(expected);
    }
  });

  test('of a synthetic message is none', async () => {
    const orgId = await told([
      line('assistant', 1, { message: { id: 'msg_1', model: '<synthetic>', content: [], usage: usage(9) } }),
    ]);
    expect(await eventsOf(orgId, 'model_usage', 'event_id')).toEqual([]);
    expect(await eventsOf(orgId, 'assistant_message', 'event_id')).toEqual([]);
  });

  test('inside progress lines counts once per message, where no line of its own has it', async () => {
    const nested = (seconds: number, id: string, output: number) =>
      line('progress', seconds, {
        data: { type: 'agent_progress', message: answer(seconds - 1, id, `req_${id}`, [], usage(output)) },
      });
    const lines = [
      nested(2, 'msg_1', 1),
      nested(3, 'msg_1', 40),
      answer(4, 'msg_2', 'req_msg_2', [], usage(7)),
      nested(5, 'msg_2', 9),
      nested(6, 'msg_3', 3),
      answer(7, 'msg_3', 'req_4', [], usage(250), { isSidechain: true }),
    ];
    const expected = [
      ['usage:msg_1:', 40, 1],
      ['usage:msg_2:req_msg_2', 7, 4],
      ['usage:msg_3:', 250, 5],
    ];
    const counted = (orgId: string) =>
      eventsOf(orgId, 'model_usage', 'event_id, output_tokens, second(occurred_at) AS at');
    const orgId = await told(lines);
    expect(await counted(orgId)).toEqual(expected);
    expect(await eventsOf(orgId, 'assistant_message', 'event_id')).toEqual([
      ['message:msg_2'],
      ['message:msg_3'],
    ]);
  });

  test('names its request, also where that is no part of its id', async () => {
    const nested = { type: 'agent_progress', message: answer(3, 'msg_3', 'req_3', [], usage(1)) };
    const orgId = await told([
      answer(1, 'msg_1', 'req_1', [], usage(1)),
      answer(2, 'msg_2', 'req_2', [], usage(1), { isSidechain: true }),
      line('progress', 3, { data: nested }),
      answer(4, 'msg_4', undefined, [], usage(1)),
    ]);
    const requests = await eventsOf(orgId, 'model_usage', 'request_id, channel');
    expect(requests).toEqual([
      ['req_1', 'log'],
      ['req_2', 'log'],
      ['req_3', 'log'],
      [null, 'log'],
    ]);
  });

  test('of an advisor counts beside that of the answer', async () => {
    const advisor = { type: 'advisor_message', model: 'claude-fable-5', input_tokens: 70_339 };
    const iterations = [
      { type: 'message', model: 'claude-opus-4-5-20251101', ...usage(1) },
      { ...advisor, output_tokens: 12, cache_creation: { ephemeral_1h_input_tokens: 5 } },
      { ...advisor, input_tokens: 8, output_tokens: 2 },
    ];
    const orgId = await told([
      answer(1, 'msg_1', 'req_1', [], usage(1, { iterations: iterations.slice(0, 2) })),
      answer(2, 'msg_1', 'req_1', [], usage(20, { iterations })),
      answer(3, 'msg_1', 'req_3', [], usage(20, { iterations }), { isSidechain: true }),
    ]);
    expect(await eventsOf(orgId, 'model_usage', `model, ${COUNTERS}`)).toEqual([
      ['claude-fable-5', 'usage:msg_1:advisor:2', 70_339, 12, 0, 5],
      ['claude-fable-5', 'usage:msg_1:advisor:3', 8, 2, 0, 0],
      ['claude-opus-4-5-20251101', 'usage:msg_1:req_1', 3, 20, 100, 20],
    ]);
  });

  test('of a file that has grown replaces the smaller one, and only what is new counts', async () => {
    const lines = [
      answer(1, 'msg_1', 'req_1', [], usage(1)),
      answer(2, 'msg_1', 'req_1', [toolUse('t1', 'Read')], usage(80)),
    ];
    const orgId = await told(lines.slice(0, 1));
    await told(lines, { orgId });
    await told([...lines, toolResult(3, 't1', {})], { orgId });
    expect(await eventsOf(orgId, 'model_usage', COUNTERS)).toEqual([['usage:msg_1:req_1', 3, 80, 100, 20]]);
    expect(await eventsOf(orgId, 'tool_call', 'event_id, success')).toEqual([['tool:t1', true]]);
  });

  test('of a forked session that repeats old lines counts once', async () => {
    const lines = [
      prompt(1, 'begin'),
      answer(2, 'msg_1', 'req_1', [toolUse('t1', 'Read')], usage(8)),
      toolResult(3, 't1', {}),
    ];
    const fork = lines.map((entry) => ({ ...entry, sessionId: 'evening' }));
    for (const order of [
      [lines, fork],
      [fork, lines],
    ]) {
      const orgId = newOrganization();
      for (const [index, part] of order.entries()) await told(part, { orgId, file: `${index}.jsonl` });
      const rows = await world.store.select(
        'SELECT type, session_id FROM events WHERE org_id = $org_id ORDER BY type',
        { org_id: orgId },
      );
      expect(rows).toEqual(
        ['assistant_message', 'model_usage', 'tool_call', 'user_message'].map((type) => ({
          type,
          session_id: 'evening',
        })),
      );
    }
  });
});

describe('user turns', () => {
  test('are what a person wrote, and nothing else', async () => {
    const orgId = await told([
      prompt(1, 'plain words'),
      prompt(2, [{ type: 'text', text: 'words and a picture' }, { type: 'image' }]),
      prompt(3, '<command-name>/compact</command-name>\n<command-message>compact</command-message>'),
      line('attachment', 4, {
        attachment: { type: 'queued_command', prompt: 'and then', commandMode: 'prompt' },
      }),
      // From here on nobody wrote anything.
      prompt(10, [{ type: 'tool_result', tool_use_id: 't0', content: 'x' }]),
      prompt(11, 'meta', { isMeta: true }),
      prompt(12, 'side chain', { isSidechain: true }),
      prompt(13, 'summary', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
      prompt(14, '<local-command-stdout>done</local-command-stdout>'),
      prompt(15, '<bash-stdout>done</bash-stdout>'),
      prompt(16, [{ type: 'text', text: '[Request interrupted by user]' }]),
      prompt(17, 'x', { origin: { kind: 'task-notification' } }),
      prompt(18, '<task-notification>x</task-notification>'),
      prompt(19, 'x', { promptSource: 'system' }),
      prompt(20, 'Caveat: The messages below were generated by the user while running local commands.'),
      line('attachment', 21, {
        attachment: { type: 'queued_command', prompt: 'x', commandMode: 'task-notification' },
      }),
      prompt(22, undefined),
    ]);
    const turns = await eventsOf(orgId, 'user_message', 'event_id');
    expect(turns).toEqual([['turn:user-1'], ['turn:user-2'], ['turn:user-3'], ['turn:attachment-4']]);
    expect(await eventsOf(orgId, 'slash_command', 'event_id, command_name')).toEqual([
      ['slash:user-3', 'compact'],
    ]);
  });
});

describe('tools', () => {
  test('are calls with the success that their result says', async () => {
    const orgId = await told([
      answer(1, 'msg_1', 'req_1', [toolUse('t1', 'Read'), toolUse('t2', 'mcp__linear__list')], usage(1)),
      toolResult(2, 't1', { durationMs: 40 }),
      toolResult(3, 't2', 'Error: no', { is_error: true }),
      answer(4, 'msg_2', 'req_2', [toolUse('t3', 'Skill', { skill: 'review' })], usage(1)),
    ]);
    expect(await eventsOf(orgId, 'tool_call', 'event_id, tool_name, success, duration_ms')).toEqual([
      ['tool:t1', 'Read', true, 40],
      ['tool:t2', 'mcp__linear__list', false, null],
      ['tool:t3', 'Skill', null, null],
    ]);
    expect(await eventsOf(orgId, 'skill_use', 'event_id, skill_name')).toEqual([['skill:t3', 'review']]);
  });

  test('change files as the result says, when they succeed', async () => {
    const patch = '*** Begin Patch\n*** Add File: a.ts\n+x\n*** Update File: b.ts\n@@\n*** End Patch';
    const hunks = [{ lines: [' a', '-b', '+c', '+d'] }, { lines: ['+e'] }];
    const orgId = await told([
      answer(
        1,
        'msg_1',
        'req_1',
        [
          toolUse('t1', 'Write', { file_path: 'new.md' }),
          toolUse('t2', 'Write', { file_path: 'old.md' }),
          toolUse('t3', 'Edit', { file_path: 'old.ts' }),
          toolUse('t4', 'NotebookEdit', { notebook_path: 'n.ipynb' }),
          toolUse('t5', 'ApplyPatch', { input: patch }),
          toolUse('t6', 'Edit', { file_path: 'failed.ts' }),
          toolUse('t7', 'Read', { file_path: 'read.ts' }),
        ],
        usage(1),
      ),
      toolResult(2, 't1', {
        type: 'create',
        filePath: '/home/ada/new.md',
        content: 'one\ntwo\n',
        structuredPatch: [],
      }),
      toolResult(3, 't2', { type: 'update', filePath: '/home/ada/old.md', structuredPatch: hunks }),
      toolResult(4, 't3', { filePath: '/home/ada/old.ts', structuredPatch: hunks }),
      toolResult(5, 't4', {}),
      toolResult(6, 't5', {}),
      toolResult(7, 't6', 'Error: no', { is_error: true }),
      toolResult(8, 't7', { type: 'text' }),
    ]);
    expect(await eventsOf(orgId, 'file_change', 'path, operation, lines_added, lines_removed')).toEqual([
      ['/home/ada/new.md', 'create', 2, 0],
      ['/home/ada/old.md', 'edit', 3, 1],
      ['/home/ada/old.ts', 'edit', 3, 1],
      ['n.ipynb', 'edit', null, null],
      ['a.ts', 'create', null, null],
      ['b.ts', 'edit', null, null],
    ]);
  });

  test('that are shell commands commit and open pull requests when they succeed', async () => {
    const commands: [string, object | string][] = [
      ['git commit -m x', { gitOperation: { commit: { sha: 'abc1234', kind: 'committed' } } }],
      ['cd engine && git add -A && git -C . commit -q -F -', { stdout: '' }],
      ['git commit -m y', { stdout: '[main 0123abc] y\n 1 file changed' }],
      ['git commit -m z', { stdout: 'nothing to commit, working tree clean' }],
      ['git commit -m w', 'Error: failed'],
      ['git config --get commit.gpgsign', { stdout: 'true' }],
      ['echo "git commit"', { stdout: 'git commit' }],
      ['gh pr create --fill', { stdout: 'https://github.com/acme/engine/pull/7\n' }],
      [
        'gh pr view',
        {
          stdout: 'https://github.com/acme/engine/pull/7\n',
          gitOperation: { pr: { url: 'https://x/pull/7', action: 'commented' } },
        },
      ],
    ];
    const orgId = await told(
      commands.flatMap(([command, result], index) => [
        answer(2 * index, `msg_${index}`, 'r', [toolUse(`t${index}`, 'Bash', { command })], usage(1)),
        toolResult(2 * index + 1, `t${index}`, result, typeof result === 'string' ? { is_error: true } : {}),
      ]),
    );
    expect(await eventsOf(orgId, 'git_commit', 'event_id, commit_sha')).toEqual([
      ['commit:t0', 'abc1234'],
      ['commit:t1', null],
      ['commit:t2', '0123abc'],
    ]);
    expect(await eventsOf(orgId, 'pull_request', 'event_id, url')).toEqual([
      ['pull_request:t7', 'https://github.com/acme/engine/pull/7'],
    ]);
  });
});

test('a hook that ran counts once, though it stands in three places', async () => {
  const at = { toolUseID: 'h1' };
  const orgId = await told([
    line('progress', 1, {
      ...at,
      data: { type: 'hook_progress', hookEvent: 'Stop', hookName: 'Stop', command: 'npm run lint' },
    }),
    line('attachment', 2, {
      attachment: {
        ...at,
        type: 'hook_success',
        hookEvent: 'Stop',
        hookName: 'Stop',
        command: 'npm run lint',
        exitCode: 0,
        durationMs: 9,
      },
    }),
    line('system', 3, {
      ...at,
      subtype: 'stop_hook_summary',
      hookInfos: [{ command: 'npm run lint', durationMs: 9 }, { command: 'say done' }],
    }),
    line('progress', 4, {
      toolUseID: 't1',
      data: { type: 'hook_progress', hookEvent: 'PostToolUse', hookName: 'PostToolUse:Edit', command: 'fmt' },
    }),
  ]);
  expect(await eventsOf(orgId, 'hook_run', 'hook_event, matcher, command')).toEqual([
    ['Stop', null, 'npm run lint'],
    ['Stop', null, 'say done'],
    ['PostToolUse', 'Edit', 'fmt'],
  ]);
});

test('the permission mode holds from its prompt to the next, also in sub-agents of the session', async () => {
  const orgId = await told([
    answer(1, 'msg_1', 'r', [], usage(1)),
    prompt(2, 'a', { permissionMode: 'plan' }),
    answer(3, 'msg_2', 'r', [], usage(1)),
    answer(4, 'msg_3', 'r', [], usage(1), { isSidechain: true }),
    prompt(5, 'b', { permissionMode: 'dontAsk' }),
    answer(6, 'msg_4', 'r', [], usage(1)),
    prompt(7, 'c', { permissionMode: 'auto' }),
    prompt(8, 'd', { permissionMode: 'acceptEdits' }),
    prompt(9, 'e', { permissionMode: 'default' }),
    answer(10, 'msg_5', 'r', [], usage(1), { sessionId: 'other' }),
  ]);
  const modes = await eventsOf(orgId, 'model_usage', 'autonomy_mode');
  expect(modes).toEqual([[null], ['spec'], ['spec'], ['auto-high'], [null]]);
  expect(await eventsOf(orgId, 'user_message', 'autonomy_mode')).toEqual([
    ['spec'],
    ['auto-high'],
    ['auto-medium'],
    ['auto-low'],
    ['manual'],
  ]);
});

test('the entrypoint gives the client', async () => {
  const entrypoints = ['cli', 'sdk-ts', 'sdk-cli', 'claude-vscode', 'Claude-Desktop', 'a b', undefined];
  const orgId = await told(entrypoints.map((entrypoint, second) => prompt(second, 'x', { entrypoint })));
  expect(await eventsOf(orgId, 'user_message', 'client')).toEqual([
    ['terminal-ui'],
    ['non-interactive-cli'],
    ['non-interactive-cli'],
    ['claude-vscode'],
    ['claude-desktop'],
    [null],
    [null],
  ]);
});

test('the repository is that of the checkout in cwd, where this machine has it', async () => {
  const checkout = join(world.folder, 'engine');
  mkdirSync(join(checkout, '.git'), { recursive: true });
  writeFileSync(
    join(checkout, '.git', 'config'),
    '[remote "origin"]\n\turl = https://ci:secret@git.acme.example/engine.git\n',
  );
  const orgId = await told([
    prompt(1, 'a', { cwd: checkout }),
    prompt(2, 'b', { cwd: join(checkout, 'src') }),
    prompt(3, 'c', { cwd: undefined }),
    prompt(4, 'd', { cwd: checkout }),
  ]);
  expect(await eventsOf(orgId, 'user_message', 'repo')).toEqual([
    ['https://git.acme.example/engine.git'],
    [null],
    [null],
    ['https://git.acme.example/engine.git'],
  ]);
  // Events say it themselves: those of other machines must not look at this one's folders.
  const event = { type: 'user_message', timestamp: `${AT}01Z`, user_id: 'ada', session_id: 's' };
  await world.send([{ ...event, event_id: 'e1', cwd: checkout }], { orgId: 'canonical' });
  expect(await eventsOf('canonical', 'user_message', 'repo')).toEqual([[null]]);
});

test('a branch that lines do not name is that of the checkout, since it was checked out', async () => {
  const checkout = join(world.folder, 'branched');
  mkdirSync(join(checkout, '.git'), { recursive: true });
  const head = join(checkout, '.git', 'HEAD');
  writeFileSync(head, 'ref: refs/heads/feature/fast\n');
  const since = new Date(`${AT}05.000Z`);
  utimesSync(head, since, since);
  const orgId = await told([
    prompt(4, 'a', { cwd: checkout, gitBranch: '' }),
    prompt(5, 'b', { cwd: checkout, gitBranch: '' }),
    prompt(6, 'c', { cwd: checkout, gitBranch: 'main' }),
    prompt(7, 'd', { cwd: join(checkout, 'gone'), gitBranch: '' }),
  ]);
  expect(await eventsOf(orgId, 'user_message', 'git_branch')).toEqual([
    [null],
    ['feature/fast'],
    ['main'],
    [null],
  ]);
});

test('of a bad line only its place is kept, and the lines around it count', async () => {
  const orgId = newOrganization();
  const lines = [
    JSON.stringify(prompt(1, 'secret words')),
    '{"type":"user","secret',
    '[1]',
    JSON.stringify({ ...prompt(2, 'x'), timestamp: 'soon' }),
    JSON.stringify(prompt(3, 'y')),
  ];
  const result = await world.ingest([world.file('t.jsonl', lines.join('\n'))], {
    orgId,
    source: CLAUDE_CODE,
    userId: 'ada',
  });
  expect(result).toMatchObject({
    accepted: 2,
    rejected: 3,
    byReason: { not_json: 1, not_an_object: 1, bad_timestamp: 1 },
  });
  const rejects = await world.store.select(
    'SELECT line_no, reason, line FROM rejects WHERE org_id = $org_id ORDER BY line_no',
    { org_id: orgId },
  );
  expect(rejects).toEqual([
    { line_no: 2, reason: 'not_json', line: null },
    { line_no: 3, reason: 'not_an_object', line: null },
    { line_no: 4, reason: 'bad_timestamp', line: null },
  ]);
});

const REPLIES = [
  prompt(1, 'Please say what the engine computes.', { permissionMode: 'acceptEdits' }),
  answer(2, 'msg_1', 'req_1', [{ type: 'text', text: 'It computes Bernoulli numbers.' }], usage(1)),
  answer(3, 'msg_1', 'req_1', [toolUse('t1', 'Write', { file_path: 'new.md', content: 'one' })], usage(40)),
  toolResult(4, 't1', { type: 'create', filePath: '/home/ada/new.md', content: 'the first line of it' }),
  prompt(5, 'Please commit what you have written.', { permissionMode: 'plan' }),
  answer(6, 'msg_2', 'req_2', [toolUse('t2', 'Bash', { command: 'git commit -m "as asked"' })], usage(7)),
  toolResult(7, 't2', { stdout: '[main 0123abc] as asked' }),
];
const SUB_AGENT = [3, 4, 6].map((seconds) =>
  answer(seconds, `msg_sub_${seconds}`, 'req_3', [], usage(seconds), { isSidechain: true }),
);
const textOf = (entries: readonly object[]) => entries.map((entry) => JSON.stringify(entry));

test('transcripts give the same however they grew', async () => {
  const fork = REPLIES.map((entry) => ({ ...entry, sessionId: 'evening' }));
  await expectSameHoweverGrown(world, CLAUDE_CODE, [
    { name: 'morning.jsonl', lines: textOf([...REPLIES, ...SUB_AGENT]) },
    { name: 'evening.jsonl', lines: textOf(fork) },
    {
      name: 'morning/subagents/agent-1.jsonl',
      lines: textOf(
        [3, 4, 6].map((seconds) =>
          answer(seconds, `msg_file_${seconds}`, 'req_4', [], usage(seconds), { isSidechain: true }),
        ),
      ),
    },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  const file = world.file('morning.jsonl', textOf([...REPLIES, ...SUB_AGENT]).join('\n'));
  const { accepted } = await world.ingest([file], { source: CLAUDE_CODE, userId: 'ada' });
  expect(accepted).toBe(16);
  await world.build();
  await expectNoText(world, [...REPLIES, ...SUB_AGENT], ['/home/ada/new.md']);
});

const REAL = samples('transcripts/claude-code') ?? '';

describe.skipIf(REAL === '')('the transcripts of public projects', () => {
  test('give the same day tables once, twice, and with their files in another order', async () => {
    const files = readdirSync(REAL, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    const tables = async (world: World) => {
      await world.build();
      const rows: Record<string, unknown> = {};
      for (const table of ['user_sessions', ...DAY_TABLES])
        rows[table] = await world.store.select(`SELECT * FROM ${table} ORDER BY ALL`);
      return rows;
    };
    const whole = await World.create();
    whole.now = Date.parse('2026-08-10T00:00:00Z');
    await whole.ingest(files, { source: CLAUDE_CODE, userId: 'ada' });
    const once = await tables(whole);
    await whole.ingest(files, { source: CLAUDE_CODE, userId: 'ada' });
    expect(await whole.build()).toEqual([]);
    const backwards = await World.create();
    backwards.now = whole.now;
    // In four parts, the last first; a session's own files stay together.
    const parts = [0, 1, 2, 3].map((part) =>
      files.filter((_, index) => Math.floor((index * 4) / files.length) === part),
    );
    for (const part of parts.reverse())
      await backwards.ingest([...part].reverse(), { source: CLAUDE_CODE, userId: 'ada' });
    expect(await tables(backwards)).toEqual(once);
  });

  test('that have grown count as the last of their states', async () => {
    for (const project of readdirSync(REAL)) {
      const growing = join(REAL, project, 'growing');
      if (!existsSync(growing)) continue;
      for (const session of readdirSync(growing)) {
        const states = readdirSync(join(growing, session)).sort();
        const [last, step] = [newOrganization(), newOrganization()];
        const ingest = (orgId: string, state: string) =>
          world.ingest([join(growing, session, state)], { orgId, source: CLAUDE_CODE, userId: 'ada' });
        await ingest(last, states.at(-1) ?? '');
        for (const state of states) await ingest(step, state);
        const eventsOf = (orgId: string) =>
          world.store.select(`SELECT ${EVENT} FROM events WHERE org_id = $org_id ORDER BY ALL`, {
            org_id: orgId,
          });
        expect(await eventsOf(step)).toEqual(await eventsOf(last));
      }
    }
  });
});

test('folders are read with the transcripts of sub-agents below them', async () => {
  const folder = join(world.folder, 'projects', '-home-ada', 'morning', 'subagents');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'agent-1.jsonl'),
    JSON.stringify(answer(1, 'msg_1', 'r', [], usage(5), { isSidechain: true })),
  );
  writeFileSync(join(folder, 'agent-1.meta.json'), '{"agentType": "explore"}');
  const result = await world.ingest([join(world.folder, 'projects')], {
    orgId: newOrganization(),
    source: CLAUDE_CODE,
    userId: 'ada',
  });
  expect(result).toMatchObject({ accepted: 2, rejected: 0 });
});

test('lines that are long, one of them more than the reader takes at once, need little memory', async () => {
  const { atEnd, undo } = undoing();
  const small = await World.create({ DAYBOOK_MEMORY_MB: '512' }, atEnd);
  const long = (bytes: number) => prompt(1, 'x'.repeat(bytes));
  const text = `${JSON.stringify(long(50_000))}\n`.repeat(1500);
  const file = small.file('long.jsonl', text);
  expect(await small.ingest([file], { orgId: 'acme', source: CLAUDE_CODE, userId: 'ada' })).toMatchObject({
    accepted: 1,
    rejected: 0,
  });
  const longer = small.file(
    'longer.jsonl',
    `${JSON.stringify(long(20 << 20))}\n${JSON.stringify(prompt(2, 'short'))}\n`,
  );
  expect(await small.ingest([longer], { orgId: 'globex', source: CLAUDE_CODE, userId: 'ada' })).toMatchObject(
    {
      accepted: 2,
      rejected: 0,
    },
  );
  await undo();
});
