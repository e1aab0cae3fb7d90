import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** More than enough: another process takes over what takes longer. */
const TIMEOUT_SECONDS = 10;

/** An agent with hooks: the file in which its user keeps them, and what is added to it. */
interface HookedAgent {
  readonly fileIn: (home: string) => string;
  /** The name of a file that has nothing but hooks, whose whole document they can be. Elsewhere they are the member `hooks`. */
  readonly ownFile?: string;
  /** What a new file has beside the hooks. */
  readonly inNewFile?: Readonly<Record<string, unknown>>;
  /** The member without which the agent doesn't read a file that exists. */
  readonly neededMember?: string;
  /** The events that become Daybook's events: docs/hooks.md. Several agents skip a whole file with an event that they don't know. */
  readonly events: readonly string[];
  /** The entry that an event's list gets. */
  readonly entry: (event: string, command: string) => object;
}

/** Hooks in groups of those with the same matcher, as Claude Code has them. */
function group(event: string, command: string, timeout = TIMEOUT_SECONDS): object {
  return {
    ...(event.includes('Tool') ? { matcher: '*' } : {}),
    hooks: [{ type: 'command', command, timeout }],
  };
}

/** The same in milliseconds. Newer versions of Qwen Code take them for that, and smaller numbers for seconds. */
function groupInMs(event: string, command: string): object {
  return group(event, command, TIMEOUT_SECONDS * 1000);
}

/** All agents whose hooks can be installed, by name. */
export const HOOKED_AGENTS = {
  'claude-code': {
    fileIn: (home) => join(home, '.claude', 'settings.json'),
    events: [
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'PreCompact',
      'SessionEnd',
    ],
    entry: group,
  },
  // Payloads of Droid have no tool_use_id, so one of PreToolUse would become no event. Older versions read only the settings.
  droid: {
    fileIn: (home) => {
      const own = join(home, '.factory', 'hooks.json');
      return existsSync(own) ? own : join(home, '.factory', 'settings.json');
    },
    ownFile: 'hooks.json',
    events: ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SessionEnd'],
    entry: group,
  },
  // Every call has an end, also one that was refused. Tokens are at stop: of afterAgentResponse, midnight could be in between.
  cursor: {
    fileIn: (home) => join(home, '.cursor', 'hooks.json'),
    inNewFile: { version: 1 },
    neededMember: 'version',
    events: [
      'sessionStart',
      'beforeSubmitPrompt',
      'postToolUse',
      'postToolUseFailure',
      'afterFileEdit',
      'stop',
      'sessionEnd',
    ],
    entry: (_, command) => ({ command, timeout: TIMEOUT_SECONDS }),
  },
  codex: {
    fileIn: (home) => join(home, '.codex', 'hooks.json'),
    events: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SessionEnd'],
    entry: group,
  },
  // Calls have no ids, so one that is about to begin would become no event.
  'gemini-cli': {
    fileIn: (home) => join(home, '.gemini', 'settings.json'),
    events: ['SessionStart', 'BeforeAgent', 'AfterTool', 'SessionEnd'],
    entry: groupInMs,
  },
  'qwen-code': {
    fileIn: (home) => join(home, '.qwen', 'settings.json'),
    events: [
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'SessionEnd',
    ],
    entry: groupInMs,
  },
  // Calls have no ids here either, and preToolUse would refuse calls if it failed.
  'copilot-cli': {
    fileIn: (home) => join(home, '.copilot', 'hooks', 'daybook.json'),
    inNewFile: { version: 1 },
    neededMember: 'hooks',
    events: ['sessionStart', 'userPromptSubmitted', 'postToolUse', 'postToolUseFailure', 'sessionEnd'],
    entry: (_, command) => ({
      ...{ type: 'command', bash: command, powershell: command },
      timeoutSec: TIMEOUT_SECONDS,
    }),
  },
  windsurf: {
    fileIn: (home) => join(home, '.codeium', 'windsurf', 'hooks.json'),
    events: ['pre_user_prompt', 'post_read_code', 'post_write_code', 'post_run_command', 'post_mcp_tool_use'],
    entry: (_, command) => ({ command, show_output: false }),
  },
} as const satisfies Record<string, HookedAgent>;

export type AgentName = keyof typeof HOOKED_AGENTS;

export const AGENT_NAMES = Object.keys(HOOKED_AGENTS) as AgentName[];

export function hookedAgent(name: AgentName): HookedAgent {
  return HOOKED_AGENTS[name];
}
