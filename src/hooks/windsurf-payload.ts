import { changedLines } from './changed-lines.js';
import { membersOf, type Payload, textOf } from './payload-members.js';

/** What Cascade calls the actions that it tells of when they are done: only of those that succeeded. */
const TOOLS: ReadonlyMap<unknown, string> = new Map([
  ['post_read_code', 'read_code'],
  ['post_write_code', 'write_code'],
  ['post_run_command', 'run_command'],
  ['post_mcp_tool_use', 'unknown'],
]);

/** A payload of Windsurf in the form of Claude Code's. One that already has that form stays as it is. */
export function fromWindsurf(payload: Payload): Payload {
  const { agent_action_name, trajectory_id, execution_id } = payload;
  if (typeof agent_action_name !== 'string') return payload;
  const info = membersOf(payload.tool_info);
  const common = { agent: 'windsurf', session_id: trajectory_id, client: 'desktop' };
  if (agent_action_name === 'pre_user_prompt') {
    const isKnown = typeof execution_id === 'string' && execution_id !== '' && execution_id.length <= 100;
    return {
      ...{ ...common, hook_event_name: 'UserPromptSubmit', prompt: info.user_prompt },
      payload_id: payload.payload_id ?? (isKnown ? execution_id : undefined),
    };
  }
  const tool = TOOLS.get(agent_action_name);
  if (tool === undefined) return { ...common, hook_event_name: 'none' };
  return {
    ...{ ...common, hook_event_name: 'PostToolUse', cwd: info.cwd },
    tool_name: textOf(info.mcp_tool_name) ?? tool,
    mcp_server: info.mcp_server_name,
    // A command is done however it ended.
    has_outcome: tool === 'run_command' ? false : undefined,
    ...(tool === 'write_code' && { file_tool: 'Write', tool_response: changeOf(info) }),
  };
}

/** A new file is written over nothing. */
function changeOf({ file_path, edits }: Payload): Payload {
  const all = (Array.isArray(edits) ? edits.map(membersOf) : []).map(({ old_string, new_string }) => ({
    before: textOf(old_string) ?? '',
    after: textOf(new_string) ?? '',
  }));
  return {
    filePath: file_path,
    type: all.length > 0 && all.every(({ before }) => before === '') ? 'create' : 'update',
    content: all.map(({ after }) => after).join(''),
    structuredPatch: all.map(({ before, after }) => ({ lines: changedLines(before, after) })),
  };
}
