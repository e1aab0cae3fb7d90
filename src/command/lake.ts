import type { Command } from 'commander';
import type { Verified } from '../lake/verify.js';
import { call } from '../socket/call.js';
import { count } from '../terminal/terminal.js';
import { type Invocation, note, print } from './program.js';

/** Adds `lake` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const lake = program.command('lake').description('check and repair the Delta Lake tables of built days');

  lake
    .command('verify')
    .description('compare the files with the store; exits with 1 if any differs')
    .option('--org <org>', 'only this organization')
    .option('--json', 'print one JSON object')
    .action((options: { org?: string; json?: boolean }) => verify(options, invocation));

  lake
    .command('publish')
    .description('compare the files with the store and rewrite those that differ')
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
  if (found.differences.length > 0) note('Run "daybook lake publish" to rewrite them.');
  else if (found.organizations > 0) print('The lake has the same rows as the store.');
  print(compared(found));
}

/** Says what was compared, and what wasn't. */
function compared({ organizations, tables, days, files, rows, waiting }: Verified): string {
  if (organizations === 0) return 'There is nothing to compare: no day is built, and the lake has no files.';
  return [
    `Compared: ${count(organizations, 'organization')}, ${count(days, 'built day')}, ${tables} tables; ${count(rows, 'row')} in ${count(files, 'file')}.`,
    "  Day tables: each day's number of rows and their SHA-256, with those that its build recorded.",
    "  Events: each day's number of rows and a hash of all columns, with the events in the store.",
    '  Files: the size of each, with the snapshot of its organization.',
    ...(waiting === 0 ? [] : [`Not compared: ${count(waiting, 'day')} still open, or waiting for a build.`]),
  ].join('\n');
}

async function publish(options: { json?: boolean }, { settings, clock }: Invocation): Promise<void> {
  const found = await call(settings(), clock, 'publishLake', {});
  if (options.json === true) return print(JSON.stringify(found));
  for (const { path, detail } of found.differences) print(`${path} ${detail}.`);
  print(
    found.differences.length === 0
      ? 'Every built day is in the lake.'
      : `${count(found.differences.length, 'difference')} repaired.`,
  );
}
