import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Config, DATABASE } from '../config.js';
import { UsageError } from '../exit.js';
import { codeOf } from '../folder.js';
import type { Inbox } from '../ingest/inbox.js';
import { unreadable } from '../ingest/set-aside.js';
import type { Mishaps } from '../store/renewable.js';
import type { Store } from '../store/store.js';
import type { CommandArguments, CommandName, CommandResult, Progress } from './commands.js';
import { ask, Nobody } from './control.js';

/** The commands that make a database where there is none. */
const MAKERS: ReadonlySet<CommandName> = new Set<CommandName>(['ingest', 'createKey']);

const RETRY_MS = 100;
const NOTICE_AFTER_MS = 2000;

/**
 * Opens the store, or waits while another command has it open. Answers undefined when a server has: it can be asked.
 */
export async function openStore(
  config: Config,
  clock: () => number,
  isServed: () => Promise<boolean>,
  mishaps?: Mishaps,
): Promise<Store | undefined> {
  const { DuckDbStore, StoreBusy } = await import('../store/duckdb.js');
  for (let waited = 0; ; waited += RETRY_MS) {
    const settings = { ...config, now: clock(), ...(mishaps === undefined ? {} : { mishaps }) };
    try {
      if (config.clickhouse === undefined) return await DuckDbStore.open(config.data, settings);
      const { ClickHouseStore } = await import('../store/clickhouse.js');
      return await ClickHouseStore.open(config.data, config.clickhouse, settings);
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
    if (await isServed()) return undefined;
    if (waited === NOTICE_AFTER_MS)
      process.stderr.write('Waiting for another daybook command on this data folder to end.\n');
    await wait(RETRY_MS);
  }
}

/** Throws a UsageError where there is no database, for commands that make none. */
export function requireDatabase(config: Config): void {
  if (config.clickhouse === undefined && !existsSync(join(config.data, DATABASE)))
    throw new UsageError(
      `There is no database in ${config.data}: "daybook ingest" makes one, and --data or DAYBOOK_DATA names another folder.`,
    );
}

/** Works with the inbox. Only the process that has the database open may: a service does it by itself. */
async function withInbox<T>(
  config: Config,
  clock: () => number,
  work: (inbox: Inbox) => Promise<T>,
): Promise<T> {
  const { Inbox } = await import('../ingest/inbox.js');
  const inbox = Inbox.open(config.data, config.inboxMb, clock);
  try {
    return await work(inbox);
  } finally {
    await inbox.close();
  }
}

/** Runs a command: in the process that has the database open, else here. */
export async function call<Name extends CommandName>(
  config: Config,
  clock: () => number,
  name: Name,
  args: CommandArguments<Name>,
  progress: Progress = () => {},
): Promise<CommandResult<Name>> {
  let answer: unknown;
  const isAnswered = async () => {
    try {
      answer = await ask(config.data, name, args, progress);
      return true;
    } catch (error) {
      if (error instanceof Nobody) return false;
      throw error;
    }
  };
  // Asking costs nothing where nobody listens, and spares loading the database where somebody does.
  if (await isAnswered()) return answer as CommandResult<Name>;
  if (!MAKERS.has(name)) requireDatabase(config);
  const [{ runCommand }, { Lake }] = await Promise.all([import('./commands.js'), import('../lake/lake.js')]);
  const store = await openStore(config, clock, isAnswered);
  if (store === undefined) return answer as CommandResult<Name>;
  try {
    const lake = new Lake(config.data);
    const settle = () =>
      withInbox(config, clock, async (inbox) => {
        await inbox.drain(store);
        for (const { path, reason } of inbox.setAside)
          process.stderr.write(`Set aside: ${path}: ${reason}.\n`);
      });
    const setAside = () =>
      withInbox(config, clock, (inbox) => inbox.look()).catch((error) => {
        if (codeOf(error) === '') throw error;
        return [{ path: join(config.data, 'inbox'), reason: unreadable(error) }];
      });
    const context = { store, config, lake, settle, setAside, clock };
    return (await runCommand(context, name, args, progress)) as CommandResult<Name>;
  } finally {
    await store.close();
  }
}
