import fc from 'fast-check';
import { describe, onTestFinished, test } from 'vitest';
import { build } from '../../src/aggregate/build.js';
import type { SentEvent } from '../oracle/event.js';
import { NOW, organization } from '../oracle/generate.js';
import { STORES } from '../stores.js';
import { buildAtOnce, difference, hold, newOrgId, RATE_CARD, send, tablesOf } from './law.js';
import { ORGANIZATIONS, TIMEOUT_MS } from './settings.js';

/** One way in which the events of an organization come in. */
interface Delivery {
  readonly events: SentEvent[];
  /** The same events in any order, some of them twice or three times, in batches. */
  readonly batches: SentEvent[][];
}

const BATCHES = 4;

const delivery: fc.Arbitrary<Delivery> = organization.chain((events) =>
  fc
    .record({
      more: fc.shuffledSubarray([...events, ...events]),
      order: fc.infiniteStream(fc.nat()),
      cuts: fc.array(fc.nat({ max: 2 * events.length }), { maxLength: BATCHES - 1 }),
    })
    .map(({ more, order, cuts }) => {
      const keys = new Map(
        [...events, ...more].map((event, index) => [index, { event, key: order.next().value }]),
      );
      const arrived = [...keys.values()].sort((one, other) => one.key - other.key).map(({ event }) => event);
      const ends = [...cuts.sort((one, other) => one - other), arrived.length];
      const batches = ends.map((end, index) => arrived.slice(ends[index - 1] ?? 0, end));
      return { events, batches: batches.filter((batch) => batch.length > 0) };
    }),
);

/** The clock of the build after each batch: days become closed one after the other, and late events come after that. */
const CLOCKS = ['2026-05-12', '2026-06-03', '2026-06-09', '2026-06-10'].map((day) =>
  Date.parse(`${day}T12:00:00.000Z`),
);

describe.each(STORES)('laws of arrival, $name', ({ open }) => {
  test('shuffled, doubled, in any batches, late, built piece by piece or from scratch: the same tables', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const world = await open(RATE_CARD, onTestFinished);
    world.now = NOW;
    await hold(delivery, Math.ceil(ORGANIZATIONS / 4), async (deliveries) => {
      const pieces = deliveries.map(newOrgId);
      for (const [round, clock] of CLOCKS.entries()) {
        for (const [index, { batches }] of deliveries.entries()) {
          const batch = batches[round];
          if (batch !== undefined) await send(world, pieces[index] ?? '', batch);
        }
        await build(world.store, {}, () => clock);
      }
      const before = await Promise.all(pieces.map((orgId) => tablesOf(world, orgId)));
      // The same ids in another organization, all at once: the tables of the first one stay as they are.
      const whole = deliveries.map(newOrgId);
      for (const [index, { events }] of deliveries.entries()) await send(world, whole[index] ?? '', events);
      await buildAtOnce(world);
      const faults: (string | undefined)[] = [];
      for (const [index, orgId] of pieces.entries()) {
        const tables = await tablesOf(world, whole[index] ?? '');
        faults.push(
          difference(before[index] ?? {}, tables) ?? difference(await tablesOf(world, orgId), tables),
        );
      }
      await build(world.store, { all: true }, world.clock);
      for (const [index, orgId] of pieces.entries())
        faults[index] ??= difference(await tablesOf(world, orgId), before[index] ?? {});
      return faults;
    });
  });
});
