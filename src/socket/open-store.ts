import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DATABASE, refuseHalfRestored } from '../disk/data-files.js';
import { hasKey } from '../disk/key-file.js';
import { MayPass, UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';
import { MARK, requireFile } from '../store/loss-mark.js';
import type { Mishaps } from '../store/renewable.js';
import type { Store } from '../store/store.js';
import { StoreBusy } from '../store/store-fault.js';
import { note } from '../terminal/printing.js';

const RETRY_MS = 100;
const NOTICE_AFTER_MS = 2000;
/** After this long a service gives up, so that whoever watches over it notices. Commands wait for each other. */
const PATIENCE_MS = 60_000;

/**
 * Opens the store, or waits while another program has it open. Answers undefined if a server has it open and can be asked. Throws MayPass
 * when a service has waited for long.
 */
export async function openStore(
  config: Config,
  clock: () => number,
  isServed: () => Promise<boolean>,
  options: {
    readonly mishaps?: Mishaps;
    readonly isReading?: boolean;
    readonly isService?: boolean;
    readonly pause?: (ms: number) => Promise<unknown>;
  } = {},
): Promise<Store | undefined> {
  const { DuckDbStore } = await import('../store/duckdb-store.js');
  const { holderIn } = await import('../store/database-file.js');
  const begun = clock();
  let isNoted = false;
  let holder = '';
  for (;;) {
    const settings = { ...config, now: clock(), ...options };
    try {
      return await withKey(config, async () => {
        const { clickhouse, postgres } = config;
        if (clickhouse === undefined) return DuckDbStore.open(config.data, settings);
        if (postgres !== undefined) {
          const { ClusterStore } = await import('../store/cluster-store.js');
          return ClusterStore.open(config.data, { clickhouse, postgres }, settings);
        }
        const { ClickHouseStore } = await import('../store/clickhouse-store.js');
        return ClickHouseStore.open(config.data, clickhouse, settings);
      });
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      holder = holderIn(error.message) ?? 'another program';
    }
    if (await isServed()) return undefined;
    // TRICKY: by the clock, since on a busy machine each try takes its time. One that is set back only begins the wait anew.
    const waited = clock() - begun;
    if (!isNoted && waited >= NOTICE_AFTER_MS) {
      isNoted = true;
      note(`Waiting for ${holder} to finish, which has the database in ${config.data} open.`);
    }
    if (waited >= PATIENCE_MS && options.isService === true)
      throw new MayPass(
        `${holder} still has the database in ${config.data} open: end it, if it isn't a daybook command that is about to finish.`,
      );
    await (options.pause ?? wait)(RETRY_MS);
  }
}

/** Whether there is a database to open. */
export function hasDatabase({ data, clickhouse }: Pick<Config, 'data' | 'clickhouse'>): boolean {
  return clickhouse !== undefined || existsSync(join(data, DATABASE));
}

/** Opens a store. Throws a UsageError if its key is damaged, or missing while it has secrets, unless that loss is accepted. */
async function withKey(config: Config, open: () => Promise<Store>): Promise<Store> {
  const store = await open();
  try {
    // Checks the file first, because it nearly always exists.
    if (!config.acceptsLoss && !hasKey(config)) {
      const { hasSecrets } = await import('../controls/control-revisions.js');
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

/** Throws a UsageError if there is no database, for commands that don't create one. The error says so if there used to be one. */
export function requireDatabase({ data, clickhouse, acceptsLoss }: Config): void {
  refuseHalfRestored(data);
  if (clickhouse !== undefined || existsSync(join(data, DATABASE))) return;
  requireFile(data, acceptsLoss);
  if (!acceptsLoss || !existsSync(join(data, MARK)))
    throw new UsageError(
      `There is no database in ${data}: "daybook ingest" creates one, and --data or DAYBOOK_DATA names another folder.`,
    );
}
