import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listKeys } from '../src/api/api-keys.js';
import { signIn } from '../src/collect/browser-sign-in.js';
import { buildApp } from '../src/service/app.js';
import { type Likeness, type People, startProvider, submitForms } from './openid.js';
import { World } from './world.js';

const PEOPLE: People = {
  ada: { org_id: 'acme', role: 'owner', email: 'ada@acme.example' },
  gus: { org_id: 'acme', role: 'guest' },
  eve: { org_id: 'acme' },
};

async function start(settings: Record<string, string> = {}, likeness: Likeness = { hasDevices: true }) {
  const provider = await startProvider(PEOPLE, 'http://localhost/sign-in/callback', undefined, likeness);
  const world = await World.create({ ...provider, ...settings });
  return { world, app: buildApp(world), settings: provider };
}

interface Begun {
  readonly device_token: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly interval: number;
  readonly expires_in: number;
}

async function begin(app: FastifyInstance, name = 'laptop'): Promise<Begun> {
  const answer = await app.inject({ method: 'POST', url: '/sign-in/device', payload: { name } });
  expect(answer.statusCode).toBe(201);
  return answer.json();
}

const ask = (app: FastifyInstance, { device_token }: { device_token: string }) =>
  app.inject({ method: 'POST', url: '/sign-in/device/key', payload: { device_token } });

/** Signs somebody in with a browser on another device, by the address with the code or by the code alone. */
const browse = ({ verification_uri_complete }: Begun, login: string) =>
  submitForms(verification_uri_complete, { login, password: 'anything' });

describe('a sign-in on another device', () => {
  test('gives a member key of the person who signs in, once, to whoever holds the token', async () => {
    const { world, app } = await start();
    const begun = await begin(app);
    expect(begun).toMatchObject({
      interval: 5,
      expires_in: 600,
      user_code: expect.stringMatching(/^\w{4}-\w{4}$/),
    });
    // The token tells its holder nothing of what the service knows.
    expect(Buffer.from(begun.device_token, 'base64url').toString('latin1')).not.toContain('deviceCode');
    const waiting = await ask(app, begun);
    expect([waiting.statusCode, waiting.json()]).toEqual([202, { error: 'authorization_pending' }]);
    await browse(begun, 'ada');
    world.now += 5000;
    const made = await ask(app, begun);
    expect(made.statusCode).toBe(201);
    expect(made.json()).toMatchObject({ org_id: 'acme', user_id: 'ada' });
    const [key, ...others] = await listKeys(world.store, 'acme');
    expect(others).toEqual([]);
    expect(key).toMatchObject({
      ...{
        role: 'member',
        name: 'laptop',
        user_id: 'ada',
        user_email: 'ada@acme.example',
        created_by: 'ada',
      },
      ...{ key_id: made.json().key_id, expires_at: null },
    });
    const headers = { authorization: `Bearer ${made.json().key}` };
    const sender = await app.inject({ url: '/api/v1/events/sender', headers });
    expect(sender.json()).toEqual({ org_id: 'acme', user_id: 'ada', is_only_user: true });
    world.now += 5000;
    const again = await ask(app, begun);
    expect(again.statusCode).toBe(400);
    expect(again.json().detail).toBe('This sign-in has expired or was used before: begin again.');
    expect(await listKeys(world.store, 'acme')).toHaveLength(1);
  });

  test('can go by a public client of its own', async () => {
    const { app } = await start({ DAYBOOK_OIDC_DEVICE_CLIENT_ID: 'laptops' });
    const begun = await begin(app);
    await browse(begun, 'ada');
    expect((await ask(app, begun)).json()).toMatchObject({ user_id: 'ada' });
  });

  test('of two who ask at once with the same token, one gets a key', async () => {
    const { world, app } = await start();
    const begun = await begin(app);
    await browse(begun, 'ada');
    const other = buildApp(world);
    const codes = (await Promise.all([ask(app, begun), ask(other, begun)])).map(
      ({ statusCode }) => statusCode,
    );
    expect(codes.sort()).toEqual([201, 400]);
    expect(await listKeys(world.store, 'acme')).toHaveLength(1);
  });

  test('ends when its time is over, when it is refused, and with a token that is none', async () => {
    const { world, app } = await start();
    const refused = await begin(app);
    await submitForms(refused.verification_uri_complete, { abort: 'yes' }, /was interrupted/);
    expect((await ask(app, refused)).json().detail).toBe('The sign-in was refused in the browser.');
    const late = await begin(app);
    await browse(late, 'ada');
    world.now += late.expires_in * 1000;
    expect((await ask(app, late)).statusCode).toBe(400);
    for (const device_token of ['', 'x', refused.device_token.slice(0, -3), 'x'.repeat(12_001)])
      expect((await ask(app, { device_token })).statusCode).toBe(400);
    expect(await listKeys(world.store, 'acme')).toEqual([]);
  });

  test('gives no key to people whose claims or role allow none', async () => {
    const { world, app } = await start();
    for (const [login, detail] of [
      ['gus', 'A person of role guest may not send events: ask an owner for the role member.'],
      [
        'eve',
        'The OpenID provider does not say who you are, or what you may do: the log of the service names the claim.',
      ],
    ] as const) {
      const begun = await begin(app);
      await browse(begun, login);
      const { statusCode, body } = await ask(app, begun);
      expect([statusCode, JSON.parse(body).detail]).toEqual([403, detail]);
    }
    expect(await listKeys(world.store)).toEqual([]);
  });

  test('trusts no ID token whose signature is not of the provider', async () => {
    const { world, app } = await start(
      {},
      { hasDevices: true, changed: (token) => `${token.slice(0, -8)}AAAAAAAA` },
    );
    const begun = await begin(app);
    await browse(begun, 'ada');
    expect((await ask(app, begun)).statusCode).toBe(503);
    expect(await listKeys(world.store)).toEqual([]);
  });

  test('leaves nothing in the log that gives a key', async () => {
    const { world } = await start();
    let log = '';
    const written = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      log += String(line);
      return true;
    });
    onTestFinished(() => written.mockRestore());
    const app = buildApp(world, { logs: true });
    const begun = await begin(app);
    await ask(app, begun);
    await browse(begun, 'ada');
    world.now += 5000;
    const { key } = (await ask(app, begun)).json();
    await app.close();
    written.mockRestore();
    expect(log).toContain('/sign-in/device/key');
    for (const secret of [key, begun.device_token, begun.user_code]) expect(log).not.toContain(secret);
  });

  test('asks the provider no more often than it says, and begins no more than a few in a minute', async () => {
    const { world, app } = await start();
    const begun = await begin(app);
    await browse(begun, 'ada');
    await begin(app);
    const codes = [];
    for (let at = 0; at < 80; at += 1)
      codes.push(
        (await app.inject({ method: 'POST', url: '/sign-in/device', payload: { name: 'x' } })).statusCode,
      );
    expect(codes.filter((code) => code === 201)).toHaveLength(58);
    expect(codes.at(-1)).toBe(429);
    expect((await ask(app, begun)).statusCode).toBe(201);
    world.now += 60_000;
    const next = await begin(app);
    expect((await ask(app, next)).json()).toEqual({ error: 'authorization_pending' });
    world.now += 4000;
    expect((await ask(app, next)).json()).toEqual({ error: 'slow_down' });
    world.now += 1000;
    expect((await ask(app, next)).json()).toEqual({ error: 'authorization_pending' });
  });

  test('is refused with what to do where there is none', async () => {
    const detailOf = async (app: FastifyInstance) => {
      const answer = await app.inject({ method: 'POST', url: '/sign-in/device', payload: { name: 'x' } });
      return [answer.statusCode, answer.json().detail];
    };
    const none =
      /^This service has no sign-in by browser: its operator sets up OpenID Connect with the device flow/;
    expect(await detailOf((await start({}, {})).app)).toEqual([404, expect.stringMatching(none)]);
    expect(await detailOf(buildApp(await World.create()))).toEqual([404, expect.stringMatching(none)]);
    const gone = await World.create({
      DAYBOOK_OIDC_ISSUER: 'http://127.0.0.1:9',
      DAYBOOK_OIDC_CLIENT_ID: 'daybook',
      DAYBOOK_OIDC_CLIENT_SECRET: 'secret',
    });
    expect(await detailOf(buildApp(gone))).toEqual([
      503,
      expect.stringMatching(/^The OpenID provider begins no sign-in/),
    ]);
  });
});

describe('a program', () => {
  /** The address of an app, below a path if one is given. */
  async function listening(app: FastifyInstance): Promise<string> {
    await app.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => app.close());
    return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  }

  test('says where to sign in, waits as long as it is told, and gets the key', async () => {
    const { world, app } = await start();
    const url = await listening(app);
    const said: string[] = [];
    const pauses: number[] = [];
    const pause = async (ms: number) => {
      pauses.push(ms);
      world.now += pauses.length === 2 ? 1000 : ms;
      const [, complete = ''] = /^ {2}(\S+user_code=\S+)$/m.exec(said[0] ?? '') ?? [];
      if (pauses.length === 3) await submitForms(complete, { login: 'ada', password: 'anything' });
    };
    const key = await signIn(`${url}/`.replace(/\/$/, ''), {
      ...{ name: 'laptop', clock: world.clock, say: (text: string) => void said.push(text), pause },
    });
    expect(key).toMatch(/^dbk_/);
    expect(said[0]).toMatch(
      /^Sign in with a browser, here or on another device:\n {2}http\S+\/device\n {2}code \w{4}-\w{4}\n/,
    );
    // It was too early once, and waits longer from then on.
    expect(pauses).toEqual([5000, 5000, 10_000]);
  });

  test('gives up when nobody signs in, and says what to do where a service has no such sign-in', async () => {
    const { world, app } = await start();
    const pause = async (ms: number) => {
      world.now += ms;
    };
    const options = { name: 'laptop', clock: world.clock, say: () => {}, pause };
    await expect(signIn(await listening(app), options)).rejects.toThrow(
      'Nobody signed in with this code in time: run the command again.',
    );
    const without = await listening(buildApp(await World.create()));
    await expect(signIn(without, options)).rejects.toThrow(
      /answers 404: This service has no sign-in by browser/,
    );
    await expect(signIn('http://127.0.0.1:9', options)).rejects.toThrow(
      "http://127.0.0.1:9 can't be reached (ECONNREFUSED): start the service, or correct --server.",
    );
  });
});
