import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

/** The size of a memory page, Linux's unit. */
const PAGE_BYTES = 4096;
const WATCH_MS = 50;

/** The limits at which a process is killed. */
export interface ProcessLimits {
  readonly seconds: number;
  /** Seconds in which `progress` must change. */
  readonly idleSeconds: number;
  /** How far the work is: any number that changes with it. */
  readonly progress: () => number;
  readonly memoryMb: number;
  /** Ends the process when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** A process was killed at one of its limits, or ended by itself. The message is a clause: "reading it takes more than 10 seconds". */
export class ProcessEnded extends Error {
  override name = 'ProcessEnded';
}

/**
 * Has a program do one job in a process of its own: it gets the job as a message, and answers with one. It is killed at its limits, and
 * must end when its parent does. Throws ProcessEnded, or the reason of the signal.
 */
export async function inOwnProcess(program: string, job: object, limits: ProcessLimits): Promise<unknown> {
  limits.signal?.throwIfAborted();
  const child = fork(program, [], {
    env: {},
    execArgv: [`--max-old-space-size=${limits.memoryMb >> 1}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  killFirst(child.pid);
  try {
    return await outcomeOf(child, job, limits);
  } finally {
    child.kill('SIGKILL');
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      await once(child, 'exit');
  }
}

function outcomeOf(
  child: ChildProcess,
  job: object,
  { seconds, idleSeconds, progress, memoryMb, signal }: ProcessLimits,
): Promise<unknown> {
  let watch: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  const outcome = new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new ProcessEnded(reason));
    abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    child.on('message', resolve);
    child.on('error', reject);
    child.on('exit', (code, by) => fail(`the process that reads it ended with ${code ?? by}`));
    const begun = performance.now();
    let [last, moved] = [progress(), begun];
    watch = setInterval(() => {
      const [now, done] = [performance.now(), progress()];
      if (done !== last) [last, moved] = [done, now];
      if (residentBytes(child.pid) > memoryMb * 2 ** 20)
        fail(`reading it takes more than ${memoryMb} MiB of memory`);
      else if (now - moved > 1000 * idleSeconds)
        fail(`reading it takes ${idleSeconds} seconds without a result`);
      else if (now - begun > 1000 * seconds) fail(`reading it takes more than ${seconds} seconds`);
    }, WATCH_MS);
    child.send(job, (error) => {
      if (error !== null) reject(error);
    });
  });
  return outcome.finally(() => {
    clearInterval(watch);
    if (abort !== undefined) signal?.removeEventListener('abort', abort);
  });
}

/** The memory of a process, from Linux; 0 on other systems. */
export function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** Has Linux kill this process before all others if memory runs out. */
export function killFirst(pid: number | undefined): void {
  writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
