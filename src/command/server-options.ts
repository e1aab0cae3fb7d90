import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import { optionOf } from '../settings/config.js';
import { keyFromInput } from './key-from-input.js';
import type { RemoteService } from './remote-service.js';

/** The options of a command that can ask a remote service. */
export interface ServerOptions {
  readonly server?: string;
  readonly key?: string;
}

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
