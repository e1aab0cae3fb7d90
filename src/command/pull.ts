import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { call } from '../socket/call.js';
import type { CommandResult } from '../socket/commands.js';
import { count, table } from '../terminal/terminal.js';
import { jsonFile } from './json-file.js';
import { type Invocation, note, print } from './program.js';

interface Options {
  readonly org: string;
  readonly json?: boolean;
}

type Pull = CommandResult<'pull'>['pulls'][number];

/** Adds `pull` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const pull = program
    .command('pull')
    .description("fetch what vendors' APIs say of an organization; the service does it each night");

  pull
    .command('now', { isDefault: true })
    .description('fetch it now (the default)')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON')
    .action((options: Options) => now(options, invocation));

  pull
    .command('list')
    .description('list the vendors, and the last pull of each report')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON; its member settings is what "pull set" takes')
    .action((options: Options) => list(options, invocation));

  pull
    .command('set')
    .description('replace the vendors; a key given as "***" stays as it is')
    .argument('<file>', 'JSON file as in docs/vendors.md, or - for standard input')
    .requiredOption('--org <org>', 'organization')
    .action((file: string, options: Options) => set(file, options, invocation));
}

async function now({ org, json }: Options, { settings, clock }: Invocation): Promise<void> {
  const { pulls } = await call(settings(), clock, 'pull', { orgId: org });
  if (pulls.some(({ fault }) => fault !== '')) process.exitCode = 1;
  if (json === true) return print(JSON.stringify({ pulls }));
  if (pulls.length === 0)
    return note(`No vendor is pulled: "daybook pull set FILE --org ${org}" says which ones are.`);
  print(pulls.map(sentenceOf).join('\n'));
}

async function list({ org, json }: Options, { settings, clock }: Invocation): Promise<void> {
  const found = await call(settings(), clock, 'getVendors', { orgId: org });
  if (json === true) return print(JSON.stringify(found));
  const { vendors } = found.settings;
  print(
    [
      vendors.length === 0
        ? `No vendor is pulled: "daybook pull set FILE --org ${org}" says which ones are.`
        : table(vendors.map(({ vendor, url, since }) => ({ vendor, url, since }))),
      ...found.pulls.map(
        (pull) => `${new Date(pull.pulledAt).toISOString().slice(0, 16)}Z ${sentenceOf(pull)}`,
      ),
      ...found.captured.map(
        ({ agent, share, costShare, users, from, to }) =>
          `${agent}: events have ${percent(share)} of the tokens${costShare === null ? '' : `, and ${percent(costShare)} of the cost,`} that the vendor reports of ${count(users, 'user')} from ${from} to ${to}`,
      ),
    ].join('\n'),
  );
}

async function set(file: string, { org }: Options, { settings, clock }: Invocation): Promise<void> {
  const wanted = { orgId: org, settings: await jsonFile(file), user: userInfo().username };
  const { settings: stored } = await call(settings(), clock, 'setVendors', wanted);
  print(`${count(stored.vendors.length, 'vendor')} of ${org}: fetch them with "daybook pull --org ${org}".`);
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** A pull as a sentence. */
function sentenceOf({ report, days, changed, missed, fault }: Pull): string {
  const fetched = `${report}: ${count(days, 'day')} fetched, ${changed} changed`;
  return fault === '' ? fetched : `${fetched}, ${missed.length} missed: ${fault}.`;
}
