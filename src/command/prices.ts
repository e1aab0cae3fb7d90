import type { Command } from 'commander';
import { call } from '../socket/call.js';
import { count, table } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';

/** Adds `prices check` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('prices')
    .description('compare the price list with the models of the events')
    .command('check')
    .description(
      'name the models on built days with tokens whose price the list does not know, and exit with 1 if there are any',
    )
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run(options, invocation));
}

async function run(options: { json?: boolean }, { settings, clock }: Invocation): Promise<void> {
  const models = await call(settings(), clock, 'checkPrices', {});
  if (models.length > 0) process.exitCode = 1;
  if (options.json === true) return print(JSON.stringify(models));
  if (models.length === 0) return print('The price list has a price for all tokens of all built days.');
  print(table(models.map(({ ratio, ...model }) => ({ ...model, share: `${(ratio * 100).toFixed(2)} %` }))));
  print(
    `${count(models.length, 'model')} with tokens that no cost includes: add prices to a list of your own (DAYBOOK_PRICES, docs/prices.md).`,
  );
}
