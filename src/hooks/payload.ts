/**
 * A hook's payload without the words of people and agents. This module loads no library, because agents wait for `hooks send`. The
 * server decides which events a payload becomes, in sql/source/hooks/events.sql.
 */

import { CAN_MATTER, gitWordsOf } from '../input/git-words.js';
import { fromCodex } from './codex-payload.js';
import { fromCopilot } from './copilot-payload.js';
import { COUNTERS, fromCursor } from './cursor-payload.js';
import { fromGemini, fromQwen } from './gemini-payload.js';
import { agentOf } from './payload-agent.js';
import { membersOf, type Payload, textOf } from './payload-members.js';
import { fromWindsurf } from './windsurf-payload.js';

/** How many characters of an output are searched for names: the last ones. */
const SEARCHED_CHARACTERS = 1 << 16;

/** How many lines of a change count: the service takes no larger payload. The lines of a larger change aren't known. */
const LINES_AT_MOST = 40_000;

/** How many files of a patch count. */
const FILES_AT_MOST = 1000;

const ENDED_CALLS = ['PostToolUse', 'PostToolUseFailure'];
const MAPPED = ['SessionStart', 'SessionEnd', 'UserPromptSubmit', ...ENDED_CALLS];

/** Texts of one event only: what shows that a person gave a built-in command, and whose tokens they are. */
const MEMBERS_OF_EVENTS: Readonly<Record<string, readonly string[]>> = {
  PreCompact: ['trigger', 'prompt_id'],
  PreModelSwitch: ['source', 'prompt_id'],
  stop: ['model', 'effort'],
  afterAgentResponse: ['model', 'effort'],
};

const SHELLS = ['bash', 'powershell', 'execute', 'shell', 'run_shell_command'];

/** The forms of agents that don't write payloads as Claude Code does. */
const FORMS: ReadonlyMap<string, (payload: Payload) => Payload> = new Map([
  ['codex', fromCodex],
  ['copilot-cli', fromCopilot],
  ['cursor', fromCursor],
  ['gemini-cli', fromGemini],
  ['qwen-code', fromQwen],
  ['windsurf', fromWindsurf],
]);

/** A payload in the form of Claude Code's, which all else here reads. */
export function inOneForm(payload: Payload, agent = agentOf(payload)): Payload {
  return FORMS.get(agent ?? '')?.(payload) ?? payload;
}

/** Whether a payload, in the one form, becomes events. */
export function isMapped(payload: Payload): boolean {
  const { agent, hook_event_name, hook_runs, tool_use_id, trigger, source } = payload;
  if (hook_runs !== undefined || MAPPED.includes(textOf(hook_event_name) ?? '')) return true;
  switch (hook_event_name) {
    case 'PreToolUse':
      // Without an id it couldn't be told from the report of its end.
      return textOf(tool_use_id) !== undefined && tool_use_id !== '';
    // Built-in commands have no payload of a prompt. These show that a person gave /compact and /model.
    case 'PreCompact':
      return trigger === 'manual';
    case 'PreModelSwitch':
      return source === 'command';
    case 'afterFileEdit':
      return agent === 'cursor';
    case 'stop':
    case 'afterAgentResponse':
      return agent === 'cursor' && COUNTERS.some((name) => typeof payload[name] === 'number');
    default:
      return false;
  }
}

/** Whether a payload is about one tool call, which is about to begin or has ended. */
export function isOfTool(payload: Payload): boolean {
  const { hook_event_name, hook_runs } = payload;
  return (hook_runs === undefined && hook_event_name === 'PreToolUse') || isEndedCall(payload);
}

/** Whether a payload reports a tool call that has ended. Claude Code has a separate event for failed ones. */
function isEndedCall({ hook_event_name, hook_runs }: Payload): boolean {
  return hook_runs === undefined && ENDED_CALLS.includes(textOf(hook_event_name) ?? '');
}

/** The command of a shell tool; undefined for other tools. */
export function shellCommandOf({ tool_name, tool_input }: Payload): string | undefined {
  const isShell = SHELLS.includes((textOf(tool_name) ?? '').toLowerCase());
  return isShell ? textOf(membersOf(tool_input).command) : undefined;
}

/** The members with the given names, if they have the given type. */
function picked(from: Payload, type: 'string' | 'number' | 'boolean', ...names: readonly string[]): Payload {
  return Object.fromEntries(
    names.flatMap((name) => (typeof from[name] === type ? [[name, from[name]]] : [])),
  );
}

/** A payload that becomes the same events as the original, without its words. */
export function withoutWords(payload: Payload): Payload {
  return {
    ...picked(payload, 'string', 'hook_event_name', 'session_id', 'cwd', 'permission_mode', 'reason'),
    ...picked(
      payload,
      'string',
      'tool_name',
      'file_tool',
      'tool_use_id',
      'mcp_server',
      'agent_id',
      'client',
      'entrypoint',
    ),
    ...picked(payload, 'string', 'agent_version', 'user_email', 'payload_id'),
    ...picked(payload, 'string', ...(MEMBERS_OF_EVENTS[textOf(payload.hook_event_name) ?? ''] ?? [])),
    ...picked(payload, 'number', 'duration_ms', ...COUNTERS),
    agent: agentOf(payload),
    prompt: beginningOf(textOf(payload.prompt)?.slice(0, 300) ?? ''),
    hook_runs: payload.hook_runs,
    ...(isEndedCall(payload) && {
      ...picked(payload, 'boolean', 'is_interrupt', 'has_outcome'),
      tool_input: inputWithoutWords(payload),
    }),
    ...((isEndedCall(payload) || payload.hook_event_name === 'afterFileEdit') && {
      tool_response: responseWithoutWords(payload),
    }),
  };
}

/** The beginning of a prompt that the program or another agent wrote. */
const OF_PROGRAM =
  /^\s{0,99}<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr)|task-notification|teammate-message|cross-session-message|tick|fork-boilerplate)(?=[\s>]|$)/;

/** The slash command that a prompt begins with, or the tag of one that no person wrote. */
function beginningOf(prompt: string): string | undefined {
  const [beginning] = /^\/[A-Za-z][\w:.-]{0,199}(?=\s|$)/.exec(prompt) ?? OF_PROGRAM.exec(prompt) ?? [];
  return beginning?.trim();
}

function inputWithoutWords(payload: Payload): Payload {
  const input = membersOf(payload.tool_input);
  const isPatch = (payload.file_tool ?? payload.tool_name) === 'ApplyPatch';
  const patch = isPatch ? (textOf(input.patch) ?? textOf(input.input) ?? textOf(input.command)) : undefined;
  const words = shellCommandOf(payload);
  const command = words === undefined ? undefined : gitWordsOf(words);
  const isKept =
    command !== undefined && (CAN_MATTER.test(command) || /^\[x /m.test(printedIn(payload) ?? ''));
  return {
    ...picked(input, 'string', 'file_path', 'notebook_path', 'path', 'skill'),
    ...(payload.tool_name === 'Skill' && picked(input, 'string', 'command')),
    ...(patch !== undefined && { patch: headingsOf(patch) }),
    ...(isKept && { command }),
  };
}

/** The headings of a patch that name a file. */
function headingsOf(patch: string): string | undefined {
  const headings = patch.match(/^\*\*\* (?:Add|Update) File: .+$/gm);
  return headings?.slice(0, FILES_AT_MOST).join('\n');
}

/** Whether a tool of an MCP server opens a pull request. */
function isPullRequestTool(name: unknown): boolean {
  return /(?:^|[^a-z])create[_-]?(?:pull|merge)[_-]?request$/i.test(textOf(name) ?? '');
}

/** The names in what a tool printed. Only of a tool that opens pull requests does it matter what form that has. */
function printedIn({ tool_name, tool_response: value, error }: Payload): string | undefined {
  const { stdout, output } = membersOf(value);
  const printed =
    textOf(value) ??
    textOf(stdout) ??
    textOf(output) ??
    textOf(error) ??
    (isPullRequestTool(tool_name) ? textOf(JSON.stringify(value)) : undefined);
  return printed === undefined ? undefined : namesIn(printed.slice(-SEARCHED_CHARACTERS));
}

function responseWithoutWords(payload: Payload): Payload {
  const response = membersOf(payload.tool_response);
  const { content, structuredPatch } = response;
  const { commit, pr } = membersOf(response.gitOperation);
  return {
    ...picked(response, 'boolean', 'success', 'is_error', 'interrupted'),
    ...picked(response, 'number', 'durationMs', 'totalDurationMs'),
    ...picked(response, 'string', 'filePath'),
    type: ['create', 'update'].find((type) => type === response.type),
    content: typeof content === 'string' ? linesOf(content) : undefined,
    structuredPatch: Array.isArray(structuredPatch) ? hunksWithoutWords(structuredPatch) : undefined,
    gitOperation: {
      commit: picked(membersOf(commit), 'string', 'sha'),
      pr: picked(membersOf(pr), 'string', 'url', 'action'),
    },
    stdout: printedIn(payload),
  };
}

/** The hunks of a patch. Only the first character of a line says whether it is added or removed. */
function hunksWithoutWords(patch: readonly unknown[]): object[] | undefined {
  let left = LINES_AT_MOST;
  const hunks = patch.map((hunk) => {
    const { lines } = membersOf(hunk);
    const kept = Array.isArray(lines) ? lines.slice(0, Math.max(0, left)) : [];
    left -= 1 + (Array.isArray(lines) ? lines.length : 0);
    return { lines: kept.map((line) => textOf(line)?.slice(0, 1)) };
  });
  return left < 0 ? undefined : hunks;
}

/** A placeholder text with as many lines as the original, not counting empty lines at its end; undefined if there are too many. */
function linesOf(text: string): string | undefined {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines < LINES_AT_MOST ? `${'\n'.repeat(lines)}x` : undefined;
}

/** An address in a line, and whether JSON calls it that of a page. */
const ADDRESSES =
  /((?:html_url|web_url|webUrl)\\{0,9}"\s{0,9}:\s{0,9}\\{0,9}")?(https?:\/\/[^\s"'<>\\()[\]]{1,300})/g;

/** The address of a pull request or merge request that an address begins with. */
function pullRequestIn(address: string): string | undefined {
  const [found] =
    /^.{1,300}\/(?:pulls?|merge_requests|pull-requests|pull[rR]equests?)\/\d{1,19}/.exec(address) ??
    /^[^/]{1,9}\/\/[^/]{1,100}\/github\/pr\/[\w.-]{1,100}\/[\w.-]{1,100}\/\d{1,19}/.exec(address) ??
    [];
  return found;
}

/** The commits and pull requests that a command printed, and whether it said that nothing came of them. Other lines become `x`. */
function namesIn(printed: string): string {
  const lines = printed.split('\n').flatMap((line) => (line.trim() === '' ? [] : namesInLine(line)));
  return lines.filter((line, place) => line !== 'x' || lines[place - 1] !== 'x').join('\n');
}

function namesInLine(line: string): string[] {
  const hash = /^\[[^\]]+ ([0-9a-f]{7,40})\]/.exec(line)?.[1];
  if (hash !== undefined) return [`[x ${hash}]`];
  const exists = /already exists/i.test(line);
  const addresses = [...line.matchAll(ADDRESSES)].flatMap(([, key, text = '']) => {
    const address = pullRequestIn(text);
    if (address === undefined) return [];
    if (key !== undefined) return [`"html_url":"${address}"`];
    const isSame = /\((?:updated|no-op)/.test(line);
    return [
      line.trim() === address ? address : `${exists ? '' : 'x '}${address}${isSame ? ' (updated)' : ''}`,
    ];
  });
  const found = exists
    ? [/(?:pull|merge) request/i.test(line) ? 'pull request already exists:' : 'already exists', ...addresses]
    : addresses;
  if (found.length > 0) return found;
  if (line.includes('nothing to commit, working tree clean'))
    return ['nothing to commit, working tree clean'];
  if (isFailure(line)) return ['create failed'];
  return [/^ \d{1,9} files? changed|^ (?:create|delete) mode \d/.test(line) ? ' 1 file changed' : 'x'];
}

/** Whether a line says that nothing came of a commit or a pull request, as is_failure in `sql/source/functions.sql` finds it. */
function isFailure(line: string): boolean {
  return (
    /^\W{0,3}fail(?:ed|ure)?\b/i.test(line) ||
    /nothing (?:added )?to commit|no changes added to commit|create failed|script failed|✖|must first push/i.test(
      line,
    ) ||
    /^(?:fatal|error|aborted)\b|\babort(?:ing|ed)\b|\.{3}\s{0,9}failed\s{0,9}$|exited with (?:code|error)/i.test(
      line,
    ) ||
    (/\bhook\b/i.test(line) && /\b(?:fail|exit|declined)/i.test(line))
  );
}
