import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Day } from '../src/day.js';
import { ROLL_UPS, rollUpTable } from '../src/store/roll-ups.js';
import type { Row } from '../src/store/store.js';
import { buildAtOnce, RATE_CARD } from './laws/law.js';
import { SEED } from './laws/settings.js';
import { NOW, organization } from './oracle/generate.js';
import { event, World } from './world.js';

const DAY_MS = 86_400_000;

/** The kept sums that are not what their days add up to, and those that are missing. */
async function faults({ store }: World): Promise<Record<string, Row[]>> {
  const wrong: Record<string, Row[]> = {};
  for (const { name, text } of ROLL_UPS) {
    const [kept, computed] = [name, `(${text}) AS sums`].map((from) => `SELECT * FROM ${from}`);
    const rows = await store.select(
      `(${kept} EXCEPT ALL ${computed}) UNION ALL (${computed} EXCEPT ALL ${kept})`,
    );
    if (rows.length > 0) wrong[name] = rows;
  }
  return wrong;
}

test('kept sums are those of their days, whenever events come and days are built', async () => {
  const world = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD }, undefined, undefined, 'DuckDB');
  const organizations = fc.sample(organization, { seed: SEED, numRuns: 12 });
  const parts = 4;
  for (let part = 0; part < parts; part += 1) {
    // Days of the last week are still open at first, and the rest of the events are late.
    world.now = NOW - (parts - 1 - part) * 2 * DAY_MS;
    await world.sendTogether(
      organizations.map((events, index) => [
        `org-${index}`,
        events.filter(
          ({ timestamp }, place) => place % parts === part && Date.parse(String(timestamp)) <= world.now,
        ),
      ]),
    );
    await buildAtOnce(world);
    expect(await faults(world)).toEqual({});
  }
  for (const { name } of ROLL_UPS) {
    const [row] = await world.store.select(`SELECT count(*) AS rows FROM ${name}`);
    expect(Number(row?.rows), name).toBeGreaterThan(0);
  }
});

test('so are those of more than a hundred days of which some get late events', async () => {
  const world = await World.create({ DAYBOOK_HISTORY_START: '2025-01-01' }, undefined, undefined, 'DuckDB');
  const turn = (week: number, name: string) =>
    event(`${name}-${week}`, {
      type: 'user_message',
      timestamp: new Date(Date.parse('2026-01-06T09:00:00.000Z') + week * 7 * DAY_MS).toISOString(),
    });
  const weeks = Array.from({ length: 24 }, (_, week) => week);
  await world.sendTogether([['acme', weeks.map((week) => turn(week, 'first'))]]);
  await buildAtOnce(world);
  expect(await faults(world)).toEqual({});
  // More days than are named one by one.
  await world.sendTogether([
    ['acme', weeks.filter((week) => week % 3 !== 1).map((week) => turn(week, 'late'))],
  ]);
  await world.store.build(
    weeks
      .filter((week) => week % 3 !== 1)
      .map((week) => ({ orgId: 'acme', day: String(turn(week, '').timestamp).slice(0, 10) as Day })),
    2,
    world.now,
  );
  expect(await faults(world)).toEqual({});
});

test('an upgrade adds up the days that are there', async () => {
  const world = await World.create({}, undefined, undefined, 'DuckDB');
  await world.sendTogether([['acme', fc.sample(organization, { seed: SEED, numRuns: 1 })[0] ?? []]]);
  world.now = NOW;
  await buildAtOnce(world);
  await world.store.run(ROLL_UPS.map(({ name }) => ({ sql: `DELETE FROM ${name}` })));
  await world.store.run(ROLL_UPS.map((one) => ({ sql: rollUpTable(one) })));
  expect(await faults(world)).toEqual({});
});

test('sessions whose keys coincide start on their own days', async () => {
  const world = await World.create({}, undefined, undefined, 'DuckDB');
  await world.store.run([
    { sql: 'CREATE OR REPLACE FUNCTION session_key(user_id, session_id) AS CAST(7 AS UBIGINT)' },
  ]);
  const turn = (session_id: string, day: string) =>
    event(`${session_id}-${day}`, {
      type: 'user_message',
      session_id,
      timestamp: `2026-06-${day}T09:00:00.000Z`,
    });
  await world.send([turn('one', '01'), turn('two', '03')]);
  await world.build();
  await world.send([turn('one', '02'), turn('two', '02')]);
  await world.build();
  const started = 'SELECT day::VARCHAR AS day, session_id FROM session_parts WHERE sessions = 1 ORDER BY ALL';
  expect(await world.store.select(started)).toEqual([
    { day: '2026-06-01', session_id: 'one' },
    { day: '2026-06-02', session_id: 'two' },
  ]);
  expect(await world.store.select('SELECT DISTINCT session_key FROM session_keys')).toHaveLength(1);
});
