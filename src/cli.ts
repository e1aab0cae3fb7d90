#!/usr/bin/env node
import { constants, createWriteStream, statSync } from 'node:fs';
import { access, mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './api/report.js';
import type { Role as RoleName } from './api/roles.js';
import type { CheckOptions } from './command/readiness.js';
import type { RemoteService } from './command/service.js';
import type { Config } from './config.js';
import type { Demo } from './demo.js';
import { messageOf, UsageError } from './exit.js';
import type { AgentName, Change } from './hooks/install.js';
import type { Verified } from './lake/verify.js';

// A key among the arguments is in the list of processes until this takes them off it.
if (process.argv.includes('--key')) process.title = 'daybook';

// Agents wait for their hooks on every event: these start without what only the other commands need.
const [, , noun, verb, ...rest] = process.argv;
const isHelp = rest.some((word) => word === '--help' || word === '-h');
if (noun === 'hooks' && (verb === 'send' || verb === 'run' || verb === 'deliver') && !isHelp) {
  const { hookCommand } = await import('./hooks/command.js');
  process.exit(await hookCommand(verb, rest, Date.now, process.env));
}

const [
  { Argument, Command, CommanderError, Option },
  { ANSWERS, GROUPS },
  { Role },
  { addBackup },
  { call },
  { addSql },
  { isDebugging, readProcessConfig, showProcessConfig, VERSION },
  { addDays, dayOf, lastClosedDay, parseDay },
  { inputFiles },
  { isNestedDeeper, LEVELS_AT_MOST },
  { sentenceOf },
  { bytes, csv, table, withProgress },
] = await Promise.all([
  import('commander'),
  import('./api/report.js'),
  import('./api/roles.js'),
  import('./command/backup.js'),
  import('./command/call.js'),
  import('./command/sql.js'),
  import('./config.js'),
  import('./day.js'),
  import('./ingest/files.js'),
  import('./json-depth.js'),
  import('./store/check.js'),
  import('./terminal.js'),
]);

const clock = () => Date.now();
const print = (text: string): void => {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
};

/** The options that mean the same as a setting. */
function variables(options: {
  data?: string;
  host?: string;
  port?: string;
}): Record<string, string | undefined> {
  return { DAYBOOK_DATA: options.data, DAYBOOK_HOST: options.host, DAYBOOK_PORT: options.port };
}

/** The settings of the environment, with the options that mean the same. */
function settings(options: { data?: string; host?: string; port?: string; acceptLoss?: boolean }): Config {
  return { ...readProcessConfig(variables(options)), acceptsLoss: options.acceptLoss === true };
}

const program = new Command('daybook')
  .description('Analytics for the coding agents of an organization: exact day tables and a REST API.')
  .version(VERSION)
  .option('--data <folder>', 'folder of the database (default: DAYBOOK_DATA, else data)')
  .option(
    '--accept-loss',
    'open a database that has lost something, and go on without that (docs/operations.md)',
  )
  .exitOverride()
  .configureOutput({ outputError: () => {} });

/** Commands that write files for their user, or run the user's programs, outside of the data folder. */
const FOR_THE_USER = ['agent', 'computers', 'hooks', 'readiness', 'sql'];

// What the others write holds events and secrets of people: DuckDB's files too get their permissions from the process alone.
program.hook('preAction', (_, action) => {
  let command = action;
  while (command.parent !== null && command.parent !== program) command = command.parent;
  if (!FOR_THE_USER.includes(command.name())) process.umask(0o077);
});

/** What a build or a command may take longer than a request, when the service is stopped. */
const STOP_GRACE_SECONDS = 20;

program
  .command('serve')
  .description('serve the REST API until stopped')
  .option('--host <address>', 'address to listen on (default: DAYBOOK_HOST, else 127.0.0.1)')
  .option('--port <number>', 'port to listen on (default: DAYBOOK_PORT, else 8787)')
  .option('--demo', 'load the sample into a database that is new')
  .action(async (options: { host?: string; port?: string; demo?: boolean }) => {
    const chosen = settings({ ...program.opts(), ...options });
    // The other commands start faster without the service.
    const [{ serve }, { loadDemo }] = await Promise.all([import('./server.js'), import('./demo.js')]);
    let demo: Demo | undefined;
    const serving = await serve(chosen, clock, async (store) => {
      if (options.demo === true) demo = await loadDemo(store, chosen.historyStart, clock);
    });
    serving.lost.then((error) => {
      process.stderr.write(
        `Daybook ends, since the database failed and could not be opened again (${messageOf(error)}): start it again.\n`,
      );
      process.exit(1);
    });
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        // Whatever is under way then is undone or begun again by the next start: nothing that was acknowledged is lost.
        if (isStopping) process.exit(signal === 'SIGINT' ? 130 : 143);
        isStopping = true;
        serving.stop().catch(fail);
        setTimeout(
          () => {
            process.stderr.write('Daybook ends before all is done: the next start goes on with it.\n');
            process.exit(1);
          },
          1000 * (chosen.timeoutSeconds + STOP_GRACE_SECONDS),
        ).unref();
      });
    }
    if (demo !== undefined) print(welcome(demo, serving.url));
    print(`Daybook serves on ${serving.url} from ${chosen.data}. Stop it with Ctrl-C.`);
  });

/** What the first start of the demo prints: what it found, the key, and a request to try. */
function welcome({ orgId, key, summary, firstDay, lastDay }: Demo, url: string): string {
  return [
    `The sample is loaded: real sessions of ${summary.length} public projects, each as one user of the organization ${orgId}.`,
    '',
    table(summary),
    '',
    `Owner key of ${orgId} (shown this once): ${key}`,
    '',
    `curl -H 'Authorization: Bearer ${key}' \\`,
    `  '${url}/api/v1/analytics/activity?startDate=${firstDay}&endDate=${lastDay}'`,
    '',
  ].join('\n');
}

program
  .command('health')
  .description(
    'ask the service of these settings on this machine whether it is alive; ends with 1 when it is not',
  )
  .action(async () => {
    const { checkHealth } = await import('./command/health.js');
    print(`The service at ${await checkHealth(settings(program.opts()))} is alive.`);
  });

program
  .command('ingest')
  .description('take events or transcripts in: files, folders, .gz and .zst, - for standard input')
  .argument('[path...]', 'what to read (of claude-code by default ~/.claude/projects)')
  .requiredOption('--org <org>', 'organization that the events are of')
  .addOption(
    new Option('--source <format>', 'format of the lines')
      .choices(['canonical', 'claude-code'])
      .default('canonical'),
  )
  .option('--user <id>', 'whose transcripts they are (default: the name of the one who runs it)')
  .option('--strict', 'exit with 1 when any line was rejected')
  .option('--json', 'print one JSON object')
  .action(async (paths: string[], options: IngestOptions) => {
    const chosen = settings(program.opts());
    if (options.source === 'canonical' && options.user !== undefined) {
      throw new UsageError('--user goes with --source claude-code: canonical events say whose they are.');
    }
    if (paths.length === 0 && options.source === 'canonical')
      throw new UsageError('Name the files or folders to read, or - for standard input.');
    const named = paths.length > 0 ? paths : [join(homedir(), '.claude', 'projects')];
    const started = performance.now();
    const spool = join(chosen.data, 'inbox', `stdin-${process.pid}`);
    try {
      if (named.includes('-')) {
        await mkdir(join(chosen.data, 'inbox'), { recursive: true });
        await pipeline(process.stdin, createWriteStream(spool));
      }
      const files = inputFiles(
        named.map((path) => (path === '-' ? spool : path)),
        options.source,
      );
      const result = await withProgress('Reading', (progress) =>
        call(
          chosen,
          clock,
          'ingest',
          {
            orgId: options.org,
            format: options.source,
            ...(options.source === 'canonical' ? {} : { userId: options.user ?? userInfo().username }),
            files,
          },
          progress,
        ),
      );
      if (files.length === 0)
        process.stderr.write(
          `There are no files to read in ${named.join(', ')}: docs/events.md says which count.\n`,
        );
      const seconds = (performance.now() - started) / 1000;
      const { accepted, duplicates, rejected, byReason } = result;
      if (options.json === true) {
        print(
          JSON.stringify({
            accepted,
            duplicates,
            rejected,
            by_reason: byReason,
            seconds: Number(seconds.toFixed(3)),
          }),
        );
      } else {
        const read = accepted + duplicates + rejected;
        const rate = seconds < 1 ? '' : `: ${Math.round(read / seconds)} events/s`;
        print(`${count(result.files, 'file')}, ${bytes(result.bytes)}, in ${seconds.toFixed(1)} s${rate}`);
        print(`${accepted} accepted, ${count(duplicates, 'duplicate')}, ${rejected} rejected`);
        if (read === 0 && result.bytes > 0 && options.source === 'claude-code')
          print('  No line is one of a Claude Code transcript: for events leave --source out.');
        for (const [reason, lines] of Object.entries(byReason)) print(`  ${lines} ${reason}`);
        for (const { source, line_no, detail } of result.examples)
          print(`  ${source === spool ? '-' : source}:${line_no}: ${detail}`);
        if (rejected > result.examples.length) print('  ... all of them are in the table rejects.');
      }
      if (
        rejected > 0 &&
        options.source === 'canonical' &&
        result.examples.every(({ detail }) => /^(event_id|user_id) is required/.test(detail))
      )
        process.stderr.write('If these are Claude Code transcripts, add --source claude-code.\n');
      const isAllRejected = rejected > 0 && accepted + duplicates === 0;
      if (isAllRejected || (options.strict === true && rejected > 0)) process.exitCode = 1;
    } finally {
      await rm(spool, { force: true });
    }
  });

interface IngestOptions {
  org: string;
  source: 'canonical' | 'claude-code';
  user?: string;
  strict?: boolean;
  json?: boolean;
}

program
  .command('build')
  .description('build the closed days that are stale or were never built')
  .option('--from <day>', 'build the days from this one on, stale or not')
  .option('--to <day>', 'build the days up to this one, stale or not')
  .option('--all', 'build every closed day (goes without --from and --to)')
  .option('--json', 'print one JSON object')
  .action(async (options: { from?: string; to?: string; all?: boolean; json?: boolean }) => {
    const started = performance.now();
    const range = {
      ...(options.from === undefined ? {} : { from: parseDay(options.from, '--from') }),
      ...(options.to === undefined ? {} : { to: parseDay(options.to, '--to') }),
      ...(options.all === undefined ? {} : { all: options.all }),
    };
    if (range.all === true && (range.from !== undefined || range.to !== undefined))
      throw new UsageError('--all goes without --from and --to: it builds every closed day.');
    const { days, breaches, setAside } = await withProgress('Building', (progress) =>
      call(settings(program.opts()), clock, 'build', range, progress),
    );
    const seconds = (performance.now() - started) / 1000;
    for (const breach of breaches) process.stderr.write(`${sentenceOf(breach)}\n`);
    for (const { path, reason } of setAside) process.stderr.write(`Set aside: ${path}: ${reason}.\n`);
    if (breaches.length > 0) process.exitCode = 1;
    if (options.json === true) {
      print(
        JSON.stringify({
          days: days.map(({ orgId, day }) => ({ org_id: orgId, day })),
          failed: breaches.map(({ orgId, ...breach }) => ({ org_id: orgId, ...breach })),
          set_aside: setAside,
          seconds: Number(seconds.toFixed(3)),
        }),
      );
      return;
    }
    const span = days.length === 0 ? '' : `, ${days[0]?.day} to ${days.at(-1)?.day},`;
    print(
      days.length === 0
        ? breaches.length > 0
          ? 'No day was built.'
          : `Every closed day is up to date${setAside.length === 0 ? '' : ', without what is set aside in the inbox'}.`
        : `${count(days.length, 'day')}${span} built in ${seconds.toFixed(1)} s.`,
    );
  });

program
  .command('status')
  .description('show what is there: events, days, rejects')
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    const status = await call(settings(program.opts()), clock, 'status', {});
    if (options.json === true) return print(JSON.stringify(status));
    const { organizations, last_run: run, set_aside } = status;
    for (const { path, reason } of set_aside) print(`Set aside: ${path}: ${reason}.`);
    if (organizations.length === 0) return print('There are no events yet: "daybook ingest" takes them in.');
    print(
      table(
        organizations.map(({ rejects, ...counts }) => ({
          ...counts,
          rejects: Object.values(rejects).reduce((sum, lines) => sum + lines, 0),
        })),
      ),
    );
    for (const { org_id, rejects } of organizations) {
      for (const [reason, lines] of Object.entries(rejects))
        print(`  ${org_id}: ${lines} rejected, ${reason}`);
    }
    if (run !== null) {
      const failed = run.error === null ? '' : `, ${run.days_failed} failed: ${run.error}`;
      print(
        `Last build: ${new Date(run.ended_at).toISOString()} (${run.cause}), ${count(run.days_built, 'day')} built${failed}`,
      );
    }
  });

program
  .command('report')
  .description('print the rows of one answer of the analytics API')
  .addArgument(new Argument('<answer>', 'which numbers').choices(ANSWERS))
  .requiredOption('--org <org>', 'organization')
  .requiredOption('--from <day>', 'first day')
  .requiredOption('--to <day>', 'last day')
  .option('--group-by <what>', 'model (tokens), tool_name (tools) or client (activity)')
  .addOption(
    new Option('--format <format>', 'table, json (what the endpoint has in "data") or csv')
      .choices(['table', 'json', 'csv'])
      .default('table'),
  )
  .action(
    async (
      answer: Answer,
      options: { org: string; from: string; to: string; groupBy?: string; format: 'table' | 'json' | 'csv' },
    ) => {
      const from = parseDay(options.from, '--from');
      const to = parseDay(options.to, '--to');
      if (from > to) throw new UsageError('--from must not be after --to.');
      const last = lastClosedDay(clock());
      if (to > last)
        throw new UsageError(`--to must be ${last} or earlier: later days are not over yet in UTC.`);
      const groups = GROUPS[answer];
      if (options.groupBy !== undefined && options.groupBy !== groups) {
        throw new UsageError(
          groups === undefined
            ? `${answer} has no --group-by.`
            : `--group-by of ${answer} must be ${groups}.`,
        );
      }
      const chosen = settings(program.opts());
      if (from < chosen.historyStart)
        process.stderr.write(
          `Days before ${chosen.historyStart} are not served: DAYBOOK_HISTORY_START moves that.\n`,
        );
      const rows = await call(chosen, clock, 'report', {
        answer,
        orgId: options.org,
        from,
        to,
        ...(options.groupBy === undefined ? {} : { groupBy: options.groupBy }),
      });
      print(
        options.format === 'json'
          ? JSON.stringify(rows)
          : options.format === 'csv'
            ? csv(rows, (await import('./api/rows.js')).columnsOf(answer, options.groupBy !== undefined))
            : table(answer === 'quality' ? rows.map(withoutDigests) : rows),
      );
    },
  );

program
  .command('config')
  .description('show every setting, its value and where that comes from; secrets are masked')
  .option('--json', 'print JSON')
  .action((options: { json?: boolean }) => {
    const shown = showProcessConfig(variables(program.opts()));
    print(options.json === true ? JSON.stringify(shown) : table(shown.map((setting) => ({ ...setting }))));
  });

/** A day's quality for people: nobody reads fourteen digests a line, or all of a day's restatements. */
function withoutDigests({ digests, restatements, ...day }: Record<string, unknown>): Record<string, unknown> {
  return { ...day, restatements: Array.isArray(restatements) ? restatements.length : 0 };
}

addSql(program, () => settings(program.opts()));

addBackup(program, { settings: () => settings(program.opts()), clock, print });

program
  .command('readiness')
  .description('say how ready a repository is for coding agents')
  .command('check')
  .description('evaluate a repository by its files and its git, without running any of it')
  .argument('[path]', 'folder in the repository', '.')
  .option('--rules <file>', 'criteria to add, or to use in the place of those with their ids')
  .option('--submit', 'send the report to the service')
  .option('--repo <url>', 'address of the repository (default: its remote origin)')
  .option('--server <url>', 'address of the service (default: DAYBOOK_URL)')
  .option('--key <key>', 'API key (default: DAYBOOK_KEY, which other users cannot see)')
  .option('--json', 'print the report as it is sent')
  .action(async (path: string, options: CheckOptions) => {
    const { checkReadiness } = await import('./command/readiness.js');
    await checkReadiness(path, options, { clock, print });
  });

program
  .command('agent')
  .description('connect this machine to the service as one of its computers, until stopped')
  .option('--server <url>', 'address of the service (default: DAYBOOK_URL)')
  .option(
    '--token <token>',
    'agent token of the computer (default: DAYBOOK_AGENT_TOKEN, which other users cannot see)',
  )
  .requiredOption('--workspace <folder>', 'folder that files are written to, made when it is missing')
  .action(async (options: { server?: string; token?: string; workspace: string }) => {
    const { url, agentToken } = readProcessConfig({
      DAYBOOK_URL: options.server,
      DAYBOOK_AGENT_TOKEN: options.token,
    });
    if (agentToken === undefined)
      throw new UsageError(
        'Give the agent token with --token or DAYBOOK_AGENT_TOKEN: creating a computer shows it.',
      );
    // An agent outlives whoever reads what it says.
    process.stdout.removeAllListeners('error').on('error', () => {});
    const stopping = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
    const { runAgent } = await import('./agent/agent.js');
    await runAgent({
      server: url,
      token: agentToken,
      workspace: await openWorkspace(options.workspace),
      version: VERSION,
      clock,
      say: print,
      signal: stopping.signal,
    });
  });

const computers = program
  .command('computers')
  .description('list and create computers, and send files to them, over the API of a running service')
  .option('--server <url>', 'address of the service (default: DAYBOOK_URL)')
  .option('--key <key>', 'API key (default: DAYBOOK_KEY, which other users cannot see)');

async function remoteService(): Promise<RemoteService> {
  const options = computers.opts<{ server?: string; key?: string }>();
  const { RemoteService } = await import('./command/service.js');
  return RemoteService.of(options, clock);
}

computers
  .command('list')
  .description('list the computers of the organization, newest first')
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    const found = await (await remoteService()).computers();
    if (options.json === true) return print(JSON.stringify(found));
    print(
      table(
        found.map(({ id, name, providerType, status, hostname, connectedAt }) => ({
          id,
          name,
          provider: providerType,
          status,
          hostname,
          connected_at: connectedAt === null ? '' : new Date(connectedAt).toISOString(),
        })),
      ),
    );
  });

computers
  .command('create')
  .description('create a computer, and show its agent token, this once')
  .argument('<name>', 'its name')
  .option('--user <name>', 'user on the machine (default: the name of the one who runs it)')
  .addOption(new Option('--provider <name>', 'who has the machine').choices(['byom', 'e2b']).default('byom'))
  .option('--repo <url...>', 'repositories to clone into its workspace')
  .option('--install', 'install their dependencies')
  .option('--json', 'print JSON')
  .action(
    async (
      name: string,
      options: { user?: string; provider: string; repo?: string[]; install?: boolean; json?: boolean },
    ) => {
      const computer = await (await remoteService()).createComputer({
        name,
        provider: options.provider,
        remoteUser: options.user ?? userInfo().username,
        ...(options.repo === undefined ? {} : { repos: options.repo }),
        ...(options.install === undefined ? {} : { autoInstallDeps: options.install }),
      });
      if (options.json === true) return print(JSON.stringify(computer));
      if (computer.agentToken === undefined) return print(`${computer.name} (${computer.id}) is being made.`);
      print(
        `${computer.agentToken}\nThis is the agent token of ${computer.name} (${computer.id}). It is shown this once.`,
      );
    },
  );

computers
  .command('upload')
  .description('send a file to a computer; it is never put in the place of another')
  .argument('<file>', 'file to send')
  .argument('<computer>', 'id or name of the computer')
  .option('--dest <folder>', 'folder inside the workspace (default: the workspace itself)')
  .action(async (path: string, computer: string, options: { dest?: string }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) throw new UsageError(`There is no file ${path}.`);
    const service = await remoteService();
    const name = basename(path);
    const sent = await withProgress(`Sending ${name}`, (progress) =>
      service.upload({ path, size: found.size, name }, computer, options.dest, progress),
    );
    const folder = options.dest === undefined ? '' : `${options.dest.replace(/\/$/, '')}/`;
    print(`${folder}${name} is on ${computer}: ${bytes(sent)}.`);
  });

/** The real path of a folder for files, made when it is missing. */
async function openWorkspace(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
    return await realpath(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new UsageError(`The workspace ${folder} can't be written to${code}: name a folder that can.`);
  }
}

const lake = program.command('lake').description('the built days as Parquet files, for other programs');

lake
  .command('verify')
  .description('compare the files with the store, and end with 1 when any differs')
  .option('--org <org>', 'of this organization only')
  .option('--json', 'print one JSON object')
  .action(async (options: { org?: string; json?: boolean }) => {
    const found = await call(
      settings(program.opts()),
      clock,
      'verifyLake',
      options.org === undefined ? {} : { orgId: options.org },
    );
    if (found.differences.length > 0) process.exitCode = 1;
    if (options.json === true) return print(JSON.stringify(found));
    for (const { path, detail } of found.differences) print(`${path} ${detail}.`);
    if (found.differences.length > 0) process.stderr.write('"daybook lake publish" writes them again.\n');
    else if (found.organizations > 0) print('The lake has the rows that the store has.');
    print(compared(found));
  });

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

lake
  .command('publish')
  .description('compare the files with the store, and write those again that differ')
  .option('--json', 'print one JSON object')
  .action(async (options: { json?: boolean }) => {
    const found = await call(settings(program.opts()), clock, 'publishLake', {});
    if (options.json === true) return print(JSON.stringify(found));
    for (const { path, detail } of found.differences) print(`${path} ${detail}.`);
    print(
      found.differences.length === 0
        ? 'Every built day is in the lake.'
        : `${count(found.differences.length, 'file')} put right.`,
    );
    if (found.unneeded > 0)
      print(`${count(found.unneeded, 'file')} removed: days without rows need none any more.`);
  });

const keys = program.command('keys').description('make, list and revoke API keys');

keys
  .command('create')
  .description('make a key and show it, this once')
  .requiredOption('--org <org>', 'organization')
  .addOption(new Option('--role <role>', 'what the key may do').choices(Role.options).makeOptionMandatory())
  .option('--user <id>', 'user or service that the key stands for')
  .option('--email <address>', 'e-mail of the user')
  .option('--expires <day>', 'last day on which the key is valid')
  .option('--json', 'print JSON')
  .action(
    async (options: {
      org: string;
      role: RoleName;
      user?: string;
      email?: string;
      expires?: string;
      json?: boolean;
    }) => {
      if (options.expires !== undefined && parseDay(options.expires, '--expires') < dayOf(clock()))
        throw new UsageError('--expires must be today or later, in UTC.');
      const key = await call(settings(program.opts()), clock, 'createKey', {
        orgId: options.org,
        role: options.role,
        ...(options.user === undefined ? {} : { userId: options.user }),
        ...(options.email === undefined ? {} : { email: options.email }),
        ...(options.expires === undefined
          ? {}
          : { expiresAt: Date.parse(addDays(parseDay(options.expires, '--expires'), 1)) }),
      });
      if (options.json === true) print(JSON.stringify(key));
      else
        print(`${key.key}\nThis is key ${key.key_id}, ${key.role} of ${key.org_id}. It is shown this once.`);
    },
  );

keys
  .command('list')
  .description('list the keys by id and fingerprint')
  .option('--org <org>', 'of this organization only')
  .option('--json', 'print JSON')
  .action(async (options: { org?: string; json?: boolean }) => {
    const found = await call(
      settings(program.opts()),
      clock,
      'listKeys',
      options.org === undefined ? {} : { orgId: options.org },
    );
    if (options.json === true) return print(JSON.stringify(found));
    const instant = (at: number | null) => (at === null ? '' : new Date(at).toISOString());
    print(
      table(
        found.map(({ created_at, expires_at, revoked_at, ...key }) => ({
          ...key,
          created_at: instant(created_at),
          expires_at: instant(expires_at),
          revoked_at: instant(revoked_at),
        })),
      ),
    );
  });

keys
  .command('revoke')
  .description('revoke a key, from the next request on')
  .argument('<key>', 'id or fingerprint')
  .action(async (name: string) => {
    const key = await call(settings(program.opts()), clock, 'revokeKey', { name });
    print(`Key ${key.key_id} of ${key.org_id} is revoked.`);
  });

const controls = program.command('controls').description('see and change what an organization controls');

controls
  .command('get')
  .description('print the settings as JSON, secrets masked')
  .requiredOption('--org <org>', 'organization')
  .action(async (options: { org: string }) => {
    const change = await call(settings(program.opts()), clock, 'getControls', { orgId: options.org });
    print(JSON.stringify(change.settings, null, 2));
  });

controls
  .command('set')
  .description('replace the settings whole; a secret that is "***" stays as it is')
  .argument('<file>', 'JSON of the settings, or - for standard input')
  .requiredOption('--org <org>', 'organization')
  .option('--revision <number>', 'only when this is the newest revision')
  .option('--json', 'print JSON')
  .action(async (file: string, options: { org: string; revision?: string; json?: boolean }) => {
    const change = await call(settings(program.opts()), clock, 'setControls', {
      orgId: options.org,
      settings: await jsonOf(file),
      user: userInfo().username,
      ...(options.revision === undefined ? {} : { revision: numberOf(options.revision, '--revision') }),
    });
    print(options.json === true ? JSON.stringify(change) : `This is revision ${change.revision}.`);
  });

controls
  .command('history')
  .description('list the changes, newest first')
  .requiredOption('--org <org>', 'organization')
  .option('--limit <number>', 'how many of them, at most 100', '20')
  .option('--json', 'print JSON')
  .action(async (options: { org: string; limit: string; json?: boolean }) => {
    const limit = numberOf(options.limit, '--limit');
    const { changes } = await call(settings(program.opts()), clock, 'listControls', {
      orgId: options.org,
      limit,
    });
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
  });

controls
  .command('diff')
  .description('show what is otherwise in one revision than in another, by default in the newest')
  .argument('[from]', 'a revision, 0 for none (default: the one before)')
  .argument('[to]', 'a revision (default: the newest)')
  .requiredOption('--org <org>', 'organization')
  .option('--json', 'print JSON')
  .action(
    async (from: string | undefined, to: string | undefined, options: { org: string; json?: boolean }) => {
      const found = await call(settings(program.opts()), clock, 'diffControls', {
        orgId: options.org,
        ...(from === undefined ? {} : { from: numberOf(from, 'from') }),
        ...(to === undefined ? {} : { to: numberOf(to, 'to') }),
      });
      if (options.json === true) return print(JSON.stringify(found));
      const { differences } = found;
      print(`Revision ${found.from} to ${found.to}: ${count(differences.length, 'difference')}`);
      for (const { member, ...values } of differences) {
        if ('before' in values) print(`- ${member}: ${JSON.stringify(values.before)}`);
        if ('after' in values) print(`+ ${member}: ${JSON.stringify(values.after)}`);
      }
    },
  );

const hooks = program.command('hooks').description('commands that agents run on events of their sessions');

const FOLDER = '--folder <folder>';
const FOLDER_MEANS = 'folder of the connection and of what waits (default: ~/.daybook/hooks)';

/** The commands that agents run come this way behind options of the program only. */
const run = (verb: 'run' | 'send' | 'deliver') => async () => {
  const { hookCommand } = await import('./hooks/command.js');
  const args = process.argv.slice(process.argv.indexOf(verb, process.argv.indexOf('hooks')) + 1);
  process.exitCode = await hookCommand(verb, args, clock, process.env);
};

hooks
  .command('run')
  .description('run the commands that a configuration has for the payload on standard input, and record them')
  .requiredOption('--config <file>', 'hooks by event, or settings that have them as "hooks"')
  .option('--agent <name>', 'the agent whose hook this is')
  .option(FOLDER, FOLDER_MEANS)
  .action(run('run'));

hooks
  .command('send')
  .description('send the payload on standard input to the server, now or with the next one')
  .option('--agent <name>', 'the agent whose hook this is')
  .option(FOLDER, FOLDER_MEANS)
  .action(run('send'));

hooks
  .command('deliver')
  .description('send what waits to the server')
  .option(FOLDER, FOLDER_MEANS)
  .action(run('deliver'));

const agentOption = () =>
  new Option('--agent <name>', 'which agent').choices(['claude-code', 'droid']).makeOptionMandatory();

hooks
  .command('install')
  .description('have an agent send what it does to a server')
  .addOption(agentOption())
  .option('--server <url>', 'address of the server')
  .option('--key <key>', 'API key for it, - to read it from standard input')
  .option('--user <id>', 'whose sessions they are, where the key stands for no user')
  .option('--yes', 'do it without asking')
  .option(FOLDER, FOLDER_MEANS)
  .action(
    async (options: {
      agent: AgentName;
      server?: string;
      key?: string;
      user?: string;
      yes?: boolean;
      folder?: string;
    }) => {
      const [{ commandOf, installed }, { connectTo }] = await Promise.all([
        import('./hooks/install.js'),
        import('./hooks/connect.js'),
      ]);
      const folder = options.folder === undefined ? undefined : resolve(options.folder);
      const key = options.key === '-' ? (await text(process.stdin)).trim() : options.key;
      const connection = await connectTo(folder, { server: options.server, key, user: options.user });
      const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
      const command = commandOf(
        options.agent,
        [process.execPath, process.argv[1] ?? ''],
        folder,
        authorities === undefined || authorities === '' ? undefined : resolve(authorities),
      );
      if (!(await apply(installed(options.agent, homedir(), command), options.yes === true))) return;
      await connection.save();
      print(connection.sentence);
    },
  );

hooks
  .command('uninstall')
  .description('take away what install wrote, and nothing else')
  .addOption(agentOption())
  .option('--yes', 'do it without asking')
  .option(FOLDER, FOLDER_MEANS)
  .action(async (options: { agent: AgentName; yes?: boolean; folder?: string }) => {
    const [{ AGENTS, uninstalled }, { disconnect }] = await Promise.all([
      import('./hooks/install.js'),
      import('./hooks/connect.js'),
    ]);
    const change = uninstalled(options.agent, homedir());
    if (change.lines.length === 0) print(`${change.path} has no hooks of Daybook.`);
    else if (!(await apply(change, options.yes === true))) return;
    // The key goes with the last agent that uses it.
    if (AGENTS.every((agent) => uninstalled(agent, homedir()).lines.length === 0))
      await disconnect(options.folder === undefined ? undefined : resolve(options.folder));
  });

/** Shows a change of an agent's file, asks unless told not to, and makes it. Answers whether it was made. */
async function apply(change: Change, isAgreed: boolean): Promise<boolean> {
  print([`${change.path}:`, ...change.lines].join('\n'));
  if (!isAgreed) {
    if (process.stdin.isTTY !== true)
      throw new UsageError('Nothing was changed: add --yes, since there is no terminal to ask on.');
    const { createInterface } = await import('node:readline/promises');
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    const answer = await terminal.question('Write this? [y/N] ').finally(() => terminal.close());
    if (!/^y(es)?$/i.test(answer.trim())) {
      print('Nothing was changed.');
      return false;
    }
  }
  const { write } = await import('./hooks/install.js');
  await write(change);
  return true;
}

function numberOf(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} must be a number, not "${text}".`);
  return Number(text);
}

/** The document in a file, or on standard input. */
async function jsonOf(file: string): Promise<unknown> {
  let content: string;
  try {
    content = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch {
    throw new UsageError(`There is no file ${file} that can be read.`);
  }
  const name = file === '-' ? 'Standard input' : file;
  if (isNestedDeeper(content, LEVELS_AT_MOST))
    throw new UsageError(`${name} must be nested at most ${LEVELS_AT_MOST} levels deep.`);
  try {
    return JSON.parse(content);
  } catch {
    // What is wrong with it could be in a secret.
    throw new UsageError(`${name} is not JSON.`);
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Whether the system refuses a file or folder: it can't be read, or is something else than it should be. */
function isOfPath(error: unknown): error is Error & { path: string; code: string } {
  return error instanceof Error && 'path' in error && 'code' in error && error.code !== 'ENOENT';
}

/** Ends the process with what went wrong: one sentence and exit code 2 for a mistake of use, else the cause and 1. */
function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    // Help and version are errors to commander too.
    if (error.exitCode !== 0) {
      // Help that is printed because a command is missing says it all.
      const message = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
      if (error.code !== 'commander.help')
        process.stderr.write(
          `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.?$/, '.')} See "daybook --help".\n`,
        );
    }
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  } else if (isOfPath(error)) {
    process.stderr.write(
      `Daybook can't use ${error.path} (${error.code}): make it what it was, for the user that runs Daybook to read and write.\n`,
    );
    process.exitCode = 2;
  } else {
    process.stderr.write(`daybook failed: ${messageOf(error)}\n`);
    if (isDebugging() && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe has enough.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

await program.parseAsync().catch(fail);
