import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What a whole process took. */
export interface Taken {
  /** Wall time in seconds. */
  readonly seconds: number;
  /** Peak resident memory in MiB, where the system tells it (Linux). */
  readonly memory: number;
  readonly output: string;
}

/** Runs a command to its end. Throws when it fails. */
export function runProcess(
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    let memory = 0;
    const watch = setInterval(() => {
      try {
        const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
        memory = Math.max(memory, Number(peak ?? 0) / 1024);
      } catch {
        // Not Linux, or the process has ended.
      }
    }, 20);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(watch);
      if (code !== 0) reject(new Error(`${command} ${args.join(' ').slice(0, 200)} ended with ${code}`));
      else resolve({ seconds: (performance.now() - started) / 1000, memory: Math.round(memory), output });
    });
  });
}

/** The middle one of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
