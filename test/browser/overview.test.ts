import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, dayOf } from '../../src/day.js';
import { gate } from '../gate.js';
import { ending, event } from '../world.js';
import { expectMarks, expectSound, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

const RANGE = `startDate=${addDays(LAST, -29)}&endDate=${LAST}`;

describe.runIf(hasBrowser)('the overview', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  beforeAll(async () => {
    site = await Site.start(atEnd);
    ({ key } = await site.key('owner'));
  });
  afterAll(() => expect(site.complaints).toEqual([]));

  type Row = Record<string, number | string | null> & { previous: Record<string, number | null> | null };
  const summary = async (query = ''): Promise<Row[]> =>
    (await site.api(key, `analytics/summary?${RANGE}${query}`)).data;

  test('has the numbers of the API in every chart', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const [total] = await summary('&compare=previous');
    const figures = await page
      .locator('[data-figure]')
      .evaluateAll((all) =>
        all.map((one) => [one.getAttribute('data-figure'), Number(one.getAttribute('data-value'))]),
      );
    expect(figures).toHaveLength(8);
    for (const [name, value] of figures) expect(value, String(name)).toBe(total?.[String(name)]);
    // A share changes in points.
    const points = 100 * (Number(total?.failed_call_ratio) - Number(total?.previous?.failed_call_ratio));
    expect(await page.locator('[data-figure=failed_call_ratio] .change').textContent()).toContain(
      `${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(1)} pt from `,
    );

    const daily = await summary('&interval=day&compare=previous&limit=1000');
    expect(await rowsOf(page, 'chosen-number')).toEqual(
      Object.fromEntries(daily.map((row) => [row.date, [row.cost_usd, row.previous?.cost_usd ?? null]])),
    );
    const byModel = await rowsOf(page, 'cost-by-model');
    const models = await summary('&group_by=model&sort=cost_usd');
    const columns = await page
      .locator('figure[data-chart=cost-by-model] table.rows thead th')
      .allTextContents();
    for (const [index, model] of columns.slice(1).entries()) {
      const sum = Object.values(byModel).reduce((all, cells) => all + Number(cells[index]), 0);
      const found = models.find((row) => row.group_key === model);
      expect(sum, model).toBeCloseTo(Number(found?.cost_usd ?? 0), 6);
    }
    const tokens = await summary('&group_by=model&sort=billable_tokens&limit=6');
    const kinds = [
      'input_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
      'output_tokens',
      'billable_tokens',
    ];
    expect(await rowsOf(page, 'tokens-by-model')).toEqual(
      Object.fromEntries(
        tokens.map((row) => {
          const [input, read, write] = kinds.map((kind) => Number(row[kind]));
          const share = Number(read) / (Number(input) + Number(read) + Number(write));
          return [row.group_key, [...kinds.map((kind) => row[kind]), share]];
        }),
      ),
    );
    const { data: activity } = await site.api(key, `analytics/activity?${RANGE}`);
    expect(await rowsOf(page, 'active-users')).toEqual(
      Object.fromEntries(
        activity.map((row: Row) => [
          row.date,
          [row.daily_active_users, row.weekly_active_users, row.monthly_active_users],
        ]),
      ),
    );
    const { data: tools } = await site.api(key, `analytics/tools?${RANGE}`);
    expect(await rowsOf(page, 'autonomy')).toEqual(
      Object.fromEntries(
        tools.map(
          ({ date, tool_autonomy_level_ratio: of }: { date: string; tool_autonomy_level_ratio: Row }) => [
            date,
            [of.auto_high, of.auto_medium, of.auto_low, of.manual],
          ],
        ),
      ),
    );
    const { data: byLevel } = await site.api(key, `analytics/tools?${RANGE}&group_by=autonomy_level`);
    const calls = (of: (level: string) => boolean) =>
      byLevel.reduce(
        (sum: number, row: Row) => sum + (of(String(row.group_key)) ? Number(row.tool_calls) : 0),
        0,
      );
    const known = calls((level) => level !== 'unknown');
    // They are of a request of their own.
    await expect
      .poll(() => page.locator('figure[data-chart=autonomy] .legend .note').allTextContents())
      .toEqual(
        ['auto_high', 'auto_medium', 'auto_low', 'manual'].map(
          (level) => `${Math.round((100 * calls((one) => one === level)) / known)}%`,
        ),
      );
    const people = await summary('&group_by=user&sort=autonomy_ratio&limit=6');
    expect(await rowsOf(page, 'people')).toEqual(
      Object.fromEntries(people.map((row) => [row.group_key, [row.autonomy_ratio, row.cost_usd]])),
    );
    const places = await summary('&group_by=repo&sort=sessions&limit=6&compare=previous');
    expect(await rowsOf(page, 'places')).toEqual(
      Object.fromEntries(
        places.map((row) => [
          row.group_key,
          [row.sessions, row.active_users, row.previous?.sessions ?? null],
        ]),
      ),
    );
    for (const [chart, group] of [
      ['mcp-servers', 'mcp_server'],
      ['tools', 'tool'],
    ]) {
      const groups = await summary(`&group_by=${group}&sort=tool_calls&compare=previous`);
      expect(await rowsOf(page, String(chart)), chart).toEqual(
        Object.fromEntries(
          groups.map((row) => [row.group_key, [row.tool_calls, row.previous?.tool_calls ?? null]]),
        ),
      );
    }
    for (const chart of [
      ...['chosen-number', 'cost-by-model', 'active-users', 'autonomy'],
      ...['people', 'places', 'mcp-servers', 'tools', 'habits', 'languages'],
    ])
      await expectMarks(page, chart);
    const { data: productivity } = await site.api(key, `analytics/productivity?${RANGE}`);
    // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
    const sums = (rows: any[], of: (row: any) => readonly [string, number][]) => {
      const counts: Record<string, number> = {};
      for (const row of rows) for (const [name, count] of of(row)) counts[name] = (counts[name] ?? 0) + count;
      return counts;
    };
    type Named = { name: string; count: number };
    for (const [tab, chart, expected] of [
      [
        'Skills',
        'habits',
        sums(tools, (row) => row.skills_by_name.map((one: Named) => [one.name, one.count])),
      ],
      [
        'Commands',
        'habits',
        sums(tools, (row) => row.slash_commands_by_name.map((one: Named) => [`/${one.name}`, one.count])),
      ],
      [
        'Hooks',
        'habits',
        sums(tools, (row) =>
          row.hooks_by_event.map((one: Row) => [
            [one.event, one.matcher, one.command].filter(Boolean).join(' · '),
            one.count,
          ]),
        ),
      ],
      [
        'Languages',
        'languages',
        sums(productivity, (row) => row.by_language.map((one: Row) => [one.language, one.count])),
      ],
      [
        'Files',
        'languages',
        sums(productivity, (row) => row.by_extension.map((one: Row) => [one.extension || 'none', one.count])),
      ],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      expect(Object.keys(expected).length, tab).toBeGreaterThan(1);
      await expect
        .poll(async () =>
          Object.fromEntries(
            Object.entries(await rowsOf(page, chart)).map(([name, [count]]) => [name, count]),
          ),
        )
        .toEqual(expected);
    }
  });

  test('is filtered by a click on a row, a legend and a column, and a link shows the same', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const whole = await page.locator('[data-figure=tool_calls]').getAttribute('data-value');
    await page.locator('figure[data-chart=tools] a', { hasText: 'Bash' }).click();
    await page.waitForURL(/tool=Bash/);
    await loaded(page);
    const [row] = await summary('&tool=Bash');
    const filtered = page.locator('[data-figure=tool_calls]');
    await expect.poll(() => filtered.getAttribute('data-value')).toBe(String(row?.tool_calls));
    expect(String(row?.tool_calls)).not.toBe(whole);
    const link = page.url();
    const opened = await site.signedIn(key, link.slice(site.url.length + 1));
    await expect
      .poll(() => opened.locator('[data-figure=tool_calls]').getAttribute('data-value'))
      .toBe(String(row?.tool_calls));
    await page.getByLabel('Remove the filter Tool').click();
    await expect.poll(() => filtered.getAttribute('data-value')).toBe(whole);
    await page.goBack();
    await expect.poll(() => filtered.getAttribute('data-value')).toBe(String(row?.tool_calls));
    await page.goto(site.url);
    await loaded(page);
    const segment = page.locator('figure[data-chart=cost-by-model] rect[data-name]').first();
    const model = String(await segment.getAttribute('data-name'));
    await segment.click();
    await page.waitForURL((url) => url.searchParams.get('model') === model);
    await loaded(page);
    await page.locator('.legend a[aria-current]').click();
    await page.waitForURL((url) => url.search === '');
  });

  test('takes several values of a filter, each of which can be removed by itself', async () => {
    const page = await site.signedIn(key, '?tool=Bash');
    await loaded(page);
    await page.getByText('+ Filter').click();
    await page.getByRole('button', { name: 'Tool', exact: true }).click();
    const values = page.locator('.values');
    await values.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.getAll('tool').join() === 'Bash,Edit');
    const pressed = values.locator('[aria-pressed=true]');
    await expect.poll(async () => (await pressed.allTextContents()).sort()).toEqual(['Bash', 'Edit']);
    await page.keyboard.press('Escape');
    await loaded(page);
    const figure = page.locator('[data-figure=sessions]');
    const shown = () => figure.getAttribute('data-value');
    const sessions = async (query: string) => String((await summary(query))[0]?.sessions);
    await expect.poll(shown).toBe(await sessions('&tool=Bash&tool=Edit'));
    const chips = page.locator('.chip');
    expect(await chips.allTextContents()).toEqual(['Tool: Bash×', 'Tool: Edit×']);
    await expectSound(page);
    const opened = await site.signedIn(key, page.url().slice(site.url.length + 1));
    await expect
      .poll(() => opened.locator('[data-figure=sessions]').getAttribute('data-value'))
      .toBe(await shown());
    await page.getByLabel('Remove the filter Tool: Bash').click();
    await page.waitForURL((url) => url.searchParams.getAll('tool').join() === 'Edit');
    await expect.poll(shown).toBe(await sessions('&tool=Edit'));
  });

  test('has ranges, numbers to choose and filters by name', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    await page.getByRole('link', { name: '7 d' }).click();
    await page.locator('[data-figure=commits]').click();
    await page.getByText('Commits a day').first().waitFor();
    await loaded(page);
    expect(Object.keys(await rowsOf(page, 'chosen-number'))).toHaveLength(7);
    await page.getByText('Custom').click();
    await page.getByLabel('First day').fill(addDays(LAST, -2));
    await page.getByRole('button', { name: 'Show these days' }).click();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    expect(await focused()).toBe('Custom');
    await expect.poll(async () => Object.keys(await rowsOf(page, 'chosen-number')).length).toBe(3);
    await page.getByText('+ Filter').click();
    await page.getByRole('button', { name: 'Person' }).click();
    await page.getByPlaceholder('Person').fill('amber');
    await page.locator('.values button', { hasText: 'amber-' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/user_id=amber-/);
    expect(await focused()).toBe('+ Filter');
  });

  test('says what to do where the filters leave nothing', async () => {
    const page = await site.signedIn(key, '?model=no-such-model&model=nor-this&tool=Bash');
    await loaded(page);
    await page.getByText('Nothing in this range is of no-such-model or nor-this and Bash.').waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'Remove all filters' }).click();
    await page.waitForURL((url) => url.search === '');
    await loaded(page);
    expect(Object.keys(await rowsOf(page, 'chosen-number'))).toHaveLength(30);
    await page.getByRole('application', { name: /^Cost a day/ }).waitFor();
  });

  test("has numbers in the reader's language, and days in UTC wherever the reader is", async () => {
    const [total] = await summary('&compare=previous');
    const [now, before] = [Number(total?.cost_usd), Number(total?.previous?.cost_usd)];
    for (const [locale, timezoneId, first] of [
      ['de-DE', 'Pacific/Auckland', '9. Juni'],
      ['ar-EG', 'America/Los_Angeles', '٩ يونيو'],
    ] as const) {
      const page = await site.signedIn(key, '', { locale, timezoneId });
      await loaded(page);
      const cost = page.locator('[data-figure=cost_usd]');
      const format = (value: number, options: Intl.NumberFormatOptions) =>
        new Intl.NumberFormat(locale, { maximumFractionDigits: 0, ...options }).format(value);
      expect(await cost.locator('.figure').textContent()).toBe(
        format(now, { style: 'currency', currency: 'USD' }),
      );
      const change = format(now / before - 1, { style: 'percent', signDisplay: 'always' });
      expect(await cost.locator('.change').textContent()).toContain(change);
      expect(await page.locator('.top h1 + p b').textContent()).toContain(first);
      expect(await page.locator('.top h1 + p').textContent()).toContain('days in UTC');
      expect(Object.keys(await rowsOf(page, 'chosen-number')).at(-1)).toBe(LAST);
    }
  });

  test('shows of a link only days that are over', async () => {
    const page = await site.open();
    await page.clock.setFixedTime(site.world.now);
    await page.goto(`${site.url}/?from=${addDays(LAST, -2)}&to=2999-12-31`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in with this key' }).click();
    await loaded(page);
    const over = dayOf(site.world.now - 86_400_000);
    expect(Object.keys(await rowsOf(page, 'chosen-number')).at(-1)).toBe(over);
  });

  test('copies a request, or selects it where the browser lets pages copy nothing', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const panel = page.locator('section', { has: page.locator('figure[data-chart=cost-by-model]') });
    await panel.locator('.dots summary').click();
    await panel.getByRole('button', { name: 'curl' }).click();
    const text = () => panel.locator('pre').textContent();
    const first = await text();
    await panel.getByRole('button', { name: 'Copy' }).click();
    await panel.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(first);
    await page.getByRole('link', { name: '7 d' }).click();
    await panel.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    expect(await text()).not.toBe(first);
    // As over plain HTTP.
    await page.evaluate(() => Reflect.deleteProperty(Navigator.prototype, 'clipboard'));
    await panel.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate(() => String(getSelection()))).toBe(await text());
  });

  test('has today so far, by a switch that the keyboard and a link reach', async () => {
    const today = addDays(LAST, 2);
    const at = { timestamp: `${today}T09:00:00Z`, user_id: 'amber-finch', session_id: 'open' };
    await site.world.send([
      event('open-1', at),
      event('open-2', { ...at, type: 'tool_call', tool_name: 'Bash', autonomy_mode: 'auto-high' }),
      event('open-3', { ...at, type: 'tool_call', tool_name: 'Read', autonomy_mode: 'manual' }),
    ]);
    const page = await site.signedIn(key, '?metric=tool_calls');
    await loaded(page);
    const row = `${today} so far`;
    expect(await rowsOf(page, 'chosen-number')).not.toHaveProperty([row]);
    const total = await page.locator('[data-figure=tool_calls]').getAttribute('data-value');
    await page.getByRole('switch', { name: 'Today so far' }).focus();
    await page.keyboard.press('Space');
    await page.waitForURL(/today=1/);
    const { data } = await site.api(key, 'analytics/today');
    expect(data.tools.tool_calls).toBe(2);
    await expect
      .poll(async () => (await rowsOf(page, 'chosen-number'))[row])
      .toEqual([data.tools.tool_calls, null]);
    const { daily_active_users, weekly_active_users, monthly_active_users } = data.activity;
    expect((await rowsOf(page, 'active-users'))[row]).toEqual([
      daily_active_users,
      weekly_active_users,
      monthly_active_users,
    ]);
    const { manual, auto_low, auto_medium, auto_high } = data.tools.tool_autonomy_level_ratio;
    expect((await rowsOf(page, 'autonomy'))[row]).toEqual([auto_high, auto_medium, auto_low, manual]);
    expect((await rowsOf(page, 'today'))['Tool calls']).toEqual([data.tools.tool_calls]);
    expect((await rowsOf(page, 'today')).Cost).toEqual([data.summary.cost_usd]);
    // Its columns are marked, and no number of the range has it.
    await loaded(page);
    expect(await page.locator('figure[data-chart=chosen-number] .open-day rect').count()).toBe(1);
    expect(await page.locator('[data-figure=tool_calls]').getAttribute('data-value')).toBe(total);
    const chart = page.getByRole('application', { name: /^Tool calls a day/ });
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await chart.getByRole('status').textContent()).toContain('Jul 10 so far');
    await expectSound(page);
    const opened = await site.signedIn(key, page.url().slice(site.url.length + 1));
    await loaded(opened);
    expect(await rowsOf(opened, 'chosen-number')).toHaveProperty([row]);
    // Filtered numbers have no open day.
    await opened.locator('figure[data-chart=tools] a', { hasText: 'Bash' }).click();
    await expect.poll(() => rowsOf(opened, 'chosen-number')).not.toHaveProperty([row]);
    expect(await opened.locator('figure[data-chart=today]').count()).toBe(0);
    expect(await opened.getByRole('switch', { name: 'Today so far' }).count()).toBe(0);
    await opened.locator('.hidden-panels').getByText('Today so far').waitFor();
    await page.getByRole('switch', { name: 'Today so far' }).click();
    await expect.poll(() => rowsOf(page, 'chosen-number')).not.toHaveProperty([row]);
  });

  test('says of a chart its rows, its request and its definition', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const panel = page.locator('section', { has: page.locator('figure[data-chart=cost-by-model]') });
    const choose = async (name: string) => {
      await panel.locator('.dots summary').click();
      await panel.getByRole('button', { name, exact: true }).click();
    };
    await choose('Table');
    expect(await panel.locator('table.rows').isVisible()).toBe(true);
    await choose('curl');
    const request = String(await panel.locator('pre').textContent());
    const [, path = ''] = /'http:\/\/[^/]+\/api\/v1\/([^']+)'/.exec(request) ?? [];
    expect((await site.api(key, path)).data.length).toBeGreaterThan(10);
    for (const one of await page.locator('section.panel').all()) {
      await one.locator('header .dots summary').click();
      await one.locator('header').getByRole('button', { name: 'Definition', exact: true }).click();
      await one.locator('pre', { hasText: '-- One row is' }).waitFor();
    }
    const [file] = await Promise.all([page.waitForEvent('download'), choose('CSV')]);
    expect(file.suggestedFilename()).toBe('cost-by-model.csv');
  });

  test('is read with the keyboard', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const chart = page.getByRole('application', { name: /^Cost a day/ });
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await chart.getByRole('status').textContent()).toContain('Jul 8');
    await page.getByRole('tab', { name: 'Repositories' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('figure[data-chart=places] [data-key=claude-code]');
  });

  test('has a range drawn over its days, also where the pointer is let go beside the chart', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const chart = page.getByRole('application', { name: /^Cost a day/ });
    await chart.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const drag = async (button: 'left' | 'right') => {
      await page.mouse.move(x + width * 0.75, y + height / 2);
      await page.mouse.down({ button });
      await page.mouse.move(x + width * 0.9, y + height / 2);
      await page.mouse.move(x + width * 0.9, y - 40);
      await page.mouse.up({ button });
    };
    await drag('right');
    expect(await page.locator('.brush').count()).toBe(0);
    expect(page.url()).not.toContain('from=');
    await drag('left');
    await page.waitForURL(/from=.*to=/);
    await loaded(page);
    const days = Object.keys(await rowsOf(page, 'chosen-number'));
    expect(days.length).toBeGreaterThan(2);
    expect(days.length).toBeLessThan(8);
    expect(await chart.getByRole('status').count()).toBe(0);
  });

  test('says of the day under the pointer what the API says, beside that day', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const chart = page.getByRole('application', { name: /^Cost a day/ });
    await chart.scrollIntoViewIfNeeded();
    const box = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const daily = await summary('&interval=day&compare=previous&limit=1000');
    const dollars = (value: unknown) => (value === null ? '–' : `$${Number(value).toFixed(2)}`);
    for (const share of [0.2, 0.8]) {
      const x = box.x + box.width * share;
      await page.mouse.move(x, box.y + box.height / 2);
      const tip = chart.getByRole('status');
      const day = new Date(`${await tip.locator('b').textContent()}, 2026 UTC`).toISOString().slice(0, 10);
      const row = daily.find((one) => one.date === day);
      expect(await tip.textContent()).toContain(dollars(row?.cost_usd));
      expect(await tip.textContent()).toContain(`: ${dollars(row?.previous?.cost_usd ?? null)}`);
      const { x: left, width } = (await tip.boundingBox()) ?? { x: 0, width: 0 };
      expect(Math.min(Math.abs(left - x), Math.abs(left + width - x)), `${share}`).toBeLessThan(60);
    }
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2);
    const { width } = (await page.locator('.brush').boundingBox()) ?? { width: 0 };
    expect(width).toBeGreaterThan(box.width * 0.15);
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
    await page.mouse.up();
  });

  test('names series where they end, and keeps their room while it is loading', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const names = page.locator('figure[data-chart=active-users] .ends li');
    await expect.poll(() => names.allTextContents()).toHaveLength(3);
    const { data: activity } = await site.api(key, `analytics/activity?${RANGE}`);
    const { daily_active_users, weekly_active_users, monthly_active_users } = activity.at(-1);
    expect(await names.allTextContents()).toEqual([
      `Month ${monthly_active_users}`,
      `Week ${weekly_active_users}`,
      `Day ${daily_active_users}`,
    ]);
    // As far below the top as the last column.
    const top = async (one: Locator) =>
      ((await one.boundingBox())?.y ?? 0) + ((await one.boundingBox())?.height ?? 0) / 2;
    const column = await page.locator('figure[data-chart=active-users] .columns rect').last().boundingBox();
    expect(Math.abs((await top(names.last())) - (column?.y ?? 0))).toBeLessThan(12);

    const release = gate();
    await page.route('**/api/v1/analytics/**', async (route) => {
      await release.opened;
      await route.continue();
    });
    const heightOf = async () =>
      (await page.locator('section', { hasText: 'Cost a day' }).last().boundingBox())?.height;
    await page.goto(site.url);
    await page.locator('.strip').waitFor();
    const before = await heightOf();
    release.open();
    await loaded(page);
    expect(await heightOf()).toBe(before);
  });

  test('has no fault that axe finds, and fits a phone', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    await expectSound(page);
  });

  test('shows a member own numbers only', async () => {
    const member = await site.key('member', 'amber-finch');
    const page = await site.signedIn(member.key);
    await loaded(page);
    await page.getByRole('heading', { name: 'Your numbers' }).waitFor();
    const [own] = await summary('&user_id=amber-finch');
    expect(await page.locator('[data-figure=active_days]').getAttribute('data-value')).toBe(
      String(own?.active_days),
    );
    expect(await page.locator('[data-figure=tool_calls]').getAttribute('data-value')).toBe(
      String(own?.tool_calls),
    );
    expect(await page.locator('main').textContent()).not.toContain('brisk-finch');
    expect(await page.getByRole('switch').count()).toBe(0);
    expect(await page.locator('.problem').count()).toBe(0);
  });
});
