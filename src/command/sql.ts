import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { type Config, stateFolder } from '../config.js';
import { UsageError } from '../exit.js';
import type { Format } from '../sql/sql-shell.js';
import type { Invocation } from './program.js';

interface SqlOptions {
  readonly file?: string;
  readonly format: Format;
  readonly output?: string;
  readonly org?: string;
  readonly write?: boolean;
}

/** Adds `sql` to the program. */
export function add(program: Command, { settings }: Invocation): void {
  program
    .command('sql')
    .description('query the lake with SQL: a query, a file, standard input, or a prompt')
    .argument('[query]', 'SQL, or - for standard input (default: a prompt)')
    .option('-f, --file <file>', 'file of SQL')
    .addOption(
      new Option('--format <format>', 'format of the rows; parquet needs --output')
        .choices(['table', 'csv', 'json', 'parquet'])
        .default('table'),
    )
    .option('-o, --output <file>', 'write the rows of one query to this file')
    .option('--org <org>', 'read only this organization')
    .option(
      '--write',
      "also allow tables in memory, reading files, and COPY ... TO files; never writes Daybook's own data",
    )
    .action((query: string | undefined, options: SqlOptions) => run(settings(), query, options));
}

async function run(config: Config, query: string | undefined, options: SqlOptions): Promise<void> {
  const { format, output, file } = options;
  if (query !== undefined && file !== undefined) throw new UsageError('Give a query or --file, not both.');
  if (format === 'parquet' && output === undefined)
    throw new UsageError('--format parquet writes a file: name it with --output.');
  const isAsking = query === undefined && file === undefined && process.stdin.isTTY === true;
  if (isAsking && output !== undefined)
    throw new UsageError('--output writes the rows of one query: give exactly one.');
  const sql = isAsking ? '' : await sqlOf(query, file);
  const { Shell, draftOf } = await import('../sql/sql-shell.js');
  const draft = output === undefined ? undefined : draftOf(output);
  const out = draft === undefined || format === 'parquet' ? process.stdout : createWriteStream(draft);
  try {
    const shell = await Shell.open(
      config,
      { orgId: options.org, format, output, isWriting: options.write === true },
      out,
    );
    if (isAsking) {
      const { prompt } = await import('../sql/sql-prompt.js');
      const historyPath = join(stateFolder(), 'sql-history');
      return await prompt(shell, { input: process.stdin, output: process.stdout, historyPath });
    }
    await shell.run(sql);
    if (output === undefined || draft === undefined) return;
    if (out !== process.stdout) {
      out.end();
      await finished(out);
    }
    await rename(draft, resolve(output));
  } finally {
    if (draft !== undefined) await rm(draft, { force: true });
  }
}

async function sqlOf(query: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    return readFile(file, 'utf8').catch(() => {
      throw new UsageError(`The file ${file} can't be read.`);
    });
  }
  return query === undefined || query === '-' ? text(process.stdin) : query;
}
