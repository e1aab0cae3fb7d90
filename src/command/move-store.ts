import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { reasonOf, UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';
import { isServed } from '../socket/control-socket.js';
import { openStore, requireDatabase } from '../socket/open-store.js';
import type { Moved } from '../store/move/move.js';
import type { MoveTarget } from '../store/move/move-target.js';
import type { Store } from '../store/store.js';
import { count, table, withProgress } from '../terminal/terminal.js';
import { type Invocation, note, print } from './program.js';

/** How many differences are printed. */
const SHOWN = 20;

/** After how long it is told what is waited for. */
const NOTICE_AFTER_MS = 2000;

/** Adds `move` to the program. */
export function add(program: Command, { settings, clock }: Invocation): void {
  program
    .command('move')
    .description(
      'copy the DuckDB store of the data folder to PostgreSQL and ClickHouse (DAYBOOK_STATE, DAYBOOK_STORE), and compare all of it; stop the service first',
    )
    .option(
      '--to <file>',
      'the settings that the nodes will have, a line NAME=value for each; without it they come from the environment',
    )
    .action(async ({ to }: { to?: string }) => {
      if (to !== undefined) loadSettings(to);
      const config = settings();
      const { clickhouse, postgres } = config;
      if (clickhouse === undefined || postgres === undefined)
        throw new UsageError(
          'The store is moved to the databases that nodes will have: set DAYBOOK_STORE, DAYBOOK_STATE and DAYBOOK_SECRET_KEY as for them (docs/scale.md).',
        );
      const own: Config = { ...config, clickhouse: undefined, postgres: undefined };
      requireDatabase(own);
      const [{ sourceChecksum }, { MoveTarget }, { move }] = await Promise.all([
        import('../store/move/source-checksum.js'),
        import('../store/move/move-target.js'),
        import('../store/move/move.js'),
      ]);
      const checksum = await sourceChecksum(config.data);
      const source = await openStore(own, clock, () => isServed(config.data), { isReading: true });
      if (source === undefined)
        throw new UsageError(`A service runs on the data folder ${config.data}: stop it first.`);
      let target: MoveTarget | undefined;
      let waiting: NodeJS.Timeout | undefined;
      try {
        await requireAtRest(source, own);
        const into = await MoveTarget.open({ clickhouse, postgres }, { ...config, now: clock() });
        target = into;
        waiting = setTimeout(
          () =>
            note('Waiting for another move into these databases; one that was killed ends within a minute.'),
          NOTICE_AFTER_MS,
        );
        const moved = await withProgress('Moving', (progress) =>
          move(source, into, {
            ...{ checksum, folder: config.data, clock, progress },
            begun: () => clearTimeout(waiting),
          }),
        );
        if (moved === undefined)
          print('All of it was moved before, and nothing was done now: start nodes on the databases.');
        else tell(moved);
      } finally {
        clearTimeout(waiting);
        await target?.close();
        await source.close();
      }
    });
}

/** Adds the variables of a file to those of this process, which are the stronger ones. */
function loadSettings(file: string): void {
  try {
    process.loadEnvFile(file);
  } catch (error) {
    throw new UsageError(`${file} can't be read (${reasonOf(error)}): name a file with settings, as --to.`);
  }
}

/** Throws a UsageError for a store that work is left on, and for secrets that nodes couldn't read. */
async function requireAtRest(source: Store, config: Config): Promise<void> {
  const inbox = join(config.data, 'inbox');
  const waiting = ['ready', 'settling'].flatMap((part) => filesBelow(join(inbox, part)));
  if (waiting.length > 0)
    throw new UsageError(
      `Acknowledged events wait in ${inbox} (${count(waiting.length, 'file')}): settle them with "daybook build", without DAYBOOK_STORE and DAYBOOK_STATE, and move again.`,
    );
  const [erasure] = await source.select('SELECT 1 AS found FROM erasures WHERE finished_at IS NULL LIMIT 1');
  if (erasure !== undefined)
    throw new UsageError(
      'An erasure isn\'t finished: "daybook build", without DAYBOOK_STORE and DAYBOOK_STATE, finishes it. Then move again.',
    );
  const [{ SecretKey }, { areSecretsOpenTo }, { sealedAlerts }, { sealedVendors }] = await Promise.all([
    import('../controls/secret-key.js'),
    import('../controls/control-revisions.js'),
    import('../alerts/alert-settings.js'),
    import('../vendors/vendor-settings.js'),
  ]);
  const key = new SecretKey(config);
  const organizations = await source.select('SELECT org_id FROM organizations');
  const areOpen = [await areSecretsOpenTo(source, key)];
  for (const { org_id } of organizations)
    for (const sealed of [sealedAlerts, sealedVendors])
      areOpen.push(await sealed.areOpenTo(source, String(org_id), key));
  if (areOpen.includes(false) && !config.acceptsLoss)
    throw new UsageError(
      `DAYBOOK_SECRET_KEY doesn't decrypt the secrets of the store: set it to the key that the service had, which is the text of ${join(config.data, 'secret.key')} unless it was set, here and on all nodes; or give the secrets up with --accept-loss.`,
    );
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

/** Prints the verdict. */
function tell({ organizations, events, days, digests, differences }: Moved): void {
  if (differences.length === 0) {
    print(
      `${count(events, 'event')} and ${count(days, 'built day')} of ${count(organizations, 'organization')} are moved.`,
    );
    print(`All ${count(digests, 'digest')} are the same in both stores.`);
    print('Start nodes on the databases now, and no service on this data folder.');
    return;
  }
  process.exitCode = 1;
  print(
    table(
      differences.slice(0, SHOWN).map(({ table, orgId, day, rows: [here, there] }) => ({
        organization: orgId ?? '',
        ...{ day: day ?? '', table, 'rows here': here, 'rows there': there },
      })),
    ),
  );
  print(`${differences.length} of ${count(digests, 'digest')} differ, so nothing counts yet.`);
  print('Move again, which copies these anew.');
  print('If they still differ, create both databases anew.');
}
