import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createKey, revokeKey } from '../src/api/api-keys.js';
import { type Action, may, Role } from '../src/api/roles.js';
import { buildApp } from '../src/service/app.js';
import { freePort } from './ask.js';
import { bytesBelow } from './private-text.js';
import { World } from './world.js';

/** Who may perform an action, in the order owner, manager, member, guest, ingest, scim. */
const TABLE: [Action, string][] = [
  ['read analytics', 'yes yes no no no no'],
  ['read enterprise controls', 'yes yes no no no no'],
  ['run SQL', 'yes yes no no no no'],
  ['change enterprise controls', 'yes no no no no no'],
  ['read computers', 'yes yes yes yes no no'],
  ['create computers', 'yes yes yes no no no'],
  ['upload files to computers', 'yes yes yes no no no'],
  ['upload files to computers of service accounts', 'yes yes no no no no'],
  ["upload files to another person's computers", 'no no no no no no'],
  ['read readiness reports', 'yes yes yes yes no no'],
  ['submit readiness reports', 'yes yes yes no no no'],
  ['send events', 'yes yes yes no yes no'],
  // A member's key may send only its own user's events.
  ['send events of other users', 'yes yes no no yes no'],
  // A service account is named by those who may upload to its computers.
  ['create computers of service accounts', 'yes yes no no no no'],
  // Ours: to rename, delete or retry.
  ['change computers', 'yes yes yes no no no'],
  ['delete computers', 'yes yes yes no no no'],
  ['retry the provisioning of computers', 'yes yes yes no no no'],
  ["change another person's computers", 'yes yes no no no no'],
  // Ours: to sign in with a browser.
  ['use the page', 'yes yes yes yes no no'],
  // Ours: a member's own rows.
  ['read its own analytics', 'yes yes yes no no no'],
  // Ours: for identity providers.
  ['provision people', 'yes no no no no yes'],
];

describe('the role table', () => {
  for (const [action, cells] of TABLE) {
    for (const [index, cell] of cells.split(' ').entries()) {
      const role = Role.options[index] as Role;
      test(`${role} may ${cell === 'yes' ? '' : 'not '}${action}`, () => {
        expect(may(role, action)).toBe(cell === 'yes');
      });
    }
  }
});

const PATH = '/api/v1/analytics/activity?startDate=2026-06-01&endDate=2026-06-02';

async function ask(app: FastifyInstance, token?: string) {
  const answer = await app.inject({
    url: PATH,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  return { status: answer.statusCode, detail: String(answer.json().detail ?? ''), headers: answer.headers };
}

describe('API keys', () => {
  test('a key is valid until it is revoked, from the very next request on', async () => {
    const world = await World.create();
    const app = buildApp(world);
    const { key, key_id } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
    expect((await ask(app, key)).status).toBe(200);
    expect((await ask(app, key)).status).toBe(200);
    await revokeKey(world.store, key_id, world.now);
    expect((await ask(app, key)).status).toBe(401);
  });

  test('a key that was looked up before expires on its instant', async () => {
    const world = await World.create();
    const app = buildApp(world);
    const { key } = await createKey(
      world.store,
      { orgId: 'acme', role: 'owner', expiresAt: world.now + 1000 },
      world.now,
    );
    expect((await ask(app, key)).status).toBe(200);
    world.now += 999;
    expect((await ask(app, key)).status).toBe(200);
    world.now += 1;
    expect((await ask(app, key)).status).toBe(401);
  });

  test('a key is kept as its digest, and is in no table and no file', async () => {
    const world = await World.create();
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
    const rows = JSON.stringify(await world.store.select('SELECT * FROM keys'));
    const files = bytesBelow(world.config.data);
    const holding = (text: string) =>
      files.flatMap(({ where, what }) => (what.includes(text) ? [where] : []));
    const digest = hash('sha256', key);
    expect([rows.includes(digest), rows.includes(key)]).toEqual([true, false]);
    // The digest is found, so the search finds what is there.
    expect(holding(digest)).not.toEqual([]);
    expect(holding(key)).toEqual([]);
  });

  for (const token of [
    '',
    'x',
    'dbk_',
    `dbk_${'A'.repeat(43)}`,
    `dbk_${'A'.repeat(44)}`,
    "dbk_'; --",
    'a.b.c',
  ])
    test(`"${token}" opens nothing`, async () => {
      const world = await World.create();
      const { status, headers } = await ask(buildApp(world), token);
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer');
    });

  test('without the header, and with another scheme, the sentence says what is expected', async () => {
    const app = buildApp(await World.create());
    expect(await ask(app)).toMatchObject({
      status: 401,
      detail: expect.stringContaining('Authorization: Bearer'),
    });
    const basic = await app.inject({ url: PATH, headers: { authorization: 'Basic YTpi' } });
    expect(basic.statusCode).toBe(401);
  });
});

const ISSUER = 'https://login.acme.test';

interface Wanted {
  claims?: Record<string, unknown>;
  issuer?: string;
  audience?: string;
  /** Seconds from the test's now. */
  expires?: number | undefined;
  begins?: number;
}

/** A signer of tokens, and the service that takes them by a key set at a URL. */
async function jwtWorld(algorithm = 'ES256', environment: Record<string, string> = {}) {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: algorithm };
  let asked = 0;
  const server = createServer((_, reply) => {
    asked += 1;
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const world = await World.create({
    DAYBOOK_JWT_JWKS: `http://127.0.0.1:${port}/keys`,
    DAYBOOK_JWT_ISSUER: ISSUER,
    DAYBOOK_JWT_AUDIENCE: 'daybook',
    ...environment,
  });
  const app = buildApp(world);
  const make = ({
    claims = {},
    issuer = ISSUER,
    audience = 'daybook',
    expires = 60,
    begins,
  }: Wanted = {}) => {
    const token = new SignJWT({ sub: 'ada', org_id: 'acme', role: 'manager', ...claims })
      .setProtectedHeader({ alg: algorithm, kid: 'k1' })
      .setIssuer(issuer)
      .setAudience(audience);
    if (expires !== Number.POSITIVE_INFINITY) token.setExpirationTime(Math.floor(world.now / 1000) + expires);
    const now = Math.floor(world.now / 1000);
    if (begins !== undefined) token.setNotBefore(now + begins).setIssuedAt(now + begins);
    return token.sign(pair.privateKey);
  };
  return { world, app, make, server, asked: () => asked };
}

describe('the rate limit', () => {
  /** Asks until it is refused, at most so many times, and answers how many requests were not. */
  async function allowed(app: FastifyInstance, headersOf: (index: number) => object, most = 20) {
    for (let index = 0; index < most; index += 1) {
      const { statusCode } = await app.inject({ url: PATH, ...headersOf(index) });
      if (statusCode === 429) return index;
    }
    return most;
  }

  test('counts a credential however its header is written, and no two of them together', async () => {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '3' });
    const app = buildApp(world);
    const make = () => createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
    const [{ key }, { key: other }] = [await make(), await make()];
    const spellings = ['Bearer ', 'bearer ', 'BEARER    ', 'bEaReR  ', `Bearer${' '.repeat(9)}`];
    const written = (index: number) => ({
      remoteAddress: `192.0.2.${index}`,
      headers: { authorization: `${spellings[index % spellings.length]}${key}` },
    });
    expect(await allowed(app, written)).toBe(3);
    expect((await ask(app, other)).status).toBe(200);
  });

  test('counts what has no valid credential by its address, and no valid credential with it', async () => {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '3' });
    const app = buildApp(world);
    const make = () => createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
    const [{ key }, { key: revoked, key_id }] = [await make(), await make()];
    await revokeKey(world.store, key_id, world.now);
    const guesses = [
      {},
      { authorization: 'Bearer' },
      { authorization: 'Basic YTpi' },
      ...[...'abcdef'].map((letter) => ({ authorization: `Bearer dbk_${letter.repeat(43)}` })),
      { authorization: `Bearer ${revoked}` },
      { authorization: 'Bearer a.b.c' },
    ];
    const from = (address: string) => (index: number) => ({
      headers: guesses[index % guesses.length] ?? {},
      remoteAddress: address,
    });
    expect(await allowed(app, from('192.0.2.1'))).toBe(3);
    expect(await allowed(app, from('192.0.2.2'))).toBe(3);
    // An IPv4 address counts as itself, also where it is written as an IPv6 one.
    expect(await allowed(app, from('::ffff:192.0.2.1'))).toBe(0);
    // Whoever has one IPv6 address has all of its /64.
    expect(await allowed(app, (index) => from(`2001:db8::${index}:1`)(index))).toBe(3);
    expect(await allowed(app, from('2001:db8:0:1::1'))).toBe(3);
    const valid = { headers: { authorization: `Bearer ${key}` }, remoteAddress: '192.0.2.1' };
    expect((await app.inject({ url: PATH, ...valid })).statusCode).toBe(200);
  });

  test('looks guessed keys up without asking the store', async () => {
    const world = await World.create();
    let selects = 0;
    const store = new Proxy(world.store, {
      get(target, name) {
        if (name === 'select') selects += 1;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const app = buildApp({ store, config: world.config, clock: world.clock, inbox: world.inbox });
    for (const letter of 'abcdef') expect((await ask(app, `dbk_${letter.repeat(43)}`)).status).toBe(401);
    expect(selects).toBe(1);
  });

  test('counts JWTs by whom they are for', async () => {
    const { app, make } = await jwtWorld('ES256', { DAYBOOK_RATE_LIMIT: '3' });
    const tokens = await Promise.all([1, 2, 3, 4, 5].map((more) => make({ expires: 60 + more })));
    expect(
      await allowed(app, (index) => ({ headers: { authorization: `Bearer ${tokens[index]}` } }), 5),
    ).toBe(3);
    expect((await ask(app, await make({ claims: { sub: 'grace' } }))).status).toBe(200);
  });
});

describe('JWTs', () => {
  for (const algorithm of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
    test(`are taken when signed with ${algorithm} by a key of the set, which is asked for once`, async () => {
      const { app, make, asked } = await jwtWorld(algorithm);
      expect((await ask(app, await make())).status).toBe(200);
      expect((await ask(app, await make({ claims: { role: 'owner' } }))).status).toBe(200);
      expect(asked()).toBe(1);
    });
  }

  test('have the role that they say', async () => {
    const { app, make } = await jwtWorld();
    for (const role of ['member', 'guest', 'ingest'])
      expect((await ask(app, await make({ claims: { role } }))).status).toBe(403);
  });

  test('have the claims that the settings name, and the roles of their groups', async () => {
    const { app, make } = await jwtWorld('ES256', {
      DAYBOOK_CLAIM_USER: 'oid',
      DAYBOOK_CLAIM_ROLE: 'groups',
      DAYBOOK_GROUP_ROLES: 'daybook-managers=manager,staff=member',
      DAYBOOK_DEFAULT_ORG: 'acme',
    });
    const claims = { sub: undefined, org_id: undefined, role: 'owner', oid: '0b7e' };
    const asking = async (groups: unknown) => ask(app, await make({ claims: { ...claims, groups } }));
    expect((await asking(['staff', 'daybook-managers'])).status).toBe(200);
    expect((await asking(['staff'])).status).toBe(403);
    expect(await asking(['sales'])).toMatchObject({
      status: 401,
      detail:
        'The JWT is refused, since the claim groups is ["sales"], to which DAYBOOK_GROUP_ROLES gives no role: add one of its values there, or set DAYBOOK_DEFAULT_ROLE.',
    });
  });

  const refused: [string, Wanted, RegExp][] = [
    ['that has expired', { expires: -61 }, /expired/],
    ['that begins later', { begins: 61 }, /not valid yet: compare the clock/],
    ['without an end', { expires: Number.POSITIVE_INFINITY }, /exp/],
    ['of another issuer', { issuer: 'https://evil.test' }, /iss/],
    ['for another service', { audience: 'payroll' }, /aud/],
    ['without an organization', { claims: { org_id: undefined } }, /org_id/],
    ['without a user', { claims: { sub: undefined } }, /sub/],
    ['of a user whose id no database takes', { claims: { sub: 'a\0b' } }, /sub/],
    ['with a role that there is not', { claims: { role: 'root' } }, /role/],
  ];
  for (const [what, wanted, sentence] of refused) {
    test(`are refused: one ${what}`, async () => {
      const { app, make } = await jwtWorld();
      const { status, detail } = await ask(app, await make(wanted));
      expect(status).toBe(401);
      expect(detail).toMatch(sentence);
    });
  }

  test.each([59, -59])(
    'may have a clock that differs by %i s, and by none where the setting says so',
    async (seconds) => {
      const token = { expires: seconds < 0 ? seconds : 60, begins: seconds };
      const { app, make } = await jwtWorld('ES256');
      expect((await ask(app, await make(token))).status).toBe(200);
      const strict = await jwtWorld('ES256', { DAYBOOK_CLOCK_TOLERANCE_S: '0' });
      expect((await ask(strict.app, await strict.make(token))).status).toBe(401);
    },
  );

  test('are refused: signed by another key, unsigned, or signed with the public key as a secret', async () => {
    const { app, make } = await jwtWorld();
    const other = await generateKeyPair('ES256');
    const [header, claims] = (await make()).split('.');
    const forged = await new SignJWT({ sub: 'ada', org_id: 'acme', role: 'owner' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(ISSUER)
      .setAudience('daybook')
      .setExpirationTime(new Date('2100-01-01'))
      .sign(other.privateKey);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${encode({ alg: 'none' })}.${claims}.`;
    const symmetric = await new SignJWT({ sub: 'ada', org_id: 'acme', role: 'owner' })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .setIssuer(ISSUER)
      .setAudience('daybook')
      .setExpirationTime(new Date('2100-01-01'))
      .sign(new TextEncoder().encode('k1'.repeat(32)));
    for (const token of [forged, unsigned, symmetric, `${header}.${claims}.AAAA`, `${header}.${claims}.`])
      expect((await ask(app, token)).status).toBe(401);
  });

  test('are a 503 while the keys can not be had, and are taken again after', async () => {
    const { app, make, server } = await jwtWorld();
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await ask(app, await make())).toMatchObject({
      status: 503,
      detail: expect.stringContaining('try again'),
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    expect((await ask(app, await make())).status).toBe(200);
  });

  test('are checked with a shared secret where that is set, and with nothing else', async () => {
    const secret = 'correct horse battery staple, twice over';
    const world = await World.create({
      DAYBOOK_JWT_SECRET: secret,
      DAYBOOK_JWT_ISSUER: ISSUER,
      DAYBOOK_JWT_AUDIENCE: 'daybook',
    });
    const app = buildApp(world);
    const make = (key: string) =>
      new SignJWT({ sub: 'ada', org_id: 'acme', role: 'owner' })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(ISSUER)
        .setAudience('daybook')
        .setExpirationTime(world.now / 1000 + 60)
        .sign(new TextEncoder().encode(key));
    expect((await ask(app, await make(secret))).status).toBe(200);
    expect((await ask(app, await make(`${secret}!`))).status).toBe(401);
  });

  test('of an organization show nothing of another', async () => {
    const { world, app, make } = await jwtWorld();
    await world.send(
      [
        {
          event_id: '1',
          type: 'user_message',
          timestamp: '2026-06-01T10:00:00Z',
          user_id: 'ada',
          session_id: 's',
        },
      ],
      { orgId: 'acme' },
    );
    await world.build();
    const read = async (org_id: string) =>
      (
        await app.inject({
          url: PATH,
          headers: { authorization: `Bearer ${await make({ claims: { org_id } })}` },
        })
      ).json().data.length;
    expect(await read('acme')).toBe(2);
    expect(await read('globex')).toBe(0);
  });

  test('are refused with a sentence where the service takes none', async () => {
    const { make } = await jwtWorld();
    const { status, detail } = await ask(buildApp(await World.create()), await make());
    expect(status).toBe(401);
    expect(detail).toMatch(/doesn't accept JWTs/);
  });
});
