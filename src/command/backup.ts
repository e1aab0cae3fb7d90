import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Manifest } from '../backup/backup-manifest.js';
import { heldFolder, hold } from '../backup/held-files.js';
import type { Held } from '../backup/take-backup.js';
import { UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';
import { settingsOfService } from '../socket/call.js';
import { ask, isServed, Nobody } from '../socket/control-socket.js';
import { openStore, requireDatabase } from '../socket/open-store.js';
import { bytes, count, withProgress } from '../terminal/terminal.js';
import { type Invocation, note, print } from './program.js';

/** Adds `backup` and `restore` to the program. */
export function add(program: Command, { settings, clock }: Invocation): void {
  program
    .command('backup')
    .description('back up the data folder into a new folder, also while the service runs')
    .argument('<folder>', 'folder of the backup; must not exist, or be empty')
    .option('--json', 'print the manifest of the backup')
    .action(async (folder: string, options: { json?: boolean }) => {
      const config = settings();
      // Loaded here, so that the other commands start faster.
      const service = await settingsOfService(config);
      if (service.isClickHouse !== (config.clickhouse !== undefined))
        throw new UsageError(
          'The running service has another DAYBOOK_STORE: set it in the environment as the service has it.',
        );
      const { backUp } = await import('../backup/take-backup.js');
      const warnings: string[] = [];
      const manifest = await withProgress('Backing up', (progress) =>
        backUp(config, resolve(folder), held(config, clock), progress, (sentence) => warnings.push(sentence)),
      );
      for (const sentence of warnings) note(sentence);
      if (options.json === true) return print(JSON.stringify(manifest));
      print(`${folder} has ${contents(manifest)}, as they were at ${manifest.taken_at}.`);
      if (config.clickhouse !== undefined)
        print('It does not include ClickHouse: docs/operations.md says how to back that up too.');
      const buckets = Object.entries({
        'acknowledged events that are not settled yet': config.inbox,
        'the lake': config.lake,
        'files that wait for computers': config.objects,
      }).flatMap(([what, address]) =>
        address === undefined ? [] : [`${what} (s3://${address.bucket}/${address.prefix})`],
      );
      if (buckets.length > 0) print(`It does not include what is in buckets: ${buckets.join(', ')}.`);
      if (service.hasSecretKey)
        print(
          "It does not include DAYBOOK_SECRET_KEY: keep the key elsewhere, because secrets can't be read without it.",
        );
    });

  program
    .command('restore')
    .description('restore a backup into the data folder; stop the service first')
    .argument('<folder>', 'folder of the backup')
    .option('--replace', 'move the present contents of the data folder aside')
    .action(async (folder: string, options: { replace?: boolean }) => {
      const config = settings();
      if (await isServed(config.data))
        throw new UsageError(
          `A service runs on the data folder ${config.data}: stop it first, or restore into another one with --data.`,
        );
      const { restore } = await import('../backup/restore-backup.js');
      const { manifest, aside } = await withProgress('Restoring', (progress) =>
        restore(
          resolve(folder),
          {
            data: config.data,
            store: config.clickhouse === undefined ? 'duckdb' : 'clickhouse',
            isReplacing: options.replace === true,
            now: clock(),
          },
          progress,
        ),
      );
      print(
        manifest === undefined
          ? `An interrupted restore into ${config.data} is finished now. Nothing else was done.`
          : `${config.data} has ${contents(manifest)}, as they were at ${manifest.taken_at}.`,
      );
      if (aside !== undefined) print(`The previous contents are in ${aside}.`);
    });
}

function contents({ files }: Manifest): string {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  return `${count(files.length, 'file')}, ${bytes(total)}`;
}

/** Asks the process that has the database open to hold its files during the copy; without one, opens the database itself. */
function held(config: Config, clock: () => number): Held {
  return async (copy) => {
    const id = randomUUID();
    const work = (heldAt: number) => copy(heldFolder(config.data, id), heldAt);
    const isDone = async () => {
      const over = new AbortController();
      let copied: Promise<void> | undefined;
      try {
        const begin = (heldAt: number) => {
          copied ??= work(heldAt).finally(() => over.abort());
          // If the service ends first, the copy's error is not needed.
          copied.catch(() => undefined);
        };
        await ask(config.data, 'hold', { id }, begin, over.signal);
        await copied;
        return true;
      } catch (error) {
        // Wait for the copy to end, or it would recreate the folder after its removal.
        await copied?.catch(() => undefined);
        if (error instanceof Nobody) return false;
        throw error;
      }
    };
    if (await isDone()) return;
    requireDatabase(config);
    const store = await openStore(config, clock, isDone);
    if (store === undefined) return;
    try {
      await hold({ store, data: config.data, clock }, id, work);
    } finally {
      await store.close();
    }
  };
}
