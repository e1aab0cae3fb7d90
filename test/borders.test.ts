import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ask, type Given } from './ask.js';
import { type Operation, okOf } from './reference.js';
import { Service } from './service.js';
import { ending, event } from './world.js';

/*
 * Every route of docs/openapi.json is asked as the document's examples ask it, so a new route is tested as soon as it is there: what another
 * organization and a colleague get of it, what caches keep of it, and what it costs the event loop.
 */
const atEnd = ending();

/** In everything of the organization acme, and in everything of its user carol. */
const ACME = 'acmemark';
const CAROL = 'carolmark';

let service: Service;
/** Keys of an owner of another organization, and of a member of acme. */
let stranger: string;
let bob: string;

beforeAll(async () => {
  service = await Service.start({}, atEnd);
  const { world } = service;
  const keyOf = async (orgId: string, role: Role, userId: string, name?: string) =>
    (await createKey(world.store, { orgId, role, userId, name }, world.now)).key;
  stranger = await keyOf('globex', 'owner', 'zoe');
  bob = await keyOf('acme', 'member', 'bob');
  const carol = `${CAROL}-${ACME}`;
  const key = await keyOf('acme', 'owner', carol, carol);
  // Of a day that the examples ask for.
  const of = {
    timestamp: '2026-06-03T10:00:00Z',
    user_id: carol,
    session_id: carol,
    repo: carol,
    agent: carol,
  };
  await world.send([
    event('1', { ...of, type: 'session_start', user_email: `${carol}@example.com` }),
    event('2', { ...of, client: carol }),
    event('3', { ...of, type: 'model_usage', model: carol, input_tokens: 5, output_tokens: 1 }),
    event('4', { ...of, type: 'tool_call', tool_name: `mcp__${carol}__ask`, mcp_server: carol }),
    event('5', { ...of, type: 'file_change', path: `x.${carol}`, operation: 'edit' }),
  ]);
  await world.send([event('1', { timestamp: of.timestamp, user_id: 'zoe' })], { orgId: 'globex' });
  await world.build();
  const send = (method: string, path: string, body: object) =>
    ask(service.url, path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const report = { c1: { numerator: 1, denominator: 1, level: 1, rationale: ACME } };
  const made = [
    await send('PUT', '/api/v0/organization/enterprise-controls', { settings: { commandAllowlist: [ACME] } }),
    await send('POST', '/api/organization/maturity-level-reports', {
      repoUrl: `https://git.example/${ACME}`,
      apps: {},
      report,
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([200, 201]);
});

const headersOf = (key: string) => ({ authorization: `Bearer ${key}` });
const named = (operation: Operation) => `${operation.method} ${operation.path}`;
const secured = () => service.operations.filter(({ isOpen }) => !isOpen);

/** An organization that protects people refuses what the other tests ask for. */
async function openAgain(): Promise<void> {
  const open = { mode: 'open', smallestGroup: 5, auditors: [] } as const;
  const { store, now } = service.world;
  for (const orgId of ['acme', 'globex']) await changePrivacy(store, orgId, () => open, 'root', now);
}

/** The answer of an operation in each form that it has. */
async function inEveryForm(operation: Operation, key: string): Promise<Given[]> {
  const forms = Object.keys(operation.responses[okOf(operation)]?.content ?? { '*/*': {} });
  const given = [];
  for (const accept of forms)
    given.push(await service.send(operation, { headers: { ...headersOf(key), accept } }));
  if (operation.operationId === 'putPrivacy') await openAgain();
  return given;
}

test('gives another organization nothing', async () => {
  let own = 0;
  for (const operation of secured()) {
    for (const { text } of await inEveryForm(operation, service.key)) own += text.includes(ACME) ? 1 : 0;
    for (const { status, text, headers } of await inEveryForm(operation, stranger)) {
      const context = `${named(operation)}: ${status} ${text.slice(0, 300)}`;
      expect(`${text} ${JSON.stringify(headers)}`.toLowerCase(), context).not.toContain(ACME);
      if (operation.path.includes('{')) expect(status, context).toBe(404);
    }
  }
  // It is there to be found.
  expect(own).toBeGreaterThan(25);
});

test('gives a member nothing of a colleague', async () => {
  for (const operation of secured()) {
    for (const { status, text, headers } of await inEveryForm(operation, bob)) {
      const context = `${named(operation)}: ${status} ${text.slice(0, 300)}`;
      expect(`${text} ${JSON.stringify(headers)}`.toLowerCase(), context).not.toContain(CAROL);
    }
  }
});

test('is kept by no cache, or asked for again by each caller', async () => {
  for (const operation of service.operations.filter(({ method }) => method === 'GET')) {
    const { headers } = await service.send(operation);
    const control = headers['cache-control'];
    if (headers.etag === undefined || control === 'no-store') {
      expect([named(operation), control]).toEqual([named(operation), 'no-store']);
      continue;
    }
    const again = (key: string) =>
      service.send(operation, { headers: { ...headersOf(key), 'if-none-match': String(headers.etag) } });
    expect([named(operation), (await again(service.key)).status]).toEqual([named(operation), 304]);
    if (operation.isOpen) continue;
    expect([named(operation), control, headers.vary]).toEqual([
      named(operation),
      'private, no-cache',
      expect.stringMatching(/^authorization, cookie, /),
    ]);
    for (const other of [stranger, await service.keyOf('owner')])
      expect([named(operation), (await again(other)).status]).toEqual([named(operation), 200]);
  }
});

/** Where Linux says for how many nanoseconds a process's first thread, which is that of its event loop, has had a processor. */
const THREAD = '/proc/self/schedstat';
const threadMs = () => Number(readFileSync(THREAD, 'utf8').split(' ')[0]) / 1e6;

/** How long the event loop worked for a request, in milliseconds of a processor, and what came of it. */
async function worked(send: () => Promise<Given>): Promise<{ ms: number; given: Given }> {
  // Anything that an earlier request left to do. Linux counts what a thread has had once it rests, so it rests before each look.
  await wait(5);
  const before = threadMs();
  const given = await send();
  await wait(5);
  return { ms: threadMs() - before, given };
}

test.runIf(existsSync(THREAD))(
  'keeps the event loop for as long as a few of the smallest requests, and one more for each kilobyte',
  async () => {
    const get = (path: string) => () => ask(service.url, path, { headers: { 'accept-encoding': 'gzip' } });
    const routes = [
      ...service.operations
        // A query of SQL has a process of its own, which has to be started.
        .filter(({ path }) => path !== '/api/v1/sql')
        .map((operation) => ({
          name: named(operation),
          send: () => service.send(operation, { headers: { 'accept-encoding': 'gzip' } }),
        })),
      // Those that are no part of the document: pages and their files.
      ...[...service.actions.keys()]
        .filter((name) => /^GET \/(docs|$|metrics|people$)/.test(name))
        .map((name) => ({ name, send: get(name.slice('GET '.length)) })),
    ];
    expect(routes.map(({ name }) => name)).toEqual(expect.arrayContaining(['GET /docs/yaml', 'GET /']));
    const smallest = get('/healthz');
    for (const { name, send } of routes) {
      // The first request may make what others use.
      await send();
      let isLittle = false;
      let [unit, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      // Both in turns, since the machine may do more beside them now than a minute ago. One round of each that nothing holds up is enough.
      for (let round = 0; round < 100 && !(isLittle && round >= 3); round += 1) {
        unit = Math.min(unit, (await worked(smallest)).ms);
        const { ms, given } = await worked(send);
        least = Math.min(least, ms);
        isLittle = least <= unit * (10 + Number(given.headers['content-length'] ?? 0) / 1024);
      }
      expect([name, isLittle]).toEqual([name, true]);
    }
  },
);
