import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Config, DATABASE } from '../config.js';
import { UsageError } from '../exit.js';
import type { SetAside } from '../ingest/set-aside.js';
import { hasKey } from '../key.js';
import { StoreBusy } from '../store/fault.js';
import { MARK } from '../store/mark.js';
import type { Mishaps } from '../store/renewable.js';
import type { Store } from '../store/store.js';
import type { CommandArguments, CommandName, CommandResult, Progress } from './commands.js';
import { ask, Nobody } from './control.js';

/** The commands that make a database where there is none. */
const MAKERS: ReadonlySet<CommandName> = new Set<CommandName>(['ingest', 'createKey']);

/** The commands that change nothing, not even a database of an older version. */
const READERS: ReadonlySet<CommandName> = new Set<CommandName>([
  'status',
  'report',
  'verifyLake',
  'listKeys',
  'getControls',
  'listControls',
  'diffControls',
]);

const RETRY_MS = 100;
const NOTICE_AFTER_MS = 2000;

/**
 * Opens the store, or waits while another command has it open. Answers undefined when a server has: it can be asked.
 */
export async function openStore(
  config: Config,
  clock: () => number,
  isServed: () => Promise<boolean>,
  options: { readonly mishaps?: Mishaps; readonly isReading?: boolean } = {},
): Promise<Store | undefined> {
  const { DuckDbStore } = await import('../store/duckdb.js');
  for (let waited = 0; ; waited += RETRY_MS) {
    const settings = { ...config, now: clock(), ...options };
    try {
      return await withKey(config, async () => {
        if (config.clickhouse === undefined) return DuckDbStore.open(config.data, settings);
        const { ClickHouseStore } = await import('../store/clickhouse.js');
        return ClickHouseStore.open(config.data, config.clickhouse, settings);
      });
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
    if (await isServed()) return undefined;
    if (waited === NOTICE_AFTER_MS)
      process.stderr.write('Waiting for another daybook command on this data folder to finish.\n');
    await wait(RETRY_MS);
  }
}

/** Opens a store. Throws a UsageError when its key is damaged, or gone while it has secrets, unless that loss is accepted. */
async function withKey(config: Config, open: () => Promise<Store>): Promise<Store> {
  const store = await open();
  try {
    // The file is asked for first, as it is nearly always there.
    if (!config.acceptsLoss && !hasKey(config)) {
      const { hasSecrets } = await import('../controls/controls.js');
      if (await hasSecrets(store))
        throw new UsageError(
          `The file secret.key is missing in ${config.data}, and the secrets in enterprise controls can't be read without it: copy it from a backup, set DAYBOOK_SECRET_KEY if the key was there, or continue without the secrets with --accept-loss and set them again.`,
        );
    }
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Throws a UsageError where there is no database, for commands that make none. One that was there and is gone is another matter. */
export function requireDatabase(config: Config): void {
  const isThere = [DATABASE, MARK].some((name) => existsSync(join(config.data, name)));
  if (config.clickhouse === undefined && !isThere)
    throw new UsageError(
      `There is no database in ${config.data}: "daybook ingest" creates one, and --data or DAYBOOK_DATA names another folder.`,
    );
}

/** Settles what waits in the inbox. Only the process that has the database open may: a service does it by itself. */
async function settleInbox(config: Config, clock: () => number, store: Store): Promise<readonly SetAside[]> {
  const { Inbox } = await import('../ingest/inbox.js');
  const inbox = Inbox.open(config.data, config.inboxMb, clock);
  try {
    await inbox.drain(store);
    return inbox.setAside;
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
  // Who accepts a loss has the next one who opens the database know of it.
  const isReading = READERS.has(name) && !config.acceptsLoss;
  const store = await openStore(config, clock, isAnswered, { isReading });
  if (store === undefined) return answer as CommandResult<Name>;
  try {
    const lake = new Lake(config.data, (sentence) => process.stderr.write(`${sentence}\n`));
    const settle = () => settleInbox(config, clock, store);
    const setAside = async () => {
      const { Acknowledged } = await import('../ingest/acknowledged.js');
      return Acknowledged.look(config.data, clock);
    };
    const context = { store, config, lake, settle, setAside, clock };
    return (await runCommand(context, name, args, progress)) as CommandResult<Name>;
  } catch (error) {
    const { sentenceOfQuery } = await import('../store/database-file.js');
    throw sentenceOfQuery(error, config.data);
  } finally {
    await store.close();
  }
}
