import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import type { E2bConfig } from './computer/e2b.js';
import type { S3Address } from './computer/s3.js';
import { type Day, DaySchema } from './day.js';
import { UsageError } from './exit.js';
import './sentence.js';

/** The folder of the installed package: where `sql/` and the data that Daybook ships are, wherever the code was compiled to. */
export const PACKAGE_ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(dirname(folder));
}

/** The version of the installed package. */
export const { version: VERSION } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')));

/** The file of the database, in the data folder. */
export const DATABASE = 'daybook.duckdb';

/** The file in which batches are checked on their way to a database elsewhere. */
export const STAGING = 'staging.duckdb';

/** The folder of files that are restored, until all of them are in place: nobody opens the database while it is there. */
export const RESTORED = 'restored';

const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.coerce.number().int().min(min).max(max);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);
const text = z.string().min(1);
const PUBLIC_URL = 'must be an address as https://daybook.acme.example or https://acme.example/daybook';

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

/** What `s3://bucket/prefix?region=eu-central-1&endpoint=http://127.0.0.1:9000` names. */
function toS3Address(text: string, context: z.RefinementCtx): S3Address | undefined {
  if (text === 'folder') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const { region = 'us-east-1', endpoint, ...others } = Object.fromEntries(url?.searchParams ?? []);
  if (
    url?.protocol !== 's3:' ||
    !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host) ||
    url.username !== '' ||
    url.hash !== '' ||
    Object.keys(others).length > 0 ||
    (endpoint !== undefined && !/^https?:\/\/[^/]+\/?$/.test(endpoint))
  ) {
    context.addIssue({
      code: 'custom',
      message: 'must be folder or s3://bucket/prefix?region=eu-central-1&endpoint=https://host',
    });
    return z.NEVER;
  }
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  return { bucket: url.host, prefix: prefix === '' ? '' : `${prefix}/`, region, endpoint };
}

/** Every setting: its form, its default and, for people, what it does. Names of secrets are in SECRETS. */
const Settings = z.object({
  DAYBOOK_DATA: text
    .default('data')
    .transform((path) => resolve(path))
    .describe('folder of the database, the inbox, the [lake](lake.md) and the control socket'),
  DAYBOOK_STORE: z
    .string()
    .default('duckdb')
    .transform(toAddress)
    .describe('`duckdb`, or `clickhouse://user:password@host:8123/database`: [ClickHouse](clickhouse.md)'),
  DAYBOOK_OBJECTS: z
    .string()
    .default('folder')
    .transform(toS3Address)
    .describe(
      'where files for [computers](computers.md) wait: `folder` (in the data folder), or `s3://bucket/prefix?region=...&endpoint=...`',
    ),
  DAYBOOK_HOST: text.default('127.0.0.1').describe('address to listen on'),
  DAYBOOK_PORT: whole(0, 65535).default(8787).describe('port to listen on'),
  DAYBOOK_RATE_CARD: text
    .default(join(PACKAGE_ROOT, 'data', 'rate-card.json'))
    .transform((path) => resolve(path))
    .describe('path of the [rate card](rate-card.md)'),
  DAYBOOK_PRICES: text
    .default(join(PACKAGE_ROOT, 'data', 'prices.json'))
    .transform((path) => resolve(path))
    .describe('path of the [price list](prices.md)'),
  DAYBOOK_HISTORY_START: DaySchema.default('2026-01-14' as Day).describe(
    'days before it are built, but not served',
  ),
  DAYBOOK_BUILD_AT: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$|^off$/, 'must be a time of day as HH:MM, or off')
    .default('00:15')
    .describe('UTC time of the nightly build, or `off`'),
  DAYBOOK_SESSION_RETENTION_DAYS: whole(14, 365)
    .optional()
    .describe(
      'days after which raw events are removed, of organizations whose [controls](controls.md) say nothing else; their day tables [stay](retention.md) (default: never)',
    ),
  DAYBOOK_SECRET_KEY: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'what secrets in [enterprise controls](controls.md) are encrypted with, and addresses for files signed (default: a key in the file `secret.key` of the data folder, made at the first start)',
    ),
  DAYBOOK_MEMORY_MB: whole(256)
    .default(1024)
    .describe('what the database may use for itself, in MiB; more makes large ingests faster'),
  DAYBOOK_THREADS: whole(1, 1024)
    .optional()
    .describe('how many processors the database may use at a time (default: all)'),
  DAYBOOK_INBOX_MB: whole(1)
    .default(4096)
    .describe('how many MiB of events may wait to be settled, before the service answers 503'),
  DAYBOOK_CACHE_MB: whole(1)
    .default(64)
    .describe('how many MiB of answers are kept in memory, until a day of theirs is built again'),
  DAYBOOK_SQL_TIME_S: whole(1, 3600)
    .default(30)
    .describe('seconds that a query of [SQL over HTTP](sql.md) may take, until its last byte is read'),
  DAYBOOK_SQL_MEMORY_MB: whole(64).default(512).describe('what each query may use for itself, in MiB'),
  DAYBOOK_SQL_THREADS: whole(1, 1024).default(1).describe('how many processors each query may use at a time'),
  DAYBOOK_SQL_ROWS: whole(1).default(10_000_000).describe('how many rows the answer of a query may have'),
  DAYBOOK_SQL_ANSWER_MB: whole(1).default(1024).describe('how many MiB the answer of a query may have'),
  DAYBOOK_SQL_TEXT_KB: whole(1, 1024)
    .default(64)
    .describe('how many KiB a query may have as it is sent, with its parameters'),
  DAYBOOK_SQL_PARAMS: whole(0, 10_000).default(100).describe('how many parameters a query may have'),
  DAYBOOK_SQL_QUERIES: whole(1).default(4).describe('how many queries may run at a time'),
  DAYBOOK_SQL_QUERIES_PER_ORG: whole(1).default(2).describe('how many of them may be of one organization'),
  DAYBOOK_RATE_LIMIT: whole(0)
    .default(6000)
    .describe('requests a minute of one credential, or of one address without a valid one; 0 for any number'),
  DAYBOOK_TIMEOUT_S: whole(1, 3600).default(60).describe('seconds that a request may take to arrive'),
  DAYBOOK_AGENT_TIMEOUT_S: whole(1, 3600)
    .default(60)
    .describe(
      'seconds that the agent of a [computer](computers.md) may take to write a file, before the service answers 503',
    ),
  DAYBOOK_METRICS: z
    .enum(['local', 'on', 'off'])
    .default('local')
    .describe(
      'who may read [/metrics](operations.md) without a credential: `local` (this machine), `on` (all), `off` (nobody)',
    ),
  DAYBOOK_CORS_ORIGINS: list
    .default([])
    .describe('origins whose pages may call the API from a browser, separated by commas'),
  DAYBOOK_TRUST_PROXY: list
    .default([])
    .describe('addresses of the proxies whose `X-Forwarded-For` is believed, separated by commas'),
  DAYBOOK_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: PUBLIC_URL })
    .refine((url) => !/[?#]|\/\/[^/]*@/.test(url), PUBLIC_URL)
    .transform((url) => (url.endsWith('/') ? url : `${url}/`))
    .optional()
    .describe(
      'address at which others reach the service behind a [proxy](proxy.md), with its path prefix: what addresses in answers begin with, and where sandboxes find the service (default: as each request names it)',
    ),
  DAYBOOK_TLS_CERT: text.optional().describe('path of the certificate (PEM), to serve HTTPS'),
  DAYBOOK_TLS_KEY: text.optional().describe('path of its private key (PEM)'),
  DAYBOOK_JWT_JWKS: text.optional().describe('URL or path of the key set that JWTs are checked with'),
  DAYBOOK_JWT_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('shared secret that JWTs are checked with, instead of a key set'),
  DAYBOOK_JWT_ISSUER: text.optional().describe('`iss` that a JWT must have'),
  DAYBOOK_JWT_AUDIENCE: text.optional().describe('`aud` that a JWT must have'),
  DAYBOOK_JWT_ALGORITHMS: list
    .default([])
    .describe(
      'signature algorithms that are taken, separated by commas (default: RS256, PS256, ES256, EdDSA; HS256 with a secret)',
    ),
  DAYBOOK_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address as http://127.0.0.1:8787' })
    .default('http://127.0.0.1:8787')
    .describe(
      'where `daybook agent`, also one in a sandbox, `daybook computers` and `daybook readiness check --submit` find the service',
    ),
  DAYBOOK_KEY: text
    .optional()
    .describe('API key that `daybook computers` and `daybook readiness check --submit` ask the service with'),
  DAYBOOK_AGENT_TOKEN: text.optional().describe('what `daybook agent` shows the service'),
  E2B_API_KEY: text.optional().describe('makes [computers](computers.md) of the provider `e2b` possible'),
  DAYBOOK_E2B_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address as https://api.e2b.app' })
    .default('https://api.e2b.app')
    .describe(
      'address of the API that speaks E2B; sandboxes are behind the same one, unless it is `https://api.DOMAIN`',
    ),
  DAYBOOK_E2B_TEMPLATE: text
    .default('base')
    .describe('template of sandboxes that name none; the program `daybook` must be in it'),
  DAYBOOK_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('`fatal`, `error`, `warn`, `info`, `debug`, `trace`, `silent`'),
});

type Setting = keyof typeof Settings.shape;

const SECRETS: ReadonlySet<string> = new Set<Setting>([
  'DAYBOOK_JWT_SECRET',
  'DAYBOOK_AGENT_TOKEN',
  'DAYBOOK_KEY',
  'DAYBOOK_SECRET_KEY',
  'DAYBOOK_STORE',
  'E2B_API_KEY',
]);

/** How JWTs are checked: with a key set or with a shared secret. */
export interface JwtConfig {
  /** URL or path of a JSON Web Key Set. */
  readonly jwks: string | undefined;
  readonly secret: string | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
}

/** What queries may take. */
export interface SqlConfig {
  readonly timeSeconds: number;
  readonly memoryMb: number;
  readonly threads: number;
  readonly rows: number;
  readonly answerMb: number;
  readonly textKb: number;
  readonly params: number;
  /** How many may run at a time, in all and of one organization. */
  readonly queries: number;
  readonly queriesPerOrg: number;
}

/** What the settings say. Paths are absolute. */
export interface Config {
  /** Folder of the database, the inbox and the control socket. */
  readonly data: string;
  /** The ClickHouse database that is the store; undefined for a DuckDB file in the data folder. */
  readonly clickhouse: ClickHouseAddress | undefined;
  /** The bucket where files for computers wait; undefined for the data folder. */
  readonly objects: S3Address | undefined;
  readonly host: string;
  readonly port: number;
  /** Path of the rate card. */
  readonly rateCard: string;
  /** Path of the price list. */
  readonly prices: string;
  /** Days before it are built, but not served. */
  readonly historyStart: Day;
  /** UTC time of the nightly build, `HH:MM`; undefined for none. */
  readonly buildAt: string | undefined;
  /** How many days old raw events may get where an organization says nothing else; undefined for any number. */
  readonly retentionDays: number | undefined;
  /** What secrets are encrypted with; undefined for the key in the data folder. */
  readonly secretKey: string | undefined;
  /** Whether a store is opened that has lost something. No setting says so, as it is decided once. */
  readonly acceptsLoss: boolean;
  /** What the database may use, in MiB. */
  readonly memoryMb: number;
  readonly threads: number | undefined;
  /** How much may wait in the inbox, in MiB. */
  readonly inboxMb: number;
  /** How much the answers that are kept may take, in MiB. */
  readonly cacheMb: number;
  readonly sql: SqlConfig;
  /** Requests a minute of a credential, or of an address without a valid one; 0 for any number. */
  readonly rateLimit: number;
  readonly timeoutSeconds: number;
  /** How long the agent of a computer may take for what it is asked. */
  readonly agentTimeoutSeconds: number;
  /** Who may read /metrics: this machine, all, nobody. */
  readonly metrics: 'local' | 'on' | 'off';
  readonly corsOrigins: readonly string[];
  readonly trustProxy: readonly string[];
  /** Where others reach the service, ending with a slash; undefined for where each request came to. */
  readonly publicUrl: string | undefined;
  /** Paths of PEM files. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly jwt: JwtConfig | undefined;
  /** Where commands that are clients find the service. */
  readonly url: string;
  readonly key: string | undefined;
  readonly agentToken: string | undefined;
  /** The provider of sandboxes; undefined without a key for it. */
  readonly e2b: E2bConfig | undefined;
  readonly logLevel: string;
}

/** A setting as `daybook config` shows it. */
export interface ShownSetting {
  readonly name: string;
  /** Secrets are masked; undefined where there is none. */
  readonly value: string | undefined;
  readonly source: 'option' | 'environment' | '.env' | 'default';
}

/** Where the user's state is kept that outlives a program (XDG Base Directory). */
export function stateFolder(): string {
  const given = process.env.XDG_STATE_HOME ?? '';
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'state'), 'daybook');
}

/** Whether failures show where in the code they happened. */
export function isDebugging(): boolean {
  return process.env.DAYBOOK_LOG_LEVEL === 'debug';
}

type Variables = Readonly<Record<string, string | undefined>>;

/** What sets this process up, the strongest first: options, the environment, a file `.env` in the working directory. */
function sources(options: Variables): [ShownSetting['source'], Variables][] {
  return [
    ['option', options],
    ['environment', process.env],
    [
      '.env',
      statSync('.env', { throwIfNoEntry: false })?.isFile() === true
        ? parseEnv(readFileSync('.env', 'utf8'))
        : {},
    ],
  ];
}

/** The settings of this process. Throws a UsageError that names the one that is wrong. */
export function readProcessConfig(options: Variables): Config {
  const variables: Record<string, string | undefined> = {};
  for (const [, given] of sources(options).reverse())
    for (const [name, value] of Object.entries(given)) if (value !== undefined) variables[name] = value;
  return readConfig(variables);
}

/** A value as it may be shown: a secret not at all, of an address all but its password. */
function masked(name: string, value: string): string {
  if (name === 'DAYBOOK_STORE') return value.replace(/:[^:@/]*@/, ':***@');
  return SECRETS.has(name) ? '***' : value;
}

/** Every setting of this process, and where it comes from. Throws a UsageError when one is wrong. */
export function showProcessConfig(options: Variables): ShownSetting[] {
  readProcessConfig(options);
  const all = sources(options);
  return Object.entries(Settings.shape).map(([name, schema]) => {
    const [source, given] = all.find(([, variables]) => (variables[name] ?? '') !== '') ?? [];
    const byDefault = schema.safeParse(undefined).data;
    const value = given?.[name] ?? (Array.isArray(byDefault) ? byDefault.join(',') : byDefault?.toString());
    return {
      name,
      value: value === undefined ? undefined : masked(name, value),
      source: source ?? 'default',
    };
  });
}

/** Every setting with what it does and its default, for the reference page. */
export function describeSettings(): { name: string; description: string; byDefault: string | undefined }[] {
  return Object.entries(Settings.shape).map(([name, schema]) => {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return {
      name,
      description: String(json.description),
      byDefault: json.default === undefined ? undefined : String(json.default),
    };
  });
}

/** Reads the settings from variables. Throws a UsageError that names the one that is wrong. */
export function readConfig(variables: Variables): Config {
  const ours = Object.entries(variables).filter(
    ([name, value]) => (name.startsWith('DAYBOOK_') || name === 'E2B_API_KEY') && value !== '',
  );
  const odd = ours.find(([name]) => !Object.hasOwn(Settings.shape, name));
  if (odd !== undefined)
    throw new UsageError(`There is no setting ${odd[0]}: docs/settings.md lists them all.`);
  const parsed = Settings.safeParse(Object.fromEntries(ours));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]);
    // Secrets aren't shown, nor is the password in the store's address.
    const what = SECRETS.has(name) ? '' : ` can't be "${variables[name]}":`;
    throw new UsageError(`${name}${what} ${issue?.message}.`);
  }
  const settings = parsed.data;
  return {
    data: settings.DAYBOOK_DATA,
    clickhouse: settings.DAYBOOK_STORE,
    objects: settings.DAYBOOK_OBJECTS,
    host: settings.DAYBOOK_HOST,
    port: settings.DAYBOOK_PORT,
    rateCard: settings.DAYBOOK_RATE_CARD,
    prices: settings.DAYBOOK_PRICES,
    historyStart: settings.DAYBOOK_HISTORY_START,
    buildAt: settings.DAYBOOK_BUILD_AT === 'off' ? undefined : settings.DAYBOOK_BUILD_AT,
    retentionDays: settings.DAYBOOK_SESSION_RETENTION_DAYS,
    secretKey: settings.DAYBOOK_SECRET_KEY,
    acceptsLoss: false,
    memoryMb: settings.DAYBOOK_MEMORY_MB,
    threads: settings.DAYBOOK_THREADS,
    inboxMb: settings.DAYBOOK_INBOX_MB,
    cacheMb: settings.DAYBOOK_CACHE_MB,
    sql: {
      timeSeconds: settings.DAYBOOK_SQL_TIME_S,
      memoryMb: settings.DAYBOOK_SQL_MEMORY_MB,
      threads: settings.DAYBOOK_SQL_THREADS,
      rows: settings.DAYBOOK_SQL_ROWS,
      answerMb: settings.DAYBOOK_SQL_ANSWER_MB,
      textKb: settings.DAYBOOK_SQL_TEXT_KB,
      params: settings.DAYBOOK_SQL_PARAMS,
      queries: settings.DAYBOOK_SQL_QUERIES,
      queriesPerOrg: settings.DAYBOOK_SQL_QUERIES_PER_ORG,
    },
    rateLimit: settings.DAYBOOK_RATE_LIMIT,
    timeoutSeconds: settings.DAYBOOK_TIMEOUT_S,
    agentTimeoutSeconds: settings.DAYBOOK_AGENT_TIMEOUT_S,
    metrics: settings.DAYBOOK_METRICS,
    corsOrigins: settings.DAYBOOK_CORS_ORIGINS,
    trustProxy: settings.DAYBOOK_TRUST_PROXY,
    publicUrl: settings.DAYBOOK_PUBLIC_URL,
    tls: tlsOf(settings),
    jwt: jwtOf(settings),
    url: settings.DAYBOOK_URL,
    key: settings.DAYBOOK_KEY,
    agentToken: settings.DAYBOOK_AGENT_TOKEN,
    e2b: e2bOf(settings),
    logLevel: settings.DAYBOOK_LOG_LEVEL,
  };
}

type Parsed = z.infer<typeof Settings>;

function tlsOf({ DAYBOOK_TLS_CERT: cert, DAYBOOK_TLS_KEY: key }: Parsed): Config['tls'] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new UsageError('DAYBOOK_TLS_CERT and DAYBOOK_TLS_KEY go together: set both or none.');
  return { cert: resolve(cert), key: resolve(key) };
}

function e2bOf(settings: Parsed): E2bConfig | undefined {
  const { E2B_API_KEY: apiKey, DAYBOOK_E2B_URL: url, DAYBOOK_E2B_TEMPLATE: template } = settings;
  return apiKey === undefined ? undefined : { apiKey, url, template };
}

function jwtOf(settings: Parsed): JwtConfig | undefined {
  const {
    DAYBOOK_JWT_JWKS: jwks,
    DAYBOOK_JWT_SECRET: secret,
    DAYBOOK_JWT_ISSUER: issuer,
    DAYBOOK_JWT_AUDIENCE: audience,
  } = settings;
  if (jwks === undefined && secret === undefined) return undefined;
  if (jwks !== undefined && secret !== undefined)
    throw new UsageError('Set DAYBOOK_JWT_JWKS or DAYBOOK_JWT_SECRET, not both.');
  if (issuer === undefined || audience === undefined)
    throw new UsageError(
      'JWTs need DAYBOOK_JWT_ISSUER and DAYBOOK_JWT_AUDIENCE too: a token for another service must not open this one.',
    );
  const taken = secret === undefined ? ASYMMETRIC : ['HS256', 'HS384', 'HS512'];
  const byDefault = secret === undefined ? ['RS256', 'PS256', 'ES256', 'EdDSA'] : ['HS256'];
  const algorithms = settings.DAYBOOK_JWT_ALGORITHMS.length > 0 ? settings.DAYBOOK_JWT_ALGORITHMS : byDefault;
  const odd = algorithms.find((name) => !taken.includes(name));
  if (odd !== undefined)
    throw new UsageError(`DAYBOOK_JWT_ALGORITHMS can't have ${odd}: ${taken.join(', ')} are possible here.`);
  return {
    jwks: jwks !== undefined && !/^https?:/.test(jwks) ? resolve(jwks) : jwks,
    secret,
    issuer,
    audience,
    algorithms,
  };
}
