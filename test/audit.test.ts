import { readdirSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { createKey, listKeys, revokeKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { MS_PER_DAY } from '../src/day.js';
import { callLocally } from '../src/mcp/local-tools.js';
import { buildApp } from '../src/service/app.js';
import { Shell } from '../src/sql/sql-shell.js';
import { removeOrganization } from '../src/store/organization.js';
import { logPath, writeLog } from '../src/store/state/access-log.js';
import { Service } from './service.js';
import { ending, event, NOW, storeName, World } from './world.js';

const AUDIT = '/api/v0/organization/audit';
const WEEK = 'startDate=2026-06-08&endDate=2026-06-14';
const ANALYTICS = '/api/v1/analytics';

const atEnd = ending();
let service: Service;
let world: World;
let app: FastifyInstance;
let made = 0;
beforeAll(async () => {
  service = await Service.start({ DAYBOOK_TRUST_PROXY: '127.0.0.1' }, atEnd);
  ({ world, app } = service);
});

/** An organization of one test, with credentials. */
async function newOrganization() {
  made += 1;
  const orgId = `org-${made}`;
  const keyOf = (role: Role, userId?: string) => createKey(world.store, { orgId, role, userId }, world.now);
  const owner = await keyOf('owner', 'root');
  const send = async (
    url: string,
    { key }: { key: string } = owner,
    { payload, headers = {} }: { payload?: object; headers?: Record<string, string> } = {},
  ) =>
    app.inject({
      method: payload === undefined ? 'GET' : 'POST',
      url,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
  const page = async (query = '') => {
    const { statusCode, body } = await send(`${AUDIT}${query}`);
    expect(statusCode, body).toBe(200);
    return JSON.parse(body);
  };
  /** What was read, oldest first, without the reads of the audit. */
  const reads = async () =>
    (await page('?limit=100')).reads.filter(({ path }: { path: string }) => path !== AUDIT).reverse();
  return { orgId, keyOf, owner, send, page, reads };
}

describe('an entry', () => {
  test('says who asked for which answer about whom, when and from where', async () => {
    const { keyOf, send, page } = await newOrganization();
    const manager = await keyOf('manager', 'grace');
    const from = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    expect((await send(`${ANALYTICS}/users?${WEEK}&user_id=ada`, manager, from)).statusCode).toBe(200);
    expect((await page()).reads).toEqual([
      {
        askedAt: new Date(world.now).toISOString(),
        fingerprint: manager.fingerprint,
        userId: 'grace',
        address: '198.51.100.7',
        path: `${ANALYTICS}/users`,
        scope: 'user',
        about: 'ada',
        sql: null,
        status: 200,
      },
    ]);
  });

  test('is about the users that the request names, else about everyone or totals, as the answer has them', async () => {
    const { send, reads } = await newOrganization();
    const asked = [
      ['users', '', ['everyone']],
      ['users', '&user_id=ada&user_id=grace', ['ada', 'grace']],
      ['coverage', '', ['everyone']],
      ['summary', '', ['totals']],
      ['summary', '&group_by=model', ['totals']],
      ['summary', '&group_by=user', ['everyone']],
      ['summary', '&group_by=user&group_keys=%5B%22ken%22%5D', ['ken']],
      ['summary', '&group_by=model&group_keys=%5B%22ken%22%5D', ['totals']],
      ['summary', '&group_by=model&user_id=ada', ['ada']],
      ['costs', '&group_by=user', ['everyone']],
      ['tokens', '', ['everyone']],
      ['tokens', '&group_by=model', ['totals']],
      ['activity', '', ['totals']],
      ['quality', '', ['totals']],
    ] as const;
    for (const [answer, query] of asked)
      expect((await send(`${ANALYTICS}/${answer}?${WEEK}${query}`)).statusCode).toBe(200);
    expect(
      (await reads()).map(({ path, about, scope }: Record<string, unknown>) => [path, about ?? scope]),
    ).toEqual(asked.flatMap(([answer, , about]) => about.map((one) => [`${ANALYTICS}/${answer}`, one])));
  });

  test('of a member is about the own user, and a refusal is one of whom was asked about', async () => {
    const { keyOf, send, reads } = await newOrganization();
    const [member, guest] = [await keyOf('member', 'ada'), await keyOf('guest')];
    await send(`${ANALYTICS}/summary?${WEEK}`, member);
    await send(`${ANALYTICS}/me?${WEEK}`, member);
    await send(`${ANALYTICS}/summary?${WEEK}&user_id=grace`, member);
    await send(`${ANALYTICS}/users?${WEEK}&user_id=grace`, guest);
    await send('/api/v1/sql', guest, { payload: { sql: 'SELECT * FROM users' } });
    expect(
      (await reads()).map(({ userId, scope, about, status }: Record<string, unknown>) => [
        ...[userId, scope, about, status],
      ]),
    ).toEqual([
      ['ada', 'user', 'ada', 200],
      ['ada', 'user', 'ada', 200],
      ['ada', 'user', 'grace', 403],
      [null, 'user', 'grace', 403],
      [null, 'everyone', null, 403],
    ]);
  });

  test('is there for an answer from the cache and for one that the client has', async () => {
    const { send, reads } = await newOrganization();
    const { headers } = await send(`${ANALYTICS}/users?${WEEK}`);
    await send(`${ANALYTICS}/users?${WEEK}`);
    await send(`${ANALYTICS}/users?${WEEK}`, undefined, {
      headers: { 'if-none-match': String(headers.etag) },
    });
    expect((await reads()).map(({ status }: { status: number }) => status)).toEqual([200, 200, 304]);
  });

  test('is not there for what tells nothing of anybody', async () => {
    const { send, reads } = await newOrganization();
    await send(`${ANALYTICS}/users?${WEEK}&limit=wrong`);
    expect((await send(`${ANALYTICS}/users?${WEEK}`, { key: 'dbk_wrong' })).statusCode).toBe(401);
    for (const path of ['/api/v1/caller', '/api/v1/sql/tables', '/api/v0/organization/enterprise-controls'])
      await send(path);
    expect(await reads()).toEqual([]);
  });

  test('of SQL has the digest of the statement and the tables that it names', async () => {
    const key = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
    const sent = [];
    for (const sql of ['SELECT count(*) AS n FROM Users', 'SELECT day FROM activity', 'SELECT 1 AS one'])
      sent.push(
        (
          await fetch(`${service.url}/api/v1/sql`, {
            method: 'POST',
            headers: key,
            body: JSON.stringify({ sql }),
          })
        ).status,
      );
    expect(sent).toEqual([200, 200, 200]);
    const answer = await fetch(`${service.url}${AUDIT}?limit=3`, { headers: key });
    const { reads } = (await answer.json()) as { reads: Record<string, unknown>[] };
    expect(reads.map(({ path, scope, sql }) => [path, scope, sql]).reverse()).toEqual([
      ['/api/v1/sql', 'everyone', { digest: expect.stringMatching(/^[0-9a-f]{12}$/), tables: ['users'] }],
      ['/api/v1/sql', 'totals', { digest: expect.stringMatching(/^[0-9a-f]{12}$/), tables: ['activity'] }],
      ['/api/v1/sql', 'totals', { digest: expect.stringMatching(/^[0-9a-f]{12}$/), tables: [] }],
    ]);
  });

  test('of a tool of MCP has the address of its client, and of a tool on the machine itself none of a key', async () => {
    const { orgId, owner, send, reads } = await newOrganization();
    const args = { startDate: '2026-06-08', endDate: '2026-06-14' };
    const message = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'report', arguments: { answer: 'users', ...args } },
    };
    const { statusCode, body } = await send('/mcp', owner, {
      payload: message,
      headers: {
        accept: 'application/json, text/event-stream',
        'x-forwarded-for': '198.51.100.9',
        'mcp-protocol-version': '2025-06-18',
      },
    });
    expect(statusCode, body).toBe(200);
    const called = { orgId, name: 'report', args: { answer: 'users', ...args } };
    await callLocally({ ...world, clock: world.clock, app }, called, new AbortController().signal);
    expect(
      (await reads()).map(({ fingerprint, address, path }: Record<string, unknown>) => [
        ...[fingerprint, address, path],
      ]),
    ).toEqual([
      [owner.fingerprint, '198.51.100.9', `${ANALYTICS}/users`],
      ['local', '127.0.0.1', `${ANALYTICS}/users`],
    ]);
  });

  test.runIf(storeName() === 'DuckDB')('is there for every route whose answer names users', async () => {
    const naming = service.operations.filter(
      ({ isOpen, method, responses }) =>
        !isOpen && method === 'GET' && /"(user_id|userId|ownerId)"/.test(JSON.stringify(responses['200'])),
    );
    expect(naming.length).toBeGreaterThan(10);
    const key = { headers: { authorization: `Bearer ${service.key}` } };
    for (const operation of naming) {
      world.now += 60_000;
      const { status, text: told } = await service.send(operation);
      expect(status, `${operation.path}: ${told}`).toBe(200);
      const from = new Date(world.now).toISOString();
      const answer = await fetch(`${service.url}${AUDIT}?limit=20`, key);
      const { reads } = (await answer.json()) as { reads: { path: string; askedAt: string }[] };
      const paths = reads.filter(({ askedAt }) => askedAt >= from).map(({ path }) => path);
      // Whoever asks is told who they are, and nothing of anybody else.
      const isOwn = /^\/api\/v1\/(caller|events\/sender)$/.test(operation.path);
      const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      expect(paths.includes(route), operation.path).toBe(!isOwn);
    }
  });
});

describe('the audit', () => {
  afterEach(() => {
    world.now = NOW;
  });

  test('is for owners, of their organization alone', async () => {
    const one = await newOrganization();
    const other = await newOrganization();
    await one.send(`${ANALYTICS}/users?${WEEK}`);
    expect(await other.reads()).toEqual([]);
    for (const role of ['manager', 'member', 'guest', 'ingest'] as const)
      expect((await one.send(AUDIT, await one.keyOf(role, 'x'))).statusCode).toBe(403);
    // The audit names people too.
    const { reads } = await one.page(`?userId=x`);
    expect(reads.map(({ path, status }: Record<string, unknown>) => [path, status])).toEqual(
      Array(4).fill([AUDIT, 403]),
    );
  });

  test('comes in pages, the newest first, each entry once', async () => {
    const { send, page } = await newOrganization();
    const names = Array.from({ length: 7 }, (_, index) => `user-${index}`);
    // Several of one instant, and several of one request.
    for (const name of names.slice(0, 4)) await send(`${ANALYTICS}/users?${WEEK}&user_id=${name}`);
    await send(
      `${ANALYTICS}/users?${WEEK}&${names
        .slice(4)
        .map((name) => `user_id=${name}`)
        .join('&')}`,
    );
    const found: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages += 1) {
      const { reads, pagination } = await page(`?limit=2&scope=user&from=2026-07-10${cursor}`);
      found.push(...reads.map(({ about }: { about: string }) => about));
      if (!pagination.hasMore) break;
      cursor = `&cursor=${pagination.nextCursor}`;
    }
    expect(found).toEqual(names.reverse());
  });

  test('is filtered by who was asked about, by who asked, and by days', async () => {
    const { keyOf, send, page } = await newOrganization();
    const [grace, ken] = [await keyOf('manager', 'grace'), await keyOf('manager', 'ken')];
    await send(`${ANALYTICS}/users?${WEEK}&user_id=ada`, grace);
    world.now += MS_PER_DAY;
    await send(`${ANALYTICS}/users?${WEEK}&user_id=ada`, ken);
    await send(`${ANALYTICS}/users?${WEEK}&user_id=O'Hara\\`, ken);
    await send(`${ANALYTICS}/users?${WEEK}`, ken);
    const found = async (query: string) =>
      (await page(query)).reads.map(({ userId, about }: Record<string, unknown>) => [userId, about]);
    expect(await found('?about=ada')).toEqual([
      ['ken', 'ada'],
      ['grace', 'ada'],
    ]);
    expect(await found(`?about=${encodeURIComponent("O'Hara\\")}`)).toEqual([['ken', "O'Hara\\"]]);
    expect(await found('?scope=everyone&userId=ken')).toEqual([['ken', null]]);
    expect(await found(`?fingerprint=${grace.fingerprint}`)).toEqual([['grace', 'ada']]);
    expect(await found('?userId=grace&userId=ken&to=2026-07-10')).toEqual([['grace', 'ada']]);
    expect(await found('?userId=grace&userId=ken&from=2026-07-11&about=ada')).toEqual([['ken', 'ada']]);
  });

  test('is kept for 90 days, which the nightly build sees to', async () => {
    const { send, reads } = await newOrganization();
    await send(`${ANALYTICS}/users?${WEEK}&user_id=old`);
    world.now += MS_PER_DAY;
    await send(`${ANALYTICS}/users?${WEEK}&user_id=new`);
    const about = async () => (await reads()).map((read: { about: string }) => read.about);
    expect(await about()).toEqual(['old', 'new']);
    for (const days of [45, 43]) {
      world.now += days * MS_PER_DAY;
      // Without a run lately the clock could be wrong.
      await runBuild(world.store, 'nightly', { to: '2026-06-01' as never }, world.clock);
      world.now += MS_PER_DAY / 2 + 1;
    }
    await (await runBuild(world.store, 'nightly', {}, world.clock)).finished;
    expect(await about()).toEqual(['new']);
  });

  test('goes with its organization', async () => {
    const { orgId, send, page } = await newOrganization();
    await send(`${ANALYTICS}/users?${WEEK}`);
    await page();
    const entries = () =>
      world.store.select('SELECT 1 AS entry FROM access_log WHERE org_id = $org_id', { org_id: orgId });
    expect(await entries()).toHaveLength(1);
    for (const { key_id } of await listKeys(world.store, orgId))
      await revokeKey(world.store, key_id, world.now);
    await removeOrganization(world.store, orgId, world.now);
    expect(await entries()).toEqual([]);
  });
});

describe('writing', () => {
  const of = (store: World['store'], append: World['store']['append']) =>
    new Proxy(store, {
      get: (target, name) => {
        const member = name === 'append' ? append : Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });

  test('takes one statement for many requests, also at the end, and leaves answers in the cache', async () => {
    // However long the requests take, the time at which entries are written doesn't come.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const own = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
    const { key } = await createKey(own.store, { orgId: 'acme', role: 'owner' }, own.now);
    let statements = 0;
    const store = of(own.store, (sql) => {
      statements += 1;
      return own.store.append(sql);
    });
    const served = buildApp({ ...own, store, clock: own.clock });
    const revision = await own.store.revision();
    for (let request = 0; request < 20; request += 1)
      await served.inject({ url: `${ANALYTICS}/users?${WEEK}`, headers: { authorization: `Bearer ${key}` } });
    expect(statements).toBe(0);
    await served.close();
    expect(statements).toBe(1);
    // Noting that the key was used is a write. In PostgreSQL no answer depends on it.
    const written = storeName() === 'PostgreSQL' ? 0 : 1;
    expect(await own.store.revision()).toBe(
      revision.replace(/\d+$/, (writes) => String(Number(writes) + written)),
    );
    const [row] = await own.store.select('SELECT count(*) AS entries FROM access_log');
    expect(Number(row?.entries)).toBe(20);
  });

  test('that fails is tried again', async () => {
    const own = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
    const { key } = await createKey(own.store, { orgId: 'acme', role: 'owner' }, own.now);
    let isBroken = true;
    const store = of(own.store, (sql) =>
      isBroken ? Promise.reject(new Error('no room')) : own.store.append(sql),
    );
    const served = buildApp({ ...own, store, clock: own.clock });
    onTestFinished(() => served.close());
    const ask = (url: string) => served.inject({ url, headers: { authorization: `Bearer ${key}` } });
    await ask(`${ANALYTICS}/users?${WEEK}`);
    expect((await ask(AUDIT)).statusCode).toBe(500);
    isBroken = false;
    expect(JSON.parse((await ask(AUDIT)).body).reads.map(({ path }: { path: string }) => path)).toEqual([
      `${ANALYTICS}/users`,
    ]);
  });
});

test('daybook sql has the table access_log, of one organization if one is named', async () => {
  const [one, other] = [await newOrganization(), await newOrganization()];
  for (const { send, page } of [one, other]) {
    await send(`${ANALYTICS}/users?${WEEK}&user_id=ada`);
    await page();
  }
  await world.send([event('in-the-lake')]);
  const rows = async (orgId?: string) => {
    const out = new PassThrough();
    const path = logPath(world.config.data, 'ab'.repeat(16));
    const shell = await Shell.open(world.config, { orgId, format: 'json', isWriting: false }, out, {
      path,
      write: () => writeLog(world.store, path, orgId),
    });
    const given = `('${one.orgId}', '${other.orgId}')`;
    await shell.run(
      `SELECT org_id, about, CAST(asked_at AS VARCHAR) AS at FROM Access_Log WHERE about = 'ada' AND org_id IN ${given} ORDER BY ALL`,
    );
    await shell.run('SELECT 1 AS one FROM access_log LIMIT 0');
    out.end();
    const [first = ''] = (await text(out)).split('[]');
    return JSON.parse(first);
  };
  const row = ({ orgId }: { orgId: string }) => ({ org_id: orgId, about: 'ada', at: '2026-07-10 12:00:00' });
  expect(await rows()).toEqual([row(one), row(other)]);
  expect(readdirSync(world.config.data).filter((name) => name.startsWith('rows-'))).toEqual([]);
});
