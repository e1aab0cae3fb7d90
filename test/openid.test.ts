import { generateKeyPairSync, sign } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { buildApp } from '../src/service/app.js';
import { type People, passProvider, startProvider } from './openid.js';
import { World } from './world.js';

const CALLBACK = 'http://localhost/sign-in/callback';
const NUMBERS = '/api/v1/analytics/activity?startDate=2026-06-01&endDate=2026-06-02';
const PEOPLE: People = {
  ada: { org_id: 'acme', role: 'manager', email: 'ada@acme.example' },
  eve: { org_id: 'acme' },
  mallory: { org_id: '../acme', role: 'owner' },
};

async function start(changed?: (idToken: string) => string) {
  const settings = await startProvider(PEOPLE, CALLBACK, undefined, changed && { changed });
  const world = await World.create(settings);
  return { world, app: buildApp(world), settings };
}

/** Leaves the service for its provider: where to, and the cookie that waits for the way back. */
async function leave(app: FastifyInstance) {
  const answer = await app.inject({ url: '/sign-in/provider' });
  return {
    answer,
    address: String(answer.headers.location),
    cookies: { [answer.cookies[0]?.name ?? '']: answer.cookies[0]?.value ?? '' },
  };
}

/** Comes back to the service. */
async function comeBack(app: FastifyInstance, address: string, cookies: Record<string, string>) {
  const { pathname, search } = new URL(address);
  const answer = await app.inject({ url: pathname + search, cookies });
  const session = answer.cookies.find(({ name }) => name === 'daybook_session');
  return { location: answer.headers.location, session, cookies: { daybook_session: session?.value ?? '' } };
}

async function signIn(app: FastifyInstance, login: string) {
  const { address, cookies } = await leave(app);
  return comeBack(app, await passProvider(address, login, CALLBACK), cookies);
}

describe('a provider', () => {
  test('is asked for a code with PKCE, and its claims say who somebody is', async () => {
    const { app } = await start();
    const { answer, address, cookies } = await leave(app);
    const query = new URL(address).searchParams;
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(query.get('redirect_uri')).toBe(CALLBACK);
    expect(answer.cookies[0]).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/sign-in/callback' });
    const back = await comeBack(app, await passProvider(address, 'ada', CALLBACK), cookies);
    expect(back.location).toBe('http://localhost/');
    expect(back.session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    const answered = await app.inject({ url: '/api/v1/caller', cookies: back.cookies });
    expect(answered.json()).toMatchObject({
      data: { org_id: 'acme', role: 'manager', user_id: 'ada', email: 'ada@acme.example' },
    });
    expect((await app.inject({ url: NUMBERS, cookies: back.cookies })).statusCode).toBe(200);
  });

  test('signs nobody in whose claims name no role, or an organization that cannot be', async () => {
    const { app } = await start();
    for (const login of ['eve', 'mallory']) {
      const { location, session } = await signIn(app, login);
      expect([location, session]).toEqual(['http://localhost/#sign-in=claims', undefined]);
    }
  });

  test('signs nobody in with an ID token whose signature is not its own', async () => {
    const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const partsOf = (token: string) => token.split('.') as [string, string, string];
    const parsed = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const owner = (claims: string) => text({ ...parsed(claims), role: 'owner' });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const changed of [
      ([head, claims, signature]: string[]) => [head, owner(claims ?? ''), signature],
      ([head, claims]: string[]) => [head, claims, ''],
      ([, claims]: string[]) => [text({ alg: 'none' }), owner(claims ?? ''), ''],
      ([head, claims]: string[]) => {
        const signed = [head, owner(claims ?? '')];
        return [...signed, sign('sha256', Buffer.from(signed.join('.')), privateKey).toString('base64url')];
      },
    ]) {
      const { app } = await start((token) => changed(partsOf(token)).join('.'));
      const { location, session } = await signIn(app, 'ada');
      expect([location, session]).toEqual(['http://localhost/#sign-in=refused', undefined]);
    }
  });

  test('that is gone leads back to the page, which says so', async () => {
    const world = await World.create({
      DAYBOOK_OIDC_ISSUER: 'http://127.0.0.1:9',
      DAYBOOK_OIDC_CLIENT_ID: 'daybook',
      DAYBOOK_OIDC_CLIENT_SECRET: 'secret',
    });
    const answer = await buildApp(world).inject({ url: '/sign-in/provider' });
    expect([answer.statusCode, answer.headers.location]).toEqual([
      302,
      'http://localhost/#sign-in=unavailable',
    ]);
  });
});

describe('the way back', () => {
  test('is of the browser that left: without its cookie the code signs nobody in', async () => {
    const { app } = await start();
    const { address, cookies } = await leave(app);
    const back = await passProvider(address, 'ada', CALLBACK);
    const [name] = Object.keys(cookies);
    const other = await leave(app);
    for (const without of [{}, other.cookies])
      expect(await comeBack(app, back, without)).toMatchObject({
        location: 'http://localhost/#sign-in=late',
        session: undefined,
      });
    const renamed = { [name ?? '']: Object.values(other.cookies)[0] ?? '' };
    expect(await comeBack(app, back, renamed)).toMatchObject({
      location: 'http://localhost/#sign-in=refused',
      session: undefined,
    });
  });

  test('is its own in each of two tabs, whichever comes back first', async () => {
    const { app } = await start();
    const [first, second] = [await leave(app), await leave(app)];
    const cookies = { ...first.cookies, ...second.cookies };
    for (const { address } of [second, first]) {
      const back = await comeBack(app, await passProvider(address, 'ada', CALLBACK), cookies);
      expect(back).toMatchObject({ location: 'http://localhost/', session: expect.anything() });
    }
  });

  test('with a state that is no state of the service is late', async () => {
    const { app } = await start();
    for (const query of [
      '',
      '?code=a',
      '?state=',
      '?state=a;b',
      '?state=a&state=b',
      `?state=${'a'.repeat(101)}`,
    ])
      expect(await comeBack(app, `${CALLBACK}${query}`, {})).toMatchObject({
        location: 'http://localhost/#sign-in=late',
        session: undefined,
      });
  });

  test('is open for ten minutes, and once', async () => {
    const { app, world } = await start();
    const first = await leave(app);
    const back = await passProvider(first.address, 'ada', CALLBACK);
    expect((await comeBack(app, back, first.cookies)).session).toBeDefined();
    expect(await comeBack(app, back, first.cookies)).toMatchObject({
      location: 'http://localhost/#sign-in=late',
      session: undefined,
    });
    const second = await leave(app);
    const late = await passProvider(second.address, 'ada', CALLBACK);
    world.now += 600_000;
    expect((await comeBack(app, late, second.cookies)).location).toBe('http://localhost/#sign-in=late');
  });

  test('with a forged code signs nobody in, and leaves nothing in the store', async () => {
    const { app, world } = await start();
    const { address, cookies } = await leave(app);
    const back = new URL(await passProvider(address, 'ada', CALLBACK));
    back.searchParams.set('code', 'forged');
    for (let time = 0; time < 3; time += 1)
      expect((await comeBack(app, back.href, cookies)).location).toBe('http://localhost/#sign-in=refused');
    expect(await world.store.select('SELECT * FROM ended_tickets')).toEqual([]);
  });

  test('is at the public address, whatever host a request names, with cookies for it alone', async () => {
    const callback = 'https://daybook.acme.example/sign-in/callback';
    const settings = await startProvider(PEOPLE, callback);
    const world = await World.create({ ...settings, DAYBOOK_PUBLIC_URL: 'https://daybook.acme.example' });
    const app = buildApp(world);
    const leaving = await app.inject({ url: '/sign-in/provider', headers: { host: 'evil.example' } });
    const address = String(leaving.headers.location);
    expect(new URL(address).searchParams.get('redirect_uri')).toBe(callback);
    const [login] = leaving.cookies;
    expect(login).toMatchObject({
      name: expect.stringMatching(/^__Secure-daybook_login_/),
      secure: true,
    });
    const back = await app.inject({
      url: new URL(await passProvider(address, 'ada', callback)).href.replace(
        'https://daybook.acme.example',
        '',
      ),
      cookies: { [login?.name ?? '']: login?.value ?? '' },
      headers: { host: 'evil.example' },
    });
    expect(back.headers.location).toBe('https://daybook.acme.example/');
    expect(back.cookies.map(({ name, secure }) => [name, secure])).toEqual([
      [login?.name, true],
      ['__Host-daybook_session', true],
    ]);
  });
});
