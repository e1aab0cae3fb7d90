import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a piece of work took. */
export interface Taken {
  /** Wall time in seconds. */
  readonly seconds: number;
  /** Peak resident memory in MiB, where the system tells it (Linux). */
  readonly memory: number;
}

/** The most memory that a process has had, in MiB; 0 when the system doesn't tell, or it has ended. */
export function peakOf(pid: number | 'self' | undefined): number {
  try {
    const [, peak = 0] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(peak) / 1024);
  } catch {
    return 0;
  }
}

/** Does a piece of work in this process. Its memory is what the process had at most meanwhile. */
export async function measure(work: () => Promise<unknown>): Promise<Taken> {
  try {
    // Forgets the peak so far.
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Not Linux.
  }
  const started = performance.now();
  await work();
  return { seconds: (performance.now() - started) / 1000, memory: peakOf('self') };
}

/** Runs a command to its end, and tells what the whole process took and printed. Throws when it fails. */
export function runProcess(
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Taken & { readonly output: string }> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    let memory = 0;
    const watch = setInterval(() => {
      memory = Math.max(memory, peakOf(child.pid));
    }, 20);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(watch);
      if (code !== 0) reject(new Error(`${command} ${args.join(' ').slice(0, 200)} ended with ${code}`));
      else resolve({ seconds: (performance.now() - started) / 1000, memory, output });
    });
  });
}

/** Where a program of this folder is, compiled. */
export function programOf(name: string): string {
  return fileURLToPath(new URL(`${name}.js`, import.meta.url));
}

/** Runs a program of this folder that prints JSON, and answers that. */
export async function runProgram<Printed>(name: string, ...args: readonly string[]): Promise<Printed> {
  return JSON.parse((await runProcess('node', [programOf(name), ...args])).output);
}

/** The middle one of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
