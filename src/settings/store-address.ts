import { z } from 'zod';

/** The address of a ClickHouse database. */
export interface ClickHouseAddress {
  /** The HTTP interfaces of its servers, such as `http://host:8123`: at least one. */
  readonly urls: readonly string[];
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** The name by which the servers know that they are the replicas of one cluster. */
  readonly cluster: string | undefined;
}

const HOSTS_AT_MOST = 32;

/** Scheme, user, hosts, database, and what stands behind a question mark. No URL, since there can be several hosts. */
const CLICKHOUSE =
  /^(clickhouses?):\/\/(.*@)?([^@/?#]+)\/([A-Za-z_][A-Za-z0-9_]*)(?:\?cluster=([A-Za-z0-9_.-]+))?$/;

/**
 * Parses `clickhouse://user:password@host:8123,other:8123/database?cluster=name`; with `clickhouses:` the connections are encrypted.
 */
export function toClickHouse(text: string, context: z.RefinementCtx): ClickHouseAddress | undefined {
  if (text === 'duckdb') return undefined;
  const [, scheme, user = '', hosts = '', database = '', cluster] = CLICKHOUSE.exec(text) ?? [];
  const isEncrypted = scheme === 'clickhouses';
  const urls = hosts.split(',').map((host) => `${scheme}://${user}${host}`);
  if (scheme === undefined || urls.length > HOSTS_AT_MOST || !urls.every(isServer)) {
    context.addIssue({
      code: 'custom',
      message: 'must be duckdb or clickhouse://user:password@host:8123/database',
    });
    return z.NEVER;
  }
  const all = urls.map((url) => new URL(url));
  const [{ username, password } = { username: '', password: '' }] = all;
  return {
    urls: all.map(({ hostname, port }) => {
      const own = port === '' ? (isEncrypted ? '8443' : '8123') : port;
      return `${isEncrypted ? 'https' : 'http'}://${hostname}:${own}`;
    }),
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
    database,
    cluster,
  };
}

function isServer(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname !== '';
}

/** The address of objects in an S3-compatible store. */
export interface S3Address {
  readonly bucket: string;
  /** The prefix of objects' names: empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** For a store other than Amazon's, such as `http://127.0.0.1:9000`. */
  readonly endpoint: string | undefined;
}

/** Parses `s3://bucket/prefix?region=eu-central-1&endpoint=http://127.0.0.1:9000`. */
export function toBucket(text: string, context: z.RefinementCtx): S3Address | undefined {
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
  const prefix = url.pathname.replace(/^\/+|(?<!\/)\/+$/g, '');
  return { bucket: url.host, prefix: prefix === '' ? '' : `${prefix}/`, region, endpoint };
}

/** The address of a PostgreSQL database. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Empty if there is none. */
  readonly password: string;
  readonly database: string;
  /** Undefined for a connection that isn't encrypted. */
  readonly ssl:
    | { readonly mode: 'require' | 'verify-full'; readonly rootCertificate: string | undefined }
    | undefined;
}

const SSL_MODES = ['disable', 'require', 'verify-full'] as const;

/** Parses `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=/path/of/ca.pem`. */
export function toPostgres(text: string, context: z.RefinementCtx): PostgresAddress | undefined {
  if (text === 'store') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const parameters = Object.fromEntries(url?.searchParams ?? []);
  const { sslmode = 'disable', sslrootcert, ...others } = parameters;
  const mode = SSL_MODES.find((one) => one === sslmode);
  const [user = '', password = '', database = ''] = [
    url?.username,
    url?.password,
    url?.pathname.slice(1),
  ].map(decoded);
  if (
    url === undefined ||
    !/^postgres(ql)?:$/.test(url.protocol) ||
    url.hostname === '' ||
    user === '' ||
    database === '' ||
    database.includes('/') ||
    mode === undefined ||
    Object.keys(others).length > 0 ||
    url.hash !== ''
  ) {
    context.addIssue({
      code: 'custom',
      message: 'must be store or postgres://user:password@host:5432/database',
    });
    return z.NEVER;
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 5432 : Number(url.port),
    ...{ user, password, database },
    ssl: mode === 'disable' ? undefined : { mode, rootCertificate: sslrootcert },
  };
}

/** A part of a URL as text; empty if it can't be decoded. */
function decoded(part = ''): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
