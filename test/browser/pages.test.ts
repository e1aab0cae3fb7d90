import type { Route } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { CLAUDE_CODE, CODEX, DROID, GEMINI_CLI, OPENCODE } from '../../src/ingest/source.js';
import { freePort } from '../ask.js';
import { gate } from '../gate.js';
import { testSamples } from '../samples.js';
import { event } from '../world.js';
import { csvOf, expectSound, hasBrowser, LAST, loaded, overflowOf, rowsOf, Site } from './browser.js';

/** Every page of numbers, with the chart that has a row for each of what it is about. */
const PAGES = [
  ['', 'people'],
  ['people', 'all-people'],
  ['repositories', 'all-repositories'],
  ['models', 'all-models'],
  ['trust', 'who-reports'],
] as const;

describe.runIf(hasBrowser)('an organization', () => {
  test('without events hears how to send some, and sees charts once there are days', async () => {
    const site = await Site.start(onTestFinished, { events: [] });
    const { key } = await site.key('owner');
    const member = await site.key('member', 'ada');
    const pages = [];
    for (const signedIn of [key, member.key]) {
      const page = await site.signedIn(signedIn);
      await page.getByRole('heading', { name: 'No events yet: send some' }).waitFor();
      await expectSound(page);
      pages.push(page);
    }
    await site.world.send([event('first', { timestamp: `${LAST}T10:00:00Z` })]);
    await pages[0]?.getByRole('heading', { name: 'Events are here, and no day is built yet' }).waitFor();
    await site.world.build();
    for (const page of pages) {
      await page.waitForSelector('figure[data-chart=chosen-number]');
      await loaded(page);
      expect(await page.locator('[data-figure=sessions]').getAttribute('data-value')).toBe('1');
    }
    expect(site.complaints).toEqual([]);
  });

  test('that is hostile is shown as text on every page and in every file', async () => {
    const names = [
      '<img src=x onerror="document.title=1">',
      '<script>document.title = 2</script>',
      '\u202egnp.exe',
      'x'.repeat(190),
      '=cmd|calc',
      '@SUM(1)',
      "javascript:alert('1')",
    ];
    const events = names.flatMap((name, index) => {
      const of = {
        user_id: name,
        session_id: `s${index}`,
        agent: name.slice(0, 60),
        repo: name,
      };
      return [
        event(`m${index}`, { ...of, type: 'model_usage', model: name, input_tokens: 10, output_tokens: 10 }),
        event(`t${index}`, { ...of, type: 'tool_call', tool_name: `mcp__${name}__${'y'.repeat(2000)}` }),
        event(`u${index}`, { ...of, type: 'tool_call', tool_name: `T${'o'.repeat(120)}${index}` }),
        event(`k${index}`, { ...of, type: 'skill_use', skill_name: name }),
        event(`c${index}`, { ...of, type: 'slash_command', command_name: name }),
        event(`h${index}`, { ...of, type: 'hook_run', hook_event: name, command: name }),
        event(`f${index}`, { ...of, type: 'file_change', path: `/w/a.${name}`, operation: 'edit' }),
      ];
    });
    const site = await Site.start(onTestFinished, { events });
    await site.publish();
    const { key } = await site.key('owner', 'w'.repeat(128));
    for (const width of [1280, 390]) {
      const page = await site.signedIn(key, '', { viewport: { width, height: 900 } });
      // The name of who looks leaves room for the names of pages.
      expect((await page.locator('.head').boundingBox())?.height).toBeLessThan(100);
      const last = await page.getByRole('link', { name: 'SQL', exact: true }).boundingBox();
      if (width === 1280) expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThan(1000);
      for (const [path, chart] of PAGES) {
        await page.goto(`${site.url}/${path}`);
        await loaded(page);
        await page
          .getByText(names[0] ?? '')
          .first()
          .waitFor();
        expect(await page.title()).toMatch(/^\w+ · Daybook$/);
        expect(await page.locator('main img, main script').count(), path).toBe(0);
        expect(await overflowOf(page), `${path} at ${width}`).toBe(0);
        // Texts that turn the direction of what follows do so in their own cell only.
        const isolated = await page
          .locator('main th, main bdi')
          .evaluateAll((all) =>
            all
              .filter(
                (one) =>
                  one.children.length === 0 && one.checkVisibility() && one.textContent?.includes('\u202e'),
              )
              .map((one) => getComputedStyle(one).unicodeBidi),
          );
        for (const bidi of isolated) expect(bidi, path).toMatch(/isolate|plaintext/);
        const csv = await csvOf(page, chart);
        expect(csv, path).toMatch(/(^|,)'=cmd\|calc/m);
        expect(csv, path).not.toMatch(/(^|[,"])[=@]/m);
      }
      // No link leads to texts that a spreadsheet would run.
      const linked = await page.goto(
        `${site.url}/api/v1/analytics/summary?startDate=${LAST}&endDate=${LAST}`,
      );
      expect([linked?.status(), linked?.headers()['content-type']]).toEqual([
        200,
        'application/json; charset=utf-8',
      ]);
      await page.goto(`${site.url}/people?name=${encodeURIComponent(names[1] ?? '')}`);
      await loaded(page);
      await page.getByRole('heading', { name: names[1] ?? '' }).waitFor();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await overflowOf(page)).toBe(0);
      await page.context().close();
    }
    expect(site.complaints).toEqual([]);
  });
});

test.runIf(hasBrowser)('a page that is open goes on when the service is started again', async () => {
  const site = await Site.start(onTestFinished, { settings: { DAYBOOK_PORT: String(await freePort()) } });
  const { key } = await site.key('owner');
  const page = await site.signedIn(key);
  await loaded(page);
  const sessions = await page.locator('[data-figure=sessions]').getAttribute('data-value');
  await site.stop();
  await page.getByRole('link', { name: '7 d' }).click();
  await page.getByText('The service can’t be reached').first().waitFor();
  await site.startAgain();
  await page.getByRole('link', { name: '30 d', exact: true }).click();
  await expect.poll(() => page.locator('[data-figure=sessions]').getAttribute('data-value')).toBe(sessions);
  await page.getByRole('link', { name: '7 d' }).click();
  await loaded(page);
  expect(Object.keys(await rowsOf(page, 'chosen-number'))).toHaveLength(7);
  // One press reads all that was lost.
  await site.stop();
  await page.getByRole('link', { name: 'Quarter' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Try again' }).count()).toBeGreaterThan(5);
  // What is still asked for would be answered, and then all is read without a press.
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await site.startAgain();
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await loaded(page);
  expect(Object.keys(await rowsOf(page, 'chosen-number'))).toHaveLength(8);
  // Signed in as before; what couldn't be reached was in the console.
  expect(await page.getByLabel('API key').count()).toBe(0);
  expect(site.complaints.filter((one) => !one.includes('net::ERR_'))).toEqual([]);
});

test.runIf(hasBrowser)('a panel that failed is asked for again by its button', async () => {
  const site = await Site.start(onTestFinished);
  const { key } = await site.key('owner');
  const page = await site.signedIn(key);
  await loaded(page);
  // What isn't reached is asked for again by itself.
  const fail = (route: Route) => route.fulfill({ status: 500, json: { detail: 'The database is away.' } });
  await page.route('**/analytics/tools?*', fail);
  await page.getByRole('link', { name: '7 d' }).click();
  const panel = page.locator('section.panel', { hasText: 'Autonomy of tool calls' });
  await panel.getByRole('button', { name: 'Try again' }).waitFor();
  // The others are there.
  await expect.poll(async () => Object.keys(await rowsOf(page, 'chosen-number')).length).toBe(7);
  await page.unroute('**/analytics/tools?*');
  await panel.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(async () => Object.keys(await rowsOf(page, 'autonomy')).length).toBe(7);
  // Without the numbers of a range, those of the range before aren't shown as its own.
  await page.route(/analytics\/summary\?(?!.*(group_by|interval))/, fail);
  await page.getByRole('link', { name: '90 d' }).click();
  await page.locator('.numbers').getByRole('button', { name: 'Try again' }).waitFor();
  expect(await page.locator('[data-figure]').count()).toBe(0);
});

test.runIf(hasBrowser)('an answer that is late does not replace a newer one', async () => {
  const site = await Site.start(onTestFinished);
  const { key } = await site.key('owner');
  const page = await site.signedIn(key, 'operations/keys');
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
  const create = async (name: string) => {
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create key' }).click();
  };
  await page.getByText('no name').waitFor();
  const release = gate();
  let isHeld = true;
  const isRead = new Promise<void>((resolve) => {
    void page.route('**/api/v1/api-keys?*', async (route) => {
      if (!isHeld) return route.continue();
      isHeld = false;
      const response = await route.fetch();
      resolve();
      await release.opened;
      await route.fulfill({ response });
    });
  });
  await create('first');
  await isRead;
  await create('second');
  await row('second').waitFor();
  const late = page.waitForResponse(/api-keys\?/);
  release.open();
  await (await late).finished();
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  expect(await row('second').count()).toBe(1);
});

test.runIf(hasBrowser)('print has all of a page, and nothing to press', async () => {
  const site = await Site.start(onTestFinished);
  const { key } = await site.key('owner');
  // As wide as A4 has room.
  const page = await site.signedIn(key, '', { viewport: { width: 720, height: 1000 } });
  for (const [path] of PAGES) {
    await page.goto(`${site.url}/${path}`);
    await loaded(page);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const hidden of ['.head', '.dots', '.choice', '.switch', '.search', '.paging'])
      for (const one of await page.locator(hidden).all()) expect(await one.isVisible(), hidden).toBe(false);
    expect(await overflowOf(page), path).toBe(0);
    const panels = await page.locator('.panel').evaluateAll((all) =>
      all.map((panel) => ({
        name: panel.querySelector('figure')?.dataset.chart,
        isWhole: getComputedStyle(panel).breakInside === 'avoid' || panel.querySelector('.groups') !== null,
        isCut: [...panel.querySelectorAll('table:not(.rows), svg')].some(
          (one) => one.getBoundingClientRect().right > panel.getBoundingClientRect().right + 1,
        ),
      })),
    );
    expect(panels.length).toBeGreaterThan(0);
    expect(panels.filter(({ isWhole, isCut }) => !isWhole || isCut)).toEqual([]);
    // On paper it is always light.
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(255, 255, 255)',
    );
    await page.emulateMedia({ media: null, colorScheme: null });
  }
  expect(site.complaints).toEqual([]);
});

test.runIf(hasBrowser)('charts are drawn again for paper, which is less wide than a window', async () => {
  const site = await Site.start(onTestFinished);
  const { key } = await site.key('owner');
  const page = await site.signedIn(key);
  await loaded(page);
  const widest = () =>
    page
      .locator('svg.plot')
      .evaluateAll((all) => Math.max(...all.map((plot) => Number(plot.getAttribute('width')))));
  await expect.poll(widest).toBeGreaterThan(1000);
  const on = (name: string) => page.evaluate((name) => window.dispatchEvent(new Event(name)), name);
  await on('beforeprint');
  expect(await widest()).toBeLessThan(700);
  await on('afterprint');
  expect(await widest()).toBeGreaterThan(1000);
});

describe.runIf(hasBrowser)('real sessions', () => {
  testSamples('transcripts', 'are on every page', async (folder) => {
    const site = await Site.start(onTestFinished, { events: [] });
    for (const [name, source] of [
      ['claude-code', CLAUDE_CODE],
      ['codex', CODEX],
      ['factory-droid', DROID],
      ['gemini-cli', GEMINI_CLI],
      ['opencode', OPENCODE],
    ] as const)
      await site.world.ingest([`${folder}/${name}`], { source, userId: `user-of-${name}` });
    await site.world.build();
    await site.publish();
    const { key } = await site.key('owner');
    const { data } = await site.api(key, 'status');
    const range = `from=${addDays(data.data_days.at(-1), -89)}&to=${data.data_days.at(-1)}`;
    for (const width of [1280, 390]) {
      const page = await site.signedIn(key, '', { viewport: { width, height: 900 } });
      for (const [path, chart] of PAGES) {
        await page.goto(`${site.url}/${path}?${range}`);
        await loaded(page);
        expect(Object.keys(await rowsOf(page, chart)).length, path).toBeGreaterThan(0);
        expect(await overflowOf(page), `${path} at ${width}`).toBe(0);
        await expectSound(page);
      }
      await page.goto(`${site.url}/people?name=user-of-claude-code&${range}`);
      await loaded(page);
      expect(Object.keys(await rowsOf(page, 'sessions')).length).toBeGreaterThan(0);
      expect(await overflowOf(page)).toBe(0);
      await expectSound(page);
      await page.goto(`${site.url}/models?${range}`);
      await loaded(page);
      const models = await site.api(
        key,
        `analytics/summary?startDate=${addDays(data.data_days.at(-1), -89)}&endDate=${data.data_days.at(-1)}&group_by=model&sort=cost_usd&limit=25`,
      );
      expect(Object.keys(await rowsOf(page, 'all-models'))).toEqual(
        models.data.map((row: { group_key: string }) => row.group_key),
      );
      await page.context().close();
    }
    expect(site.complaints).toEqual([]);
  });
});
