import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleFile, peopleLines, peopleText, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { type Person, peopleOf } from '../src/store/state/person.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, event, lines, slow, World } from './world.js';

const PATH = '/api/v0/organization/people';

const atEnd = ending();
let world: World;
let app: FastifyInstance;
let made = 0;
beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  app = buildApp(world);
});

/** An organization of one test: people, events and credentials. */
async function newOrganization() {
  made += 1;
  const orgId = `org-${made}`;
  const keyOf = async (role: Role, userId?: string) =>
    (await createKey(world.store, { orgId, role, userId }, world.now)).key;
  const owner = await keyOf('owner', 'root');
  const importing = (text: string, { replaces = false } = {}) =>
    replacePeople(
      world.store,
      orgId,
      (before) => withLines(before, peopleLines(text, 'people.csv'), { today: dayOf(world.now), replaces }),
      { author: 'root' },
      world.now,
    );
  const ask = async (url: string, key = owner) => {
    const { statusCode, body } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
    return { status: statusCode, body: JSON.parse(body) };
  };
  const put = async (people: readonly object[], { query = '', headers = {}, key = owner } = {}) => {
    const { statusCode, body } = await app.inject({
      method: 'PUT',
      url: `${PATH}${query}`,
      headers: { authorization: `Bearer ${key}`, ...headers },
      payload: { people },
    });
    return { status: statusCode, body: JSON.parse(body) };
  };
  const setPeopleSettings = async (people: object) => {
    const { statusCode } = await app.inject({
      method: 'PUT',
      url: '/api/v0/organization/enterprise-controls',
      headers: { authorization: `Bearer ${owner}` },
      payload: { settings: { people } },
    });
    expect(statusCode).toBe(200);
  };
  const usersOn = async (day: string) => {
    const rows = await world.store.select(
      'SELECT user_id FROM users WHERE org_id = $org_id AND day = $day ORDER BY user_id',
      { org_id: orgId, day: { day: day as never } },
    );
    return rows.map(({ user_id }) => user_id);
  };
  return { orgId, keyOf, importing, ask, put, setPeopleSettings, usersOn };
}

const BLANK = { name: '', emails: [], aliases: [], teams: [], costCenters: [] };

describe('aliases', () => {
  test('events of an alias count for the person on every built day, which is restated for that reason alone', async () => {
    const { orgId, importing, usersOn } = await newOrganization();
    const days = ['2026-06-01', '2026-06-02', '2026-06-20'];
    await world.send(
      days.flatMap((day, place) => [
        event(`e${place}`, { timestamp: `${day}T09:00:00Z`, session_id: day }),
        event(`f${place}`, { timestamp: `${day}T10:00:00Z`, session_id: day, user_id: 'ada-laptop' }),
        event(`g${place}`, { timestamp: `${day}T10:00:00Z`, session_id: 'g', user_id: 'grace' }),
      ]),
      { orgId },
    );
    await world.build();
    expect(await usersOn('2026-06-01')).toEqual(['ada', 'ada-laptop', 'grace']);
    const { changes, days: renamed } = await importing('user_id,alias\nada,ada-laptop\n');
    expect(changes).toEqual([{ user_id: 'ada', change: 'added: alias ada-laptop' }]);
    expect(renamed).toBe(3);
    // Until it is built a day shows what it was built from, in every table.
    expect(await usersOn('2026-06-01')).toEqual(['ada', 'ada-laptop', 'grace']);
    const built = await world.build();
    expect(built).toEqual(expect.arrayContaining(days));
    for (const day of days) expect(await usersOn(day)).toEqual(['ada', 'grace']);
    const restated = await world.store.select(
      'SELECT day, table_name, reason FROM restatements WHERE org_id = $org_id',
      { org_id: orgId },
    );
    expect(restated.length).toBeGreaterThan(10);
    expect([...new Set(restated.map(({ reason }) => reason))]).toEqual(['identity']);
    // Of days without the alias only the trailing windows change.
    const others = restated.filter(({ day }) => !days.includes(String(day)));
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter(({ table_name }) => table_name !== 'activity')).toEqual([]);
    expect(await world.build()).toEqual([]);
    const named = await world.store.select(
      'SELECT DISTINCT user_id FROM events WHERE org_id = $org_id ORDER BY user_id',
      { org_id: orgId },
    );
    expect(named.map(({ user_id }) => user_id)).toEqual(['ada', 'ada-laptop', 'grace']);
  });

  slow(
    'an alias that is taken away, or given to another person, moves its events back or there',
    async () => {
      const { orgId, importing, usersOn } = await newOrganization();
      await world.send([event('e1', { user_id: 'x' })], { orgId });
      await world.build();
      await importing('user_id,alias\nada,x\ngrace,\n');
      await world.build();
      expect(await usersOn('2026-06-10')).toEqual(['ada']);
      expect((await importing('user_id,alias\nada,\ngrace,x\n')).days).toBe(1);
      await world.build();
      expect(await usersOn('2026-06-10')).toEqual(['grace']);
      await importing('user_id\nada\n', { replaces: true });
      await world.build();
      expect(await usersOn('2026-06-10')).toEqual(['x']);
    },
  );

  test('days whose events were removed stay as they are', async () => {
    const { orgId, importing, usersOn } = await newOrganization();
    await world.send([event('e1', { user_id: 'x' })], { orgId });
    await world.build();
    await world.store.removeEvents([{ orgId, day: '2026-06-10' as never }], world.now);
    expect((await importing('user_id,alias\nada,x\n')).days).toBe(0);
    await world.build();
    expect(await usersOn('2026-06-10')).toEqual(['x']);
  });

  test('a credential of an alias is the person, who may send events of all own names, and of nobody else', async () => {
    const { keyOf, importing, ask } = await newOrganization();
    await importing('user_id,email,alias\nada,ada@acme.example,ada-laptop\n');
    const key = await keyOf('member', 'ada-laptop');
    expect((await ask('/api/v1/caller', key)).body.data).toMatchObject({ user_id: 'ada' });
    const keys = (await ask('/api/v1/api-keys')).body.data;
    expect(keys.map(({ user_id }: { user_id: string }) => user_id).sort()).toEqual(['ada', 'root']);
    // A filter by any own name is one by the person.
    const own = '/api/v1/analytics/summary?startDate=2026-06-10&endDate=2026-06-10&user_id=';
    expect((await ask(`${own}ada-laptop`, key)).status).toBe(200);
    expect((await ask(`${own}grace`, key)).status).toBe(403);
    expect((await ask('/api/v1/events/sender', key)).body).toMatchObject({
      user_id: 'ada',
      is_only_user: true,
    });
    const send = async (userId: string) => {
      const { statusCode } = await app.inject({
        method: 'POST',
        url: '/api/v1/events',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
        payload: lines([event(`sent-by-${userId}`, { user_id: userId })]),
      });
      return statusCode;
    };
    for (const own of ['ada', 'ada-laptop', 'ada@acme.example']) expect(await send(own)).toBe(200);
    expect(await send('grace')).toBe(403);
  });

  test('a computer that was made under an alias is the person’s', async () => {
    const { keyOf, importing, ask } = await newOrganization();
    const key = await keyOf('member', 'ada-laptop');
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/api/v0/computers',
      headers: { authorization: `Bearer ${key}` },
      payload: { name: 'box', hostId: randomUUID(), remoteUser: 'ada' },
    });
    expect(statusCode).toBeLessThan(300);
    await importing('user_id,alias\nada,ada-laptop\n');
    const { computers } = (await ask('/api/v0/computers')).body;
    expect(computers.map(({ ownerId }: { ownerId: string }) => ownerId)).toEqual(['ada']);
  });

  slow('another organization’s aliases are its own', async () => {
    const one = await newOrganization();
    const other = await newOrganization();
    await one.importing('user_id,alias\nada,x\n');
    for (const { orgId } of [one, other])
      await world.send([event(`e-${orgId}`, { user_id: 'x' })], { orgId });
    await world.build();
    expect(await one.usersOn('2026-06-10')).toEqual(['ada']);
    expect(await other.usersOn('2026-06-10')).toEqual(['x']);
  });
});

describe('teams', () => {
  slow('a change of them changes the answers that ask for them, and their tags, at once', async () => {
    const { orgId, importing, ask } = await newOrganization();
    await world.send([event('e1'), event('e2', { user_id: 'grace' })], { orgId });
    await world.build();
    const range = 'startDate=2026-06-10&endDate=2026-06-10';
    const byTeam = `/api/v1/analytics/summary?${range}&group_by=team`;
    const ofWeb = `/api/v1/analytics/summary?${range}&team=Web&team=None`;
    const turnsOf = async (url: string) =>
      (await ask(url)).body.data.map((row: { group_key: string | null; user_turns: number }) => [
        row.group_key,
        row.user_turns,
      ]);
    expect(await turnsOf(byTeam)).toEqual([['', 2]]);
    expect(await turnsOf(ofWeb)).toEqual([[null, 0]]);
    await importing('user_id,team\nada,Web\n');
    expect(await turnsOf(byTeam)).toEqual([
      ['', 1],
      ['Web', 1],
    ]);
    expect(await turnsOf(ofWeb)).toEqual([[null, 1]]);
    await importing('user_id,team,from,to\nada,Web,2026-06-11,\n');
    expect(await turnsOf(byTeam)).toEqual([['', 2]]);
  });
});

describe('teams that events tell', () => {
  const RANGE = 'startDate=2026-06-10&endDate=2026-06-14';
  /** How many turns rows have, by `group` or `day group`. */
  const turnsOf = (rows: readonly { date: string | null; group_key: string; user_turns: number }[]) =>
    Object.fromEntries(
      rows
        .filter(({ user_turns }) => user_turns > 0)
        .map(({ date, group_key, user_turns }) => [
          date === null ? group_key : `${date.slice(-2)} ${group_key}`,
          user_turns,
        ]),
    );

  test('count only where an owner lets them, and at once', async () => {
    const { orgId, ask, setPeopleSettings } = await newOrganization();
    await world.send(
      [
        event('e1', { team: 'payments', cost_center: '4711' }),
        event('e2', { user_id: 'grace', department: 'engineering' }),
      ],
      { orgId },
    );
    await world.build();
    const asked = async (path: string) => {
      const { body } = await ask(`/api/v1/analytics/${path}&${RANGE}`);
      return body.data;
    };
    const told = await world.store.select(
      'SELECT user_id, kind, name FROM told_memberships WHERE org_id = $org_id ORDER BY user_id, kind',
      { org_id: orgId },
    );
    expect(told.map((row) => Object.values(row).join(' '))).toEqual([
      'ada cost_center 4711',
      'ada team payments',
      'grace team engineering',
    ]);
    for (const groups of [[], [{ group: 'all', team: 'Web' }]]) {
      await setPeopleSettings({ groups });
      expect(turnsOf(await asked('summary?group_by=team'))).toEqual({ '': 2 });
      expect(turnsOf(await asked('summary?group_by=cost_center'))).toEqual({ '': 2 });
      expect(await asked('users?team=payments')).toEqual([]);
    }
    await setPeopleSettings({ toldTeams: true });
    expect(turnsOf(await asked('summary?group_by=team'))).toEqual({ payments: 1, engineering: 1 });
    expect(turnsOf(await asked('summary?group_by=cost_center'))).toEqual({ '': 1, 4711: 1 });
    const keysOf = (rows: readonly Record<string, unknown>[], name: string) => rows.map((row) => row[name]);
    for (const answer of ['users', 'coverage']) {
      expect(keysOf(await asked(`${answer}?team=payments`), 'user_id')).toEqual(['ada']);
      expect(keysOf(await asked(`${answer}?team=payments&cost_center=(none)`), 'user_id')).toEqual([]);
      expect(keysOf(await asked(`${answer}?cost_center=(none)`), 'user_id')).toEqual(['grace']);
    }
    expect(keysOf(await asked('coverage?group_by=team'), 'group_key')).toEqual(['engineering', 'payments']);
    for (const settings of [{ toldTeams: false }, {}]) {
      await setPeopleSettings(settings);
      expect(turnsOf(await asked('summary?group_by=team'))).toEqual({ '': 2 });
    }
  });

  slow(
    'are those that most events of the day tell, and never a name in brackets or one of nobody',
    async () => {
      const { orgId, importing, ask, setPeopleSettings } = await newOrganization();
      let sent = 0;
      const of = (user_id: string, ...teams: object[]) =>
        teams.map((team) => {
          sent += 1;
          return event(`e${sent}`, { user_id, ...team });
        });
      await importing('user_id,alias\ndora,dora-laptop\n');
      await world.send(
        [
          ...of('most', { team: 'a' }, { team: 'b' }, { team: 'b ' }),
          ...of('equal', { team: 'b' }, { team: 'a' }),
          ...of('department', { team: 'a' }, { department: 'c' }, { department: 'c' }),
          ...of('brackets', { team: '(none)' }, { team: '(small groups)' }, { team: ' ' }),
          ...of('beside', { team: '(none)', department: 'c' }),
          ...of('unknown', { team: 'a' }),
          ...of('dora', { team: 'a' }),
          ...of('dora-laptop', { team: 'd' }, { team: 'd' }),
        ],
        { orgId },
      );
      await world.build();
      await setPeopleSettings({ toldTeams: true });
      const teamsOf = async (team: string) => {
        const { body } = await ask(`/api/v1/analytics/users?${RANGE}&team=${team}`);
        return body.data.map(({ user_id }: { user_id: string }) => user_id);
      };
      expect(await teamsOf('a')).toEqual(['department', 'equal']);
      expect(await teamsOf('b')).toEqual(['most']);
      expect(await teamsOf('c')).toEqual(['beside']);
      expect(await teamsOf('d')).toEqual(['dora']);
      expect(await teamsOf('(none)')).toEqual(['brackets', 'unknown']);
    },
  );

  slow(
    'count on their days, where the list of people says nothing, under names that no owner gave',
    async () => {
      const { orgId, importing, ask, setPeopleSettings } = await newOrganization();
      const on = (day: number, user_id: string, team?: string) =>
        event(`${user_id}-${day}`, {
          ...{ user_id, timestamp: `2026-06-${day}T09:00:00Z`, session_id: `${user_id}-${day}` },
          ...(team === undefined ? {} : { team, cost_center: team }),
        });
      await world.send(
        [
          // From the second to the third of these days somebody tells another team, and then none.
          ...[on(10, 'ada', 'x'), on(11, 'ada', 'y'), on(12, 'ada', 'x'), on(13, 'ada'), on(14, 'ada', 'x')],
          ...[on(10, 'grace', 'x'), on(12, 'grace', 'x'), on(14, 'grace', 'x')],
          ...[on(10, 'bob', 'Web'), on(11, 'bob', 'Compilers')],
        ],
        { orgId },
      );
      await world.build();
      await setPeopleSettings({ toldTeams: true });
      const byDay = async (kind: string) =>
        turnsOf((await ask(`/api/v1/analytics/summary?${RANGE}&group_by=${kind}&interval=day`)).body.data);
      const told = {
        ...{ '10 x': 2, '10 Web': 1, '11 y': 1, '11 Compilers': 1 },
        ...{ '12 x': 2, '13 ': 1, '14 x': 2 },
      };
      expect(await byDay('team')).toEqual(told);
      // A team of the list, on days that it has, and for whomever it doesn't name.
      await importing('user_id,team,from,to\ngrace,Web,2026-06-11,2026-06-13\n');
      const listed = { ...told, '10 x': 2, '10 ': 1, '12 x': 1, '12 Web': 1 };
      const { '10 Web': _, ...closed } = listed;
      expect(await byDay('team')).toEqual(closed);
      expect(await byDay('cost_center')).toEqual(told);
      await setPeopleSettings({
        toldTeams: true,
        groups: [{ group: 'g', team: 'Compilers', costCenter: 'y' }],
      });
      const { '11 Compilers': __, ...left } = closed;
      expect(await byDay('team')).toEqual({ ...left, '11 ': 1 });
      const { '11 y': ___, ...others } = told;
      expect(await byDay('cost_center')).toEqual({ ...others, '11 ': 1 });
    },
  );

  slow('can be filters where people are protected, once enough people tell them', async () => {
    const { orgId, keyOf, ask, setPeopleSettings } = await newOrganization();
    const tellers = (team: string, count: number) =>
      Array.from({ length: count }, (_, place) =>
        event(`${team}-${place}`, { user_id: `${team}-${place}`, session_id: `${team}-${place}`, team }),
      );
    await world.send([...tellers('payments', 6), ...tellers('shop', 6)], { orgId });
    await world.build();
    const protection = { mode: 'protected', smallestGroup: 5, auditors: ['auditor'] } as const;
    await changePrivacy(world.store, orgId, () => protection, 'root', world.now);
    const manager = await keyOf('manager', 'boss');
    const asked = () => ask(`/api/v1/analytics/summary?${RANGE}&team=payments`, manager);
    expect((await asked()).status).toBe(403);
    await setPeopleSettings({ toldTeams: true });
    const { status, body } = await asked();
    expect([status, body.data?.[0]?.user_turns]).toEqual([200, 6]);
  });
});

describe('coverage', () => {
  slow('is told by team and by cost centre, and of the people of some of them', async () => {
    const { orgId, importing, ask } = await newOrganization();
    const usage = { type: 'model_usage', agent: 'claude-code', model: 'm', output_tokens: 0 };
    await world.send(
      [
        event('e1', { ...usage, channel: 'log', input_tokens: 100 }),
        event('e2', { ...usage, channel: 'otlp_metric', input_tokens: 50 }),
        event('e3', { user_id: 'grace', agent: 'codex' }),
        event('e4', { user_id: 'grace', agent: 'codex', timestamp: '2026-06-11T10:00:00Z' }),
        event('e5', { user_id: 'bob', agent: 'codex' }),
      ],
      { orgId },
    );
    await world.build();
    await importing('user_id,team,cost_center,from,to\nada,Web,4711,,\ngrace,Web,4712,2026-06-11,\n');
    const range = 'startDate=2026-06-10&endDate=2026-06-11';
    const read = async (path: string) => (await ask(`/api/v1/analytics/${path}&${range}`)).body;
    const { data, meta } = await read('coverage?group_by=team');
    expect(meta).toMatchObject({ has_more: false, next_cursor: null });
    expect(data).toEqual([
      {
        ...{ group_key: '', date: '2026-06-10', agent: 'codex' },
        ...{ users: 2, events: 2, shadowed: 0, users_disagreeing: 0 },
      },
      {
        ...{ group_key: 'Web', date: '2026-06-10', agent: 'claude-code' },
        ...{ users: 1, events: 2, shadowed: 1, users_disagreeing: 1 },
      },
      {
        ...{ group_key: 'Web', date: '2026-06-11', agent: 'codex' },
        ...{ users: 1, events: 1, shadowed: 0, users_disagreeing: 0 },
      },
    ]);
    const keys = (await read('coverage?group_by=cost_center')).data.map(
      (row: { group_key: string }) => row.group_key,
    );
    expect(keys).toEqual(['', '4711', '4712']);
    const daysOf = (rows: readonly { user_id: string; date: string }[]) =>
      rows.map(({ user_id, date }) => `${user_id} ${date}`);
    for (const answer of ['coverage', 'users']) {
      expect(daysOf((await read(`${answer}?team=Web`)).data)).toEqual(['ada 2026-06-10', 'grace 2026-06-11']);
      expect(daysOf((await read(`${answer}?team=Web&cost_center=4712`)).data)).toEqual(['grace 2026-06-11']);
      expect(daysOf((await read(`${answer}?team=(none)&user_id=grace`)).data)).toEqual(['grace 2026-06-10']);
    }
  });
});

describe('proposals', () => {
  test('names that only case, white space or an address tell apart are proposed, and merged only by somebody', async () => {
    const { orgId, importing, ask, usersOn } = await newOrganization();
    await importing('user_id,email\nada,ada@acme.example\n');
    await world.send(
      [
        event('e1', { user_id: 'ADA' }),
        event('e2', { user_id: 'a da' }),
        event('e3', { user_id: 'Ada@acme.example' }),
        event('e4', { user_id: 'u-77', user_email: 'ada@acme.example' }),
        event('e5', { user_id: 'Grace' }),
        event('e6', { user_id: 'grace' }),
        event('e7', { user_id: 'adam' }),
      ],
      { orgId },
    );
    await world.build();
    const { proposals } = (await ask(`${PATH}/proposals`)).body;
    expect(proposals).toEqual([
      { userId: 'Grace', alias: 'grace', reason: 'spelling' },
      { userId: 'ada', alias: 'ADA', reason: 'spelling' },
      { userId: 'ada', alias: 'Ada@acme.example', reason: 'address' },
      { userId: 'ada', alias: 'a da', reason: 'spelling' },
      { userId: 'ada', alias: 'u-77', reason: 'address' },
    ]);
    expect(await usersOn('2026-06-10')).toHaveLength(7);
    // Names that are merged aren't proposed again, although their day waits for its build.
    await importing('user_id,alias\nada,ADA;a da;Ada@acme.example;u-77\n');
    expect((await ask(`${PATH}/proposals`)).body.proposals).toEqual([
      { userId: 'Grace', alias: 'grace', reason: 'spelling' },
    ]);
  });
});

describe("vendors' lists", () => {
  test('are proposals over HTTP, without who uses nothing where people are protected', async () => {
    const { orgId, importing, ask, keyOf } = await newOrganization();
    await importing('user_id,email\nada,ada.l@acme.example\n');
    const seat = (report: string, name: string, team: string, isSeat: boolean) =>
      `INSERT INTO vendor_roster SELECT '${orgId}', '${report}', '${name}', '', '${team}', ${isSeat}, '', instant(${world.now})`;
    await world.store.run(
      [
        seat('github-seats', 'ada-l_acme', '', true),
        seat('github-teams', 'ada-l_acme', 'Web', false),
        seat('cursor-members', 'ada.l@acme.example', '', true),
      ].map((sql) => ({ sql })),
    );
    const login = { userId: 'ada', alias: 'ada-l_acme', reason: 'login' };
    const listed = [
      {
        report: 'github-seats',
        name: 'ada-l_acme',
        userId: null,
        likelyUserId: 'ada',
        teams: [],
        isUnused: true,
      },
      {
        ...{ report: 'github-teams', name: 'ada-l_acme', userId: null, likelyUserId: 'ada' },
        ...{ teams: ['Web'], isUnused: false },
      },
      {
        ...{ report: 'cursor-members', name: 'ada.l@acme.example', userId: 'ada', likelyUserId: null },
        ...{ teams: [], isUnused: true },
      },
    ].map((one) => ({ ...one, fullName: '' }));
    expect((await ask(`${PATH}/proposals`)).body).toEqual({ proposals: [login], listed });
    expect((await ask(`${PATH}/proposals`, await keyOf('member', 'ada'))).status).toBe(403);
    await changePrivacy(
      world.store,
      orgId,
      () => ({ mode: 'protected', smallestGroup: 5, auditors: [] }),
      'root',
      world.now,
    );
    expect((await ask(`${PATH}/proposals`)).body).toEqual({
      proposals: [login],
      listed: listed.slice(0, 2).map((one) => ({ ...one, isUnused: false })),
    });
  });
});

describe('the list of people', () => {
  const ADA = {
    ...{ userId: 'ada', name: 'Ada Lovelace', emails: ['z@acme.example', 'a@acme.example'], aliases: ['x'] },
    teams: [
      { name: 'Compilers', from: null, to: '2026-05-31', isLead: false },
      { name: 'Web', from: '2026-06-01', to: null, isLead: true },
    ],
    costCenters: [{ name: '4711', from: null, to: null }],
  };

  test('can be read and sent back, and a change is refused that was made of an older one', async () => {
    const { ask, put } = await newOrganization();
    expect((await ask(PATH)).body).toEqual({ revision: 0, people: [] });
    expect((await put([ADA], { query: '?dryRun=true' })).body).toMatchObject({ revision: 0, changes: [{}] });
    expect((await ask(PATH)).body.people).toEqual([]);
    expect((await put([ADA])).body).toEqual({
      revision: 1,
      changes: [
        {
          userId: 'ada',
          change:
            'added: name Ada Lovelace, z@acme.example, a@acme.example, alias x, team Compilers to 2026-05-31, team Web from 2026-06-01 as lead, cost centre 4711',
        },
      ],
      days: 0,
    });
    const read = (await ask(PATH)).body;
    expect(read).toEqual({ revision: 1, people: [ADA] });
    expect((await put(read.people)).body).toEqual({ revision: 1, changes: [], days: 0 });
    const changed = [
      { ...ADA, aliases: ['y'] },
      { ...BLANK, userId: 'grace' },
    ];
    expect((await put(changed, { headers: { 'if-match': '"0"' } })).status).toBe(412);
    const answer = await put(changed, { headers: { 'if-match': '1' } });
    expect(answer.body.changes).toEqual([
      { userId: 'ada', change: '- alias x, + alias y' },
      { userId: 'grace', change: 'added' },
    ]);
    const added = await put([{ ...BLANK, userId: 'zuse' }], { query: '?keepOthers=true' });
    expect(added.body).toEqual({ revision: 3, changes: [{ userId: 'zuse', change: 'added' }], days: 0 });
    expect((await put([])).body.changes).toHaveLength(3);
  });

  test.each<[string, object[], string]>([
    [
      'a user id twice',
      [{ userId: 'ada' }, { userId: 'ada' }],
      'Two people have the user id ada: merge them.',
    ],
    [
      'an alias of two people',
      [
        { userId: 'ada', aliases: ['x'] },
        { userId: 'grace', emails: ['g@x.example'], aliases: ['x'] },
      ],
      'x names both ada and grace: only one person can have it.',
    ],
    [
      'an alias that is a person',
      [{ userId: 'ada', aliases: ['grace'] }, { userId: 'grace' }],
      'grace names both grace and ada: only one person can have it.',
    ],
    [
      'two teams on a day',
      [
        {
          userId: 'ada',
          teams: [
            { name: 'A', to: '2026-06-01' },
            { name: 'B', from: '2026-06-01' },
          ],
        },
      ],
      'ada belongs to the teams A and B on 2026-06-01: end the first one before.',
    ],
    [
      'a team that ends before it begins',
      [{ userId: 'ada', teams: [{ name: 'A', from: '2026-06-02', to: '2026-06-01' }] }],
      'ada belongs to the team A until 2026-06-01, before it begins on 2026-06-02: correct one of the days.',
    ],
  ])('refuses %s, and changes nothing', async (_, people, sentence) => {
    const { orgId, put } = await newOrganization();
    const { status, body } = await put(people);
    expect([status, body.detail]).toEqual([400, sentence]);
    expect(await peopleOf(world.store, orgId)).toEqual({ revision: 0, people: [] });
  });

  test('is for owners to change and managers to read', async () => {
    const { keyOf, ask, put } = await newOrganization();
    const manager = await keyOf('manager');
    expect((await ask(PATH, manager)).status).toBe(200);
    expect((await put([], { key: manager })).status).toBe(403);
    expect((await ask(PATH, await keyOf('member', 'ada'))).status).toBe(403);
  });

  test('keeps names as they are, whatever is in them', async () => {
    const { put, ask } = await newOrganization();
    const person = { ...BLANK, userId: "o'$1 \\ x", name: "$org_id '; DROP", aliases: ['a\\b', 'é"'] };
    expect((await put([person])).status).toBe(200);
    expect((await ask(PATH)).body.people).toEqual([person]);
  });
});

describe('a file of people', () => {
  const read = (text: string) => peopleLines(text, 'people.csv');
  const today = '2026-07-10' as never;
  const BEFORE: Person = {
    ...{ userId: 'ada', name: 'Ada', emails: ['ada@acme.example'], aliases: ['x'] },
    memberships: [
      { kind: 'team', name: 'Web', firstDay: '1970-01-01', lastDay: '2100-01-01', isLead: true },
    ] as unknown as Person['memberships'],
  };
  const changed = (text: string) => withLines([BEFORE], read(text), { today, replaces: false })[0];

  test.each([
    ['commas', 'user_id,name,alias\nada,"Lovelace, Ada",a;b\n'],
    ['semicolons, as spreadsheets of some countries', 'user_id;name;alias\r\nada;Lovelace, Ada;"a;b"\r\n'],
    ['tabs', 'user_id\tname\talias\nada\tLovelace, Ada\ta; b'],
    [
      'a byte order mark and other names of the columns',
      '\ufeffUserID,Display Name,Aliases\nada,"Lovelace, Ada",a;b\n',
    ],
  ])('is read with %s', (_, text) => {
    expect(read(text)).toEqual([{ line: 2, user_id: 'ada', name: 'Lovelace, Ada', alias: ['a', 'b'] }]);
  });

  test('of a personnel system has columns of which nothing is read', () => {
    const text = 'user_id,Salary,name,Birthday,\nada,90000,Ada,1990-12-10,\n';
    expect(peopleFile(text, 'people.csv')).toEqual({
      lines: [{ line: 2, user_id: 'ada', name: 'Ada' }],
      ignored: ['Salary', 'Birthday'],
    });
  });

  test.each<[string, Buffer, boolean]>([
    ['UTF-8', Buffer.from('user_id,name\nada,Bärbel\n'), true],
    ['UTF-8 with a mark', Buffer.from('\ufeffuser_id,name\nada,Bärbel\n'), true],
    ['Latin-1', Buffer.from('user_id,name\nada,Bärbel\n', 'latin1'), false],
    ['UTF-16 with a mark', Buffer.from('\ufeffuser_id,name\nada,Ada\n', 'utf16le'), false],
    ['UTF-16 without one', Buffer.from('user_id,name\nada,Ada\n', 'utf16le'), false],
  ])('is read in UTF-8 alone: %s', (_, bytes, isRead) => {
    const name = () => read(peopleText(bytes, 'people.csv'))[0]?.name;
    if (isRead) expect(name()).toBe('Bärbel');
    else
      expect(name).toThrow(
        'people.csv is not text in UTF-8: save it again, in Excel as "CSV UTF-8", elsewhere with the encoding UTF-8.',
      );
  });

  test('changes what its columns have, and leaves the rest as it is', () => {
    expect(changed('user_id,name\nada,Ada Lovelace\n')).toEqual({ ...BEFORE, name: 'Ada Lovelace' });
    expect(changed('user_id,alias\nada,\n')).toEqual({ ...BEFORE, aliases: [] });
  });

  test('a team without days begins today and ends the one before, which stays for the past', () => {
    expect(changed('user_id,team\nada,Compilers\n')?.memberships).toEqual([
      { kind: 'team', name: 'Web', firstDay: '1970-01-01', lastDay: '2026-07-09', isLead: true },
      { kind: 'team', name: 'Compilers', firstDay: '2026-07-10', lastDay: '2100-01-01', isLead: false },
    ]);
    expect(changed('user_id,team,is_lead\nada,Web,yes\n')).toEqual(BEFORE);
    expect(changed('user_id,team\nada,\n')?.memberships).toEqual([
      { kind: 'team', name: 'Web', firstDay: '1970-01-01', lastDay: '2026-07-09', isLead: true },
    ]);
    expect(changed('user_id,cost_center\nada,4711\n')?.memberships).toEqual([
      ...BEFORE.memberships,
      { kind: 'cost_center', name: '4711', firstDay: '1970-01-01', lastDay: '2100-01-01', isLead: false },
    ]);
  });

  test('lines with days are the whole history', () => {
    expect(changed('user_id,team,from,to\nada,A,,2026-01-31\nada,B,2026-02-01,\n')?.memberships).toEqual([
      { kind: 'team', name: 'A', firstDay: '1970-01-01', lastDay: '2026-01-31', isLead: false },
      { kind: 'team', name: 'B', firstDay: '2026-02-01', lastDay: '2100-01-01', isLead: false },
    ]);
  });

  test.each([
    ['', 'people.csv is empty: its first line must name the columns, such as user_id,name,email,team.'],
    [
      'name,team\nAda,Web\n',
      'The first line of people.csv must name the column user_id: people have the columns user_id, name,',
    ],
    ['user_id,mail,email\nada,,\n', 'people.csv has two columns for email: remove one.'],
    ['user_id,email\nada,nobody\n', 'Line 2 of people.csv is refused: email must be an e-mail address.'],
    [
      'user_id,from\n\nada,1.6.2026\n',
      'Line 3 of people.csv is refused: from must be a calendar date as YYYY-MM-DD.',
    ],
    ['user_id,is_lead\nada,perhaps\n', 'Line 2 of people.csv is refused: is_lead must be true or false.'],
    ['user_id,team\nada,(none)\n', 'Line 2 of people.csv is refused: team must not begin with a bracket.'],
    [
      'user_id,name\nada,"Ada\n',
      'people.csv is not CSV as RFC 4180 describes it, from line 2 on: export it again.',
    ],
  ])('is refused where it is wrong: %j', (text, sentence) => {
    expect(() => read(text)).toThrow(sentence);
  });
});
