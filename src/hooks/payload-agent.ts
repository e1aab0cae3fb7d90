import { type Payload, textOf } from './payload-members.js';

/** The agents whose transcripts are in these folders. */
const BY_FOLDER: ReadonlyMap<string, string> = new Map([
  ['.claude', 'claude-code'],
  ['.factory', 'droid'],
  ['.cursor', 'cursor'],
  ['GitHub.copilot-chat', 'copilot-chat'],
  ['.copilot', 'copilot-cli'],
  ['.codex', 'codex'],
  ['.gemini', 'gemini-cli'],
  ['.qwen', 'qwen-code'],
  ['.grok', 'grok'],
]);

/** Whether Cursor wrote a payload. It also runs the hooks of Claude Code, with payloads of its own. */
function isOfCursor({ cursor_version, conversation_id, generation_id }: Payload): boolean {
  return (
    typeof cursor_version === 'string' ||
    (typeof conversation_id === 'string' && typeof generation_id === 'string')
  );
}

/** The agent that wrote a payload: by its members, or by the folder of its transcripts. */
export function agentOf(payload: Payload): string | undefined {
  if (isOfCursor(payload)) return 'cursor';
  const { agent, transcript_path } = payload;
  const folders = (textOf(transcript_path) ?? '').split(/[\\/]/);
  return textOf(agent) ?? folders.map((folder) => BY_FOLDER.get(folder)).find((name) => name !== undefined);
}

/**
 * The agent that gave a payload to a hook that was installed for `installed`; undefined if it is none that is known. Cursor, Copilot in
 * VS Code, Devin and Grok run the hooks in the settings of Claude Code. Claude Code always names its transcript, and never a time.
 */
export function writerOf(
  payload: Payload,
  installed: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const told = agentOf(payload);
  if (installed !== undefined && installed !== 'claude-code') return told === 'cursor' ? told : installed;
  if (told !== undefined || installed === undefined) return told;
  if (payload.timestamp !== undefined) return 'copilot-chat';
  if (typeof payload.transcript_path === 'string') return installed;
  return environment.DEVIN_PROJECT_DIR === undefined ? undefined : 'devin';
}
