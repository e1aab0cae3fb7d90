import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PACKAGE_ROOT } from '../src/config.js';
import { temporaryFolder } from './world.js';

export const CLI = join(PACKAGE_ROOT, 'dist', 'cli.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the real program, or what starts it, in a folder of its own unless one is given. */
export function start(
  args: readonly string[],
  options: { cli?: string; program?: readonly string[]; cwd?: string; env?: Record<string, string> } = {},
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_'));
  const [program = '', ...first] = options.program ?? ['node', options.cli ?? CLI];
  const child = spawn(program, [...first, ...args], {
    cwd: options.cwd ?? temporaryFolder(),
    env: { ...Object.fromEntries(inherited), ...options.env },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
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
  child.stdin?.end(input);
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
export async function served(
  data: string,
  ...more: string[]
): Promise<{ child: ChildProcess; url: string; text: () => string }> {
  const child = start(['--data', data, 'serve', '--port', '0', ...more], {
    env: { DAYBOOK_LOG_LEVEL: 'warn' },
  });
  let text = '';
  child.stdout?.setEncoding('utf8');
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    const [, url] = /Daybook serves on (http:\S+) from/.exec(text) ?? [];
    if (url !== undefined) return { child, url, text: () => text };
  }
  throw new Error(`the server ended: ${text}`);
}
