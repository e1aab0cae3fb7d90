import type { SetAside } from '../ingest/set-aside.js';
import type { Config } from '../settings/config.js';
import type { Store } from '../store/store.js';
import type { Progress } from '../terminal/terminal.js';
import { goOnWith } from './afterwards.js';
import type { CommandArguments, CommandName, CommandResult } from './commands.js';
import { ask, Nobody } from './control-socket.js';
import { openStore, requireDatabase } from './open-store.js';
import { type ServiceSettings, serviceSettings } from './service-settings.js';

/** The commands that create a database if there is none. */
const MAKERS: ReadonlySet<CommandName> = new Set<CommandName>(['ingest', 'local', 'createKey']);

/** The commands that change nothing: they don't even migrate a database of an older version. */
const READERS: ReadonlySet<CommandName> = new Set<CommandName>([
  'status',
  'report',
  'callTool',
  'checkPrices',
  'verifyLake',
  'listKeys',
  'listOrganizations',
  'listPeople',
  'proposePeople',
  'getPrivacy',
  'getControls',
  'listControls',
  'diffControls',
  'writeAccessLog',
]);

/** How long a service can take to send its settings. Longer means that it hangs. */
const SETTINGS_MS = 5000;

/** Settles waiting events. Only the process that has the database open may do this; a service does it by itself. */
async function settleInbox(config: Config, clock: () => number, store: Store): Promise<readonly SetAside[]> {
  const { Inbox } = await import('../ingest/inbox.js');
  const inbox = Inbox.open(config, clock);
  try {
    await inbox.drain(store);
    return inbox.setAside;
  } finally {
    await inbox.close();
  }
}

/**
 * Runs a command: in the process that has the database open, else here. Once the signal aborts, nobody needs its result. Work that the
 * command leaves continues after the answer.
 */
export async function call<Name extends CommandName>(
  config: Config,
  clock: () => number,
  name: Name,
  args: CommandArguments<Name>,
  progress: Progress = () => {},
  signal?: AbortSignal,
): Promise<CommandResult<Name>> {
  let answer: unknown;
  const isAnswered = async () => {
    try {
      answer = await ask(config.data, name, args, progress, signal);
      return true;
    } catch (error) {
      if (error instanceof Nobody) return false;
      throw error;
    }
  };
  // Asking first costs nothing if no process listens, and avoids loading the database if one does.
  if (await isAnswered()) return answer as CommandResult<Name>;
  if (!MAKERS.has(name)) requireDatabase(config);
  const [{ runCommand }, { Lake }] = await Promise.all([
    import('./commands.js'),
    import('../lake/data-lake.js'),
  ]);
  // An accepted loss is recorded in the mark, which is only written when the store is open for writing.
  const isReading = READERS.has(name) && !config.acceptsLoss;
  const store = await openStore(config, clock, isAnswered, { isReading });
  if (store === undefined) return answer as CommandResult<Name>;
  const rest: Promise<void>[] = [];
  try {
    const lake = new Lake(config, clock);
    const settle = () => settleInbox(config, clock, store);
    const setAside = async () => {
      const { Inbox } = await import('../ingest/inbox.js');
      return Inbox.look(config, clock);
    };
    const afterwards = (work: Promise<void>) => void rest.push(work);
    const context = { store, config, lake, settle, setAside, afterwards, clock };
    const isLeft = new Promise<void>((resolve) => {
      signal?.addEventListener('abort', () => resolve());
    });
    return (await runCommand(context, name, args, progress, isLeft)) as CommandResult<Name>;
  } catch (error) {
    const { sentenceOfQuery } = await import('../store/database-file.js');
    throw sentenceOfQuery(error, config.data);
  } finally {
    const closed = Promise.all(rest).finally(() => store.close());
    // The caller can print the answer before the work ends.
    if (rest.length === 0) await closed;
    else goOnWith(closed);
  }
}

/** The settings of the service that uses the data folder, which may come from its `.env`; without one, those of this process. */
export async function settingsOfService(config: Config): Promise<ServiceSettings> {
  const signal = AbortSignal.timeout(SETTINGS_MS);
  const said = await ask(config.data, 'settings', {}, () => {}, signal).catch(() => undefined);
  return (said as ServiceSettings | undefined) ?? serviceSettings(config);
}
