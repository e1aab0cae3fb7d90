import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as allOf } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Role } from '../src/api/roles.js';
import { dayOf } from '../src/day.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { type AtEnd, temporaryFolder } from './world.js';

/** Of events that it is sent: the program has the clock of the machine, and builds every day from the first event on, here few. */
export const TODAY = dayOf(Date.now());

/** The program as it is installed. */
export const CLI = join(PACKAGE_ROOT, 'dist', 'cli.js');

/** What a command came to. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What processes of tests inherit: no settings, and nothing by which they would take to another terminal, or to none. */
function inheritedVariables(): [string, string | undefined][] {
  return Object.entries(process.env).filter(
    ([name]) => !/^(DAYBOOK_.*|COLUMNS|NO_COLOR|FORCE_COLOR|COLORTERM|TERM|CI)$/.test(name),
  );
}

/** Starts the real program, or what starts it, in a folder of its own unless one is given. */
export function start(
  args: readonly string[],
  options: {
    cli?: string;
    program?: readonly string[];
    cwd?: string;
    env?: Record<string, string>;
    /** When it must have ended. */
    atEnd?: AtEnd;
  } = {},
): ChildProcess {
  const inherited = inheritedVariables();
  const [program = '', ...first] = options.program ?? ['node', options.cli ?? CLI];
  const atEnd = options.atEnd ?? onTestFinished;
  const child = spawn(program, [...first, ...args], {
    cwd: options.cwd ?? temporaryFolder(atEnd),
    env: { ...Object.fromEntries(inherited), ...options.env },
  });
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

/** Whether commands can be tried in a terminal here. */
export const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

/** Starts a command line of the shell in a terminal. */
export function startInTerminal(line: string, env: Record<string, string> = {}): ChildProcess {
  return start([], {
    program: ['script', '-qefc', line, '/dev/null'],
    env: { TERM: 'xterm', ...env },
  });
}

/**
 * Types keys into what runs in a terminal, and waits until what it prints from then on matches, or without keys what it has printed since the
 * last ones.
 */
export type Typing = (keys: string, until: RegExp) => Promise<string>;

export function typing(child: ChildProcess): Typing {
  let seen = '';
  let isOver = false;
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    seen += part;
  });
  // All that it has printed is there by then.
  child.once('close', () => {
    isOver = true;
  });
  return async (keys, until) => {
    if (keys !== '') seen = '';
    child.stdin?.write(keys);
    while (!until.test(seen)) {
      if (isOver) throw new Error(`not ${until} but ${JSON.stringify(seen)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return seen;
  };
}

export async function ended(child: ChildProcess, input = ''): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  // It may have ended before it reads.
  child.stdin?.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export function daybook(
  args: readonly string[],
  options: { cli?: string; cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  return ended(start(args, options), options.input);
}

/** Starts a server on any free port, and answers its address once it serves. */
export function served(
  data: string,
  ...more: string[]
): Promise<{ child: ChildProcess; url: string; text: () => string }> {
  return servedWith({}, data, ...more);
}

/** The same with settings. */
export async function servedWith(
  settings: Record<string, string>,
  data: string,
  ...more: string[]
): Promise<{ child: ChildProcess; url: string; text: () => string }> {
  const child = start(['--data', data, 'serve', '--port', '0', ...more], {
    // Else it builds every day until today first.
    env: { DAYBOOK_LOG_LEVEL: 'warn', DAYBOOK_BUILD_AT: 'off', ...settings },
  });
  let text = '';
  child.stdout?.setEncoding('utf8');
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    const [, url] = /Daybook serves on (http:\S+) from/.exec(text) ?? [];
    if (url !== undefined) return { child, url, text: () => text };
  }
  const errors = child.stderr === null ? '' : await allOf(child.stderr);
  throw new Error(`the server ended: ${text}${errors}`);
}

/** The program that is tested without being built: its process is that of the tests. */
const SOURCE = join(PACKAGE_ROOT, 'src', 'cli.ts');

let runs = 0;

/** Takes what is written to a stream, until it is asked for that. */
function taken(stream: NodeJS.WriteStream): () => string {
  const { write } = stream;
  const there = stream.listeners('error');
  let text = '';
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  return () => {
    stream.write = write;
    stream.removeAllListeners('error');
    for (const listener of there) stream.on('error', listener as () => void);
    return text;
  };
}

/**
 * Runs a command in this process, in a folder of its own unless one is given: the code of the program from its arguments to
 * its exit code, without the start of a process, which takes longer than most commands. One at a time, and without input.
 */
export async function runHere(
  args: readonly string[],
  { cwd = temporaryFolder(), env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const before = { argv: process.argv, env: process.env, exitCode: process.exitCode, cwd: process.cwd() };
  const umask = process.umask();
  const inherited = inheritedVariables();
  process.argv = [process.execPath, 'daybook', ...args];
  process.env = { ...Object.fromEntries(inherited), ...env };
  process.exitCode = undefined;
  process.chdir(cwd);
  const [stdout, stderr] = [taken(process.stdout), taken(process.stderr)];
  runs += 1;
  let code: number;
  let texts: { stdout: string; stderr: string };
  try {
    // What it exports is nothing: it runs as it is read, and has ended then.
    await import(`${SOURCE}?run=${runs}`);
  } finally {
    code = Number(process.exitCode ?? 0);
    texts = { stdout: stdout(), stderr: stderr() };
    process.argv = before.argv;
    process.env = before.env;
    process.exitCode = before.exitCode;
    process.chdir(before.cwd);
    process.umask(umask);
  }
  return { code, ...texts };
}

/** A new key of the organization `acme`, or of another one that is named after it. */
export async function keyOf(data: string, role: Role, ...more: string[]): Promise<string> {
  const args = ['keys', 'create', '--org', 'acme', '--role', role, ...more, '--json'];
  const { stdout, stderr } = await runHere(['--data', data, ...args], { cwd: tmpdir() });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout).key;
}
