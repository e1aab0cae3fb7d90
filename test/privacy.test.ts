import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { changeBudgets } from '../src/store/state/budget-revisions.js';
import { addHeartbeat } from '../src/store/state/heartbeat.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { randomOf } from './random.js';
import { type Operation, queryOf, Reference } from './reference.js';
import { playsSlow } from './slow.js';
import { ending, event, leavesOutSlow, slow, storeName, World } from './world.js';

const SUMMARY = '/api/v1/analytics/summary';
const COSTS = '/api/v1/analytics/costs';
const PRIVACY = '/api/v0/organization/privacy';
const JUNE = 'startDate=2026-06-01&endDate=2026-06-30';

/** Nobody may learn these: whoever is called so is one of few in everything that has such a name. */
const SECRET = /secret-|few-/i;
const BIG = 8;
const SMALL = 6;

const atEnd = ending();
let world: World;
let app: FastifyInstance;
const keys = new Map<string, string>();

/** The user ids of a team; each has messages of 1 token more than the one before. */
const usersOf = (team: string, count: number) =>
  Array.from({ length: count }, (_, place) => `secret-${team}-${place}`);

const TEAMS: Record<string, string[]> = {
  Compilers: usersOf('compilers', BIG),
  Linkers: usersOf('linkers', SMALL),
  'few-tools': usersOf('tools', 2),
};

const work = (user_id: string, day: string, more: object = {}, tokens = 100) => [
  event(`m ${user_id} ${day} ${JSON.stringify(more)}`, {
    ...{ type: 'model_usage', timestamp: `${day}T10:00:00Z`, user_id, session_id: `${user_id} ${day}` },
    ...{
      user_email: `${user_id}@acme.example`,
      agent: 'claude-code',
      client: 'terminal-ui',
      repo: 'github.com/acme/api',
    },
    ...{ model: 'claude-opus-4-5', input_tokens: tokens, output_tokens: 10 },
    ...more,
  }),
  event(`t ${user_id} ${day} ${JSON.stringify(more)}`, {
    ...{ type: 'tool_call', timestamp: `${day}T10:01:00Z`, user_id, session_id: `${user_id} ${day}` },
    ...{ agent: 'claude-code', client: 'terminal-ui', repo: 'github.com/acme/api', tool_name: 'Edit' },
    ...more,
  }),
];

/** Imports people from the lines of a CSV file. */
async function importPeople(orgId: string, csv: readonly string[]): Promise<void> {
  const options = { today: dayOf(world.now), replaces: false };
  await replacePeople(
    world.store,
    orgId,
    (before) => withLines(before, peopleLines(csv.join('\n'), 'p.csv'), options),
    { author: 'secret-importer' },
    world.now,
  );
}

beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  app = buildApp(world, { logs: process.env.LOGS === '1' });
  const all = Object.values(TEAMS).flat();
  const few = TEAMS.Compilers?.slice(0, 2) ?? [];
  await world.send([
    ...all.flatMap((user, place) =>
      ['2026-06-03', '2026-06-04', '2026-06-05', '2026-06-10'].flatMap((day) =>
        work(user, day, {}, 100 + place),
      ),
    ),
    // A Saturday and a Sunday of one person, and a day of two of a team.
    ...work('secret-linkers-0', '2026-06-06', {}, 7000),
    ...work('secret-linkers-0', '2026-06-07', {}, 9000),
    ...(TEAMS.Compilers ?? []).flatMap((user) => work(user, '2026-06-11')),
    ...(TEAMS.Linkers ?? []).slice(0, 2).flatMap((user) => work(user, '2026-06-11', {}, 500)),
    // Names that two people have.
    ...few.flatMap((user) =>
      work(user, '2026-06-10', {
        ...{ agent: 'few-agent', client: 'few-client', repo: 'github.com/acme/few-repo', model: 'few-model' },
        ...{ tool_name: 'mcp__few-server__few-tool' },
      }),
    ),
  ]);
  const csv = Object.entries(TEAMS).flatMap(([team, users]) =>
    users.map(
      (user) => `${user},Secret-Name of ${user},${user}@mail.example,${user}-laptop,${team},cc-${team}`,
    ),
  );
  await importPeople('acme', ['user_id,name,email,alias,team,cost_center', ...csv]);
  await world.build();
  const users: [Role, string][] = [
    ['owner', 'root'],
    ['owner', 'auditor'],
    ['manager', 'boss'],
    ['member', 'secret-compilers-0'],
    ['member', 'secret-linkers-0'],
    ['guest', 'visitor'],
  ];
  for (const [role, userId] of users)
    keys.set(userId, (await createKey(world.store, { orgId: 'acme', role, userId }, world.now)).key);
  keys.set('nobody', (await createKey(world.store, { orgId: 'acme', role: 'manager' }, world.now)).key);
  await createKey(
    world.store,
    {
      orgId: 'acme',
      role: 'member',
      userId: 'secret-tools-0',
      name: 'secret-laptop',
      email: 'secret-t@acme.example',
    },
    world.now,
  );
  await addHeartbeat(world.store, {
    ...{ orgId: 'acme', userId: 'secret-tools-0', collectorId: 'secret-tools-c', version: '0.2.0' },
    ...{ seenAt: Date.parse('2026-06-25T10:00:00Z'), host: 'secret-tools-laptop', fingerprint: 'f' },
    agents: [{ agent: 'codex', changedAt: null }],
  });
  await protect();
});

const protect = (change: object = {}) =>
  changePrivacy(
    world.store,
    'acme',
    () => ({ mode: 'protected', smallestGroup: 5, auditors: ['auditor'], ...change }),
    'root',
    world.now,
  );

async function send(
  url: string,
  user = 'boss',
  { accept = 'application/json', ...more }: Record<string, unknown> = {},
) {
  const { statusCode, rawPayload, headers } = await app.inject({
    ...{ method: 'GET', url },
    headers: { authorization: `Bearer ${keys.get(user)}`, accept: String(accept) },
    ...more,
  } as never);
  return { status: statusCode, text: rawPayload.toString('latin1'), headers };
}

async function rowsOf(url: string, user = 'boss') {
  const { status, text } = await send(url, user);
  expect(status, text).toBe(200);
  return JSON.parse(text).data;
}

const sum = (rows: Record<string, number>[], member: string) =>
  rows.reduce((all, row) => all + Number(row[member]), 0);

describe('groups of few people', () => {
  const groups = [
    'team',
    'model_key',
    'tool',
    'agent',
    'model',
    'repo',
    'client',
    'mcp_server',
    'cost_center',
  ];
  test.each(leavesOutSlow() ? groups.slice(0, 3) : groups)(
    'are joined with the next smallest, and the rows still add up: by %s',
    async (group) => {
      const url = `${SUMMARY}?${JUNE}&group_by=${group}`;
      const open = await rowsOf(url, 'auditor');
      const shown = await rowsOf(url);
      expect(JSON.stringify(open)).toMatch(SECRET);
      expect(JSON.stringify(shown)).not.toMatch(SECRET);
      const joined = shown.find((row: { group_key: string }) => row.group_key === '(small groups)');
      if (group === 'mcp_server') {
        // Two people alone have called one.
        expect(shown).toEqual([]);
        return;
      }
      expect(joined).toBeDefined();
      for (const row of shown) expect(row.active_users).toBeGreaterThanOrEqual(5);
      // Of sessions with several models or tools the rows have more than there is.
      if (group !== 'tool') expect(sum(shown, 'input_tokens')).toBe(sum(open, 'input_tokens'));
      if (!group.startsWith('model')) expect(sum(shown, 'tool_calls')).toBe(sum(open, 'tool_calls'));
    },
  );

  test('of a team of two: with the smaller one of the others', async () => {
    const shown = await rowsOf(`${SUMMARY}?${JUNE}&group_by=team`);
    expect(
      shown.map(({ group_key, active_users }: Record<string, unknown>) => [group_key, active_users]).sort(),
    ).toEqual([
      ['(small groups)', SMALL + 2],
      ['Compilers', BIG],
    ]);
  });

  test('on a day are joined on that day alone', async () => {
    const url = `${SUMMARY}?${JUNE}&group_by=team&interval=day`;
    const shown = await rowsOf(url);
    const on = (day: string) =>
      shown
        .filter(({ date }: { date: string }) => date === day)
        .map(({ group_key }: { group_key: string }) => group_key)
        .sort();
    expect(on('2026-06-10')).toEqual(['(small groups)', 'Compilers']);
    // Two linkers are joined with all compilers.
    expect(on('2026-06-11')).toEqual(['(small groups)']);
    expect(sum(shown, 'input_tokens')).toBe(sum(await rowsOf(url, 'auditor'), 'input_tokens'));
  });

  test('a session that two joined models found is counted once', async () => {
    const both = { ...{ user_id: 'secret-tools-1', session_id: 'both', timestamp: '2026-05-04T10:00:00Z' } };
    const of = (id: string, model: string) =>
      event(id, { ...both, type: 'model_usage', model, input_tokens: 1, output_tokens: 1 });
    await world.send([
      of('b1', 'few-model-a'),
      of('b2', 'few-model-b'),
      ...(TEAMS.Compilers ?? []).flatMap((user) => work(user, '2026-05-04')),
    ]);
    await world.build();
    const shown = await rowsOf(`${SUMMARY}?startDate=2026-05-04&endDate=2026-05-04&group_by=model`);
    expect(shown).toMatchObject([{ group_key: '(small groups)', sessions: BIG + 1, active_users: BIG + 1 }]);
  });

  test('costs join the same groups, and a day has the same total', async () => {
    const open = await rowsOf(`${COSTS}?${JUNE}&group_by=team`, 'auditor');
    const shown = await rowsOf(`${COSTS}?${JUNE}&group_by=team`);
    expect(JSON.stringify(shown)).not.toMatch(SECRET);
    expect(sum(shown, 'cost_usd')).toBeCloseTo(sum(open, 'cost_usd'), 9);
    const days = await rowsOf(`${COSTS}?${JUNE}`);
    expect(sum(days, 'cost_usd')).toBeCloseTo(sum(open, 'cost_usd'), 9);
    expect(days.map(({ date }: { date: string }) => date)).not.toContain('2026-06-06');
  });

  test('a comparison is there only if as many people were active before', async () => {
    const of = (day: string) => `${SUMMARY}?startDate=${day}&endDate=${day}&group_by=team&compare=previous`;
    expect(await rowsOf(of('2026-06-11'), 'auditor')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ group_key: 'Linkers', previous: expect.anything() }),
      ]),
    );
    expect(await rowsOf(of('2026-06-11'))).toMatchObject([{ group_key: '(small groups)', previous: null }]);
    const compared = (await rowsOf(of('2026-06-04'))).map(
      ({ group_key, previous }: { group_key: string; previous: object | null }) => [group_key, previous],
    );
    expect(Object.fromEntries(compared)).toMatchObject({
      Compilers: { active_users: BIG },
      '(small groups)': null,
    });
  });
});

describe('a day of few people', () => {
  slow('counts with the day before it, so that no two ranges differ by it', async () => {
    const total = async (from: string, to: string, user = 'boss') =>
      (await rowsOf(`${SUMMARY}?startDate=${from}&endDate=${to}`, user))[0]?.input_tokens;
    const weekend = 16_000;
    const friday = await total('2026-06-05', '2026-06-05', 'auditor');
    for (const end of ['2026-06-05', '2026-06-06', '2026-06-07', '2026-06-09'])
      expect(await total('2026-06-05', end)).toBe(friday + weekend);
    expect(await total('2026-06-06', '2026-06-09')).toBeUndefined();
    expect(await total('2026-06-01', '2026-06-30')).toBe(await total('2026-06-01', '2026-06-30', 'auditor'));
    const days = await rowsOf(`${SUMMARY}?${JUNE}&interval=day`);
    const on = (day: string) => days.find(({ date }: { date: string }) => date === day)?.input_tokens;
    expect([on('2026-06-05'), on('2026-06-06')]).toEqual([friday + weekend, undefined]);
    expect(sum(days, 'input_tokens')).toBe(await total('2026-06-01', '2026-06-30'));
  });

  test('is no row of the answers by day', async () => {
    for (const answer of ['activity', 'quality']) {
      const days = await rowsOf(`/api/v1/analytics/${answer}?${JUNE}`);
      expect(days.map(({ date }: { date: string }) => date)).toEqual([
        ...['2026-06-03', '2026-06-04', '2026-06-05', '2026-06-10', '2026-06-11'],
      ]);
      expect(await rowsOf(`/api/v1/analytics/${answer}?startDate=2026-06-06&endDate=2026-06-07`)).toEqual([]);
    }
    const [day] = await rowsOf(`/api/v1/analytics/activity?${JUNE}`);
    expect(day.daily_active_users_by_client).toEqual({});
  });
});

describe('filters', () => {
  test('by people are refused, by a pseudonym too', async () => {
    for (const filter of ['user_id=secret-tools-0', 'user_id=person-0123456789ab', 'group_by=user'])
      expect((await send(`${SUMMARY}?${JUNE}&${filter}`)).status).toBe(403);
    for (const answer of ['users', 'coverage', 'tokens', 'tools', 'productivity', 'today'])
      expect((await send(`/api/v1/analytics/${answer}?${answer === 'today' ? '' : JUNE}`)).status).toBe(403);
  });

  test.each([
    ['team=few-tools', 'few-tools'],
    ['agent=few-agent', 'few-agent'],
    ['model=few-model', 'few-model'],
    ['tool=Edit&mcp_server=few-server', 'Edit'],
    ['mcp_server=few-server', 'few-server'],
    // All but the few: the total minus these is theirs.
    ['team=Compilers&team=Linkers', 'Linkers'],
    ['agent=claude-code', 'claude-code'],
  ])('%s would give few people away', async (filter, name) => {
    const { status, text } = await send(`${SUMMARY}?${JUNE}&${filter}`);
    expect(status).toBe(403);
    expect(JSON.parse(text).detail).toContain(`=${name} would tell fewer than 5 people apart`);
  });

  test('by a large group are answered, exactly', async () => {
    const filter = `${SUMMARY}?${JUNE}&team=Compilers`;
    expect(await rowsOf(filter)).toEqual(await rowsOf(filter, 'auditor'));
    // Under the filter two people have another agent.
    const agents = await rowsOf(`${filter}&group_by=agent`);
    expect(agents.map(({ group_key }: { group_key: string }) => group_key)).toEqual(['(small groups)']);
  });

  test('can be three at a time', async () => {
    const three = `${SUMMARY}?startDate=2026-06-03&endDate=2026-06-05&agent=claude-code&client=terminal-ui&repo=github.com/acme/api`;
    expect(await rowsOf(three)).toEqual(await rowsOf(three.replace('05&', '07&'), 'auditor'));
    const { status, text } = await send(`${three}&model=claude-opus-4-5`);
    expect([status, JSON.parse(text).detail]).toEqual([403, expect.stringContaining('3 filters at most')]);
  });
});

describe('the difference of two answers', () => {
  const FLOOR = 3;
  const DAY = '2026-06-10';
  const CHOICES = {
    team: ['T1', 'T2', 'T3'],
    agent: ['codex', 'claude-code', 'cline'],
    repo: ['github.com/acme/x', 'github.com/acme/y', 'github.com/acme/z'],
    model: ['model-m', 'model-n', 'model-o'],
  };
  const GROUPS = [undefined, ...Object.keys(CHOICES)];
  /** What somebody who knows all names knows of a row: the values that its events can have. */
  type Chosen = Record<keyof typeof CHOICES, string[]>;

  // ClickHouse takes a second to plan each, so it is asked for fewer.
  const [QUESTIONS, TOLD] = storeName() === 'DuckDB' ? [25, 20] : [8, 5];

  test.skipIf(leavesOutSlow()).each(playsSlow() ? [1, 2, 3] : [1])(
    'is of nobody or of enough people: organization %i',
    async (seed) => {
      const orgId = `random-${seed}`;
      const random = randomOf(seed);
      // Some are rare.
      const one = <T>(of: readonly T[]) => of[Math.floor(random() ** 2 * of.length)] as T;
      const ownerOf = new Map<bigint, string>();
      const people = Array.from({ length: 14 }, (_, place) => `p${place}`);
      const events = people.flatMap((user_id) =>
        Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
          const place = ownerOf.size;
          ownerOf.set(1n << BigInt(place), user_id);
          return event(`e${place}`, {
            ...{ type: 'model_usage', timestamp: `${DAY}T10:00:00Z`, user_id, session_id: `s${place}` },
            ...{ agent: one(CHOICES.agent), repo: one(CHOICES.repo), model: one(CHOICES.model) },
            ...{ input_tokens: 2 ** place, output_tokens: 0 },
          });
        }),
      );
      await world.send(events, { orgId });
      const csv = people.map((user) => `${user},${one(CHOICES.team)}`);
      await importPeople(orgId, ['user_id,team', ...csv]);
      await world.build();
      const change = { mode: 'protected', smallestGroup: FLOOR, auditors: [] } as const;
      await changePrivacy(world.store, orgId, () => change, 'root', world.now);
      keys.set(orgId, (await createKey(world.store, { orgId, role: 'manager' }, world.now)).key);

      // One filter or two, of one value or two.
      const someOf = (dimension: keyof typeof CHOICES) => {
        const values = CHOICES[dimension].filter(() => random() < 0.5).slice(0, 2);
        return (values.length === 0 ? [CHOICES[dimension][0]] : values).map(
          (value) => `&${dimension}=${value}`,
        );
      };
      const dimensions = Object.keys(CHOICES) as (keyof typeof CHOICES)[];
      const filters = new Set(['']);
      while (filters.size < QUESTIONS) {
        const chosen = dimensions.filter(() => random() < 0.4).slice(0, 2);
        filters.add(chosen.flatMap(someOf).join(''));
      }
      const told: { readonly mask: bigint; readonly chosen: Chosen; readonly by: string }[] = [];
      let refused = 0;
      for (const filter of filters)
        for (const group of GROUPS) {
          const url = `${SUMMARY}?startDate=${DAY}&endDate=${DAY}${group === undefined ? '' : `&group_by=${group}`}${filter}`;
          const { status, text } = await send(url, orgId);
          if (status === 403) {
            refused += 1;
            continue;
          }
          const rows = JSON.parse(text).data;
          const shown = new Set(rows.map((row: { group_key: string }) => row.group_key));
          const asked = new URLSearchParams(filter);
          for (const { input_tokens, group_key } of rows) {
            // Joined are those that have no row.
            const values = (dimension: keyof typeof CHOICES) => {
              const all = CHOICES[dimension].filter(
                (value) => !asked.has(dimension) || asked.getAll(dimension).includes(value),
              );
              if (dimension !== group) return all;
              return group_key === '(small groups)' ? all.filter((value) => !shown.has(value)) : [group_key];
            };
            const chosen = Object.fromEntries(dimensions.map((one) => [one, values(one)])) as Chosen;
            told.push({ mask: BigInt(input_tokens), chosen, by: `${group} ${filter} ${group_key}` });
          }
        }
      const peopleOf = (mask: bigint) =>
        new Set([...ownerOf].filter(([bit]) => (mask & bit) !== 0n).map(([, user]) => user)).size;
      const giving = told.flatMap((larger) =>
        told.flatMap((smaller) => {
          const difference = larger.mask ^ smaller.mask;
          const isPart =
            difference !== 0n &&
            dimensions.every((one) =>
              smaller.chosen[one].every((value) => larger.chosen[one].includes(value)),
            );
          return isPart && peopleOf(difference) < FLOOR
            ? [`${larger.by} - ${smaller.by}: ${peopleOf(difference)} people`]
            : [];
        }),
      );
      expect(giving).toEqual([]);
      // Some are answered, and some are not.
      expect(told.length).toBeGreaterThan(TOLD);
      expect(refused).toBeGreaterThan(0);
    },
  );
});

describe('a member', () => {
  test('sees the own numbers, of every day', async () => {
    const [row] = await rowsOf(`${SUMMARY}?${JUNE}`, 'secret-compilers-0');
    expect(row).toMatchObject({ active_users: 1, active_days: 5 });
    const place = await rowsOf(`/api/v1/analytics/me/place?${JUNE}`, 'secret-compilers-0');
    const of = (wanted: string) => place.find(({ measure }: { measure: string }) => measure === wanted);
    // Of the fifteen others seven have five days, one seven, one five and six four.
    expect(of('active_days')).toMatchObject({ own: 5, below: 6 / 15, p10: 4, p90: 5.4, people: 16 });
    expect(JSON.stringify(place)).not.toMatch(SECRET);
    expect(
      await rowsOf('/api/v1/analytics/me/place?startDate=2026-06-06&endDate=2026-06-06', 'secret-linkers-0'),
    ).toEqual([]);
    expect((await rowsOf(`/api/v1/analytics/me?${JUNE}`, 'secret-compilers-0')).length).toBeGreaterThan(0);
  });
});

slow('no number of a place is that of one colleague', async () => {
  const orgId = 'placed';
  const DAY = '2026-06-10';
  const users = Array.from({ length: 11 }, (_, place) => `u${place}`);
  // The calls of each are another power of two, so that a sum tells whose they are.
  const calls = (user_id: string, count: number) =>
    Array.from({ length: count }, (_, call) =>
      event(`${user_id} ${call}`, {
        ...{ type: 'tool_call', timestamp: `${DAY}T10:00:00Z`, user_id, session_id: user_id },
        ...{ agent: 'codex', tool_name: 'Edit' },
      }),
    );
  await world.send(
    users.flatMap((user, place) => calls(user, 2 ** place)),
    { orgId },
  );
  await world.build();
  for (const userId of ['u0', 'u4', 'u10'])
    keys.set(userId, (await createKey(world.store, { orgId, role: 'member', userId }, world.now)).key);
  const PLACE = `/api/v1/analytics/me/place?startDate=${DAY}&endDate=${DAY}`;
  const placeOf = async (user: string) =>
    (await rowsOf(PLACE, user)).find(({ measure }: { measure: string }) => measure === 'tool_calls');
  const peopleIn = (mean: number) => (mean * 5).toString(2).replaceAll('0', '').length;
  for (const user of ['u0', 'u4', 'u10']) {
    const { own, below, p10, median, p90 } = await placeOf(user);
    expect([own, below]).toEqual([2 ** Number(user.slice(1)), Number(user.slice(1)) / 10]);
    for (const mean of [p10, median, p90]) {
      expect(Number.isInteger(mean * 5) && peopleIn(mean) === 5, `${user}: ${mean}`).toBe(true);
      // The own number is in none, or it could be taken out.
      expect((mean * 5) & own).toBe(0);
    }
  }
  // Nine others are too few, and so are ten where groups have at least six.
  const protect = (smallestGroup: number) =>
    changePrivacy(
      world.store,
      orgId,
      () => ({ mode: 'protected', smallestGroup, auditors: [] }),
      'root',
      world.now,
    );
  await protect(2);
  expect(await placeOf('u0')).toBeDefined();
  await protect(6);
  expect(await rowsOf(PLACE, 'u0')).toEqual([]);
});

test('the privacy itself is told to all, and its auditors to owners', async () => {
  const of = async (user: string) => JSON.parse((await send(PRIVACY, user)).text);
  expect(await of('root')).toMatchObject({ mode: 'protected', auditors: ['auditor'], seesNames: false });
  expect(await of('auditor')).toMatchObject({ seesNames: true });
  expect(await of('secret-compilers-0')).toMatchObject({
    mode: 'protected',
    auditors: null,
    auditorCount: 1,
  });
  expect((await send(PRIVACY, 'boss', { method: 'PUT', payload: { mode: 'open' } })).status).toBe(403);
});

test('every change has its time, author and key, and members see the mode and how many auditors', async () => {
  const of = async (user: string, query = '') =>
    JSON.parse((await send(`${PRIVACY}/history${query}`, user)).text);
  const before = (await of('root')).changes.length;
  world.now += 60_000;
  const owner = { method: 'PUT', headers: { authorization: `Bearer ${keys.get('root')}` } };
  const change = (payload: object) => app.inject({ ...owner, url: PRIVACY, payload } as never);
  await change({ mode: 'open' });
  // The same again is no change.
  await change({ mode: 'open' });
  await protect({ smallestGroup: 6 });
  await protect();
  const { changes } = await of('root');
  expect(changes.length).toBe(before + 3);
  expect(changes[2]).toEqual({
    ...{ revision: before + 1, mode: 'open', smallestGroup: 5, auditors: [], auditorCount: 0 },
    ...{ changedBy: 'root', fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/) },
    changedAt: new Date(world.now).toISOString(),
  });
  expect(changes[1]).toMatchObject({ smallestGroup: 6, auditors: ['auditor'], fingerprint: null });
  const names = { auditors: null, changedBy: null, fingerprint: null };
  for (const user of ['boss', 'visitor'])
    expect((await of(user)).changes[2]).toEqual({ ...changes[2], ...names });
  const [first, second] = [await of('root', '?limit=2'), await of('root', `?limit=2&cursor=${before + 2}`)];
  expect(first.pagination).toEqual({ hasMore: true, nextCursor: String(before + 2) });
  expect([...first.changes, ...second.changes].slice(0, 3)).toEqual(changes.slice(0, 3));
});

test('a change counts from the next request on, in answers from memory too', async () => {
  const url = `${SUMMARY}?${JUNE}&group_by=user`;
  const owner = { method: 'PUT', headers: { authorization: `Bearer ${keys.get('root')}` } };
  const change = (payload: object) => app.inject({ ...owner, url: PRIVACY, payload } as never);
  expect((await change({ mode: 'open' })).statusCode).toBe(200);
  const { status, text, headers } = await send(url);
  expect([status, SECRET.test(text)]).toEqual([200, true]);
  expect((await change({ mode: 'protected', auditors: ['auditor'] })).statusCode).toBe(200);
  expect((await send(url)).status).toBe(403);
  const again = await app.inject({
    url,
    headers: { authorization: `Bearer ${keys.get('boss')}`, 'if-none-match': String(headers.etag) },
  });
  expect(again.statusCode).toBe(403);
});

describe('every route, form and role', () => {
  /** Values for parameters that choose, from the document or planted. */
  const PLANTED: Record<string, string[]> = {
    user_id: ['secret-tools-0'],
    team: ['few-tools', 'Compilers', '(small groups)'],
    cost_center: ['cc-few-tools'],
    agent: ['few-agent', 'claude-code'],
    model: ['few-model', 'claude-opus-4-5'],
    repo: ['github.com/acme/few-repo'],
    client: ['few-client'],
    tool: ['mcp__few-server__few-tool', 'Edit'],
    mcp_server: ['few-server'],
    search: ['e'],
    group_keys: ['["(small groups)"]', '["few-tools"]'],
    about: ['secret-tools-0'],
    userId: ['secret-tools-0'],
  };
  const valuesOf = ({ name, schema }: ReturnType<typeof queryOf>[number]): string[] => [
    ...(PLANTED[name] ?? []),
    ...((schema.enum ?? []) as unknown[]).map(String).slice(0, 60),
  ];
  const FORMS = ['application/json', 'text/csv', 'application/vnd.apache.arrow.stream'];
  /** What may have people's names: owners keep these lists, and a member is not hidden from herself. */
  const ALLOWED = new Set([
    'root getPeople',
    'root getProposedAliases',
    'root getBudgets',
    'root getBudgetsHistory',
  ]);

  // Routes are the same above both stores.
  test.skipIf(storeName() !== 'DuckDB')(
    'tell no name, id, address or group of few people',
    async () => {
      await world.store.run([
        {
          sql: `INSERT INTO computers (computer_id, org_id, name, provider_type, status, owner_kind, owner_id, repos, auto_install_deps, steps, token_hash, created_at, hostname, remote_user)
          SELECT 'cmp_1', 'acme', 'secret-box', 'byom', 'active', 'human', 'secret-tools-0', '[]', 1 = 0, '[]', 'none', instant($now), 'secret-host', 'secret-me'`,
          parameters: { now: world.now },
        },
        {
          sql: `INSERT INTO control_revisions SELECT 'acme', CAST(1 AS BIGINT), '{}', 'secret-tools-0', 'secret-t@acme.example', 'Secret-Name', instant($now)`,
          parameters: { now: world.now },
        },
      ]);
      await changeBudgets(
        world.store,
        'acme',
        () => [
          { scope: 'organization', name: null, usd: 1 },
          { scope: 'team', name: 'Compilers', usd: 1 },
          { scope: 'person', name: null, usd: 1 },
          { scope: 'person', name: 'secret-tools-0', usd: 1 },
        ],
        'secret-tools-0',
        world.now,
      );
      const reference = await Reference.of(app);
      const asked: string[] = [];
      const told: string[] = [];
      const requestsOf = (operation: Operation): string[] => {
        const path = reference
          .path(operation)
          .replace(/cmp_\w+/, 'cmp_1')
          .replace(/\/computers\/name\/[^/]+/, '/computers/name/secret-box');
        const required = queryOf(operation)
          .filter((one) => one.required === true)
          .map(({ name, example }) => [name, String(example)]);
        const range = { startDate: '2026-06-01', endDate: '2026-06-30' };
        const base = Object.entries({
          ...Object.fromEntries(required),
          ...(path.includes('analytics') && queryOf(operation).some(({ name }) => name === 'startDate')
            ? range
            : {}),
        });
        const chosen = queryOf(operation).flatMap((parameter) =>
          valuesOf(parameter).map((value) => [parameter.name, value] as [string, string]),
        );
        const groups = chosen.filter(([name]) => name === 'group_by');
        const variants: [string, string][][] = [
          [],
          ...chosen.map((one) => [one]),
          // Groups under the filters by names of few people, and by those of many.
          ...groups.flatMap((group) =>
            chosen
              .filter(([name, value]) => name in PLANTED && !SECRET.test(value))
              .filter((_, place) => playsSlow() || (place + groups.indexOf(group)) % 3 === 0)
              .map((one) => [group, one]),
          ),
          ...groups.map((group) => [group, ['interval', 'day'] as [string, string]]),
        ];
        return variants.map((extra) => {
          const query = new URLSearchParams([...base, ...extra] as [string, string][]).toString();
          return query === '' ? path : `${path}?${query}`;
        });
      };
      // One form after the other, from one request to the next; in slow tests each request in all of them.
      let turn = 0;
      const formsOf = ({ responses }: Operation): string[] => {
        if (!('text/csv' in (Object.values(responses)[0]?.content ?? {}))) return FORMS.slice(0, 1);
        turn += 1;
        return playsSlow() ? FORMS : [FORMS[turn % FORMS.length] as string];
      };
      for (const operation of reference.operations) {
        if (operation.method !== 'GET' || operation.isOpen) continue;
        for (const url of requestsOf(operation))
          for (const user of url.includes('group_by') ? ['boss'] : ['boss', 'root', 'nobody', 'visitor'])
            for (const accept of formsOf(operation)) {
              const { status, text, headers } = await send(url, user, { accept });
              if (status !== 200) continue;
              asked.push(operation.operationId ?? operation.path);
              // What somebody asked for by name is in no answer either.
              const hasName = SECRET.test(text) || SECRET.test(JSON.stringify(headers));
              if (hasName && !ALLOWED.has(`${user} ${operation.operationId}`))
                told.push(`${user} ${accept} ${url}: ${SECRET.exec(text)?.[0]} in ${text.slice(0, 200)}`);
              if (accept !== FORMS[0]) continue;
              for (const found of text.matchAll(/"(?:daily_)?active_users":(\d+)/g))
                if (Number(found[1]) > 0 && Number(found[1]) < 5) told.push(`${user} ${url}: ${found[0]}`);
            }
      }
      expect(told).toEqual([]);
      // It has asked what there is to ask.
      expect(new Set(asked).size).toBeGreaterThan(12);
    },
    1_200_000,
  );

  test('SQL and its tools are for auditors', async () => {
    const sql = { method: 'POST', payload: { sql: 'SELECT 1 AS one' } };
    const { status, text } = await send('/api/v1/sql', 'boss', sql);
    expect([status, JSON.parse(text).detail]).toEqual([403, expect.stringContaining('auditors')]);
    expect((await send('/api/v1/sql', 'root', sql)).status).toBe(403);
    const tool = async (name: string, args: object) => {
      const { text: said } = await send('/mcp', 'boss', {
        method: 'POST',
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
        accept: 'application/json, text/event-stream',
      });
      return said;
    };
    const range = { startDate: '2026-06-01', endDate: '2026-06-30' };
    for (const [name, args] of [
      ['sql', { sql: 'SELECT user_id FROM users' }],
      ['summary', { ...range, group_by: 'user' }],
      ['summary', { ...range, user_id: ['secret-tools-0'] }],
      ['report', { ...range, answer: 'users' }],
      ['coverage', range],
    ] as const) {
      const said = await tool(name, args);
      expect(said, name).toContain('The organization protects people');
      expect(said, name).not.toMatch(/secret-[clt]/);
    }
    const said = await tool('summary', { ...range, group_by: 'team' });
    expect(said).toContain('(small groups)');
    expect(said).not.toMatch(SECRET);
  });
});

// Routes are the same above both stores.
describe.skipIf(storeName() !== 'DuckDB')("nobody takes another person's place", () => {
  const PEOPLE = '/api/v0/organization/people';
  const KEYS = '/api/v1/api-keys';
  const post = (url: string, payload: object, user = 'root') => send(url, user, { method: 'POST', payload });
  const put = (people: object[], user = 'root', query = 'keepOthers=true') =>
    send(`${PEOPLE}?${query}`, user, { method: 'PUT', payload: { people } });
  const listed = async () => JSON.parse((await send(PEOPLE, 'root')).text).people;
  const person = async (userId: string) =>
    (await listed()).find((one: { userId: string }) => one.userId === userId);

  test.each(['secret-tools-0', 'secret-tools-0-laptop', 'auditor', 'nobody-yet'])(
    'by a key of %s',
    async (user_id) => {
      for (const role of ['owner', 'manager', 'member', 'guest', 'ingest']) {
        const { status, text } = await post(KEYS, { role, user_id });
        expect([status, JSON.parse(text).detail]).toEqual([403, expect.stringContaining('only an auditor')]);
      }
      expect((await post(KEYS, { role: 'member', user_id }, 'auditor')).status).toBe(201);
    },
  );

  test('but owners make keys of themselves and of nobody, and none of an identity provider', async () => {
    expect((await post(KEYS, { role: 'member', user_id: 'root' })).status).toBe(201);
    expect((await post(KEYS, { role: 'ingest' })).status).toBe(201);
    expect((await post(KEYS, { role: 'scim' })).status).toBe(403);
  });

  test('by a name that is given, moved or removed', async () => {
    const before = await listed();
    const victim = await person('secret-tools-0');
    const without = (...users: string[]) =>
      before.filter(({ userId }: { userId: string }) => !users.includes(userId));
    const root = { userId: 'root' };
    const tries: [string, object[], string?][] = [
      ['events that nobody claims', [{ ...root, aliases: ['secret-unclaimed'] }]],
      ['an address of nobody yet', [{ ...root, emails: ['secret@acme.example'] }]],
      [
        'the name of somebody else',
        [
          { ...root, aliases: ['secret-tools-0-laptop'] },
          { ...victim, aliases: [] },
        ],
      ],
      [
        'the address of somebody else',
        [
          { ...root, emails: victim.emails },
          { ...victim, emails: [] },
        ],
      ],
      ['the own name for somebody else', [{ ...victim, aliases: [...victim.aliases, 'root'] }]],
      ['a new person with the own name', [{ userId: 'secret-new', aliases: ['root'] }]],
      ['the name of the auditor', [{ ...root, aliases: ['auditor'] }]],
      ['the auditor with the own name', [{ userId: 'auditor', aliases: ['root'] }]],
      [
        'two people made one',
        [...without('secret-tools-0', 'secret-tools-1'), { ...victim, aliases: ['secret-tools-1'] }],
        '',
      ],
      ['one person made two', [{ ...victim, aliases: [] }]],
      ['names that are free again', without('secret-tools-0'), ''],
    ];
    for (const [what, people, query] of tries)
      for (const trial of ['', '&dryRun=true']) {
        const { status, text } = await put(
          people,
          'root',
          `${query ?? 'keepOthers=true'}${trial}`.replace(/^&/, ''),
        );
        expect([what, status, JSON.parse(text).detail]).toEqual([
          what,
          403,
          expect.stringContaining('only an auditor'),
        ]);
      }
    expect(await listed()).toEqual(before);
  });

  test('but owners add people and change teams, and auditors names', async () => {
    const victim = await person('secret-tools-0');
    const teams = [{ name: 'Linkers', from: '2026-06-20', to: null }];
    expect((await put([{ userId: 'secret-hired', name: 'Secret Hired', teams }])).status).toBe(200);
    expect((await put([{ ...victim, aliases: ['secret-other'] }], 'auditor')).status).toBe(200);
    expect((await put([victim], 'auditor')).status).toBe(200);
    expect(
      (
        await put(
          (await listed()).filter((one: { userId: string }) => one.userId !== 'secret-hired'),
          'root',
          '',
        )
      ).status,
    ).toBe(200);
  });

  test('by SCIM with the key of an owner', async () => {
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'scim' }, world.now);
    keys.set('provider', key);
    const user = (userName: string) => ({ userName, emails: [{ value: 'secret-tools-0@mail.example' }] });
    const { status, text } = await post('/scim/v2/Users', user('root'));
    expect([status, JSON.parse(text).detail]).toEqual([403, expect.stringContaining('role scim')]);
    expect((await post('/scim/v2/Users', user('secret-tools-0'), 'provider')).status).toBe(201);
    expect((await post('/scim/v2/Users', { userName: 'secret-scim' }, 'auditor')).status).toBe(201);
  });
});
