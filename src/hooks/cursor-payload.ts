/**
 * Payloads of Cursor in the form of Claude Code's, which sql/source/hooks maps: docs/cursor.md. Events of which Claude Code has none keep
 * their names.
 */

import { changedLines } from './changed-lines.js';
import { membersIn, membersOf, type Payload, textOf } from './payload-members.js';

const NAMES: Readonly<Record<string, string>> = {
  sessionStart: 'SessionStart',
  sessionEnd: 'SessionEnd',
  beforeSubmitPrompt: 'UserPromptSubmit',
  preToolUse: 'PreToolUse',
  postToolUse: 'PostToolUse',
  postToolUseFailure: 'PostToolUseFailure',
};

/** The events with the tokens of a generation. */
const WITH_TOKENS = ['stop', 'afterAgentResponse'];
export const COUNTERS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const;

/** A payload of Cursor in the form of Claude Code's. Any other one, also one that already has that form, stays as it is. */
export function fromCursor(payload: Payload): Payload {
  const { cursor_version, conversation_id, session_id } = payload;
  if (typeof (cursor_version ?? conversation_id) !== 'string') return payload;
  const given = textOf(payload.hook_event_name) ?? '';
  // The settings of Claude Code name events in its own way.
  const native = given.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  const hook_event_name = NAMES[native] ?? given;
  const session = textOf(conversation_id) ?? textOf(session_id);
  const generation = generationOf(payload);
  const common = {
    ...{ agent: 'cursor', hook_event_name, session_id: session },
    payload_id: payload.payload_id ?? idOf(native, session, generation, payload),
    client: payload.client ?? clientOf(payload),
    cwd: textOf(payload.cwd) || rootOf(payload),
    agent_version: cursor_version,
    user_email: payload.user_email ?? undefined,
  };
  switch (native) {
    case 'sessionEnd':
      return { ...common, reason: payload.reason };
    case 'beforeSubmitPrompt':
      return { ...common, prompt: payload.prompt };
    case 'preToolUse':
    case 'postToolUse':
    case 'postToolUseFailure':
      return { ...common, ...toolOf(payload) };
    case 'afterFileEdit':
      return { ...common, ...editOf(payload) };
    case 'stop':
    case 'afterAgentResponse':
      return {
        ...common,
        model: modelOf(payload),
        effort: effortOf(payload),
        ...Object.fromEntries(COUNTERS.map((name) => [name, payload[name]])),
      };
    default:
      return common;
  }
}

/**
 * The generation that a payload belongs to, which is one turn; undefined where its member names none. In print mode it is the id of the
 * conversation. On some events a step follows it.
 */
function generationOf({ generation_id, conversation_id }: Payload): string | undefined {
  const id = textOf(generation_id) ?? '';
  if (id === '' || id === conversation_id) return undefined;
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(id)?.[0] ?? id;
}

/**
 * The id of an event that has none of a tool: the same, whether the payload came by Cursor's hooks or by those of Claude Code, and
 * whichever event told the tokens of a generation.
 */
function idOf(
  native: string,
  session: string | undefined,
  generation: string | undefined,
  payload: Payload,
): string | undefined {
  const isOfTokens = WITH_TOKENS.includes(native);
  const counters = COUNTERS.map((name) => String(payload[name] ?? 0)).join(':');
  const id = native.startsWith('session')
    ? session
    : native === 'beforeSubmitPrompt' || isOfTokens
      ? (generation ?? (isOfTokens ? `${session}:${counters}` : undefined))
      : undefined;
  return id === undefined || id.length > 100 ? undefined : id;
}

/** Versions of the command line are dates. Only there is the generation of print mode the conversation. */
function clientOf({ cursor_version, generation_id, conversation_id }: Payload): string | undefined {
  if (!/^\d{4}\.\d{2}\.\d{2}/.test(textOf(cursor_version) ?? '')) return 'desktop';
  return generation_id === conversation_id ? 'non-interactive-cli' : 'terminal-ui';
}

function rootOf({ workspace_roots }: Payload): string | undefined {
  return Array.isArray(workspace_roots) ? textOf(workspace_roots[0]) : undefined;
}

/** The model's id, which is not spelled with its parameters, or the name of the choice that Cursor makes. */
function modelOf({ model, model_id }: Payload): string | undefined {
  const name = textOf(model_id) || textOf(model);
  return name === 'default' ? 'Auto' : name;
}

function effortOf({ model_params }: Payload): string | undefined {
  const parameters = Array.isArray(model_params) ? model_params.map(membersOf) : [];
  return textOf(parameters.find(({ id }) => id === 'effort')?.value);
}

/** What a call of a tool tells. The paths of files are left to afterFileEdit, which knows what was changed. */
function toolOf(payload: Payload): Payload {
  const { tool_name, tool_use_id, duration, error_message, failure_type, is_interrupt } = payload;
  const name = textOf(tool_name) ?? '';
  const isMcp = name.startsWith('MCP:');
  const printed = membersIn(payload.tool_output);
  const exitCode = printed.exitCode;
  const { command } = membersIn(payload.tool_input);
  return {
    ...{ tool_use_id, tool_input: { command } },
    tool_name: isMcp ? name.slice('MCP:'.length) : tool_name,
    // Its payload doesn't always say which server it was.
    mcp_server: textOf(payload.mcp_server_name) ?? (isMcp ? 'unknown' : undefined),
    duration_ms: typeof duration === 'number' ? Math.floor(duration) : undefined,
    error: error_message,
    is_interrupt: is_interrupt === true || failure_type === 'permission_denied',
    tool_response: {
      stdout: textOf(printed.output) ?? textOf(printed.stdout),
      is_error: typeof exitCode === 'number' && exitCode !== 0,
    },
  };
}

/** What an edit changed, as Claude Code tells it. A new file has no edits, or one of nothing by nothing. */
function editOf({ file_path, edits }: Payload): Payload {
  const all = Array.isArray(edits) ? edits.map(membersOf) : [];
  const isNew = all.every(({ old_string, new_string }) => old_string === '' && new_string === '');
  const hunks = all.map(({ old_string, new_string }) => ({
    lines: changedLines(textOf(old_string) ?? '', textOf(new_string) ?? ''),
  }));
  return {
    tool_name: 'Write',
    tool_response: {
      filePath: file_path,
      type: isNew ? 'create' : 'update',
      structuredPatch: isNew ? undefined : hunks,
    },
  };
}
