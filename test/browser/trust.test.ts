import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { event } from '../world.js';
import { faultsOf, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

test.runIf(hasBrowser)('trust has what the service says of its days', async () => {
  const events = [
    event('1', { agent: 'codex', timestamp: `${LAST}T10:00:00Z` }),
    event('2', { agent: 'claude-code', user_id: 'grace', timestamp: `${addDays(LAST, -2)}T10:00:00Z` }),
  ];
  const site = await Site.start(onTestFinished, { events });
  await site.world.send([{ event_id: 'broken', timestamp: `${LAST}T11:00:00Z` }]);
  await site.world.send([event('3', { agent: 'codex', session_id: 's3', timestamp: `${LAST}T12:00:00Z` })]);
  site.world.now += 60_000;
  await site.world.build();
  const { key } = await site.key('owner');
  const page = await site.signedIn(key, 'trust?range=7d');
  await loaded(page);
  const range = `startDate=${addDays(LAST, -6)}&endDate=${LAST}`;
  const { data: quality } = await site.api(key, `analytics/quality?${range}`);
  const { data: agents } = await site.api(key, `analytics/activity?${range}&group_by=agent`);
  const reports = await rowsOf(page, 'who-reports');
  const of = (date: string, agent: string) =>
    agents.find((row: Record<string, string>) => row.date === date && row.group_key === agent)
      ?.daily_active_users ?? null;
  for (const [date, [claude, codex]] of Object.entries(reports))
    expect([claude, codex]).toEqual([of(date, 'claude-code'), of(date, 'codex')]);
  expect(reports[LAST]?.[1]).toBe(1);
  const reasons: Record<string, number[]> = {};
  for (const { rejected_by_reason } of quality)
    for (const { reason, count } of rejected_by_reason)
      reasons[reason] = [(reasons[reason]?.[0] ?? 0) + count];
  expect(Object.keys(reasons).length).toBeGreaterThan(0);
  expect(await rowsOf(page, 'rejects')).toEqual(reasons);
  const restated = await rowsOf(page, 'restated');
  expect(Object.keys(restated)).toEqual([LAST]);
  expect(restated[LAST]?.[0]).toBe('late events');
  await page.getByText('None is stale.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await faultsOf(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
  ).toBeLessThanOrEqual(0);
  expect(site.complaints).toEqual([]);
});
