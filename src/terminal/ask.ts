import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';

/** Reads the line that somebody enters at a terminal; '' if Ctrl-C or Ctrl-D ends it. What is typed appears in `output`. */
export async function ask(question: string, output: Writable, terminal?: boolean): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  // As long as it isn't closed, the process goes on.
  return Promise.race([lines.question(question), ended]).finally(() => lines.close());
}

/** Asks a question at a terminal. Answers whether the answer was yes. */
export async function isConfirmed(question: string, output: Writable): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `, output)).trim());
}
