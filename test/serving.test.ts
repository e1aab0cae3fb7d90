import { readdirSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { build } from '../src/aggregate/build-days.js';
import { Answered, Cache } from '../src/api/answer-cache.js';
import { ANSWERS, FAMILIES, GROUPS } from '../src/api/answer-names.js';
import { report } from '../src/api/answer-rows.js';
import { MeAnswer, TodayAnswer } from '../src/api/answer-schemas.js';
import { createKey } from '../src/api/api-keys.js';
import { Role } from '../src/api/roles.js';
import { type Day, dayOf } from '../src/day.js';
import { CANONICAL } from '../src/ingest/source.js';
import { buildApp } from '../src/service/app.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import type { ReadColumns, Store } from '../src/store/store.js';
import { databaseOf } from './clickhouse/engine.js';
import { RATE_CARD, sendAll } from './laws/law.js';
import { SEED } from './laws/settings.js';
import { instantOf } from './oracle/event.js';
import { NOW as OPEN_DAY_NOON, organization } from './oracle/generate.js';
import { playsSlow } from './slow.js';
import { NOW, organizations, storeName, temporaryFolder, World } from './world.js';

let number = 0;
function event(day: string, more: object = {}): object {
  number += 1;
  return {
    event_id: `e${number}`,
    type: 'model_usage',
    model: 'claude-opus-4-5',
    input_tokens: 100,
    output_tokens: number,
    timestamp: `${day}T09:00:00Z`,
    user_id: 'ada',
    session_id: 's1',
    ...more,
  };
}

interface Given {
  status: number;
  tag: string;
  headers: Record<string, unknown>;
  payload: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
  json: () => any;
}

type Get = (path: string, headers?: Record<string, string>) => Promise<Given>;

/** What asks an app with a key of its own. */
async function asker(
  world: World,
  app: FastifyInstance,
  wanted: { orgId?: string; role?: Role; userId?: string } = {},
): Promise<Get> {
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner', ...wanted }, world.now);
  return async (path, headers = {}) => {
    const answer = await app.inject({
      url: `/api/v1/analytics/${path}`,
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
    return {
      status: answer.statusCode,
      tag: String(answer.headers.etag),
      headers: answer.headers,
      payload: answer.rawPayload,
      json: () => answer.json(),
    };
  };
}

/** A store that counts how often rows of a table were read. */
function watched(store: Store, table: string): { store: Store; reads: () => number } {
  let reads = 0;
  const counting =
    (readColumns: ReadColumns): ReadColumns =>
    (sql, sources, parameters) => {
      for (const text of Object.values(sources))
        if (new RegExp(`\\b(FROM|JOIN) ${table}\\b`).test(text)) reads += 1;
      return readColumns(sql, sources, parameters);
    };
  const proxy = new Proxy(store, {
    get(target, name) {
      const snapshot: Store['snapshot'] = (read) =>
        target.snapshot((select, readColumns) => read(select, counting(readColumns)));
      if (name === 'snapshot') return snapshot;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { store: proxy, reads: () => reads };
}

const JUNE = 'startDate=2026-06-01&endDate=2026-06-10';

let shared: World;
let app: FastifyInstance;
const organizationWith = organizations((world) => {
  shared = world;
  app = buildApp(world);
});

describe('an entity tag', () => {
  const steady = organizationWith(event('2026-06-02'), event('2026-06-08'));
  test('stays until a day of the answer has other rows, and a client that has it gets a 304 without a body', async () => {
    const get = await asker(shared, app, { orgId: steady });
    for (const answer of ANSWERS) {
      for (const group of [undefined, ...GROUPS[answer]]) {
        const path = `${answer}?${JUNE}${group === undefined ? '' : `&group_by=${group}`}`;
        const { tag, headers } = await get(path);
        expect(tag).toMatch(/^W\/"[\w-]{60}"$/);
        expect(headers).toMatchObject({
          'cache-control': 'private, no-cache',
          vary: 'authorization, cookie, accept, accept-encoding',
        });
        for (const known of [tag, tag.slice(2), `"other", ${tag}`, `W/"other",${tag}`, '*']) {
          const again = await get(path, { 'if-none-match': known });
          expect(again.status).toBe(304);
          expect(again.payload).toHaveLength(0);
          expect(again.headers).toMatchObject({ etag: tag, 'cache-control': 'private, no-cache' });
          expect(again.headers.vary).toBe('authorization, cookie, accept, accept-encoding');
        }
        expect((await get(path, { 'if-none-match': 'W/"other"' })).status).toBe(200);
      }
    }
  });

  const late = organizationWith(event('2026-06-02'), event('2026-06-08'));
  test('is another after late events once their day is built again, not before, and not for days without them', async () => {
    const get = await asker(shared, app, { orgId: late });
    const before = await get(`tokens?${JUNE}`);
    const early = await get('tokens?startDate=2026-06-01&endDate=2026-06-07');
    shared.now += 60_000;
    await shared.send([event('2026-06-08')], { orgId: late });
    expect((await get(`tokens?${JUNE}`, { 'if-none-match': before.tag })).status).toBe(304);
    await shared.build();
    const after = await get(`tokens?${JUNE}`, { 'if-none-match': before.tag });
    expect(after.status).toBe(200);
    expect(after.json().data[6].input_tokens).toBe(200);
    expect(
      (
        await get('tokens?startDate=2026-06-01&endDate=2026-06-07', {
          'if-none-match': early.tag,
        })
      ).status,
    ).toBe(304);
  });

  const unchanged = organizationWith(event('2026-06-02'));
  test('is the same after a build that changes nothing, which data_refreshed_at tells all the same', async () => {
    const get = await asker(shared, app, { orgId: unchanged });
    const before = await get(`users?${JUNE}`);
    expect(before.json().meta.data_refreshed_at).toBe(new Date(NOW).toISOString());
    shared.now += 60_000;
    await build(shared.store, { all: true }, shared.clock);
    const after = await get(`users?${JUNE}`);
    expect(after.tag).toBe(before.tag);
    expect(after.json().data).toEqual(before.json().data);
    expect(after.json().meta.data_refreshed_at).toBe(new Date(shared.now).toISOString());
    expect((await get(`users?${JUNE}`, { 'if-none-match': before.tag })).status).toBe(304);
    expect((await get('users?startDate=2026-02-01&endDate=2026-02-02')).json().meta.data_refreshed_at).toBe(
      null,
    );
  });

  test('is another once a day of the range is built that was not', async () => {
    const world = await World.create();
    world.now = Date.parse('2026-06-09T12:00:00.000Z');
    await world.send([event('2026-06-07'), event('2026-06-08')]);
    await build(world.store, { to: '2026-06-07' as Day }, world.clock);
    const get = await asker(world, buildApp(world));
    const path = 'tokens?startDate=2026-06-01&endDate=2026-06-08';
    const before = await get(path);
    expect(before.json().data).toHaveLength(1);
    await world.build();
    const after = await get(path, { 'if-none-match': before.tag });
    expect(after.json().data).toHaveLength(2);
    expect(after.tag).not.toBe(before.tag);
  });

  const renamed = organizationWith(event('2026-06-02', { user_email: 'ada@acme.example' }));
  test('is another once an e-mail has changed, where answers have e-mails', async () => {
    const get = await asker(shared, app, { orgId: renamed });
    const paths = ['tokens?', 'users?', 'tools?', 'tokens?group_by=model&'].map((path) => path + JUNE);
    const before = await Promise.all(paths.map((path) => get(path)));
    // Of the open day: no built day has a part in it.
    await shared.send([event('2026-07-10', { user_email: 'ada@lovelace.example' })], { orgId: renamed });
    const after = await Promise.all(
      paths.map((path, index) => get(path, { 'if-none-match': before[index]?.tag ?? '' })),
    );
    expect(after.map(({ status }) => status)).toEqual([200, 200, 304, 304]);
    expect(after[0]?.json().data[0].by_user[0].user_email).toBe('ada@lovelace.example');
    expect(after[1]?.json().data[0].user_email).toBe('ada@lovelace.example');
  });

  const faulty = organizationWith(event('2026-06-02'));
  test('of quality is another once anything has come for a day', async () => {
    const get = await asker(shared, app, { orgId: faulty });
    const before = await get(`quality?${JUNE}`);
    await shared.send([event('2026-06-02', { type: 'fly' })], { orgId: faulty });
    const after = await get(`quality?${JUNE}`, { 'if-none-match': before.tag });
    expect(after.json().data[0]).toMatchObject({ rejected: 1 });
  });

  const paged = organizationWith(event('2026-06-02'), event('2026-06-02', { user_id: 'grace' }));
  test('is one for each range, group and page', async () => {
    const get = await asker(shared, app, { orgId: paged });
    const tags = new Set<string>();
    const paths = [
      `tokens?${JUNE}`,
      `tokens?${JUNE}&group_by=model`,
      'tokens?startDate=2026-06-02&endDate=2026-06-10',
      `tools?${JUNE}`,
      `users?${JUNE}&limit=1`,
      `users?${JUNE}&limit=1&cursor=ada`,
      `users?${JUNE}&limit=2`,
    ];
    for (const path of paths) tags.add((await get(path)).tag);
    expect(tags.size).toBe(paths.length);
  });
});

describe('an answer that is kept', () => {
  const asked = organizationWith(event('2026-06-02'), event('2026-06-08'));
  test('is not read again, whatever comes in, until a day of it is built again', async () => {
    const { store, reads } = watched(shared.store, 'user_models');
    const get = await asker(shared, buildApp({ ...shared, clock: shared.clock, store }), { orgId: asked });
    const early = 'tokens?group_by=model&startDate=2026-06-01&endDate=2026-06-04';
    const late = 'tokens?group_by=model&startDate=2026-06-05&endDate=2026-06-10';
    for (let times = 0; times < 3; times += 1) for (const path of [early, late]) await get(path);
    expect(reads()).toBe(2);
    await shared.send([event('2026-06-08'), event('2026-07-10')], { orgId: asked });
    await get(early);
    await get(late);
    expect(reads()).toBe(2);
    shared.now += 1000;
    await shared.build();
    await get(early);
    expect(reads()).toBe(2);
    expect((await get(late)).json().data.map(({ input_tokens }: never) => input_tokens)).toEqual([200]);
    expect(reads()).toBe(3);
  });

  test('is read once for all who ask for it at the same time', async () => {
    const { store, reads } = watched(shared.store, 'user_models');
    const get = await asker(shared, buildApp({ ...shared, clock: shared.clock, store }), { orgId: asked });
    await get('tools?startDate=2026-06-01&endDate=2026-06-02');
    const path = `tokens?group_by=model&${JUNE}`;
    const all = await Promise.all(Array.from({ length: 20 }, () => get(path)));
    expect(new Set(all.map(({ payload }) => payload.toString())).size).toBe(1);
    expect(reads()).toBe(1);
  });

  const same = event('2026-06-02');
  const [one, other] = [organizationWith(same), organizationWith(same, event('2026-06-03'))];
  test('is no other organization’s, also where the users, days and tags are the same', async () => {
    const ours = await asker(shared, app, { orgId: one });
    const theirs = await asker(shared, app, { orgId: other });
    for (const path of [`tokens?${JUNE}`, `users?${JUNE}`]) {
      const { tag } = await ours(path);
      const given = await theirs(path, { 'if-none-match': tag });
      expect(given.status).toBe(200);
      expect(given.json().meta.org_id).toBe(other);
      expect(given.json().data).not.toEqual((await ours(path)).json().data);
    }
  });

  test('is not given to a role that may not have it', async () => {
    const { tag } = await (await asker(shared, app, { orgId: one }))(`users?${JUNE}`);
    const get = await asker(shared, app, { orgId: one, role: 'member', userId: 'ada' });
    for (const headers of [{}, { 'if-none-match': tag }, { 'if-none-match': '*' }])
      expect((await get(`users?${JUNE}`, headers as Record<string, string>)).status).toBe(403);
  });

  test.runIf(storeName() === 'ClickHouse')('gives way to what another process has built', async () => {
    const world = await World.create();
    await world.send([event('2026-06-02')]);
    await world.build();
    const get = await asker(world, buildApp(world));
    const before = await get(`tokens?${JUNE}`);
    const settings = { ...world.config, memoryMb: 256, now: world.now };
    const other = await ClickHouseStore.with(
      temporaryFolder(),
      settings,
      databaseOf(world.config.data, () => {}),
    );
    try {
      const path = world.file('late.ndjson', JSON.stringify(event('2026-06-02')));
      const file = { path, name: 'late.ndjson', orgId: 'acme', receivedAt: world.now };
      await other.settle({ source: CANONICAL, files: [file], settledAt: world.now });
      await build(other, {}, world.clock);
    } finally {
      await other.close();
    }
    const after = await get(`tokens?${JUNE}`, { 'if-none-match': before.tag });
    expect(after.status).toBe(200);
    expect(after.json().data[0].input_tokens).toBe(200);
  });
});

describe('the cache', () => {
  const answered = (bytes: number) => new Answered('tag', Buffer.alloc(bytes), 'state', '1');

  test('holds at most what it may, and lets go of what nobody has asked for the longest time', () => {
    const dropped: Answered[] = [];
    const cache = new Cache(100_000, (one) => dropped.push(one));
    const [first, second, third, large] = [30_000, 30_000, 30_000, 90_000].map(answered) as [
      Answered,
      Answered,
      Answered,
      Answered,
    ];
    cache.keep('1', first);
    cache.keep('2', second);
    cache.keep('3', third);
    expect(cache.get('1')).toBe(first);
    cache.keep('4', answered(20_000));
    expect([cache.get('1'), cache.get('2'), cache.get('3')]).toEqual([first, undefined, third]);
    expect(dropped).toEqual([second]);
    cache.keep('5', large);
    expect([cache.get('1'), cache.get('3'), cache.get('5')]).toEqual([undefined, undefined, large]);
    cache.keep('6', answered(200_000));
    expect(cache.get('6')).toBeUndefined();
    expect(cache.bytes).toBeLessThanOrEqual(100_000);
  });

  test('counts what is compressed, which is done once', async () => {
    const cache = new Cache(100_000, () => {});
    const one = new Answered('tag', Buffer.from('daybook '.repeat(5000)), 'state', '1');
    cache.keep('1', one);
    const before = cache.bytes;
    const plain = one.body as Buffer;
    const zip = () => one.encodings.of(plain, 'gzip');
    const [zipped, again] = await Promise.all([zip(), zip()]);
    expect(again).toBe(zipped);
    expect(cache.bytes).toBe(before + zipped.length);
    const full = new Cache(before, () => {});
    full.keep('1', one);
    expect(full.bytes).toBe(0);
  });
});

describe('compression', () => {
  const crowd = Array.from({ length: 40 }, (_, index) => event('2026-06-02', { user_id: `u${index}` }));
  const orgId = organizationWith(...crowd);
  test('is what the client takes, of answers that are worth it', async () => {
    const get = await asker(shared, app, { orgId });
    const path = `users?${JUNE}&limit=100`;
    const plain = (await get(path)).payload;
    for (const [accepted, encoding, unpack] of [
      ['gzip, deflate, br', 'gzip', gunzipSync],
      ['br', 'br', brotliDecompressSync],
      ['gzip;q=0.5, br', 'br', brotliDecompressSync],
      ['GZIP', 'gzip', gunzipSync],
    ] as const) {
      const { headers, payload } = await get(path, { 'accept-encoding': accepted });
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        vary: 'authorization, cookie, accept, accept-encoding',
      });
      expect(headers['content-length']).toBe(String(payload.length));
      expect(payload.length).toBeLessThan(plain.length / 4);
      expect(unpack(payload).equals(plain)).toBe(true);
    }
    for (const [other, accepted] of [
      [path, 'identity'],
      [path, 'gzip;q=0'],
      ['productivity?startDate=2026-02-01&endDate=2026-02-02', 'gzip'],
    ] as const) {
      const { headers, json } = await get(other, { 'accept-encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers.vary).toBe('authorization, cookie, accept, accept-encoding');
      expect(json()).toHaveProperty('data');
    }
  });
});

describe('a large answer', () => {
  const users = Array.from({ length: 2000 }, (_, index) => `user-${String(index).padStart(4, '0')}`);
  const days = ['2026-06-02', '2026-06-03'];
  const orgId = organizationWith(...days.flatMap((day) => users.map((user_id) => event(day, { user_id }))));
  test('goes through a file, says the same, and leaves nothing behind', async () => {
    const world = { ...shared, clock: shared.clock, config: { ...shared.config, cacheMb: 1 } };
    const { store, reads } = watched(world.store, 'user_models');
    const get = await asker(shared, buildApp({ ...world, store }), { orgId });
    const path = `tokens?${JUNE}`;
    const range = { orgId, from: '2026-06-01' as Day, to: '2026-06-10' as Day };
    const { data } = await report(world.store, 'tokens', range);
    const [first, second] = await Promise.all([get(path), get(path, { 'accept-encoding': 'gzip' })]);
    expect(first.payload.length).toBeGreaterThan(500_000);
    expect(first.headers['content-length']).toBe(String(first.payload.length));
    expect(JSON.stringify(first.json().data)).toBe(JSON.stringify(data));
    expect(second.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(second.payload).equals(first.payload)).toBe(true);
    const before = reads();
    expect((await get(path, { 'if-none-match': first.tag })).status).toBe(304);
    expect(reads()).toBe(before);
    expect(readdirSync(world.config.data).filter((name) => name.startsWith('answer-'))).toEqual([]);
  });
});

describe('/me', () => {
  const orgId = organizationWith(
    event('2026-06-02'),
    event('2026-06-04', { type: 'file_change', path: 'a.ts', operation: 'create' }),
    event('2026-06-02', { user_id: 'grace' }),
  );
  const rival = organizationWith(event('2026-06-03', { user_id: 'ada' }));
  test('has the caller’s own rows of /users, for whoever may', async () => {
    const users = await (await asker(shared, app, { orgId }))(`users?${JUNE}`);
    const own = users.json().data.filter(({ user_id }: { user_id: string }) => user_id === 'ada');
    for (const role of Role.options) {
      const get = await asker(shared, app, { orgId, role, userId: 'ada' });
      const { status, json } = await get(`me?${JUNE}`);
      if (role === 'guest' || role === 'ingest' || role === 'scim') {
        expect(status).toBe(403);
        continue;
      }
      expect(MeAnswer.safeParse(json()).error).toBeUndefined();
      expect(json().data).toEqual(own);
      expect(json().meta).toEqual({
        org_id: orgId,
        start_date: '2026-06-01',
        end_date: '2026-06-10',
        data_refreshed_at: users.json().meta.data_refreshed_at,
      });
    }
    expect(own).toHaveLength(2);
    const theirs = await asker(shared, app, { orgId: rival, role: 'member', userId: 'ada' });
    expect((await theirs(`me?${JUNE}`)).json().data.map(({ date }: never) => date)).toEqual(['2026-06-03']);
    const grace = await asker(shared, app, { orgId, role: 'member', userId: 'grace' });
    const { tag } = await (await asker(shared, app, { orgId, role: 'member', userId: 'ada' }))(`me?${JUNE}`);
    const hers = await grace(`me?${JUNE}`, { 'if-none-match': tag });
    expect(hers.json().data.map(({ user_id }: never) => user_id)).toEqual(['grace']);
    const nobody = await asker(shared, app, { orgId, role: 'member', userId: 'nobody' });
    expect((await nobody(`me?${JUNE}`)).json().data).toEqual([]);
  });

  test('is refused with a sentence to a credential of no user, and for a range that is none', async () => {
    const get = await asker(shared, app, { orgId, role: 'member' });
    const { status, json } = await get(`me?${JUNE}`);
    expect(status).toBe(403);
    expect(json().detail).toMatch(/keys create --user/);
    const ada = await asker(shared, app, { orgId, role: 'member', userId: 'ada' });
    for (const query of [
      'startDate=2026-06-03&endDate=2026-06-02',
      'startDate=2026-06-03&endDate=2026-07-10',
      `${JUNE}&limit=3`,
      'startDate=2026-06-03',
    ])
      expect((await ada(`me?${query}`)).status).toBe(400);
  });
});

describe('/today', () => {
  test('is for managers and owners, and takes no parameters', async () => {
    const world = await World.create();
    const app = buildApp(world);
    for (const role of Role.options) {
      const get = await asker(world, app, { role, userId: 'ada' });
      expect((await get('today')).status).toBe(role === 'owner' || role === 'manager' ? 200 : 403);
    }
    expect((await (await asker(world, app))('today?startDate=2026-07-10')).status).toBe(400);
  });

  test('counts the open day so far, of the caller’s organization, and stores nothing of it', async () => {
    const world = await World.create();
    const today = dayOf(world.now);
    await world.send([event('2026-07-08'), event(today)]);
    await world.send([event(today), event(today, { user_id: 'grace' })], { orgId: 'rival' });
    await world.build();
    const rowsOf = async () =>
      Promise.all(
        [...BUILT_TABLES, 'days', 'digests', 'touches', 'restatements'].map((table) =>
          world.store.select(`SELECT count(*) AS rows FROM ${table} WHERE day <> DATE '1970-01-01'`),
        ),
      );
    const before = await rowsOf();
    const app = buildApp(world);
    const get = await asker(world, app);
    const first = await get('today');
    expect(TodayAnswer.safeParse(first.json()).error).toBeUndefined();
    expect(first.json().meta).toEqual({
      org_id: 'acme',
      start_date: today,
      end_date: today,
      final: false,
      counted_at: new Date(world.now).toISOString(),
    });
    expect(first.json().data).toMatchObject({
      tokens: { date: today, input_tokens: 100, by_user: [{ user_id: 'ada' }] },
      activity: { daily_active_users: 1, weekly_active_users: 1, sessions: 0 },
      users: [{ user_id: 'ada', date: today }],
      summary: { sessions: 0, input_tokens: 100 },
    });
    expect(first.json().data.summary.cost_usd).toBeGreaterThan(0);
    const theirs = await asker(world, app, { orgId: 'rival' });
    expect((await theirs('today', { 'if-none-match': first.tag })).json().data.users).toHaveLength(2);
    expect(await rowsOf()).toEqual(before);
    expect((await get(`tokens?startDate=2026-07-01&endDate=2026-07-09`)).json().data).toHaveLength(2);
    expect((await get('today', { 'if-none-match': first.tag })).status).toBe(304);
  });

  test('is counted again when events were settled, but not more often than every ten seconds', async () => {
    const world = await World.create();
    const today = dayOf(world.now);
    await world.send([event(today)]);
    const get = await asker(world, buildApp(world));
    const count = async () => (await get('today')).json().data.tokens.input_tokens;
    expect(await count()).toBe(100);
    world.now += 60_000;
    const { meta } = (await get('today')).json();
    expect(meta.counted_at).toBe(new Date(world.now - 60_000).toISOString());
    await world.send([event(today)]);
    expect(await count()).toBe(200);
    await world.send([event(today)]);
    world.now += 9_999;
    expect(await count()).toBe(200);
    world.now += 1;
    expect(await count()).toBe(300);
    // A clock that is set back makes nobody wait for it to come by again.
    await world.send([event(today)]);
    world.now -= 3_600_000;
    expect(await count()).toBe(400);
    world.now += 3_600_000;
    // Midnight: what was open is over, and the new day has nothing yet.
    world.now += 86_400_000;
    expect(await count()).toBe(0);
  });

  test('and a build are not in each other’s way', async () => {
    const world = await World.create();
    const today = dayOf(world.now);
    const app = buildApp(world);
    const gets = await Promise.all(['acme', 'rival'].map((orgId) => asker(world, app, { orgId })));
    for (const orgId of ['acme', 'rival'])
      await world.send([event('2026-07-01'), event('2026-07-08'), event(today)], { orgId });
    const [built, ...counted] = await Promise.all([world.build(), ...gets.map((get) => get('today'))]);
    expect(built).toHaveLength(18);
    expect(counted.map(({ json }) => json().data.tokens.input_tokens)).toEqual([100, 100]);
    for (const get of gets)
      expect((await get('tokens?startDate=2026-07-01&endDate=2026-07-09')).json().data).toHaveLength(9);
  });

  test('says what the build then writes for the day, when nothing more comes', async () => {
    const world = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD });
    world.now = OPEN_DAY_NOON;
    const today = dayOf(world.now);
    const organizations = fc
      .sample(organization, { seed: SEED, numRuns: 400 })
      .filter(
        (events) =>
          events.length > 10 && events.some(({ timestamp }) => dayOf(instantOf(timestamp)) === today),
      )
      .slice(0, playsSlow() && storeName() === 'DuckDB' ? 40 : 4);
    const orgIds = await sendAll(world, organizations);
    await world.build();
    const app = buildApp(world);
    const said = new Map<string, Record<string, unknown>>();
    for (const orgId of orgIds) {
      const { json } = await (await asker(world, app, { orgId }))('today');
      said.set(orgId, json().data);
    }
    world.now += 86_400_000;
    await world.build();
    let users = 0;
    for (const orgId of orgIds) {
      const built: Record<string, unknown> = {};
      for (const answer of [...FAMILIES, 'summary'] as const) {
        const { data } = await report(world.store, answer, { orgId, from: today, to: today, totals: {} });
        built[answer] = answer === 'users' ? data : data[0];
        if (answer === 'users') users += data.length;
      }
      expect(said.get(orgId), orgId).toEqual(built);
    }
    // Else there was nothing to compare.
    expect(users).toBeGreaterThan(orgIds.length / 2);
  });
});
