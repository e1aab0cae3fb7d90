import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { count, table } from '../terminal/terminal.js';
import { jsonFile } from './json-file.js';
import { type Invocation, print } from './program.js';

interface ListOptions {
  readonly org: string;
  readonly json?: boolean;
}

/** Adds `alerts` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const alerts = program
    .command('alerts')
    .description('list alerts, and say where they go; the service sends them');

  alerts
    .command('list')
    .description('list the alerts that hold, the ways out, and what could not be delivered')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON; its member settings is what "alerts set" takes')
    .action((options: ListOptions) => list(options, invocation));

  alerts
    .command('set')
    .description('replace the ways out and mutes; a secret given as "***" stays as it is')
    .argument('<file>', 'JSON file as in docs/alerts.md, or - for standard input')
    .requiredOption('--org <org>', 'organization')
    .action((file: string, options: ListOptions) => set(file, options, invocation));

  alerts
    .command('test')
    .description('send a test one way out')
    .argument('<way>', 'its name')
    .requiredOption('--org <org>', 'organization')
    .action((way: string, options: ListOptions) => test(way, options, invocation));
}

async function list({ org, json }: ListOptions, { settings, clock }: Invocation): Promise<void> {
  const found = await call(settings(), clock, 'getAlerts', { orgId: org });
  if (json === true) return print(JSON.stringify(found));
  const { alerts, undelivered } = found;
  const { ways, mutes } = found.settings;
  const iso = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
  const parts = [
    // Whole sentences: a table would cut them.
    ...(alerts.length === 0
      ? ['Nothing is on.']
      : alerts.map(({ beganAt, text }) => `since ${iso(beganAt)}: ${text}`)),
    ways.length === 0
      ? `Nobody is told: "daybook alerts set FILE --org ${org}" says who is.`
      : table(ways.map(({ name, kind, takes }) => ({ way: name, kind, takes: takes.join(', ') }))),
    ...mutes.map(
      ({ condition, until }) => `${condition} is muted${until === null ? '' : ` until ${until}`}.`,
    ),
    ...(undelivered.length === 0
      ? []
      : [
          `${count(undelivered.length, 'message')} could not be delivered:`,
          ...undelivered.map(({ way, madeAt, answer }) => `${iso(madeAt)} to ${way || 'leads'}: ${answer}`),
        ]),
  ];
  print(parts.join('\n'));
}

async function set(file: string, { org }: ListOptions, { settings, clock }: Invocation): Promise<void> {
  const wanted = { orgId: org, settings: await jsonFile(file), user: userInfo().username };
  const { settings: stored } = await call(settings(), clock, 'setAlerts', wanted);
  print(`Alerts of ${org} go ${count(stored.ways.length, 'way')}: try them with "daybook alerts test".`);
}

async function test(way: string, { org }: ListOptions, { settings, clock }: Invocation): Promise<void> {
  const { answer } = await call(settings(), clock, 'testAlerts', { orgId: org, way });
  if (answer === null) return print(`A test went to ${way}.`);
  throw new UsageError(`The test did not arrive: ${answer}.`);
}
