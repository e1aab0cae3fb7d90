import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { ANSWERS, GROUPS } from '../src/api/answer-names.js';
import { report } from '../src/api/answer-rows.js';
import { Answers } from '../src/api/answer-schemas.js';
import { createKey, revokeKey } from '../src/api/api-keys.js';
import { Role } from '../src/api/roles.js';
import type { Day } from '../src/day.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { buildApp } from '../src/service/app.js';
import { type Context, runCommand } from '../src/socket/commands.js';
import { type AtEnd, ending, event, World } from './world.js';

const atEnd = ending();

const DAYS = 'startDate=2026-01-28&endDate=2026-04-19';

/** One is as long as may be, in characters of four bytes, and the last of a page. */
const PEOPLE = [
  'ada',
  'barbara',
  'grace',
  'katherine',
  'linus',
  'margaret',
  '2026-06-01',
  'Ö',
  '😀'.repeat(128),
  '🙂',
];

/** The sample behind the API, with a key of each role, and another organization of some people. */
async function sampleApp(atEnd: AtEnd): Promise<{
  world: World;
  app: FastifyInstance;
  get: (
    path: string,
    role?: Role,
  ) => Promise<{ status: number; headers: Record<string, unknown>; body: Record<string, unknown> }>;
}> {
  const world = await World.create({}, atEnd);
  for (const user of ['entireio-cli', 'claude-code-log']) {
    await world.ingest([join(PACKAGE_ROOT, 'data', 'sample', user)], { source: CLAUDE_CODE, userId: user });
  }
  const crowd = PEOPLE.flatMap((user_id, index) =>
    ['2026-06-10', '2026-06-11'].map((day) => ({
      event_id: `${user_id}-${day}`,
      type: 'user_message',
      timestamp: `${day}T0${index}:00:00Z`,
      user_id,
      session_id: 's',
    })),
  );
  await world.send(crowd, { orgId: 'crowd' });
  await world.build();
  const keys = new Map<Role, string>();
  for (const role of Role.options)
    keys.set(role, (await createKey(world.store, { orgId: 'acme', role }, world.now)).key);
  const app = buildApp(world);
  const get = async (path: string, role: Role = 'owner') => {
    const answer = await app.inject({
      url: `/api/v1/analytics/${path}`,
      headers: { authorization: `Bearer ${keys.get(role)}` },
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
  };
  return { world, app, get };
}

describe('the analytics endpoints', () => {
  let sample: Awaited<ReturnType<typeof sampleApp>>;
  beforeAll(async () => {
    sample = await sampleApp(atEnd);
  });

  test('every answer is as its schema says, grouped and not, and names its range', async () => {
    const { get } = sample;
    for (const answer of ANSWERS) {
      for (const group of [undefined, ...GROUPS[answer]]) {
        const { status, headers, body } = await get(
          `${answer}?${DAYS}${group === undefined ? '' : `&group_by=${group}`}`,
        );
        expect(status).toBe(200);
        expect(headers['content-type']).toBe('application/json; charset=utf-8');
        expect(Answers[answer].safeParse(body).error).toBeUndefined();
        expect(body.meta).toMatchObject({ org_id: 'acme', start_date: '2026-01-28', end_date: '2026-04-19' });
        // Nobody in the sample calls an MCP server, and no vendor reports of anybody.
        if (!['mcp_server', 'month', 'vendor'].includes(String(group)) && answer !== 'vendor_lines')
          expect((body.data as unknown[]).length).toBeGreaterThan(0);
      }
    }
  });

  test('there is a row for every built day of the range, oldest first, and none for days before the history start', async () => {
    const { get } = sample;
    const { body } = await get('activity?startDate=2025-01-01&endDate=2026-01-30');
    expect((body.data as { date: string }[]).map(({ date }) => date)).toEqual([
      '2026-01-28',
      '2026-01-29',
      '2026-01-30',
    ]);
    const late = await World.create({ DAYBOOK_HISTORY_START: '2026-02-10' });
    await late.send([
      {
        event_id: '1',
        type: 'user_message',
        timestamp: '2026-02-08T10:00:00Z',
        user_id: 'ada',
        session_id: 's',
      },
    ]);
    await late.build();
    const { key } = await createKey(late.store, { orgId: 'acme', role: 'manager' }, late.now);
    const answer = await buildApp(late).inject({
      url: '/api/v1/analytics/activity?startDate=2026-02-01&endDate=2026-02-11',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.json().data.map(({ date }: { date: string }) => date)).toEqual([
      '2026-02-10',
      '2026-02-11',
    ]);
    expect(answer.json().data[0]).toMatchObject({
      daily_active_users: 0,
      weekly_active_users: 1,
      sessions: 0,
    });
  });

  test('pages of users yield each user once, with all days', async () => {
    const { world, app } = sample;
    const { key } = await createKey(world.store, { orgId: 'crowd', role: 'owner' }, world.now);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await app.inject({
        url: `/api/v1/analytics/users?startDate=2026-06-01&endDate=2026-06-30&limit=3${page}`,
        headers: { authorization: `Bearer ${key}` },
      });
      const { data, meta } = answer.json();
      seen.push(...data.map((row: { user_id: string; date: string }) => `${row.user_id} ${row.date}`));
      expect(meta.has_more).toBe(meta.next_cursor !== null);
      cursor = meta.next_cursor;
    } while (cursor !== null);
    const expected = [...PEOPLE].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(seen).toEqual(expected.flatMap((user) => [`${user} 2026-06-10`, `${user} 2026-06-11`]));
  });

  test('one user is what all pages have of that user, and nobody else', async () => {
    const { get } = sample;
    for (const answer of ['users', 'users?group_by=agent', 'coverage']) {
      const ask = async (more: string) => {
        const [path, query = ''] = answer.split('?');
        return (await get(`${path}?${DAYS}&${query}${more}`)).body as {
          data: { user_id: string }[];
          meta: object;
        };
      };
      const all = (await ask('&limit=100')).data;
      const { data, meta } = await ask('&user_id=claude-code-log');
      expect(data).toEqual(all.filter(({ user_id }) => user_id === 'claude-code-log'));
      expect(data.length).toBeGreaterThan(0);
      expect(data.length).toBeLessThan(all.length);
      expect(meta).toMatchObject({ has_more: false, next_cursor: null });
      expect((await ask('&user_id=ada')).data).toEqual([]);
    }
  });

  test('several users are what all pages have of any of them, each once and in pages', async () => {
    const { world, app } = sample;
    const { key } = await createKey(world.store, { orgId: 'crowd', role: 'owner' }, world.now);
    const asked = ['linus', 'ada', 'Ö', 'nobody', 'ada', 'margaret', '🙂'];
    const expected = ['ada', 'linus', 'margaret', 'Ö', '🙂'];
    for (const answer of ['users', 'users?group_by=agent', 'coverage']) {
      const [path, group = ''] = answer.split('?');
      const seen: string[] = [];
      let pages = 0;
      for (let cursor: string | null = ''; cursor !== null; pages += 1) {
        const query = new URLSearchParams([
          ...asked.map((user) => ['user_id', user]),
          ...(cursor === '' ? [] : [['cursor', cursor]]),
        ]);
        const given = await app.inject({
          url: `/api/v1/analytics/${path}?startDate=2026-06-01&endDate=2026-06-30&limit=2&${group}&${query}`,
          headers: { authorization: `Bearer ${key}` },
        });
        const { data, meta } = given.json();
        seen.push(...data.map((row: { user_id: string; date: string }) => `${row.user_id} ${row.date}`));
        cursor = meta.next_cursor;
      }
      expect(seen, answer).toEqual(expected.flatMap((user) => [`${user} 2026-06-10`, `${user} 2026-06-11`]));
      expect(pages, answer).toBe(3);
    }
  });

  test('values of a filter mean any of them, each once and in any order', async () => {
    const { get } = sample;
    const ask = (...values: string[]) =>
      get(
        `summary?${DAYS}&group_by=user&${values.map((one) => `tool=${encodeURIComponent(one)}`).join('&')}`,
      );
    const [both, again, one, other] = await Promise.all([
      ask('Edit', 'Bash'),
      ask('Bash', 'Edit', 'Bash'),
      ask('Edit'),
      ask('Bash'),
    ]);
    expect(both.status).toBe(200);
    expect(again.body).toEqual(both.body);
    expect(again.headers.etag).toBe(both.headers.etag);
    type Rows = { sessions: number; tool_calls: number; group_key: string }[];
    const rowOf = ({ body }: typeof both) =>
      (body.data as Rows).find(({ group_key }) => group_key === 'claude-code-log');
    const [all, edits, shells] = [rowOf(both), rowOf(one), rowOf(other)];
    expect(all?.tool_calls).toBe(Number(edits?.tool_calls) + Number(shells?.tool_calls));
    // A session with both counts once.
    expect(all?.sessions).toBeLessThan(Number(edits?.sessions) + Number(shells?.sessions));
    expect(all?.sessions).toBeGreaterThanOrEqual(Number(edits?.sessions));
    // A hundred values may be named, however often.
    const many = Array.from({ length: 99 }, (_, index) => `tool ${index}`);
    expect((await ask(...many, 'Edit', 'Edit')).body).toEqual(one.body);
  });

  test('groups are found by a part of their key and by their keys, with the numbers that they have among all', async () => {
    const { get } = sample;
    const ask = async (more: string) =>
      (await get(`summary?${DAYS}&compare=previous&${more}`)).body as {
        data: { group_key: string; date: string | null }[];
        meta: object;
      };
    const tools = (await ask('group_by=tool&sort=tool_calls')).data;
    const found = await ask('group_by=tool&sort=tool_calls&search=RE');
    expect(found.data).toEqual(tools.filter(({ group_key }) => /re/i.test(group_key)));
    expect(found.data.length).toBeGreaterThan(1);
    expect(found.data.length).toBeLessThan(tools.length);
    const keys = found.data.slice(0, 2).map(({ group_key }) => group_key);
    const listed = encodeURIComponent(JSON.stringify([...keys, 'nothing, of ~ this']));
    const days = (await ask('group_by=tool&interval=day&limit=1000')).data;
    expect((await ask(`group_by=tool&interval=day&limit=1000&group_keys=${listed}`)).data).toEqual(
      days.filter(({ group_key }) => keys.includes(group_key)),
    );
  });

  test('an unknown cursor is a position in the order', async () => {
    const { get } = sample;
    const { body } = await get(`users?${DAYS}&cursor=d`);
    expect(new Set((body.data as { user_id: string }[]).map(({ user_id }) => user_id))).toEqual(
      new Set(['entireio-cli']),
    );
  });

  test('another organization has nothing of it', async () => {
    const { world, app } = sample;
    const { key } = await createKey(world.store, { orgId: 'rival', role: 'owner' }, world.now);
    for (const answer of ANSWERS) {
      const given = await app.inject({
        url: `/api/v1/analytics/${answer}?${DAYS}`,
        headers: { authorization: `Bearer ${key}` },
      });
      expect(given.json().data).toEqual([]);
    }
  });
});

test('nothing before the history start is compared with', async () => {
  const world = await World.create({ DAYBOOK_HISTORY_START: '2026-06-05' }, atEnd);
  const turns = (day: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      event_id: `${day}-${index}`,
      ...{ type: 'user_message', timestamp: `${day}T10:00:00Z`, user_id: 'ada', session_id: day },
    }));
  await world.send(
    [
      ...turns('2026-05-11', 7),
      ...turns('2026-06-04', 5),
      ...turns('2026-06-06', 3),
      ...turns('2026-06-08', 1),
    ],
    { orgId: 'acme' },
  );
  await world.build();
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  const app = buildApp(world);
  const turnsBefore = async (startDate: string, more = '') => {
    const range = `startDate=${startDate}&endDate=2026-06-08&compare=previous${more}`;
    const url = `/api/v1/analytics/summary?${range}`;
    const { data } = (await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).json();
    return data.at(-1).previous?.user_turns ?? null;
  };
  // The two days before are served, the three before those aren't all.
  expect(await turnsBefore('2026-06-07')).toBe(3);
  expect(await turnsBefore('2026-06-06')).toBeNull();
  expect(await turnsBefore('2026-06-05')).toBeNull();
  expect(await turnsBefore('2026-06-01')).toBeNull();
  expect(await turnsBefore('2026-06-08', '&interval=day')).toBeNull();
  await app.close();
  const asked = { answer: 'summary', orgId: 'acme', from: '2026-06-05', to: '2026-06-08' };
  const args = { ...asked, totals: { compare: 'previous' } };
  const context = { store: world.store, config: world.config, clock: world.clock } as Context;
  const report = (await runCommand(context, 'report', args, () => {})) as { rows: { previous: unknown }[] };
  expect(report.rows.map(({ previous }) => previous)).toEqual([null]);
});

describe('a request that is refused', () => {
  let api: Awaited<ReturnType<typeof sampleApp>>['app'];
  let key: string;
  let world: World;
  beforeAll(async () => {
    // One empty world is enough: a request is checked before anything is looked up.
    world = await World.create({}, atEnd);
    api = buildApp(world);
    key = (await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now)).key;
  });

  test.each([
    ['tokens', 'startDate is required'],
    ['tokens?startDate=2026-06-01', 'endDate is required'],
    ['tokens?startDate=2026-6-1&endDate=2026-06-02', 'startDate must be a calendar date as YYYY-MM-DD'],
    ['tokens?startDate=2026-02-30&endDate=2026-06-02', 'startDate must be a calendar date as YYYY-MM-DD'],
    ['tokens?startDate=2026-06-03&endDate=2026-06-02', 'startDate must not be after endDate'],
    ['tokens?startDate=2026-06-03&endDate=2026-07-10', 'analytics data has a 24-hour lag'],
    ['tokens?startDate=2026-06-03&endDate=2027-07-10', 'analytics data has a 24-hour lag'],
    [`tokens?${DAYS}&group_by=tool_name`, 'group_by must be model, agent or absent'],
    [`tools?${DAYS}&group_by=model`, 'group_by must be tool_name, autonomy_level or absent'],
    [`activity?${DAYS}&group_by=user`, 'group_by must be client, agent or absent'],
    [`productivity?${DAYS}&group_by=model`, 'There is no parameter group_by: use startDate, endDate.'],
    [`quality?${DAYS}&group_by=reason`, 'group_by must be agent or absent'],
    [`summary?${DAYS}&search=ada`, 'search needs group_by'],
    [`summary?${DAYS}&group_keys=["ada"]`, 'group_keys needs group_by'],
    [`summary?${DAYS}&group_by=user&search=`, 'search must be a text of 1 to 255 characters'],
    [`summary?${DAYS}&group_by=user&group_keys=ada`, 'group_keys must be a JSON array of 1 to 100 texts'],
    [`summary?${DAYS}&group_by=user&group_keys=[]`, 'group_keys must be a JSON array of 1 to 100 texts'],
    [`summary?${DAYS}&group_by=user&group_keys=[1]`, 'group_keys must be a JSON array of 1 to 100 texts'],
    [`costs?${DAYS}&group_by=user&search=ada`, 'There is no parameter search'],
    [`users?${DAYS}&user_id=`, 'user_id must be a text of 1 to 4096 characters'],
    [`users?${DAYS}&user_id=ada&user_id=`, 'The parameter user_id must be a text of 1 to 4096 characters.'],
    [
      `summary?${DAYS}&${Array.from({ length: 101 }, (_, index) => `repo=${index}`).join('&')}`,
      'The parameter repo must have at most 100 values.',
    ],
    [`summary?${DAYS}&user_id=ada&user_id=grace&limit=0`, 'The parameter limit must be an integer'],
    [`summary?${DAYS}&user_id=ada&user_id=grace&sort=cost_usd&sort=files`, 'sort must be given once'],
    ['quality?startDate=2026-06-03&endDate=2026-07-10', 'analytics data has a 24-hour lag'],
    [`tokens?${DAYS}&limit=3`, 'There is no parameter limit'],
    [`users?${DAYS}&limit=0`, 'limit must be an integer from 1 to 100'],
    [`users?${DAYS}&limit=101`, 'limit must be an integer from 1 to 100'],
    [`users?${DAYS}&limit=2.5`, 'limit must be an integer from 1 to 100'],
    [`users?${DAYS}&cursor=`, 'cursor must be a user id'],
    [`users?${DAYS}&startDate=2026-06-01`, 'startDate must be given once, not 2 times'],
    [
      `users?${DAYS}&timezone=utc`,
      'There is no parameter timezone: use startDate, endDate, group_by, user_id, team, cost_center, limit, cursor.',
    ],
  ])('%s is a 400 that says why', async (path, why) => {
    const answer = await api.inject({
      url: `/api/v1/analytics/${path}`,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({
      title: 'Bad Request',
      detail: expect.stringContaining(why),
      status: 400,
      requestId: answer.headers['x-request-id'],
    });
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  test('without a valid key it is a 401, before anything else is looked at', async () => {
    for (const headers of [
      {},
      { authorization: key },
      { authorization: 'Bearer dbk_none' },
      { authorization: `Bearer dbk_${'a'.repeat(43)}` },
    ]) {
      const answer = await api.inject({ url: '/api/v1/analytics/tokens?foo=1', headers });
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.json()).toMatchObject({ title: 'Unauthorized', status: 401 });
    }
  });

  test('members, guests and ingest keys get a 403, before the query is looked at', async () => {
    for (const role of ['member', 'guest', 'ingest'] as const) {
      const made = await createKey(world.store, { orgId: 'acme', role }, world.now);
      const answer = await api.inject({
        url: '/api/v1/analytics/users?limit=x',
        headers: { authorization: `Bearer ${made.key}` },
      });
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toMatchObject({ title: 'Forbidden', detail: expect.stringContaining(role) });
    }
  });

  test('a revoked key ends with the next request, an expired one at its instant', async () => {
    const made = await createKey(
      world.store,
      { orgId: 'acme', role: 'owner', expiresAt: world.now + 1 },
      world.now,
    );
    const ask = (at: number) =>
      buildApp({ ...world, clock: () => at }).inject({
        url: `/api/v1/analytics/tokens?${DAYS}`,
        headers: { authorization: `Bearer ${made.key}` },
      });
    expect((await ask(world.now)).statusCode).toBe(200);
    expect((await ask(world.now + 1)).statusCode).toBe(401);
    await revokeKey(world.store, made.fingerprint, world.now);
    expect((await ask(world.now)).statusCode).toBe(401);
  });

  test('an unknown path is a 404 in the same shape, after the key', async () => {
    expect((await api.inject({ url: '/api/v1/analytics/nothing' })).statusCode).toBe(401);
    const answer = await api.inject({
      url: '/api/v1/analytics/nothing',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ title: 'Not Found', requestId: answer.headers['x-request-id'] });
  });
});

test('a repository is the same in every spelling of its address', async () => {
  const world = await World.create();
  const usage = { type: 'model_usage', model: 'claude-sonnet-4-5', input_tokens: 10, output_tokens: 20 };
  const at = { timestamp: '2026-06-01T10:00:00Z', repo: 'https://GitHub.com/acme/api/' };
  await world.send([event('u1', { ...at, ...usage })]);
  await world.build();
  const range = {
    orgId: 'acme',
    from: '2026-06-01' as Day,
    to: '2026-06-02' as Day,
    groupBy: 'user',
  } as const;
  for (const answer of ['summary', 'costs', 'focus'] as const)
    for (const repo of ['github.com/acme/api', at.repo, 'git@github.com:ACME/api.git'])
      expect(
        (await report(world.store, answer, { ...range, totals: { repo: [repo] } })).data,
        `${answer} ${repo}`,
      ).toHaveLength(answer === 'focus' ? 2 : 1);
});
