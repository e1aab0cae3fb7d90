import { membersOf, type Payload, textOf } from './payload-members.js';

/**
 * A payload of Codex in the form of Claude Code's, which is nearly its own. A command's payload has what it printed, and not how it ended.
 * One that already has that form stays as it is.
 */
export function fromCodex(payload: Payload): Payload {
  const { transcript_path, tool_name, tool_response } = payload;
  if (transcript_path === undefined) return payload;
  const isPatch = tool_name === 'apply_patch';
  const printed = textOf(tool_response);
  return {
    ...payload,
    transcript_path: undefined,
    agent: 'codex',
    file_tool: isPatch ? 'ApplyPatch' : undefined,
    has_outcome: isPatch || printed === undefined ? undefined : false,
    tool_response:
      printed === undefined
        ? { ...membersOf(tool_response), is_error: membersOf(tool_response).isError === true }
        : { stdout: printed, is_error: isPatch && /^Exit code: [1-9]|verification failed/.test(printed) },
  };
}
