import { expect, onTestFinished, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { addDays, type Day } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { buildApp } from '../src/service/app.js';
import { Metrics } from '../src/service/prometheus.js';
import { COLLECTORS_OF_USER, removeOldHeartbeats } from '../src/store/state/heartbeat.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { World } from './world.js';

const at = (day: string, time = '12:00') => Date.parse(`${day}T${time}:00Z`);

/** Messages of a user's agent on the five days up to one. */
const fiveDays = (user_id: string, last: string, agent = 'codex') =>
  [0, 1, 2, 3, 4].map((back) => {
    const day = addDays(last as Day, -back);
    return {
      ...{ event_id: `${user_id}-${agent}-${day}`, type: 'user_message', timestamp: `${day}T10:00:00Z` },
      ...{ user_id, session_id: `${user_id}-${day}`, agent },
    };
  });

/** A service with keys, whose collectors report when a test says so. */
async function service() {
  const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
  const app = buildApp(world, { metrics: new Metrics(world.clock) });
  // What it hasn't written yet is none of the next test's.
  onTestFinished(() => app.close());
  const keyOf = async (role: 'owner' | 'manager' | 'member' | 'ingest', userId?: string) =>
    (await createKey(world.store, { orgId: 'acme', role, userId }, world.now)).key;
  const keys = {
    owner: await keyOf('owner', 'root'),
    manager: await keyOf('manager', 'boss'),
    ada: await keyOf('member', 'ada'),
    ingest: await keyOf('ingest'),
  };
  const ask = async (key: string, url: string, payload?: object, accept = 'application/json') => {
    const { statusCode, body } = await app.inject({
      url,
      ...(payload === undefined ? {} : { method: 'POST', payload }),
      headers: { authorization: `Bearer ${key}`, accept },
    });
    return {
      status: statusCode,
      body: accept === 'application/json' && body !== '' ? JSON.parse(body) : body,
    };
  };
  const beat = (more: object = {}, key = keys.ada) =>
    ask(key, '/api/v1/events/heartbeat', {
      ...{ collector_id: 'c1', host: 'ada-laptop', version: '0.2.0', agents: [] },
      ...more,
    });
  const silence = async (query = '', key = keys.owner) =>
    (await ask(key, `/api/v1/analytics/silence${query}`)).body;
  const acknowledge = (more: object, key = keys.manager) =>
    ask(key, '/api/v1/analytics/silence/acknowledgements', { user_id: 'ada', ...more });
  return { world, app, keys, ask, beat, silence, acknowledge };
}

test('a collector that stops is silent until somebody knows why, or it reports again', async () => {
  const { world, app, ask, keys, beat, silence, acknowledge } = await service();
  world.now = at('2026-06-05');
  await world.send(fiveDays('ada', '2026-06-05'));
  expect((await beat()).status).toBe(204);
  // Monday and Tuesday have passed without a word, and on Wednesday there still is one to come.
  world.now = at('2026-06-10');
  await world.build();
  expect(await silence()).toEqual({
    data: [],
    meta: {
      ...{ org_id: 'acme', live_collectors: 1, silent_collectors: 0 },
      ...{ silent_agents: 0, idle_agents: 0, acknowledged: 0 },
    },
  });
  world.now = at('2026-06-11');
  await world.build();
  const silent = {
    ...{ user_id: 'ada', kind: 'collector', name: 'c1', state: 'silent', last_day: '2026-06-05' },
    ...{ last_seen_at: '2026-06-05T12:00:00.000Z', host: 'ada-laptop', version: '0.2.0' },
    fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
    ...{ acknowledged_by: null, acknowledged_at: null, reason: null },
  };
  // The laptop speaks for its agent.
  expect(await silence()).toMatchObject({ data: [silent], meta: { silent_collectors: 1, silent_agents: 0 } });
  const { body: csv } = await ask(keys.owner, '/api/v1/analytics/silence', undefined, 'text/csv');
  expect(csv).toContain('\r\nada,collector,c1,silent,2026-06-05,2026-06-05T12:00:00.000Z,ada-laptop,');
  const { body: metrics } = await app.inject({ url: '/metrics' });
  expect(metrics).toContain('daybook_silent_collectors 1\n');
  expect(metrics).toContain('daybook_live_collectors 0\n');
  const status = async () => (await ask(keys.owner, '/api/v1/status')).body.data;
  expect(await status()).toMatchObject({
    silent_collectors: [{ user_id: 'ada', host: 'ada-laptop', last_day: '2026-06-05' }],
    silence: { silent_collectors: 1 },
  });

  // It doesn't leave the list.
  world.now = at('2026-09-01');
  expect((await silence()).data).toEqual([silent]);
  expect((await acknowledge({ kind: 'collector', name: 'c2' })).status).toBe(400);
  expect((await acknowledge({ kind: 'collector', name: 'c1' }, keys.ada)).status).toBe(403);
  expect((await acknowledge({ kind: 'collector', name: 'c1' })).status).toBe(204);
  world.now += 60_000;
  expect((await acknowledge({ kind: 'collector', name: 'c1', reason: 'on leave' }, keys.owner)).status).toBe(
    204,
  );
  expect(await silence()).toMatchObject({
    data: [
      {
        ...silent,
        ...{ state: 'acknowledged', acknowledged_by: 'root', reason: 'on leave' },
        acknowledged_at: '2026-09-01T12:01:00.000Z',
      },
    ],
    meta: { silent_collectors: 0, acknowledged: 1 },
  });
  expect(await status()).toMatchObject({ silent_collectors: [], silence: { acknowledged: 1 } });

  // The next silence is another one.
  await world.send(fiveDays('ada', '2026-08-31'));
  await world.build();
  expect((await beat()).status).toBe(204);
  expect((await silence('?state=live')).data).toMatchObject([
    { name: 'c1', state: 'live', acknowledged_by: null },
  ]);
  world.now = at('2026-10-01');
  await world.build();
  expect((await silence()).data).toMatchObject([
    { state: 'silent', last_day: '2026-09-01', acknowledged_by: null },
  ]);
});

test('a collector whose person was not active is away, and an alias is the person', async () => {
  const { world, keys, beat, silence } = await service();
  world.now = at('2026-06-05');
  await world.send([...fiveDays('ada', '2026-05-22'), ...fiveDays('grace', '2026-05-26')]);
  await beat();
  await beat({ user_id: 'grace-laptop', collector_id: 'c2', host: null }, keys.ingest);
  await replacePeople(
    world.store,
    'acme',
    () => [{ userId: 'grace', name: '', emails: [], aliases: ['grace-laptop'], memberships: [] }],
    { author: 'root' },
    world.now,
  );
  world.now = at('2026-06-20');
  await world.build();
  expect((await silence()).data).toMatchObject([
    { user_id: 'grace', kind: 'collector', name: 'c2', host: null, state: 'silent' },
  ]);
  expect((await silence('?state=away')).data).toMatchObject([{ user_id: 'ada', name: 'c1', state: 'away' }]);
});

test('an agent is idle if its files have not changed, and silent if they have, or if nothing is known of them', async () => {
  const { world, keys, beat, silence, acknowledge } = await service();
  await world.send(['ada', 'grace', 'hedy', 'linus'].flatMap((user) => fiveDays(user, '2026-06-05')));
  const agents = (day: string) => [{ agent: 'codex', changed_at: at(day) }];
  world.now = at('2026-06-05');
  await beat({ user_id: 'linus', collector_id: 'c4' }, keys.ingest);
  world.now = at('2026-06-11', '10:00');
  await beat({ agents: agents('2026-06-10') });
  // Only the newest heartbeat counts.
  world.now = at('2026-06-11');
  await beat({ agents: agents('2026-06-05') });
  await beat({ user_id: 'grace', collector_id: 'c2', agents: agents('2026-06-10') }, keys.ingest);
  await world.build();
  const states = async () =>
    (await silence()).data.map((row: Record<string, unknown>) => [
      row.user_id,
      row.kind,
      row.name,
      row.state,
    ]);
  expect(await states()).toEqual([
    ['grace', 'agent', 'codex', 'silent'],
    ['hedy', 'agent', 'codex', 'silent'],
    // A silent collector speaks for its agents.
    ['linus', 'collector', 'c4', 'silent'],
    ['ada', 'agent', 'codex', 'idle'],
  ]);
  expect((await silence()).meta).toMatchObject({ silent_agents: 2, idle_agents: 1, live_collectors: 2 });
  expect((await acknowledge({ user_id: 'hedy', kind: 'agent', name: 'codex', reason: 'left' })).status).toBe(
    204,
  );
  expect((await acknowledge({ kind: 'agent', name: 'codex' })).status).toBe(400);
  expect(await states()).toContainEqual(['hedy', 'agent', 'codex', 'acknowledged']);
  // It works again.
  await world.send(fiveDays('hedy', '2026-06-10'));
  await world.build();
  expect((await states()).filter(([user]: string[]) => user === 'hedy')).toEqual([]);
});

test('where people are protected, only auditors see names, and each read is recorded', async () => {
  const { world, ask, keys, beat, silence, acknowledge } = await service();
  world.now = at('2026-06-05');
  await world.send(fiveDays('ada', '2026-06-04'));
  await beat();
  world.now = at('2026-06-11');
  await world.build();
  await changePrivacy(
    world.store,
    'acme',
    () => ({ mode: 'protected', smallestGroup: 5, auditors: ['root'] }),
    'root',
    world.now,
  );
  expect(await silence('', keys.manager)).toMatchObject({ data: [], meta: { silent_collectors: 1 } });
  const { body: status } = await ask(keys.manager, '/api/v1/status');
  expect(status.data).toMatchObject({ silent_collectors: [], silence: { silent_collectors: 1 } });
  const { status: refused, body: why } = await acknowledge({ kind: 'collector', name: 'c1' });
  expect([refused, why.detail]).toEqual([403, expect.stringContaining('auditors')]);
  expect((await silence()).data).toMatchObject([{ user_id: 'ada', host: 'ada-laptop' }]);
  expect((await acknowledge({ kind: 'collector', name: 'c1' }, keys.owner)).status).toBe(204);
  const { body: audit } = await ask(keys.owner, '/api/v0/organization/audit');
  expect(
    audit.reads
      .filter(({ path }: { path: string }) => path.includes('silence'))
      .map((read: Record<string, unknown>) => [read.userId, read.scope, read.about, read.status]),
  ).toEqual([
    ['root', 'user', 'ada', 204],
    ['root', 'everyone', null, 200],
    // It is refused before its body is read.
    ['boss', 'totals', null, 403],
    ['boss', 'totals', null, 200],
  ]);
});

test('a key speaks for its own user, for a limited number of collectors, and old heartbeats go', async () => {
  const { world, keys, beat, silence } = await service();
  world.now = at('2026-06-05');
  const { status, body } = await beat({ user_id: 'grace' });
  expect([status, body.detail]).toEqual([403, expect.stringContaining('its own user_id, ada')]);
  expect((await beat({}, keys.ingest)).status).toBe(400);
  expect((await beat({ version: 'a\nb' })).status).toBe(400);
  expect((await beat({ host: 'x'.repeat(70_000) })).status).toBe(413);
  // A newer collector may say more.
  expect((await beat({ uptime: 7 })).status).toBe(204);
  const ids = Array.from({ length: COLLECTORS_OF_USER }, (_, index) => `c${index + 1}`);
  const all = await Promise.all(ids.map((collector_id) => beat({ collector_id })));
  expect(all.filter((one) => one.status !== 204)).toEqual([]);
  expect((await beat({ collector_id: 'one-more' })).status).toBe(422);
  world.now += 3_600_000;
  for (const _ of [1, 2]) expect((await beat()).status).toBe(204);
  await removeOldHeartbeats(world.store, world.now);
  const [{ beats } = {}] = await world.store.select(
    'SELECT count(DISTINCT collector_id) AS beats FROM heartbeats',
  );
  expect(Number(beats)).toBe(COLLECTORS_OF_USER);
  const [{ oldest } = {}] = await world.store.select(
    "SELECT min(seen_at) AS oldest FROM heartbeats WHERE collector_id = 'c1'",
  );
  expect(oldest).toBe(world.now);
  expect((await silence('?state=live')).data).toHaveLength(COLLECTORS_OF_USER);
  await removeOldHeartbeats(world.store, world.now + 366 * 86_400_000);
  expect((await silence('?state=away')).data).toEqual([]);
  expect(await world.store.select('SELECT user_id FROM heartbeats')).toEqual([]);
});
