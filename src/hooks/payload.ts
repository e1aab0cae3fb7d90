/**
 * A hook's payload without the words of people and agents. This module loads no library, because agents wait for `hooks send`. The
 * server decides which events a payload becomes, in sql/source/hooks/events.sql.
 */

import { isObject } from '../input/json-object.js';

/** The document that an agent gives a hook on standard input (public-api.md 6.1), not checked. */
export type Payload = Readonly<Record<string, unknown>>;

/** How many characters are searched for names: the first ones of a command, and the last ones of its output. */
const SEARCHED_CHARACTERS = 1 << 16;

/** How many files of a patch count. */
const FILES_AT_MOST = 1000;

const TOOL_CALLS = ['PostToolUse', 'PostToolUseFailure'];
const MAPPED = ['SessionStart', 'SessionEnd', 'UserPromptSubmit', ...TOOL_CALLS];

const SHELLS = ['bash', 'powershell', 'execute', 'shell'];

/** A value as an object; any other value has no members. */
export function membersOf(value: unknown): Payload {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Whether a payload becomes events. */
export function isMapped({ hook_event_name, hook_runs }: Payload): boolean {
  return hook_runs !== undefined || MAPPED.includes(textOf(hook_event_name) ?? '');
}

/** Whether a payload reports a finished tool call. Claude Code has a separate event for failed ones. */
export function isToolCall({ hook_event_name, hook_runs }: Payload): boolean {
  return hook_runs === undefined && TOOL_CALLS.includes(textOf(hook_event_name) ?? '');
}

/** The command of a shell tool; undefined for other tools. */
export function shellCommandOf({ tool_name, tool_input }: Payload): string | undefined {
  const isShell = SHELLS.includes((textOf(tool_name) ?? '').toLowerCase());
  return isShell ? textOf(membersOf(tool_input).command) : undefined;
}

/** The agent that wrote a payload, by the folder of its transcripts. */
export function agentOf({ agent, transcript_path }: Payload): string | undefined {
  const [, folder] = /[\\/]\.(claude|factory)[\\/]/.exec(textOf(transcript_path) ?? '') ?? [];
  return textOf(agent) ?? (folder && (folder === 'claude' ? 'claude-code' : 'droid'));
}

/** The members with the given names, if they have the given type. */
function picked(from: Payload, type: 'string' | 'number' | 'boolean', ...names: string[]): Payload {
  return Object.fromEntries(
    names.flatMap((name) => (typeof from[name] === type ? [[name, from[name]]] : [])),
  );
}

/** A payload that becomes the same events as the original, without its words. */
export function withoutWords(payload: Payload): Payload {
  return {
    ...picked(payload, 'string', 'hook_event_name', 'session_id', 'cwd', 'permission_mode', 'reason'),
    ...picked(payload, 'string', 'tool_name', 'tool_use_id', 'client', 'entrypoint'),
    ...picked(payload, 'number', 'duration_ms'),
    agent: agentOf(payload),
    prompt: /^\/[A-Za-z][\w:.-]{0,199}(?=\s|$)/.exec(textOf(payload.prompt)?.slice(0, 300) ?? '')?.[0],
    hook_runs: payload.hook_runs,
    ...(isToolCall(payload) && {
      tool_input: inputWithoutWords(payload),
      tool_response: responseWithoutWords(payload.tool_response),
    }),
  };
}

function inputWithoutWords(payload: Payload): Payload {
  const input = membersOf(payload.tool_input);
  const isPatch = payload.tool_name === 'ApplyPatch';
  const patch = isPatch ? (textOf(input.patch) ?? textOf(input.input) ?? textOf(input.command)) : undefined;
  const command = shellCommandOf(payload);
  return {
    ...picked(input, 'string', 'file_path', 'notebook_path', 'path', 'skill'),
    ...(payload.tool_name === 'Skill' && picked(input, 'string', 'command')),
    ...(patch !== undefined && { patch: headingsOf(patch) }),
    ...(command !== undefined && { command: gitWordsOf(command) }),
  };
}

/** The headings of a patch that name a file. */
function headingsOf(patch: string): string | undefined {
  const headings = patch.match(/^\*\*\* (?:Add|Update) File: .+$/gm);
  return headings?.slice(0, FILES_AT_MOST).join('\n');
}

function responseWithoutWords(value: unknown): Payload {
  const response = membersOf(value);
  const { content, structuredPatch } = response;
  const { commit, pr } = membersOf(response.gitOperation);
  const printed = textOf(value) ?? textOf(response.stdout) ?? textOf(response.output);
  return {
    ...picked(response, 'boolean', 'success', 'is_error', 'interrupted'),
    ...picked(response, 'number', 'durationMs', 'totalDurationMs'),
    ...picked(response, 'string', 'filePath'),
    type: ['create', 'update'].find((type) => type === response.type),
    content: typeof content === 'string' ? linesOf(content) : undefined,
    // Only the first character of a line says whether it is added or removed.
    structuredPatch: Array.isArray(structuredPatch)
      ? structuredPatch.map((hunk) => {
          const { lines } = membersOf(hunk);
          return { lines: Array.isArray(lines) ? lines.map((line) => textOf(line)?.slice(0, 1)) : [] };
        })
      : undefined,
    gitOperation: {
      commit: picked(membersOf(commit), 'string', 'sha'),
      pr: picked(membersOf(pr), 'string', 'url', 'action'),
    },
    stdout: printed === undefined ? undefined : namesIn(printed.slice(-SEARCHED_CHARACTERS)),
  };
}

/** A placeholder text with as many lines as the original, not counting empty lines at its end. */
function linesOf(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines += 1;
  return `${'\n'.repeat(lines)}x`;
}

/** The words of commands that decide whether they commit or open a pull request. */
const GIT_WORDS = new Set([
  ...['git', 'gh', 'glab', 'commit', 'pr', 'mr', 'create', '--dry-run'],
  ...['-C', '-c', '--git-dir', '--work-tree', '--namespace'],
  ...['then', 'do', 'else', 'if', 'while', 'until', 'time', '!', '{'],
]);

/** A shell line in which other words are replaced; undefined if it can't commit or open a pull request. */
function gitWordsOf(line: string): string | undefined {
  const words = line
    .slice(0, SEARCHED_CHARACTERS)
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/\\.|'[^']*'|"[^"\\]*(?:\\.[^"\\]*)*"/gs, 'x')
    .replaceAll(/[^\s;&|()`<>]+/g, (word) => {
      if (GIT_WORDS.has(word)) return word;
      return /^\w+=/.test(word) ? 'X=x' : word.startsWith('-') ? '-x' : 'x';
    });
  return /\b(?:commit|create)\b/.test(words) ? words : undefined;
}

/** The commits and pull requests that a command printed, and whether it said that there was nothing to commit. */
function namesIn(printed: string): string {
  const names =
    /(?<![^\n])\[[^\]\n]+ ([0-9a-f]{7,40})\]|https?:\/\/\S{1,300}\/(?:pull|merge_requests)\/\d+|nothing to commit|no changes added to commit/g;
  return [...printed.matchAll(names)]
    .map(([name, hash]) => (hash === undefined ? name : `[x ${hash}]`))
    .join('\n');
}
