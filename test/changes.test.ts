import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { addDays, type Day, dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, event, leavesOutSlow, NOW, slow, temporaryFolder, World } from './world.js';

const atEnd = ending();

/** USD per million tokens: input and output of a day. */
const PRICES: Record<string, (day: string) => readonly [number, number]> = {
  'small-1': () => [1, 4],
  'large-1': (day) => (day < '2026-06-20' ? [10, 40] : [8, 50]),
};

const PRICE_FILE = {
  models: [
    { id: 'small-1', prices: [{ valid_from: '2026-01-01', input: 1, output: 4, source: 'the test' }] },
    {
      id: 'large-1',
      prices: [
        { valid_from: '2026-06-20', input: 8, output: 50, source: 'the test' },
        { valid_from: '2026-01-01', input: 10, output: 40, source: 'the test' },
      ],
    },
  ],
};

interface Call {
  readonly user: string;
  readonly day: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

const TEAMS: Record<string, readonly string[]> = {
  Web: ['ada', 'grace', 'linus'],
  Payments: ['joan', 'mary'],
  Tools: ['tim'],
};

/** What everybody did: Payments move to the dearer model, Linus joins in June, and the data of Tools begin on June 9. */
function madeCalls(): Call[] {
  const calls: Call[] = [];
  for (let day = '2026-05-01' as Day; day <= '2026-06-28'; day = addDays(day, 1)) {
    const place = Number(day.slice(8));
    const add = (user: string, model: string, input: number, output: number) =>
      calls.push({ user, day, model, input, output });
    add('ada', 'small-1', 1000 * place + 17, 300);
    if (place % 2 === 0) add('grace', place % 4 === 0 ? 'large-1' : 'small-1', 5000, 1000 + place);
    if (day >= '2026-06-10') add('linus', 'small-1', 2500, 700);
    add('joan', day >= '2026-06-15' ? 'large-1' : 'small-1', 9000, 2000);
    if (day < '2026-06-12') add('mary', 'large-1', 400, 100);
    if (day >= '2026-06-09') add('tim', 'large-1', 3000, 900);
    if (place === 20) add('ada', 'unknown-1', 777, 0);
  }
  return calls;
}

const CALLS = madeCalls();

function usdOf({ model, day, input, output }: Call): number {
  const [forInput, forOutput] = PRICES[model]?.(day) ?? [0, 0];
  return (input * forInput + output * forOutput) / 1_000_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** All orders of some values. */
function ordersOf<Value>(values: readonly Value[]): Value[][] {
  if (values.length === 0) return [[]];
  return values.flatMap((first) =>
    ordersOf(values.filter((one) => one !== first)).map((rest) => [first, ...rest]),
  );
}

type Factor = 'people' | 'tokens' | 'models' | 'prices';
const FACTORS: readonly Factor[] = ['people', 'tokens', 'models', 'prices'];

/** The steps from some calls to others: each order's steps by themselves, then their means. */
function stepsOf(before: readonly Call[], now: readonly Call[]): Record<Factor, number> {
  const sides = [before, now].map((calls) => {
    const cells = new Map<string, { tokens: number; usd: number }>();
    for (const call of calls.filter(({ model }) => model in PRICES))
      for (const kind of ['input', 'output'] as const) {
        const cell = cells.get(`${call.model} ${kind}`) ?? { tokens: 0, usd: 0 };
        const one = usdOf({ ...call, input: 0, output: 0, [kind]: call[kind] });
        cells.set(`${call.model} ${kind}`, { tokens: cell.tokens + call[kind], usd: cell.usd + one });
      }
    const tokens = sum([...cells.values()].map((cell) => cell.tokens));
    const people = new Set(calls.map(({ user }) => user)).size;
    return { cells, people, tokens, each: tokens / people };
  });
  const names = [...new Set(sides.flatMap(({ cells }) => [...cells.keys()]))];
  const costWith = (changed: readonly Factor[]) => {
    const side = (factor: Factor) => sides[changed.includes(factor) ? 1 : 0] as (typeof sides)[number];
    const mean = sum(
      names.map((name) => {
        const share = (side('models').cells.get(name)?.tokens ?? 0) / side('models').tokens;
        const cell =
          side('prices').cells.get(name) ?? sides.map(({ cells }) => cells.get(name)).find(Boolean);
        return share * ((cell?.usd ?? 0) / (cell?.tokens ?? 1));
      }),
    );
    return side('people').people * side('tokens').each * mean;
  };
  const steps = { people: 0, tokens: 0, models: 0, prices: 0 };
  for (const order of ordersOf(FACTORS))
    for (const [place, factor] of order.entries())
      steps[factor] += (costWith(order.slice(0, place + 1)) - costWith(order.slice(0, place))) / 24;
  return steps;
}

const inDays = (from: string, to: string) => CALLS.filter(({ day }) => from <= day && day <= to);

interface Step {
  readonly step: string;
  readonly usd: number;
  readonly previous_value: number | null;
  readonly value: number | null;
  readonly unpriced_tokens: number | null;
  readonly data_begins: string | null;
}

describe('what changed', () => {
  let world: World;
  let app: FastifyInstance;
  let key: string;

  const ask = async (path: string) => {
    const url = `/api/v1/analytics/${path}`;
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
    return { status: answer.statusCode, ...answer.json() };
  };
  const rows = async (path: string) => {
    const answered = await ask(path);
    expect(answered).toMatchObject({ status: 200 });
    return answered.data;
  };
  const changes = async (from: string, to: string, more = ''): Promise<Step[]> =>
    rows(`changes?startDate=${from}&endDate=${to}${more}`);
  const costOf = async (from: string, to: string, more = '') =>
    (await rows(`summary?startDate=${from}&endDate=${to}${more}`))[0].cost_usd;

  beforeAll(async () => {
    const file = join(temporaryFolder(atEnd), 'prices.json');
    writeFileSync(file, JSON.stringify(PRICE_FILE));
    world = await World.create({ DAYBOOK_PRICES: file, DAYBOOK_RATE_LIMIT: '0' }, atEnd);
    app = buildApp(world);
    await world.send(
      CALLS.map(({ user, day, model, input, output }, place) =>
        event(`call ${place}`, {
          ...{
            type: 'model_usage',
            timestamp: `${day}T09:00:00Z`,
            user_id: user,
            session_id: `${user} ${day}`,
          },
          ...{ model, input_tokens: input, output_tokens: output, repo: `github.com/acme/${user}` },
        }),
      ),
    );
    const csv = Object.entries(TEAMS).flatMap(([team, users]) => users.map((user) => `${user},${team}`));
    await replacePeople(
      world.store,
      'acme',
      (before) =>
        withLines(before, peopleLines(['user_id,team', ...csv].join('\n'), 'p.csv'), {
          today: dayOf(NOW),
          replaces: false,
        }),
      { author: 'root' },
      NOW,
    );
    await world.build();
    key = (await createKey(world.store, { orgId: 'acme', role: 'owner', userId: 'root' }, NOW)).key;
  });

  const sides = [
    // Tools' data begin in the middle of the two weeks before.
    ['2026-06-15', '2026-06-28', '2026-06-01', '2026-06-14', ''],
    // They begin in these days.
    ['2026-06-08', '2026-06-13', '2026-06-02', '2026-06-07', ''],
    // No team begins.
    ['2026-05-16', '2026-05-31', '2026-04-30', '2026-05-15', '&user_id=nobody'],
    ['2026-05-17', '2026-05-31', '2026-05-02', '2026-05-16', ''],
    ['2026-06-01', '2026-06-28', '2026-05-01', '2026-05-28', '&compare=month'],
  ] as const;
  test.each(leavesOutSlow() ? sides.slice(0, 2) : sides)(
    'the steps of %s to %s add up, and are the means over all orders',
    async (from, to, first, last, more) => {
      const found = await changes(from, to, more);
      if (more.includes('nobody')) {
        expect(found).toMatchObject([{ step: 'now', usd: 0, data_begins: '2026-05-01' }]);
        return;
      }
      const isNew = ({ user }: Call) => user === 'tim' && first < '2026-06-09' && to >= '2026-06-09';
      const all = [inDays(first, last), inDays(from, to)] as const;
      const [before, now] = all.map((calls) => calls.filter((call) => !isNew(call))) as [Call[], Call[]];
      const steps = stepsOf(before, now);
      const costs = all.map((calls) => sum(calls.map(usdOf)));
      const ofNew = all.map((calls) => sum(calls.filter(isNew).map(usdOf)));
      const hasNew = all.flat().some(isNew);
      expect(found.map(({ step }) => step)).toEqual([
        'before',
        ...(hasNew ? ['new_teams'] : []),
        ...FACTORS,
        'now',
      ]);
      const usd = Object.fromEntries(found.map((row) => [row.step, row.usd]));
      expect(usd).toEqual({
        before: expect.closeTo(costs[0] as number, 9),
        ...(hasNew ? { new_teams: expect.closeTo((ofNew[1] as number) - (ofNew[0] as number), 9) } : {}),
        ...Object.fromEntries(FACTORS.map((factor) => [factor, expect.closeTo(steps[factor], 9)])),
        now: expect.closeTo(costs[1] as number, 9),
      });
      expect(sum(found.slice(1, -1).map((row) => row.usd))).toBeCloseTo(
        (usd.now ?? 0) - (usd.before ?? 0),
        9,
      );
      expect(usd.now).toBeCloseTo(await costOf(from, to), 9);
      expect(usd.before).toBeCloseTo(await costOf(first, last), 9);
      const people = (calls: readonly Call[]) => new Set(calls.map(({ user }) => user)).size;
      expect(found.find(({ step }) => step === 'people')).toMatchObject({
        previous_value: people(before),
        value: people(now),
      });
      const unpriced = (calls: readonly Call[]) =>
        sum(calls.filter(({ model }) => !(model in PRICES)).map(({ input, output }) => input + output));
      expect(found.at(0)?.unpriced_tokens).toBe(unpriced(all[0]));
      expect(found.at(-1)?.unpriced_tokens).toBe(unpriced(all[1]));
    },
  );

  test('a team whose data begin in the days before is compared with nothing', async () => {
    const range = 'startDate=2026-06-15&endDate=2026-06-28&compare=previous';
    const teams = await rows(`summary?${range}&group_by=team`);
    const of = (rowsOf: { group_key: string }[], name: string) =>
      rowsOf.find(({ group_key }) => group_key === name);
    expect(of(teams, 'Tools')).toMatchObject({ previous: null, data_begins: '2026-06-09' });
    expect(of(teams, 'Web')).toMatchObject({ previous: { active_users: 3 }, data_begins: null });
    const [alone] = await rows(`summary?${range}&team=Tools`);
    expect(alone).toMatchObject({ previous: null, data_begins: '2026-06-09' });
    expect(await changes('2026-06-15', '2026-06-28', '&team=Tools')).toMatchObject([
      { step: 'now', data_begins: '2026-06-09' },
    ]);
    // A person who joined then is compared.
    expect(of(await rows(`summary?${range}&group_by=user`), 'linus')).toMatchObject({
      previous: { active_days: 5 },
      data_begins: null,
    });
  });

  test('where data begin in the days before, nothing is compared', async () => {
    expect(await changes('2026-05-10', '2026-05-20')).toMatchObject([
      { step: 'now', previous_value: null, data_begins: '2026-05-01' },
    ]);
    const [row] = await rows('summary?startDate=2026-05-10&endDate=2026-05-20&compare=previous');
    expect(row).toMatchObject({ previous: null, data_begins: '2026-05-01' });
    const days = await rows('summary?startDate=2026-05-27&endDate=2026-05-30&compare=previous&interval=day');
    const known = Object.fromEntries(
      days.map(({ date, previous }: { date: string; previous: unknown }) => [date, previous !== null]),
    );
    expect(known).toEqual({
      '2026-05-27': false,
      '2026-05-28': false,
      '2026-05-29': true,
      '2026-05-30': true,
    });
  });

  slow('the same days of the month before are those up to its end', async () => {
    const monthBefore = async (from: string, to: string) =>
      (await rows(`summary?startDate=${from}&endDate=${to}&compare=month`))[0].previous;
    const only = async (from: string, to: string) =>
      (await rows(`summary?startDate=${from}&endDate=${to}`))[0];
    const like = ({ cost_usd, input_tokens, active_days }: Record<string, unknown>) => ({
      ...{ cost_usd, input_tokens, active_days },
    });
    expect(await monthBefore('2026-06-01', '2026-06-26')).toMatchObject(
      like(await only('2026-05-01', '2026-05-26')),
    );
    expect(await monthBefore('2026-06-01', '2026-06-30')).toMatchObject(
      like(await only('2026-05-01', '2026-05-31')),
    );
    expect(await monthBefore('2026-06-15', '2026-06-28')).toMatchObject(
      like(await only('2026-05-15', '2026-05-28')),
    );
    expect(await ask('summary?startDate=2026-05-30&endDate=2026-06-02&compare=month')).toMatchObject({
      status: 400,
      detail: expect.stringContaining('compare must be previous for a range of several months'),
    });
    expect(
      await ask('summary?startDate=2026-06-01&endDate=2026-06-02&compare=month&interval=day'),
    ).toMatchObject({
      status: 400,
      detail: expect.stringContaining('compare must be previous with interval'),
    });
    expect(await ask('changes?startDate=2026-05-30&endDate=2026-06-02&compare=month')).toMatchObject({
      status: 400,
    });
  });

  slow(
    'groups can be sorted by what their cost changed by, and those that are gone are among them',
    async () => {
      const range = 'startDate=2026-06-15&endDate=2026-06-28&compare=previous';
      const expected = Object.values(TEAMS)
        .flat()
        .map((user) => {
          const of = (from: string, to: string) =>
            sum(
              inDays(from, to)
                .filter((call) => call.user === user)
                .map(usdOf),
            );
          return [user, of('2026-06-15', '2026-06-28') - of('2026-06-01', '2026-06-14')] as const;
        });
      const order = async (sort: string, more = '') =>
        (await rows(`summary?${range}&group_by=user&sort=${sort}${more}`)).map(
          ({ group_key }: { group_key: string }) => group_key,
        );
      const by = (value: (change: number) => number) =>
        [...expected].sort(([, one], [, other]) => value(one) - value(other)).map(([user]) => user);
      expect(await order('change')).toEqual(by((change) => -change));
      expect(await order('change:asc')).toEqual(by((change) => change));
      expect(await order('change:abs')).toEqual(by((change) => -Math.abs(change)));
      expect(await order('change:abs', '&limit=2')).toEqual(by((change) => -Math.abs(change)).slice(0, 2));
      const users = await rows(`summary?${range}&group_by=user&sort=change`);
      expect(users.find(({ group_key }: { group_key: string }) => group_key === 'mary')).toMatchObject({
        ...{ cost_usd: 0, sessions: 0, active_users: 0 },
        previous: { active_days: 11 },
      });
      // Otherwise they aren't.
      expect(await order('cost_usd')).not.toContain('mary');
      // What can't be compared comes last.
      const teams = (await rows(`summary?${range}&group_by=team&sort=change:asc`)) as { group_key: string }[];
      expect(teams.at(-1)?.group_key).toBe('Tools');
      expect(await ask('summary?startDate=2026-06-15&endDate=2026-06-28&sort=change')).toMatchObject({
        status: 400,
        detail: expect.stringContaining('sort needs compare'),
      });
    },
  );

  test('where people are protected, sides of few people are not told, and no team is a step', async () => {
    const boss = (await createKey(world.store, { orgId: 'acme', role: 'manager', userId: 'boss' }, NOW)).key;
    const owner = key;
    const set = (smallestGroup: number, mode: 'open' | 'protected' = 'protected') =>
      changePrivacy(world.store, 'acme', () => ({ mode, smallestGroup, auditors: ['root'] }), 'root', NOW);
    await set(3);
    key = boss;
    try {
      const found = await changes('2026-06-15', '2026-06-28');

      expect(found.map(({ step }) => step)).toEqual(['before', ...FACTORS, 'now']);
      const [before, now] = [inDays('2026-06-01', '2026-06-14'), inDays('2026-06-15', '2026-06-28')];
      const steps = stepsOf(before, now);
      for (const factor of FACTORS)
        expect(found.find(({ step }) => step === factor)?.usd).toBeCloseTo(steps[factor], 9);
      // The fifth person began on June 9.
      await set(5);
      expect(await changes('2026-06-15', '2026-06-28')).toMatchObject([
        { step: 'now', data_begins: '2026-06-09' },
      ]);
      expect((await ask('changes?startDate=2026-06-15&endDate=2026-06-28&team=Tools')).status).toBe(403);
      expect((await ask('changes?startDate=2026-06-15&endDate=2026-06-28&user_id=ada')).status).toBe(403);
    } finally {
      key = owner;
      await set(5, 'open');
    }
  });
});
