import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { changeBudgets } from '../../src/store/state/budget-revisions.js';
import { changePrivacy } from '../../src/store/state/privacy-revisions.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';
import { CROWD, DAYS, dollarsOf, PEOPLE, siteOfStories } from './stories.js';

const costOn = (day: Day, people: readonly string[] = PEOPLE) =>
  DAYS.includes(day) ? people.reduce((sum, person) => sum + dollarsOf(person, day), 0) : 0;
const daysOf = (first: string, count: number) =>
  Array.from({ length: count }, (_, place) => addDays(first as Day, place));

/** The forecast of July, of whose weekdays 16 are left: each is as the mean of the newest ten, and nobody works at weekends. */
function forecastOf(people: readonly string[] = PEOPLE) {
  const newest = [...DAYS.slice(-9), addDays(LAST, 1)].map((day) => costOn(day, people));
  const mean = newest.reduce((sum, one) => sum + one, 0) / 10;
  const spread = newest.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 9;
  const spent = daysOf('2026-07-01', 8).reduce((sum, day) => sum + costOn(day, people), 0);
  const miss = 3 * Math.sqrt(spread * (16 + 16 ** 2 / 10));
  return { spent, end: spent + 16 * mean, low: spent + 16 * mean - miss, high: spent + 16 * mean + miss };
}

describe.runIf(hasBrowser)('will the budget hold', () => {
  const atEnd = ending();
  let site: Site;
  let page: Page;
  beforeAll(async () => {
    site = await siteOfStories(atEnd);
    page = await site.signedIn((await site.key('owner', 'root')).key);
  });
  afterAll(() => expect(site?.complaints ?? []).toEqual([]));

  const panelOf = (of = page) => of.getByRole('region', { name: 'Will the budget hold?' });
  const open = async (path: string) => {
    await page.goto(`${site.url}/${path}`);
    await loaded(page);
  };

  test('the chart has the sums of the month and of the last one, and the forecast of its end', async () => {
    await open('');
    const rows = await rowsOf(page, 'budget');
    const july = daysOf('2026-07-01', 31);
    expect(Object.keys(rows)).toEqual(july);
    let [sum, before] = [0, 0];
    for (const [place, day] of july.entries()) {
      sum += costOn(day);
      const last = daysOf('2026-06-01', 30)[place];
      before += last === undefined ? 0 : costOn(last);
      const [sumShown, beforeShown] = rows[day] ?? [];
      expect(sumShown, day).toBe(day > LAST ? null : sum);
      expect(beforeShown, day).toBe(last === undefined ? null : before);
    }
    const { end, low, high } = forecastOf();
    const ends = (rows['2026-07-31'] ?? []).slice(2).map(Number);
    for (const [place, expected] of [end, low, high].entries()) expect(ends[place]).toBeCloseTo(expected, 6);
    expect(await panelOf().locator('.answer-text').textContent()).toBe(
      `No: about $${end.toFixed(0)} by Jul 31, $${(end - 500).toFixed(2)} over. In trials, about 9 of 10 months ended within such a range: $${low.toFixed(0)} to $${high.toFixed(0)}. How`,
    );
    await expectSound(page);
  });

  test('a team has its own', async () => {
    await open('teams?name=payments');
    const { spent } = forecastOf(CROWD.filter((_, place) => place % 2 === 0));
    await panelOf()
      .getByText(`No: $${spent.toFixed(2)} of $75.00 is spent, passed on Jul 8.`)
      .waitFor();
    expect((await rowsOf(page, 'budget'))[LAST]?.[0]).toBe(spent);
    await open('teams?name=web');
    await panelOf().getByText('Yes: about $306 by Jul 31, $694 below.').waitFor();
    await open('teams?name=web&agent=claude-code');
    expect(await panelOf().count()).toBe(0);
  });

  test('a member has the own one', async () => {
    const own = await site.signedIn((await site.key('member', 'crowd-0')).key);
    await loaded(own);
    const { end } = forecastOf(['crowd-0']);
    await panelOf(own)
      .getByText(`Yes: about $${end.toFixed(2)} by Jul 31, $${(400 - end).toFixed(0)} below.`)
      .waitFor();
    expect((await rowsOf(own, 'budget'))[LAST]?.[0]).toBe(12);
    await own.context().close();
  });

  test('a team of a protected organization has no days', async () => {
    const { store, now } = site.world;
    const change = (mode: 'open' | 'protected') =>
      changePrivacy(store, 'acme', () => ({ mode, smallestGroup: 5, auditors: [] }), 'root', now);
    await change('protected');
    const guarded = await site.signedIn((await site.key('manager', 'boss')).key, 'teams?name=payments');
    await panelOf(guarded).getByText('No: $84.00 of $75.00 is spent').waitFor();
    expect(await panelOf(guarded).locator('.chart').count()).toBe(0);
    await guarded.context().close();
    await change('open');
  });

  test('without a budget its place asks for one', async () => {
    const { store, now } = site.world;
    await changeBudgets(store, 'acme', () => [], 'root', now);
    await open('');
    await panelOf().getByText('There is no budget.').waitFor();
    expect(await panelOf().getByRole('link', { name: 'Set a budget' }).count()).toBe(1);
    expect((await rowsOf(page, 'budget'))[LAST]?.[0]).toBe(forecastOf().spent);
  });
});

test.runIf(hasBrowser)('it is too early to say with few built days', async () => {
  const site = await Site.start(onTestFinished, { events: [event('1', { timestamp: `${LAST}T10:00:00Z` })] });
  const { store, now } = site.world;
  await changeBudgets(store, 'acme', () => [{ scope: 'organization', name: null, usd: 5 }], 'root', now);
  const page = await site.signedIn((await site.key('owner')).key);
  await page.getByText('Too early to say').waitFor();
  expect(site.complaints).toEqual([]);
});
