import { expect, test } from 'vitest';
import { Answers } from '../src/api/answer-schemas.js';
import { createKey } from '../src/api/api-keys.js';
import { buildApp } from '../src/service/app.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import { World } from './world.js';

let number = 0;
function event(type: string, day: string, more: object = {}) {
  number += 1;
  const timestamp = `${day}T09:00:00Z`;
  return { event_id: `q${number}`, timestamp, user_id: 'ada', session_id: 's1', type, ...more };
}

interface QualityRow {
  date: string;
  digests: { table: string; rows: number; digest: string }[];
  restatements: { built_at: string; table: string; reason: string; new_digest: string }[];
  [member: string]: unknown;
}

async function quality(world: World, from: string, to: string): Promise<QualityRow[]> {
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'manager' }, world.now);
  const answer = await buildApp(world).inject({
    url: `/api/v1/analytics/quality?startDate=${from}&endDate=${to}`,
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.statusCode).toBe(200);
  const body = answer.json();
  expect(Answers.quality.safeParse(body).error).toBeUndefined();
  expect(body.meta).toMatchObject({ org_id: 'acme', start_date: from, end_date: to });
  return body.data;
}

test('the quality of a day counts how its lines came and what its build found', async () => {
  const world = await World.create();
  world.now = Date.parse('2026-06-10T12:00:00.000Z');
  const first = event('user_message', '2026-06-08', { client: 'web', autonomy_mode: 'manual' });
  await world.send([
    first,
    first,
    event('tool_call', '2026-06-08', { tool_name: '<invoke>', client: 'web' }),
    event('model_usage', '2026-06-08', { model: 'unheard-of', input_tokens: 1, output_tokens: 1 }),
    event('fly', '2026-06-08'),
    event('model_usage', '2026-06-08'),
    event('model_usage', '2026-06-08', { model: 7, input_tokens: 1, output_tokens: 1 }),
    event('model_usage', '2026-06-08', { input_tokens: 1 }),
    event('user_message', '2026-06-10'),
  ]);
  await world.send([event('user_message', '2026-06-08')], { orgId: 'rival' });
  await world.build();
  const firstBuilt = new Date(world.now).toISOString();
  world.now += 60_000;
  await world.send([first, event('user_message', '2026-06-08'), event('fly', '2026-06-08')]);
  const counted = {
    date: '2026-06-08',
    events: 3,
    accepted: 4,
    duplicates: 2,
    late: 1,
    rejected: 5,
    rejected_by_reason: [
      { reason: 'missing_member', count: 2 },
      { reason: 'unknown_type', count: 2 },
      { reason: 'wrong_type', count: 1 },
    ],
    parse_artifacts: 1,
    events_without_client: 1,
    events_without_autonomy_mode: 2,
    models_not_on_rate_card: 1,
    built_at: firstBuilt,
    first_built_at: firstBuilt,
    restatements: [],
  };
  // What came is counted at once, what a build finds when it has built.
  const [before] = await quality(world, '2026-06-01', '2026-06-09');
  expect(before).toMatchObject(counted);
  await world.build();
  const [after, empty, ...more] = await quality(world, '2026-06-01', '2026-06-09');
  const { restatements, ...rest } = counted;
  expect(after).toMatchObject({
    ...rest,
    events: 4,
    events_without_client: 2,
    events_without_autonomy_mode: 3,
    built_at: new Date(world.now).toISOString(),
  });
  expect(after?.digests.map(({ table }) => table)).toEqual([...BUILT_TABLES].sort());
  for (const { table, reason, built_at, new_digest } of after?.restatements ?? []) {
    expect(reason).toBe('late events');
    expect(built_at).toBe(after?.built_at);
    expect(after?.digests.find((digest) => digest.table === table)?.digest).toBe(new_digest);
  }
  expect(after?.restatements.map(({ table }) => table)).toEqual([
    'activity',
    'coverage',
    'quality',
    'session_parts',
    'tools',
    'user_agents',
    'user_modes',
    'user_sessions',
    'users',
  ]);
  // A day without events is there, and the open day is not.
  expect(empty).toMatchObject({ date: '2026-06-09', events: 0, accepted: 0, late: 0, rejected: 0 });
  expect(more).toEqual([]);
});

test('the view day_quality has the days that aren’t built too', async () => {
  const world = await World.create();
  world.now = Date.parse('2026-06-10T12:00:00.000Z');
  await world.send([event('user_message', '2026-06-09'), event('user_message', '2026-06-10'), 'nonsense']);
  await world.build();
  const rows = await world.store.select(
    'SELECT day, accepted, rejected, events FROM day_quality ORDER BY day',
  );
  expect(rows).toEqual([
    { day: '2026-06-09', accepted: 1, rejected: 0, events: 1 },
    { day: '2026-06-10', accepted: 1, rejected: 1, events: null },
  ]);
});
