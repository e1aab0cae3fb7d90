import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { createKey, findKey, revokeKey, saveKeyUses } from '../src/api/api-keys.js';
import { protectionOf } from '../src/api/protection.js';
import { Controls } from '../src/controls/control-revisions.js';
import { SecretKey } from '../src/controls/secret-key.js';
import type { Day } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { buildApp } from '../src/service/app.js';
import { signInLink } from '../src/sign-in/tickets.js';
import { addDigests, claimDelivery, dueDeliveries, noteAttempt } from '../src/store/state/alert-log.js';
import { erasedIn, requireNotErased } from '../src/store/state/erased-names.js';
import { nameHash } from '../src/store/state/organization-secret.js';
import { type Person, peopleOf, userOf } from '../src/store/state/person.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { Nodes } from './nodes.js';
import { World } from './world.js';

const CALLER = '/api/v1/caller';
const DAY = '2026-06-01' as Day;
const OWN = { origin: 'http://localhost', host: 'localhost' };

/** Two nodes of one store. */
async function start() {
  const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
  const nodes = new Nodes(world.store);
  const [here, there] = [nodes.node(), nodes.node()];
  const [appHere, appThere] = [here, there].map((store) => buildApp({ ...world, store, clock: world.clock }));
  const keyOf = (role: 'owner' | 'scim' | 'member', userId?: string) =>
    createKey(here, { orgId: 'acme', role, userId }, world.now);
  const status = async (app: FastifyInstance | undefined, key: string) =>
    (await app?.inject({ url: CALLER, headers: { authorization: `Bearer ${key}` } }))?.statusCode;
  return { world, nodes, here, there, appHere, appThere, keyOf, status };
}

const person = (userId: string, aliases: readonly string[] = []): Person => ({
  ...{ userId, name: '', emails: [], aliases, memberships: [] },
});

/** A node itself knows at once, and another one as soon as it learns that a table has changed. */
describe('what a node changes holds on all of them', () => {
  test('a key that is made and revoked', async () => {
    const { nodes, here, appHere, appThere, keyOf, status, world } = await start();
    const first = await keyOf('member', 'ada');
    expect([await status(appHere, first.key), await status(appThere, first.key)]).toEqual([200, 200]);
    const second = await keyOf('member', 'grace');
    expect([await status(appHere, second.key), await status(appThere, second.key)]).toEqual([200, 401]);
    nodes.learn();
    expect(await status(appThere, second.key)).toBe(200);
    await revokeKey(here, first.key_id, world.now);
    expect(await status(appHere, first.key)).toBe(401);
    nodes.learn();
    expect(await status(appThere, first.key)).toBe(401);
  });

  test('a person whom the identity provider deactivates, and a key that goes with it', async () => {
    const { nodes, appHere, appThere, keyOf, status } = await start();
    const scim = await keyOf('scim');
    const ask = (method: 'POST' | 'PATCH', path: string, payload: object) =>
      appHere?.inject({
        ...{ method, url: `/scim/v2/Users${path}`, payload: JSON.stringify(payload) },
        headers: { authorization: `Bearer ${scim.key}`, 'content-type': 'application/scim+json' },
      });
    const made = await ask('POST', '', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ada',
    });
    expect(made?.statusCode).toBe(201);
    const { key } = await keyOf('member', 'ada');
    nodes.learn();
    expect([await status(appHere, key), await status(appThere, key)]).toEqual([200, 200]);
    const deactivated = await ask('PATCH', `/${made?.json().id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    });
    expect(deactivated?.statusCode).toBe(200);
    expect(await status(appHere, key)).toBe(401);
    nodes.learn();
    expect(await status(appThere, key)).toBe(401);
  });

  test('an alias, a mode of privacy, and allowed addresses', async () => {
    const { nodes, here, there, world, appHere, appThere, keyOf, status } = await start();
    const { key } = await keyOf('owner', 'boss');
    const caller = { orgId: 'acme', role: 'owner', userId: null, email: null, credential: 'x' } as const;
    const controls = new Controls(here, new SecretKey(world.config), world.clock);
    const facts = (store: typeof here, app: FastifyInstance | undefined) =>
      Promise.all([
        userOf(store, 'acme', 'ada-laptop'),
        protectionOf(store, caller, world.now).then((found) => found?.floor),
        status(app, key),
      ]);
    nodes.learn();
    const before = ['ada-laptop', undefined, 200];
    expect([await facts(here, appHere), await facts(there, appThere)]).toEqual([before, before]);
    await replacePeople(here, 'acme', () => [person('ada', ['ada-laptop'])], { author: 'boss' }, world.now);
    await changePrivacy(
      here,
      'acme',
      () => ({ mode: 'protected', smallestGroup: 7, auditors: [] }),
      'boss',
      1,
    );
    await controls.replace(
      'acme',
      { networkPolicy: { allowedIps: ['192.0.2.1'] } },
      { id: 'boss', email: '', name: '' },
    );
    const after = ['ada', 7, 403];
    expect([await facts(here, appHere), await facts(there, appThere)]).toEqual([after, before]);
    nodes.learn();
    expect(await facts(there, appThere)).toEqual(after);
  });

  test('a name that is refused, since its person was erased', async () => {
    const { nodes, here, there, world } = await start();
    expect(await erasedIn(there, 'acme')).toBeUndefined();
    const hashed = await nameHash(here, 'acme', 'erased', world.now);
    const sql = `INSERT INTO erased_names VALUES ('acme', '${hashed('ada').toString('hex')}')`;
    await here.run([{ sql }]);
    nodes.learn();
    await expect(requireNotErased(there, 'acme', ['ada'])).rejects.toThrow('was erased');
  });

  test('a browser that signs out', async () => {
    const { nodes, appHere, appThere, keyOf } = await start();
    const { key } = await keyOf('member', 'ada');
    nodes.learn();
    const signedIn = await appHere?.inject({
      method: 'POST',
      url: '/sign-in',
      headers: OWN,
      payload: { key },
    });
    const cookies = { daybook_session: signedIn?.cookies[0]?.value ?? '' };
    const seen = async () =>
      Promise.all(
        [appHere, appThere].map(async (app) => (await app?.inject({ url: CALLER, cookies }))?.statusCode),
      );
    expect(await seen()).toEqual([200, 200]);
    await appHere?.inject({ method: 'POST', url: '/sign-out', headers: OWN, cookies });
    expect(await seen()).toEqual([401, 200]);
    nodes.learn();
    expect(await seen()).toEqual([401, 401]);
  });
});

describe('two nodes at the same instant', () => {
  test('let a link sign in once', async () => {
    const { appHere, appThere, world, here } = await start();
    const link = signInLink(here, new SecretKey(world.config), world.clock, {
      orgId: 'acme',
      url: 'http://localhost',
    });
    const payload = { token: link.split('#token=')[1] };
    const answers = await Promise.all(
      [appHere, appThere, appHere, appThere].map((app) =>
        app?.inject({ method: 'POST', url: '/sign-in', headers: OWN, payload }),
      ),
    );
    expect(answers.map((answer) => answer?.statusCode).sort()).toEqual([204, 401, 401, 401]);
  });

  test('change people one after the other', async () => {
    const { here, there, world } = await start();
    const add = (store: typeof here, userId: string) =>
      replacePeople(store, 'acme', (before) => [...before, person(userId)], { author: 'boss' }, world.now);
    const made = await Promise.all([add(here, 'ada'), add(there, 'grace'), add(here, 'linus')]);
    expect(made.map(({ revision }) => revision)).toEqual([1, 2, 3]);
    const { people } = await peopleOf(world.store, 'acme');
    expect(people.map(({ userId }) => userId)).toEqual(['ada', 'grace', 'linus']);
  });

  test('make one secret of an organization', async () => {
    const { here, there, world } = await start();
    const hashes = await Promise.all([here, there].map((store) => nameHash(store, 'acme', 'vendor', 1)));
    expect(hashes[0]?.('ada')).toEqual(hashes[1]?.('ada'));
    expect(await world.store.select('SELECT count(*) AS secrets FROM organization_secrets')).toEqual([
      { secrets: 1 },
    ]);
  });

  test('send a message once, and again when the first one is gone', async () => {
    const { here, there, world, nodes } = await start();
    const wanted = [{ way: 'slack', team: '' }];
    await Promise.all([here, there].map((store) => addDigests(store, 'acme', DAY, wanted, world.now)));
    nodes.learn();
    const claim = async (now: number) => {
      const due = await dueDeliveries(world.store, now, 10);
      return Promise.all(
        [here, there].flatMap((store) =>
          due.map(({ orgId, deliveryId }) => claimDelivery(store, orgId, deliveryId, now)),
        ),
      );
    };
    expect((await claim(world.now)).sort()).toEqual([false, true]);
    expect(await claim(world.now + 60_000)).toEqual([]);
    expect((await claim(world.now + 300_000)).sort()).toEqual([false, true]);
    const [one] = await dueDeliveries(world.store, world.now + 600_000, 10);
    const taken = { state: 'delivered', attempts: 1, nextAt: world.now, answer: '' } as const;
    await noteAttempt(here, 'acme', String(one?.deliveryId), taken);
    expect(await claim(world.now + 900_000)).toEqual([]);
  });

  test('note the newest day of a use of a key', async () => {
    const { here, there, appHere, appThere, keyOf, status, world, nodes } = await start();
    const { key, key_id } = await keyOf('member', 'ada');
    nodes.learn();
    await status(appHere, key);
    const later = world.now + 24 * 3_600_000;
    const today = world.now;
    world.now = later;
    await status(appThere, key);
    await saveKeyUses(there);
    world.now = today;
    await saveKeyUses(here);
    expect((await findKey(world.store, key_id))?.last_used_on).toBe(
      new Date(later).toISOString().slice(0, 10),
    );
  });
});
