import { describe, onTestFinished, test } from 'vitest';
import { copies, NOW } from '../oracle/generate.js';
import { STORES } from '../stores.js';
import { delivery, rightCopies, sameTables } from './arrival.js';
import { hold, RATE_CARD } from './law.js';
import { ORGANIZATIONS, TIMEOUT_MS } from './settings.js';

describe.each(STORES)('laws of arrival, $name', ({ open }) => {
  test('shuffled, doubled, in any batches, late, built piece by piece or from scratch: the same tables', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const world = await open(RATE_CARD, onTestFinished);
    world.now = NOW;
    await hold(delivery, Math.ceil(ORGANIZATIONS / 8), sameTables(world));
  });

  test('of two copies that differ in one member the right one stands, whichever comes first', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const world = await open(RATE_CARD, onTestFinished);
    world.now = NOW;
    await hold(copies, Math.ceil(ORGANIZATIONS / 10), rightCopies(world));
  });
});
