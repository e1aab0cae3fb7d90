import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { AGENT_NAMES, type AgentName, hookedAgent } from '../src/hooks/hooked-agents.js';
import { installed, uninstalled } from '../src/hooks/install.js';
import { inOneForm, isMapped, withoutWords } from '../src/hooks/payload.js';
import { agentOf, writerOf } from '../src/hooks/payload-agent.js';
import type { Payload } from '../src/hooks/payload-members.js';
import { RequestMapper } from '../src/ingest/request-mapper.js';
import { HOOKS } from '../src/ingest/source.js';
import { temporaryFolder } from './world.js';

/**
 * Agents whose payloads aren't Claude Code's. Those in hook-samples were recorded: with Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.24.4 and
 * Copilot CLI 1.0.102, which played the scenario of test/interop against a stub of their model. Paths were changed. Windsurf's have the
 * members of its documentation, and invented values.
 */

const AT = Date.parse('2026-06-10T10:00:00Z');
const WORDS = ['Add a greeting', 'Show the log', 'hello', 'zwei', 'three', 'Begin', 'exit 3', 'print('];

const mapper = new RequestMapper(HOOKS);
afterAll(() => mapper.close());

function recorded(agent: string): Payload[] {
  const text = readFileSync(join(import.meta.dirname, 'hook-samples', `${agent}.ndjson`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The events of what a hook got, as `hooks send` sends it and the service maps it. */
async function eventsOf(installed: AgentName, payloads: readonly Payload[]) {
  const events: Record<string, unknown>[] = [];
  for (const [index, payload] of payloads.entries()) {
    const agent = writerOf(payload, installed, {});
    const own = inOneForm(payload, agent);
    if (!isMapped(own)) continue;
    const document = withoutWords(own);
    const again = inOneForm(document);
    expect(withoutWords(again)).toEqual(withoutWords(document));
    const text = JSON.stringify(document);
    for (const words of WORDS) expect(text).not.toContain(words);
    const lines = await mapper.map({ payload_id: `p${index}`, ...again, user_id: 'ada', timestamp: AT });
    events.push(...lines.map((line) => JSON.parse(line)));
  }
  return events;
}

function tally(events: readonly Record<string, unknown>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type, tool_name, success } of events) {
    const name = type === 'tool_call' ? `${tool_name} ${success ?? 'unknown'}` : String(type);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** What the scenario does in each agent: sessions, prompts, files and a commit. */
const common = { session_start: 2, user_message: 2, file_change: 2, git_commit: 1 };

describe('a recorded session', () => {
  test.each<[AgentName, object]>([
    [
      'codex',
      { ...common, session_end: 2, 'Bash unknown': 10, 'apply_patch true': 2, 'apply_patch unknown': 2 },
    ],
    [
      'gemini-cli',
      {
        ...{ ...common, session_end: 2, 'read_file true': 1, 'write_file true': 1, 'replace true': 1 },
        ...{ 'run_shell_command true': 3, 'run_shell_command false': 1 },
      },
    ],
    [
      'qwen-code',
      {
        ...{ ...common, 'read_file true': 1, 'write_file true': 1, 'edit true': 1 },
        ...{ 'run_shell_command true': 3, 'run_shell_command false': 1 },
        ...{
          'read_file unknown': 1,
          'write_file unknown': 1,
          'edit unknown': 1,
          'run_shell_command unknown': 4,
        },
      },
    ],
    [
      'copilot-cli',
      {
        ...{ ...common, session_end: 2, 'view true': 1, 'create true': 1, 'edit true': 1 },
        ...{ 'bash true': 3, 'bash false': 1 },
      },
    ],
  ])('of %s becomes events without words', async (agent, counts) => {
    const payloads = recorded(agent);
    const events = await eventsOf(agent, payloads);
    expect(tally(events)).toEqual(counts);
    expect(new Set(events.map((event) => event.agent))).toEqual(new Set([agent]));
    expect(new Set(events.map(({ session_id }) => session_id)).size).toBe(1);
    const files = events.filter(({ type }) => type === 'file_change');
    const lines = (added: number, removed: number) =>
      agent === 'codex' ? {} : { lines_added: added, lines_removed: removed };
    const folder = agent === 'codex' ? '' : '/home/ada/greeter/';
    expect(files).toMatchObject([
      { path: `${folder}greet.py`, operation: 'create', ...lines(1, 0) },
      { path: `${folder}notes.txt`, operation: 'edit', ...lines(1, 1) },
    ]);
    expect(events.find(({ type }) => type === 'git_commit')).toMatchObject({
      commit_sha: expect.stringMatching(/^[0-9a-f]{7}$/),
    });
    // The folder of a transcript tells the agent too, if somebody has other hooks of his own.
    const untold = payloads.filter((payload) => agentOf(payload) !== agent);
    expect(untold.length).toBe(agent === 'copilot-cli' ? payloads.length : 0);
  });

  test('has the ids of calls that transcripts and telemetry have', async () => {
    for (const agent of ['codex', 'qwen-code'] as const) {
      const calls = (await eventsOf(agent, recorded(agent))).filter(({ type }) => type === 'tool_call');
      expect(calls).toHaveLength(14);
      // Each is announced, and then ends.
      expect(new Set(calls.map(({ event_id }) => event_id)).size).toBe(7);
      for (const { event_id } of calls) expect(event_id).toMatch(/^tool:call_/);
    }
  });
});

describe('a payload', () => {
  const base = { session_id: 's', transcript_path: '/t', cwd: '/p' };

  test.each<[string, AgentName, Payload, object[]]>([
    [
      'of a patch that Codex could not apply',
      'codex',
      {
        ...{ ...base, hook_event_name: 'PostToolUse', tool_name: 'apply_patch', tool_use_id: 'c' },
        tool_input: { command: '*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch' },
        tool_response: 'Exit code: 1\nWall time: 0 seconds\nOutput:\nx',
      },
      [{ type: 'tool_call', tool_name: 'apply_patch', success: false }],
    ],
    [
      'of a server of Codex',
      'codex',
      {
        ...{ ...base, hook_event_name: 'PostToolUse', tool_name: 'mcp__github__search', tool_use_id: 'c' },
        tool_response: { content: [], isError: true },
      },
      [{ type: 'tool_call', tool_name: 'mcp__github__search', success: false }],
    ],
    [
      'of a server of Gemini CLI',
      'gemini-cli',
      {
        ...{ ...base, hook_event_name: 'AfterTool', tool_name: 'mcp_github_search' },
        mcp_context: { server_name: 'github', tool_name: 'search' },
        tool_response: { llmContent: '\nExit Code: 3\n', error: { type: 'mcp_tool_error' } },
      },
      [{ type: 'tool_call', tool_name: 'mcp_github_search', mcp_server: 'github', success: false }],
    ],
    [
      'of a command of Gemini CLI that printed what looks like an exit code',
      'gemini-cli',
      {
        ...{ ...base, hook_event_name: 'AfterTool', tool_name: 'run_shell_command' },
        tool_input: { command: 'x' },
        tool_response: {
          llmContent: 'Output: a\nExit Code: 3\nb\nProcess Group PGID: 1\n</untrusted_context>',
        },
      },
      [{ type: 'tool_call', tool_name: 'run_shell_command', success: true }],
    ],
    [
      'of an older Qwen Code',
      'qwen-code',
      {
        ...base,
        hook_event_name: 'PostToolUse',
        tool_name: 'skill',
        tool_use_id: 't',
        tool_input: { skill: 'a' },
      },
      [
        { type: 'tool_call', event_id: 'tool:t', tool_name: 'skill', success: true },
        { type: 'skill_use', skill_name: 'a' },
      ],
    ],
    [
      'of a call that a person of Copilot CLI refused',
      'copilot-cli',
      { sessionId: 's', toolName: 'bash', toolArgs: '{"command":"x"}', toolResult: { resultType: 'denied' } },
      [{ type: 'tool_call', tool_name: 'bash', success: false, is_stopped: true }],
    ],
    [
      'of a call that failed in Copilot CLI',
      'copilot-cli',
      { sessionId: 's', toolName: 'edit', toolArgs: { path: '/a', old_str: 'a', new_str: 'b' }, error: 'x' },
      [{ type: 'tool_call', tool_name: 'edit', success: false }],
    ],
    [
      'of a patch of Copilot CLI',
      'copilot-cli',
      {
        ...{ sessionId: 's', toolName: 'apply_patch', toolResult: { resultType: 'success' } },
        toolArgs: '*** Begin Patch\n*** Update File: a.py\n+x\n*** End Patch',
      },
      [
        { type: 'tool_call', tool_name: 'apply_patch', success: true },
        { type: 'file_change', path: 'a.py', operation: 'edit' },
      ],
    ],
    ['of an error of Copilot CLI', 'copilot-cli', { sessionId: 's', error: { message: 'x' } }, []],
    ['of Copilot CLI before a call', 'copilot-cli', { sessionId: 's', toolName: 'bash', toolArgs: {} }, []],
    [
      'of Gemini CLI before a call',
      'gemini-cli',
      { ...base, hook_event_name: 'BeforeTool', tool_name: 'a' },
      [],
    ],
  ])('%s', async (_, agent, payload, expected) => {
    const events = await eventsOf(agent, [payload]);
    expect(events).toHaveLength(expected.length);
    expect(events).toEqual(
      expect.arrayContaining(expected.map((event) => expect.objectContaining({ ...event, agent }))),
    );
  });

  test('of Windsurf becomes events of its conversation', async () => {
    const told = (agent_action_name: string, tool_info: object) => ({
      ...{ agent_action_name, tool_info, trajectory_id: 't-1', execution_id: 'e-1' },
      ...{ timestamp: '2026-06-10T10:00:00Z', model_name: 'SWE-2' },
    });
    const edit = (old_string: string, new_string: string) => ({ old_string, new_string });
    const events = await eventsOf('windsurf', [
      told('pre_user_prompt', { user_prompt: 'Show the log' }),
      told('post_read_code', { file_path: '/p/a.py' }),
      told('post_write_code', { file_path: '/p/b.py', edits: [edit('', 'zwei\nthree\n')] }),
      told('post_write_code', { file_path: '/p/a.py', edits: [edit('zwei\nthree', 'zwei\nx\ny')] }),
      told('post_run_command', { command_line: 'exit 3', cwd: '/p' }),
      told('post_mcp_tool_use', { mcp_server_name: 'github', mcp_tool_name: 'search', mcp_result: 'hello' }),
      told('post_cascade_response', { response: 'hello' }),
    ]);
    expect(tally(events)).toEqual({
      ...{ user_message: 1, file_change: 2, 'read_code true': 1, 'write_code true': 2 },
      ...{ 'run_command unknown': 1, 'search true': 1 },
    });
    for (const event of events)
      expect(event).toMatchObject({ agent: 'windsurf', session_id: 't-1', client: 'desktop' });
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'user_message', event_id: 'turn:hook:e-1' }),
        expect.objectContaining({ path: '/p/b.py', operation: 'create', lines_added: 2, lines_removed: 0 }),
        expect.objectContaining({ path: '/p/a.py', operation: 'edit', lines_added: 2, lines_removed: 1 }),
        expect.objectContaining({ tool_name: 'search', mcp_server: 'github' }),
      ]),
    );
  });
});

describe.each(AGENT_NAMES)('hooks of %s', (agent) => {
  const command = `/usr/bin/node /opt/daybook/cli.js hooks send --agent ${agent}`;

  test('are installed once, and removed again', () => {
    const home = temporaryFolder();
    const { path, after } = installed(agent, home, command);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, after);
    expect(after.split(JSON.stringify(command)).length).toBeGreaterThan(hookedAgent(agent).events.length);
    expect(JSON.parse(installed(agent, home, command).after)).toEqual(JSON.parse(after));
    const { after: left } = uninstalled(agent, home);
    expect(left).not.toContain('daybook');
    // Copilot CLI reports a file without hooks as an error.
    const { inNewFile, neededMember } = hookedAgent(agent);
    expect(JSON.parse(left)).toEqual({ ...inNewFile, ...(neededMember === 'hooks' && { hooks: {} }) });
  });
});
