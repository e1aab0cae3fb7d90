import { compileMatcher, type HookGroup, HooksConfig } from './hooks-config.js';
import { shellCommandOf } from './payload.js';
import type { Payload } from './payload-members.js';

const DEFAULT_TIMEOUT_SECONDS = 60;

/** A command that an event runs. */
export interface HookCommand {
  readonly matcher: string;
  readonly command: string;
  readonly timeoutMs: number;
}

/** The text that a matcher is compared with: the tool's name, the reason for compacting, or how the session began. */
function subjectOf(payload: Payload): unknown {
  switch (payload.hook_event_name) {
    case 'PreToolUse':
    case 'PostToolUse':
      return payload.tool_name;
    case 'PreCompact':
      return payload.trigger;
    case 'SessionStart':
      return payload.source;
    default:
      return undefined;
  }
}

function isMatched({ matcher = '', commandRegex = '' }: HookGroup, payload: Payload): boolean {
  const subject = subjectOf(payload);
  const isAll = matcher === '' || matcher === '*' || subject === undefined;
  if (!isAll && !compileMatcher(matcher).testExact(String(subject))) return false;
  if (commandRegex === '' || commandRegex === '*') return true;
  const command = shellCommandOf(payload);
  return command !== undefined && compileMatcher(commandRegex).test(command);
}

/** The commands that a payload's event runs, each once (docs/hooks.md, "Run your own hooks"). */
export function commandsOf(config: HooksConfig, payload: Payload): HookCommand[] {
  const event = String(payload.hook_event_name);
  if (config.hooksDisabled === true || !Object.hasOwn(HooksConfig.shape, event)) return [];
  const groups = config[event as 'Stop'] ?? [];
  const commands = new Map<string, HookCommand>();
  for (const group of groups.filter((group) => isMatched(group, payload))) {
    for (const { command, timeout = DEFAULT_TIMEOUT_SECONDS } of group.hooks)
      if (!commands.has(command))
        commands.set(command, { matcher: group.matcher ?? '', command, timeoutMs: timeout * 1000 });
  }
  return [...commands.values()];
}
