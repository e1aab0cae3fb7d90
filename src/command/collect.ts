import { existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Connection } from '../collect/collect-folder.js';
import type { Scheduler } from '../collect/schedule.js';
import { count } from '../terminal/counted.js';
import { instantText } from '../terminal/instant-text.js';
import { keyFromInput } from './key-from-input.js';
import { lastingProgram } from './lasting-program.js';
import { numberFrom } from './number-option.js';
import { type Invocation, note, print } from './program.js';

interface FolderOptions {
  readonly folder?: string;
}

interface ConnectionOptions extends FolderOptions {
  readonly server?: string;
  readonly key?: string;
  readonly user?: string;
}

interface RunOptions extends ConnectionOptions {
  readonly watch?: boolean;
  readonly every: number;
  readonly wait: number;
  readonly spool: number;
  readonly again?: boolean;
}

interface ScheduleOptions extends FolderOptions {
  readonly scheduler?: Scheduler;
}

type InstallOptions = ConnectionOptions &
  ScheduleOptions & { readonly every: number; readonly signIn?: boolean };

function withFolder(command: Command): Command {
  return command.option('--folder <folder>', 'folder of all that it keeps (default: ~/.daybook/collect)');
}

function withConnection(command: Command): Command {
  return withFolder(
    command
      .option('--server <url>', 'address of the service (default: DAYBOOK_URL, else the installed one)')
      .option(
        '--key <key>',
        'API key, or - to read it from standard input (default: DAYBOOK_KEY, else the installed one)',
      )
      .option('--user <id>', 'user whose sessions these are, if the key belongs to no user'),
  );
}

const schedulerOption = () =>
  new Option('--scheduler <name>', 'what starts it (default: that of this system)').choices([
    'systemd',
    'launchd',
    'schtasks',
  ]);

/** Adds `collect` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const collect = program
    .command('collect')
    .description("send the events of all agents' sessions on this machine to a service");

  withConnection(
    collect
      .command('run', { isDefault: true })
      .description('send what is new; "daybook collect" does the same, with the same options'),
  )
    .option('--watch', 'go on until it is stopped')
    .option('--every <seconds>', 'how long --watch rests between rounds', numberFrom(1, 86_400), 60)
    .option('--wait <seconds>', 'how long to try when the service does not answer', numberFrom(0, 86_400), 60)
    .option('--spool <mb>', 'how much may wait on disk for the service', numberFrom(0.001, 100_000), 64)
    .option('--again', 'read and send everything again')
    .action((options: RunOptions) => orLater(() => run(options, invocation)));

  withConnection(
    collect
      .command('install')
      .description('have the system start it every few minutes, also after a restart'),
  )
    .addOption(
      new Option(
        '--sign-in',
        'get a key by signing in with a browser (default in a terminal, if no key is given)',
      ).conflicts('key'),
    )
    .option('--every <minutes>', 'how often', numberFrom(1, 1440), 5)
    .addOption(schedulerOption())
    .action((options: InstallOptions) => orLater(() => install(options, invocation)));

  withFolder(
    collect
      .command('uninstall')
      .description('remove what install wrote, and the key')
      .addOption(schedulerOption()),
  ).action(uninstall);

  withFolder(collect.command('status').description('show what was sent when, and what waits'))
    .option('--json', 'print one JSON object per line')
    .action(status);
}

/** Says in one sentence that the service doesn't answer, if this machine has never used the key before. */
async function orLater(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { Later } = await import('../collect/event-service.js');
    if (!(error instanceof Later)) throw error;
    note(`${error.message}: start the service, or correct --server.`);
    process.exitCode = 1;
  }
}

async function folderOf({ folder }: FolderOptions): Promise<string> {
  const { COLLECT_FOLDER } = await import('../collect/collect-folder.js');
  return folder === undefined ? COLLECT_FOLDER : resolve(folder);
}

/** The connection from the options, the environment or an earlier installation. Throws a UsageError if there is none. */
async function connectionFor(options: ConnectionOptions, { environment }: Invocation): Promise<Connection> {
  const { connectionOf } = await import('../collect/collect-folder.js');
  const key = options.key === '-' ? await keyFromInput() : options.key;
  return connectionOf(await folderOf(options), {
    server: options.server ?? (environment.DAYBOOK_URL || undefined),
    key: key ?? (environment.DAYBOOK_KEY || undefined),
    user: options.user,
  });
}

async function run(options: RunOptions, invocation: Invocation): Promise<void> {
  const connection = await connectionFor(options, invocation);
  const { collect } = await import('../collect/collector.js');
  const isDone = await collect({
    folder: await folderOf(options),
    connection,
    spoolBytes: options.spool * 2 ** 20,
    waitMs: options.wait * 1000,
    everyMs: options.watch === true ? options.every * 1000 : undefined,
    again: options.again === true,
    clock: invocation.clock,
    say: print,
  });
  if (!isDone) process.exitCode = 1;
}

async function install(options: InstallOptions, invocation: Invocation): Promise<void> {
  const program = lastingProgram('daybook collect install');
  const folder = await folderOf(options);
  const key = await signedIn(options, invocation);
  const connection = await connectionFor(key === undefined ? options : { ...options, key }, invocation);
  const [{ saveConnection, targetOf }, { EventService }, schedules] = await Promise.all([
    import('../collect/collect-folder.js'),
    import('../collect/event-service.js'),
    import('../collect/schedule.js'),
  ]);
  const service = new EventService(connection, invocation.clock);
  try {
    // This also checks the address and the key.
    const { userId } = await targetOf(folder, connection, () => service.sender());
    const schedule = schedules.scheduleOf(
      options.scheduler ?? schedules.schedulerOf(process.platform),
      {
        program: [...program, 'collect', ...(options.folder === undefined ? [] : ['--folder', folder])],
        environment: schedules.variablesFor(invocation.environment),
        everyMinutes: options.every,
      },
      folder,
    );
    await schedules.beginSchedule(schedule);
    await saveConnection(folder, connection);
    print(
      [
        ...Object.keys(schedule.files).map((path) => `Written: ${path}`),
        `Every ${options.every} minutes new events of ${userId} go to ${connection.server}. "daybook collect status" shows them.`,
      ].join('\n'),
    );
  } finally {
    service.close();
  }
}

/** A key of the person who signs in with a browser; undefined if there is a key already, or nobody to sign in. */
async function signedIn(
  { server = '', key, signIn: isWanted }: InstallOptions,
  { environment, clock }: Invocation,
): Promise<string | undefined> {
  const address = server || environment.DAYBOOK_URL || '';
  const hasKey = key !== undefined || (environment.DAYBOOK_KEY || '') !== '';
  if (isWanted !== true && (hasKey || address === '' || process.stdin.isTTY !== true)) return undefined;
  const [{ signIn }, { serverOf }] = await Promise.all([
    import('../collect/browser-sign-in.js'),
    import('../collect/collect-folder.js'),
  ]);
  return signIn(serverOf(address), { name: `collect on ${hostname()}`.slice(0, 100), clock, say: note });
}

async function uninstall(options: ScheduleOptions): Promise<void> {
  const folder = await folderOf(options);
  const [{ forgetConnection }, schedules] = await Promise.all([
    import('../collect/collect-folder.js'),
    import('../collect/schedule.js'),
  ]);
  const schedule = schedules.scheduleOf(
    options.scheduler ?? schedules.schedulerOf(process.platform),
    { program: [], environment: {}, everyMinutes: 1 },
    folder,
  );
  const wasThere = await schedules.endSchedule(schedule);
  forgetConnection(folder);
  print(
    wasThere
      ? `The schedule and the key are removed. ${folder} still has what waits, and what tells sent events from new ones.`
      : 'No schedule was installed.',
  );
}

async function status(options: FolderOptions & { readonly json?: boolean }): Promise<void> {
  const { readJson } = await import('../collect/collect-folder.js');
  const folder = await folderOf(options);
  const found = (existsSync(folder) ? readdirSync(folder) : [])
    .map((name) => readJson(join(folder, name, 'status.json')) as CollectStatus | undefined)
    .filter((one) => one !== undefined);
  if (options.json === true) {
    print(found.map((one) => JSON.stringify(one)).join('\n'));
    return;
  }
  const isInstalled = existsSync(join(folder, 'connection.json'));
  print(
    [
      isInstalled
        ? 'Installed: the system starts it.'
        : 'Not installed: it runs only when it is started. "daybook collect install" changes that.',
      ...(found.length === 0 ? ['Nothing was collected yet.'] : found.map(textOf)),
    ].join('\n\n'),
  );
}

type CollectStatus = import('../collect/collect-status.js').CollectStatus;

function textOf(status: CollectStatus): string {
  const at = (ms: number | null) => (ms === null ? 'never' : instantText(ms));
  // The status may have been written by another version.
  const { failed_files: files, left_out_files = 0, left_out = [] } = status;
  const size = status.waiting_events === 0 ? '' : `, ${(status.waiting_bytes / 1e6).toFixed(1)} MB`;
  const [first, ...others] = status.rounds
    .map(({ sent_at, events }) => `${at(sent_at)}  ${count(events, 'event')}`)
    .reverse();
  const lines: [name: string, text: string][] = [
    ['last run', at(status.last_run_at)],
    ['last sent', at(status.last_sent_at)],
    ['sent', `${count(status.events_sent, 'event')}, ${status.events_rejected} rejected`],
    ['waiting', `${count(status.waiting_events, 'event')}${size}`],
    ...(files === 0 ? [] : [['unreadable', count(files, 'file')] satisfies [string, string]]),
    ...(left_out_files === 0 ? [] : [['left out', count(left_out_files, 'file')] satisfies [string, string]]),
    ...left_out.map((sentence) => ['', sentence] satisfies [string, string]),
    ...(status.problem === null ? [] : [['problem', status.problem] satisfies [string, string]]),
    ...(first === undefined ? [] : [['newest', first] satisfies [string, string]]),
    ...others.map((round) => ['', round] satisfies [string, string]),
  ];
  return [
    `${status.server}, organization ${status.org_id}, user ${status.user_id}`,
    ...lines.map(([name, text]) => `  ${name.padEnd(12)}${text}`),
  ].join('\n');
}
