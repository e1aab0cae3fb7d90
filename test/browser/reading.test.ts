import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, SAMPLE, Site } from './browser.js';
import { northwind } from './northwind.js';

/** More repositories than a page of a table has. */
const REPOSITORIES = Array.from({ length: 30 }, (_, place) =>
  event(`repo-${place}`, {
    ...{
      user_id: 'amber-finch',
      session_id: `repo-${place}`,
      repo: `https://github.com/northwind/old-${place}`,
    },
    timestamp: `${LAST}T10:00:00Z`,
  }),
);

describe.runIf(hasBrowser)('a reader', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  let page: Page;
  beforeAll(async () => {
    site = await Site.start(atEnd, {
      events: [...northwind(LAST, { ...SAMPLE, days: 75 }), ...REPOSITORIES],
    });
    ({ key } = await site.key('owner'));
    await site.publish();
    page = await site.signedIn(key);
  });
  afterAll(() => expect(site?.complaints ?? []).toEqual([]));

  const open = async (path: string) => {
    await page.goto(`${site.url}/${path}`);
    await loaded(page);
  };

  test('sees a month beside the same days of the month before', async () => {
    const months = [
      ['month', '2026-07-01', LAST, 'Jun 1 – 8, 2026'],
      ['last-month', '2026-06-01', '2026-06-30', 'May 1 – 31, 2026 (22 working days, then 21)'],
    ] as const;
    for (const [range, from, to, against] of months) {
      await open(`?range=${range}`);
      const path = `analytics/summary?startDate=${from}&endDate=${to}&compare=month`;
      const [row] = (await site.api(key, path)).data;
      const rows = await rowsOf(page, 'numbers');
      expect(rows.Cost).toEqual([row.cost_usd, row.previous.cost_usd]);
      expect(rows.Sessions).toEqual([row.sessions, row.previous.sessions]);
      const text = (await page.locator('.top h1 + p').textContent())?.replaceAll(
        /[\u2009\u202f\u00a0]/g,
        ' ',
      );
      expect(text).toContain(against);
      const { data: tools } = await site.api(key, `${path}&group_by=tool`);
      const bash = tools.find((one: { group_key: string }) => one.group_key === 'Bash');
      expect((await rowsOf(page, 'tools')).Bash).toEqual([bash.tool_calls, bash.previous.tool_calls]);
    }
  });

  test('sees a model in one colour, whatever the range', async () => {
    const seen = new Map<string, Set<string>>();
    for (const path of ['?range=7d', '', '?range=90d', 'models', 'people?name=copper-finch']) {
      await open(path);
      const swatches = page.locator(
        'figure[data-chart=cost-by-model] .legend li, figure[data-chart=tokens-by-model] tbody th.named',
      );
      const colours = await swatches.evaluateAll((all) =>
        all.map((one) => [
          one.querySelector('bdi')?.textContent ?? '',
          one.querySelector<HTMLElement>('.swatch')?.style.background ?? '',
        ]),
      );
      for (const [name = '', colour = ''] of colours)
        seen.set(name, (seen.get(name) ?? new Set()).add(colour));
    }
    // The sixth one is grey where five others cost more.
    seen.delete('qwen3-coder-next');
    expect(seen.size).toBe(5);
    for (const [name, colours] of seen) expect([...colours], name).toHaveLength(1);
    expect(new Set([...seen.values()].flatMap((colours) => [...colours])).size).toBe(5);
  });

  test('sees dollars as dollars, and sums where days add up', async () => {
    await open('');
    const panel = page.locator('section', { has: page.locator('figure[data-chart=cost-by-model]') }).last();
    await panel.locator('.dots summary').click();
    await panel.locator('.dots').getByRole('button', { name: 'Table' }).click();
    const rows = Object.values(await rowsOf(page, 'cost-by-model'));
    const sums = await panel.locator('tfoot td').allTextContents();
    expect(sums.length).toBeGreaterThan(3);
    for (const [index, text] of sums.entries()) {
      const sum = rows.reduce((all, cells) => all + Number(cells[index]), 0);
      if (rows.some((cells) => cells[index] !== null))
        expect(text).toBe(sum.toLocaleString('en-US', { style: 'currency', currency: 'USD' }));
    }
    for (const text of await panel.locator('tbody td.number').allTextContents())
      expect(text).toMatch(/^\$[\d,]+\.\d\d$/);
    expect(await page.locator('figure[data-chart=active-users] tfoot').count()).toBe(0);
    await open('people');
    const total = page.locator('figure[data-chart=all-people] tfoot').first();
    await total.getByText('All people').waitFor();
    const [row] = (await site.api(key, `analytics/summary?startDate=${addDays(LAST, -29)}&endDate=${LAST}`))
      .data;
    expect(await total.textContent()).toContain(row.sessions.toLocaleString('en-US'));
  });

  test('reads cards whole, and what the chosen number means', async () => {
    await open('?metric=billable_tokens');
    const cut = await page
      .locator('.strip p')
      .evaluateAll((all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
      );
    expect(cut).toEqual([]);
    await page.getByText('neither tokens nor dollars').waitFor();
    await page.getByRole('link', { name: 'What the numbers mean' }).click();
    await page.waitForURL(/numbers$/);
    for (const name of [
      'Active users',
      'Sessions',
      'Cost',
      'Credits',
      'Tool calls',
      'Autonomy ratio',
      'Commits',
    ])
      await page.locator('dt', { hasText: name }).first().waitFor();
    await expectSound(page);
  });

  test('has the first numbers first, and asks for nothing that is left behind', async () => {
    // A page without numbers, so that nothing it asks for is taken for the next one's.
    const other = await site.signedIn(key, 'numbers');
    const asked: string[] = [];
    let underWay = 0;
    let most = 0;
    const held: (() => void)[] = [];
    await other.route('**/api/v1/analytics/**', async (route) => {
      asked.push(route.request().url());
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise<void>((resolve) => held.push(resolve));
      underWay -= 1;
      await route.continue();
    });
    await other.goto(`${site.url}/`);
    await expect.poll(() => asked.length).toBe(3);
    expect(asked[0]).toMatch(/summary\?startDate=[\d-]+&endDate=[\d-]+&compare=previous$/);
    await other.getByRole('link', { name: 'Trust', exact: true }).click();
    await other.getByRole('heading', { level: 1, name: 'Trust' }).waitFor();
    const before = asked.length;
    const release = setInterval(() => held.shift()?.(), 10);
    await loaded(other);
    clearInterval(release);
    expect(most).toBe(3);
    const later = asked.slice(before);
    expect(later.length).toBeGreaterThan(0);
    expect(later.filter((url) => /\/(marks|changes|budgets)/.test(url))).toEqual([]);
    await other.context().close();
  });

  test('hears how many rows a table has in all', async () => {
    await open('repositories');
    await page.getByText('1–25 of 36').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('26–36 of 36').waitFor();
    await open('models');
    await page.getByText('1–6 of 6').waitFor();
  });

  test('hears of parameters that a link has and the page does not know', async () => {
    await open('?user=amber-finch&modell=gpt-5&tool=Bash');
    expect(await page.locator('main > .stale').allTextContents()).toEqual([
      'user isn’t known and was left out: did you mean user_id?',
      'modell isn’t known and was left out: did you mean model?',
    ]);
    await page.getByLabel('Remove the filter Tool').click();
    await page.waitForURL((url) => url.search === '');
    expect(await page.locator('main > .stale').count()).toBe(0);
  });

  test('reaches every page on a phone', async () => {
    const phone = await site.signedIn(key, '', { viewport: { width: 390, height: 800 } });
    await loaded(phone);
    for (const name of ['Operations', 'SQL', 'Trust']) {
      await phone.getByText('All pages').click();
      await phone.getByRole('navigation', { name: 'All pages' }).getByRole('link', { name }).click();
      await phone.waitForURL(new RegExp(`/${name.toLowerCase()}`));
      expect(await phone.locator('.pages[open]').count()).toBe(0);
    }
    await phone.context().close();
  });

  test('of SQL sees the numbers of a column written alike, and a chart of the ratio that was asked for', async () => {
    const sql =
      "SELECT agent, calls, failed_ratio FROM (VALUES ('codex', 7147, 0.1), ('claude-code', 17059, 0.2)) AS found(agent, calls, failed_ratio)";
    await page.goto(`${site.url}/sql?sql=${encodeURIComponent(sql)}`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.answer').waitFor();
    expect(await page.locator('.answer td.number').allTextContents()).toEqual([
      '7,147',
      '0.1',
      '17,059',
      '0.2',
    ]);
    expect(await page.locator('.sql-chart [aria-pressed=true]').allTextContents()).toEqual(['failed_ratio']);
  });
});
