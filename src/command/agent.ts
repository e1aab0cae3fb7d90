import { constants } from 'node:fs';
import { access, mkdir, realpath } from 'node:fs/promises';
import type { Command } from 'commander';
import { readProcessConfig, VERSION } from '../config.js';
import { UsageError } from '../exit.js';
import { type Invocation, print } from './program.js';

interface AgentOptions {
  readonly server?: string;
  readonly token?: string;
  readonly workspace: string;
}

/** Adds `agent` to the program. */
export function add(program: Command, { clock }: Invocation): void {
  program
    .command('agent')
    .description('connect this machine to the service as one of its computers, until stopped')
    .option('--server <url>', 'address of the service (default: DAYBOOK_URL)')
    .option(
      '--token <token>',
      'agent token of the computer (default: DAYBOOK_AGENT_TOKEN, which other users cannot see)',
    )
    .requiredOption('--workspace <folder>', 'folder that files are written to, made when it is missing')
    .action((options: AgentOptions) => run(options, clock));
}

async function run({ server, token, workspace }: AgentOptions, clock: () => number): Promise<void> {
  const { url, agentToken } = readProcessConfig({ DAYBOOK_URL: server, DAYBOOK_AGENT_TOKEN: token });
  if (agentToken === undefined)
    throw new UsageError(
      'Give the agent token with --token or DAYBOOK_AGENT_TOKEN: creating a computer shows it.',
    );
  // An agent outlives whoever reads what it says.
  process.stdout.removeAllListeners('error').on('error', () => {});
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const { runAgent } = await import('../agent/agent.js');
  await runAgent({
    server: url,
    token: agentToken,
    workspace: await openWorkspace(workspace),
    version: VERSION,
    clock,
    say: print,
    signal: stopping.signal,
  });
}

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
