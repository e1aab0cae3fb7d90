import { join, resolve } from 'node:path';
import cron from 'node-cron';
import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { EmailText, OrgId } from '../input/name-text.js';
import { ROLES } from '../input/role-names.js';
import { toBucket, toClickHouse, toPostgres } from './store-address.js';
import '../input/sentence.js';

/** The description of a setting, beside its form and its default. */
export interface Description {
  /** Its environment variable. */
  readonly variable: string;
  /** Its effect, in Markdown for docs/settings.md. */
  readonly help: string;
  /** The equivalent option of commands, and its help. */
  readonly option?: { readonly flags: string; readonly help: string };
  readonly isSecret?: boolean;
  /** For a secret: the variable of the address that it is sent to. */
  readonly sentTo?: string;
}

/** The work of a node: answering people, taking events, or settling and building. */
export const PARTS = ['api', 'ingest', 'build'] as const;
export type Part = (typeof PARTS)[number];

/** The roles of a node. */
export const NODE_ROLES = ['all', ...PARTS] as const;
export type NodeRole = (typeof NODE_ROLES)[number];

/** Whether a node of a role does a part of the work. */
export function does(role: NodeRole, part: Part): boolean {
  return role === 'all' || role === part;
}

const descriptions = z.registry<Description>();

/** Declares a setting: the only place for its variable, form, default and help. */
function setting<Form extends z.ZodType>(
  variable: string,
  form: Form,
  help: string,
  more: Omit<Description, 'variable' | 'help'> = {},
): Form {
  descriptions.add(form, { variable, help, ...more });
  return form;
}

const text = z.string().min(1);
const secret = z.string().min(32, 'must have at least 32 characters');
const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.coerce.number().int().min(min).max(max);
const path = (byDefault: string) => text.default(byDefault).transform((given) => resolve(given));
const address = (example: string) =>
  z.url({ protocol: /^https?$/, error: `must be an address such as ${example}` });
/** Texts separated by commas. One that has a comma writes it as `\,`. */
const list = (byDefault = '') =>
  z
    .string()
    .default(byDefault)
    .transform((given) =>
      given
        .split(/(?<!\\),/)
        .map((part) => part.trim().replaceAll('\\,', ','))
        .filter(Boolean),
    );

const role = z.enum(ROLES);
const GroupRole = z.object({ group: z.string().min(1), role });

/** A group and its role, as `engineering=member`. The group's name can have equals signs. */
function groupRoleOf(pair: string) {
  const at = pair.lastIndexOf('=');
  return { group: pair.slice(0, Math.max(at, 0)).trim(), role: pair.slice(at + 1).trim() };
}

const GROUP_ROLES_EXAMPLE = 'daybook-owners=owner,engineering=member';

/** The data of the package that the price list is built on, as its authors publish them. */
const PRICES_URL =
  'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json';

const PUBLIC_URL = 'https://daybook.acme.example or https://acme.example/daybook';

/** Every setting, by its name in the code. */
export const Settings = z.object({
  data: setting(
    'DAYBOOK_DATA',
    path('data'),
    'folder of the database, the inbox, the [lake](lake.md) and the control socket',
    { option: { flags: '--data <folder>', help: 'folder of the database' } },
  ),
  /** Undefined for a DuckDB file in the data folder. */
  clickhouse: setting(
    'DAYBOOK_STORE',
    z.string().default('duckdb').transform(toClickHouse),
    '`duckdb`, or `clickhouse://user:password@host:8123/database`, also with several hosts and a `?cluster=`: [ClickHouse](clickhouse.md)',
  ),
  /** Undefined for the store's own database. */
  postgres: setting(
    'DAYBOOK_STATE',
    z.string().default('store').transform(toPostgres),
    'where organizations, keys and other [state](postgresql.md) is: `store` (in the database of `DAYBOOK_STORE`), or `postgres://user:password@host:5432/database`, which wants ClickHouse as the store',
  ),
  /** Undefined for the data folder. */
  objects: setting(
    'DAYBOOK_OBJECTS',
    z.string().default('folder').transform(toBucket),
    'where files for [computers](computers.md) wait: `folder` (in the data folder), or `s3://bucket/prefix?region=...&endpoint=...`',
  ),
  /** Undefined for the data folder. */
  inbox: setting(
    'DAYBOOK_INBOX',
    z.string().default('folder').transform(toBucket),
    'where acknowledged events wait for the store: `folder` (in the data folder), or `s3://bucket/prefix?region=...&endpoint=...`, which a [lost disk](operations.md#when-the-disk-is-lost) takes nothing from',
  ),
  /** Undefined for the data folder. */
  lake: setting(
    'DAYBOOK_LAKE',
    z.string().default('folder').transform(toBucket),
    'where the [lake](lake.md) is: `folder` (in the data folder), or `s3://bucket/prefix?region=...&endpoint=...`',
  ),
  role: setting(
    'DAYBOOK_ROLE',
    z.enum(NODE_ROLES).default('all'),
    'what a [node](scale.md) does: `api` answers, `ingest` takes events, `build` settles and builds, `all` does everything',
    { option: { flags: '--role <role>', help: 'all, api, ingest or build' } },
  ),
  host: setting(
    'DAYBOOK_HOST',
    // An IPv6 address may have the brackets that it has in a URL.
    text.default('127.0.0.1').transform((given) => given.replace(/^\[(.*)\]$/, '$1')),
    'address to listen on; `::` for all addresses of IPv4 and IPv6',
    { option: { flags: '--host <address>', help: 'address to listen on' } },
  ),
  port: setting('DAYBOOK_PORT', whole(0, 65535).default(8787), 'port to listen on', {
    option: { flags: '--port <number>', help: 'port to listen on' },
  }),
  rateCard: setting(
    'DAYBOOK_RATE_CARD',
    path(join(PACKAGE_ROOT, 'data', 'rate-card.json')),
    'path of the [rate card](rate-card.md)',
  ),
  prices: setting(
    'DAYBOOK_PRICES',
    text.optional().transform((given) => (given === undefined ? undefined : resolve(given))),
    'path of a file with [prices](prices.md) of your own, which stand above the list that is shipped (default: none)',
  ),
  pricesUpdate: setting(
    'DAYBOOK_PRICES_UPDATE',
    z.enum(['off', 'daily'], 'must be off or daily').default('off'),
    '`daily` fetches newer [prices](prices.md) before each nightly build',
  ),
  pricesFrom: setting(
    'DAYBOOK_PRICES_FROM',
    address('https://prices.acme.example/data.json').default(PRICES_URL),
    'address of the newer [prices](prices.md)',
  ),
  historyStart: setting(
    'DAYBOOK_HISTORY_START',
    DaySchema.default('2026-01-14' as Day),
    'first day that is served; earlier days are built, but not served',
  ),
  /** Undefined for no nightly build. */
  buildAt: setting(
    'DAYBOOK_BUILD_AT',
    z
      .string()
      .default('00:15')
      .transform((text) => text.replace(/^([01]\d|2[0-3]):([0-5]\d)$/, '$2 $1 * * *'))
      .refine(
        (text) => text === 'off' || (/^\d+( \S+){4}$/.test(text) && cron.validate(text)),
        'must be a time of day as HH:MM, a cron expression of five fields that begins with one minute, or off',
      )
      .transform((expression) => (expression === 'off' ? undefined : expression)),
    'UTC time of the nightly build as `HH:MM`, or a cron expression such as `15 */6 * * *`, or `off`',
  ),
  retentionDays: setting(
    'DAYBOOK_SESSION_RETENTION_DAYS',
    whole(14, 365).optional(),
    "days after which raw events are removed, unless an organization's [controls](controls.md) say otherwise; day tables [stay](retention.md) (default: never)",
  ),
  lakeKeepDays: setting(
    'DAYBOOK_LAKE_KEEP_DAYS',
    whole(0, 3660).default(30),
    'days for which the [lake](lake.md) keeps rows that a build has replaced, to answer what was published at an earlier instant',
  ),
  lakeCacheMb: setting(
    'DAYBOOK_LAKE_CACHE_MB',
    whole(1).default(10_240),
    'MiB of files of a lake in a bucket that a node keeps on its disk; those that were used in the last hour stay',
  ),
  secretKey: setting(
    'DAYBOOK_SECRET_KEY',
    secret.optional(),
    'encrypts secrets in [enterprise controls](controls.md) and signs addresses of files (default: a key in the file `secret.key` of the data folder, made at the first start)',
    { isSecret: true },
  ),
  memoryMb: setting(
    'DAYBOOK_MEMORY_MB',
    whole(256).default(1024),
    'MiB of memory for the database; more makes large ingests faster',
  ),
  threads: setting(
    'DAYBOOK_THREADS',
    whole(1, 1024).optional(),
    'processors that the database may use at a time (default: all)',
  ),
  inboxMb: setting(
    'DAYBOOK_INBOX_MB',
    whole(1).default(4096),
    'MiB of events that may wait to be settled, in a bucket of all nodes together, before the service answers 503; one organization may take half of what the others leave',
  ),
  cacheMb: setting(
    'DAYBOOK_CACHE_MB',
    whole(1).default(64),
    'MiB of memory for answers, which are kept until one of their days is built again',
  ),
  /** The limits of SQL queries over HTTP. */
  sql: z.object({
    timeSeconds: setting(
      'DAYBOOK_SQL_TIME_S',
      whole(1, 3600).default(30),
      'seconds that a query of [SQL over HTTP](sql.md) may take, until its last byte is read',
    ),
    memoryMb: setting('DAYBOOK_SQL_MEMORY_MB', whole(64).default(512), 'MiB of memory for each query'),
    threads: setting(
      'DAYBOOK_SQL_THREADS',
      whole(1, 1024).default(1),
      'processors that each query may use at a time',
    ),
    rows: setting(
      'DAYBOOK_SQL_ROWS',
      whole(1).default(10_000_000),
      'rows that the answer of a query may have',
    ),
    answerMb: setting(
      'DAYBOOK_SQL_ANSWER_MB',
      whole(1).default(1024),
      'MiB that the answer of a query may have, also one that `daybook sql --server` reads',
    ),
    textKb: setting(
      'DAYBOOK_SQL_TEXT_KB',
      whole(1, 1024).default(64),
      'KiB that a query may have as it is sent, with its parameters',
    ),
    params: setting('DAYBOOK_SQL_PARAMS', whole(0, 10_000).default(100), 'parameters that a query may have'),
    queries: setting('DAYBOOK_SQL_QUERIES', whole(1).default(4), 'queries that may run at a time'),
    queriesPerOrg: setting(
      'DAYBOOK_SQL_QUERIES_PER_ORG',
      whole(1).default(2),
      'queries of one organization that may run at a time',
    ),
  }),
  alertHosts: setting(
    'DAYBOOK_ALERT_HOSTS',
    list('hooks.slack.com,*.logic.azure.com,*.api.powerplatform.com,*.webhook.office.com'),
    'hosts to which [alerts](alerts.md) may be posted, separated by commas: `alerts.acme.example`, `*.acme.example` or `10.0.0.4:8080`',
  ),
  vendorHosts: setting(
    'DAYBOOK_VENDOR_HOSTS',
    list(),
    "hosts other than the vendors' own from which [vendors' APIs](vendors.md) may be pulled, such as that of GitHub Enterprise Server, written as above",
  ),
  /** The server through which e-mail is sent. */
  smtp: z.object({
    url: setting(
      'DAYBOOK_SMTP',
      z
        .url({
          protocol: /^smtps?$/,
          error: 'must be an address such as smtp://daybook:password@mail.acme.example:587',
        })
        .optional(),
      'server for [alerts](alerts.md) and digests by e-mail: `smtp://user:password@host:587` (STARTTLS), or `smtps://` (TLS from the start, port 465)',
      { isSecret: true },
    ),
    from: setting(
      'DAYBOOK_SMTP_FROM',
      EmailText.optional(),
      'address that this e-mail comes from, such as `daybook@acme.example`',
    ),
  }),
  rateLimit: setting(
    'DAYBOOK_RATE_LIMIT',
    whole(0).default(6000),
    'requests per minute from one credential, or from one address without a valid one; events with a valid one are [not counted](api.md#rate-limit); 0 for no limit',
  ),
  timeoutSeconds: setting(
    'DAYBOOK_TIMEOUT_S',
    whole(1, 3600).default(60),
    'seconds that a request may take to arrive, and that a client may take none of its answer',
  ),
  agentTimeoutSeconds: setting(
    'DAYBOOK_AGENT_TIMEOUT_S',
    whole(1, 3600).default(60),
    'seconds that the agent of a [computer](computers.md) may take to write a file, before the service answers 503',
  ),
  metrics: setting(
    'DAYBOOK_METRICS',
    z.enum(['local', 'on', 'off']).default('local'),
    'who may read [/metrics](operations.md) without a credential: `local` (this machine), `on` (everyone), `off` (nobody)',
  ),
  corsOrigins: setting(
    'DAYBOOK_CORS_ORIGINS',
    list(),
    'origins whose pages may call the API from a browser, separated by commas',
  ),
  trustProxy: setting(
    'DAYBOOK_TRUST_PROXY',
    list(),
    'addresses of the proxies whose `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto` are believed, separated by commas',
  ),
  /** Ends with a slash; undefined for the address that each request came to. */
  publicUrl: setting(
    'DAYBOOK_PUBLIC_URL',
    address(PUBLIC_URL)
      .refine((url) => !/[?#]|\/\/[^/]*@/.test(url), `must be an address such as ${PUBLIC_URL}`)
      .transform((url) => (url.endsWith('/') ? url : `${url}/`))
      .optional(),
    'address at which others reach the service behind a [proxy](proxy.md), with its path prefix: addresses in answers begin with it, people who sign in come back there, and sandboxes find the service there (default: the address of each request, by its headers)',
  ),
  tls: z.object({
    cert: setting('DAYBOOK_TLS_CERT', text.optional(), 'path of the certificate (PEM), to serve HTTPS'),
    key: setting('DAYBOOK_TLS_KEY', text.optional(), 'path of its private key (PEM)'),
  }),
  jwt: z.object({
    jwks: setting(
      'DAYBOOK_JWT_JWKS',
      text.optional(),
      'URL or path of the key set that JWTs are checked with',
    ),
    secret: setting(
      'DAYBOOK_JWT_SECRET',
      secret.optional(),
      'shared secret that JWTs are checked with, instead of a key set',
      { isSecret: true },
    ),
    issuer: setting('DAYBOOK_JWT_ISSUER', text.optional(), '`iss` that a JWT must have'),
    audience: setting('DAYBOOK_JWT_AUDIENCE', text.optional(), '`aud` that a JWT must have'),
    algorithms: setting(
      'DAYBOOK_JWT_ALGORITHMS',
      list(),
      'signature algorithms that are accepted, separated by commas (default: RS256, PS256, ES256, EdDSA; HS256 with a secret)',
    ),
  }),
  /** Who somebody is, by the claims of a JWT or of an OpenID provider. */
  claims: z.object({
    user: setting(
      'DAYBOOK_CLAIM_USER',
      text.default('sub'),
      'claim of [JWTs](api.md#jwts) and [sign-ins](openid-connect.md) that has the user id, as in events; `a.b` is the member `b` of the claim `a`',
    ),
    org: setting('DAYBOOK_CLAIM_ORG', text.default('org_id'), 'claim that has the organization'),
    role: setting(
      'DAYBOOK_CLAIM_ROLE',
      list('role'),
      'claims that have the role, as a text or a list of roles or groups, separated by commas; of several roles the strongest counts',
    ),
    groupRoles: setting(
      'DAYBOOK_GROUP_ROLES',
      list()
        .refine(
          (pairs) => pairs.every((pair) => GroupRole.safeParse(groupRoleOf(pair)).success),
          `must be groups and their roles (${ROLES.join(', ')}), such as ${GROUP_ROLES_EXAMPLE}`,
        )
        .transform((pairs) => pairs.map((pair) => GroupRole.parse(groupRoleOf(pair)))),
      `[roles of groups](openid-connect.md#roles-of-groups), or of other values of \`DAYBOOK_CLAIM_ROLE\`: \`${GROUP_ROLES_EXAMPLE}\` (default: the values are roles)`,
    ),
    defaultOrg: setting(
      'DAYBOOK_DEFAULT_ORG',
      OrgId.optional(),
      'organization of people whose claims have none (default: they are refused)',
    ),
    defaultRole: setting(
      'DAYBOOK_DEFAULT_ROLE',
      role.optional(),
      'role of people whose claims give none (default: they are refused)',
    ),
  }),
  toleranceSeconds: setting(
    'DAYBOOK_CLOCK_TOLERANCE_S',
    whole(0, 600).default(60),
    "seconds by which the clock of whoever issues JWTs or ID tokens may differ from the service's",
  ),
  /** The provider through which people sign in to the page. */
  oidc: z.object({
    issuer: setting(
      'DAYBOOK_OIDC_ISSUER',
      address('https://login.acme.example')
        .refine(
          (url) =>
            url.startsWith('https:') || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(`${url}/`),
          'must be an https: address',
        )
        .optional(),
      'address of the OpenID provider at which people [sign in](page.md#sign-in) to the page',
    ),
    clientId: setting(
      'DAYBOOK_OIDC_CLIENT_ID',
      text.optional(),
      'client id of Daybook at the OpenID provider',
    ),
    clientSecret: setting(
      'DAYBOOK_OIDC_CLIENT_SECRET',
      text.optional(),
      'client secret of Daybook at the OpenID provider',
      { isSecret: true, sentTo: 'DAYBOOK_OIDC_ISSUER' },
    ),
    deviceClientId: setting(
      'DAYBOOK_OIDC_DEVICE_CLIENT_ID',
      text.optional(),
      '[client for laptops](openid-connect.md#laptops), if the OpenID provider wants another one for the device flow (default: that of `DAYBOOK_OIDC_CLIENT_ID`)',
    ),
    deviceClientSecret: setting(
      'DAYBOOK_OIDC_DEVICE_CLIENT_SECRET',
      text.optional(),
      'secret of that client (default: none, as public clients have)',
      { isSecret: true, sentTo: 'DAYBOOK_OIDC_ISSUER' },
    ),
    scope: setting(
      'DAYBOOK_OIDC_SCOPE',
      text.default('openid email profile'),
      'scopes that Daybook asks the OpenID provider for',
    ),
  }),
  /** The address of the service for commands that are clients. */
  url: setting(
    'DAYBOOK_URL',
    address('http://127.0.0.1:8787').default('http://127.0.0.1:8787'),
    'address of the service, for `daybook agent`, also in a sandbox, and for commands with `--server`',
    { option: { flags: '--server <url>', help: 'address of the service' } },
  ),
  key: setting('DAYBOOK_KEY', text.optional(), 'API key for commands with `--server`', {
    isSecret: true,
    option: { flags: '--key <key>', help: 'API key' },
  }),
  agentToken: setting(
    'DAYBOOK_AGENT_TOKEN',
    text.optional(),
    'agent token of the computer, for `daybook agent`',
    {
      isSecret: true,
      option: { flags: '--token <token>', help: 'agent token of the computer' },
    },
  ),
  /** The provider of sandboxes. */
  e2b: z.object({
    apiKey: setting(
      'E2B_API_KEY',
      text.optional(),
      'API key of E2B, for [computers](computers.md) of the provider `e2b`',
      { isSecret: true, sentTo: 'DAYBOOK_E2B_URL' },
    ),
    url: setting(
      'DAYBOOK_E2B_URL',
      address('https://api.e2b.app').default('https://api.e2b.app'),
      'address of an API compatible with E2B; sandboxes use the same address, unless it is `https://api.DOMAIN`',
    ),
    template: setting(
      'DAYBOOK_E2B_TEMPLATE',
      text.default('base'),
      'template of sandboxes whose computer names none; it must contain the program `daybook`',
    ),
  }),
  logLevel: setting(
    'DAYBOOK_LOG_LEVEL',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace`, `silent`',
  ),
});

/** A declared setting with its path among the others. */
export interface Setting extends Description {
  readonly path: readonly string[];
  readonly form: z.ZodType;
}

function settingsOf(group: z.ZodObject, path: readonly string[] = []): Setting[] {
  return Object.entries(group.shape).flatMap(([name, form]) => {
    const description = descriptions.get(form);
    if (description !== undefined) return [{ ...description, form, path: [...path, name] }];
    return form instanceof z.ZodObject ? settingsOf(form, [...path, name]) : [];
  });
}

export const SETTINGS: readonly Setting[] = settingsOf(Settings);

/** The default as text; undefined if there is none. */
export function defaultOf({ form }: Setting): string | undefined {
  const { default: byDefault } = z.toJSONSchema(form, { io: 'input', unrepresentable: 'any' });
  return byDefault === undefined || byDefault === '' ? undefined : String(byDefault);
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** The values that variables give to a group's settings and nested groups. An empty text gives none. */
export function given(group: z.ZodObject, variables: Variables): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(group.shape).map(([name, form]) => {
      const description = descriptions.get(form);
      if (description !== undefined) return [name, variables[description.variable] || undefined];
      return [name, form instanceof z.ZodObject ? given(form, variables) : undefined];
    }),
  );
}
