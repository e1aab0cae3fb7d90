import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { readText } from '../disk/text-file.js';
import { UsageError } from '../exit.js';
import { defaultOf, given, SETTINGS, type Setting, Settings, type Variables } from './setting-list.js';

/** The values of all settings. Paths are absolute. */
export type Config = ReturnType<typeof readConfig>;
export type JwtConfig = NonNullable<Config['jwt']>;
export type ClaimsConfig = Parsed['claims'];
export type OidcConfig = NonNullable<Config['oidc']>;
export type E2bConfig = NonNullable<Config['e2b']>;

/** The folder for user state that outlives a program (XDG Base Directory). */
export function stateFolder(): string {
  const given = process.env.XDG_STATE_HOME ?? '';
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'state'), 'daybook');
}

/** Whether errors show where in the code they happened. */
export function isDebugging(): boolean {
  return process.env.DAYBOOK_LOG_LEVEL === 'debug';
}

/** The width of standard output: COLUMNS, else that of the terminal; undefined if it is no terminal. */
export function outputWidth(): number | undefined {
  const given = Number(process.env.COLUMNS);
  const width = Number.isInteger(given) && given > 0 ? given : process.stdout.columns;
  return width > 0 ? width : undefined;
}

/** Turns colours off for everything that is printed, as `NO_COLOR` does. */
export function leaveColoursOut(): void {
  process.env.NO_COLOR = '1';
  delete process.env.FORCE_COLOR;
}

/** The command option for a variable, as `--host <address>` and its help. */
export function optionOf(variable: string): [flags: string, help: string] {
  const found = SETTINGS.find((one) => one.variable === variable);
  if (found?.option === undefined) throw new Error(`No option means the same as ${variable}.`);
  const byDefault = defaultOf(found);
  const otherwise = byDefault === undefined ? '' : `, else ${byDefault}`;
  const isSafer = found.isSecret === true ? ', which other users cannot see' : '';
  return [found.option.flags, `${found.option.help} (default: ${variable}${otherwise}${isSafer})`];
}

/** The variables that a command's options stand for: its `host` is the value of `--host`. */
function variablesOf(options: object): Variables {
  const given = new Map<string, unknown>(Object.entries(options));
  return Object.fromEntries(
    SETTINGS.flatMap(({ variable, option }) => {
      const value = given.get(/^--(\w+)/.exec(option?.flags ?? '')?.[1] ?? '');
      return typeof value === 'string' ? [[variable, value]] : [];
    }),
  );
}

/** How many bytes a file `.env` can have. A longer one isn't read. */
const DOT_ENV_BYTES = 1 << 20;

/** A setting as `daybook config` shows it. */
export interface ShownSetting {
  readonly name: string;
  /** Undefined if there is none. Secrets are masked. */
  readonly value: string | undefined;
  readonly source: 'option' | 'environment' | '.env' | 'default';
}

/** The variables of a process, by their source. */
type Sources = readonly (readonly [ShownSetting['source'], Variables])[];

/**
 * What Kubernetes puts into the environment of each pod beside a Service whose name begins with `daybook`: its addresses. A setting never has
 * such a name, except DAYBOOK_PORT, which never has such a value.
 */
const SERVICE_LINK =
  /^DAYBOOK_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_PORT = /^(tcp|udp|sctp):\/\//;

function isServiceLink([name, value = '']: [string, string | undefined]): boolean {
  return SERVICE_LINK.test(name) || (/^DAYBOOK_(\w+_)?PORT$/.test(name) && SERVICE_PORT.test(value));
}

/** The variables of this process that somebody has set. */
function environment(): Variables {
  return Object.fromEntries(Object.entries(process.env).filter((one) => !isServiceLink(one)));
}

/** The sources of this process's settings, strongest first: options, then the environment. */
function sourcesOf(options: object): Sources {
  return [
    ['option', variablesOf(options)],
    ['environment', environment()],
  ];
}

/**
 * The variables in the file `.env` of the working directory. A very long file isn't one of settings. Throws a UsageError for UTF-16, which
 * PowerShell writes.
 */
function dotEnv(): Variables {
  const found = statSync('.env', { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size > DOT_ENV_BYTES) return {};
  const text = readText('.env');
  if (text.includes('\0')) throw new UsageError('The file .env is no text in UTF-8: save it as UTF-8.');
  return parseEnv(text);
}

/** The same for the service, which also reads `.env`. Throws a UsageError for a secret that the file would send elsewhere. */
function serviceSourcesOf(options: object): Sources {
  const all: Sources = [...sourcesOf(options), ['.env', dotEnv()]];
  for (const { variable, sentTo } of SETTINGS) {
    if (sentTo === undefined || sourceOf(all, sentTo) !== '.env') continue;
    const source = sourceOf(all, variable);
    if (source !== undefined && source !== '.env')
      throw new UsageError(
        `${variable} comes from the ${source}, but the address that it is sent to, ${sentTo}, from .env: set both in the same place.`,
      );
  }
  return all;
}

/** The source of a setting; undefined if nothing sets it. */
function sourceOf(all: Sources, name: string): ShownSetting['source'] | undefined {
  return all.find(([, variables]) => (variables[name] ?? '') !== '')?.[0];
}

function configOf(all: Sources, options: object): Config {
  const variables: Record<string, string | undefined> = {};
  for (const [, given] of all.toReversed())
    for (const [name, value] of Object.entries(given)) if (value !== undefined) variables[name] = value;
  return { ...readConfig(variables), acceptsLoss: 'acceptLoss' in options && options.acceptLoss === true };
}

/**
 * The settings of this process: options of the command, then the environment. It ignores a file `.env`, because the working directory can
 * be a checkout of somebody who wants the user's key. Throws a UsageError that names the wrong setting.
 */
export function readProcessConfig(options: object): Config {
  return configOf(sourcesOf(options), options);
}

/** The settings of a process that becomes the service, which also reads `.env`. Throws a UsageError that names the wrong setting. */
export function readServiceConfig(options: object): Config {
  return configOf(serviceSourcesOf(options), options);
}

/** The variables in `.env` that are ignored here, but would change the settings of a service. */
export function settingsLeftOut(options: object): string[] {
  const given = dotEnv();
  return SETTINGS.map(({ variable }) => variable).filter(
    (name) => (given[name] ?? '') !== '' && sourceOf(sourcesOf(options), name) === undefined,
  );
}

/** A value that can be shown: `***` for a secret, and an address without its password. */
function masked({ isSecret }: Setting, value: string): string {
  return isSecret === true ? '***' : value.replace(/((?:^|\/\/)[^:@/]*):[^/]*@/, '$1:***@');
}

/** All settings of a service that would start here, with their sources. Throws a UsageError if one is wrong. */
export function showServiceConfig(options: object): ShownSetting[] {
  const all = serviceSourcesOf(options);
  configOf(all, options);
  return SETTINGS.map((setting) => {
    const { variable: name } = setting;
    const [source, given] = all.find(([, variables]) => (variables[name] ?? '') !== '') ?? [];
    const value = given?.[name] ?? defaultOf(setting);
    return {
      name,
      value: value === undefined ? undefined : masked(setting, value),
      source: source ?? 'default',
    };
  });
}

/** Reads the settings from variables. Throws a UsageError that names the wrong one. */
export function readConfig(variables: Variables) {
  const odd = Object.entries(variables).find(
    ([name, value]) =>
      name.startsWith('DAYBOOK_') && value !== '' && SETTINGS.every(({ variable }) => variable !== name),
  );
  if (odd !== undefined)
    throw new UsageError(`There is no setting ${odd[0]}: docs/settings.md lists them all.`);
  const parsed = Settings.safeParse(given(Settings, variables));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const wrong = SETTINGS.find(({ path }) => path.join() === issue?.path.join());
    const name = wrong?.variable ?? '';
    // Secrets aren't shown, and neither are the stores' addresses, which can have a password.
    const isShown = wrong?.isSecret !== true && !['DAYBOOK_STORE', 'DAYBOOK_STATE'].includes(name);
    throw new UsageError(`${name}${isShown ? ` can't be "${variables[name]}":` : ''} ${issue?.message}.`);
  }
  requireApart(parsed.data);
  const { tls, jwt, oidc, e2b, smtp, ...others } = parsed.data;
  if (others.postgres !== undefined && others.clickhouse === undefined)
    throw new UsageError(
      'DAYBOOK_STATE can be a PostgreSQL database only with ClickHouse as the store: set DAYBOOK_STORE to clickhouse://user:password@host:8123/database, or leave DAYBOOK_STATE out.',
    );
  if (others.postgres !== undefined && others.secretKey === undefined)
    throw new UsageError(
      'With DAYBOOK_STATE several nodes share secrets, and each has to read them: set DAYBOOK_SECRET_KEY to the same text on all of them.',
    );
  return {
    ...others,
    tls: tlsOf(tls),
    /** Undefined if no e-mail can be sent. */
    smtp: smtpOf(smtp),
    jwt: jwtOf(parsed.data),
    oidc: oidcOf(parsed.data),
    /** Undefined without an API key. */
    e2b: e2b.apiKey === undefined ? undefined : { ...e2b, apiKey: e2b.apiKey },
    /** Whether to open a store that has lost something. This is no setting, since it is decided once. */
    acceptsLoss: false,
  };
}

type Parsed = z.infer<typeof Settings>;

/** What can be in a bucket, by its setting: undefined for the data folder. */
export function placesOf({ inbox, lake, objects }: Pick<Parsed, 'inbox' | 'lake' | 'objects'>) {
  return Object.entries({ DAYBOOK_INBOX: inbox, DAYBOOK_LAKE: lake, DAYBOOK_OBJECTS: objects });
}

/** Throws a UsageError if two settings name the same objects of a bucket: each removes what it doesn't know. */
function requireApart(parsed: Parsed): void {
  const named = placesOf(parsed);
  for (const [name, one] of named)
    for (const [other, two] of named)
      if (
        name !== other &&
        one !== undefined &&
        one.bucket === two?.bucket &&
        one.endpoint === two.endpoint &&
        one.prefix.startsWith(two.prefix)
      )
        throw new UsageError(
          `${name} is within ${other}: give each of them a prefix of its own, such as s3://${one.bucket}/${name.slice(8).toLowerCase()}.`,
        );
}

function tlsOf({ cert, key }: Parsed['tls']): { cert: string; key: string } | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new UsageError('DAYBOOK_TLS_CERT and DAYBOOK_TLS_KEY go together: set both or neither.');
  return { cert: resolve(cert), key: resolve(key) };
}

function smtpOf({ url, from }: Parsed['smtp']): { url: string; from: string } | undefined {
  if (url === undefined && from === undefined) return undefined;
  if (url === undefined || from === undefined)
    throw new UsageError('DAYBOOK_SMTP and DAYBOOK_SMTP_FROM go together: set both or neither.');
  return { url, from };
}

function oidcOf({ oidc, claims, toleranceSeconds }: Parsed) {
  const { issuer, clientId, clientSecret, deviceClientId, deviceClientSecret, scope } = oidc;
  if (deviceClientId === undefined && deviceClientSecret !== undefined)
    throw new UsageError(
      'DAYBOOK_OIDC_DEVICE_CLIENT_SECRET is of DAYBOOK_OIDC_DEVICE_CLIENT_ID: set both, or only the id.',
    );
  if (deviceClientId !== undefined && issuer === undefined)
    throw new UsageError('DAYBOOK_OIDC_DEVICE_CLIENT_ID needs DAYBOOK_OIDC_ISSUER: set both or neither.');
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined)
    throw new UsageError(
      'DAYBOOK_OIDC_ISSUER, DAYBOOK_OIDC_CLIENT_ID and DAYBOOK_OIDC_CLIENT_SECRET go together: set all or none.',
    );
  const device =
    deviceClientId === undefined ? undefined : { clientId: deviceClientId, clientSecret: deviceClientSecret };
  return { issuer, clientId, clientSecret, device, scope, claims, toleranceSeconds };
}

const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

function jwtOf({ jwt, claims, toleranceSeconds }: Parsed) {
  const { jwks, secret, issuer, audience, algorithms: named } = jwt;
  if (jwks === undefined && secret === undefined) return undefined;
  if (jwks !== undefined && secret !== undefined)
    throw new UsageError('Set DAYBOOK_JWT_JWKS or DAYBOOK_JWT_SECRET, not both.');
  if (issuer === undefined || audience === undefined)
    throw new UsageError(
      'JWTs need DAYBOOK_JWT_ISSUER and DAYBOOK_JWT_AUDIENCE too: a token for another service must not open this one.',
    );
  const possible = secret === undefined ? ASYMMETRIC : ['HS256', 'HS384', 'HS512'];
  const byDefault = secret === undefined ? ['RS256', 'PS256', 'ES256', 'EdDSA'] : ['HS256'];
  const algorithms = named.length > 0 ? named : byDefault;
  const odd = algorithms.find((name) => !possible.includes(name));
  if (odd !== undefined)
    throw new UsageError(
      `DAYBOOK_JWT_ALGORITHMS can't have ${odd}: ${possible.join(', ')} are possible here.`,
    );
  const where = jwks !== undefined && !/^https?:/.test(jwks) ? resolve(jwks) : jwks;
  return { jwks: where, secret, issuer, audience, algorithms, claims, toleranceSeconds };
}

/**
 * Expands `~` at the beginning of a path, and one `${VARIABLE:-default}`, as a shell does. The variable, like its default, can name several
 * folders with commas between: then there is a path for each.
 */
export function expandPaths(path: string): string[] {
  const [whole, name = '', otherwise = ''] = /\$\{(\w+):-([^{}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [expandHome(path)];
  const value = process.env[name] || otherwise;
  const folders = existsSync(value) ? [value] : value.split(',').map((folder) => folder.trim());
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => expandHome(path.replace(whole, () => folder)));
}

function expandHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, () => homedir());
}
