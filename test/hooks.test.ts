import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'jsonc-parser';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { report } from '../src/api/answer-rows.js';
import { createKey } from '../src/api/api-keys.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { answerOf } from '../src/hooks/hook-answer.js';
import { commandsOf } from '../src/hooks/hook-match.js';
import { readHooksConfig, runHooks } from '../src/hooks/hook-runs.js';
import type { AgentName } from '../src/hooks/hooked-agents.js';
import { HooksConfig } from '../src/hooks/hooks-config.js';
import { commandOf, installed, uninstalled, write } from '../src/hooks/install.js';
import { isMapped, withoutWords } from '../src/hooks/payload.js';
import { agentOf } from '../src/hooks/payload-agent.js';
import type { Payload } from '../src/hooks/payload-members.js';
import { type HookRun, runCommand } from '../src/hooks/run-hook.js';
import { payloadOf } from '../src/hooks/send-payload.js';
import { deliver, deliverAlone } from '../src/hooks/spool.js';
import { InboxFull } from '../src/ingest/inbox.js';
import { RequestMapper } from '../src/ingest/request-mapper.js';
import { HOOKS } from '../src/ingest/source.js';
import { isIntricate, LEVELS_AT_MOST, VALUES_AT_MOST } from '../src/input/json-depth.js';
import { buildApp } from '../src/service/app.js';
import { falseServer } from './laptop.js';
import { CLI } from './program.js';
import { temporaryFolder, World } from './world.js';

const AT = Date.parse('2026-06-10T10:00:00Z');
const SECRET = 'words that nobody keeps';

const base = {
  session_id: '45f013c6',
  transcript_path: '/Users/ada/.claude/projects/-Users-ada/45f013c6.jsonl',
  cwd: '/Users/ada/project',
  permission_mode: 'bypassPermissions',
};
const tool = (tool_name: string, tool_input: object, tool_response: unknown, more: object = {}): Payload => ({
  ...base,
  hook_event_name: 'PostToolUse',
  tool_use_id: 'toolu_1',
  ...{ tool_name, tool_input, tool_response },
  ...more,
});

/** Payloads as agents write them, and what comes of each: the type, the id and the members of its own. */
const MAPPED: [string, Payload, object[]][] = [
  [
    'a session that starts',
    { ...base, hook_event_name: 'SessionStart', source: 'startup', payload_id: 'p' },
    [{ type: 'session_start', event_id: 'session_start:hook:p' }],
  ],
  [
    'a session that ends',
    { ...base, hook_event_name: 'SessionEnd', reason: 'other', payload_id: 'p' },
    [{ type: 'session_end', event_id: 'session_end:hook:p', reason: 'other' }],
  ],
  [
    'a prompt',
    { ...base, hook_event_name: 'UserPromptSubmit', prompt: `/Users/ada has ${SECRET}`, payload_id: 'p' },
    [{ type: 'user_message', event_id: 'turn:hook:p' }],
  ],
  [
    'a slash command',
    { ...base, hook_event_name: 'UserPromptSubmit', prompt: `/team:review ${SECRET}`, payload_id: 'p' },
    [
      { type: 'user_message', event_id: 'turn:hook:p' },
      { type: 'slash_command', event_id: 'slash:hook:p', command_name: 'team:review' },
    ],
  ],
  [
    'a new file',
    tool(
      'Write',
      { file_path: '/p/new.md', content: SECRET },
      {
        type: 'create',
        filePath: '/p/new.md',
        content: `${SECRET}\n2\n`,
        structuredPatch: [],
        originalFile: null,
      },
    ),
    [
      { type: 'tool_call', event_id: 'tool:toolu_1', tool_name: 'Write', success: true },
      {
        type: 'file_change',
        event_id: 'file:toolu_1',
        path: '/p/new.md',
        operation: 'create',
        lines_added: 2,
        lines_removed: 0,
      },
    ],
  ],
  [
    'a file that was written anew',
    tool('Write', { file_path: '/p/a', content: SECRET }, { type: 'update', filePath: '/p/a' }),
    [
      { type: 'tool_call', tool_name: 'Write' },
      { type: 'file_change', path: '/p/a', operation: 'edit' },
    ],
  ],
  [
    'an edit',
    tool(
      'Edit',
      { file_path: '/p/a.py', old_string: SECRET, new_string: SECRET },
      { filePath: '/p/a.py', structuredPatch: [{ lines: [` ${SECRET}`, '-a', '+b', '+c'] }] },
    ),
    [
      { type: 'tool_call', tool_name: 'Edit' },
      {
        type: 'file_change',
        event_id: 'file:toolu_1',
        path: '/p/a.py',
        operation: 'edit',
        lines_added: 2,
        lines_removed: 1,
      },
    ],
  ],
  [
    'a file of droid',
    tool('Create', { file_path: '/p/b.ts', content: SECRET }, SECRET, {
      transcript_path: '/home/ada/.factory/sessions/s.jsonl',
      permission_mode: 'off',
    }),
    [
      { type: 'tool_call', agent: 'droid', autonomy_mode: 'manual' },
      { type: 'file_change', path: '/p/b.ts', operation: 'create' },
    ],
  ],
  [
    'a patch',
    tool('ApplyPatch', { patch: `*** Add File: x.ts\n+${SECRET}\n*** Update File: y.ts\n-${SECRET}` }, 'ok'),
    [
      { type: 'tool_call', tool_name: 'ApplyPatch' },
      { type: 'file_change', event_id: 'file:toolu_1:x.ts', path: 'x.ts', operation: 'create' },
      { type: 'file_change', event_id: 'file:toolu_1:y.ts', path: 'y.ts', operation: 'edit' },
    ],
  ],
  [
    'an edit that failed',
    tool('Edit', { file_path: '/p/a' }, { success: false, error: SECRET }),
    [{ type: 'tool_call', success: false }],
  ],
  [
    'a command that failed',
    tool('Bash', { command: 'git commit -m x' }, undefined, {
      hook_event_name: 'PostToolUseFailure',
      error: SECRET,
      is_interrupt: false,
      duration_ms: 40,
    }),
    [{ type: 'tool_call', event_id: 'tool:toolu_1', tool_name: 'Bash', success: false, duration_ms: 40 }],
  ],
  [
    'a commit',
    tool(
      'Bash',
      { command: `cd /p && git -c user.name=x commit -m "${SECRET}"` },
      { stdout: `[main 1a2b3c4] ${SECRET}`, stderr: '', interrupted: false },
    ),
    [
      { type: 'tool_call', tool_name: 'Bash' },
      { type: 'git_commit', event_id: 'commit:toolu_1', commit_sha: '1a2b3c4' },
    ],
  ],
  [
    'a commit of nothing',
    tool('Bash', { command: 'git commit -m x' }, { stdout: 'nothing to commit, working tree clean' }),
    [{ type: 'tool_call' }],
  ],
  [
    'a pull request of droid',
    tool('Execute', { command: `gh pr create --title "${SECRET}"` }, 'https://git.example/acme/p/pull/7\n'),
    [
      { type: 'tool_call', tool_name: 'Execute' },
      { type: 'pull_request', event_id: 'pull_request:toolu_1', url: 'https://git.example/acme/p/pull/7' },
    ],
  ],
  [
    'a skill',
    tool('Skill', { skill: 'release-notes', args: SECRET }, { success: true }),
    [
      { type: 'tool_call', tool_name: 'Skill' },
      { type: 'skill_use', event_id: 'skill:toolu_1', skill_name: 'release-notes' },
    ],
  ],
  [
    'an MCP call',
    tool('mcp__supabase__list_tables', { schema: SECRET }, [{ type: 'text', text: SECRET }]),
    [{ type: 'tool_call', tool_name: 'mcp__supabase__list_tables', autonomy_mode: 'auto-high' }],
  ],
  [
    'a call that is about to begin',
    {
      ...base,
      ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 'toolu_1', agent_id: 'a66449b6' },
      tool_input: { command: `git commit -m "${SECRET}"` },
    },
    [{ type: 'tool_call', event_id: 'tool:toolu_1', tool_name: 'Bash', agent_id: 'a66449b6' }],
  ],
  [
    'the command /compact',
    {
      ...base,
      ...{ hook_event_name: 'PreCompact', trigger: 'manual', custom_instructions: SECRET, prompt_id: 'q' },
    },
    [
      { type: 'user_message', event_id: 'turn:compact:q' },
      { type: 'slash_command', event_id: 'slash:compact:q', command_name: 'compact' },
    ],
  ],
  [
    'the command /model',
    { ...base, hook_event_name: 'PreModelSwitch', source: 'command', to_model: SECRET, payload_id: 'p' },
    [
      { type: 'user_message', event_id: 'turn:model:p' },
      { type: 'slash_command', event_id: 'slash:model:p', command_name: 'model' },
    ],
  ],
  ...['Notification', 'Stop', 'SubagentStop', 'PermissionRequest', 'SomethingNew'].map(
    (hook_event_name): [string, Payload, object[]] => [
      `nothing of ${hook_event_name}`,
      { ...tool('Bash', { command: 'git commit' }, {}), hook_event_name, message: SECRET },
      [],
    ],
  ),
];

/** Payloads that no agent should send. */
const ODD: typeof MAPPED = [
  [
    'a call with members of other types',
    tool(
      'Edit',
      { file_path: { toString: SECRET }, path: [SECRET] },
      { success: SECRET, type: SECRET, filePath: 7, structuredPatch: [{ lines: [{ toString: SECRET }, 7] }] },
      { transcript_path: { toString: 7 }, prompt: { toString: 7 }, duration_ms: SECRET, reason: [SECRET] },
    ),
    [{ type: 'tool_call', event_id: 'tool:toolu_1', success: true }],
  ],
  [
    'half a character',
    tool('Edit', { file_path: '/p/\ud83d' }, {}),
    [{ type: 'tool_call' }, { type: 'file_change', path: '/p/\ufffd' }],
  ],
];

const mapper = new RequestMapper(HOOKS);
afterAll(() => mapper.close());

const TYPES = ['session_start', 'session_end', 'user_message', 'slash_command', 'tool_call'];

/** The events of a payload as it is, in the order of MAPPED. */
async function eventsOf(payload: Payload): Promise<object[]> {
  const more = { agent: agentOf(payload), user_id: 'ada', timestamp: AT };
  const lines = await mapper.map({ payload_id: 'p', ...payload, ...more });
  const order = ({ type, event_id }: { type: string; event_id: string }) =>
    `${TYPES.includes(type) ? TYPES.indexOf(type) : 9} ${event_id}`;
  return lines.map((line) => JSON.parse(line)).sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

describe('a payload', () => {
  test.each(MAPPED)('with %s becomes its events, without words', async (_, payload, expected) => {
    const reduced = withoutWords(payload);
    const events = await eventsOf(reduced);
    expect(events).toMatchObject(expected);
    expect(events).toHaveLength(expected.length);
    for (const event of events)
      expect(event).toMatchObject({
        user_id: 'ada',
        timestamp: AT,
        session_id: '45f013c6',
        cwd: '/Users/ada/project',
        channel: 'hook',
      });
    expect(JSON.stringify([events, reduced])).not.toContain(SECRET);
    expect(withoutWords(reduced)).toEqual(reduced);
    // The SQL reads nothing of what is removed.
    const { tool_response } = payload;
    expect(
      await eventsOf(
        typeof tool_response === 'string'
          ? { ...payload, tool_response: { stdout: tool_response } }
          : payload,
      ),
    ).toEqual(events);
  });

  test.each(ODD)('with %s becomes what can be read of it', async (_, payload, expected) => {
    const reduced = withoutWords(payload);
    const events = await eventsOf(reduced);
    expect(events).toMatchObject(expected);
    expect(events).toHaveLength(expected.length);
    expect(JSON.stringify([events, reduced])).not.toContain(SECRET);
  });

  const COMMANDS: [string, ...string[]][] = [
    ['git commit&&git push', 'git_commit'],
    ['gh pr create|cat', 'pull_request'],
    ['git commit --dry-run && git commit -m x', 'git_commit'],
    ['git commit --dry-run'],
    [`git commit -m "--dry-run; ${SECRET}"`, 'git_commit'],
    [`cd "${SECRET}" && A="${SECRET}" git -C '/p q' --author=x commit>log`, 'git_commit'],
    ['git commit -qm x && gh pr create --fill', 'git_commit', 'pull_request'],
    [`git commit -F - <<'EOF'\n${SECRET}\nEOF\n`, 'git_commit'],
    ['git log --grep commit'],
    [`echo "git commit -m '${SECRET}'"`],
    [`git${' -c'.repeat(50_000)} x`],
  ];
  test.each(COMMANDS)('has its commits and pull requests found (command %#)', async (command, ...types) => {
    const payload = tool('Bash', { command }, { stdout: '' });
    const reduced = withoutWords(payload);
    for (const one of [payload, reduced]) {
      const events = (await eventsOf(one)) as { type: string }[];
      expect(events.map(({ type }) => type)).toEqual(['tool_call', ...types]);
    }
    expect(JSON.stringify(reduced)).not.toMatch(/words|keeps/);
  });

  const PULL = 'https://github.com/acme/engine/pull/1';
  const CALLS: [command: string, stdout: string, ...types: string[]][] = [
    [`# Let's ${SECRET}\ngit add -A && git commit -m '${SECRET}'`, '[main 1000001] x', 'git_commit'],
    [`env A="${SECRET}" timeout 60 /usr/bin/git commit -qm x 2>&1`, '', 'git_commit'],
    [`bash -c 'cd x && git commit -m "${SECRET}"'`, '', 'git_commit'],
    [`cat > a <<'EOF'\ngit commit -m "${SECRET}"\nEOF\nchmod +x a`, ''],
    ['git commit -m x 2>&1 | tail -5', `husky - pre-commit script failed (${SECRET})`],
    ['git commit -m x | tail -1', ' 1 file changed, 1 insertion(+)', 'git_commit'],
    ['git commit -qm x > log 2> other; git push', `To ${SECRET}`, 'git_commit'],
    ['git commit -m x 2> log; git push', `To ${SECRET}`],
    [
      'git commit -m a; git commit -m b',
      `[main 1000001] a\n${SECRET}\n[main 1000002] b`,
      'git_commit',
      'git_commit',
    ],
    ['make release', '[main 1000001] Release', 'git_commit'],
    ['cat commit.log | head', '[main 1000001] Release'],
    [
      `PR_URL="$(gh pr create --fill --body "${SECRET}")" && echo "${SECRET}: $PR_URL"`,
      `see ${PULL}`,
      'pull_request',
    ],
    ['gh -R acme/engine pr new --fill', PULL, 'pull_request'],
    ['gh pr create --fill || gh pr view', `a pull request for branch "x" already exists:\n${PULL}`],
    ['gh pr create -fw', `Opening ${PULL} in your browser`],
    ['gt submit', `${SECRET}: https://app.graphite.dev/github/pr/acme/engine/1 (created)`, 'pull_request'],
    ['gt submit', 'https://app.graphite.dev/github/pr/acme/engine/1 (updated)'],
    [
      'git push -o merge_request.create',
      'remote:  https://gitlab.com/a/b/-/merge_requests/8',
      'pull_request',
    ],
    ['git push', 'remote:  https://gitlab.com/a/b/-/merge_requests/8'],
    [
      'gh api repos/a/b/pulls -f title=x',
      `{"url":"https://api.github.com/repos/a/b/pulls/1","html_url":"${PULL}"}`,
      'pull_request',
    ],
  ];
  test.each(CALLS)('has what its command printed found (%#)', async (command, stdout, ...types) => {
    for (const response of [{ stdout }, stdout]) {
      const reduced = withoutWords(tool('Bash', { command }, response));
      expect(withoutWords(reduced)).toEqual(reduced);
      expect(JSON.stringify(reduced)).not.toMatch(/words|keeps/);
      const events = (await eventsOf(reduced)) as { type: string }[];
      expect(events.map(({ type }) => type)).toEqual(['tool_call', ...types]);
      // The same as without the reduction.
      expect(await eventsOf(tool('Bash', { command }, { stdout }))).toEqual(events);
    }
  });

  test.each([
    { hook_event_name: 'PreToolUse', tool_name: 'Edit' },
    { hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_use_id: '' },
    { hook_event_name: 'PreCompact', trigger: 'auto' },
    { hook_event_name: 'PreCompact' },
    { hook_event_name: 'PreModelSwitch', source: 'fallback' },
    { hook_event_name: 'PostModelSwitch', source: 'command' },
  ])('that tells of no turn and no call becomes nothing: %j', (payload) => {
    expect(isMapped({ ...base, ...payload })).toBe(false);
  });

  test('of a built-in command counts for Claude Code alone, whose names of them are known', async () => {
    const payload = { ...base, hook_event_name: 'PreCompact', trigger: 'manual' };
    const transcript_path = '/home/ada/.factory/sessions/s.jsonl';
    expect(await eventsOf(withoutWords({ ...payload, transcript_path }))).toEqual([]);
  });

  test('of a tool that opens pull requests has the address, whatever the form of its result', async () => {
    const text = JSON.stringify({ html_url: PULL, body: SECRET });
    for (const response of [text, [{ type: 'text', text }], { content: [{ type: 'text', text }] }]) {
      const reduced = withoutWords(tool('mcp__github__create_pull_request', { title: SECRET }, response));
      expect(withoutWords(reduced)).toEqual(reduced);
      expect(JSON.stringify(reduced)).not.toContain(SECRET);
      expect(await eventsOf(reduced)).toMatchObject([
        { type: 'tool_call' },
        { type: 'pull_request', url: PULL },
      ]);
    }
  });

  test('of a call that fails counts the commit that it made before', async () => {
    const failed = {
      ...tool('Bash', { command: 'git commit -m x && git push' }, undefined),
      hook_event_name: 'PostToolUseFailure',
      error: `Exit code 1\n[main 1000001] x\n${SECRET}`,
    };
    const reduced = withoutWords(failed);
    expect(JSON.stringify(reduced)).not.toContain(SECRET);
    expect(await eventsOf(reduced)).toMatchObject([
      { type: 'tool_call', success: false },
      { type: 'git_commit', commit_sha: '1000001' },
    ]);
  });

  test("of another agent's message is no turn of a person", async () => {
    for (const prompt of [
      `<teammate-message teammate_id="dev-1">\n${SECRET}`,
      `\n<task-notification>${SECRET}`,
    ]) {
      const reduced = withoutWords(tool('', {}, {}, { hook_event_name: 'UserPromptSubmit', prompt }));
      expect(JSON.stringify(reduced)).not.toContain(SECRET);
      expect(await eventsOf(reduced)).toEqual([]);
    }
  });

  test('is mapped together with others that wait, and fails alone', async () => {
    const many = Array.from({ length: 1200 }, (_, index) =>
      tool('Read', {}, {}, { tool_use_id: `t${index}` }),
    );
    const events = await Promise.all(many.map((one) => eventsOf(withoutWords(one))));
    expect(events.map(([one]) => Object(one).event_id)).toEqual(many.map((_, index) => `tool:t${index}`));
    const sql = temporaryFolder();
    writeFileSync(
      join(sql, 'events.sql'),
      "SELECT source, CASE WHEN line->>'fails' THEN error('no') ELSE line->>'id' END AS event_id, 1 AS occurred_ms FROM lines",
    );
    const other = new RequestMapper({ ...HOOKS, sql });
    const both = [other.map({ id: 1 }), other.map({ id: 2, fails: true }), other.map({ id: 3 })];
    expect(await Promise.allSettled(both)).toMatchObject([
      { value: [expect.stringContaining('"event_id":"1"')] },
      { status: 'rejected' },
      { value: [expect.stringContaining('"event_id":"3"')] },
    ]);
    await expect(other.map({ id: 'x'.repeat(64 << 20) })).rejects.toThrow(InboxFull);
    await other.close();
  });
});

describe('a configuration', () => {
  const config = (groups: Record<string, unknown>) => HooksConfig.parse(groups);
  const hook = (command: string, timeout?: number) => ({ type: 'command', command, timeout });
  const cases: [string, object, Payload, string[]][] = [
    ['no matcher', {}, { hook_event_name: 'PreToolUse', tool_name: 'Edit' }, ['c']],
    ['an empty one', { matcher: '' }, { hook_event_name: 'PreToolUse', tool_name: 'Edit' }, ['c']],
    ['a star', { matcher: '*' }, { hook_event_name: 'PreToolUse', tool_name: 'Edit' }, ['c']],
    [
      'one of several',
      { matcher: 'Edit|Write' },
      { hook_event_name: 'PreToolUse', tool_name: 'Write' },
      ['c'],
    ],
    [
      'the whole name only',
      { matcher: 'Edit' },
      { hook_event_name: 'PreToolUse', tool_name: 'MultiEdit' },
      [],
    ],
    ['the case too', { matcher: 'edit' }, { hook_event_name: 'PreToolUse', tool_name: 'Edit' }, []],
    ['a trigger', { matcher: 'auto' }, { hook_event_name: 'PreCompact', trigger: 'auto' }, ['c']],
    ['another trigger', { matcher: 'auto' }, { hook_event_name: 'PreCompact', trigger: 'manual' }, []],
    ['a source', { matcher: 'resume' }, { hook_event_name: 'SessionStart', source: 'startup' }, []],
    ['none where there is nothing to match', { matcher: 'x' }, { hook_event_name: 'Stop' }, ['c']],
    [
      'a command',
      { commandRegex: '^rm ' },
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'rm x' } },
      ['c'],
    ],
    [
      'another command',
      { commandRegex: '^rm ' },
      { hook_event_name: 'PreToolUse', tool_name: 'Execute', tool_input: { command: 'ls; rm x' } },
      [],
    ],
    [
      'a command where there is none',
      { commandRegex: '.' },
      { hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input: { command: 'rm x' } },
      [],
    ],
    // A backtracking engine would take years for these two.
    [
      'no name that an expression nearly fits, in any number of ways',
      { matcher: '(a+)+' },
      { hook_event_name: 'PreToolUse', tool_name: `${'a'.repeat(100)}!` },
      [],
    ],
    [
      'no such command either',
      { commandRegex: '^(a|a)*$' },
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: `${'a'.repeat(100)}!` } },
      [],
    ],
    ['no event that it has not', {}, { hook_event_name: 'constructor' }, []],
  ];
  test.each(cases)('matches %s', (_, group, payload, commands) => {
    const name = String(payload.hook_event_name);
    const groups = config({ [name]: [{ ...group, hooks: [hook('c')] }] });
    expect(commandsOf(groups, payload).map(({ command }) => command)).toEqual(commands);
  });

  test('runs the same command once, and none when hooks are disabled', () => {
    const groups = {
      Stop: [{ matcher: 'x', hooks: [hook('a', 5), hook('a'), hook('b')] }, { hooks: [hook('a', 7)] }],
    };
    const payload = { hook_event_name: 'Stop' };
    expect(commandsOf(config(groups), payload)).toEqual([
      { matcher: 'x', command: 'a', timeoutMs: 5000 },
      { matcher: 'x', command: 'b', timeoutMs: 60_000 },
    ]);
    expect(commandsOf(config({ ...groups, hooksDisabled: true }), payload)).toEqual([]);
  });

  test('is a map of events, or settings that have one; what is wrong is named', () => {
    const path = join(temporaryFolder(), 'hooks.json');
    const read = (document: unknown) => {
      writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document));
      return readHooksConfig(path);
    };
    const Stop = [{ hooks: [{ type: 'command', command: 'a' }] }];
    expect(read({ Stop })).toEqual({ Stop });
    expect(read({ model: 'm', hooksDisabled: true, hooks: { Stop } })).toMatchObject({
      Stop,
      hooksDisabled: true,
    });
    expect(() => read({ Stop: [{ hooks: [{ type: 'prompt' }] }] })).toThrow(
      'Stop.0.hooks.0.type must be command',
    );
    expect(() => read({ Stop: [{ matcher: '[', hooks: [] }] })).toThrow('must be a regular expression');
    const matcher = '(a{1000}b{1000})';
    expect(() => read({ Stop: [{ matcher: matcher.repeat(120), hooks: [] }] })).toThrow(
      'Stop.0.matcher is too large: with repetitions such as {9} written out, it can have 2500 characters',
    );
    // Each of them alone is small.
    expect(() => read({ Stop: Array(100).fill({ matcher, hooks: [] }) })).toThrow(
      'Stop.12.matcher is too large: with repetitions such as {9} written out, all expressions together can have 25000 characters',
    );
    expect(() => read({ Stop: [{ commandRegex: '(?=a)', hooks: [] }] })).toThrow('no look-around');
    expect(() => read('{')).toThrow('are not JSON');
    expect(() => readHooksConfig(`${path}.none`)).toThrow("can't be read");
  });
});

describe('a hook command', () => {
  const run = (command: string, timeoutMs = 60_000, input = '{}') =>
    runCommand({ matcher: '', command, timeoutMs }, input);

  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      // What has ended and was not waited for by anybody still has its number.
      return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  }

  async function gone(pids: readonly number[]): Promise<void> {
    while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Runs a command that hangs, again with twice the time until it has written so many processes, and waits until they are gone. */
  async function expectEnded(processes: number, commandOf: (file: string) => string): Promise<void> {
    for (let timeoutMs = 600, seen = 0; seen < processes; timeoutMs *= 2) {
      const file = join(temporaryFolder(), 'pids');
      writeFileSync(file, '');
      expect(await run(commandOf(file), timeoutMs)).toMatchObject({ exitCode: null, isTimedOut: true });
      const pids = readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
      await gone(pids);
      seen = pids.length;
    }
  }

  test('that hangs is ended at its timeout with its children, also those that ignore SIGTERM', async () => {
    await expectEnded(3, (file) => {
      const child = `sh -c 'trap "" TERM; echo $$ >> ${file}; while true; do sleep 1; done'`;
      return `trap "" TERM; echo $$ >> ${file}; ${child} & ${child} & wait; wait`;
    });
  });

  test('that ends itself at SIGTERM takes its children with it', async () => {
    await expectEnded(1, (file) => `sh -c 'trap "" TERM; echo $$ >> ${file}; sleep 60; sleep 60' & wait`);
  });

  test('that floods its output is heard up to a limit', async () => {
    const { exitCode, stdout } = await run('head -c 20000000 /dev/zero | tr "\\0" x; exit 3');
    expect([exitCode, stdout.length]).toEqual([3, 1 << 20]);
    const endless = await run('yes', 300);
    expect(endless).toMatchObject({ exitCode: null, isTimedOut: true });
    expect(endless.stdout.length).toBeLessThanOrEqual(1 << 20);
  });

  test("that ends at once, fails, or can't be started has ended, whatever it was given", async () => {
    const large = 'x'.repeat(5 << 20);
    expect(await run('exit 0', 60_000, large)).toMatchObject({ exitCode: 0, isTimedOut: false });
    expect(await run('exec <&-; echo said; echo why >&2; exit 7', 60_000, large)).toMatchObject({
      exitCode: 7,
      stdout: 'said\n',
      stderr: 'why\n',
    });
    expect((await run('/nowhere/nothing')).exitCode).toBe(127);
    expect((await run('x'.repeat(200_000))).exitCode).toBe(127);
    expect((await run('kill -9 $$')).exitCode).toBeNull();
    expect((await run('cat', 60_000, '{"a":1}')).stdout).toBe('{"a":1}');
  });

  test('is not waited for by what it leaves behind', async () => {
    const file = join(temporaryFolder(), 'pid');
    const { exitCode, stdout } = await run(`sleep 60 & echo $! > ${file}; echo said`);
    expect([exitCode, stdout]).toEqual([0, 'said\n']);
    const pid = Number(readFileSync(file, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });

  test('runs beside the others', async () => {
    const fifo = join(temporaryFolder(), 'fifo');
    // Each ends only when the other one runs.
    const hooks = [
      `mkfifo ${fifo} 2>/dev/null; echo 1 > ${fifo}`,
      `until [ -p ${fifo} ]; do :; done; cat ${fifo}`,
    ];
    const config = HooksConfig.parse({
      Stop: [{ hooks: hooks.map((command) => ({ type: 'command', command, timeout: 300 })) }],
    });
    const { answer, runs } = await runHooks(config, { hook_event_name: 'Stop' }, '');
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(answer).toEqual({ exitCode: 0, stdout: '1\n', stderr: '' });
  });
});

describe('the agent gets', () => {
  const run = (more: Partial<HookRun>): HookRun => ({
    ...{ matcher: '', command: 'c', timeoutMs: 60_000, exitCode: 0, isTimedOut: false, durationMs: 5 },
    ...{ stdout: '', stderr: '', ...more },
  });
  const json = (value: object) => run({ stdout: JSON.stringify(value) });

  test('2 and the reason of those that block, where the event can be blocked', () => {
    const runs = [
      run({ exitCode: 2, stderr: 'no\n', stdout: 'x' }),
      run({ exitCode: 2 }),
      run({ exitCode: 1, stderr: 'odd' }),
      run({ stdout: 'y' }),
    ];
    for (const event of ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'])
      expect(answerOf(event, runs)).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: 'no\nThe hook "c" blocks this.\n',
      });
    for (const event of ['Notification', 'PreCompact', 'SessionStart', 'SessionEnd'])
      expect(answerOf(event, runs)).toMatchObject({ exitCode: 0, stdout: 'y' });
  });

  test('0 and warnings where commands fail in any other way', () => {
    const runs = [
      run({ exitCode: 1, stderr: 'odd' }),
      run({ exitCode: null, isTimedOut: true }),
      run({ exitCode: 2, isTimedOut: true }),
      run({ stderr: 'unsaid' }),
    ];
    const { exitCode, stdout, stderr } = answerOf('PreToolUse', runs);
    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toBe(
      'The hook "c" ended with 1 after 5 ms.\nodd\nThe hook "c" was stopped after 60 seconds.\nThe hook "c" was stopped after 60 seconds.\n',
    );
    expect(answerOf('PreToolUse', [run({ stderr: 'said' })], true).stderr).toContain('said');
  });

  test('one document of several, in which the strictest counts', () => {
    expect(answerOf('PreToolUse', [run({ stdout: '{"a": 1}' })]).stdout).toBe('{"a": 1}');
    const permission = (permissionDecision: string, permissionDecisionReason: string) =>
      json({
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
      });
    const both = answerOf('PreToolUse', [
      permission('deny', 'no'),
      permission('allow', 'yes'),
      run({ stdout: 'x' }),
    ]);
    expect(JSON.parse(both.stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'no',
      },
    });
    const stop = [
      json({ decision: 'block', reason: 'a' }),
      json({ decision: 'block', reason: 'b' }),
      json({ continue: false, stopReason: 'c' }),
      json({ continue: true, systemMessage: 'd' }),
    ];
    expect(JSON.parse(answerOf('Stop', stop).stdout)).toEqual({
      decision: 'block',
      reason: 'a\nb',
      continue: false,
      stopReason: 'c',
      systemMessage: 'd',
    });
    const context = [json({ hookSpecificOutput: { additionalContext: 'a' } }), run({ stdout: 'b' })];
    expect(JSON.parse(answerOf('UserPromptSubmit', context).stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'a\nb' },
    });
    expect(answerOf('SessionStart', [run({ stdout: 'a' }), run({ stdout: 'b' })]).stdout).toBe('a\nb');
  });
});

describe('over HTTP', () => {
  test('payloads count once however often they come, and hook runs are among the tools', async () => {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
    const app = buildApp(world);
    const keyOf = async (role: 'member' | 'ingest' | 'guest', userId?: string) =>
      (await createKey(world.store, { orgId: 'acme', role, userId }, world.now)).key;
    const [member, ingest] = [await keyOf('member', 'ada'), await keyOf('ingest')];
    const post = async (payload: unknown, key = member) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sent = {
        method: 'POST',
        url: '/api/v1/hooks',
        headers,
        payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
      } as const;
      const answer = await app.inject(sent);
      return { status: answer.statusCode, text: answer.body };
    };
    const timestamp = new Date(AT).toISOString();
    const run = { command: 'fmt', matcher: 'Edit', exit_code: 0, duration_ms: 3, timed_out: false };
    const runs = {
      ...base,
      ...{ hook_event_name: 'PreToolUse', timestamp, payload_id: 'r' },
      hook_runs: [run, { ...run, command: 'lint', matcher: '', exit_code: null, timed_out: true }],
    };
    for (let time = 0; time < 2; time += 1) {
      for (const [index, [, payload]] of [...MAPPED, ...ODD].entries())
        expect(
          await post({ ...payload, tool_use_id: `toolu_${index}`, payload_id: `p${index}`, timestamp }),
        ).toEqual({ status: 202, text: '' });
      expect((await post(runs)).status).toBe(202);
      expect((await post({ ...base, hook_event_name: 'SessionStart', timestamp: AT })).status).toBe(202);
      // Without any id a payload is told from others by its words.
      for (const more of [{}, { prompt: 'b' }, { session_id: 't' }]) {
        const prompt = { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'a', timestamp, ...more };
        expect((await post(prompt)).status).toBe(202);
      }
    }
    const wrong: [unknown, number, string][] = [
      [{}, 400, 'hook_event_name is required'],
      [{ hook_event_name: 'SessionStart' }, 400, 'session_id is required'],
      [{ hook_event_name: 'PostToolUse', session_id: 's' }, 400, 'tool_name is required'],
      [{ hook_event_name: 'PostToolUse', session_id: 12345 }, 400, 'session_id must be a string'],
      [
        { ...base, hook_event_name: 'SessionStart', timestamp: '2025-11-29T18:50:21.250302' },
        400,
        'timestamp',
      ],
      [
        { ...base, hook_event_name: 'SessionStart', timestamp: world.now + 90_000_000 },
        400,
        'at most 24 hours',
      ],
      [
        { ...base, hook_event_name: 'SessionStart', user_id: 'grace' },
        403,
        'only payloads of its own user_id, ada:',
      ],
      [{ ...base, hook_event_name: 'Stop', message: 'x'.repeat(1 << 20) }, 413, 'at most 1048576 bytes'],
      [{ ...base, hook_event_name: 'Stop', message: Array(50_000).fill(0) }, 400, 'at most 50000 values'],
    ];
    for (const [payload, status, sentence] of wrong) {
      const given = await post(payload);
      expect([given.status, given.text], JSON.stringify(payload).slice(0, 200)).toEqual([
        status,
        expect.stringContaining(sentence),
      ]);
    }
    // Control characters that the agent didn't escape.
    const unescaped = JSON.stringify({ ...base, hook_event_name: 'Stop', message: 'a^b' }).replace(
      '^',
      '\n\t',
    );
    expect((await post(unescaped)).status).toBe(202);
    const session = { ...base, hook_event_name: 'SessionStart', timestamp };
    expect((await post(session, ingest)).text).toContain('belongs to no user');
    expect((await post({ ...session, user_id: 'grace' }, ingest)).status).toBe(202);
    expect((await post(session, await keyOf('guest', 'ada'))).status).toBe(403);
    await world.inbox.drain(world.store);
    await world.build();
    const range = { orgId: 'acme', from: '2026-06-10', to: '2026-06-10' } as never;
    const [tools] = (await report(world.store, 'tools', range)).data;
    const told = [...MAPPED, ...ODD].flatMap(([, , events]) => events.map((event) => Object(event).type));
    const count = (type: string) => told.filter((one) => one === type).length;
    expect(tools).toMatchObject({
      tool_calls: count('tool_call'),
      skills_by_name: [{ name: 'release-notes', count: 1 }],
      slash_commands_by_name: ['compact', 'model', 'team:review'].map((name) => ({ name, count: 1 })),
      hooks_invocations: 2,
      hooks_by_event: [
        { event: 'PreToolUse', matcher: '', command: 'lint', count: 1 },
        { event: 'PreToolUse', matcher: 'Edit', command: 'fmt', count: 1 },
      ],
    });
    const [activity] = (await report(world.store, 'activity', range)).data;
    expect(activity).toMatchObject({ daily_active_users: 2, user_messages: count('user_message') + 3 });
    const rows = await world.store.select('SELECT * FROM events');
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    expect(await world.store.select('SELECT * FROM rejects')).toEqual([]);
  });
});

/** Runs the real program with a home of its own. */
async function daybook(home: string, args: readonly string[], input = '') {
  const child = spawn('node', [CLI, ...args], { env: { PATH: process.env.PATH, HOME: home } });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ]);
  return { code, stdout, stderr };
}

/** A server that takes payloads, or doesn't, and has what it was sent. */
async function server(status: () => number): Promise<{ url: string; bodies: Payload[]; http: Server }> {
  const bodies: Payload[] = [];
  const http = createServer(async (request, answer) => {
    const body = JSON.parse(await text(request));
    if (status() === 202) bodies.push(body);
    answer.writeHead(status()).end();
  });
  onTestFinished(() => {
    http.close();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, bodies, http };
}

describe('standard input', () => {
  test('is read with control characters in its texts, which some agents do not escape', () => {
    const raw = '{\n\t"prompt": "first\nsecond\tline \\"\\n\u0000\u001f\\\\",\r\n "cwd": "/a\tb" }';
    expect(payloadOf(raw)).toEqual({ prompt: 'first\nsecond\tline "\n\u0000\u001f\\', cwd: '/a\tb' });
    const escaped = JSON.stringify({ prompt: 'a\n"\\\t\u2028', list: [1, null, '\\\\"'] }, null, '\t');
    expect(payloadOf(escaped)).toEqual(JSON.parse(escaped));
    for (const text of ['', '[]', '{"a": "b', '{"a":\u0000 1}', '{"a": "\\\n"}'])
      expect(() => payloadOf(text), JSON.stringify(text)).toThrow('Standard input must be the JSON object');
  });

  test('can have any length: a change of more lines than the service takes keeps its file', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, line) => (line % 2 ? '+b' : '-a'));
    const edit = (...hunks: object[]) => tool('Edit', { file_path: '/p/a' }, { structuredPatch: hunks });
    const added = async (payload: Payload) => {
      const reduced = withoutWords(payload);
      const text = JSON.stringify(reduced);
      expect([text.length < 1 << 20, isIntricate(text, LEVELS_AT_MOST, VALUES_AT_MOST)]).toEqual([
        true,
        false,
      ]);
      expect(withoutWords(reduced)).toEqual(reduced);
      const [, change] = await eventsOf(reduced);
      expect(change).toMatchObject({ type: 'file_change', path: expect.any(String) });
      return Object(change).lines_added;
    };
    expect(await added(edit({ lines: lines(39_000) }))).toBe(19_500);
    expect(await added(edit({ lines: lines(39_000) }, { lines: lines(39_000) }))).toBeUndefined();
    expect(await added(edit(...lines(60_000).map((line) => ({ lines: [line] }))))).toBeUndefined();
    const create = (count: number) =>
      tool('Write', { file_path: '/p/b' }, { type: 'create', content: 'x\n'.repeat(count) });
    expect(await added(create(39_000))).toBe(39_000);
    expect(await added(create(600_000))).toBeUndefined();
  });
});

describe('hooks send', () => {
  const payload = (prompt: string) =>
    JSON.stringify({ ...base, hook_event_name: 'UserPromptSubmit', prompt: `/x ${SECRET} ${prompt}` });

  test("keeps what the server doesn't take, without words, and sends it with the next one", async () => {
    const home = temporaryFolder();
    let status = 503;
    const { url, bodies } = await server(() => status);
    const folder = join(home, '.daybook', 'hooks');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'connection.json'),
      JSON.stringify({ server: url, key: 'dbk_x', user: 'ada' }),
    );
    const down = await daybook(home, ['hooks', 'send', '--agent', 'droid'], payload('1'));
    expect(down).toMatchObject({ code: 0, stdout: '' });
    const spool = join(folder, 'spool');
    const [name = ''] = readdirSync(spool);
    expect(statSync(join(spool, name)).mode & 0o077).toBe(0);
    expect(readFileSync(join(spool, name), 'utf8')).not.toContain(SECRET);
    status = 202;
    // One that is damaged, and what a deliverer left that was killed when the clock was ahead: neither is in anybody's way.
    writeFileSync(join(spool, '0-damaged.json'), '{"hook_event_name": "Us');
    writeFileSync(join(folder, 'delivering'), '');
    utimesSync(join(folder, 'delivering'), new Date(), new Date(Date.now() + 86_400_000));
    const { stderr } = await daybook(home, ['hooks', 'send', '--agent', 'droid'], payload('2'));
    // Where the machine is slow, another process goes on with it, and says nothing to anybody.
    expect(stderr).toMatch(
      /^(Events wait in \S+: \S+0-damaged\.json\.damaged is no JSON, and was left out\.\n)?$/,
    );
    await expect.poll(() => readdirSync(spool)).toEqual(['0-damaged.json.damaged']);
    expect(new Set(bodies.map(({ payload_id }) => payload_id)).size).toBe(2);
    for (const body of bodies)
      expect(body).toMatchObject({ session_id: '45f013c6', agent: 'droid', user_id: 'ada', prompt: '/x' });
  });

  test('says why events wait', async () => {
    const home = temporaryFolder();
    const { code, stderr } = await daybook(home, ['hooks', 'send', '--agent', 'droid'], payload('1'));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Events wait in \S+: no service is configured: run "daybook hooks install"\.\n$/);
    expect(await daybook(home, ['hooks', 'deliver'])).toEqual({ code: 1, stdout: '', stderr });
    expect((await daybook(home, ['hooks', 'status'])).stdout).toMatch(
      /^No agent has hooks: .*\n {2}service {3}none\n {2}waiting {3}1 payload, the oldest since .*Z\n$/,
    );
  });

  test('names a document that is damaged, however long it takes', async () => {
    const folder = temporaryFolder();
    const { url } = await server(() => 202);
    writeFileSync(join(folder, 'connection.json'), JSON.stringify({ server: url, key: 'dbk_x' }));
    const damaged = join(folder, 'spool', '0-damaged.json');
    mkdirSync(dirname(damaged));
    writeFileSync(damaged, '{');
    expect(await deliver(folder, new AbortController().signal)).toEqual({
      refused: `${damaged}.damaged is no JSON, and was left out`,
    });
  });

  test('keeps what the service refuses, and sends again what a proxy has refused in its place', async () => {
    const folder = temporaryFolder();
    const problem = { title: 'Bad Request', detail: 'timestamp is too late.', requestId: 'req_1' };
    let answer = { status: 400, body: '<html>plain HTTP was sent to an HTTPS port</html>' };
    const { url } = await falseServer(() => answer);
    writeFileSync(join(folder, 'connection.json'), JSON.stringify({ server: url, key: 'dbk_x' }));
    const spool = join(folder, 'spool');
    mkdirSync(spool);
    const waiting = join(spool, '0.json');
    writeFileSync(waiting, '{}');
    const send = () => deliver(folder, new AbortController().signal);
    expect(await send()).toEqual({ refused: 'the server answered 400' });
    expect(readdirSync(spool)).toEqual(['0.json']);
    answer = { status: 413, body: problem as never };
    expect(await send()).toEqual({
      refused: `${waiting}.refused was left out, because the server answered 413: timestamp is too late`,
    });
    expect(readdirSync(spool)).toEqual(['0.json.refused']);
    expect(await send()).toBe('sent');
  });

  test('sends what comes while another one is refused', async () => {
    const folder = temporaryFolder();
    const spool = join(folder, 'spool');
    mkdirSync(spool);
    writeFileSync(join(spool, '0.json'), '{}');
    const { url, got } = await falseServer(() => {
      if (got.length > 1) return { status: 202 };
      writeFileSync(join(spool, '1.json'), '{}');
      return { status: 413, body: { detail: 'timestamp is too late.', requestId: 'req_1' } };
    });
    writeFileSync(join(folder, 'connection.json'), JSON.stringify({ server: url, key: 'dbk_x' }));
    expect(await deliverAlone(folder, new AbortController().signal, Date.now())).toEqual({
      refused: `${join(spool, '0.json')}.refused was left out, because the server answered 413: timestamp is too late`,
    });
    expect(readdirSync(spool)).toEqual(['0.json.refused']);
  });

  test('does not try without end what can not be read', async () => {
    const folder = temporaryFolder();
    const { url } = await server(() => 202);
    writeFileSync(join(folder, 'connection.json'), JSON.stringify({ server: url, key: 'dbk_x' }));
    const unreadable = join(folder, 'spool', '0.json');
    mkdirSync(unreadable, { recursive: true });
    expect(await deliverAlone(folder, new AbortController().signal, Date.now())).toEqual({
      refused: `${unreadable} can't be read (EISDIR)`,
    });
  });

  test('ends with 0 whatever it is given, and keeps nothing that tells of nothing', async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, '.daybook'), 'no folder');
    for (const [args, input] of [
      [[], 'no json'],
      [['--nothing'], payload('')],
      [[], payload('')],
      [[], JSON.stringify({ ...base, hook_event_name: 'Stop' })],
    ] as const)
      expect(await daybook(home, ['hooks', 'send', ...args], input)).toMatchObject({ code: 0, stdout: '' });
  });

  test('starts with nothing but itself: agents wait for it', () => {
    const seen = new Set<string>();
    const walk = (path: string) => {
      if (seen.has(path)) return;
      seen.add(path);
      for (const [, from = ''] of readFileSync(path, 'utf8').matchAll(/^import (?:.*?from )?'([^']+)'/gm))
        if (from.startsWith('.')) walk(join(dirname(path), from));
        else expect(from, path).toMatch(/^node:/);
    };
    walk(CLI);
    walk(join(PACKAGE_ROOT, 'dist', 'command', 'run-program.js'));
    walk(join(PACKAGE_ROOT, 'dist', 'hooks', 'hook-command.js'));
    expect([...seen].map((path) => path.slice(PACKAGE_ROOT.length + 1)).sort()).toEqual([
      'dist/cli.js',
      'dist/command/run-program.js',
      ...['refusals', 'renames'].map((name) => `dist/disk/${name}.js`),
      'dist/exit.js',
      ...['changed-lines', 'codex-payload', 'copilot-payload', 'cursor-payload', 'gemini-payload'].map(
        (name) => `dist/hooks/${name}.js`,
      ),
      ...['hook-command', 'payload-agent', 'payload-members', 'payload', 'send-payload', 'spool'].map(
        (name) => `dist/hooks/${name}.js`,
      ),
      'dist/hooks/windsurf-payload.js',
      'dist/input/git-words.js',
      'dist/input/json-object.js',
      'dist/terminal/node-version.js',
    ]);
  });
});

test('hooks run runs what is configured, says what the agent expects, and records it', async () => {
  const home = temporaryFolder();
  const { url, bodies } = await server(() => 202);
  const folder = join(home, 'own');
  mkdirSync(folder);
  writeFileSync(join(folder, 'connection.json'), JSON.stringify({ server: url, key: 'dbk_x' }));
  const command = (command: string) => ({ type: 'command', command });
  const hooks = {
    PreToolUse: [
      { matcher: 'Bash', commandRegex: '^rm', hooks: [command('cat >/dev/null; echo never >&2; exit 2')] },
      { hooks: [command('echo hello')] },
    ],
  };
  const config = join(home, 'hooks.json');
  writeFileSync(config, JSON.stringify({ hooks }));
  const run = (payload: object, file = config) =>
    daybook(home, ['hooks', 'run', '--config', file, '--folder', folder], JSON.stringify(payload));
  const payload = {
    ...base,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'rm -rf /' },
  };
  expect(await run(payload)).toEqual({ code: 2, stdout: '', stderr: 'never\n' });
  expect(await run({ ...payload, tool_name: 'Edit' })).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
  expect(await run(payload, `${config}.none`)).toMatchObject({ code: 1, stdout: '' });
  while (existsSync(join(folder, 'spool')) && readdirSync(join(folder, 'spool')).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const runs = new Map(bodies.map((body) => [body.payload_id, body.hook_runs]));
  expect([...runs.values()].flat()).toMatchObject([
    { command: 'cat >/dev/null; echo never >&2; exit 2', matcher: 'Bash', exit_code: 2, timed_out: false },
    { command: 'echo hello', matcher: '', exit_code: 0 },
    { command: 'echo hello', matcher: '', exit_code: 0 },
  ]);
  expect(JSON.stringify(bodies)).not.toContain('rm -rf');
});

describe('hooks install', () => {
  const FILES: [string, AgentName, string][] = [
    ['.claude/settings.json', 'claude-code', '{}\n'],
    ['.claude/settings.json', 'claude-code', '{"model":"opus"}'],
    [
      '.claude/settings.json',
      'claude-code',
      '{\n\t// mine\n\t"hooks": {\n\t\t"PostToolUse": [\n\t\t\t{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "fmt" }] }\n\t\t],\n\t\t"Stop": []\n\t},\n\t"model": "opus"\n}\n',
    ],
    ['.claude/settings.json', 'claude-code', '{\r\n    "hooks": {"SessionStart": [{"hooks": []}]}\r\n}'],
    ['.factory/settings.json', 'droid', '{\n  "hooksDisabled": false\n}\n'],
    ['.factory/hooks.json', 'droid', '{\n  "PostToolUse": [\n    {"hooks": []}\n  ]\n}\n'],
    ['.factory/hooks.json', 'droid', '{ "hooks": { "Stop": [] } }'],
    ['.cursor/hooks.json', 'cursor', '{\n  "version": 1\n}\n'],
    [
      '.cursor/hooks.json',
      'cursor',
      '{\n  // mine\n  "version": 1,\n  "hooks": {\n    "stop": [{ "command": "fmt" }],\n    "beforeReadFile": []\n  }\n}\n',
    ],
  ];
  test.each(FILES)(
    'adds its hooks to %s of %s, and uninstall takes exactly them away: %j',
    async (file, agent, text) => {
      const home = temporaryFolder();
      const path = join(home, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o640 });
      const command = commandOf(agent, ['/usr/bin/node', '/opt/day book/cli.js'], '/a b');
      expect(command).toBe(
        `/usr/bin/node '/opt/day book/cli.js' hooks send --agent ${agent} --folder '/a b'`,
      );
      await write(installed(agent, home, commandOf(agent, ['/usr/bin/node', '/opt/cli.js'], undefined)));
      await write(installed(agent, home, command));
      expect(installed(agent, home, command)).toMatchObject({ after: readFileSync(path, 'utf8'), lines: [] });
      const after = readFileSync(path, 'utf8');
      for (const own of ['// mine', '"command": "fmt"', '"model"', '"Stop": []'])
        expect(after.includes(own)).toBe(text.includes(own));
      expect(after.split('hooks send --agent').length - 1).toBe(agent === 'droid' ? 4 : 7);
      if (agent === 'cursor') expect(parse(after).hooks.stop.at(-1)).toEqual({ command, timeout: 10 });
      else if (!text.includes('//')) {
        const document = JSON.parse(after);
        const groups = (
          file.endsWith('hooks.json') && !text.includes('"hooks": {') ? document : document.hooks
        ).PostToolUse;
        expect(groups.at(-1)).toEqual({ matcher: '*', hooks: [{ type: 'command', command, timeout: 10 }] });
      }
      expect(statSync(path).mode & 0o777).toBe(0o640);
      await write(uninstalled(agent, home));
      expect(readFileSync(path, 'utf8')).toBe(text);
      expect(readdirSync(dirname(path))).toHaveLength(1);
    },
  );

  test('writes a command that PowerShell, cmd and Git Bash run', () => {
    const command = (script: string, folder?: string, node = 'C:\\Program Files\\nodejs\\node.exe') =>
      commandOf('claude-code', [node, script], folder);
    const plain = command('C:\\Users\\ada\\daybook\\dist\\cli.js');
    expect(plain).toBe('node C:/Users/ada/daybook/dist/cli.js hooks send --agent claude-code');
    expect(command('C:/Users/ada/daybook/dist/cli.js', undefined, 'C:/nodejs/node.exe')).toBe(plain);
    const quoted = command("C:\\Users\\Ada O'Hara\\cli.js", 'D:\\hooks & more');
    expect(quoted).toBe(
      `node "C:/Users/Ada O'Hara/cli.js" hooks send --agent claude-code --folder "D:/hooks & more"`,
    );
    // As Git Bash reads it.
    const words = execFileSync('bash', ['-c', `node() { printf '%s\\n' "$@"; }; ${quoted}`], {
      encoding: 'utf8',
    });
    expect(words.trimEnd().split('\n')).toEqual([
      "C:/Users/Ada O'Hara/cli.js",
      ...['hooks', 'send', '--agent', 'claude-code', '--folder', 'D:/hooks & more'],
    ]);
    for (const path of ['C:\\$x\\cli.js', 'C:\\a`b\\cli.js', 'C:\\100%\\cli.js', 'C:\\a!b\\cli.js'])
      expect(() => command(path)).toThrow(`The shells of Windows read the path ${path} in different ways`);
  });

  test("makes the file where there is none, and leaves one alone that it can't read", async () => {
    const home = temporaryFolder();
    await write(installed('claude-code', home, 'node cli.js hooks send --agent claude-code'));
    const path = join(home, '.claude', 'settings.json');
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')).hooks)).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'PreCompact',
      'SessionEnd',
    ]);
    await write(installed('cursor', home, 'node cli.js hooks send --agent cursor'));
    const own = join(home, '.cursor', 'hooks.json');
    expect(JSON.parse(readFileSync(own, 'utf8'))).toMatchObject({
      version: 1,
      hooks: { stop: [{ command: 'node cli.js hooks send --agent cursor', timeout: 10 }] },
    });
    expect(uninstalled('cursor', home).after).toBe('{\n  "version": 1\n}\n');
    writeFileSync(own, '{ "hooks": {} }');
    expect(() => installed('cursor', home, 'x')).toThrow(
      `${own} has no member version, without which the agent doesn't read it: delete it, or add the member.`,
    );
    for (const text of ['{ "a": ', '[]', '"x"']) {
      writeFileSync(path, text);
      expect(() => installed('claude-code', home, 'x')).toThrow(
        'is not a JSON object, so nothing was changed',
      );
    }
  });

  test('asks the server first, shows what it writes, and keeps the key where only its owner reads', async () => {
    const home = temporaryFolder();
    let status = 401;
    const { url } = await server(() => status);
    const install = (...more: string[]) =>
      daybook(
        home,
        ['hooks', 'install', '--agent', 'claude-code', '--server', url, '--key', '-', ...more],
        'dbk_secret\n',
      );
    expect((await install('--yes')).stderr).toContain('answers 401');
    expect(readdirSync(home)).toEqual([]);
    status = 202;
    const asked = await install();
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('add --yes')]);
    expect(asked.stdout).toMatch(/^\+ \S.* hooks send --agent claude-code\n {2}on SessionStart, /m);
    expect(readdirSync(home)).toEqual([]);
    expect((await install('--yes')).code).toBe(0);
    const connection = join(home, '.daybook', 'hooks', 'connection.json');
    expect(JSON.parse(readFileSync(connection, 'utf8'))).toEqual({ server: url, key: 'dbk_secret' });
    expect(statSync(connection).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(connection)).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(home, '.claude', 'settings.json'), 'utf8')).not.toContain('dbk_');
    expect((await install('--yes')).stdout).toContain(
      `${join(home, '.claude', 'settings.json')} has these hooks already.\n`,
    );
    status = 401;
    const problem = `${url} answers 401, and is not a Daybook service: correct --server.`;
    const found = await daybook(home, ['hooks', 'status', '--json']);
    expect(JSON.parse(found.stdout)).toEqual({
      agents: [{ agent: 'claude-code', path: join(home, '.claude', 'settings.json') }],
      ...{ server: url, problem, waiting: 0, oldest_at: null, left_out: [] },
    });
    expect((await daybook(home, ['hooks', 'status'])).stdout).toContain(`\n  service   ${problem}\n`);
    const away = await daybook(home, ['hooks', 'uninstall', '--agent', 'claude-code', '--yes']);
    expect([away.code, existsSync(connection)]).toEqual([0, false]);
  });
});
