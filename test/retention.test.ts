import { beforeAll, describe, expect, test } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { ANSWERS } from '../src/api/answer-names.js';
import { report } from '../src/api/answer-rows.js';
import { addDays, type Day, dayOf, MS_PER_DAY } from '../src/day.js';
import { ending, World } from './world.js';

const DAYS = 40;
const FIRST = '2026-05-20' as Day;
const RETENTION = 14;

/** Events of some people on 40 days: sessions over several days, people who come and go. */
function eventsOf(day: Day, index: number): object[] {
  const people = ['ada', 'grace', 'linus', 'ken'].filter(
    (_, person) => (index + person) % (person + 2) === 0,
  );
  return people.flatMap((user_id) => {
    const common = { user_id, session_id: `s-${Math.floor(index / 3)}`, client: 'terminal-ui' };
    const at = (minute: number) => `${day}T10:${String(minute).padStart(2, '0')}:00Z`;
    return [
      {
        ...common,
        event_id: `${user_id}-1-${day}`,
        type: 'user_message',
        timestamp: at(1),
        user_email: `${user_id}@acme.example`,
      },
      {
        ...common,
        event_id: `${user_id}-2-${day}`,
        type: 'tool_call',
        timestamp: at(2),
        tool_name: 'Edit',
        autonomy_mode: 'spec',
      },
      {
        ...common,
        event_id: `${user_id}-3-${day}`,
        type: 'file_change',
        timestamp: at(3),
        path: `/src/${index % 4}.ts`,
        operation: 'edit',
      },
      {
        ...common,
        event_id: `${user_id}-4-${day}`,
        type: 'model_usage',
        timestamp: at(4),
        model: 'claude-opus-4-5',
        input_tokens: index,
        output_tokens: 7,
      },
    ];
  });
}

const days = Array.from({ length: DAYS }, (_, index) => addDays(FIRST, index));

/** Usage on the first day that stays, which gives way to usage on days that go. */
const SHADOWED = [
  [25, { agent: 'claude-code', channel: 'log', request_id: 'r1' }],
  [26, { agent: 'claude-code', channel: 'otlp_log', request_id: 'r1' }],
  [24, { agent: 'droid', channel: 'otlp_span' }],
  [26, { agent: 'droid', channel: 'log' }],
] as const;

const all = [
  ...days.flatMap(eventsOf),
  ...SHADOWED.map(([index, members]) => ({
    ...{ type: 'model_usage', timestamp: `${days[index]}T10:00:00Z`, user_id: 'ada', session_id: 'shadowed' },
    ...{ event_id: `${members.agent}-${members.channel}`, model: 'opus', input_tokens: 1, output_tokens: 1 },
    ...members,
  })),
];

async function answers(world: World): Promise<string> {
  const parts: unknown[] = [];
  for (const answer of ANSWERS)
    parts.push(await report(world.store, answer, { orgId: 'acme', from: FIRST, to: addDays(FIRST, DAYS) }));
  return JSON.stringify(parts);
}

async function digests(world: World): Promise<unknown> {
  return world.store.select('SELECT * FROM digests ORDER BY org_id, day, table_name');
}

async function daysWithEvents(world: World): Promise<unknown[]> {
  return (await world.store.select('SELECT DISTINCT day FROM events ORDER BY day')).map(({ day }) => day);
}

/** Makes a world on the first day after the last one, all built. */
let built: () => Promise<World>;
const atEnd = ending();
beforeAll(async () => {
  built = await World.template(async (atEnd) => {
    const world = await World.create({}, atEnd);
    world.now = Date.parse(`${addDays(FIRST, DAYS)}T00:15:00Z`);
    await world.send(all);
    await world.build();
    return world;
  }, atEnd);
});

const nightly = (world: World, range: Parameters<typeof runBuild>[2] = {}) =>
  runBuild(world.store, 'nightly', range, world.clock, { retentionDays: RETENTION });

/** The newest day of which every event is 14 days old. */
const lastRemoved = (world: World) => addDays(dayOf(world.now), -RETENTION - 1);

describe('retention', () => {
  test('a clock that is ahead for one run takes no events, and what comes later counts', async () => {
    const world = await built();
    const right = world.now;
    const before = await daysWithEvents(world);
    world.now = right + 400 * MS_PER_DAY;
    await nightly(world);
    expect(await daysWithEvents(world)).toEqual(before);
    // It is believed when it is the same for a while, but for days that nothing has come for.
    world.now += MS_PER_DAY;
    await nightly(world);
    expect(await daysWithEvents(world)).toEqual([]);
    world.now = right + MS_PER_DAY;
    const next = eventsOf(addDays(dayOf(right), 0), 0);
    expect(await world.send(next)).toMatchObject({ accepted: next.length, duplicates: 0 });
  });

  test('takes the events of old days, and no answer changes by a byte', async () => {
    const world = await built();
    const before = { answers: await answers(world), digests: await digests(world) };
    await nightly(world);
    expect(await daysWithEvents(world)).toEqual(
      days.filter((day, index) => day > lastRemoved(world) && eventsOf(day, index).length > 0),
    );
    expect({ answers: await answers(world), digests: await digests(world) }).toEqual(before);
  });

  test('a day without its events is never built again, whatever is asked', async () => {
    const world = await built();
    await nightly(world);
    const before = { answers: await answers(world), digests: await digests(world) };
    for (const range of [{ all: true }, { from: FIRST }, { to: addDays(FIRST, 3) }]) {
      const { days: again } = await nightly(world, range);
      expect(again.filter(({ day }) => day <= lastRemoved(world))).toEqual([]);
    }
    expect(await digests(world)).toEqual(before.digests);
    // What changes every day, as another definition does, leaves it alone too.
    await world.age();
    const { days: again } = await nightly(world);
    expect(again.map(({ day }) => day)).toEqual(days.filter((day) => day > lastRemoved(world)));
    expect(await digests(world)).toEqual(before.digests);
  });

  test('day tables that are made anew keep the days that can not be', async () => {
    const world = await built();
    await nightly(world);
    const before = {
      digests: await digests(world),
      rows: await world.store.select('SELECT * FROM users ORDER BY ALL'),
    };
    await world.age();
    await world.store.refresh();
    await nightly(world);
    expect(await digests(world)).toEqual(before.digests);
    expect(await world.store.select('SELECT * FROM users ORDER BY ALL')).toEqual(before.rows);
  });

  test('what comes late for such a day is taken for a copy, and what comes for later days finds its windows right', async () => {
    const [world, other] = [await built(), await built()];
    await nightly(world);
    const before = await digests(world);
    const late = [
      ...eventsOf(days[3] as Day, 3),
      { ...eventsOf(days[0] as Day, 0)[0], event_id: 'new', user_id: 'tim' },
    ];
    expect(await world.send(late)).toMatchObject({ accepted: 0, duplicates: late.length, rejected: 0 });
    expect(await world.build()).toEqual([]);
    expect(await digests(world)).toEqual(before);
    // The same events of a day that is still there change the same in a world that kept everything.
    const kept = addDays(lastRemoved(world), 1);
    const fresh = ['tim', 'ada'].map((user_id) => ({
      ...eventsOf(kept, 0)[0],
      user_id,
      event_id: `late-${user_id}`,
      session_id: 's-8',
    }));
    for (const one of [world, other]) {
      one.now += 60_000;
      expect(await one.send(fresh)).toMatchObject({ accepted: 2 });
      await one.build();
    }
    expect(await digests(world)).toEqual(await digests(other));
    expect(await digests(world)).not.toEqual(before);
    expect(await world.store.select('SELECT reason FROM shadowed_events ORDER BY reason')).toEqual([
      { reason: 'request' },
      { reason: 'session' },
    ]);
  });

  test('a day that is not built from all that came stays, until it is', async () => {
    const world = await built();
    const [first] = days;
    await world.send([{ ...eventsOf(days[0] as Day, 0)[0], event_id: 'late' }]);
    // Neither do the days whose windows reach it.
    const reached = days.slice(0, 30).map((day) => ({ orgId: 'acme', day }));
    expect(await world.store.removeEvents(reached, world.now)).toEqual([]);
    expect(await daysWithEvents(world)).toContain(first);
    const [, next] = reached;
    await nightly(world);
    expect(await daysWithEvents(world)).not.toContain(first);
    expect(await daysWithEvents(world)).not.toContain(next?.day);
  });

  test('goes on every night, and a night that has nothing to do changes nothing', async () => {
    const world = await built();
    await nightly(world);
    await nightly(world);
    world.now += MS_PER_DAY;
    await nightly(world);
    expect((await world.store.select('SELECT count(*) AS days FROM removed_days'))[0]?.days).toBe(
      days.filter((day) => day <= lastRemoved(world)).length,
    );
  });

  test('without the setting nothing goes', async () => {
    const world = await built();
    world.now += 1000 * MS_PER_DAY;
    await runBuild(world.store, 'nightly', {}, world.clock);
    expect((await world.store.select('SELECT count(*) AS events FROM events'))[0]?.events).toBe(all.length);
  });
});
