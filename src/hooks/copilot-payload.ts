import { changedLines } from './changed-lines.js';
import { membersIn, membersOf, type Payload, textOf } from './payload-members.js';

/** Tools that change a file, by the one of Claude Code or Droid that does the same. */
const FILE_TOOLS: ReadonlyMap<unknown, string> = new Map([
  ['create', 'Create'],
  ['edit', 'Edit'],
  ['apply_patch', 'ApplyPatch'],
]);

/** A payload of Copilot CLI in the form of Claude Code's. One that already has that form stays as it is. */
export function fromCopilot(payload: Payload): Payload {
  const { sessionId, cwd, prompt, reason, toolName, toolArgs, error } = payload;
  if (typeof sessionId !== 'string') return payload;
  const hook_event_name = eventOf(payload);
  const common = { agent: 'copilot-cli', hook_event_name, session_id: sessionId, cwd };
  if (typeof toolName !== 'string') return { ...common, prompt, reason };
  const input = membersIn(toolArgs);
  const { path, command, skill } = input;
  const patch =
    toolName === 'apply_patch' ? (textOf(input.patch) ?? textOf(input.input) ?? toolArgs) : undefined;
  return {
    ...{ ...common, error, tool_name: toolName, file_tool: FILE_TOOLS.get(toolName) },
    is_interrupt: ['denied', 'rejected'].includes(String(membersOf(payload.toolResult).resultType)),
    tool_input: { path, command, skill, patch },
    tool_response: responseOf(payload, input),
  };
}

/** The event, which no member names. */
function eventOf({ toolName, toolResult, error, prompt, reason, source }: Payload): string {
  if (typeof toolName === 'string') {
    if (toolResult !== undefined) return 'PostToolUse';
    return error === undefined ? 'PreToolUse' : 'PostToolUseFailure';
  }
  if (typeof prompt === 'string') return 'UserPromptSubmit';
  if (typeof reason === 'string') return 'SessionEnd';
  return typeof source === 'string' ? 'SessionStart' : 'none';
}

function responseOf({ toolName, toolResult }: Payload, input: Payload): Payload {
  const { resultType, textResultForLlm } = membersOf(toolResult);
  const said = textOf(textResultForLlm) ?? '';
  // A command that fails is a success for the agent.
  const [, exitCode = '0'] = /with exit code (\d{1,9})>\s*$/.exec(said) ?? [];
  const response = {
    stdout: said,
    is_error: (resultType !== undefined && resultType !== 'success') || exitCode !== '0',
  };
  if (toolName === 'create') return { ...response, type: 'create', content: input.file_text };
  if (toolName !== 'edit') return response;
  const lines = changedLines(textOf(input.old_str) ?? '', textOf(input.new_str) ?? '');
  return { ...response, type: 'update', structuredPatch: [{ lines }] };
}
