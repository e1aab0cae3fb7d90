import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { gate } from '../gate.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, SAMPLE, Site } from './browser.js';
import { northwind } from './northwind.js';

const RANGE = `startDate=${addDays(LAST, -29)}&endDate=${LAST}`;
const COLUMNS = [
  ...['active_users', 'active_days', 'sessions', 'autonomy_ratio', 'cost_usd', 'change', 'billable_tokens'],
  ...['tool_calls', 'failed_call_ratio', 'commits', 'pull_requests'],
];
// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
const cellsOf = (row: any, columns: readonly string[]) =>
  columns.map((name) =>
    name === 'change' ? row.previous && (row.cost_usd ?? 0) - (row.previous.cost_usd ?? 0) : row[name],
  );

describe.runIf(hasBrowser)('people, repositories and models', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  beforeAll(async () => {
    site = await Site.start(atEnd);
    await site.publish();
    ({ key } = await site.key('owner'));
  });
  afterAll(() => expect(site.complaints).toEqual([]));

  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  const summary = async (query: string): Promise<any[]> =>
    (await site.api(key, `analytics/summary?${RANGE}${query}`)).data;

  test.each([
    ['people', 'user', COLUMNS.slice(1)],
    ['repositories', 'repo', COLUMNS],
    ['models', 'model', COLUMNS],
  ])('%s have the numbers of the API, in the order of a column', async (path, group, columns) => {
    const page = await site.signedIn(key, path);
    await loaded(page);
    const rows = await summary(`&group_by=${group}&sort=cost_usd&limit=25&compare=previous`);
    expect(Object.entries(await rowsOf(page, `all-${path}`))).toEqual(
      rows.map((row) => [row.group_key, cellsOf(row, columns)]),
    );
    await page.getByRole('link', { name: 'Change', exact: true }).click();
    const changed = await summary(`&group_by=${group}&sort=change&limit=25&compare=previous`);
    await expect
      .poll(async () => Object.entries(await rowsOf(page, `all-${path}`)))
      .toEqual(changed.map((row) => [row.group_key, cellsOf(row, columns)]));
    const [all] = await summary('&compare=previous');
    const foot = page.locator(`figure[data-chart=all-${path}] tfoot [data-change]`).first();
    expect(Number(await foot.getAttribute('data-change'))).toBeCloseTo(
      all.cost_usd - all.previous.cost_usd,
      9,
    );
    await page.getByRole('link', { name: 'Sessions' }).click();
    const sorted = await summary(`&group_by=${group}&sort=sessions&limit=25`);
    await expect
      .poll(async () => Object.keys(await rowsOf(page, `all-${path}`)))
      .toEqual(sorted.map((row) => row.group_key));
    // Both orders can be the same, before the second one is there.
    await loaded(page);
    await expectSound(page);
    await page.locator(`figure[data-chart=all-${path}] tbody a`).first().click();
    await page.waitForURL(/name=/);
    await loaded(page);
    const [first] = sorted;
    const [total] = await summary(
      `&${group === 'user' ? 'user_id' : group}=${encodeURIComponent(first.group_key)}`,
    );
    await expect
      .poll(() => page.locator('[data-figure=tool_calls]').getAttribute('data-value'))
      .toBe(String(total.tool_calls));
    await expectSound(page);
  });

  test('a person is found by a part of the name', async () => {
    const page = await site.signedIn(key, 'people');
    await loaded(page);
    await page.getByPlaceholder('Search a person').fill('isk-fi');
    await page.getByRole('button', { name: 'brisk-finch' }).click();
    await page.waitForURL(/people\?name=brisk-finch/);
  });

  test('the lines of a page are one request for its groups, of whole weeks where days are many', async () => {
    const page = await site.signedIn(key, 'numbers');
    const lines = (query: string) => {
      const asked: string[] = [];
      page.on('request', (request) => {
        if (/analytics\/summary\?.*group_keys=/.test(request.url())) asked.push(request.url());
      });
      return async () => {
        await page.goto(`${site.url}/people${query}`);
        await loaded(page);
        await expect.poll(() => page.locator('.sparked path[d*=L]').count()).toBeGreaterThan(0);
        expect(asked).toHaveLength(1);
        return new URL(asked[0] ?? '').searchParams;
      };
    };
    const days = await lines('')();
    expect(days.get('interval')).toBe('day');
    const keys: string[] = JSON.parse(days.get('group_keys') ?? '[]');
    expect(keys).toEqual(Object.keys(await rowsOf(page, 'all-people')));
    const daily = await summary(`&group_by=user&interval=day&user_id=${keys[0]}&limit=1000`);
    const points = await page.locator('.sparked path').nth(1).getAttribute('d');
    // A day on which no token has a price leaves a gap.
    const unknown = daily.filter(({ cost_usd }) => cost_usd === null).length;
    expect(points?.match(/[ML]/g)).toHaveLength(30 - unknown);
    expect(daily.length).toBeGreaterThan(3);
    page.removeAllListeners('request');
    expect((await lines('?range=90d')()).get('interval')).toBe('week');
    page.removeAllListeners('request');
  });

  test("a person's page has the sessions, modes and languages of the API", async () => {
    const page = await site.signedIn(key, 'people?name=copper-finch');
    await loaded(page);
    const { data } = await site.api(key, `analytics/users?${RANGE}&user_id=copper-finch`);
    const modes = await rowsOf(page, 'modes');
    expect(Object.keys(modes)).toHaveLength(30);
    for (const [date, cells] of Object.entries(modes)) {
      // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
      const row = data.find((one: any) => one.date === date);
      expect(cells, date).toEqual(
        row === undefined
          ? [null, null, null, null]
          : [row.delegation_level, row.autonomy_ratio, row.sessions, row.user_messages],
      );
    }
    expect(await page.locator('figure[data-chart=modes] .filled rect').count()).toBe(data.length);
    const languages = new Map<string, number>();
    for (const row of data)
      for (const language of row.languages) languages.set(language, (languages.get(language) ?? 0) + 1);
    expect(languages.size).toBeGreaterThan(2);
    const shown = await rowsOf(page, 'languages-of-days');
    expect(shown).toEqual(Object.fromEntries([...languages].map(([name, days]) => [name, [days]])));
    const member = await site.key('member', 'copper-finch');
    const own = await site.signedIn(member.key);
    await loaded(own);
    expect(await rowsOf(own, 'modes')).toEqual(modes);
    expect(await rowsOf(own, 'languages-of-days')).toEqual(shown);
  });

  test("a person's page names the model that is used most and the last active day", async () => {
    const [model] = await summary('&group_by=model&sort=billable_tokens&user_id=amber-finch');
    const { data: days } = await site.api(key, `analytics/users?${RANGE}&user_id=amber-finch`);
    const last = days.at(-1).date;
    expect(last < LAST).toBe(true);
    const day = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });
    const facts = `Most used model: ${model?.group_key}. Last active on ${day.format(Date.parse(last))}`;
    const page = await site.signedIn(key);
    for (const [choice, text] of [
      ['amber-finch', facts],
      ['nobody', 'Not active in this range'],
    ] as const) {
      await page.goto(`${site.url}/people?name=${choice}`);
      await loaded(page);
      await page.locator('.top').getByText(text, { exact: true }).waitFor();
    }
    // They are of all days of the person, so they aren't there under a filter.
    await page.goto(`${site.url}/people?name=amber-finch&model=gemini-2.5-pro`);
    await loaded(page);
    await page.locator('.hidden-panels').getByText('Most used model, last active day').waitFor();
    expect(await page.locator('.top').textContent()).not.toContain('Most used model');
    await expectSound(page);
  });

  test("a person's page has the hours and the newest sessions of the person's events", async () => {
    const page = await site.signedIn(key, 'people?name=copper-finch');
    await loaded(page);
    const events = northwind(LAST, SAMPLE).filter(
      (one) => one.user_id === 'copper-finch' && one.timestamp >= addDays(LAST, -29),
    );
    const weekdayOf = (at: string) => (new Date(at).getUTCDay() + 6) % 7;
    const expected = Array.from({ length: 24 }, () => Array.from({ length: 7 }, () => 0));
    for (const { type, timestamp } of events) {
      const hour = expected[new Date(timestamp).getUTCHours()] ?? [];
      if (type === 'tool_call') hour[weekdayOf(timestamp)] = (hour[weekdayOf(timestamp)] ?? 0) + 1;
    }
    const hours = await rowsOf(page, 'hours');
    expect(Object.keys(hours)).toHaveLength(24);
    for (const [hour, cells] of Object.entries(hours)) expect(cells, hour).toEqual(expected[Number(hour)]);
    const filled = page.locator('figure[data-chart=hours] .filled rect');
    expect(await filled.count()).toBe(expected.flat().filter((count) => count > 0).length);
    // What the pointer shows has the numbers too.
    const titles = await filled.locator('title').allTextContents();
    const shown = titles.map((title) => Number(/tool calls: (\d+)$/.exec(title)?.[1]));
    expect(shown.sort()).toEqual(
      expected
        .flat()
        .filter((count) => count > 0)
        .sort(),
    );

    const started = new Map<string, string>();
    for (const { session_id, timestamp } of events)
      if (timestamp < (started.get(session_id) ?? '9')) started.set(session_id, timestamp);
    const newest = [...started].sort(([, one], [, other]) => (one < other ? 1 : -1)).slice(0, 8);
    const sessions = await rowsOf(page, 'sessions');
    expect(Object.keys(sessions)).toEqual(newest.map(([, at]) => at));
    for (const [id, at] of newest) {
      const of = (type: string) => events.filter((one) => one.session_id === id && one.type === type).length;
      const [, , , turns, calls, commits] = sessions[at] ?? [];
      expect([turns, calls, commits], id).toEqual([of('user_message'), of('tool_call'), of('git_commit')]);
    }
    await page.getByRole('link', { name: 'All sessions in SQL' }).click();
    await page.getByLabel('$user').waitFor();
    expect(await page.getByLabel('$user').inputValue()).toBe('copper-finch');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('heading', { name: `${started.size} rows` }).waitFor();
  });

  test('a dot leads to its person', async () => {
    const page = await site.signedIn(key, 'people');
    await loaded(page);
    const dot = page.locator('figure[data-chart=autonomy-against-cost] circle').last();
    const name = String(await dot.getAttribute('data-name'));
    await dot.click({ force: true });
    await page.waitForURL((url) => url.searchParams.get('name') === name);
  });

  test('a member gets to no other person by address', async () => {
    const member = await site.key('member', 'amber-finch');
    const page = await site.signedIn(member.key, 'people?name=brisk-finch');
    await page.getByText('Your role sees your own numbers only.').waitFor();
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
  });
});

test.runIf(hasBrowser)('20,000 people are sorted and paged by the service', async () => {
  const events = Array.from({ length: 20_000 }, (_, index) =>
    event(`e${index}`, { user_id: `user-${String(index).padStart(5, '0')}`, session_id: `s${index}` }),
  );
  const site = await Site.start(onTestFinished, { events });
  await site.publish();
  const { key } = await site.key('owner');
  const page = await site.signedIn(key, 'people');
  await loaded(page);
  const first = Object.keys(await rowsOf(page, 'all-people'));
  const release = gate();
  await page.route(/cursor=/, async (route) => {
    await release.opened;
    await route.continue();
  });
  const next = page.getByRole('button', { name: 'Next' });
  await next.click();
  // Before the page is there, nobody turns on to the same one.
  await expect.poll(() => next.getAttribute('aria-disabled')).toBe('true');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Next');
  release.open();
  await expect.poll(async () => Object.keys(await rowsOf(page, 'all-people'))[0]).not.toBe(first[0]);
  const second = Object.keys(await rowsOf(page, 'all-people'));
  expect(new Set([...first, ...second]).size).toBe(50);
  await page.getByRole('button', { name: 'Previous' }).click();
  await expect.poll(async () => Object.keys(await rowsOf(page, 'all-people'))).toEqual(first);
  // Another order begins at its first page, without asking for another.
  await next.click();
  await expect.poll(async () => Object.keys(await rowsOf(page, 'all-people'))).toEqual(second);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByText('1–25 of 20,000', { exact: true }).waitFor();
  await loaded(page);
  expect(asked.filter((url) => url.includes('cursor='))).toEqual([]);
  // The last of all by cost and name, by what nobody before has, and by typing on without waiting.
  await page.getByPlaceholder('Search a person').fill('R-19999');
  await page.getByRole('button', { name: 'user-19999' }).click();
  await page.waitForURL(/people\?name=user-19999/);
  await page.goBack();
  await page.getByPlaceholder('Search a person').fill('18888');
  await page.keyboard.press('Enter');
  await page.waitForURL(/people\?name=user-18888/);
  await loaded(page);
  await page.goto(`${site.url}/models`);
  await page.getByText('+ Filter').click();
  await page.getByRole('button', { name: 'Person' }).click();
  await page.getByPlaceholder('Person').fill('17777');
  await page.locator('.values button', { hasText: 'user-17777' }).click();
  await page.waitForURL(/user_id=user-17777/);
  expect(site.complaints).toEqual([]);
});
