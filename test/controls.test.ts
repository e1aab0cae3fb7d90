import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { AddressRange, AllowedAddresses } from '../src/controls/allowed-addresses.js';
import { Controls } from '../src/controls/control-revisions.js';
import { EXAMPLE, Settings } from '../src/controls/control-settings.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { MASK, mapSecrets } from '../src/controls/settings-secrets.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { buildApp } from '../src/service/app.js';
import { ending, storeName, temporaryFolder, World } from './world.js';

const atEnd = ending();

const PATH = '/api/v0/organization/enterprise-controls';

/** The example with a secret in each place of one. */
const WHOLE: Settings = {
  ...mapSecrets(EXAMPLE, (_, place) => `hidden-${place.join('-')}`),
  ours: { kept: [1] },
};
const MASKED: Settings = { ...EXAMPLE, ours: { kept: [1] } };
const SECRETS: string[] = [];
mapSecrets(WHOLE, (value) => SECRETS.push(String(value)));

let world: World;
let app: FastifyInstance;
const keys = new Map<string, string>();
beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0', DAYBOOK_TRUST_PROXY: '10.9.9.9' }, atEnd);
  app = buildApp(world);
});

/** Sends a request as a role of an organization, from an address. */
async function ask(
  method: 'GET' | 'PUT' | 'POST',
  url: string,
  given: {
    org?: string;
    role?: Role;
    from?: string;
    payload?: object | string;
    headers?: Record<string, string>;
  } = {},
) {
  const { org = 'acme', role = 'owner', from = '127.0.0.1', payload, headers } = given;
  const name = `${org} ${role}`;
  if (!keys.has(name))
    keys.set(
      name,
      (
        await createKey(
          world.store,
          { orgId: org, role, userId: 'ada', email: 'ada@acme.example' },
          world.now,
        )
      ).key,
    );
  const answer = await app.inject({
    method,
    url,
    remoteAddress: from,
    ...(payload === undefined ? {} : { payload }),
    headers: { authorization: `Bearer ${keys.get(name)}`, ...headers },
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    body: answer.body === '' ? undefined : answer.json(),
  };
}

const put = (settings: object, more: Parameters<typeof ask>[2] = {}) =>
  ask('PUT', PATH, { ...more, payload: { settings } });

describe('settings', () => {
  test('filled in every member go in, come back masked, and are what they were when the masked ones are sent back', async () => {
    const before = await ask('GET', PATH, { org: 'whole' });
    expect([before.status, before.headers.etag]).toEqual([200, '"whole-0"']);
    expect(before.body).toEqual({ revision: 0, settings: {}, user: null, updatedAt: null });
    const sent = await put(WHOLE, { org: 'whole' });
    expect([sent.status, sent.headers.etag]).toEqual([200, '"whole-1"']);
    const user = { id: 'ada', email: 'ada@acme.example', name: 'ada' };
    const updatedAt = new Date(world.now).toISOString();
    expect(sent.body).toEqual({ revision: 1, settings: MASKED, user, updatedAt });
    const got = await ask('GET', PATH, { org: 'whole', role: 'manager' });
    expect(got.body).toEqual(sent.body);
    expect((await put(got.body.settings, { org: 'whole' })).body).toMatchObject({
      revision: 2,
      settings: MASKED,
    });
    const rows = await world.store.select(
      "SELECT settings FROM control_revisions WHERE org_id = 'whole' ORDER BY revision",
    );
    const key = new SecretKey(world.config);
    const opened = rows.map(({ settings }) =>
      mapSecrets(JSON.parse(String(settings)), (sealed, place) =>
        key.open(String(sealed), ['whole', ...place]),
      ),
    );
    expect(opened).toEqual([WHOLE, WHOLE]);
  });

  test('that are wrong are a 400 that names the member', async () => {
    const wrong: [object, string][] = [
      [{ sessionRetentionDays: 13 }, 'settings.sessionRetentionDays must be at least 14'],
      [{ sessionRetentionDays: 366 }, 'settings.sessionRetentionDays must be at most 365'],
      [
        { networkPolicy: { allowedIps: ['10.0.0.0/33'] } },
        'settings.networkPolicy.allowedIps.0 must be an IPv4',
      ],
      [
        { strictKnownMarketplaces: [{ source: 'elsewhere' }] },
        'strictKnownMarketplaces.0.source must be codehost',
      ],
      [
        { managedComputersAllowedEmails: ['ada'] },
        'managedComputersAllowedEmails.0 must be an e-mail address',
      ],
      [
        { extraKnownMarketplaces: { acme: { source: { repo: 'https://ci:s3cr3t@git.acme.example/x' } } } },
        'settings.extraKnownMarketplaces.acme.source.repo must not have an address with a password',
      ],
      [
        { customModels: [{ model: 'm', baseUrl: 'https://models.acme.example/v1?api_key=s3cr3t' }] },
        'settings.customModels.0.baseUrl must not have an address with a password',
      ],
      [
        { hooks: { Stop: [{ matcher: '(', hooks: [] }] } },
        'hooks.Stop.0.matcher must be a regular expression',
      ],
      [
        { hooks: { PostToolUseFailure: [] } },
        'settings.hooks.PostToolUseFailure is not a hook event: use PreToolUse, PostToolUse, Notification, UserPromptSubmit, Stop, SubagentStop, PreCompact, SessionStart, SessionEnd, or',
      ],
      [
        { modelPolicy: { allowedModelIds: ['  '] } },
        'settings.modelPolicy.allowedModelIds.0 must have a character other than white space',
      ],
      [
        { customModels: [{ apiKey: MASK }] },
        'customModels..apiKey is masked, but no secret is stored for it',
      ],
    ];
    for (const [settings, sentence] of wrong) {
      const { status, body } = await put(settings, { org: 'wrong' });
      expect([status, body.status], JSON.stringify(settings)).toEqual([400, 400]);
      expect(body.detail).toContain(sentence);
    }
    const record = await ask('PUT', PATH, { org: 'wrong', payload: { settings: {}, revision: 1 } });
    expect([record.status, record.body.detail]).toEqual([400, 'There is no member revision: use settings.']);
    expect((await ask('GET', PATH, { org: 'wrong' })).body.revision).toBe(0);
  });

  test('have a type in each member of the example of the reference', () => {
    const places: (readonly string[])[] = [];
    const walk = (value: object, place: readonly string[]) => {
      for (const [name, member] of Object.entries(value)) {
        // What is in these can be anything.
        if (
          /Overrides$|userModelPolicies|enabledPlugins|extraKnown|personaConnectors|extra(Headers|Args)|baseModelId|^env$/.test(
            name,
          ) &&
          name !== 'mcpAutonomyUrlOverrides'
        ) {
          if (name !== 'baseModelId') places.push([...place, name]);
        } else {
          places.push([...place, name]);
          if (typeof member === 'object' && name !== 'enabledRoles') walk(member, [...place, name]);
        }
      }
    };
    walk(EXAMPLE, []);
    expect(places.length).toBeGreaterThan(120);
    const wrongAt = (value: unknown, [name, ...rest]: readonly string[]): unknown => {
      if (name === undefined) return typeof value === 'symbol' ? 0 : Symbol.for('wrong');
      if (Array.isArray(value))
        return value.map((one, index) => (String(index) === name ? wrongAt(one, rest) : one));
      return { ...Object(value), [name]: wrongAt(Object(value)[name], rest) };
    };
    for (const place of places)
      expect(Settings.safeParse(wrongAt(EXAMPLE, place)).success, place.join('.')).toBe(false);
    expect(Settings.safeParse(EXAMPLE).success).toBe(true);
  });

  test('are replaced only when they are what If-Match says', async () => {
    const org = 'matched';
    const match = (header: string) => put({}, { org, headers: { 'if-match': header } });
    expect((await match('"1"')).status).toBe(412);
    expect((await match('"0"')).body.revision).toBe(1);
    const { status, body } = await match('"0"');
    expect([status, body.title]).toEqual([412, 'Precondition Failed']);
    expect(body.detail).toBe('The newest revision is 1, not the expected one: read it again.');
    for (const header of ['1', '"7", "2"', '*']) expect((await match(header)).status).toBe(200);
    expect((await match('W/"4"')).status).toBe(412);
    const all = await Promise.all(Array.from({ length: 5 }, () => match('"4"')));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
  });

  test('of one organization have a tag that no other one accepts, and are kept by no cache', async () => {
    for (const org of ['first', 'second']) await put({ commandAllowlist: [org] }, { org });
    const { headers } = await ask('GET', PATH, { org: 'first' });
    expect(headers['cache-control']).toBe('no-store');
    const tag = String(headers.etag);
    const other = await ask('GET', PATH, { org: 'second', headers: { 'if-none-match': tag } });
    expect([other.status, other.body.settings]).toEqual([200, { commandAllowlist: ['second'] }]);
    const match = { 'if-match': tag };
    expect((await put({}, { org: 'second', headers: match })).status).toBe(412);
    expect((await put({}, { org: 'first', headers: match })).status).toBe(200);
    expect(
      (await put({}, { org: 'second', headers: { 'if-match': String(other.headers.etag) } })).status,
    ).toBe(200);
  });

  test('are changed by owners, read by managers and owners, and by nobody else', async () => {
    for (const role of ['owner', 'manager', 'member', 'guest', 'ingest'] as const) {
      const reads = role === 'owner' || role === 'manager' ? 200 : 403;
      expect((await ask('GET', PATH, { org: 'roles', role })).status).toBe(reads);
      expect((await ask('GET', `${PATH}/history`, { org: 'roles', role })).status).toBe(reads);
      expect((await put({}, { org: 'roles', role })).status).toBe(role === 'owner' ? 200 : 403);
    }
    expect((await ask('GET', PATH, { org: 'others' })).body.revision).toBe(0);
  });

  test('that are large go in too, up to a limit', async () => {
    const settings = { platformRouterGuidance: 'ä"\n'.repeat(40_000) };
    expect((await put(settings, { org: 'large' })).body.settings).toEqual(settings);
    const env = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`V${index}`, 'x']));
    const { status, body } = await put({ env }, { org: 'large' });
    expect([status, body.detail]).toEqual([
      400,
      'The settings must have at most 262144 bytes with encrypted secrets.',
    ]);
  });
});

test('250 revisions page through in order, without a gap or a double, while new ones are written', async () => {
  const org = 'paged';
  const revisions = Array.from({ length: 250 }, (_, index) => index + 1);
  await world.store.run(
    revisions.map((revision) => ({
      sql: "INSERT INTO control_revisions SELECT $org_id, CAST($revision AS BIGINT), $settings, 'ada', '', 'ada', instant($now)",
      parameters: {
        org_id: org,
        revision,
        settings: JSON.stringify({ platformRouterGuidance: String(revision) }),
        now: world.now,
      },
    })),
  );
  const seen: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = new URLSearchParams({ limit: '17', ...(cursor === undefined ? {} : { cursor }) });
    const [{ status, body }] = await Promise.all([
      ask('GET', `${PATH}/history?${query}`, { org }),
      put({ platformRouterGuidance: 'later' }, { org }),
    ]);
    expect(status).toBe(200);
    expect(body.pagination.hasMore).toBe(body.pagination.nextCursor !== null);
    for (const { revision, settings } of body.changes) {
      if (revision <= 250) expect(settings).toEqual({ platformRouterGuidance: String(revision) });
      seen.push(revision);
    }
    cursor = body.pagination.nextCursor;
  }
  const [first = 0] = seen;
  expect(first).toBeGreaterThanOrEqual(250);
  expect(seen).toEqual(Array.from({ length: first }, (_, index) => first - index));
  expect((await ask('GET', `${PATH}/history`, { org })).body.changes).toHaveLength(20);
  for (const query of ['limit=0', 'limit=101', 'cursor=', 'cursor=!', `cursor=${'A'.repeat(12)}`, 'offset=1'])
    expect((await ask('GET', `${PATH}/history?${query}`, { org })).status, query).toBe(400);
});

describe('secrets', () => {
  /** The files of a folder that hold one of some texts. */
  function holding(folder: string, texts: readonly string[]): string[] {
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    );
    const files = paths.filter((path) => statSync(path).isFile());
    expect(files.length).toBeGreaterThan(1);
    return files.filter((path) => {
      const bytes = readFileSync(path);
      return texts.some((text) => bytes.includes(text));
    });
  }

  test('are in no answer and in no file of the data folder', async () => {
    const org = 'secret';
    const answers = [
      await put(WHOLE, { org }),
      await put({ ...WHOLE, sessionRetentionDays: 0 }, { org }),
      await put({ ...WHOLE, networkPolicy: { allowedIps: ['192.0.2.1'] } }, { org }),
      await ask('PUT', PATH, {
        org,
        payload: `${JSON.stringify({ settings: WHOLE })},`,
        headers: { 'content-type': 'application/json' },
      }),
      await ask('GET', PATH, { org }),
      await ask('GET', `${PATH}/history`, { org }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 400, 200, 200]);
    for (const { text } of answers) for (const secret of SECRETS) expect(text).not.toContain(secret);
    expect(SECRETS).toHaveLength(3);
    expect(holding(world.config.data, SECRETS)).toEqual([]);
    // What isn't secret is found, so the search finds what is there.
    expect(holding(world.config.data, ['codehost']).length).toBe(
      world.store.constructor.name === 'DuckDbStore' ? 1 : 0,
    );
  });

  test("stay with their model when others are added or go, and can't be moved to another", async () => {
    const org = 'moved';
    const model = (id: string, apiKey: string) => ({ id, apiKey });
    await put({ customModels: [model('one', 'hidden-1'), model('two', 'hidden-2')], env: { A: 7 } }, { org });
    await put({ customModels: [model('new', 'hidden-3'), model('two', MASK)] }, { org });
    const moved = await put({ customModels: [model('one', MASK)] }, { org });
    expect([moved.status, moved.body.detail]).toEqual([
      400,
      expect.stringContaining('customModels.one.apiKey is masked'),
    ]);
    const [row] = await world.store.select(
      "SELECT settings FROM control_revisions WHERE org_id = 'moved' AND revision = 2",
    );
    const { customModels = [] } = Settings.parse(JSON.parse(String(row?.settings)));
    const key = new SecretKey(world.config);
    const place = (id: string) => [org, 'customModels', id, 'apiKey'];
    expect(key.open(String(customModels[1]?.apiKey), place('two'))).toBe('hidden-2');
    expect(key.open(String(customModels[1]?.apiKey), place('one'))).toBeUndefined();
    expect(
      key.open(String(customModels[1]?.apiKey), ['other', 'customModels', 'two', 'apiKey']),
    ).toBeUndefined();
    const other = new SecretKey({ ...world.config, secretKey: 'x'.repeat(32) });
    expect(other.open(String(customModels[1]?.apiKey), place('two'))).toBeUndefined();
  });

  test('that were set to the same value are no difference, and others are one without being shown', async () => {
    const org = 'different';
    const controls = new Controls(world.store, new SecretKey(world.config), world.clock);
    const author = { id: 'ada', email: '', name: 'ada' };
    const models = (apiKey: string) => [{ id: 'm', apiKey, extraHeaders: { h: 'hidden' } }];
    await controls.replace(org, { customModels: models('hidden-1'), commandAllowlist: ['a', 'b'] }, author);
    await controls.replace(org, { customModels: models('hidden-1'), commandAllowlist: ['b', 'c'] }, author);
    await controls.replace(org, { customModels: models('hidden-2'), commandAllowlist: ['b', 'c'] }, author);
    expect(await controls.difference(org, 1, 2)).toEqual([
      { member: 'commandAllowlist[a]', before: 'a' },
      { member: 'commandAllowlist[c]', after: 'c' },
    ]);
    expect(await controls.difference(org, 2, 3)).toEqual([
      { member: 'customModels[m].apiKey', before: MASK, after: MASK },
    ]);
    await expect(controls.difference(org, 1, 4)).rejects.toThrow('There is no revision 4');
    const asked = (from: number | string, to: number | string, more = {}) =>
      ask('GET', `${PATH}/differences?from=${from}&to=${to}`, { org, role: 'manager', ...more });
    expect((await asked(0, 1)).body.differences[2]).toEqual({
      member: 'customModels[m].apiKey',
      after: MASK,
    });
    const secret = await asked(2, 3);
    expect(secret.body).toEqual({
      differences: [{ member: 'customModels[m].apiKey', before: MASK, after: MASK }],
    });
    for (const wrong of [await asked(1, 4), await asked(1, 2, { org: 'without-revisions' })]) {
      expect(wrong.status).toBe(404);
      expect(wrong.body.detail).toMatch(/^There is no revision [14]: GET .*history lists them\.$/);
    }
    expect((await asked('-1', 1)).body.detail).toBe(
      'The parameter from must be the number of a revision, or 0 for the settings before the first.',
    );
    expect((await asked(1, 2, { role: 'member' })).status).toBe(403);
  });

  test('have one key, which only its owner reads, also when several commands make it at once', async () => {
    const data = join(temporaryFolder(), 'data');
    const script = `const { SecretKey } = await import(process.argv[1]);
      const key = new SecretKey({ data: process.argv[2] });
      process.stdout.write(key.seal('hidden', ['here']));`;
    const start = () =>
      promisify(execFile)('node', [
        '--input-type=module',
        '-e',
        script,
        join(PACKAGE_ROOT, 'dist/controls/secret-key.js'),
        data,
      ]);
    const sealed = await Promise.all([start(), start(), start()]);
    expect(readdirSync(data)).toEqual(['secret.key']);
    expect(statSync(join(data, 'secret.key')).mode & 0o777).toBe(0o600);
    const key = new SecretKey({ data, secretKey: undefined });
    expect(sealed.map(({ stdout }) => key.open(stdout, ['here']))).toEqual(['hidden', 'hidden', 'hidden']);
  });
});

describe('allowed addresses', () => {
  const cases: [ranges: string[], address: string, isAllowed: boolean][] = [
    [[], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.8', false],
    [['203.0.113.9'], '::ffff:203.0.113.9', true],
    [['203.0.113.9'], '::ffff:cb00:7109', true],
    [['::ffff:203.0.113.9'], '203.0.113.9', true],
    [['::ffff:10.0.0.0/104'], '10.200.0.1', true],
    [['::ffff:10.0.0.0/104'], '11.0.0.1', false],
    [['10.1.2.3/8'], '10.255.0.1', true],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['0.0.0.0/0'], '198.51.100.1', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['10.1.2.2/31'], '10.1.2.3', true],
    [['10.1.2.2/31'], '10.1.2.4', false],
    [['2001:db8::/32'], '2001:0DB8:ffff:0::1', true],
    [['2001:db8::/32'], '2001:db9::', false],
    [['fe80::/10'], 'fe80::1%eth0', true],
    [['10.0.0.0/8', '::1'], '::1', true],
    [['10.0.0.0/8'], 'unknown', false],
    [['10.0.0.0/8'], '', false],
  ];
  test.each(cases)('%j and %s: %s', (ranges, address, isAllowed) => {
    for (const range of ranges) expect(AddressRange.safeParse(range).success).toBe(true);
    expect(new AllowedAddresses(ranges).has(address)).toBe(isAllowed);
  });

  test.each([
    '',
    '*',
    'localhost',
    '10.0.0',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '::/129',
    '::g',
    'fe80::1%eth0',
    '10.0.0.0/8/8',
    ' 10.0.0.1',
  ])('"%s" is no range', (range) => {
    expect(AddressRange.safeParse(range).success).toBe(false);
  });

  test("hold for every request of the organization, those of events too, and for no other's", async () => {
    const org = 'fenced';
    const allowed = '198.51.100.7';
    expect(
      (await put({ networkPolicy: { allowedIps: ['198.51.100.0/24'] } }, { org, from: allowed })).status,
    ).toBe(200);
    const event = {
      event_id: '1',
      type: 'user_message',
      timestamp: world.now,
      user_id: 'ada',
      session_id: 's',
    };
    const paths = [
      ['GET', PATH],
      ['GET', `${PATH}/history`],
      ['PUT', PATH, { settings: {} }],
      ['GET', '/api/v1/analytics/activity?startDate=2026-06-01&endDate=2026-06-02'],
      ['POST', '/api/v1/events', [event]],
      ['POST', '/api/v1/hooks', { hook_event_name: 'Notification' }],
    ] as const;
    for (const [method, url, payload] of paths) {
      const more = payload === undefined ? {} : { payload };
      const { status, body } = await ask(method, url, { org, from: '203.0.113.1', ...more });
      expect([status, body.detail], url).toEqual([
        403,
        "The organization doesn't allow requests from 203.0.113.1.",
      ]);
      expect((await ask(method, url, { org: 'free', from: '203.0.113.1', ...more })).status).toBeLessThan(
        300,
      );
      if (method !== 'PUT')
        expect((await ask(method, url, { org, from: allowed, ...more })).status).toBeLessThan(300);
    }
    expect((await ask('GET', '/api/v0/organization/nothing', { org, from: '203.0.113.1' })).status).toBe(403);
    expect((await app.inject('/healthz')).statusCode).toBe(200);
  });

  test('are looked for in X-Forwarded-For behind a proxy that is trusted, and only then', async () => {
    const org = 'proxied';
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const settings = { networkPolicy: { allowedIps: ['198.51.100.7'] } };
    expect((await put(settings, { org, headers, from: '203.0.113.1' })).status).toBe(400);
    expect((await put(settings, { org, headers, from: '10.9.9.9' })).status).toBe(200);
    expect((await ask('GET', PATH, { org, headers, from: '203.0.113.1' })).status).toBe(403);
    expect((await ask('GET', PATH, { org, from: '10.9.9.9' })).status).toBe(403);
    const behind = { 'x-forwarded-for': '198.51.100.7, 203.0.113.5' };
    expect((await ask('GET', PATH, { org, headers: behind, from: '10.9.9.9' })).status).toBe(403);
    expect((await ask('GET', PATH, { org, headers, from: '10.9.9.9' })).status).toBe(200);
  });

  test.each([
    ['198.51.100.7:51123', '198.51.100.7'],
    ['[198.51.100.7]:80', '198.51.100.7'],
    ['2001:db8::5', '2001:db8::5'],
    ['[2001:db8::5]', '2001:db8::5'],
    ['[2001:db8::5]:4711', '2001:db8::5'],
    ['198.51.100.7:1, 10.9.9.9:443', '198.51.100.7'],
  ])('count without the port that some proxies write behind them: %s', async (forwarded, address) => {
    const org = `ports-${address.replaceAll(/\W/g, '-')}`;
    const sent = { org, from: '10.9.9.9', headers: { 'x-forwarded-for': forwarded } };
    expect((await put({ networkPolicy: { allowedIps: [address] } }, sent)).status).toBe(200);
    expect((await ask('GET', PATH, sent)).status).toBe(200);
  });

  test('that a proxy writes in no known form are no address', async () => {
    const org = 'odd-forms';
    const settings = { networkPolicy: { allowedIps: ['198.51.100.7'] } };
    expect(
      (await put(settings, { org, headers: { 'x-forwarded-for': '198.51.100.7' }, from: '10.9.9.9' })).status,
    ).toBe(200);
    for (const forwarded of [
      '198.51.100.7:',
      '198.51.100.7:x',
      '198.51.100.7:1:2',
      '[198.51.100.7',
      'unknown',
      '"198.51.100.7"',
    ]) {
      const sent = { org, from: '10.9.9.9', headers: { 'x-forwarded-for': forwarded } };
      expect((await ask('GET', PATH, sent)).status, forwarded).toBe(403);
    }
  });

  test("without the author's own are a 400, and change nothing", async () => {
    const { status, body } = await put({ networkPolicy: { allowedIps: ['192.0.2.1'] } }, { org: 'locked' });
    expect([status, body.detail]).toEqual([
      400,
      'The member settings.networkPolicy.allowedIps must include your own address, 127.0.0.1, or you would lock yourself out.',
    ]);
    expect((await ask('GET', PATH, { org: 'locked' })).body.revision).toBe(0);
  });

  test.skipIf(storeName() === 'PostgreSQL')(
    'that another process set are obeyed soon, and cost no query a request',
    async () => {
      const org = 'elsewhere';
      expect((await ask('GET', PATH, { org })).status).toBe(200);
      await world.store.run([
        {
          sql: "INSERT INTO control_revisions SELECT $org_id, 1, $settings, 'ken', '', 'ken', instant($now)",
          parameters: {
            org_id: org,
            settings: JSON.stringify({ networkPolicy: { allowedIps: ['192.0.2.1'] } }),
            now: world.now,
          },
        },
      ]);
      expect((await ask('GET', PATH, { org })).status).toBe(200);
      world.now += 5000;
      expect((await ask('GET', PATH, { org })).status).toBe(403);
      expect((await ask('GET', PATH, { org, from: '192.0.2.1' })).status).toBe(200);
      // Also when the clock is set back.
      await world.store.run([
        { sql: 'DELETE FROM control_revisions WHERE org_id = $org_id', parameters: { org_id: org } },
      ]);
      world.now -= 3_600_000;
      expect((await ask('GET', PATH, { org })).status).toBe(200);
      world.now += 3_600_000;
    },
  );
});

test('raw events go by the days that an organization says, else by those of the service', async () => {
  const old = '2026-06-01T10:00:00Z';
  for (const orgId of ['brief', 'default', 'long'])
    await world.send(
      [{ event_id: '1', type: 'user_message', timestamp: old, user_id: 'ada', session_id: 's' }],
      { orgId },
    );
  await put({ sessionRetentionDays: 14 }, { org: 'brief' });
  await put({ sessionRetentionDays: 365 }, { org: 'long' });
  const left = async () =>
    (
      await world.store.select(
        "SELECT DISTINCT org_id FROM events WHERE org_id IN ('brief', 'default', 'long') ORDER BY org_id",
      )
    ).map(({ org_id }) => org_id);
  await runBuild(world.store, 'nightly', {}, world.clock, {});
  expect(await left()).toEqual(['default', 'long']);
  await runBuild(world.store, 'nightly', {}, world.clock, { retentionDays: 30 });
  expect(await left()).toEqual(['long']);
});
