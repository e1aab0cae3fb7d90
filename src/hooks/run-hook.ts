import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { endGroup } from '../disk/running.js';
import { messageOf } from '../exit.js';
import type { HookCommand } from './hook-match.js';

/** How many bytes of a command's output are kept. The rest is read and dropped. */
const OUTPUT_BYTES = 1 << 20;
/** How long a command can take to end after its timeout. */
const GRACE_MS = 500;
/** How long to wait for output after a command has ended: one of its children may hold the pipe open for ever. */
const DRAIN_MS = 100;

/** The result of a command. */
export interface HookRun extends HookCommand {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly isTimedOut: boolean;
  readonly durationMs: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The process groups of running commands. */
const running = new Set<number>();

/** Kills all running commands with their children. */
export function endAll(): void {
  for (const group of running) endGroup(group, 'SIGKILL');
}

/** Collects the output of a stream, up to a limit. */
function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('error', () => {});
  stream?.on('data', (chunk: Buffer) => {
    if (bytes < OUTPUT_BYTES) chunks.push(chunk.subarray(0, OUTPUT_BYTES - bytes));
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Resolves when the command has ended, even if its children go on. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', reject);
  });
}

/**
 * Runs a command in a shell, in its own process group, with a text on its standard input. Ends the whole group after the timeout.
 * Never throws: a command that can't be started gets the exit code 127.
 */
export async function runCommand(command: HookCommand, input: string): Promise<HookRun> {
  const started = performance.now();
  const run = (exitCode: number | null, isTimedOut: boolean, stdout: string, stderr: string): HookRun => ({
    ...command,
    exitCode,
    isTimedOut,
    durationMs: Math.round(performance.now() - started),
    stdout,
    stderr,
  });
  try {
    const child = spawn(command.command, { shell: true, detached: true, stdio: 'pipe' });
    const over = ended(child);
    const group = child.pid;
    if (group === undefined) throw await over.catch((error: unknown) => error);
    running.add(group);
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    // A command may end without reading its input.
    child.stdin.on('error', () => {}).end(input);
    const closed = new Promise((resolve) => child.once('close', resolve));
    const timers: NodeJS.Timeout[] = [];
    let isTimedOut = false;
    timers.push(
      setTimeout(() => {
        isTimedOut = true;
        endGroup(group, 'SIGTERM');
        timers.push(setTimeout(() => endGroup(group, 'SIGKILL'), GRACE_MS));
      }, command.timeoutMs),
    );
    const code = await over;
    for (const timer of timers) clearTimeout(timer);
    // Children may outlive the command, but not if it has timed out.
    if (isTimedOut) endGroup(group, 'SIGKILL');
    running.delete(group);
    await Promise.race([closed, wait(DRAIN_MS, undefined, { ref: false })]);
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
    return run(code, isTimedOut, stdout(), stderr());
  } catch (error) {
    return run(127, false, '', messageOf(error));
  }
}
