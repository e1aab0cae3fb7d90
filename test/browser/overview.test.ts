import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { ending, event } from '../world.js';
import { faultsOf, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

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
      Object.fromEntries(tokens.map((row) => [row.group_key, kinds.map((kind) => row[kind])])),
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
            [of.manual, of.auto_low, of.auto_medium, of.auto_high],
          ],
        ),
      ),
    );
    const people = await summary('&group_by=user&sort=autonomy_ratio&limit=6');
    expect(await rowsOf(page, 'people')).toEqual(
      Object.fromEntries(people.map((row) => [row.group_key, [row.autonomy_ratio, row.cost_usd]])),
    );
    for (const [chart, group, sort] of [
      ['places', 'repo', 'sessions'],
      ['mcp-servers', 'mcp_server', 'tool_calls'],
      ['tools', 'tool', 'tool_calls'],
    ] as const) {
      const groups = await summary(`&group_by=${group}&sort=${sort}&limit=6&compare=previous`);
      expect(await rowsOf(page, chart), chart).toEqual(
        Object.fromEntries(
          groups.map((row) => [row.group_key, [row[sort], row.active_users, row.previous?.[sort] ?? null]]),
        ),
      );
    }
    const skills = new Map<string, number>();
    for (const { skills_by_name } of tools)
      for (const { name, count } of skills_by_name) skills.set(name, (skills.get(name) ?? 0) + count);
    const shown = await rowsOf(page, 'habits');
    expect(Object.fromEntries(Object.entries(shown).map(([name, [count]]) => [name, count]))).toEqual(
      Object.fromEntries(skills),
    );
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
    await page.locator('.legend a[aria-current]').click();
    await page.waitForURL((url) => url.search === '');
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
    await expect.poll(async () => Object.keys(await rowsOf(page, 'chosen-number')).length).toBe(3);
    await page.getByText('+ Filter').click();
    await page.getByRole('button', { name: 'Person' }).click();
    await page.getByPlaceholder('Person').fill('amber');
    await page.locator('.values button', { hasText: 'amber-' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/user_id=amber-/);
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
      await one.locator('.dots summary').click();
      await one.getByRole('button', { name: 'Definition', exact: true }).click();
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

  test.each(['light', 'dark'] as const)('has no fault that axe finds, %s', async (colorScheme) => {
    const page = await site.signedIn(key, '', { colorScheme });
    await loaded(page);
    expect(await faultsOf(page)).toEqual([]);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
    ).toBeLessThanOrEqual(0);
  });

  test('shows a member own numbers only', async () => {
    const member = await site.key('member', 'amber-finch');
    const page = await site.signedIn(member.key);
    await loaded(page);
    await page.getByRole('heading', { name: 'Your numbers' }).waitFor();
    const [own] = await summary('&user_id=amber-finch');
    expect(await page.locator('[data-figure=tool_calls]').getAttribute('data-value')).toBe(
      String(own?.tool_calls),
    );
    expect(await page.locator('main').textContent()).not.toContain('brisk-finch');
    expect(await page.locator('.problem').count()).toBe(0);
  });
});

describe.runIf(hasBrowser)('an organization', () => {
  test('without events hears how to send some', async () => {
    const { onTestFinished } = await import('vitest');
    const site = await Site.start(onTestFinished, { events: [] });
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    await page.getByRole('heading', { name: 'No events yet: send some' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(site.complaints).toEqual([]);
  });

  test('that is hostile is shown as text', async () => {
    const { onTestFinished } = await import('vitest');
    const names = [
      '<img src=x onerror="document.title=1">',
      '<script>document.title = 2</script>',
      '\u202egnp.exe',
      'x'.repeat(190),
      '=cmd|calc',
      "javascript:alert('1')",
    ];
    const events = names.flatMap((name, index) => [
      event(`m${index}`, {
        type: 'model_usage',
        user_id: name,
        session_id: `s${index}`,
        model: name,
        agent: name.slice(0, 60),
        repo: name,
        input_tokens: 10,
        output_tokens: 10,
      }),
      event(`t${index}`, {
        type: 'tool_call',
        user_id: name,
        session_id: `s${index}`,
        tool_name: `mcp__${name}__${'y'.repeat(50)}`,
      }),
      event(`k${index}`, { type: 'skill_use', user_id: name, session_id: `s${index}`, skill_name: name }),
    ]);
    const site = await Site.start(onTestFinished, { events });
    const { key } = await site.key('owner');
    for (const width of [1280, 390]) {
      const page = await site.signedIn(key, '', { viewport: { width, height: 900 } });
      await loaded(page);
      await page
        .getByText(names[0] ?? '')
        .first()
        .waitFor();
      expect(await page.title()).toBe('Overview · Daybook');
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
      ).toBeLessThanOrEqual(0);
      const panel = page.locator('section', { has: page.locator('figure[data-chart=people]') });
      await panel.locator('.dots summary').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        panel.getByRole('button', { name: 'CSV' }).click(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).toMatch(/^'=cmd\|calc,/m);
    }
    expect(site.complaints).toEqual([]);
  });
});
