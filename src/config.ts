import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Day, DaySchema } from './day.js';
import { UsageError } from './exit.js';

/** The folder of the installed package: where `sql/` and the data that Daybook ships are, wherever the code was compiled to. */
export const PACKAGE_ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(dirname(folder));
}

/** Where a ClickHouse database is. */
export interface ClickHouseAddress {
  /** Of the server's HTTP interface, as `http://host:8123`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** What `clickhouse://user:password@host:8123/database` names; with `clickhouses:` the way there is encrypted. */
function toAddress(text: string, context: z.RefinementCtx): ClickHouseAddress | undefined {
  if (text === 'duckdb') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const database = url?.pathname.slice(1) ?? '';
  if (
    url === undefined ||
    !/^clickhouses?:$/.test(url.protocol) ||
    url.hostname === '' ||
    !/^[A-Za-z_][A-Za-z0-9_]*$/.test(database) ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    context.addIssue({
      code: 'custom',
      message: 'must be duckdb or clickhouse://user:password@host:8123/database',
    });
    return z.NEVER;
  }
  const isEncrypted = url.protocol === 'clickhouses:';
  const port = url.port === '' ? (isEncrypted ? '8443' : '8123') : url.port;
  return {
    url: `${isEncrypted ? 'https' : 'http'}://${url.hostname}:${port}`,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database,
  };
}

const Settings = z.object({
  DAYBOOK_STORE: z.string().default('duckdb').transform(toAddress),
  DAYBOOK_DATA: z.string().min(1).default('data'),
  DAYBOOK_HOST: z.string().min(1).default('127.0.0.1'),
  DAYBOOK_PORT: z.coerce.number().int().min(0).max(65535).default(8787),
  DAYBOOK_RATE_CARD: z
    .string()
    .min(1)
    .default(join(PACKAGE_ROOT, 'data', 'rate-card.json')),
  DAYBOOK_HISTORY_START: DaySchema.default('2026-01-14' as Day),
  DAYBOOK_MEMORY_MB: z.coerce.number().int().min(256).default(1024),
  DAYBOOK_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** What the environment sets. Paths are absolute. */
export interface Config {
  /** Folder of the database, the inbox and the control socket. */
  readonly data: string;
  /** The ClickHouse database that is the store; undefined for a DuckDB file in the data folder. */
  readonly clickhouse: ClickHouseAddress | undefined;
  readonly host: string;
  readonly port: number;
  /** Path of the rate card. */
  readonly rateCard: string;
  /** Days before it are built, but not served. */
  readonly historyStart: Day;
  /** What the database may use, in MiB. */
  readonly memoryMb: number;
  readonly logLevel: string;
}

/** Whether failures show where in the code they happened. */
export function isDebugging(): boolean {
  return process.env.DAYBOOK_LOG_LEVEL === 'debug';
}

/** The settings of this process: options win over the environment, and that over a file `.env` in the working directory. */
export function readProcessConfig(options: Record<string, string | undefined>): Config {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return readConfig({ ...process.env, ...Object.fromEntries(given) });
}

/** Reads the settings from variables. Throws a UsageError that names the one that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const ours = Object.entries(environment).filter(
    ([name, value]) => name.startsWith('DAYBOOK_') && value !== '',
  );
  const parsed = Settings.safeParse(Object.fromEntries(ours));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]);
    // The store's address has a password in it, and isn't shown.
    const what = name === 'DAYBOOK_STORE' ? '' : ` can't be "${environment[name]}":`;
    throw new UsageError(`${name}${what} ${issue?.message}.`);
  }
  const settings = parsed.data;
  return {
    data: resolve(settings.DAYBOOK_DATA),
    clickhouse: settings.DAYBOOK_STORE,
    host: settings.DAYBOOK_HOST,
    port: settings.DAYBOOK_PORT,
    rateCard: resolve(settings.DAYBOOK_RATE_CARD),
    historyStart: settings.DAYBOOK_HISTORY_START,
    memoryMb: settings.DAYBOOK_MEMORY_MB,
    logLevel: settings.DAYBOOK_LOG_LEVEL,
  };
}
