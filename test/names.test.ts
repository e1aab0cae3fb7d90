import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { Checkouts } from '../src/disk/git-remote.js';
import { buildApp } from '../src/service/app.js';
import { Arguments } from '../src/socket/commands.js';
import { ending, temporaryFolder, World } from './world.js';

const atEnd = ending();

let world: World;
let app: FastifyInstance;
let key: string;

beforeAll(async () => {
  world = await World.create({}, atEnd);
  app = buildApp(world);
  atEnd(() => app.close());
  key = (await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now)).key;
});

/** Control characters: a line feed, an escape, NUL, DEL, and the escape of one byte. */
const CONTROLS = ['\n', '\u001b[31m', '\0', '\u007f', '\u009b31m'];
const TOO_LATE = [9e15, Number.MAX_SAFE_INTEGER, Date.UTC(10_000, 0) + 1];

const report = (more: object) => ({
  repoUrl: 'https://github.com/acme/x',
  apps: {},
  report: {},
  ...more,
});

const KEYS = '/api/v1/api-keys';
const CONTROLS_ROUTE = '/api/v0/organization/enterprise-controls';
const REPORTS = '/api/organization/maturity-level-reports';
const COMPUTERS = '/api/v0/computers';

/** Where a name comes in, and which member of a body it is. */
const ENTRIES: [method: 'POST' | 'PUT', url: string, body: (text: string) => object, member: string][] = [
  ['POST', KEYS, (text) => ({ role: 'member', user_id: `ada${text}` }), 'user_id'],
  ['POST', KEYS, (text) => ({ role: 'member', name: `ci${text}` }), 'name'],
  ['POST', KEYS, (text) => ({ role: 'member', user_email: `ada${text}@acme.example` }), 'user_email'],
  ['POST', COMPUTERS, (text) => ({ name: 'box', remoteUser: `ada${text}` }), 'remoteUser'],
  ['POST', COMPUTERS, (text) => ({ name: 'box', remoteUser: 'a', repos: [`https://h/x${text}`] }), 'repos.0'],
  ['POST', COMPUTERS, (text) => ({ name: 'box', remoteUser: 'a', repos: [`git@h:x${text}`] }), 'repos.0'],
  ['POST', REPORTS, (text) => report({ repoUrl: `https://h/x${text}y` }), 'repoUrl'],
  ['POST', REPORTS, (text) => report({ branch: `main${text}` }), 'branch'],
  ['POST', REPORTS, (text) => report({ agentVersion: `1${text}` }), 'agentVersion'],
  [
    'POST',
    REPORTS,
    (text) => report({ modelUsed: { id: `m${text}`, reasoningEffort: 'off' } }),
    'modelUsed.id',
  ],
  [
    'PUT',
    CONTROLS_ROUTE,
    (text) => ({ settings: { byomComputersAllowedEmails: [`ada${text}@acme.example`] } }),
    'settings.byomComputersAllowedEmails.0',
  ],
  [
    'PUT',
    CONTROLS_ROUTE,
    (text) => ({ settings: { missionPolicy: { allowedUserIds: [`ada${text}`] } } }),
    'settings.missionPolicy.allowedUserIds.0',
  ],
  [
    'POST',
    '/api/v1/hooks',
    (text) => ({ hook_event_name: 'SessionStart', session_id: 's', user_id: `ada${text}` }),
    'user_id',
  ],
];

async function send(method: 'POST' | 'PUT', url: string, payload: object) {
  const answer = await app.inject({ method, url, payload, headers: { authorization: `Bearer ${key}` } });
  return { status: answer.statusCode, said: answer.body };
}

describe('a name with a control character', () => {
  test.each(ENTRIES)('is refused by %s %s', async (method, url, body, member) => {
    for (const text of CONTROLS) {
      const { status, said } = await send(method, url, body(text));
      expect(status, said).toBe(400);
      expect(said).toContain(`The member ${member} must `);
    }
    // It is the character that is refused.
    expect((await send(method, url, body(''))).status).not.toBe(400);
  });

  test('is refused by commands', () => {
    const wanted = { orgId: 'acme', role: 'member' };
    for (const text of CONTROLS) {
      expect(() => Arguments.createKey.parse({ ...wanted, userId: `ada${text}` })).toThrow('no control');
      expect(() => Arguments.createKey.parse({ ...wanted, email: `a${text}@b.example` })).toThrow('must');
      expect(() => Arguments.setControls.parse({ ...wanted, settings: {}, user: `ada${text}` })).toThrow();
    }
  });

  test('is no address of a checkout', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, '.git'));
    const write = (address: string) =>
      writeFileSync(join(folder, '.git', 'config'), `[remote "origin"]\n\turl =  ${address}\n`);
    write('https://git.acme.example/x.git');
    expect((await new Checkouts().of(folder))?.repo).toBe('https://git.acme.example/x.git');
    write('https://git.acme.example/\u001b[31mx.git');
    expect((await new Checkouts().of(folder))?.repo).toBeUndefined();
  });
});

test('a key that ends after the year 9999 is refused', async () => {
  for (const expires_at of TOO_LATE) {
    const { status, said } = await send('POST', KEYS, { role: 'member', expires_at });
    expect(status, said).toBe(400);
    expect(said).toContain('The member expires_at must be at most 253402300800000');
    expect(() =>
      Arguments.createKey.parse({ orgId: 'acme', role: 'member', expiresAt: expires_at }),
    ).toThrow();
  }
  expect((await send('POST', KEYS, { role: 'member', expires_at: Date.UTC(9999, 11, 31) })).status).toBe(201);
});

describe('a name that every object has', () => {
  const INHERITED = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'];
  const get = (url: string) => app.inject({ url, headers: { authorization: `Bearer ${key}` } });

  test('is a header like any other, which can come twice', async () => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    for (const name of INHERITED) {
      const headers = ['host', 'localhost', 'authorization', `Bearer ${key}`, name, 'one', name, 'two'];
      const [answer] = await once(request(`${address}/api/v1/caller`, { headers }).end(), 'response');
      answer.resume();
      expect(answer.statusCode, name).toBe(200);
    }
  });

  test('is no parameter, group or member that the service knows', async () => {
    for (const name of INHERITED) {
      for (const query of [
        `${name}=1`,
        `group_by=${name}`,
        `interval=${name}`,
        `sort=${name}`,
        `limit=${name}`,
      ]) {
        const answer = await get(`/api/v1/analytics/summary?from=2026-06-01&to=2026-06-02&${query}`);
        expect(answer.statusCode, `${query} ${answer.body}`).toBe(400);
        expect(answer.body, query).not.toMatch(/native code|\[object/);
      }
      const text = JSON.stringify({ event_id: 'e', timestamp: world.now, user_id: 'ada', session_id: 's' });
      const events = await app.inject({
        method: 'POST',
        url: '/api/v1/events',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
        payload: text.replace('{', `{"type":"${name}",`),
      });
      expect(events.json(), name).toMatchObject({ accepted: 0, rejected: 1 });
    }
  });

  test('can be a criterion of a repository, which has changed since it had none', async () => {
    const evaluation = { numerator: 1, denominator: 2, rationale: '', level: 1 };
    const criteria = INHERITED.filter((name) => !name.startsWith('_'));
    const repoUrl = 'https://github.com/acme/inherited';
    expect((await send('POST', REPORTS, report({ repoUrl }))).status).toBe(201);
    world.now += 1000;
    const sent = Object.fromEntries(criteria.map((name) => [name, evaluation]));
    expect((await send('POST', REPORTS, report({ repoUrl, report: sent }))).status).toBe(201);
    const { repositories } = (await get('/api/organization/repositories')).json();
    const found = repositories.find((one: { repoUrl: string }) => one.repoUrl === repoUrl);
    expect(found.change.criteria).toEqual(
      [...criteria].sort().map((id) => ({ id, before: null, after: { numerator: 1, denominator: 2 } })),
    );
  });
});
