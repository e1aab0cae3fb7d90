import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { addDays, type Day, dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { type Budget, changeBudgets } from '../src/store/state/budget-revisions.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, event, World } from './world.js';

const BUDGETS = '/api/v1/analytics/budgets';
const SETTINGS = '/api/v0/organization/budgets';
/** A dollar's worth of input tokens of claude-opus-4-5. */
const DOLLAR = 1_000_000 / 5;

type Row = Record<string, number | string | null>;

const atEnd = ending();
let world: World;
let app: FastifyInstance;
const keys = new Map<string, string>();

const isWeekend = (day: Day) => [0, 6].includes(new Date(day).getUTCDay());
const daysFrom = (first: string, count: number) =>
  Array.from({ length: count }, (_, place) => addDays(first as Day, place));

/** A person's work of a day, which costs so many dollars. */
const work = (user_id: string, day: Day, dollars: number, more: object = {}) =>
  event(`${user_id} ${day}`, {
    ...{ type: 'model_usage', timestamp: `${day}T10:00:00Z`, user_id, session_id: `${user_id} ${day}` },
    ...{ agent: 'claude-code', model: 'claude-opus-4-5', repo: 'github.com/acme/api' },
    ...{ input_tokens: Math.round(dollars * DOLLAR), output_tokens: 0 },
    ...more,
  });

/** Each day from June 1 to July 9, 2026; less on weekends, and never the same. */
const DAYS = daysFrom('2026-06-01', 39);
const dollarsOn = (day: Day, place: number) =>
  isWeekend(day) ? 1 + (place % 3) : 10 + ((place * 7) % 5) + 0.01 * place;

async function importPeople(orgId: string, csv: readonly string[]): Promise<void> {
  const options = { today: dayOf(world.now), replaces: false };
  await replacePeople(
    world.store,
    orgId,
    (before) => withLines(before, peopleLines(csv.join('\n'), 'p.csv'), options),
    { author: 'root' },
    world.now,
  );
}

const BIG = Array.from({ length: 8 }, (_, place) => `big-${place}`);
const OTHER = Array.from({ length: 6 }, (_, place) => `other-${place}`);

beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  app = buildApp(world, { logs: process.env.LOGS === '1' });
  await world.send([
    ...DAYS.flatMap((day, place) => [
      work('ada', day, dollarsOn(day, place)),
      work('grace-laptop', day, 2 * dollarsOn(day, place), { agent: 'codex' }),
    ]),
    work('heidi', '2026-07-02' as Day, 5, { model: 'inhouse-coder' }),
  ]);
  await importPeople('acme', [
    'user_id,alias,team,cost_center,from,to',
    'ada,,Compilers,4711,,2026-07-05',
    'ada,,Web,4712,2026-07-06,',
    'grace,grace-laptop,Compilers,4711,,',
  ]);
  await world.send(
    DAYS.flatMap((day) =>
      isWeekend(day)
        ? [work('big-0', day, 50)]
        : [...BIG, ...OTHER, 'few-0', 'few-1'].map((user, place) => work(user, day, 1 + place)),
    ),
    { orgId: 'guarded' },
  );
  await importPeople('guarded', [
    'user_id,team',
    ...BIG.map((user) => `${user},Big`),
    ...OTHER.map((user) => `${user},Other`),
    ...['few-0', 'few-1'].map((user) => `${user},Few`),
  ]);
  await world.send(
    daysFrom('2026-07-01', 9).map((day) => work('ada', day, 10)),
    { orgId: 'young' },
  );
  await world.build();
  const users: [string, Role, string][] = [
    ['acme', 'owner', 'root'],
    ['acme', 'manager', 'boss'],
    ['acme', 'member', 'ada'],
    ['acme', 'member', 'grace-laptop'],
    ['guarded', 'owner', 'auditor'],
    ['guarded', 'manager', 'lead'],
    ['guarded', 'member', 'few-0'],
    ['young', 'owner', 'founder'],
  ];
  for (const [orgId, role, userId] of users)
    keys.set(userId, (await createKey(world.store, { orgId, role, userId }, world.now)).key);
  const change = { mode: 'protected', smallestGroup: 5, auditors: ['auditor'] } as const;
  await changePrivacy(world.store, 'guarded', () => change, 'root', world.now);
});

async function ask(
  url: string,
  user: string,
  { method = 'GET', payload, headers = {} }: Record<string, unknown> = {},
) {
  const answer = await app.inject({
    ...{ method, url, payload },
    headers: { authorization: `Bearer ${keys.get(user)}`, ...Object(headers) },
  } as never);
  return { status: answer.statusCode, text: answer.payload, headers: answer.headers };
}

async function rowsOf(url: string, user = 'boss'): Promise<Row[]> {
  const { status, text } = await ask(url, user);
  expect(status, text).toBe(200);
  return JSON.parse(text).data;
}

const setBudgets = (orgId: string, budgets: readonly Budget[]) =>
  changeBudgets(world.store, orgId, () => budgets, 'root', world.now);
const budget = (scope: Budget['scope'], name: string | null, usd: number): Budget => ({ scope, name, usd });

/** What the rule of docs/budgets.md gives for costs of built days, computed another way. */
function forecastOf(costs: ReadonlyMap<string, number>, month: string, last: Day) {
  const spent = [...costs].filter(([day]) => day.startsWith(month)).reduce((sum, [, usd]) => sum + usd, 0);
  const left = daysFrom(`${month}-01`, 31).filter((day) => day.startsWith(month) && day > last);
  let [expected, variance] = [0, 0];
  for (const [kind, newest] of [
    [false, 10],
    [true, 4],
  ] as const) {
    const values = DAYS.filter((day) => isWeekend(day) === kind && day <= last)
      .slice(-newest)
      .map((day) => costs.get(day) ?? 0);
    const ahead = left.filter((day) => isWeekend(day) === kind).length;
    const mean = values.reduce((sum, usd) => sum + usd, 0) / values.length;
    const spread = values.reduce((sum, usd) => sum + (usd - mean) ** 2, 0) / (values.length - 1);
    expected += ahead * mean;
    variance += spread * (ahead + ahead ** 2 / values.length);
  }
  const miss = 3 * Math.sqrt(variance);
  return {
    spent_usd: spent,
    forecast_usd: spent + expected,
    forecast_low_usd: spent + Math.max(expected - miss, 0),
    forecast_high_usd: spent + expected + miss,
  };
}

describe('an open organization', () => {
  const ALL = [
    ['organization', null, undefined],
    ['team', 'Compilers', 'team'],
    ['team', 'Web', 'team'],
    ['cost_center', '4711', 'cost_center'],
    ['person', 'ada', 'user'],
    ['person', 'grace', 'user'],
    ['agent', 'codex', 'agent'],
    ['model', 'claude-opus-4-5', 'model_key'],
  ] as const;

  test('has spent of each budget what its costs add up to, and expects what the rule says', async () => {
    await setBudgets('acme', [
      ...ALL.map(([scope, name]) => budget(scope, name, 500)),
      budget('person', null, 100),
    ]);
    const rows = await rowsOf(`${BUDGETS}?month=2026-07`);
    for (const [scope, name, group] of ALL) {
      const by = group === undefined ? '' : `&group_by=${group}`;
      const days = await rowsOf(
        `/api/v1/analytics/costs?startDate=2026-06-01&endDate=2026-07-09&limit=1000${by}`,
      );
      const own = days.filter((row) => group === undefined || row.group_key === name);
      const costs = new Map(own.map((row) => [String(row.date), Number(row.cost_usd)]));
      const expected = forecastOf(costs, '2026-07', '2026-07-09' as Day);
      const row = rows.find((one) => one.scope === scope && one.name === name);
      expect(row, `${scope} ${name}`).toMatchObject(
        Object.fromEntries(Object.entries(expected).map(([member, usd]) => [member, expect.closeTo(usd, 6)])),
      );
      expect(row).toMatchObject({ budget_usd: 500, built_days: 9, left_days: 22, unbuilt_days: 0 });
      expect(row?.spent_ratio).toBeCloseTo(expected.spent_usd / 500, 9);
    }
    // Heidi's tokens have no price. The default is hers and nobody else's.
    expect(rows.find(({ name }) => name === 'heidi')).toMatchObject({
      ...{ budget_usd: 100, spent_usd: 0, unpriced_tokens: Math.round(5 * DOLLAR), state: 'holds' },
    });
    expect(rows.filter(({ scope }) => scope === 'person')[0]).toMatchObject({
      ...{ name: null, budget_usd: 100, spent_usd: null, people: 2, people_above: 0 },
    });
  });

  test('says on which days budgets were reached, and whether they hold', async () => {
    await setBudgets('acme', [
      budget('organization', null, 200),
      budget('team', 'Compilers', 10_000),
      budget('person', 'ada', 200),
      budget('agent', 'nobody', 10),
    ]);
    const costs = await rowsOf('/api/v1/analytics/costs?startDate=2026-07-01&endDate=2026-07-09');
    let sum = 0;
    const days = costs.map(({ date, cost_usd }) => {
      sum += Number(cost_usd);
      return { date, sum };
    });
    const reached = (usd: number) => days.find((day) => day.sum >= usd)?.date;
    const rows = await rowsOf(`${BUDGETS}?month=2026-07`);
    expect(rows).toMatchObject([
      {
        scope: 'organization',
        state: 'above',
        half_on: reached(100),
        most_on: reached(160),
        all_on: reached(200),
      },
      { scope: 'team', state: 'holds', half_on: null, all_on: null },
      { scope: 'person', name: 'ada', state: 'may_not_hold' },
      { scope: 'agent', name: 'nobody', state: 'holds', spent_usd: 0, forecast_usd: 0 },
    ]);
    // A month that is over: nothing is left to expect.
    const june = await rowsOf('/api/v1/analytics/costs?startDate=2026-06-01&endDate=2026-06-30');
    const total = june.reduce((all, { cost_usd }) => all + Number(cost_usd), 0);
    const [over] = await rowsOf(`${BUDGETS}?month=2026-06&scope=organization`);
    for (const member of ['spent_usd', 'forecast_usd', 'forecast_low_usd', 'forecast_high_usd'])
      expect(over?.[member], member).toBeCloseTo(total, 6);
    expect(over).toMatchObject({ left_days: 0, built_days: 30 });
    expect((await ask(`${BUDGETS}?month=2026-08`, 'boss')).status).toBe(400);
  });

  test('has no interval before 15 days are built, and names days that are not', async () => {
    await setBudgets('young', [budget('organization', null, 1000), budget('team', 'Web', 50)]);
    expect(await rowsOf(BUDGETS, 'founder')).toMatchObject([
      {
        ...{ month: '2026-07', state: 'too_early', spent_usd: expect.closeTo(90, 4), built_days: 9 },
        ...{ forecast_usd: expect.closeTo(310, 4), forecast_low_usd: null, forecast_high_usd: null },
      },
      { scope: 'team', state: 'too_early', spent_usd: 0 },
    ]);
    const before = world.now;
    try {
      world.now = Date.parse('2026-07-12T12:00:00Z');
      const { meta, data } = JSON.parse((await ask(BUDGETS, 'founder')).text);
      expect(meta).toEqual({ org_id: 'young', month: '2026-07', unbuilt_days: ['2026-07-10', '2026-07-11'] });
      expect(data[0]).toMatchObject({ unbuilt_days: 2, left_days: 22 });
    } finally {
      world.now = before;
    }
  });

  test('tells members of their own budget: theirs, or that of each person', async () => {
    await setBudgets('acme', [budget('person', null, 30), budget('person', 'grace-laptop', 5000)]);
    expect(await rowsOf('/api/v1/analytics/me/budget', 'ada')).toMatchObject([
      { scope: 'person', name: 'ada', budget_usd: 30, state: 'above' },
    ]);
    // An alias means the person.
    expect(await rowsOf('/api/v1/analytics/me/budget', 'grace-laptop')).toMatchObject([
      { name: 'grace', budget_usd: 5000 },
    ]);
    expect((await ask(BUDGETS, 'ada')).status).toBe(403);
    await setBudgets('acme', [budget('organization', null, 1)]);
    expect(await rowsOf('/api/v1/analytics/me/budget', 'ada')).toEqual([]);
  });

  test('answers as CSV, and by the terms of the organization', async () => {
    await setBudgets('acme', [budget('organization', null, 500), budget('team', 'Web', 100)]);
    const costs = { currency: 'EUR', terms: [{ from: '2026-01-01', priceFactor: 0.5, rate: 0.9 }] };
    const controls = '/api/v0/organization/enterprise-controls';
    await ask(controls, 'root', { method: 'PUT', payload: { settings: { costs } } });
    const [row] = await rowsOf(BUDGETS);
    expect(row?.currency).toBe('EUR');
    expect(row?.contracted_spent).toBeCloseTo(Number(row?.spent_usd) * 0.45, 6);
    const { text } = await ask(BUDGETS, 'boss', { headers: { accept: 'text/csv' } });
    const [head, ...lines] = text.trimEnd().split('\r\n');
    expect(head).toMatch(/^month,scope,name,budget_usd,spent_usd,/);
    expect(lines.map((line) => line.split(',').slice(0, 3))).toEqual([
      ['2026-07', 'organization', ''],
      ['2026-07', 'team', 'Web'],
    ]);
    await ask(controls, 'root', { method: 'PUT', payload: { settings: {} } });
  });
});

describe('a protected organization', () => {
  const asked = [
    budget('organization', null, 3000),
    budget('team', 'Big', 500),
    budget('team', 'Few', 500),
    budget('person', null, 60),
    budget('person', 'few-0', 1),
  ];

  test('tells managers of groups, and of people how many are above their budgets', async () => {
    await setBudgets('guarded', asked);
    const rows = await rowsOf(`${BUDGETS}?month=2026-07`, 'lead');
    const [{ cost_usd } = {}] = (
      await rowsOf('/api/v1/analytics/summary?startDate=2026-07-01&endDate=2026-07-09&group_by=team', 'lead')
    ).filter(({ group_key }) => group_key === 'Big');
    expect(rows).toMatchObject([
      { scope: 'organization', spent_usd: expect.any(Number), forecast_high_usd: expect.any(Number) },
      // The days of a team aren't told, and nothing that only they say.
      {
        ...{ name: 'Big', spent_usd: expect.closeTo(Number(cost_usd), 4), forecast_usd: expect.any(Number) },
        ...{ forecast_low_usd: null, forecast_high_usd: null, half_on: null },
      },
      { name: 'Few', spent_usd: null, forecast_usd: null, state: 'not_shown' },
      { scope: 'person', name: null, budget_usd: 60, people: 16, people_above: expect.any(Number) },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/few-|big-|other-/);
    // A budget of one person moves no count.
    await setBudgets('guarded', asked.slice(0, 4));
    expect(await rowsOf(`${BUDGETS}?month=2026-07`, 'lead')).toEqual(rows);
    await setBudgets('guarded', [budget('person', null, 110)]);
    expect(await rowsOf(`${BUDGETS}?month=2026-07`, 'lead')).toMatchObject([
      { people: 16, people_above: null },
    ]);
    expect(await rowsOf('/api/v1/analytics/me/budget', 'few-0')).toMatchObject([{ name: 'few-0' }]);
  });

  test('tells auditors all of it, and logs that they read it', async () => {
    await setBudgets('guarded', asked);
    const rows = await rowsOf(`${BUDGETS}?month=2026-07`, 'auditor');
    expect(rows.find(({ name }) => name === 'few-0')).toMatchObject({ budget_usd: 1, state: 'above' });
    expect(rows.find(({ name }) => name === 'Few')).toMatchObject({ spent_usd: expect.any(Number) });
    const newestScope = async () => {
      const { reads } = JSON.parse((await ask('/api/v0/organization/audit?limit=20', 'auditor')).text);
      return reads.find(({ path }: { path: string }) => path === BUDGETS);
    };
    expect(await newestScope()).toMatchObject({ userId: 'auditor', scope: 'everyone', status: 200 });
    await rowsOf(`${BUDGETS}?scope=team`, 'auditor');
    expect(await newestScope()).toMatchObject({ userId: 'auditor', scope: 'totals' });
    await rowsOf(BUDGETS, 'lead');
    expect(await newestScope()).toMatchObject({ scope: 'totals' });
  });
});

describe('the settings', () => {
  test('are changed by owners, who see who changed them', async () => {
    await setBudgets('acme', [budget('organization', null, 500)]);
    const found = await ask(SETTINGS, 'root');
    const { revision } = JSON.parse(found.text);
    const budgets = [
      { scope: 'team', name: 'Web', usd: 100.5 },
      { scope: 'organization', usd: 400 },
    ];
    const put = (payload: object, headers: object = {}, user = 'root') =>
      ask(SETTINGS, user, { method: 'PUT', payload, headers });
    expect((await put({ budgets }, { 'if-match': '"0"' })).status).toBe(412);
    const changed = await put({ budgets }, { 'if-match': String(found.headers.etag) });
    expect(JSON.parse(changed.text)).toMatchObject({
      ...{ revision: revision + 1, changedBy: 'root' },
      budgets: [
        { scope: 'organization', name: null, usd: 400 },
        { scope: 'team', name: 'Web', usd: 100.5 },
      ],
    });
    // The same budgets are no change.
    expect(JSON.parse((await put({ budgets })).text).revision).toBe(revision + 1);
    const { changes } = JSON.parse((await ask(`${SETTINGS}/history?limit=2`, 'root')).text);
    expect(changes.map((change: Row) => change.revision)).toEqual([revision + 1, revision]);
    for (const user of ['boss', 'ada']) {
      expect((await ask(SETTINGS, user)).status).toBe(403);
      expect((await put({ budgets }, {}, user)).status).toBe(403);
    }
    for (const wrong of [
      [{ scope: 'team', usd: 1 }],
      [{ scope: 'organization', name: 'acme', usd: 1 }],
      [{ scope: 'organization', usd: 0 }],
      [{ scope: 'organization', usd: 1.005 }],
      [
        { scope: 'team', name: 'Web', usd: 1 },
        { scope: 'team', name: 'Web', usd: 2 },
      ],
    ])
      expect((await put({ budgets: wrong })).status, JSON.stringify(wrong)).toBe(400);
  });
});
