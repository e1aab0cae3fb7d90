import { expect, it } from 'vitest';
import { NOW, World } from '../world.js';
import { event, eventsOf, type Members, rejectsOf } from './event.js';

const usage = (event_id: string, output_tokens: number, members: Members = {}) =>
  event(event_id, { type: 'model_usage', output_tokens, ...members });
const next = { timestamp: '2026-06-16T10:00:00Z' };

const arrivalsOf = (world: World, batch: number) =>
  world.store.select(
    'SELECT org_id, day, accepted, duplicates, changed, late FROM arrivals WHERE batch = $batch ORDER BY day',
    { batch },
  );

const FIRST = [
  event('one'),
  event('one'),
  usage('reply', 20),
  usage('reply', 5),
  event('two', next),
  event('bad', { user_id: '' }),
  'nonsense',
];

it('counts a batch and what it brought for each day, and that the same lines change nothing', async () => {
  const world = await World.create();
  expect(await world.send(FIRST)).toMatchObject({ accepted: 3, duplicates: 2, rejected: 2 });
  const before = await world.store.select('SELECT * FROM events ORDER BY event_id');
  await world.build();
  world.now += 1000;
  expect(await world.send(FIRST.toReversed())).toMatchObject({ accepted: 0, duplicates: 5, rejected: 2 });

  const batch = { org_id: 'acme', source: 'canonical', rejected: 2, token: null };
  expect(await world.store.select('SELECT * FROM batches ORDER BY batch')).toEqual([
    { ...batch, batch: 1, settled_at: NOW, accepted: 3, duplicates: 2 },
    { ...batch, batch: 2, settled_at: NOW + 1000, accepted: 0, duplicates: 5 },
  ]);
  expect(await arrivalsOf(world, 1)).toEqual([
    { org_id: 'acme', day: '2026-06-15', accepted: 2, duplicates: 2, changed: 2, late: 0 },
    { org_id: 'acme', day: '2026-06-16', accepted: 1, duplicates: 0, changed: 1, late: 0 },
  ]);
  expect(await arrivalsOf(world, 2)).toEqual([
    { org_id: 'acme', day: '2026-06-15', accepted: 0, duplicates: 4, changed: 0, late: 0 },
    { org_id: 'acme', day: '2026-06-16', accepted: 0, duplicates: 1, changed: 0, late: 0 },
  ]);
  expect(await rejectsOf(world, 'acme')).toHaveLength(4);
  expect(await world.store.select('SELECT * FROM events ORDER BY event_id')).toEqual(before);
  expect(await world.build()).toEqual([]);
});

it('counts what stands as late once the day of its organization was built, and nothing else', async () => {
  const world = await World.create();
  await world.send([event('one'), usage('reply', 20), usage('other', 20)]);
  expect(await world.build()).toContain('2026-06-15');
  const settled = await world.send([
    event('one'),
    event('new'),
    usage('reply', 30),
    usage('other', 10),
    event('before', { timestamp: '2026-06-14T10:00:00Z' }),
  ]);
  expect(settled).toMatchObject({ accepted: 2, duplicates: 3, rejected: 0 });
  expect(await arrivalsOf(world, 2)).toEqual([
    { org_id: 'acme', day: '2026-06-14', accepted: 1, duplicates: 0, changed: 1, late: 0 },
    { org_id: 'acme', day: '2026-06-15', accepted: 1, duplicates: 3, changed: 2, late: 2 },
  ]);
  expect((await eventsOf(world, 'acme')).find(({ event_id }) => event_id === 'reply')).toMatchObject({
    output_tokens: 30,
  });
  expect(await world.build()).toContain('2026-06-15');

  await world.send([event('one')], { orgId: 'globex' });
  expect(await arrivalsOf(world, 3)).toEqual([
    { org_id: 'globex', day: '2026-06-15', accepted: 1, duplicates: 0, changed: 1, late: 0 },
  ]);
});
