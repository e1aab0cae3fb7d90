import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';

/** Asks a question on the terminal. Answers whether the answer was yes. */
export async function confirmed(question: string, output: Writable): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  return /^y(es)?$/i.test(answer.trim());
}
