import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseInstant } from '../day.js';
import { rename, rm } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import { requireKept } from '../lake/earlier-snapshot.js';
import { outputWidth, stateFolder } from '../settings/config.js';
import { call, settingsOfService } from '../socket/call.js';
import type { Format, Parameters, Shell, ShellOptions } from '../sql/sql-shell.js';
import { logPath } from '../store/state/access-log.js';
import type { Invocation } from './program.js';
import { isRemote, type ServerOptions, serviceOf, withServer } from './server-options.js';

interface SqlOptions extends ServerOptions {
  readonly file?: string;
  readonly param: Parameters;
  readonly format: Format;
  readonly output?: string;
  readonly org?: string;
  readonly asOf?: string;
  readonly wide?: boolean;
  readonly write?: boolean;
}

/** Adds `name=value` to the parameters given before. */
function withParameter(given: string, before: Parameters): Parameters {
  const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(given) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('It must be name=value, for $name in the SQL.');
  return { ...before, [name]: value };
}

/** Adds `sql` to the program. */
export function add(program: Command, invocation: Invocation): void {
  withServer(
    program
      .command('sql')
      .description('query the lake with SQL: a query, a file, standard input, or a prompt')
      .argument('[query]', 'SQL, or - for standard input (default: a prompt)')
      .option('-f, --file <file>', 'file of SQL')
      .addOption(
        new Option('--param <name=value>', 'value of the parameter $name; can be repeated')
          .argParser(withParameter)
          .default({}, 'none'),
      )
      .addOption(
        new Option('--format <format>', 'format of the rows; parquet needs --output')
          .choices(['table', 'csv', 'json', 'parquet'])
          .default('table'),
      )
      .option('-o, --output <file>', 'write the rows of one query to this file')
      .option('--org <org>', 'read only this organization')
      .option('--as-of <instant>', 'read what was published at this instant, such as 2026-06-10T09:00:00Z')
      .option('--wide', 'show all columns of a table, however wide it gets')
      .option(
        '--write',
        "also allow tables in memory, reading files, and COPY ... TO files; never writes Daybook's own data",
      ),
  ).action((query: string | undefined, options: SqlOptions) => run(query, options, invocation));
}

async function run(query: string | undefined, options: SqlOptions, invocation: Invocation): Promise<void> {
  const { format, output, file } = options;
  if (query !== undefined && file !== undefined) throw new UsageError('Give a query or --file, not both.');
  if (format === 'parquet' && output === undefined)
    throw new UsageError('--format parquet writes a file: name it with --output.');
  if (options.key === '-' && query === undefined && file === undefined)
    throw new UsageError(
      'Standard input has the key: give a query or --file, or set DAYBOOK_KEY instead of --key.',
    );
  const isAsking = query === undefined && file === undefined && process.stdin.isTTY === true;
  if (isAsking && isRemote(options))
    throw new UsageError(
      'The prompt reads the data of this machine: give a query or --file to ask a service.',
    );
  if (isAsking && output !== undefined)
    throw new UsageError('--output writes the rows of one query: give exactly one.');
  const sql = isAsking ? '' : await sqlOf(query, file);
  const { draftOf } = await import('../sql/sql-shell.js');
  const draft = output === undefined ? undefined : draftOf(output);
  const out = draft === undefined || format === 'parquet' ? process.stdout : createWriteStream(draft);
  try {
    if (isRemote(options)) await askService(sql, options, out, invocation);
    else {
      const shell = await open(options, out, invocation);
      if (!isAsking) await shell.run(sql);
      else {
        const { prompt } = await import('../sql/sql-prompt.js');
        const historyPath = join(stateFolder(), 'sql-history');
        return await prompt(shell, { input: process.stdin, output: process.stdout, historyPath });
      }
    }
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

function shellOptions(options: SqlOptions): ShellOptions {
  const width = options.wide === true || options.output !== undefined ? undefined : outputWidth();
  const { org: orgId, format, output, param: parameters, write } = options;
  const asOf = options.asOf === undefined ? undefined : parseInstant(options.asOf, '--as-of');
  return { orgId, asOf, format, output, parameters, width, isWriting: write === true };
}

/** Runs SQL in the service from the options. */
async function askService(
  sql: string,
  options: SqlOptions,
  out: Writable,
  { clock }: Invocation,
): Promise<void> {
  if (options.org !== undefined) throw new UsageError('The key decides the organization: leave --org out.');
  if (options.write === true)
    throw new UsageError('--write works only without a service: leave --server and --key out.');
  const [service, { RemoteSql }] = await Promise.all([serviceOf(options, clock), import('./remote-sql.js')]);
  await new RemoteSql(service, shellOptions(options), out).run(sql);
}

/** Opens a shell for SQL on the lake in the data folder. */
async function open(options: SqlOptions, out: Writable, { settings, clock }: Invocation): Promise<Shell> {
  const { Shell } = await import('../sql/sql-shell.js');
  const config = settings();
  const chosen = shellOptions(options);
  if (chosen.asOf !== undefined) requireKept(chosen.asOf, await settingsOfService(config), clock());
  const id = randomUUID().replaceAll('-', '');
  return Shell.open(config, chosen, out, {
    path: logPath(config.data, id),
    write: async () => void (await call(config, clock, 'writeAccessLog', { orgId: options.org, id })),
  });
}

async function sqlOf(query: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    return readFile(file, 'utf8').catch(() => {
      throw new UsageError(`The file ${file} can't be read: check its name and its permissions.`);
    });
  }
  return query === undefined || query === '-' ? text(process.stdin) : query;
}
