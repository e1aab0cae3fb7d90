import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Day } from '../../src/day.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { CLAUDE_CODE } from '../../src/ingest/source.js';
import { newOrgId, RATE_CARD } from '../laws/law.js';
import { NOW, organization } from '../oracle/generate.js';
import { playsSlow } from '../slow.js';
import { World } from '../world.js';
import { answersOf } from './same.js';

const FROM = '2026-01-14' as Day;
const TO = '2026-06-09' as Day;

/** Both stores, with the same events in them. */
async function both(fill: (world: World) => Promise<string[]>) {
  const worlds: World[] = [];
  let orgIds: string[] = [];
  for (const name of ['DuckDB', 'ClickHouse'] as const) {
    const world = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD }, undefined, undefined, name);
    world.now = NOW;
    orgIds = await fill(world);
    await world.build();
    worlds.push(world);
  }
  return { worlds, orgIds };
}

test('both engines answer the sample byte for byte alike, digests included', async () => {
  const sample = join(PACKAGE_ROOT, 'data', 'sample');
  const { worlds } = await both(async (world) => {
    for (const { name } of readdirSync(sample, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    ))
      await world.ingest([join(sample, name)], { source: CLAUDE_CODE, userId: name });
    return ['acme'];
  });
  const [duckdb, clickhouse] = await Promise.all(
    worlds.map(({ store }) => answersOf(store, 'acme', FROM, TO)),
  );
  expect(JSON.parse(duckdb?.users ?? '')[0].length).toBeGreaterThan(3);
  expect(clickhouse).toEqual(duckdb);
});

// The laws already hold both to a second computation, with fewer events.
test.runIf(playsSlow())(
  'both engines answer generated organizations byte for byte alike, before and after late events',
  async () => {
    const organizations = fc.sample(organization, { seed: 7, numRuns: 3 });
    const orgIds = organizations.map(newOrgId);
    const send = (world: World, isLate: boolean) =>
      world.sendTogether(
        organizations.map((events, index) => [
          orgIds[index] ?? '',
          events.filter((_, position) => (position % 4 === 0) === isLate),
        ]),
      );
    const { worlds } = await both(async (world) => {
      await send(world, false);
      return orgIds;
    });
    for (const isLate of [false, true]) {
      if (isLate) {
        for (const world of worlds) {
          await send(world, true);
          await world.build();
        }
      }
      for (const orgId of orgIds) {
        const [duckdb, clickhouse] = await Promise.all(
          worlds.map(({ store }) => answersOf(store, orgId, FROM, TO)),
        );
        expect(clickhouse, orgId).toEqual(duckdb);
      }
    }
    const [restated] =
      (await worlds[1]?.store.select('SELECT count(*) AS restatements FROM restatements')) ?? [];
    expect(Number(restated?.restatements)).toBeGreaterThan(3);
  },
);
