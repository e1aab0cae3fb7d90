import type { Command } from 'commander';
import type { Verified } from '../lake/verify.js';
import { count } from '../terminal.js';
import { call } from './call.js';
import { type Invocation, print } from './program.js';

/** Adds `lake` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const lake = program.command('lake').description('the built days as Parquet files, for other programs');

  lake
    .command('verify')
    .description('compare the files with the store, and end with 1 when any differs')
    .option('--org <org>', 'of this organization only')
    .option('--json', 'print one JSON object')
    .action((options: { org?: string; json?: boolean }) => verify(options, invocation));

  lake
    .command('publish')
    .description('compare the files with the store, and write those again that differ')
    .option('--json', 'print one JSON object')
    .action((options: { json?: boolean }) => publish(options, invocation));
}

async function verify(
  options: { org?: string; json?: boolean },
  { settings, clock }: Invocation,
): Promise<void> {
  const found = await call(settings(), clock, 'verifyLake', { orgId: options.org });
  if (found.differences.length > 0) process.exitCode = 1;
  if (options.json === true) return print(JSON.stringify(found));
  for (const { path, detail } of found.differences) print(`${path} ${detail}.`);
  if (found.differences.length > 0) process.stderr.write('"daybook lake publish" writes them again.\n');
  else if (found.organizations > 0) print('The lake has the rows that the store has.');
  print(compared(found));
}

/** Says what was compared with what, and what was not. */
function compared({ organizations, tables, days, files, rows, waiting }: Verified): string {
  if (organizations === 0) return 'There was nothing to compare: no day is built, and the lake has no files.';
  return [
    `Compared: ${count(organizations, 'organization')}, ${count(days, 'built day')}, ${tables} tables; ${count(rows, 'row')} in ${count(files, 'file')}.`,
    '  Day tables: the number of rows of each day and their SHA-256 with those that its build noted.',
    '  Events: the number of each day and a hash of all their columns with the events in the store.',
    '  The size of each file with the catalog of its organization.',
    ...(waiting === 0
      ? []
      : [`Not compared: ${count(waiting, 'day')} not over yet, or waiting for a build.`]),
  ].join('\n');
}

async function publish(options: { json?: boolean }, { settings, clock }: Invocation): Promise<void> {
  const found = await call(settings(), clock, 'publishLake', {});
  if (options.json === true) return print(JSON.stringify(found));
  for (const { path, detail } of found.differences) print(`${path} ${detail}.`);
  print(
    found.differences.length === 0
      ? 'Every built day is in the lake.'
      : `${count(found.differences.length, 'file')} put right.`,
  );
  if (found.unneeded > 0)
    print(`${count(found.unneeded, 'file')} removed: days without rows need none any more.`);
}
