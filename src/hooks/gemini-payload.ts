/** Payloads of Gemini CLI, and of Qwen Code, which comes from it, in the form of Claude Code's. */

import { membersOf, type Payload, textOf } from './payload-members.js';

const NAMES: Readonly<Record<string, string>> = { BeforeAgent: 'UserPromptSubmit', AfterTool: 'PostToolUse' };

/** Tools that change a file, by the one of Claude Code that does the same. */
const FILE_TOOLS: ReadonlyMap<unknown, string> = new Map([
  ['write_file', 'Write'],
  ['replace', 'Edit'],
  ['edit', 'Edit'],
]);

/** How a command ended, which is said after all that it printed. */
const EXIT_CODE =
  /\nExit Code: (\d{1,9})(?:\n(?:Signal|Background PIDs|Process Group PGID): .{0,300}){0,3}\n<\/untrusted_context>\s*$/;

/** A payload of Gemini CLI in the form of Claude Code's. One that already has that form stays as it is. */
export function fromGemini(payload: Payload): Payload {
  if (payload.transcript_path === undefined) return payload;
  const name = textOf(payload.hook_event_name) ?? '';
  return {
    ...payload,
    transcript_path: undefined,
    agent: 'gemini-cli',
    hook_event_name: NAMES[name] ?? name,
    mcp_server: membersOf(payload.mcp_context).server_name,
    file_tool: FILE_TOOLS.get(payload.tool_name),
    tool_response: resultOf(payload),
  };
}

/**
 * A payload of Qwen Code in the form of Claude Code's, which is nearly its own. It tells each answer to a tool as a prompt without words. A
 * call's id in all else that Qwen Code tells is the tool_call_id, which older versions don't have.
 */
export function fromQwen(payload: Payload): Payload {
  if (payload.transcript_path === undefined) return payload;
  const { hook_event_name, prompt, tool_call_id, tool_use_id } = payload;
  return {
    ...payload,
    transcript_path: undefined,
    agent: 'qwen-code',
    hook_event_name: hook_event_name === 'UserPromptSubmit' && prompt === '' ? 'ToolAnswer' : hook_event_name,
    tool_use_id: tool_call_id ?? tool_use_id,
    file_tool: FILE_TOOLS.get(payload.tool_name),
    tool_response: resultOf(payload),
  };
}

/** What a tool returned: one text for the model and one for the person, or an object that shows a change. */
function resultOf({ tool_response }: Payload): Payload {
  const { llmContent, returnDisplay, error } = membersOf(tool_response);
  const { filePath, fileDiff, newContent, isNewFile } = membersOf(returnDisplay);
  const said = textOf(llmContent) ?? '';
  const isNew = typeof isNewFile === 'boolean' ? isNewFile : /^(?:successfully )?created /i.test(said);
  const [, exitCode = '0'] = EXIT_CODE.exec(said) ?? [];
  return {
    stdout: textOf(returnDisplay) || said,
    is_error: (error !== undefined && error !== null) || exitCode !== '0',
    ...(typeof fileDiff === 'string' && {
      filePath,
      type: isNew ? 'create' : 'update',
      ...(isNew ? { content: newContent } : { structuredPatch: [{ lines: linesIn(fileDiff) }] }),
    }),
  };
}

/** The lines that a patch adds and removes. */
function linesIn(patch: string): string[] {
  const lines = patch.split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  return start < 0 ? [] : lines.slice(start).filter((line) => /^[+-]/.test(line));
}
