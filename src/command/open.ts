import type { Command } from 'commander';
import { optionOf } from '../config.js';
import { call } from '../socket/call.js';
import { type Invocation, print } from './program.js';

/** Adds `open` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('open')
    .description('print a link to the page that signs in as owner, once and within ten minutes')
    .option('--org <org>', 'organization (default: the only one)')
    .option(...optionOf('DAYBOOK_HOST'))
    .option(...optionOf('DAYBOOK_PORT'))
    .action((options: { org?: string }) => run(options, invocation));
}

async function run(options: { org?: string }, { settings, clock }: Invocation): Promise<void> {
  const chosen = settings(options);
  const { publicUrl, tls, host, port } = chosen;
  const name = host.includes(':') ? `[${host}]` : host;
  const url = publicUrl?.replace(/\/$/, '') ?? `${tls === undefined ? 'http' : 'https'}://${name}:${port}`;
  print(await call(chosen, clock, 'signInLink', { orgId: options.org, url }));
}
