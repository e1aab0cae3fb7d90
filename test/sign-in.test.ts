import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { createKey, revokeKey } from '../src/api/api-keys.js';
import { trustedForAddresses } from '../src/api/public-url.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { buildApp } from '../src/service/app.js';
import { readConfig } from '../src/settings/config.js';
import { signInLink } from '../src/sign-in/tickets.js';
import { World } from './world.js';

const CALLER = '/api/v1/caller';
const NUMBERS = '/api/v1/analytics/activity?startDate=2026-06-01&endDate=2026-06-02';
const OWN = { origin: 'http://localhost', host: 'localhost' };

/** A browser of one cookie that is signed in with a key or a token. */
async function signIn(app: FastifyInstance, body: object) {
  const answer = await app.inject({ method: 'POST', url: '/sign-in', headers: OWN, payload: body });
  const [cookie] = answer.cookies;
  return { answer, cookie, cookies: { daybook_session: cookie?.value ?? '' } };
}

/** A link's token, as "daybook open" prints it. */
function tokenOf({ store, config, clock }: World, orgId = 'acme'): string {
  const link = signInLink(store, new SecretKey(config), clock, { orgId, url: 'http://localhost' });
  return link.split('#token=')[1] ?? '';
}

async function start(settings: Record<string, string> = {}) {
  const world = await World.create(settings);
  const app = buildApp(world);
  const { key, key_id } = await createKey(
    world.store,
    { orgId: 'acme', role: 'member', userId: 'ada', email: 'ada@acme.example' },
    world.now,
  );
  return { world, app, key, keyId: key_id };
}

describe('with a key', () => {
  test('a browser is signed in as the key, and only with a cookie that scripts and other sites do not get', async () => {
    const { app, key } = await start();
    const { answer, cookie, cookies } = await signIn(app, { key });
    expect(answer.statusCode).toBe(204);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(cookie).not.toHaveProperty('secure');
    expect(cookie?.value).not.toContain('acme');
    const { data } = (await app.inject({ url: CALLER, cookies })).json();
    expect(data).toMatchObject({
      org_id: 'acme',
      role: 'member',
      user_id: 'ada',
      email: 'ada@acme.example',
      days: { first: null, last: null, stale: [] },
    });
    expect(data.actions).toContain('read its own analytics');
    expect(data.actions).not.toContain('read analytics');
    expect(cookie?.maxAge).toBe(12 * 3600);
    expect((await app.inject({ url: NUMBERS, cookies })).statusCode).toBe(403);
  });

  test('behind TLS the cookie is sent over TLS only, below the prefix of the service', async () => {
    const { app, key } = await start({ DAYBOOK_PUBLIC_URL: 'https://acme.example/daybook' });
    const answer = await app.inject({
      method: 'POST',
      url: '/sign-in',
      headers: { origin: 'https://acme.example' },
      payload: { key },
    });
    expect(answer.cookies[0]).toMatchObject({
      name: '__Secure-daybook_session',
      secure: true,
      path: '/daybook/',
    });
  });

  test('behind TLS no other host can set the cookie', async () => {
    const { app, key } = await start({ DAYBOOK_PUBLIC_URL: 'https://acme.example' });
    const post = (url: string, cookies: Record<string, string>, payload = {}) =>
      app.inject({ method: 'POST', url, cookies, headers: { origin: 'https://acme.example' }, payload });
    const answer = await post('/sign-in', {}, { key });
    expect(answer.cookies).toMatchObject([{ name: '__Host-daybook_session', secure: true, path: '/' }]);
    expect(answer.cookies[0]).not.toHaveProperty('domain');
    const value = answer.cookies[0]?.value ?? '';
    const statusOf = async (name: string) =>
      (await app.inject({ url: CALLER, cookies: { [name]: value } })).statusCode;
    expect(await statusOf('__Host-daybook_session')).toBe(200);
    for (const name of ['daybook_session', '__Secure-daybook_session'])
      expect(await statusOf(name)).toBe(401);
    const out = await post('/sign-out', { '__Host-daybook_session': value });
    expect(out.cookies).toMatchObject([
      { value: '', path: '/', secure: true, name: '__Host-daybook_session', maxAge: 0 },
    ]);
    expect(await statusOf('__Host-daybook_session')).toBe(401);
  });

  test('revoking the key ends the session with the next request', async () => {
    const { app, key, keyId, world } = await start();
    const { cookies } = await signIn(app, { key });
    await revokeKey(world.store, keyId, world.now);
    expect((await app.inject({ url: CALLER, cookies })).statusCode).toBe(401);
    expect((await app.inject({ url: NUMBERS, cookies })).statusCode).toBe(401);
  });

  test('a key that only sends events signs nobody in', async () => {
    const { app, world } = await start();
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'ingest' }, world.now);
    const { answer } = await signIn(app, { key });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      403,
      'A credential of role ingest may not use the page: use a credential of role owner, manager, member, or guest.',
    ]);
  });

  test('an unknown key signs nobody in', async () => {
    const { app } = await start();
    const { answer } = await signIn(app, { key: `dbk_${'A'.repeat(43)}` });
    expect([answer.statusCode, answer.cookies]).toEqual([401, []]);
  });
});

describe('with a link', () => {
  test('the first who opens it is signed in as owner', async () => {
    const { app, world } = await start();
    const token = tokenOf(world);
    const opened = await Promise.all([signIn(app, { token }), signIn(app, { token })]);
    expect(opened.map(({ answer }) => answer.statusCode).sort()).toEqual([204, 401]);
    const cookies = opened.find(({ answer }) => answer.statusCode === 204)?.cookies ?? {};
    expect((await app.inject({ url: NUMBERS, cookies })).statusCode).toBe(200);
  });

  test('it is used up for a service that was restarted too', async () => {
    const { app, world } = await start();
    const token = tokenOf(world);
    await signIn(app, { token });
    const { answer } = await signIn(buildApp(world), { token });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      401,
      'This link was used before or is older than ten minutes: "daybook open" prints a new one.',
    ]);
  });

  test('it ends when all browsers of the organization are signed out', async () => {
    const { app, world } = await start();
    const [token, other] = [tokenOf(world), tokenOf(world, 'globex')];
    world.now += 1;
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
    const headers = { authorization: `Bearer ${key}` };
    const out = await app.inject({ method: 'DELETE', url: '/api/v1/sessions', headers });
    expect(out.statusCode).toBe(204);
    expect((await signIn(app, { token })).answer.statusCode).toBe(401);
    expect((await signIn(app, { token: other })).answer.statusCode).toBe(204);
    world.now += 1;
    expect((await signIn(app, { token: tokenOf(world) })).answer.statusCode).toBe(204);
  });

  test('it ends after ten minutes', async () => {
    const { app, world } = await start();
    const token = tokenOf(world);
    world.now += 600_000;
    expect((await signIn(app, { token })).answer.statusCode).toBe(401);
  });

  test('a session is no link, and a link no session', async () => {
    const { app, key, world } = await start();
    const { cookies } = await signIn(app, { key });
    expect((await signIn(app, { token: cookies.daybook_session })).answer.statusCode).toBe(401);
    const link = { daybook_session: tokenOf(world) };
    expect((await app.inject({ url: CALLER, cookies: link })).statusCode).toBe(401);
  });
});

describe('a session', () => {
  test('ends after twelve hours', async () => {
    const { app, key, world } = await start();
    const { cookies } = await signIn(app, { key });
    world.now += 12 * 3_600_000;
    expect((await app.inject({ url: CALLER, cookies })).statusCode).toBe(401);
  });

  test('ends for every copy of its cookie when somebody signs out, after a restart too', async () => {
    const { app, key, world } = await start();
    const { cookies } = await signIn(app, { key });
    const other = await signIn(app, { key });
    const answer = await app.inject({ method: 'POST', url: '/sign-out', headers: OWN, cookies });
    expect(answer.cookies[0]).toMatchObject({ value: '', path: '/' });
    for (const service of [app, buildApp(world)]) {
      expect((await service.inject({ url: CALLER, cookies })).statusCode).toBe(401);
      expect((await service.inject({ url: CALLER, cookies: other.cookies })).statusCode).toBe(200);
    }
  });

  test('signed out sessions are forgotten when they would have ended', async () => {
    const { app, key, world } = await start();
    const signOut = async () => {
      const { cookies } = await signIn(app, { key });
      await app.inject({ method: 'POST', url: '/sign-out', headers: OWN, cookies });
    };
    await signOut();
    world.now += 12 * 3_600_000 + 300_000;
    await signOut();
    expect(await world.store.select('SELECT count(*) AS tickets FROM ended_tickets')).toEqual([
      { tickets: 1 },
    ]);
  });

  test('is nothing with another key of the installation, or when a byte of it is changed', async () => {
    const { app, key } = await start();
    const { cookies } = await signIn(app, { key });
    const text = cookies.daybook_session;
    const other = await start();
    expect((await other.app.inject({ url: CALLER, cookies })).statusCode).toBe(401);
    for (const at of [0, 20, text.length - 5]) {
      const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
      const answer = await app.inject({ url: CALLER, cookies: { daybook_session: changed } });
      expect(answer.statusCode).toBe(401);
    }
  });

  test('a header of a credential wins over it', async () => {
    const { app, key, world } = await start();
    const { cookies } = await signIn(app, { key });
    const owner = await createKey(world.store, { orgId: 'other', role: 'owner' }, world.now);
    const answer = await app.inject({
      url: NUMBERS,
      cookies,
      headers: { authorization: `Bearer ${owner.key}` },
    });
    expect(answer.json().meta.org_id).toBe('other');
  });
});

describe("another site's page", () => {
  const REPORT = { method: 'POST', url: '/api/organization/maturity-level-reports', payload: {} } as const;

  test('can do nothing with a session, even where the cookie reaches the service', async () => {
    const { app, key } = await start();
    const { cookies } = await signIn(app, { key });
    for (const origin of ['https://evil.example', 'null', 'http://localhost:81'])
      for (const request of [REPORT, { method: 'GET', url: NUMBERS } as const])
        expect((await app.inject({ ...request, cookies, headers: { ...OWN, origin } })).statusCode).toBe(403);
    // It is the body that this one lacks.
    expect((await app.inject({ ...REPORT, cookies, headers: OWN })).statusCode).toBe(400);
  });

  test('a request that changes something has to say where it comes from', async () => {
    const { app, key } = await start();
    const { cookies } = await signIn(app, { key });
    expect((await app.inject({ ...REPORT, cookies })).statusCode).toBe(403);
  });

  test('cannot sign a browser in or out', async () => {
    const { app, key } = await start();
    const headers = { ...OWN, origin: 'https://evil.example' };
    for (const url of ['/sign-in', '/sign-out'])
      expect((await app.inject({ method: 'POST', url, headers, payload: { key } })).statusCode).toBe(403);
  });
});

test.each([
  [{}, 'http://localhost: if people reach it there, through a proxy, set DAYBOOK_PUBLIC_URL.'],
  [
    { DAYBOOK_PUBLIC_URL: 'https://other.example/daybook' },
    'https://other.example: open https://other.example/daybook/, or correct DAYBOOK_PUBLIC_URL.',
  ],
])('a page at an address that the service does not know is told the setting: %j', async (settings, end) => {
  const world = await World.create(settings);
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  const answer = await buildApp(world).inject({
    method: 'POST',
    url: '/sign-in',
    headers: { host: 'localhost', 'x-forwarded-proto': 'https', origin: 'https://daybook.acme.example' },
    payload: { key },
  });
  expect([answer.statusCode, answer.json().detail]).toEqual([
    403,
    `A page of https://daybook.acme.example can't sign in, because the service is at ${end}`,
  ]);
});

test('the log says which headers are trusted for addresses, unless the settings say the address', () => {
  const said = (settings: Record<string, string>) => trustedForAddresses(readConfig(settings));
  expect(said({ DAYBOOK_PUBLIC_URL: 'https://acme.example' })).toBeUndefined();
  expect(said({})).toMatch(/^DAYBOOK_PUBLIC_URL is not set, so the header Host of each request is trusted /);
  expect(said({ DAYBOOK_TRUST_PROXY: '10.0.0.1' })).toMatch(
    /from 10\.0\.0\.1, X-Forwarded-Host and X-Forwarded-Proto/,
  );
});
