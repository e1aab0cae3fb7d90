import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { UsageError } from '../exit.js';
import { isIntricate, LEVELS_AT_MOST } from '../input/json-depth.js';

/** The JSON in a file, or with - on standard input. Throws a UsageError. */
export async function jsonFile(file: string): Promise<unknown> {
  let content: string;
  try {
    content = await text(file === '-' ? process.stdin : createReadStream(file));
  } catch {
    throw new UsageError(`The file ${file} can't be read.`);
  }
  const name = file === '-' ? 'Standard input' : file;
  if (isIntricate(content, LEVELS_AT_MOST))
    throw new UsageError(`${name} must be nested at most ${LEVELS_AT_MOST} levels deep.`);
  try {
    return JSON.parse(content);
  } catch {
    // The parser's message could quote a secret.
    throw new UsageError(`${name} is not JSON.`);
  }
}
