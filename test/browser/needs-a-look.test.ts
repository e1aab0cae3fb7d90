import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changePrivacy } from '../../src/store/state/privacy-revisions.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';
import {
  CROWD,
  DAYS,
  dollarsOf,
  FAILING,
  NEW_SKILL,
  PEOPLE,
  SILENT,
  STUCK,
  siteOfStories,
} from './stories.js';

const dollars = (value: number) => `$${value.toFixed(value < 100 ? 2 : 0)}`;

describe.runIf(hasBrowser)('what needs a look', () => {
  const atEnd = ending();
  let site: Site;
  let page: Page;
  beforeAll(async () => {
    site = await siteOfStories(atEnd);
    page = await site.signedIn((await site.key('owner', 'root')).key);
  });
  afterAll(() => expect(site?.complaints ?? []).toEqual([]));

  const open = async (path: string) => {
    await page.goto(`${site.url}/${path}`);
    await loaded(page);
  };

  test('is on the overview, the worst first, with a word and a reason', async () => {
    await open('');
    const month = DAYS.filter((day) => day >= '2026-07-01');
    const costOf = (people: readonly string[], days: readonly (typeof DAYS)[number][]) =>
      days.reduce((sum, day) => people.reduce((all, person) => all + dollarsOf(person, day), sum), 0);
    const spent = costOf(PEOPLE, month);
    // 16 of the weekdays of July are left. Each is as the mean of the newest ten, of which the last, July 9, is empty.
    const forecast = spent + (16 * costOf(PEOPLE, DAYS.slice(-9))) / 10;
    const payments = CROWD.filter((_, place) => place % 2 === 0);
    expect(await rowsOf(page, 'needs-a-look')).toEqual({
      [STUCK.user]: ['stuck', '50% of calls failed since Jun 22, others 0%'],
      payments: ['budget', `${dollars(costOf(payments, month))} of $75.00, passed on Jul 8`],
      acme: ['budget', `forecast ${dollars(forecast)}, budget $500`],
      '1 laptop': ['silent', `longest: ${SILENT.user}, since Jun 26`],
      [FAILING.server]: ['failing', '80% of calls failed since Jun 29, 0% before'],
      'inhouse-coder': [
        'no price',
        `${(DAYS.filter((day) => day >= '2026-06-09').length * 1000) / 1000}.0K tokens are in no cost`,
      ],
      [NEW_SKILL.skill]: ['spreads', '14 users in 28 days, 0 before'],
      jira: ['spreads', '14 users in 28 days, 1 before'],
    });
    const panel = page.getByRole('region', { name: 'Needs a look' });
    await panel.getByText('7 of 8').waitFor();
    const words = () => panel.locator('.word').allTextContents();
    expect(await words()).toEqual(['stuck', 'budget', 'budget', 'silent', 'failing', 'no price', 'spreads']);
    await panel.getByRole('button', { name: 'All 8' }).click();
    expect(await words()).toHaveLength(8);
    await expectSound(page);
  });

  test.each([
    [STUCK.user, `/people?name=${STUCK.user}`],
    ['payments', '/teams?name=payments'],
    ['1 laptop', '/trust'],
    [FAILING.server, `/?mcp_server=${FAILING.server}`],
    ['inhouse-coder', '/models?name=inhouse-coder'],
  ])('leads to %s', async (name, path) => {
    await open('');
    await page.getByRole('region', { name: 'Needs a look' }).getByRole('link', { name, exact: true }).click();
    await page.waitForURL(`${site.url}${path}`);
    await loaded(page);
  });

  test('the page of a person says since when, how much and why, and who may see it is told what it means', async () => {
    await open(`people?name=${STUCK.user}`);
    const mark = page.locator('.mark');
    expect(await mark.locator('h2').textContent()).toBe('stuck since Jun 22: 50% of calls failed, others 0%');
    const days = DAYS.filter((day) => day >= STUCK.since).length;
    expect(await mark.getByRole('listitem').allTextContents()).toEqual([
      `50% of ${20 * days} calls failed on ${days} weekdays, after 0.5% on the 20 weekdays before.`,
      'The median of 16 people is 0.5%.',
      'No commit since Jun 18, after commits on 9 of 20 weekdays.',
    ]);
    await mark.getByRole('link', { name: 'When a person is marked' }).click();
    await page.getByText('A person whose agent fails far more often').waitFor();
    await open(`people?name=${STUCK.user}&agent=claude-code`);
    expect(await mark.count()).toBe(0);
    await open('teams?name=web');
    expect(await mark.locator('h2').textContent()).toBe('stuck 1 person of the team');
    await mark.getByRole('link', { name: STUCK.user }).waitFor();
    const own = await site.signedIn((await site.key('member', STUCK.user)).key);
    await own.locator('.mark').getByText('since Jun 22').waitFor();
    await own.context().close();
  });

  test('leaves under a filter, and says so', async () => {
    await open('?team=web');
    expect(await page.locator('figure[data-chart=needs-a-look]').count()).toBe(0);
    await page.getByText('Needs a look', { exact: true }).waitFor();
  });

  test('names nobody to managers of a protected organization', async () => {
    const { store, now } = site.world;
    const change = (mode: 'open' | 'protected') =>
      changePrivacy(store, 'acme', () => ({ mode, smallestGroup: 5, auditors: [] }), 'root', now);
    await change('protected');
    const guarded = await site.signedIn((await site.key('manager', 'boss')).key);
    await loaded(guarded);
    expect(Object.keys(await rowsOf(guarded, 'needs-a-look'))).toEqual([
      ...['payments', 'acme', '1 laptop', FAILING.server, '(small groups)', NEW_SKILL.skill, 'jira'],
    ]);
    const shown = await guarded.locator('body').innerText();
    expect(PEOPLE.filter((person) => shown.includes(person))).toEqual([]);
    await guarded.context().close();
    await change('open');
  });
});

test.runIf(hasBrowser)('a mark is hidden until it ends, with who and when', async () => {
  const site = await siteOfStories(onTestFinished);
  const page = await site.signedIn((await site.key('owner', 'root')).key, `people?name=${STUCK.user}`);
  await page.getByRole('button', { name: 'Not stuck: hide until it ends' }).click();
  await page.getByText('Hidden by root on Jul 10, 2026, 12:00 UTC, until it ends.').waitFor();
  await expectSound(page);
  await page.goto(site.url);
  await loaded(page);
  expect(Object.keys(await rowsOf(page, 'needs-a-look'))).not.toContain(STUCK.user);
  await page.goto(`${site.url}/teams?name=web`);
  await loaded(page);
  expect(await page.locator('.mark').count()).toBe(0);
  expect(site.complaints).toEqual([]);
});

test.runIf(hasBrowser)('says that nothing needs a look, and up to which day', async () => {
  const site = await Site.start(onTestFinished, { events: [event('1', { timestamp: `${LAST}T10:00:00Z` })] });
  const page = await site.signedIn((await site.key('owner')).key);
  await page.getByText('Nothing needs a look: checked up to Jul 8.').waitFor();
  expect(site.complaints).toEqual([]);
});
