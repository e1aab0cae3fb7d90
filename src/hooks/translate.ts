import { hash } from 'node:crypto';
import { agentOf, membersOf, nameOf, type Payload, slashCommandOf, toolFactsOf } from './payload.js';

const AUTONOMY: Readonly<Record<string, string>> = {
  off: 'manual',
  default: 'manual',
  manual: 'manual',
  plan: 'spec',
  spec: 'spec',
  low: 'auto-low',
  'auto-low': 'auto-low',
  acceptEdits: 'auto-low',
  medium: 'auto-medium',
  'auto-medium': 'auto-medium',
  auto: 'auto-medium',
  high: 'auto-high',
  'auto-high': 'auto-high',
  bypassPermissions: 'auto-high',
  dontAsk: 'auto-high',
};

/**
 * The events that a hook's payload tells of, as docs/hooks.md lists them: none for most. Their ids come from the tool use, so
 * that the same from a transcript counts once; else from the payload's own id, else from its words: so the same payload has
 * the same ids however often it comes. `occurredAt` is Unix milliseconds.
 */
export function eventsOf(
  payload: Payload,
  { userId, occurredAt }: { userId: string; occurredAt: number },
): object[] {
  const name = String(payload.hook_event_name);
  const toolUse = nameOf(payload.tool_use_id);
  const id = toolUse !== undefined && toolUse.length <= 128 ? toolUse : `hook:${identityOf(payload)}`;
  const mode = String(payload.permission_mode);
  const common = {
    timestamp: occurredAt,
    user_id: userId,
    session_id: payload.session_id,
    client: payload.client,
    agent: agentOf(payload),
    channel: 'hook',
    cwd: nameOf(payload.cwd),
    autonomy_mode: Object.hasOwn(AUTONOMY, mode) ? AUTONOMY[mode] : undefined,
  };
  const told = (type: string, kind: string, members: object = {}, more = '') => ({
    event_id: `${kind}:${id}${more}`,
    type,
    ...common,
    ...members,
  });
  if (Array.isArray(payload.hook_runs))
    return payload.hook_runs.map((run, index) =>
      told('hook_run', 'hook_run', { hook_event: name, ...membersOf(run) }, `:${index}`),
    );
  switch (name) {
    case 'SessionStart':
      return [told('session_start', 'session_start')];
    case 'SessionEnd':
      return [told('session_end', 'session_end', { reason: nameOf(payload.reason) })];
    case 'UserPromptSubmit': {
      const command_name = slashCommandOf(payload.prompt);
      return [
        told('user_message', 'turn'),
        ...(command_name === undefined ? [] : [told('slash_command', 'slash', { command_name })]),
      ];
    }
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const { isSuccess, durationMs, files, skill, commit, pullRequest, ...tool } = toolFactsOf(payload);
      return [
        told('tool_call', 'tool', { tool_name: tool.name, success: isSuccess, duration_ms: durationMs }),
        ...files.map(({ path, operation, linesAdded, linesRemoved }) =>
          told(
            'file_change',
            'file',
            { path, operation, lines_added: linesAdded, lines_removed: linesRemoved },
            tool.name === 'ApplyPatch' ? `:${path.length <= 60 ? path : digestOf(path)}` : '',
          ),
        ),
        ...(skill === undefined ? [] : [told('skill_use', 'skill', { skill_name: skill })]),
        ...(commit === undefined
          ? []
          : [told('git_commit', 'commit', { commit_sha: commit === '' ? undefined : commit })]),
        ...(pullRequest === undefined
          ? []
          : [told('pull_request', 'pull_request', { url: pullRequest === '' ? undefined : pullRequest })]),
      ];
    }
    default:
      return [];
  }
}

function identityOf(payload: Payload): string {
  return nameOf(payload.payload_id)?.slice(0, 100) ?? digestOf(JSON.stringify(payload));
}

function digestOf(text: string): string {
  return hash('sha256', text).slice(0, 32);
}
