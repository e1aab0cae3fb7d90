import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageError } from '../exit.js';
import { note } from '../terminal/printing.js';

/** How many characters a key or token can have. */
const KEY_CHARACTERS = 16_384;

/** Reads the key from standard input. Throws a UsageError if there is none. */
export async function keyFromInput(): Promise<string> {
  const key = (process.stdin.isTTY === true ? await pasted() : await text(process.stdin)).trim();
  if (key === '' || key.length > KEY_CHARACTERS || /\s/.test(key))
    throw new UsageError(
      'Standard input has no API key: it must be one word, as "daybook keys create" printed it.',
    );
  return key;
}

/** Reads a line that somebody pastes into the terminal, without showing it. */
async function pasted(): Promise<string> {
  note('Paste the key, and press Enter:');
  const { ask } = await import('../terminal/ask.js');
  return ask('', new Writable({ write: (_chunk, _encoding, done) => done() }), true);
}
