import { expect } from 'vitest';
import { addDays, dayOf } from '../../src/day.js';
import { answersOf, CIRCUMSTANCES, difference, RATE_CARD } from '../laws/law.js';
import { answers as oracle } from '../oracle/answers.js';
import { TODAY } from '../program.js';
import { World } from '../world.js';
import type { Site } from './site.js';

/** The events that are counted of an organization. */
export async function idsIn(world: World, orgId: string): Promise<string[]> {
  const rows = await world.store.select('SELECT event_id FROM events WHERE org_id = $org_id', {
    org_id: orgId,
  });
  return rows.map(({ event_id }) => String(event_id));
}

/**
 * Compares what is counted with what was sent and acknowledged, and with a second computation of every day. After a power failure
 * a batch may come in once more: then its events are copies.
 */
export async function compare(
  site: Site,
  { isCopied = false }: { isCopied?: boolean } = {},
): Promise<Record<string, number>> {
  const totals = { acknowledged: 0, counted: 0, versions: 0 };
  const world = await World.create(
    { DAYBOOK_DATA: site.data, DAYBOOK_RATE_CARD: RATE_CARD },
    undefined,
    undefined,
    'DuckDB',
  );
  world.now = Date.now();
  const now = Date.now();
  for (const [index, { orgId, sent, acknowledged }] of site.ledgers.entries()) {
    const found = await idsIn(world, orgId);
    const ids = new Set(found);
    expect(found.length).toBe(ids.size);
    expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
    expect([...ids].filter((id) => !sent.has(id))).toEqual([]);
    const [arrived] = await world.store.select(
      'SELECT CAST(sum(accepted) AS BIGINT) AS accepted, CAST(sum(duplicates) AS BIGINT) AS duplicates FROM arrivals WHERE org_id = $org_id',
      { org_id: orgId },
    );
    expect(Number(arrived?.accepted)).toBe(found.length);
    // What was sent or read again to its end was a copy; of the others none may have been settled twice.
    if (orgId !== 'globex' && !isCopied) expect(Number(arrived?.duplicates)).toBe(0);
    const range = { from: addDays(TODAY, -3), to: addDays(dayOf(now), -1) };
    const counted = [...sent.values()].filter(({ event_id }) => ids.has(event_id));
    const expected = oracle(counted, { ...CIRCUMSTANCES, now });
    expect(difference(await answersOf(world, orgId, range), expected)).toBeUndefined();
    const versions = await site.versions[index]?.compare();
    expect(versions?.changed).toEqual([]);
    totals.acknowledged += acknowledged.size;
    totals.counted += ids.size;
    totals.versions += versions?.versions ?? 0;
  }
  return totals;
}
