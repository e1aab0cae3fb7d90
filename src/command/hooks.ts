import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { UsageError } from '../exit.js';
import { AGENT_NAMES, type AgentName } from '../hooks/hooked-agents.js';
import type { Change } from '../hooks/install.js';
import { isConfirmed } from '../terminal/ask.js';
import { count } from '../terminal/counted.js';
import { instantText } from '../terminal/instant-text.js';
import { keyFromInput } from './key-from-input.js';
import { lastingProgram } from './lasting-program.js';
import { type Invocation, print } from './program.js';

const FOLDER = '--folder <folder>';
const FOLDER_MEANS = 'folder of the connection and of waiting payloads (default: ~/.daybook/hooks)';

interface FolderOptions {
  readonly folder?: string;
}

interface UninstallOptions extends FolderOptions {
  readonly agent: AgentName;
  readonly yes?: boolean;
}

interface InstallOptions extends UninstallOptions {
  readonly server?: string;
  readonly key?: string;
  readonly user?: string;
}

/** Adds `hooks` to the program. */
export function add(program: Command, { clock, environment }: Invocation): void {
  const hooks = program.command('hooks').description('report from agents as they work');

  /** The commands that agents run get here only if options of the program come first. */
  const run = (verb: 'run' | 'send' | 'deliver') => async () => {
    const { hookCommand } = await import('../hooks/hook-command.js');
    const args = process.argv.slice(process.argv.indexOf(verb, process.argv.indexOf('hooks')) + 1);
    process.exitCode = await hookCommand(verb, args, clock, environment);
  };

  hooks
    .command('run')
    .description('run the configured hooks for the payload on standard input, and record them')
    .requiredOption('--config <file>', 'JSON file with hooks by event, or settings with a member "hooks"')
    .option('--agent <name>', 'agent that runs this hook')
    .option(FOLDER, FOLDER_MEANS)
    .action(run('run'));

  hooks
    .command('send')
    .description('send the payload on standard input to the service, now or with the next one')
    .option('--agent <name>', 'agent that runs this hook')
    .option(FOLDER, FOLDER_MEANS)
    .action(run('send'));

  hooks
    .command('deliver')
    .description('send waiting payloads to the service')
    .option(FOLDER, FOLDER_MEANS)
    .action(run('deliver'));

  hooks
    .command('status')
    .description('show which agents have hooks, whether the service takes payloads, and what waits')
    .option('--json', 'print one JSON object')
    .option(FOLDER, FOLDER_MEANS)
    .action(status);

  const agentOption = () =>
    new Option('--agent <name>', 'which agent').choices(AGENT_NAMES).makeOptionMandatory();

  hooks
    .command('install')
    .description('install hooks that report to a service as the agent works')
    .addOption(agentOption())
    .option('--server <url>', 'address of the service')
    .option('--key <key>', 'API key, or - to read it from standard input')
    .option('--user <id>', 'user whose sessions these are, if the key belongs to no user')
    .option('--yes', "don't ask for confirmation")
    .option(FOLDER, FOLDER_MEANS)
    .action((options: InstallOptions) => install(options, environment.NODE_EXTRA_CA_CERTS));

  hooks
    .command('uninstall')
    .description('remove what install added, and nothing else')
    .addOption(agentOption())
    .option('--yes', "don't ask for confirmation")
    .option(FOLDER, FOLDER_MEANS)
    .action(uninstall);
}

async function install(options: InstallOptions, authorities: string | undefined): Promise<void> {
  const [{ commandOf, installed }, { connectTo }] = await Promise.all([
    import('../hooks/install.js'),
    import('../hooks/connect.js'),
  ]);
  const folder = options.folder === undefined ? undefined : resolve(options.folder);
  const key = options.key === '-' ? await keyFromInput() : options.key;
  const command = commandOf(options.agent, lastingProgram('daybook hooks install'), folder);
  const connection = await connectTo(folder, {
    server: options.server,
    key,
    user: options.user,
    // The agent may not have the environment of this process.
    authorities: authorities === undefined || authorities === '' ? undefined : resolve(authorities),
  });
  const change = installed(options.agent, homedir(), command);
  if (change.lines.length === 0) print(`${change.path} has these hooks already.`);
  else if (!(await apply(change, options.yes === true))) return;
  await connection.save();
  print(connection.sentence);
}

async function uninstall(options: UninstallOptions): Promise<void> {
  const [{ uninstalled }, { disconnect }] = await Promise.all([
    import('../hooks/install.js'),
    import('../hooks/connect.js'),
  ]);
  const change = uninstalled(options.agent, homedir());
  if (change.lines.length === 0) print(`${change.path} has no hooks of Daybook.`);
  else if (!(await apply(change, options.yes === true))) return;
  // The key is removed with the last agent that uses it.
  if (AGENT_NAMES.every((agent) => uninstalled(agent, homedir()).lines.length === 0))
    await disconnect(options.folder === undefined ? undefined : resolve(options.folder));
}

async function status({ folder, json }: FolderOptions & { readonly json?: boolean }): Promise<void> {
  const [{ hooksStatus }, { HOOKS_FOLDER }] = await Promise.all([
    import('../hooks/hooks-status.js'),
    import('../hooks/spool.js'),
  ]);
  const found = await hooksStatus(folder === undefined ? HOOKS_FOLDER : resolve(folder));
  if (json === true) return print(JSON.stringify(found));
  const { agents, server, problem, waiting, oldest_at, left_out } = found;
  const since = oldest_at === null ? '' : `, the oldest since ${instantText(oldest_at)}`;
  const lines: [name: string, text: string][] = [
    ...agents.map(({ agent, path }): [string, string] => ['hooks', `${agent} (${path})`]),
    ['service', server === null ? 'none' : problem === null ? `${server} takes payloads` : problem],
    ['waiting', `${count(waiting, 'payload')}${since}`],
    ...left_out.slice(0, 5).map((path): [string, string] => ['left out', path]),
  ];
  if (agents.length === 0) print('No agent has hooks: "daybook hooks install" adds them.');
  print(lines.map(([name, text]) => `  ${name.padEnd(10)}${text}`).join('\n'));
}

/** Shows a change of an agent's file, asks for consent unless it was given, and makes the change. Answers whether it did. */
async function apply(change: Change, isAgreed: boolean): Promise<boolean> {
  print([`${change.path}:`, ...change.lines].join('\n'));
  if (!isAgreed) {
    if (process.stdin.isTTY !== true)
      throw new UsageError('Nothing was changed: without a terminal to ask on, add --yes.');
    if (!(await isConfirmed('Write this?', process.stdout))) {
      print('Nothing was changed.');
      return false;
    }
  }
  const { write } = await import('../hooks/install.js');
  await write(change);
  return true;
}
