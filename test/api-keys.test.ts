import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { MOST_KEYS } from '../src/api/api-key-routes.js';
import { createKey, createKeys, listKeys, revokeKey, saveKeyUses } from '../src/api/api-keys.js';
import { ACTIONS, type Action, may, Role } from '../src/api/roles.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { buildApp } from '../src/service/app.js';
import { signInLink } from '../src/sign-in/tickets.js';
import { listOrganizations, removeOrganization } from '../src/store/organization.js';
import { ending, World } from './world.js';

const KEYS = '/api/v1/api-keys';
const CALLER = '/api/v1/caller';
const SESSIONS = '/api/v1/sessions';
const OWN = { origin: 'http://localhost', host: 'localhost' };

const atEnd = ending();
let world: World;
let app: FastifyInstance;
let owner: string;
beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  app = buildApp(world);
  owner = await keyOf('owner', 'ada');
});

async function keyOf(role: Role, userId?: string, orgId = 'acme'): Promise<string> {
  return (await createKey(world.store, { orgId, role, userId }, world.now)).key;
}

/** Asks with a key, an owner's unless there is another. */
async function ask(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object, key = owner) {
  const answer = await app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${key}` },
    ...(payload === undefined ? {} : { payload }),
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    body: answer.body === '' ? undefined : answer.json(),
  };
}

describe('API keys over HTTP', () => {
  test('a key that is created works at once, and is shown in no other answer', async () => {
    const wanted = { role: 'manager', name: 'dashboard', user_id: 'grace', user_email: 'grace@acme.example' };
    const made = await ask('POST', KEYS, wanted);
    expect(made.status).toBe(201);
    expect(made.headers['cache-control']).toBe('no-store');
    const { key, ...row } = made.body;
    expect(row).toEqual({
      ...wanted,
      key_id: expect.stringMatching(/^key_/),
      fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      created_at: world.now,
      created_by: 'ada',
      expires_at: null,
      revoked_at: null,
      last_used_on: null,
      is_current: false,
    });
    const caller = await ask('GET', CALLER, undefined, key);
    expect(caller.body.data).toMatchObject({ org_id: 'acme', role: 'manager', user_id: 'grace' });
    expect((await ask('GET', `${KEYS}/${row.key_id}`)).body).toEqual(row);
    const list = await ask('GET', `${KEYS}?limit=100`);
    expect(list.body.data).toContainEqual(row);
    expect(list.text).not.toContain(key);
    expect(list.text).not.toContain('hash');
  });

  test('revocation holds with the next request, and may be repeated', async () => {
    const { key, key_id } = (await ask('POST', KEYS, { role: 'guest' })).body;
    expect((await ask('GET', CALLER, undefined, key)).status).toBe(200);
    for (let time = 0; time < 2; time += 1) {
      expect((await ask('DELETE', `${KEYS}/${key_id}`)).status).toBe(204);
      expect((await ask('GET', CALLER, undefined, key)).status).toBe(401);
    }
    expect((await ask('GET', `${KEYS}/${key_id}`)).body.revoked_at).toBe(world.now);
  });

  test('a key says who created it: a user, a key of none, or nobody over HTTP', async () => {
    const mine = await keyOf('owner');
    const { key_id } = (await ask('POST', KEYS, { role: 'guest' }, mine)).body;
    const { data } = (await ask('GET', `${KEYS}?limit=100`, undefined, mine)).body;
    const own = data.find(({ is_current }: { is_current: boolean }) => is_current);
    expect(own.created_by).toBeNull();
    expect((await ask('GET', `${KEYS}/${key_id}`)).body.created_by).toBe(own.fingerprint);
  });

  test('an owner may revoke the key in use, which the list names', async () => {
    const mine = await keyOf('owner');
    const { data } = (await ask('GET', `${KEYS}?limit=100`, undefined, mine)).body;
    const [current, ...others] = data.filter(({ is_current }: { is_current: boolean }) => is_current);
    expect(others).toEqual([]);
    expect((await ask('DELETE', `${KEYS}/${current.key_id}`, undefined, mine)).status).toBe(204);
    expect((await ask('GET', KEYS, undefined, mine)).status).toBe(401);
  });

  test('keys of other organizations are neither listed nor found nor revoked', async () => {
    const other = await keyOf('owner', 'ada', 'other');
    const { data } = (await ask('GET', KEYS, undefined, other)).body;
    expect(data).toHaveLength(1);
    const [{ key_id, fingerprint }] = data;
    for (const name of [key_id, fingerprint, 'key_none'])
      for (const method of ['GET', 'DELETE'] as const) {
        const { status, body } = await ask(method, `${KEYS}/${name}`);
        expect([status, body.detail]).toEqual([
          404,
          `There is no API key ${name} in this organization: GET /api/v1/api-keys lists them.`,
        ]);
      }
    expect((await ask('GET', KEYS, undefined, other)).status).toBe(200);
    // A cursor of another organization is a place in the order, and shows nothing of it.
    const page = await ask('GET', `${KEYS}?cursor=${key_id}`);
    expect(page.body.data.map((row: { key_id: string }) => row.key_id)).not.toContain(key_id);
  });

  test('pages have each key once, newest first', async () => {
    const key = await keyOf('owner', undefined, 'paged');
    for (let made = 0; made < 6; made += 1) {
      world.now += 1000;
      await ask('POST', KEYS, { role: 'guest', name: `key ${made}` }, key);
    }
    const names: string[] = [];
    let cursor = '';
    for (;;) {
      const { data, meta } = (await ask('GET', `${KEYS}?limit=3${cursor}`, undefined, key)).body;
      names.push(...data.map(({ name }: { name: string }) => name));
      expect(meta.has_more).toBe(meta.next_cursor !== null);
      if (!meta.has_more) break;
      cursor = `&cursor=${meta.next_cursor}`;
    }
    expect(names).toEqual(['key 5', 'key 4', 'key 3', 'key 2', 'key 1', 'key 0', null]);
  });

  test('a key ends when it expires, and cannot be made expired', async () => {
    const { key } = (await ask('POST', KEYS, { role: 'owner', expires_at: world.now + 60_000 })).body;
    expect((await ask('GET', KEYS, undefined, key)).status).toBe(200);
    world.now += 60_000;
    expect((await ask('GET', KEYS, undefined, key)).status).toBe(401);
    const late = await ask('POST', KEYS, { role: 'owner', expires_at: world.now });
    expect([late.status, late.body.detail]).toEqual([400, 'The member expires_at must be in the future.']);
  });

  test.each([
    [{}, 'The member role is required: it must be owner or manager or member or guest or ingest or scim.'],
    [{ role: 'king' }, 'The member role must be owner or manager or member or guest or ingest or scim.'],
    [{ role: 'guest', name: 'x'.repeat(101) }, 'The member name must have at most 100 characters.'],
    [{ role: 'guest', name: 'two\nlines' }, 'The member name must have no control characters.'],
    [{ role: 'guest', user_id: 'x'.repeat(129) }, 'The member user_id must have at most 128 characters.'],
    [{ role: 'guest', user_email: 'ada' }, 'The member user_email must be an e-mail address.'],
    [{ role: 'guest', org_id: 'other' }, 'There is no member org_id'],
  ])('a body %j is refused', async (body, sentence) => {
    const { status, body: problem } = await ask('POST', KEYS, body);
    expect(status).toBe(400);
    expect(problem.detail).toContain(sentence);
  });

  test('an organization has a limited number of valid keys', async () => {
    const key = await keyOf('owner', undefined, 'many');
    const { store, now } = world;
    const guests = Array.from({ length: MOST_KEYS - 2 }, () => ({ orgId: 'many', role: 'guest' as const }));
    const [revoked] = await createKeys(store, guests, now);
    await revokeKey(store, String(revoked?.key_id), now);
    expect((await ask('POST', KEYS, { role: 'guest' }, key)).status).toBe(201);
    const { key_id } = (await ask('POST', KEYS, { role: 'guest' }, key)).body;
    const { status, body } = await ask('POST', KEYS, { role: 'guest' }, key);
    expect([status, body.detail]).toEqual([
      409,
      `The organization has ${MOST_KEYS} valid API keys: revoke those that are not used.`,
    ]);
    await ask('DELETE', `${KEYS}/${key_id}`, undefined, key);
    expect((await ask('POST', KEYS, { role: 'guest' }, key)).status).toBe(201);
  });
});

test.each(Role.options.filter((role) => role !== 'owner'))(
  'a %s manages no keys and no sessions',
  async (role) => {
    const key = await keyOf(role, 'grace');
    const { data } = (await ask('GET', KEYS)).body;
    for (const [method, url, body] of [
      ['GET', KEYS],
      ['POST', KEYS, { role: 'owner' }],
      ['GET', `${KEYS}/${data[0].key_id}`],
      ['DELETE', `${KEYS}/${data[0].key_id}`],
      ['DELETE', SESSIONS],
    ] as const) {
      const answer = await ask(method, url, body, key);
      expect([answer.status, answer.body.detail]).toEqual([
        403,
        expect.stringContaining('use a credential of role owner.'),
      ]);
    }
  },
);

test('an owner may do whatever any other role may, so no key can do more than the one who made it', () => {
  for (const action of Object.keys(ACTIONS) as Action[])
    for (const role of Role.options) if (may(role, action)) expect(may('owner', action), action).toBe(true);
});

describe('from a browser', () => {
  /** A browser that is signed in. */
  async function signIn(body: object, of = app) {
    const answer = await of.inject({ method: 'POST', url: '/sign-in', headers: OWN, payload: body });
    expect(answer.statusCode).toBe(204);
    return { daybook_session: answer.cookies[0]?.value ?? '' };
  }
  const statusOf = async (cookies: Record<string, string>, of = app) =>
    (await of.inject({ url: CALLER, cookies })).statusCode;
  const linkOf = () =>
    signInLink(world.store, new SecretKey(world.config), world.clock, {
      orgId: 'acme',
      url: 'http://x',
    }).split('#token=')[1];

  test("another site's page can neither make nor revoke a key, nor sign anybody out", async () => {
    const cookies = await signIn({ key: owner });
    const { data } = (await ask('GET', KEYS)).body;
    for (const headers of [
      { ...OWN, origin: 'https://evil.example' },
      { ...OWN, origin: 'null' },
      { host: 'localhost' },
    ])
      for (const request of [
        { method: 'POST', url: KEYS, payload: { role: 'owner' } },
        { method: 'DELETE', url: `${KEYS}/${data[0].key_id}` },
        { method: 'DELETE', url: SESSIONS },
      ] as const)
        expect((await app.inject({ ...request, cookies, headers })).statusCode).toBe(403);
    expect((await ask('GET', KEYS)).body.data).toEqual(data);
    const made = await app.inject({
      method: 'POST',
      url: KEYS,
      cookies,
      headers: OWN,
      payload: { role: 'guest' },
    });
    expect(made.statusCode).toBe(201);
  });

  test('revoking a key signs out the browsers that it signed in', async () => {
    const { key, key_id } = (await ask('POST', KEYS, { role: 'member', user_id: 'grace' })).body;
    const cookies = await signIn({ key });
    expect(await statusOf(cookies)).toBe(200);
    await ask('DELETE', `${KEYS}/${key_id}`);
    expect(await statusOf(cookies)).toBe(401);
  });

  test('all sessions of a user end, those of others do not, and a new one begins', async () => {
    const grace = await keyOf('member', 'grace');
    const ada = await signIn({ key: owner });
    const before = [await signIn({ key: grace }), await signIn({ key: grace })];
    const elsewhere = await signIn({ key: await keyOf('member', 'grace', 'other') });
    expect((await ask('DELETE', `${SESSIONS}?user_id=grace`)).status).toBe(204);
    for (const of of [app, buildApp(world)]) {
      for (const cookies of before) expect(await statusOf(cookies, of)).toBe(401);
      expect(await statusOf(ada, of)).toBe(200);
      expect(await statusOf(elsewhere, of)).toBe(200);
    }
    world.now += 1;
    expect(await statusOf(await signIn({ key: grace }))).toBe(200);
    await ask('DELETE', `${SESSIONS}?user_id=grace`);
    expect(await statusOf(await signIn({ key: owner }))).toBe(200);
  });

  test('all sessions of an organization end, also those that a link began', async () => {
    const before = [await signIn({ key: owner }), await signIn({ token: linkOf() })];
    const elsewhere = await signIn({ key: await keyOf('owner', undefined, 'other') });
    expect((await ask('DELETE', SESSIONS)).status).toBe(204);
    for (const cookies of before) expect(await statusOf(cookies)).toBe(401);
    expect(await statusOf(elsewhere)).toBe(200);
    // The key itself still works.
    expect((await ask('GET', KEYS)).status).toBe(200);
    world.now += 1;
    expect(await statusOf(await signIn({ token: linkOf() }))).toBe(200);
  });
});

test('a key has the last day on which it was used, stored once a day', async () => {
  const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
  const app = buildApp(world);
  const made = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  await createKey(world.store, { orgId: 'acme', role: 'manager' }, world.now + 1);
  let writes = 0;
  const run = world.store.run.bind(world.store);
  world.store.run = (statements) => {
    writes += 1;
    return run(statements);
  };
  const use = () => app.inject({ url: '/api/v1/status', headers: { authorization: `Bearer ${made.key}` } });
  const days = async () => (await listKeys(world.store)).map(({ last_used_on }) => last_used_on);
  const today = new Date(world.now).toISOString().slice(0, 10);
  await use();
  expect(await days()).toEqual([null, null]);
  await saveKeyUses(world.store);
  expect(await days()).toEqual([today, null]);
  for (let again = 0; again < 3; again += 1) {
    await use();
    await saveKeyUses(world.store);
  }
  expect(writes).toBe(1);
  world.now += 86_400_000;
  await use();
  world.store.run = () => Promise.reject(new Error('the disk is full'));
  await expect(saveKeyUses(world.store)).rejects.toThrow('the disk is full');
  world.store.run = run;
  // What couldn't be stored is stored later, here when the service stops.
  await app.close();
  expect((await days())[0]).toBe(new Date(world.now).toISOString().slice(0, 10));
});

test('an organization is empty until it has a batch, and goes with its revoked keys', async () => {
  const world = await World.create();
  const { key_id } = await createKey(world.store, { orgId: 'typo', role: 'owner' }, world.now);
  await createKey(world.store, { orgId: 'expired', role: 'owner', expiresAt: world.now }, world.now);
  const sent = { event_id: 'e', type: 'user_message', timestamp: world.now, user_id: 'ada', session_id: 's' };
  await world.send([sent], { orgId: 'used' });
  const listed = async () =>
    (await listOrganizations(world.store, world.now)).map(({ created_at: _, ...one }) => one);
  expect(await listed()).toEqual([
    { org_id: 'expired', valid_keys: 0, is_empty: true },
    { org_id: 'typo', valid_keys: 1, is_empty: true },
    { org_id: 'used', valid_keys: 0, is_empty: false },
  ]);
  const remove = (orgId: string) => removeOrganization(world.store, orgId, world.now);
  await expect(remove('typo')).rejects.toThrow('still has valid keys');
  await expect(remove('used')).rejects.toThrow('has events');
  await revokeKey(world.store, key_id, world.now);
  await remove('typo');
  await remove('expired');
  expect((await listed()).map(({ org_id }) => org_id)).toEqual(['used']);
  expect(await listKeys(world.store)).toEqual([]);
});
