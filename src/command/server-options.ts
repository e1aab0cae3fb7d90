import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import { optionOf } from '../settings/config.js';
import { note } from '../terminal/printing.js';
import type { RemoteService } from './remote-service.js';

/** The options of a command that can ask a remote service. */
export interface ServerOptions {
  readonly server?: string;
  readonly key?: string;
}

/** How many characters a key or token can have. */
const KEY_CHARACTERS = 16_384;

/** Adds the options for a service and its key. */
export function withServer(
  command: Command,
  help = 'ask the service at this address, not the data folder',
): Command {
  const [flags] = optionOf('DAYBOOK_URL');
  return command
    .option(flags, help)
    .option('--key <->', 'read the API key of the service from standard input (default: DAYBOOK_KEY)');
}

/** Whether a command asks a service, not the data folder. */
export function isRemote({ server, key }: ServerOptions): boolean {
  return server !== undefined || key !== undefined;
}

/** The service and key from the options. Throws a UsageError for a key among the arguments, which other users can see. */
export async function serviceOf({ server, key }: ServerOptions, clock: () => number): Promise<RemoteService> {
  if (key !== undefined && key !== '-')
    throw new UsageError(
      'Other users of this machine can see arguments: pass the key on standard input with "--key -", or set DAYBOOK_KEY.',
    );
  const { RemoteService } = await import('./remote-service.js');
  return RemoteService.of({ server, key: key === undefined ? undefined : await keyFromInput() }, clock);
}

/** Reads a line that somebody pastes into the terminal, without showing it. */
async function pasted(): Promise<string> {
  note('Paste the key, and press Enter:');
  const input = process.stdin;
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  for await (const line of createInterface({ input, output: unseen, terminal: true })) return line;
  return '';
}

/** Reads the key from standard input. Throws a UsageError if there is none. */
async function keyFromInput(): Promise<string> {
  const key = (process.stdin.isTTY === true ? await pasted() : await text(process.stdin)).trim();
  if (key === '' || key.length > KEY_CHARACTERS || /\s/.test(key))
    throw new UsageError(
      'Standard input has no API key: it must be one word, as "daybook keys create" printed it.',
    );
  return key;
}
