import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../config.js';
import { DuckDbStore, StoreBusy } from '../store/duckdb.js';
import type { CommandArguments, CommandName, CommandResult, Progress } from './commands.js';
import { ask, Nobody, runCommand } from './control.js';

const RETRY_MS = 100;
const NOTICE_AFTER_MS = 2000;

/**
 * Opens the store, or waits while another command has it open. Answers undefined when a server has: it can be asked.
 */
export async function openStore(
  config: Config,
  clock: () => number,
  isServed: () => Promise<boolean>,
): Promise<DuckDbStore | undefined> {
  for (let waited = 0; ; waited += RETRY_MS) {
    try {
      return await DuckDbStore.open(config.data, {
        memoryMb: config.memoryMb,
        rateCard: config.rateCard,
        now: clock(),
      });
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
    if (await isServed()) return undefined;
    if (waited === NOTICE_AFTER_MS)
      process.stderr.write('Waiting for another daybook command on this data folder to end.\n');
    await wait(RETRY_MS);
  }
}

/** Runs a command: here when no process has the database open, else in the one that has. */
export async function call<Name extends CommandName>(
  config: Config,
  clock: () => number,
  name: Name,
  args: CommandArguments<Name>,
  progress: Progress = () => {},
): Promise<CommandResult<Name>> {
  let answer: unknown;
  const store = await openStore(config, clock, async () => {
    try {
      answer = await ask(config.data, name, args, progress);
      return true;
    } catch (error) {
      if (error instanceof Nobody) return false;
      throw error;
    }
  });
  if (store !== undefined) {
    try {
      answer = await runCommand({ store, config, clock }, name, args, progress);
    } finally {
      await store.close();
    }
  }
  return answer as CommandResult<Name>;
}
