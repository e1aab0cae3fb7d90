import { expect, it } from 'vitest';
import { World } from '../world.js';
import { eventsOf } from './event.js';
import { mutated } from './mutated.js';

/** A line of nothing but white space is empty. */
const isEmpty = (bytes: Buffer): boolean => /^[ \t\r]*$/.test(bytes.toString('latin1'));
const fileOf = (lines: readonly Buffer[]) =>
  Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from('\n')]));

it.each([1, 2])(
  'every line that is not empty is accepted, a duplicate or rejected, in either order (seed %i)',
  async (seed) => {
    const world = await World.create();
    const lines = mutated(seed, 600);
    const full = lines.filter((bytes) => !isEmpty(bytes)).length;
    const { accepted, duplicates, rejected, byReason } = await world.ingest([
      world.file('mutated.ndjson', fileOf(lines)),
    ]);
    expect(accepted + duplicates + rejected).toBe(full);
    expect(Object.values(byReason).reduce((sum, count) => sum + count, 0)).toBe(rejected);
    expect(Math.min(accepted, duplicates, rejected)).toBeGreaterThan(20);

    const stored = await eventsOf(world, 'acme');
    expect(stored).toHaveLength(accepted);
    const kept = await world.store.select(
      'SELECT count(*) AS lines, count(DISTINCT line_no) AS numbers, min(length(reason || detail)) AS shortest FROM rejects',
    );
    expect(kept).toEqual([{ lines: rejected, numbers: rejected, shortest: expect.any(Number) }]);

    const backwards = world.file('backwards.ndjson', fileOf(lines.toReversed()));
    expect(await world.ingest([backwards], { orgId: 'globex' })).toMatchObject({
      accepted,
      duplicates,
      rejected,
    });
    expect(await eventsOf(world, 'globex')).toEqual(stored);
  },
);
