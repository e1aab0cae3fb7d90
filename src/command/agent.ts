import { constants } from 'node:fs';
import { access, mkdir, realpath } from 'node:fs/promises';
import type { Command } from 'commander';
import { VERSION } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import { optionOf, readProcessConfig } from '../settings/config.js';
import { type Invocation, print } from './program.js';

/** Adds `agent` to the program. */
export function add(program: Command, { clock }: Invocation): void {
  program
    .command('agent')
    .description('connect this machine to the service as a computer, until stopped')
    .option(...optionOf('DAYBOOK_URL'))
    .option(...optionOf('DAYBOOK_AGENT_TOKEN'))
    .requiredOption('--workspace <folder>', 'folder for files; created if it is missing')
    .action((options: { workspace: string }) => run(options, clock));
}

async function run(options: { workspace: string }, clock: () => number): Promise<void> {
  const { url, agentToken } = readProcessConfig(options);
  if (agentToken === undefined)
    throw new UsageError(
      'Give the agent token with --token or DAYBOOK_AGENT_TOKEN: "daybook computers create" prints it.',
    );
  // The agent keeps running when the reader of its output has gone.
  process.stdout.removeAllListeners('error').on('error', () => {});
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const { runAgent } = await import('../computers/run-agent.js');
  await runAgent({
    server: url,
    token: agentToken,
    workspace: await openWorkspace(options.workspace),
    version: VERSION,
    clock,
    say: print,
    signal: stopping.signal,
  });
}

/** The real path of a folder for files, which is created if it is missing. */
async function openWorkspace(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
    return await realpath(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new UsageError(
      `The workspace ${folder} can't be written to${code}: name another folder with --workspace.`,
    );
  }
}
