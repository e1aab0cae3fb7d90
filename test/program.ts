import { join } from 'node:path';
import { PACKAGE_ROOT } from '../src/config.js';
import { temporaryFolder } from './world.js';

/** What a command came to. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CLI = join(PACKAGE_ROOT, 'src', 'cli.ts');

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
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_'));
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
    await import(`${CLI}?run=${runs}`);
  } finally {
    code = Number(process.exitCode ?? 0);
    texts = { stdout: stdout(), stderr: stderr() };
    process.argv = before.argv;
    process.env = before.env;
    process.exitCode = before.exitCode;
    process.chdir(before.cwd);
  }
  return { code, ...texts };
}
