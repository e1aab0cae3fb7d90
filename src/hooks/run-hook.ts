import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../exit.js';
import type { HookCommand } from './hook-match.js';

/** How much of what a command says is kept, in bytes; the rest is read and dropped. */
const OUTPUT_BYTES = 1 << 20;
/** How long a command that is past its timeout has to end by itself. */
const GRACE_MS = 500;
/** How long what a command said may take to arrive once it has ended: a child of it may hold the pipe for ever. */
const DRAIN_MS = 100;

/** What became of a command. */
export interface HookRun extends HookCommand {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly isTimedOut: boolean;
  readonly durationMs: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The process groups of commands under way. */
const running = new Set<number>();

function end(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It has ended.
  }
}

/** Ends all commands under way with their children. */
export function endAll(): void {
  for (const group of running) end(group, 'SIGKILL');
}

/** Collects what a stream says, up to a limit. */
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

/** Ends when the command has, whoever of its children goes on. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', reject);
  });
}

/**
 * Runs a command in a shell, in a process group of its own, with a text on its standard input. Past its timeout the whole
 * group is ended. Never throws: a command that can't be started has ended with 127.
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
    // A command needn't read what it is given.
    child.stdin.on('error', () => {}).end(input);
    const closed = new Promise((resolve) => child.once('close', resolve));
    const timers: NodeJS.Timeout[] = [];
    let isTimedOut = false;
    timers.push(
      setTimeout(() => {
        isTimedOut = true;
        end(group, 'SIGTERM');
        timers.push(setTimeout(() => end(group, 'SIGKILL'), GRACE_MS));
      }, command.timeoutMs),
    );
    const code = await over;
    for (const timer of timers) clearTimeout(timer);
    // Children that outlive the command are its own affair, but not past its timeout.
    if (isTimedOut) end(group, 'SIGKILL');
    running.delete(group);
    await Promise.race([closed, wait(DRAIN_MS, undefined, { ref: false })]);
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
    return run(code, isTimedOut, stdout(), stderr());
  } catch (error) {
    return run(127, false, '', messageOf(error));
  }
}
