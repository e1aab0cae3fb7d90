import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { ANSWER_BYTES, fitted } from '../src/mcp/fitted-answer.js';
import { buildApp } from '../src/service/app.js';
import { readConfig } from '../src/settings/config.js';
import { ask } from './ask.js';
import { Agent, ERAS } from './mcp-client.js';
import { World } from './world.js';

const RANGE = { startDate: '2026-06-01', endDate: '2026-06-30' };
const WEEK = { startDate: '2026-06-08', endDate: '2026-06-14' };
const PAGE = 'https://daybook.acme.example';

let world: World;
let url: string;
/** Where three requests a minute are allowed. */
let strictUrl: string;
/** The parameters of each route, by path, as the reference has them. */
let parameters: Map<string, string[]>;

const used = (user_id: string, day: number, more: object = {}) => ({
  event_id: `${user_id}-${day}-${JSON.stringify(more)}`,
  type: 'tool_call',
  timestamp: `2026-06-${String(day).padStart(2, '0')}T10:00:00Z`,
  user_id,
  session_id: `${user_id}-${day}`,
  tool_name: 'Edit',
  ...more,
});

beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0', DAYBOOK_CORS_ORIGINS: PAGE }, afterAll);
  const many = Array.from({ length: 60 }, (_, user) => `user-${String(user).padStart(2, '0')}`);
  const days = Array.from({ length: 28 }, (_, day) => day + 1);
  await world.sendTogether([
    ['acme', [used('ada', 10), used('bob', 10), used('bob', 11)]],
    ['globex', [used('eve', 10)]],
    [
      'large',
      [
        ...many.flatMap((user) => [used(user, 3), used(user, 4)]),
        ...days.flatMap((day) =>
          many.map((name) => used('user-00', day, { tool_name: `tool_of_${name}_${'x'.repeat(40)}` })),
        ),
      ],
    ],
  ]);
  await world.build();
  const { clock } = world;
  const strict = { ...world.config, rateLimit: readConfig({ DAYBOOK_RATE_LIMIT: '3' }).rateLimit };
  const apps = [buildApp(world), buildApp({ ...world, clock, config: strict })];
  [url = '', strictUrl = ''] = await Promise.all(
    apps.map((app) => app.listen({ host: '127.0.0.1', port: 0 })),
  );
  afterAll(() => Promise.all(apps.map((app) => app.close())));
  parameters = new Map(
    Object.entries(apps[0]?.swagger().paths ?? {}).map(([path, { get }]) => [
      path,
      JSON.parse(JSON.stringify(get?.parameters ?? []))
        .map(({ name }: { name: string }) => name)
        .sort(),
    ]),
  );
});

async function keyOf(role: Role = 'manager', orgId = 'acme', userId?: string): Promise<string> {
  return (await createKey(world.store, { orgId, role, userId }, world.now)).key;
}

/** What the API answers. */
async function get(path: string, query: Record<string, string>, key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const { status, text } = await ask(url, `/api/v1/analytics/${path}?${new URLSearchParams(query)}`, {
    headers,
  });
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

/** Sends a message that no client would send. */
async function post(
  message: unknown,
  { key, headers = {}, to = url }: { key?: string; headers?: Record<string, string>; to?: string } = {},
) {
  return ask(to, '/mcp', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key ?? (await keyOf())}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe.each(ERAS)('an agent of the era %s', (era) => {
  test('learns which tools there are, with the parameters of their routes', async () => {
    const agent = await Agent.at(url, await keyOf(), era);
    const tools = await agent.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      'report',
      'coverage',
      'summary',
      'changes',
      'costs',
      'silence',
      'budgets',
      'sql',
      'tables',
    ]);
    const argumentsOf = (name: string) =>
      Object.keys(tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {}).sort();
    expect(argumentsOf('coverage')).toEqual(parameters.get('/api/v1/analytics/coverage'));
    expect(argumentsOf('tables')).toEqual(parameters.get('/api/v1/sql/tables'));
    expect(argumentsOf('sql')).toEqual(['as_of', 'params', 'sql']);
    expect(argumentsOf('report')).toEqual([
      ...['answer', 'cost_center', 'cursor', 'endDate', 'group_by', 'limit', 'startDate', 'team', 'user_id'],
    ]);
  });

  test('gets what the API answers', async () => {
    const key = await keyOf('manager', 'acme', 'ada');
    const agent = await Agent.at(url, key, era);
    for (const answer of ['tokens', 'tools', 'activity', 'productivity', 'users', 'quality', 'me']) {
      const { json } = await agent.call('report', { answer, ...WEEK });
      expect(json, answer).toEqual(await get(answer, WEEK, key));
    }
    const grouped = { ...RANGE, group_by: 'agent' };
    expect((await agent.call('report', { answer: 'users', limit: 1, ...grouped })).json).toEqual(
      await get('users', { limit: '1', ...grouped }, key),
    );
    expect((await agent.call('coverage', RANGE)).json).toEqual(await get('coverage', RANGE, key));
    expect((await agent.call('report', { answer: 'today' })).json.meta.final).toBe(false);
    const { json: all } = await agent.call('tables');
    expect(all.data.map(({ name }: { name: string }) => name)).toContain('users');
    const { json: one } = await agent.call('tables', { name: 'users' });
    expect(one.data[0].columns.map(({ name }: { name: string }) => name)).toContain('tool_calls');
  });

  test('of a member sees only own numbers', async () => {
    const agent = await Agent.at(url, await keyOf('member', 'acme', 'ada'), era);
    const tools = await agent.tools();
    expect(tools.map(({ name }) => name)).toEqual(['summary', 'changes', 'costs', 'budgets', 'report']);
    const report = tools.at(-1);
    const summary = await agent.call('summary', { ...RANGE, group_by: 'user' });
    expect(summary.json.data).toMatchObject([{ group_key: 'ada' }]);
    for (const user_id of ['bob', ['bob'], ['ada', 'bob']])
      expect(await agent.call('costs', { ...RANGE, user_id })).toMatchObject({ isError: true });
    expect((await agent.call('costs', { ...RANGE, user_id: ['ada'] })).isError).toBe(false);
    expect(report?.inputSchema.properties?.answer).toMatchObject({ enum: ['me', 'marks'] });
    const { text, json } = await agent.call('report', { answer: 'me', ...RANGE });
    expect(json.data).toMatchObject([{ user_id: 'ada', date: '2026-06-10' }]);
    expect(text).not.toContain('bob');
    for (const answer of ['users', 'tokens', 'today', undefined])
      expect(await agent.call('report', { answer, ...RANGE })).toMatchObject({
        isError: true,
        text: 'The argument answer must be me or marks.',
      });
    for (const name of ['sql', 'tables', 'coverage'])
      await expect(agent.call(name, RANGE)).rejects.toThrow(
        `There is no tool ${name}: use summary, changes, costs, budgets, report.`,
      );
  });

  test('never sees another organization', async () => {
    const agent = await Agent.at(url, await keyOf('owner', 'globex'), era);
    const { text } = await agent.call('report', { answer: 'users', ...RANGE });
    expect(text).toContain('eve');
    expect(text).not.toContain('ada');
    expect(await agent.call('report', { answer: 'users', ...RANGE, org_id: 'acme' })).toMatchObject({
      isError: true,
      text: 'There is no parameter org_id: use startDate, endDate, group_by, user_id, team, cost_center, limit, cursor.',
    });
    expect((await agent.call('report', { answer: 'users', ...RANGE, cursor: 'ada' })).text).not.toContain(
      'bob',
    );
  });

  test('learns in one sentence what to do otherwise', async () => {
    const agent = await Agent.at(url, await keyOf(), era);
    const says = async (name: string, args: Record<string, unknown>) => {
      const { text, isError } = await agent.call(name, args);
      expect(isError).toBe(true);
      return text;
    };
    await expect(agent.call('drop')).rejects.toThrow(
      'There is no tool drop: use report, coverage, summary, changes, costs, silence, budgets, sql, tables.',
    );
    expect(await says('report', {})).toBe(
      'The argument answer must be tokens, tools, activity, productivity, users, quality, vendor_lines, me, today, adoption, or marks.',
    );
    expect(await says('report', { answer: 'users' })).toBe(
      'The parameter startDate is required: it must be a calendar date as YYYY-MM-DD.',
    );
    expect(await says('report', { answer: 'users', ...RANGE, endDate: '2026-07-10' })).toBe(
      'The parameter endDate must be 2026-07-09 or earlier: analytics data has a 24-hour lag.',
    );
    expect(await says('coverage', { ...RANGE, limit: [1, 2] })).toBe(
      'The parameter limit must be given once, not 2 times.',
    );
    expect(await says('coverage', { ...RANGE, user_id: [{ id: 'ada' }] })).toBe(
      'The argument user_id must be a text, a number or a list of these.',
    );
    expect(await says('coverage', { ...RANGE, limit: { most: 1 } })).toBe(
      'The argument limit must be a text, a number or a list of these.',
    );
    expect(await says('coverage', { ...RANGE, limit: 1000 })).toBe(
      'The parameter limit must be an integer from 1 to 100.',
    );
    expect(await says('tables', { name: 'user' })).toMatch(/^There is no table user: use events, .*\.$/);
    expect(await says('sql', { sql: 1 })).toMatch(/^The member sql .*\.$/);
    // Some agents send null for what they leave out.
    expect((await agent.call('coverage', { ...RANGE, cursor: null })).isError).toBe(false);
  });

  test('gets parts of a large answer, and all of them in the end', async () => {
    const key = await keyOf('owner', 'large');
    const agent = await Agent.at(url, key, era);
    const whole = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, meta } = await get('users', { ...RANGE, limit: '100', ...(cursor && { cursor }) }, key);
      whole.push(...data);
      cursor = meta.next_cursor;
    }
    const parts = [];
    let cuts = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { text, json } = await agent.call('report', {
        answer: 'users',
        ...RANGE,
        limit: 100,
        ...(cursor && { cursor }),
      });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(ANSWER_BYTES);
      if (json.cut !== undefined) {
        cuts += 1;
        expect(json.cut[0]).toContain(`continue with cursor ${json.meta.next_cursor}`);
      }
      parts.push(...json.data);
      cursor = json.meta.next_cursor;
    }
    expect(cuts).toBeGreaterThan(0);
    expect(parts).toEqual(whole);

    const days = [];
    for (let startDate: string | undefined = RANGE.startDate; startDate !== undefined; ) {
      const asked = { answer: 'tools', ...RANGE, startDate, group_by: 'tool_name' };
      const { text, json } = await agent.call('report', asked);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(ANSWER_BYTES);
      days.push(...json.data);
      startDate = /startDate (\S+), or/.exec(json.cut?.[0] ?? '')?.[1];
    }
    expect(days).toEqual((await get('tools', { ...RANGE, group_by: 'tool_name' }, key)).data);

    const { json: short } = await agent.call('report', { answer: 'tools', ...RANGE });
    expect(short.cut[0]).toMatch(/^Of longer lists only the first \d+ entries are here \(by_tool\): /);
    expect(short.data).toHaveLength(30);
  });
});

test('no key, a wrong key, and roles without numbers are refused', async () => {
  await expect(Agent.at(url, 'dbk_wrong')).rejects.toThrow('The API key is unknown, expired or revoked');
  const { status, headers } = await ask(url, '/mcp', { method: 'POST', body: '{}' });
  expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
  for (const role of ['guest', 'ingest'] as const)
    await expect(Agent.at(url, await keyOf(role))).rejects.toThrow(`A credential of role ${role} may not`);
});

test('there are no sessions', async () => {
  const first = await post({
    ...LIST,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  expect(first.status).toBe(200);
  expect(first.headers['mcp-session-id']).toBeUndefined();
  // Nothing has to come before a request.
  expect((await post(LIST)).text).toContain('"report"');
  for (const method of ['GET', 'DELETE']) {
    const headers = { authorization: `Bearer ${await keyOf()}` };
    expect(await ask(url, '/mcp', { method, headers })).toMatchObject({
      status: 405,
      headers: { allow: 'POST' },
    });
  }
});

test('messages that nobody should send are refused, and harm nobody', async () => {
  const call = (args: unknown) => ({
    ...LIST,
    method: 'tools/call',
    params: { name: 'sql', arguments: args },
  });
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const refused = await Promise.all([
    post(call({ sql: 'x'.repeat(200_000) })),
    post(JSON.stringify(call({ deep: 'DEEP' })).replace('"DEEP"', deep)),
    post([LIST, LIST]),
    post('{"jsonrpc":'),
    post('1'),
    post(LIST, { headers: { 'content-type': 'text/plain' } }),
    post(LIST, { headers: { 'content-encoding': 'gzip' } }),
    post(LIST, { headers: { accept: 'application/json' } }),
    post({ hello: 'world' }),
    post({ ...LIST, method: 'shutdown' }),
    post(call([1])),
    post(call({ __proto__: 1, constructor: 2 })),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([
    413, 400, 400, 400, 400, 415, 415, 406, 400, 200, 200, 200,
  ]);
  for (const { text, status } of refused) expect(text, String(status)).toMatch(/"(detail|error|isError)":/);
  expect((await post(LIST)).text).toContain('"report"');
});

test.each([
  ['*/*', 200],
  ['', 200],
  ['application/*, text/*', 200],
  ['Application/JSON, Text/Event-Stream', 200],
  ['application/json;charset=utf-8, text/event-stream;q=0.5', 200],
  ['text/html, */*;q=0.1', 200],
  ['text/event-stream', 406],
  ['application/json, text/event-stream;q=0', 406],
  ['application/json;q=0, */*', 406],
  ['application/*', 406],
])('a client that accepts "%s" gets %i', async (accept, status) => {
  expect((await post(LIST, { headers: { accept } })).status).toBe(status);
});

test('no stream is kept open for a client', async () => {
  const agent = await Agent.at(url, await keyOf(), 'auto');
  await expect(agent.client.listen({ toolsListChanged: true } as never)).rejects.toThrow();
});

test('pages of other origins are refused, whatever name the service has for them', async () => {
  const from = (origin: string) => post(LIST, { headers: { origin, host: new URL(origin).host } });
  expect((await from(PAGE)).status).toBe(200);
  for (const origin of ['http://evil.example', 'http://evil.example:8787', 'http://127.0.0.1:8787']) {
    const { status, text } = await from(origin);
    expect([status, JSON.parse(text).detail]).toEqual([
      403,
      `Pages of ${origin} may not use this service: add the origin to DAYBOOK_CORS_ORIGINS.`,
    ]);
  }
  expect((await post(LIST, { headers: { origin: 'null' } })).status).toBe(403);
});

test('the rate limit counts a call of a tool once', async () => {
  const key = await keyOf();
  const call = {
    ...LIST,
    method: 'tools/call',
    params: { name: 'report', arguments: { answer: 'users', ...RANGE } },
  };
  const given = [];
  for (let index = 0; index < 4; index += 1) given.push(await post(call, { key, to: strictUrl }));
  expect(given.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(given.slice(0, 3).every(({ text }) => text.includes('ada'))).toBe(true);
  expect(given[3]?.headers['retry-after']).toBeDefined();
});

describe('an answer that is fitted', () => {
  const row = (date: string, entries: number) => ({
    date,
    list: Array.from({ length: entries }, (_, index) => ({ name: `entry ${index}`, value: index })),
  });

  test('stays as it is if it is small', () => {
    expect(JSON.parse(fitted([row('2026-06-01', 30)], { a: 1 }, [], 'rest'))).toEqual({
      data: [row('2026-06-01', 30)],
      meta: { a: 1 },
    });
  });

  test('is never too large, and says what is missing', () => {
    const days = (count: number) => Array.from({ length: count }, (_, index) => `2026-${100 + index}`);
    for (const [count, entries] of [
      [1, 100_000],
      [300, 40],
      [5000, 2],
      [10, 4000],
    ] as const) {
      const text = fitted(
        days(count).map((date) => row(date, entries)),
        {},
        [],
        'ask otherwise',
      );
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(ANSWER_BYTES);
      expect(JSON.parse(text).cut.length).toBeGreaterThan(0);
    }
  });

  test('has whole days only', () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({
      date: `2026-06-0${1 + Math.floor(index / 8)}`,
      text: 'x'.repeat(1500),
    }));
    const { data, cut } = JSON.parse(fitted(rows, {}, [], 'ask otherwise'));
    expect(data).toEqual(rows.slice(0, 16));
    expect(cut).toEqual([
      'Days from 2026-06-03 on are left out: ask again with startDate 2026-06-03, or ask otherwise.',
    ]);
  });

  test('says so if not even its first row fits', () => {
    const { data, cut } = JSON.parse(fitted([{ text: 'x'.repeat(ANSWER_BYTES) }], {}, [], 'ask otherwise'));
    expect(data).toEqual([]);
    expect(cut).toEqual(['Only the first 0 of 1 rows are here: ask otherwise.']);
  });
});
