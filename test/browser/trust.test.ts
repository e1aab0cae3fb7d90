import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { gate } from '../gate.js';
import { event } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

test.runIf(hasBrowser)('trust has what the service says of its days', async () => {
  const events = [
    event('1', { agent: 'codex', timestamp: `${LAST}T10:00:00Z` }),
    event('2', { agent: 'claude-code', user_id: 'grace', timestamp: `${addDays(LAST, -2)}T10:00:00Z` }),
    // On each working day but one, and not at the weekend.
    ...[0, 1, 5, 6].flatMap((days) =>
      ['ada', 'grace', 'hopper'].map((user_id) =>
        event(`${user_id} ${days}`, {
          ...{ agent: 'droid', user_id, session_id: `${user_id} ${days}` },
          timestamp: `${addDays(LAST, -days)}T08:00:00Z`,
        }),
      ),
    ),
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
      ?.daily_active_users ?? (quality.some((row: Record<string, string>) => row.date === date) ? 0 : null);
  const names = ['claude-code', 'codex', 'droid'];
  for (const [date, people] of Object.entries(reports))
    expect(people, date).toEqual(names.map((agent) => of(date, agent)));
  expect(reports[LAST]).toEqual([0, 1, 3]);
  expect(await page.locator('figure[data-chart=who-reports] .filled rect').count()).toBe(
    Object.values(reports)
      .flat()
      .filter((people) => Number(people) > 0).length,
  );
  await page.getByText('Nobody on a working day: droid on Jul 6', { exact: true }).waitFor();
  expect(await page.locator('figure[data-chart=who-reports] .outlined rect').count()).toBe(1);
  const reasons: Record<string, number[]> = {};
  for (const { rejected_by_reason } of quality)
    for (const { reason, count } of rejected_by_reason)
      reasons[reason] = [(reasons[reason]?.[0] ?? 0) + count];
  expect(Object.keys(reasons).length).toBeGreaterThan(0);
  expect(await rowsOf(page, 'rejects')).toEqual(reasons);
  const rejected = quality.map(({ date, rejected }: Record<string, unknown>) => [date, [rejected]]);
  expect(await rowsOf(page, 'rejected-by-day')).toEqual(Object.fromEntries(rejected));
  expect(await page.locator('figure[data-chart=rejected-by-day] .columns rect').count()).toBe(
    Object.values(rejected as [string, number[]][]).filter(([, [count]]) => Number(count) > 0).length,
  );
  const restated = await rowsOf(page, 'restated');
  expect(Object.keys(restated)).toEqual([LAST]);
  expect(restated[LAST]?.[0]).toBe('late events');
  await page.getByText('None is stale.').waitFor();
  await expectSound(page);
  expect(site.complaints).toEqual([]);
});

/** What two channels report of one user of an agent on a day: tokens by transcript and telemetry, turns by transcript and hook. */
function twice(user_id: string, day: string, [log, otlp, logTurns, hookTurns]: readonly number[]): object[] {
  const of = { user_id, agent: 'claude-code', session_id: `${user_id}-${day}`, model: 'claude-sonnet-4-5' };
  const at = (minute: number) => `${day}T10:${String(minute).padStart(2, '0')}:00Z`;
  const usage = (channel: string, input_tokens = 0) =>
    event(`${user_id}-${day}-${channel}`, {
      ...{ ...of, type: 'model_usage', channel, input_tokens, output_tokens: 0, timestamp: at(0) },
    });
  const turns = (channel: string, count = 0) =>
    Array.from({ length: count }, (_, turn) =>
      event(`${user_id}-${day}-${channel}-${turn}`, { ...of, channel, timestamp: at(turn + 1) }),
    );
  return [usage('log', log), usage('otlp_log', otlp), ...turns('log', logTurns), ...turns('hook', hookTurns)];
}

test.runIf(hasBrowser)('trust says where channels disagree, what is known, and which days wait', async () => {
  const day = addDays(LAST, -1);
  const site = await Site.start(onTestFinished, {
    events: [
      ...twice('ada', day, [1000, 900, 4, 4]),
      ...twice('grace', day, [500, 500, 3, 2]),
      ...twice('grace', LAST, [700, 700, 2, 2]),
      event('known', {
        agent: 'codex',
        client: 'ide',
        autonomy_mode: 'manual',
        timestamp: `${LAST}T09:00:00Z`,
      }),
    ],
  });
  const { key } = await site.key('owner');
  const range = `startDate=${addDays(LAST, -6)}&endDate=${LAST}`;
  const page = await site.signedIn(key, 'trust?range=7d');
  await loaded(page);
  expect(await rowsOf(page, 'channels')).toEqual({
    'claude-code: tokens': [2200, 2100, expect.closeTo(1 - 2100 / 2200, 9), 1, 3],
    'claude-code: turns': [9, 8, expect.closeTo(1 - 8 / 9, 9), 1, 3],
  });
  const { data: agents } = await site.api(key, `analytics/quality?${range}&group_by=agent`);
  expect(agents.map((row: Record<string, number>) => row.users_with_other_tokens)).toEqual([1, 0, 0]);
  const { data: quality } = await site.api(key, `analytics/quality?${range}`);
  const sum = (name: string) =>
    quality.reduce((all: number, row: Record<string, number>) => all + Number(row[name]), 0);
  const share = (name: string) => [1 - sum(name) / sum('events'), sum(name), sum('events')];
  expect(await rowsOf(page, 'known')).toEqual({
    User: share('events_without_user'),
    Client: share('events_without_client'),
    'Autonomy mode': share('events_without_autonomy_mode'),
  });
  expect((await rowsOf(page, 'known')).Client?.[0]).toBeLessThan(1);

  // Five of the seven days are before the first event: they aren't built, in both rows.
  expect(await page.locator('figure[data-chart=who-reports] .unbuilt rect').count()).toBe(2 * 5);
  expect((await rowsOf(page, 'days-built'))[addDays(LAST, -6)]).toEqual([null, null]);
  expect(Object.keys(await rowsOf(page, 'lines-rejected'))).toHaveLength(7);
  expect(await page.locator('.stale').count()).toBe(0);
  await site.world.send([event('late', { timestamp: `${day}T11:00:00Z` })]);
  await page.reload();
  const { data: status } = await site.api(key, 'status');
  expect(status.days_stale).toBeGreaterThan(0);
  const told = await page.locator('.stale').textContent();
  expect(told).toMatch(new RegExp(`^${status.days_stale} days? waits? for a build, the oldest Jul 7:`));
  await expectSound(page);
  expect(site.complaints).toEqual([]);
});

test.runIf(hasBrowser)('the head of numbers says when their days wait for a build', async () => {
  const site = await Site.start(onTestFinished, {
    events: [0, 3].map((days) => event(`${days}`, { timestamp: `${addDays(LAST, -days)}T10:00:00Z` })),
  });
  await site.publish();
  const { key } = await site.key('owner');
  const member = await site.key('member', 'ada');
  const warnings = (page: Page) => page.locator('.top .warned').allTextContents();
  const open = await site.signedIn(key);
  await loaded(open);
  expect(await warnings(open)).toEqual([]);
  await open.getByText(/There are no events after Jul 8/).waitFor();

  // An event changes its own day and the trailing windows of those after it, to the day before today.
  await site.world.send([event('late', { timestamp: `${addDays(LAST, -1)}T11:00:00Z` })]);
  const said = (days: number) => [`${days} days wait for a build: numbers are old or missing. See Trust`];
  for (const path of ['', 'people', 'people?name=ada', 'repositories', 'models']) {
    await open.goto(`${site.url}/${path}`);
    await loaded(open);
    expect(await warnings(open), path).toEqual(said(3));
    await expectSound(open);
  }
  const range = (from: number, to: number) => `/?from=${addDays(LAST, from)}&to=${addDays(LAST, to)}`;
  await open.goto(site.url + range(-3, -2));
  await loaded(open);
  expect(await warnings(open)).toEqual([]);
  await open.goto(site.url + range(-3, -1));
  await loaded(open);
  expect(await warnings(open)).toEqual(['1 day waits for a build: numbers are old or missing. See Trust']);
  await open.getByRole('link', { name: 'See Trust' }).click();
  await open.getByText('3 days wait for a build, the oldest Jul 7').waitFor();
  // A member has no page about trust.
  const own = await site.signedIn(member.key);
  await loaded(own);
  expect(await warnings(own)).toEqual(['3 days wait for a build: numbers are old or missing.']);

  // What came since the newest built day is in no range.
  await site.world.build();
  site.world.now += 2 * 86_400_000;
  await site.world.send([event('newer', { timestamp: `${addDays(LAST, 2)}T10:00:00Z` })]);
  const newer = await site.signedIn(key);
  await loaded(newer);
  expect(await warnings(newer)).toEqual(said(2));
  expect(await newer.getByText(/There are no events after/).count()).toBe(0);
  expect(site.complaints).toEqual([]);
});

test.runIf(hasBrowser)('trust says nothing of its days before there is an answer', async () => {
  const site = await Site.start(onTestFinished, { events: [event('1', { timestamp: `${LAST}T10:00:00Z` })] });
  const { key } = await site.key('owner');
  const page = await site.signedIn(key);
  await loaded(page);
  const release = gate();
  await page.route(/analytics\/quality|v1\/status/, async (route) => {
    await release.opened;
    await route.continue();
  });
  await page.getByRole('link', { name: '7 d' }).click();
  await page.getByRole('link', { name: 'Trust' }).click();
  await page.getByRole('heading', { name: 'Lines rejected' }).waitFor();
  const facts = page.locator('.panel.span-3');
  expect(await facts.filter({ hasText: /Every line was taken|No built day has changed/ }).count()).toBe(0);
  expect(await facts.first().locator('.state').count()).toBe(0);
  release.open();
  await page.getByText('Every line was taken.').waitFor();
  await page.getByText('No built day has changed.').waitFor();
});

test.runIf(hasBrowser)('every number of trust leads to its definition, request and rows', async () => {
  const site = await Site.start(onTestFinished, { events: twice('ada', LAST, [1000, 900, 4, 4]) });
  const { key } = await site.key('owner');
  for (const [path, atLeast] of [
    ['trust', 9],
    ['', 10],
  ] as const) {
    const page = await site.signedIn(key, path);
    await loaded(page);
    const dots = page.locator('main .dots');
    const count = await dots.count();
    expect(count).toBeGreaterThanOrEqual(atLeast);
    for (let index = 0; index < count; index += 1) {
      const panel = page.locator('main section', { has: page.locator('.dots') }).nth(index);
      const name = String(await panel.locator('figure').getAttribute('data-chart'));
      const choose = async (what: string) => {
        await panel.locator('.dots summary').click();
        await panel.locator('.dots').getByRole('button', { name: what, exact: true }).click();
      };
      await choose('Table');
      expect(await panel.locator('table.rows').isVisible(), name).toBe(true);
      const [file] = await Promise.all([page.waitForEvent('download'), choose('CSV')]);
      expect(file.suggestedFilename()).toBe(`${name}.csv`);
      await choose('curl');
      const [, asked = ''] =
        /\/api\/v1\/([^']+)'/.exec(String(await panel.locator('pre').textContent())) ?? [];
      await site.api(key, asked);
      await choose('Definition');
      await panel.locator('pre', { hasText: '-- One row is' }).waitFor();
    }
    if (path === '')
      expect(await page.locator('figure[data-chart=chosen-number] .unbuilt rect').count()).toBe(29);
    await page.context().close();
  }
  expect(site.complaints).toEqual([]);
});

test.runIf(hasBrowser)(
  'trust says how much of the cost is reported, and how far that is from the list',
  async () => {
    const call = (id: string, more: object) =>
      event(id, {
        ...{ type: 'model_usage', model: 'claude-sonnet-4-5', input_tokens: 100_000, output_tokens: 0 },
        ...{ timestamp: `${LAST}T10:00:00Z`, ...more },
      });
    const events = [
      call('computed', {}),
      call('computed-and-reported', { reported_cost_usd: 0.33 }),
      call('reported', { model: 'house-blend', reported_cost_usd: 0.2 }),
    ];
    const site = await Site.start(onTestFinished, { events });
    const { key } = await site.key('owner');
    const page = await site.signedIn(key, 'trust?range=7d');
    await loaded(page);
    const rows = await rowsOf(page, 'reported-costs');
    expect(rows['Computed from the price list']?.map(Number)).toEqual([
      expect.closeTo(0.75),
      expect.closeTo(0.6),
    ]);
    expect(rows['Reported by agents']?.map(Number)).toEqual([expect.closeTo(0.25), expect.closeTo(0.2)]);
    await page
      .getByText('Where both are known, agents report $0.33 and the list says $0.30: 10.0% more is reported.')
      .waitFor();
    await expectSound(page);
  },
);

test.runIf(hasBrowser)('a silent laptop stays on trust until somebody says why', async () => {
  const events = [10, 11, 12, 13, 14].map((days) =>
    event(`${days}`, {
      agent: 'codex',
      session_id: `s${days}`,
      timestamp: `${addDays(LAST, -days)}T08:00:00Z`,
    }),
  );
  const site = await Site.start(onTestFinished, {
    events: [...events, event('now', { user_id: 'grace', timestamp: `${LAST}T10:00:00Z` })],
  });
  const { world } = site;
  const { key: own } = await site.key('member', 'ada');
  const now = world.now;
  const beat = (at: number) => {
    world.now = at;
    return fetch(`${site.url}/api/v1/events/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
      body: JSON.stringify({ collector_id: 'c1', host: 'hazel-tern', version: '0.2.0' }),
    });
  };
  expect((await beat(Date.parse(`${addDays(LAST, -10)}T12:00:00Z`))).status).toBe(204);
  world.now = now;
  const { key } = await site.key('owner', 'root');
  const page = await site.signedIn(key, 'trust?range=7d');
  await loaded(page);
  const day = addDays(LAST, -10);
  expect(await rowsOf(page, 'silence')).toEqual({ 'hazel-tern': ['ada', 'silent', day, null, null] });
  await page.getByText('0 laptops report, 1 is silent.').waitFor();
  await page.getByRole('button', { name: 'Acknowledge hazel-tern of ada' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('on leave');
  await expectSound(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('hazel-tern of ada is acknowledged.').waitFor();
  await page.getByText('0 laptops report, 0 are silent.').waitFor();
  expect(await rowsOf(page, 'silence')).toEqual({
    'hazel-tern': ['ada', 'acknowledged', day, 'root', 'on leave'],
  });
  expect(await page.getByRole('button', { name: /^Acknowledge hazel/ }).count()).toBe(0);
  await expectSound(page);
  expect((await beat(now)).status).toBe(204);
  await page.reload();
  await page.getByText('1 laptop reports, 0 are silent.').waitFor();
  expect(site.complaints).toEqual([]);
});
