import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { count, table } from '../terminal/terminal.js';
import { jsonFile } from './json-file.js';
import { type Invocation, print } from './program.js';

interface SetOptions {
  readonly org: string;
  readonly revision?: string;
  readonly json?: boolean;
}

interface HistoryOptions {
  readonly org: string;
  readonly limit: string;
  readonly json?: boolean;
}

interface DiffOptions {
  readonly org: string;
  readonly json?: boolean;
}

/** Adds `controls` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const controls = program
    .command('controls')
    .description("read and change an organization's enterprise controls");

  controls
    .command('get')
    .description('print the settings as JSON, with secrets masked')
    .requiredOption('--org <org>', 'organization')
    .action((options: { org: string }) => get(options, invocation));

  controls
    .command('set')
    .description('replace all settings; a secret given as "***" stays as it is')
    .argument('<file>', 'JSON file with the settings, or - for standard input')
    .requiredOption('--org <org>', 'organization')
    .option('--revision <number>', 'only if this is the newest revision')
    .option('--json', 'print JSON')
    .action((file: string, options: SetOptions) => set(file, options, invocation));

  controls
    .command('history')
    .description('list the changes, newest first')
    .requiredOption('--org <org>', 'organization')
    .option('--limit <number>', 'number of changes, at most 100', '20')
    .option('--json', 'print JSON')
    .action((options: HistoryOptions) => history(options, invocation));

  controls
    .command('diff')
    .description('show what changed between two revisions')
    .argument('[from]', 'revision, or 0 for no settings (default: the one before the newest)')
    .argument('[to]', 'revision (default: the newest)')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON')
    .action((from: string | undefined, to: string | undefined, options: DiffOptions) =>
      diff(from, to, options, invocation),
    );
}

async function get({ org }: { org: string }, { settings, clock }: Invocation): Promise<void> {
  const change = await call(settings(), clock, 'getControls', { orgId: org });
  print(JSON.stringify(change.settings, null, 2));
}

async function set(file: string, options: SetOptions, { settings, clock }: Invocation): Promise<void> {
  const change = await call(settings(), clock, 'setControls', {
    orgId: options.org,
    settings: await jsonFile(file),
    user: userInfo().username,
    revision: numberOf(options.revision, '--revision'),
  });
  print(options.json === true ? JSON.stringify(change) : `This is revision ${change.revision}.`);
}

async function history(options: HistoryOptions, { settings, clock }: Invocation): Promise<void> {
  const limit = Number(numberOf(options.limit, '--limit'));
  const { changes } = await call(settings(), clock, 'listControls', { orgId: options.org, limit });
  if (options.json === true) return print(JSON.stringify(changes));
  print(
    table(
      changes.map(({ revision, updatedAt, user, settings }) => ({
        revision,
        updated_at: updatedAt,
        user: user?.id,
        members: Object.keys(settings).length,
      })),
    ),
  );
}

async function diff(
  from: string | undefined,
  to: string | undefined,
  options: DiffOptions,
  { settings, clock }: Invocation,
): Promise<void> {
  const found = await call(settings(), clock, 'diffControls', {
    orgId: options.org,
    from: numberOf(from, 'from'),
    to: numberOf(to, 'to'),
  });
  if (options.json === true) return print(JSON.stringify(found));
  const { differences } = found;
  print(`Revision ${found.from} to ${found.to}: ${count(differences.length, 'difference')}`);
  for (const { member, ...values } of differences) {
    if ('before' in values) print(`- ${member}: ${JSON.stringify(values.before)}`);
    if ('after' in values) print(`+ ${member}: ${JSON.stringify(values.after)}`);
  }
}

/** A number from an option; undefined if there is none. */
function numberOf(text: string | undefined, name: string): number | undefined {
  if (text !== undefined && !/^\d{1,9}$/.test(text))
    throw new UsageError(`${name} must be a number, not "${text}".`);
  return text === undefined ? undefined : Number(text);
}
