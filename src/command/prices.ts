import type { Command } from 'commander';
import { readNewerPrices } from '../money/update-prices.js';
import { call } from '../socket/call.js';
import { hasDatabase } from '../socket/open-store.js';
import { count, table } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';

/** Adds `prices check` and `prices update` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const prices = program
    .command('prices')
    .description('compare the price list with the models of the events, and fetch newer prices');
  prices
    .command('check')
    .description(
      'name the models on built days with tokens whose price the list does not know, and exit with 1 if there are any',
    )
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => check(options, invocation));
  prices
    .command('update')
    .description('fetch newer prices into the data folder, and print what they change')
    .option(
      '--from <address|file>',
      "data.json of genai-prices, or LiteLLM's model_prices_and_context_window.json (default: DAYBOOK_PRICES_FROM)",
    )
    .option('--dry-run', 'print what would change, and change nothing')
    .action((options: { from?: string; dryRun?: boolean }) => update(options, invocation));
}

async function check(options: { json?: boolean }, { settings, clock }: Invocation): Promise<void> {
  const models = await call(settings(), clock, 'checkPrices', {});
  if (models.length > 0) process.exitCode = 1;
  if (options.json === true) return print(JSON.stringify(models));
  if (models.length === 0) return print('The price list has a price for all tokens of all built days.');
  print(table(models.map(({ ratio, ...model }) => ({ ...model, share: `${(ratio * 100).toFixed(2)} %` }))));
  print(
    `${count(models.length, 'model')} with tokens that no cost includes: run "daybook prices update" to fetch newer prices, or add prices to a list of your own (DAYBOOK_PRICES, docs/prices.md).`,
  );
}

async function update(
  { from, dryRun }: { from?: string; dryRun?: boolean },
  { settings, clock }: Invocation,
): Promise<void> {
  const config = settings();
  const newer = await readNewerPrices(config.data, from ?? config.pricesFrom, clock());
  if (newer.changes.length === 0) return print(`${newer.from} changes no price.`);
  print(table(newer.changes.map((change) => ({ ...change }))));
  const changes = `${count(newer.changes.length, 'change')} from ${newer.from}`;
  if (dryRun === true) return print(`${changes}: without --dry-run they would count.`);
  await newer.save();
  const { replaced } = hasDatabase(config) ? await call(config, clock, 'usePrices', {}) : { replaced: [] };
  for (const sentence of replaced) print(sentence);
  if (replaced.length === 0) print(`${changes}: they count now. No day was built again.`);
}
