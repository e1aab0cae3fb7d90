import fc from 'fast-check';
import { build } from '../../src/aggregate/build-days.js';
import type { SentEvent } from '../oracle/event.js';
import {
  organization as anyOrganization,
  movingChannels,
  movingSessions,
  movingUsers,
} from '../oracle/generate.js';
import { Organization } from '../oracle/organization.js';
import { emailRows, eventRows } from '../oracle/views.js';
import type { World } from '../world.js';
import {
  buildAtOnce,
  CIRCUMSTANCES,
  difference,
  type Law,
  newOrgId,
  sendAll,
  tablesOf,
  viewDifference,
} from './law.js';

/** One way in which the events of an organization come in. */
export interface Delivery {
  readonly events: SentEvent[];
  /** The same events in any order, some of them twice or three times, in batches. */
  readonly batches: SentEvent[][];
}

const BATCHES = 4;

const events = fc.oneof(
  { weight: 2, arbitrary: anyOrganization },
  { weight: 3, arbitrary: movingSessions },
  { weight: 3, arbitrary: movingChannels },
  { weight: 3, arbitrary: movingUsers },
);

export const delivery: fc.Arbitrary<Delivery> = events.chain((events) =>
  fc
    .record({
      more: fc.shuffledSubarray([...events, ...events]),
      order: fc.infiniteStream(fc.nat()),
      cuts: fc.array(fc.nat({ max: 2 * events.length }), { maxLength: BATCHES - 1 }),
    })
    .map(({ more, order, cuts }) => {
      const keyed = [...events, ...more].map((event) => ({ event, key: order.next().value }));
      const arrived = keyed.sort((one, other) => one.key - other.key).map(({ event }) => event);
      const ends = [...cuts.sort((one, other) => one - other), arrived.length];
      const batches = ends.map((end, index) => arrived.slice(ends[index - 1] ?? 0, end));
      return { events, batches: batches.filter((batch) => batch.length > 0) };
    }),
);

/** The clock of the build after each batch: days become closed one after the other, and late events come after that. */
const CLOCKS = ['2026-05-12', '2026-06-03', '2026-06-09', '2026-06-10'].map((day) =>
  Date.parse(`${day}T12:00:00.000Z`),
);

/** However the events arrive and days are built, and whatever other organizations send: the same tables, byte for byte. */
export function sameTables(world: World): Law<Delivery> {
  return async (deliveries) => {
    const pieces = deliveries.map(newOrgId);
    for (const [round, clock] of CLOCKS.entries()) {
      await world.sendTogether(
        deliveries.flatMap(({ batches }, index) => {
          const batch = batches[round];
          return batch === undefined ? [] : [[pieces[index] ?? '', batch] as const];
        }),
      );
      await build(world.store, {}, () => clock);
    }
    const before = await Promise.all(pieces.map((orgId) => tablesOf(world, orgId)));
    // The same ids in another organization, all at once: the tables of the first one stay as they are.
    const whole = await sendAll(
      world,
      deliveries.map(({ events }) => events),
    );
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
  };
}

/** Of two copies of an event, the one that docs/events.md, "Duplicates", names stands and gives the e-mail, in whatever order they come. */
export function rightCopies(world: World): Law<[SentEvent, SentEvent][]> {
  return async (organizations) => {
    const ways = organizations.flatMap((pairs) => {
      const there = pairs.map(([one]) => one);
      const back = pairs.map(([, other]) => other);
      return [[there, back], [back, there], [pairs.flat()]].map((batches) => ({
        pairs,
        orgId: newOrgId(),
        batches,
      }));
    });
    for (const round of [0, 1])
      await world.sendTogether(
        ways.flatMap(({ orgId, batches }) => {
          const batch = batches[round];
          return batch === undefined ? [] : [[orgId, batch] as const];
        }),
      );
    const faults = new Map<object, string | undefined>(organizations.map((pairs) => [pairs, undefined]));
    for (const { pairs, orgId } of ways) {
      const organization = new Organization(pairs.flat(), CIRCUMSTANCES);
      const expected = { events: eventRows(organization), user_emails: emailRows(organization) };
      faults.set(pairs, faults.get(pairs) ?? (await viewDifference(world, orgId, expected)));
    }
    return [...faults.values()];
  };
}
