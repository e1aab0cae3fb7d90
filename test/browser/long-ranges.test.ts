import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { ending } from '../world.js';
import { csvOf, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

/** More models than colours: with 90 days, one answer doesn't have all days of all of them. */
const MODELS = [
  ...['claude-opus-4-5', 'claude-opus-4-1', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-sonnet-4'],
  ...['claude-opus-4', 'gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4o', 'o3', 'o4-mini'],
];
const FIRST = addDays(LAST, -1133);

function usage(day: Day, model: string, input_tokens = 1_000_000) {
  return {
    event_id: `${day} ${model}`,
    ...{ type: 'model_usage', timestamp: `${day}T10:00:00Z`, user_id: 'ada', session_id: day },
    ...{ model, input_tokens, output_tokens: 0 },
  };
}

const EVENTS = [
  usage(FIRST, 'gpt-5'),
  ...Array.from({ length: 89 }, (_, back) => addDays(LAST, -1 - back)).flatMap((day) =>
    MODELS.map((model) => usage(day, model)),
  ),
  usage(addDays(LAST, -2), 'no-price', 700),
  // On the last day no model beyond the dearest has a price.
  usage(LAST, 'claude-opus-4-1'),
  usage(LAST, 'no-price', 500),
];

describe.runIf(hasBrowser)('ranges that take several answers', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  beforeAll(async () => {
    site = await Site.start(atEnd, { events: EVENTS, settings: { DAYBOOK_HISTORY_START: '2023-01-01' } });
    ({ key } = await site.key('owner'));
  });
  afterAll(() => expect(site.complaints).toEqual([]));

  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  const daily = async (from: Day, more = ''): Promise<any[]> => {
    const path = `analytics/costs?startDate=${from}&endDate=${LAST}&limit=1000${more}`;
    const { data, meta } = await site.api(key, path);
    return meta.next_cursor === null
      ? data
      : [...data, ...(await daily(from, `&cursor=${meta.next_cursor}`))];
  };

  test('costs by model add up to those of each day, and say which tokens have no price', async () => {
    const page = await site.signedIn(key, '?range=90d');
    await loaded(page);
    const expected = await daily(addDays(LAST, -89));
    expect(expected).toHaveLength(90);
    const rows = await rowsOf(page, 'cost-by-model');
    expect(Object.keys(rows)).toEqual(expected.map(({ date }) => date));
    for (const { date, cost_usd } of expected) {
      const sum = (rows[date] ?? []).reduce<number>((all, cost) => all + Number(cost), 0);
      expect(sum, date).toBeCloseTo(cost_usd, 9);
    }
    // Two models of the same price are in the order of the API.
    expect(rows[LAST]?.filter((cost) => cost === 15)).toHaveLength(1);
    expect(rows[LAST]?.at(-1)).toBeNull();
    const panel = page.locator('section', { has: page.locator('figure[data-chart=cost-by-model]') }).last();
    expect(await panel.locator('header .note').textContent()).toMatch(
      /^\$4,\d{3}; 1,200 tokens have no price$/,
    );
    const csv = await csvOf(page, 'cost-by-model');
    const line = csv.split('\r\n').find((one) => one.startsWith(addDays(LAST, -1)));
    expect(line?.split(',').slice(1).map(Number)).toEqual(rows[addDays(LAST, -1)]);
    // The list is cut, and its table isn't.
    expect(Object.keys(await rowsOf(page, 'tokens-by-model'))).toHaveLength(MODELS.length + 1);
    // A filter asks for less, and gives the same.
    await page.goto(`${site.url}/?range=90d&model=gpt-4o`);
    await loaded(page);
    const alone = await daily(addDays(LAST, -89), '&model=gpt-4o');
    expect(Object.values(await rowsOf(page, 'cost-by-model'))).toEqual(
      alone.map(({ cost_usd }) => [cost_usd]),
    );
  });

  test('a chart has all days of a range of years', async () => {
    const page = await site.signedIn(key, `?from=${FIRST}&to=${LAST}`);
    await loaded(page);
    const expected = await daily(FIRST);
    expect(expected).toHaveLength(1134);
    const rows = await rowsOf(page, 'chosen-number');
    expect(Object.entries(rows).map(([date, [cost]]) => [date, cost])).toEqual(
      expected.map(({ date, cost_usd }) => [date, cost_usd]),
    );
    expect(await page.locator('figure[data-chart=chosen-number] .unbuilt rect').count()).toBe(0);
    const byModel = await rowsOf(page, 'cost-by-model');
    for (const { date, cost_usd } of expected) {
      const sum = (byModel[date] ?? []).reduce<number>((all, cost) => all + Number(cost), 0);
      expect(sum, date).toBeCloseTo(cost_usd, 9);
    }
  });
});

describe.runIf(hasBrowser)('a range that begins with the history', () => {
  const atEnd = ending();

  test('is compared with nothing', async () => {
    const start = addDays(LAST, -29);
    const site = await Site.start(atEnd, { settings: { DAYBOOK_HISTORY_START: start } });
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    await loaded(page);
    expect(await page.locator('.top').textContent()).not.toContain('against');
    for (const text of await page.locator('.strip .change').allTextContents()) expect(text.trim()).toBe('');
    for (const chart of ['numbers', 'tools', 'languages', 'places']) {
      const rows = Object.values(await rowsOf(page, chart));
      expect(rows.length, chart).toBeGreaterThan(0);
      for (const cells of rows) expect(cells.at(-1), chart).toBeNull();
    }
    await page.goto(`${site.url}/?range=7d`);
    await loaded(page);
    expect(await page.locator('.top').textContent()).toContain('against');
    for (const cells of Object.values(await rowsOf(page, 'tools'))) expect(cells.at(-1)).not.toBeNull();
    expect(site.complaints).toEqual([]);
  });
});
