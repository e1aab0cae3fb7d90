import { membersOf, type Payload } from './payload-members.js';
import type { HookRun } from './run-hook.js';

/** The events that exit code 2 blocks; on others it is only a warning. After a tool call, the agent gets the reason. */
const BLOCKABLE = new Set(['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop']);
/** The events whose hooks can pass plain text to the agent. */
const HEARD = new Set(['UserPromptSubmit', 'SessionStart']);

/** The agent's answer from all commands of an event together. */
export interface HookAnswer {
  readonly exitCode: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Permissions, strictest first: the strictest one counts. */
const PERMISSIONS = ['deny', 'ask', 'allow'];

function isObject(text: string): boolean {
  try {
    return text.trimStart().startsWith('{') && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

function joined(texts: readonly unknown[]): string | undefined {
  const said = texts.filter((text) => typeof text === 'string' && text !== '');
  return said.length === 0 ? undefined : said.join('\n');
}

/** Merges the documents of several commands: any of them can stop or block, and their texts are joined. */
function merged(event: string, documents: readonly Payload[], words: readonly string[]): object {
  const own = documents.map(({ hookSpecificOutput }) => membersOf(hookSpecificOutput));
  const permission = PERMISSIONS.find((one) => own.some((of) => of.permissionDecision === one));
  const blocking = documents.filter(({ decision }) => decision === 'block');
  const stopping = documents.filter((document) => document.continue === false);
  const specific = {
    ...Object.assign({}, ...own),
    ...(permission === undefined
      ? {}
      : {
          permissionDecision: permission,
          permissionDecisionReason: joined(
            own.filter((of) => of.permissionDecision === permission).map((of) => of.permissionDecisionReason),
          ),
        }),
    additionalContext: joined([...own.map(({ additionalContext }) => additionalContext), ...words]),
  };
  const isSaid = Object.values(specific).some((value) => value !== undefined);
  return {
    ...Object.assign({}, ...documents),
    systemMessage: joined(documents.map(({ systemMessage }) => systemMessage)),
    ...(stopping.length === 0
      ? {}
      : { continue: false, stopReason: joined(stopping.map(({ stopReason }) => stopReason)) }),
    ...(blocking.length === 0
      ? {}
      : { decision: 'block', reason: joined(blocking.map(({ reason }) => reason)) }),
    ...(isSaid ? { hookSpecificOutput: { hookEventName: event, ...specific } } : {}),
  };
}

function outputOf(event: string, runs: readonly HookRun[]): string {
  const said = runs.filter(({ stdout }) => stdout.trim() !== '').map(({ stdout }) => stdout);
  const documents = said.filter(isObject).map((text) => membersOf(JSON.parse(text)));
  const words = said.filter((text) => !isObject(text));
  if (said.length === 1) return said[0] ?? '';
  if (documents.length === 0) return words.join('\n');
  return `${JSON.stringify(merged(event, documents, HEARD.has(event) ? words : []))}\n`;
}

/**
 * The answer that an agent expects of a hook, made from all that ran (docs/hooks.md, "Run your own hooks"): 2 with the reasons if
 * one blocks, else 0 with their output. Other failures become warnings.
 */
export function answerOf(event: string, runs: readonly HookRun[], showsOutput = false): HookAnswer {
  const isBlocking = ({ exitCode, isTimedOut }: HookRun) =>
    exitCode === 2 && !isTimedOut && BLOCKABLE.has(event);
  const blocking = runs.filter(isBlocking);
  if (blocking.length > 0) {
    const reasons = blocking.map(
      ({ stderr, command }) => stderr.trim() || `The hook "${command}" blocks this.`,
    );
    return { exitCode: 2, stdout: '', stderr: `${reasons.join('\n')}\n` };
  }
  const shown = runs.filter(({ exitCode }) => exitCode !== 0 || showsOutput);
  const lines = shown.map(
    (run) => `${sentenceOf(run)}${run.stderr.trim() === '' ? '' : `\n${run.stderr.trim()}`}\n`,
  );
  return {
    exitCode: 0,
    stdout: outputOf(
      event,
      runs.filter(({ exitCode }) => exitCode === 0),
    ),
    stderr: lines.join(''),
  };
}

function sentenceOf({ command, exitCode, isTimedOut, timeoutMs, durationMs }: HookRun): string {
  const how = isTimedOut
    ? `was stopped after ${timeoutMs / 1000} seconds`
    : exitCode === null
      ? 'was ended by a signal'
      : `ended with ${exitCode} after ${durationMs} ms`;
  return `The hook "${command}" ${how}.`;
}
