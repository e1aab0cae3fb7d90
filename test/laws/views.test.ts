import fc from 'fast-check';
import { describe, onTestFinished, test } from 'vitest';
import { movingUsers, NOW, organization } from '../oracle/generate.js';
import { Organization } from '../oracle/organization.js';
import { viewRows } from '../oracle/views.js';
import { STORES } from '../stores.js';
import { buildAtOnce, CIRCUMSTANCES, hold, PRICE_LIST, RATE_CARD, sendAll, viewDifference } from './law.js';
import { ORGANIZATIONS, TIMEOUT_MS } from './settings.js';

describe.each(STORES)('laws of the views, $name', ({ open }) => {
  test('the tables and views that people query hold what the words of the definitions say', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const world = await open(RATE_CARD, onTestFinished, PRICE_LIST);
    world.now = NOW;
    await hold(fc.oneof(organization, movingUsers), Math.ceil(ORGANIZATIONS / 3), async (organizations) => {
      const ids = await sendAll(world, organizations);
      await buildAtOnce(world);
      const faults: (string | undefined)[] = [];
      for (const [index, orgId] of ids.entries()) {
        const views = viewRows(new Organization(organizations[index] ?? [], CIRCUMSTANCES));
        faults.push(await viewDifference(world, orgId, views));
      }
      return faults;
    });
  });
});
