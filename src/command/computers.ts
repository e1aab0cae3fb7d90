import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { UsageError } from '../exit.js';
import { optionOf } from '../settings/config.js';
import { bytes, table, withProgress } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';
import type { RemoteService } from './remote-service.js';

type Connect = () => Promise<RemoteService>;

interface CreateOptions {
  readonly user?: string;
  readonly provider: string;
  readonly repo?: string[];
  readonly install?: boolean;
  readonly json?: boolean;
}

/** Adds `computers` to the program. */
export function add(program: Command, { clock }: Invocation): void {
  const computers = program
    .command('computers')
    .description('list and create computers and send files to them, through a running service')
    .option(...optionOf('DAYBOOK_URL'))
    .option(...optionOf('DAYBOOK_KEY'));
  const connect = async () => (await import('./remote-service.js')).RemoteService.of(computers.opts(), clock);

  computers
    .command('list')
    .description("list the organization's computers, newest first")
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => list(options, connect));

  computers
    .command('create')
    .description('create a computer and print its agent token, which is shown only once')
    .argument('<name>', 'name of the computer')
    .option('--user <name>', 'user on the machine (default: your user name)')
    .addOption(
      new Option('--provider <name>', 'byom: a machine of your own; e2b: a sandbox')
        .choices(['byom', 'e2b'])
        .default('byom'),
    )
    .option('--repo <url...>', 'repositories to clone into its workspace')
    .option('--install', 'install their dependencies')
    .option('--json', 'print JSON')
    .action((name: string, options: CreateOptions) => create(name, options, connect));

  computers
    .command('upload')
    .description('send a file to a computer; never replaces a file there')
    .argument('<file>', 'file to send')
    .argument('<computer>', 'id or name of the computer')
    .option('--dest <folder>', 'folder inside the workspace (default: the workspace itself)')
    .action((path: string, computer: string, options: { dest?: string }) =>
      upload(path, computer, options, connect),
    );
}

async function list(options: { json?: boolean }, connect: Connect): Promise<void> {
  const found = await (await connect()).computers();
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
      { first: ['id', 'name', 'status'], rest: '--json has all' },
    ),
  );
}

async function create(name: string, options: CreateOptions, connect: Connect): Promise<void> {
  const computer = await (await connect()).createComputer({
    name,
    provider: options.provider,
    remoteUser: options.user ?? userInfo().username,
    repos: options.repo,
    autoInstallDeps: options.install,
  });
  if (options.json === true) return print(JSON.stringify(computer));
  if (computer.agentToken === undefined) return print(`${computer.name} (${computer.id}) is being created.`);
  print(
    `${computer.agentToken}\nThis is the agent token of ${computer.name} (${computer.id}). It is shown only once.`,
  );
}

async function upload(
  path: string,
  computer: string,
  options: { dest?: string },
  connect: Connect,
): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) throw new UsageError(`The file ${path} doesn't exist.`);
  const service = await connect();
  const name = basename(path);
  const sent = await withProgress(`Sending ${name}`, (progress) =>
    service.upload({ path, size: found.size, name }, computer, options.dest, progress),
  );
  const folder = options.dest === undefined ? '' : `${options.dest.replace(/\/$/, '')}/`;
  print(`${folder}${name} is on ${computer}: ${bytes(sent)}.`);
}
