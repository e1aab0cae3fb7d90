import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeBudgets, newestBudgets } from '../../src/store/state/budget-revisions.js';
import { gate } from '../gate.js';
import { ending } from '../world.js';
import { expectSound, hasBrowser, loaded, rowsOf, type Site } from './browser.js';
import { siteOfStories } from './stories.js';

describe.runIf(hasBrowser)('the budgets under Operations', () => {
  const atEnd = ending();
  let site: Site;
  let page: Page;
  beforeAll(async () => {
    site = await siteOfStories(atEnd);
    page = await site.signedIn((await site.key('owner', 'root')).key, 'operations/budgets');
    await loaded(page);
  });
  afterAll(() => expect((site?.complaints ?? []).filter((one) => !one.includes('412'))).toEqual([]));

  const list = () => page.getByRole('region', { name: 'List of budgets' });
  const set = async (scope: string, name: string | undefined, usd: string) => {
    await page.locator('select[name=scope]').selectOption(scope);
    if (name !== undefined) await page.locator('input[name=name]').fill(name);
    await page.getByLabel('Dollars a month').fill(usd);
    await page.getByRole('button', { name: 'Set', exact: true }).click();
  };
  const usdOf = async (wanted: string | null) =>
    (await newestBudgets(site.world.store, 'acme')).budgets.find(({ name }) => name === wanted)?.usd;

  test('say what is spent, what may be, and where 50, 80 and 100 % are', async () => {
    const rows = await rowsOf(page, 'budgets');
    // The columns: kind, budget, spent, forecast and its interval, state.
    expect(rows.payments?.slice(0, 3)).toEqual(['team', 75, 84]);
    expect(rows.web?.slice(0, 3)).toEqual(['team', 1000, 90]);
    expect(rows.payments?.at(-1)).toBe('above');
    const bar = list().getByRole('row', { name: /web/ }).locator('.budget-bar');
    const widthOf = async (part: string) =>
      (await bar.locator(part).evaluate((one) => one.getBoundingClientRect().width)) /
      (await bar.evaluate((one) => one.getBoundingClientRect().width));
    // The budget stands at three quarters of the bar.
    expect(await widthOf('.spent')).toBeCloseTo(0.09 * 0.75, 2);
    expect(await widthOf('.forecast')).toBeCloseTo(0.306 * 0.75, 2);
    await list().getByText('0 of 15 people above').waitFor();
    await expectSound(page);
  });

  test('an owner sets one, and removes it', async () => {
    await set('team', 'web', '120.50');
    await page.getByText('web: $120.50 a month.').waitFor();
    expect(await usdOf('web')).toBe(120.5);
    await set('agent', 'claude-code', '5000');
    await list().getByRole('link', { name: 'claude-code' }).waitFor();
    await page.getByRole('button', { name: 'Remove the budget of claude-code' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('claude-code has no budget any more.').waitFor();
    expect(await usdOf('claude-code')).toBeUndefined();
    expect(await usdOf('web')).toBe(120.5);
  });

  test('an owner sets two, one right after the other', async () => {
    const release = gate();
    await page.route('**/organization/budgets', async (route) => {
      if (route.request().method() === 'GET') await release.opened;
      await route.continue();
    });
    await set('team', 'web', '130');
    await page.getByText('web: $130.00 a month.').waitFor();
    await set('team', 'web', '140');
    await page.getByText('web: $140.00 a month.').waitFor();
    expect(await usdOf('web')).toBe(140);
    release.open();
    await page.unroute('**/organization/budgets');
  });

  test('what somebody changed meanwhile isn’t overwritten', async () => {
    const { store, now } = site.world;
    await changeBudgets(
      store,
      'acme',
      ({ budgets }) => budgets.map((one) => (one.name === 'payments' ? { ...one, usd: 90 } : one)),
      'grace',
      now,
    );
    await set('organization', undefined, '900');
    await page.getByText('Somebody has changed budgets meanwhile').waitFor();
    expect(await usdOf('payments')).toBe(90);
    expect(await usdOf(null)).not.toBe(900);
  });

  test('a manager reads them', async () => {
    const manager = await site.signedIn((await site.key('manager', 'boss')).key, 'operations/budgets');
    await manager.getByRole('region', { name: 'List of budgets' }).waitFor();
    expect(await manager.getByRole('button', { name: 'Set', exact: true }).count()).toBe(0);
    await manager.context().close();
  });
});
