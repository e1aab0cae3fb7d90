/**
 * What a hook's payload tells, whoever looks: the one who sends it needs this without anything else to load. The words of
 * prompts, inputs and responses are looked at for a few names and are in nothing that comes out.
 */

/** The document that an agent gives a hook on standard input (public-api.md 6.1), not checked. */
export type Payload = Readonly<Record<string, unknown>>;

/** How far into what a command printed it is looked for the name of a commit or a pull request, from its end. */
const PRINTED_CHARACTERS = 1 << 16;
const NAME_CHARACTERS = 2048;

const FAILED = 'PostToolUseFailure';

const SHELLS = new Set(['bash', 'powershell', 'execute', 'shell']);
const FILE_TOOLS = new Set(['Write', 'Create', 'Edit', 'MultiEdit', 'NotebookEdit', 'ApplyPatch']);

/** A value as an object: without members when it is none. */
export function membersOf(value: unknown): Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : {};
}

/** A value as a name: undefined when it is no text, empty, or longer than names are. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARACTERS ? value : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1e11
    ? value
    : undefined;
}

/** Whether a payload tells of a tool call that is over. Claude Code has an event of its own for one that failed. */
export function isToolCall({ hook_event_name }: Payload): boolean {
  return hook_event_name === 'PostToolUse' || hook_event_name === FAILED;
}

/** The command of a shell tool; undefined for other tools. */
export function shellCommandOf(payload: Payload): string | undefined {
  const { command } = membersOf(payload.tool_input);
  return SHELLS.has(String(payload.tool_name).toLowerCase()) && typeof command === 'string'
    ? command
    : undefined;
}

/** The commands that one line of a shell is made of, each as its words, without variables that are set before it. */
function* commandsIn(line: string): Generator<string[]> {
  for (const part of line.split(/[;&|(\n]|\bthen\b|\bdo\b/)) {
    const words = part.trim().split(/\s+/);
    const first = words.findIndex((word) => !/^\w+=/.test(word));
    if (first >= 0) yield words.slice(first);
  }
}

/** Whether a shell command makes a commit: `git commit`, with options of git before it. */
export function isCommit(line: string): boolean {
  for (const [program, ...words] of commandsIn(line)) {
    if (program !== 'git') continue;
    let at = 0;
    while (words[at]?.startsWith('-') === true) at += /^-[cC]$/.test(String(words[at])) ? 2 : 1;
    if (words[at] === 'commit' && !words.includes('--dry-run')) return true;
  }
  return false;
}

/** Whether a shell command opens a pull request. */
export function isPullRequest(line: string): boolean {
  for (const [program, noun, verb] of commandsIn(line))
    if (verb === 'create' && ((program === 'gh' && noun === 'pr') || (program === 'glab' && noun === 'mr')))
      return true;
  return false;
}

/** What a response says that a shell command printed. */
function printedBy(response: unknown): string {
  const { stdout, output } = membersOf(response);
  const text = [response, stdout, output].find((one) => typeof one === 'string');
  return String(text ?? '').slice(-PRINTED_CHARACTERS);
}

/** A file that a tool changed. */
export interface ChangedFile {
  readonly path: string;
  readonly operation: 'create' | 'edit';
  readonly linesAdded: number | undefined;
  readonly linesRemoved: number | undefined;
}

/** The headings of a patch, one for each file that it adds or updates. */
function headingsOf(patch: unknown): string[] {
  return typeof patch === 'string' ? (patch.match(/^\*\*\* (?:Add|Update) File: .+$/gm) ?? []) : [];
}

function filesOf(tool: string, input: Payload, response: Payload): ChangedFile[] {
  if (tool === 'ApplyPatch') {
    return headingsOf(input.patch ?? input.input ?? input.command).flatMap((heading) => {
      const path = nameOf(heading.slice(heading.indexOf(': ') + 2).trim());
      const operation = heading.startsWith('*** Add') ? 'create' : 'edit';
      return path === undefined ? [] : [{ path, operation, linesAdded: undefined, linesRemoved: undefined }];
    });
  }
  const path = [response.filePath, input.file_path, input.notebook_path, input.path]
    .map(nameOf)
    .find((name) => name !== undefined);
  if (path === undefined) return [];
  const isNew = tool === 'Write' || tool === 'Create';
  const isCreated = response.type === 'create' || (isNew && response.type !== 'update');
  return [{ path, operation: isCreated ? 'create' : 'edit', ...linesOf(response) }];
}

/** How many lines a change added and removed, as far as the response says. */
function linesOf(response: Payload): Pick<ChangedFile, 'linesAdded' | 'linesRemoved'> {
  const { type, content, structuredPatch, lines_added, lines_removed } = response;
  if (lines_added !== undefined)
    return { linesAdded: countOf(lines_added), linesRemoved: countOf(lines_removed) };
  if (type === 'create' && typeof content === 'string')
    return { linesAdded: lineCountOf(content), linesRemoved: 0 };
  const lines = (Array.isArray(structuredPatch) ? structuredPatch : []).flatMap((hunk) => {
    const { lines } = membersOf(hunk);
    return Array.isArray(lines) ? lines.map(String) : [];
  });
  const starting = (mark: string) =>
    lines.length === 0 ? undefined : lines.filter((line) => line.startsWith(mark)).length;
  return { linesAdded: starting('+'), linesRemoved: starting('-') };
}

/** How many lines a text has, without empty ones at its end. */
function lineCountOf(text: string): number {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end).split('\n').length;
}

/** What is known of a tool call that is over. What it made is there only when it went well. */
export interface ToolFacts {
  readonly name: string;
  readonly isSuccess: boolean;
  readonly durationMs: number | undefined;
  readonly files: readonly ChangedFile[];
  readonly skill: string | undefined;
  /** The commit's hash, '' where nobody says; undefined for no commit. */
  readonly commit: string | undefined;
  /** The pull request's address, '' where nobody says; undefined for none. */
  readonly pullRequest: string | undefined;
}

export function toolFactsOf(payload: Payload): ToolFacts {
  const name = String(payload.tool_name);
  const input = membersOf(payload.tool_input);
  const response = membersOf(payload.tool_response);
  const isSuccess =
    payload.hook_event_name !== FAILED &&
    response.success !== false &&
    response.is_error !== true &&
    response.interrupted !== true;
  const command = isSuccess ? (shellCommandOf(payload) ?? '') : '';
  const printed = printedBy(payload.tool_response);
  const isNothing = /nothing to commit|no changes added to commit/.test(printed);
  return {
    name,
    isSuccess,
    durationMs:
      countOf(response.durationMs) ?? countOf(response.totalDurationMs) ?? countOf(payload.duration_ms),
    files: isSuccess && FILE_TOOLS.has(name) ? filesOf(name, input, response) : [],
    skill: name === 'Skill' ? (nameOf(input.skill) ?? nameOf(input.command)) : undefined,
    commit:
      isCommit(command) && !isNothing
        ? (/^\[[^\]\n]+ ([0-9a-f]{7,40})\]/m.exec(printed)?.[1] ?? '')
        : undefined,
    pullRequest: isPullRequest(command)
      ? (/https?:\/\/\S{1,1000}\/(?:pull|merge_requests)\/\d+/.exec(printed)?.[0] ?? '')
      : undefined,
  };
}

/** The name of the slash command that a prompt begins with, without the slash. */
export function slashCommandOf(prompt: unknown): string | undefined {
  return typeof prompt === 'string'
    ? /^\/([A-Za-z][\w:.-]{0,199})(?=\s|$)/.exec(prompt.slice(0, 300))?.[1]
    : undefined;
}

/** The agent that wrote a payload, by where it keeps its transcripts. */
export function agentOf({ agent, transcript_path }: Payload): string | undefined {
  if (typeof agent === 'string') return agent;
  const [, folder] = /[\\/]\.(claude|factory)[\\/]/.exec(String(transcript_path)) ?? [];
  return folder === undefined ? undefined : folder === 'claude' ? 'claude-code' : 'droid';
}

/** The client, by what Claude Code tells its hooks of how it was started. */
export function clientOf(entrypoint: string | undefined): string | undefined {
  const name = entrypoint?.toLowerCase();
  if (name === 'cli') return 'terminal-ui';
  if (name !== undefined && /^sdk(-|$)|headless|^print$/.test(name)) return 'non-interactive-cli';
  return name !== undefined && /^[a-z][a-z0-9-]{0,31}$/.test(name) ? name : undefined;
}

/** What a payload has beyond the agent's members when Daybook's own command sends it: when, which one, and whose it is. */
const SENT_MEMBERS = ['timestamp', 'payload_id', 'user_id', 'client'];
const KEPT_MEMBERS = [
  'hook_event_name',
  'session_id',
  'cwd',
  'permission_mode',
  'reason',
  'tool_name',
  'tool_use_id',
  ...SENT_MEMBERS,
];

/** A payload that tells the same as another one, and has none of its words. */
export function withoutWords(payload: Payload): Payload {
  const kept = Object.fromEntries(
    KEPT_MEMBERS.filter((name) => payload[name] !== undefined).map((name) => [name, payload[name]]),
  );
  const agent = agentOf(payload);
  const command = slashCommandOf(payload.prompt);
  return {
    ...kept,
    ...(agent === undefined ? {} : { agent }),
    ...(command === undefined ? {} : { prompt: `/${command}` }),
    ...(isToolCall(payload) ? toolWithoutWords(payload) : {}),
  };
}

function toolWithoutWords(payload: Payload): Payload {
  const { isSuccess, durationMs, files, skill, commit, pullRequest } = toolFactsOf(payload);
  const [file] = files;
  const changed = payload.tool_name === 'ApplyPatch' ? undefined : file;
  const commands = [
    ...(commit === undefined ? [] : ['git commit']),
    ...(pullRequest === undefined ? [] : ['gh pr create']),
  ];
  return {
    tool_input: {
      ...(skill === undefined ? {} : { skill }),
      ...(commands.length === 0 ? {} : { command: commands.join(' && ') }),
      ...(payload.tool_name === 'ApplyPatch'
        ? {
            patch: files
              .map(({ path, operation }) => `*** ${operation === 'create' ? 'Add' : 'Update'} File: ${path}`)
              .join('\n'),
          }
        : {}),
    },
    tool_response: {
      ...(isSuccess ? {} : { success: false }),
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(commands.length === 0 ? {} : { stdout: `[- ${commit || '-'}]\n${pullRequest ?? ''}` }),
      ...(changed === undefined
        ? {}
        : {
            filePath: changed.path,
            type: changed.operation === 'create' ? 'create' : 'update',
            lines_added: changed.linesAdded,
            lines_removed: changed.linesRemoved,
          }),
    },
  };
}
