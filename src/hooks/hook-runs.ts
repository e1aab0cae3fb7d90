import { readForeign } from '../disk/foreign-file.js';
import { UsageError } from '../exit.js';
import { answerOf, type HookAnswer } from './hook-answer.js';
import { commandsOf } from './hook-match.js';
import { HooksConfig } from './hooks-config.js';
import type { Payload } from './payload-members.js';
import { type HookRun, runCommand } from './run-hook.js';
import { forward, type HookContext } from './send-payload.js';

/** How many characters of a command an event can have. */
const COMMAND_CHARACTERS = 2048;
/** How many bytes a configuration can have. */
const CONFIG_BYTES = 16 << 20;

/** Reads the configuration in a file: a map of events, or settings that have one as `hooks`. Throws a UsageError. */
export function readHooksConfig(path: string): HooksConfig {
  let document: unknown;
  try {
    const bytes = readForeign(path, { limitBytes: CONFIG_BYTES });
    if (bytes === undefined) throw new Error('there is no file');
    document = JSON.parse(bytes.toString());
  } catch (error) {
    const isNoJson = error instanceof SyntaxError;
    throw new UsageError(
      `The hooks ${path} ${isNoJson ? 'are not JSON' : "can't be read"}: --config names a file.`,
    );
  }
  const { hooks, ...settings } = Object(document);
  const parsed = HooksConfig.safeParse(hooks === undefined ? document : { ...settings, ...Object(hooks) });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `The hooks ${path} are wrong: ${issue?.path.join('.') || 'the document'} ${issue?.message}.`,
  );
}

/** Runs all commands that a configuration has for a payload, at the same time. */
export async function runHooks(
  config: HooksConfig,
  payload: Payload,
  input: string,
): Promise<{ runs: HookRun[]; answer: HookAnswer }> {
  const runs = await Promise.all(commandsOf(config, payload).map((command) => runCommand(command, input)));
  return { runs, answer: answerOf(String(payload.hook_event_name), runs, config.showHookOutput) };
}

/** Records runs as events. Answers a sentence if they have to wait. */
export async function record(
  payload: Payload,
  runs: readonly HookRun[],
  context: HookContext,
): Promise<string | undefined> {
  const { hook_event_name, session_id, cwd, permission_mode, transcript_path } = payload;
  if (runs.length === 0 || typeof session_id !== 'string') return undefined;
  return forward(
    {
      ...{ hook_event_name, session_id, cwd, permission_mode, transcript_path },
      hook_runs: runs.map(({ command, matcher, exitCode, durationMs, isTimedOut }) => ({
        command: command.slice(0, COMMAND_CHARACTERS),
        matcher,
        exit_code: exitCode,
        duration_ms: durationMs,
        timed_out: isTimedOut,
      })),
    },
    context,
  );
}
