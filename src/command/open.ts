import type { Command } from 'commander';
import { call } from '../socket/call.js';
import { localUrl } from './local-url.js';
import { type Invocation, note, print } from './program.js';

/** Adds `open` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('open')
    .description('print a link to the page that signs in as owner, once and within ten minutes')
    .option('--org <org>', 'organization (default: the only one)')
    .action((options: { org?: string }) => run(options, invocation));
}

async function run(options: { org?: string }, { settings, clock }: Invocation): Promise<void> {
  const chosen = settings(options);
  // Used if no service runs: the address that it would have.
  const url = chosen.publicUrl ?? localUrl(chosen);
  const { link, isServed } = await call(chosen, clock, 'signInLink', { orgId: options.org, url });
  print(link);
  if (!isServed)
    note(
      `No service uses ${chosen.data}: start it with "daybook serve", and the link works if that is at ${url}.`,
    );
}
