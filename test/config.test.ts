import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { UsageError } from '../src/exit.js';
import { readConfig } from '../src/settings/config.js';
import { defaultOf, SETTINGS } from '../src/settings/setting-list.js';
import { expectPage } from './page.js';
import { CLI } from './program.js';
import { temporaryFolder } from './world.js';

/** Runs `daybook config` in a folder of its own, with these variables only and perhaps a file `.env`. */
function config(variables: Record<string, string>, args: readonly string[] = [], dotEnv?: string | Buffer) {
  const cwd = temporaryFolder();
  if (dotEnv !== undefined) writeFileSync(join(cwd, '.env'), dotEnv);
  const { stdout, stderr, status } = spawnSync('node', [CLI, ...args, 'config', '--json'], {
    cwd,
    env: { PATH: process.env.PATH, ...variables },
    encoding: 'utf8',
  });
  const shown =
    status === 0 ? (JSON.parse(stdout) as { name: string; value?: string; source: string }[]) : [];
  return { of: (name: string) => shown.find((setting) => setting.name === name), stderr, status, stdout };
}

describe('daybook config', () => {
  test('shows every setting, and that an option wins over the environment, that over .env, that over the default', () => {
    const dotEnv = 'DAYBOOK_DATA=/from/dotenv\nDAYBOOK_PORT=1\nDAYBOOK_HOST=0.0.0.0\n';
    const { of, stdout } = config(
      { DAYBOOK_DATA: '/from/environment', DAYBOOK_PORT: '2' },
      ['--data', '/from/option'],
      dotEnv,
    );
    expect(of('DAYBOOK_DATA')).toEqual({ name: 'DAYBOOK_DATA', value: '/from/option', source: 'option' });
    expect(of('DAYBOOK_PORT')).toEqual({ name: 'DAYBOOK_PORT', value: '2', source: 'environment' });
    expect(of('DAYBOOK_HOST')).toEqual({ name: 'DAYBOOK_HOST', value: '0.0.0.0', source: '.env' });
    expect(of('DAYBOOK_BUILD_AT')).toEqual({ name: 'DAYBOOK_BUILD_AT', value: '00:15', source: 'default' });
    for (const { variable } of SETTINGS) expect(stdout).toContain(variable);
  });

  test('leaves out what Kubernetes says of Services', () => {
    const { of, status } = config({
      DAYBOOK_PORT: 'tcp://10.96.0.12:8787',
      DAYBOOK_SERVICE_HOST: '10.96.0.12',
      DAYBOOK_SERVICE_PORT: '8787',
      DAYBOOK_SERVICE_PORT_HTTP: '8787',
      DAYBOOK_PORT_8787_TCP: 'tcp://10.96.0.12:8787',
      DAYBOOK_PORT_8787_TCP_PROTO: 'tcp',
      DAYBOOK_PORT_8787_TCP_PORT: '8787',
      DAYBOOK_PORT_8787_TCP_ADDR: '10.96.0.12',
      DAYBOOK_METRICS_PORT: 'tcp://10.96.0.13:9090',
      DAYBOOK_METRICS_SERVICE_HOST: '10.96.0.13',
    });
    expect(status).toBe(0);
    expect(of('DAYBOOK_PORT')).toEqual({ name: 'DAYBOOK_PORT', value: '8787', source: 'default' });
    expect(config({ DAYBOOK_SERVICE: 'x' }).status).toBe(2);
    expect(config({}, [], 'DAYBOOK_PORT=tcp://10.96.0.12:8787').status).toBe(2);
  });

  test('reads a .env that an editor on Windows has saved', () => {
    const { of } = config({}, [], '\ufeffDAYBOOK_PORT=1\r\nDAYBOOK_BUILD_AT="02:30"\r\nDAYBOOK_HOST=::\r\n');
    expect(of('DAYBOOK_PORT')).toMatchObject({ value: '1', source: '.env' });
    expect(of('DAYBOOK_BUILD_AT')).toMatchObject({ value: '02:30', source: '.env' });
    expect(of('DAYBOOK_HOST')).toMatchObject({ value: '::', source: '.env' });
    const { stderr, status } = config({}, [], Buffer.from('\ufeffDAYBOOK_PORT=1\r\n', 'utf16le'));
    expect([status, stderr]).toEqual([2, 'The file .env is no text in UTF-8: save it as UTF-8.\n']);
  });

  test('takes an IPv6 address with the brackets of a URL', () => {
    expect(readConfig({ DAYBOOK_HOST: '[::]' }).host).toBe('::');
    expect(readConfig({ DAYBOOK_HOST: '::1' }).host).toBe('::1');
  });

  test('masks secrets', () => {
    const secret = 'hunter2hunter2hunter2hunter2hunter2';
    const { of, stdout } = config({
      DAYBOOK_JWT_SECRET: secret,
      DAYBOOK_JWT_ISSUER: 'https://login.acme.test',
      DAYBOOK_JWT_AUDIENCE: 'daybook',
    });
    expect(of('DAYBOOK_JWT_SECRET')).toMatchObject({ value: '***', source: 'environment' });
    expect(stdout).not.toContain(secret);
  });

  test('masks the whole password of an address', () => {
    for (const password of ['secret', 'se:cr@et']) {
      const { of } = config({ DAYBOOK_STORE: `clickhouse://ada:${password}@db.acme.example:8123/daybook` });
      expect(of('DAYBOOK_STORE')).toMatchObject({
        value: 'clickhouse://ada:***@db.acme.example:8123/daybook',
      });
    }
  });

  test('a secret is never sent to an address that only .env has', () => {
    const key = { E2B_API_KEY: 'e2b_0' };
    const client = { DAYBOOK_OIDC_CLIENT_ID: 'daybook', DAYBOOK_OIDC_CLIENT_SECRET: 'hunter2' };
    for (const [variables, dotEnv] of [
      [key, 'DAYBOOK_E2B_URL=http://elsewhere.test\n'],
      [client, 'DAYBOOK_OIDC_ISSUER=https://elsewhere.test\n'],
    ] as const) {
      const { status, stderr } = config(variables, [], dotEnv);
      expect(status).toBe(2);
      expect(stderr).toMatch(
        /^\w+ comes from the environment, but the address that it is sent to, \w+, from \.env: /,
      );
    }
    const both = config({}, [], 'E2B_API_KEY=e2b_0\nDAYBOOK_E2B_URL=http://here.test\n');
    expect(both.of('E2B_API_KEY')).toMatchObject({ value: '***', source: '.env' });
    const url = { DAYBOOK_E2B_URL: 'http://here.test' };
    expect(
      config({ ...key, ...url }, [], 'DAYBOOK_E2B_URL=http://elsewhere.test\n').of('DAYBOOK_E2B_URL'),
    ).toEqual({
      name: 'DAYBOOK_E2B_URL',
      value: 'http://here.test',
      source: 'environment',
    });
  });

  const wrong: [Record<string, string>, RegExp][] = [
    [{ DAYBOOK_PORT: 'http' }, /^DAYBOOK_PORT can't be "http": must be a number\.\n$/],
    [{ DAYBOOK_PORT: '70000' }, /^DAYBOOK_PORT can't be "70000": must be at most 65535\.\n$/],
    [
      { DAYBOOK_BUILD_AT: '25:00' },
      /^DAYBOOK_BUILD_AT can't be "25:00": must be a time of day as HH:MM, a cron expression of five fields that begins with one minute, or off\.\n$/,
    ],
    [{ DAYBOOK_BUILD_AT: '*/5 * * * *' }, /^DAYBOOK_BUILD_AT can't be/],
    [{ DAYBOOK_BUILD_AT: '15 0 * * 9' }, /^DAYBOOK_BUILD_AT can't be/],
    [{ DAYBOOK_LOG_LEVEL: 'loud' }, /^DAYBOOK_LOG_LEVEL can't be "loud": must be fatal or error/],
    [{ DAYBOOK_PROT: '1' }, /^There is no setting DAYBOOK_PROT/],
    [{ DAYBOOK_TLS_CERT: 'cert.pem' }, /go together/],
    [
      { DAYBOOK_PUBLIC_URL: 'https://acme.example/?x' },
      /^DAYBOOK_PUBLIC_URL can't be .* must be an address such as /,
    ],
    [{ DAYBOOK_JWT_SECRET: 'short' }, /^DAYBOOK_JWT_SECRET must have at least 32 characters\.\n$/],
    [{ DAYBOOK_JWT_JWKS: 'keys.json' }, /DAYBOOK_JWT_ISSUER and DAYBOOK_JWT_AUDIENCE/],
  ];
  for (const [variables, sentence] of wrong) {
    test(`ends with one line and 2 for ${JSON.stringify(variables)}`, () => {
      const { status, stderr } = config(variables);
      expect(status).toBe(2);
      expect(stderr).toMatch(sentence);
      expect(stderr.split('\n')).toHaveLength(2);
    });
  }
});

test("algorithms that don't go with what JWTs are checked with are refused", () => {
  const base = {
    DAYBOOK_JWT_ISSUER: 'i',
    DAYBOOK_JWT_AUDIENCE: 'a',
    DAYBOOK_JWT_JWKS: 'https://login.acme.test/keys',
  };
  for (const algorithm of ['none', 'HS256', 'RS257'])
    expect(() => readConfig({ ...base, DAYBOOK_JWT_ALGORITHMS: algorithm })).toThrow(UsageError);
  expect(readConfig({ ...base, DAYBOOK_JWT_ALGORITHMS: 'ES256, RS256' }).jwt?.algorithms).toEqual([
    'ES256',
    'RS256',
  ]);
});

test('a bucket that is none is named', () => {
  for (const objects of [
    's3',
    's3://',
    's3://B',
    's3://files?x=1',
    's3://files?endpoint=box',
    'http://files',
  ])
    expect(() => readConfig({ DAYBOOK_OBJECTS: objects })).toThrow(UsageError);
  expect(readConfig({ DAYBOOK_OBJECTS: 's3://files' }).objects).toEqual({
    bucket: 'files',
    prefix: '',
    region: 'us-east-1',
    endpoint: undefined,
  });
});

test('two buckets that are within each other are refused', () => {
  const both = (inbox: string, objects: string) =>
    readConfig({ DAYBOOK_INBOX: `s3://${inbox}`, DAYBOOK_OBJECTS: `s3://${objects}` });
  for (const [inbox, objects] of [
    ['a-bucket', 'a-bucket'],
    ['a-bucket/x', 'a-bucket'],
    ['a-bucket', 'a-bucket/x/'],
    ['a-bucket/x', 'a-bucket/x/y'],
  ] as const)
    expect(() => both(inbox, objects)).toThrow('give each of them a prefix of its own');
  for (const [inbox, objects] of [
    ['a-bucket/x', 'a-bucket/xy'],
    ['a-bucket', 'b-bucket'],
    ['a-bucket', 'a-bucket?endpoint=https://other'],
  ] as const)
    expect(both(inbox, objects).inbox?.bucket).toBe('a-bucket');
});

test('docs/settings.md lists every setting', async () => {
  const rows = SETTINGS.map((setting) => {
    const { variable, help } = setting;
    const byDefault = defaultOf(setting);
    const value = `\`${byDefault}\``;
    const shown = byDefault?.startsWith(PACKAGE_ROOT) === true ? 'the shipped one' : value;
    return `| \`${variable}\` | ${byDefault === undefined ? '' : shown} | ${help} |`;
  });
  const options = SETTINGS.flatMap(({ variable, option }) =>
    option === undefined ? [] : [`- \`${option.flags}\`: \`${variable}\``],
  );
  const text = `# Settings

Set these in the environment. \`daybook serve\` also reads a file \`.env\` in the folder where you start it. The environment wins over
the file, and an option of the command wins over both. \`daybook config\` shows the value of every setting of a service that starts in
this folder, and where it comes from. A wrong value or an unknown name ends the start with one line that says what is wrong.

| Variable | Default | What it is |
|---|---|---|
${rows.join('\n')}

These options mean the same as a variable:

${options.join('\n')}

## Which settings a command has

While a service runs on the data folder, the commands that it answers use its settings, those of its \`.env\` too.

All other commands have options and the environment alone. They leave \`.env\` out, because the folder that you work in can be a
checkout whose \`.env\` would send your key to somebody else. A command on the data folder that leaves something out says so. If it
needs settings of your own \`.env\`, such as \`DAYBOOK_DATA\`, load the file into the environment:

    set -a; . ./.env; set +a
    daybook build

A service takes a secret and the address that it is sent to from one place: \`E2B_API_KEY\` with \`DAYBOOK_E2B_URL\`, and
\`DAYBOOK_OIDC_CLIENT_SECRET\` with \`DAYBOOK_OIDC_ISSUER\`. If the address is in \`.env\`, put the secret there too.
`;
  await expectPage('settings.md', text);
});
