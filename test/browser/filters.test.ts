import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { replacePeople } from '../../src/people/people-change.js';
import { FIRST_DAY, LAST_DAY } from '../../src/store/state/person.js';
import { gate } from '../gate.js';
import { playsSlow } from '../slow.js';
import { ending } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, SAMPLE, Site } from './browser.js';
import { northwind } from './northwind.js';

type Filters = Readonly<Record<string, readonly string[]>>;
type Row = Record<string, number | string | null> & { previous: Record<string, number | null> | null };

const FROM = addDays(LAST, -29);
const REPOSITORY = 'github.com/northwind/payments';

/** Every filter, several values of one, and several filters. */
const FILTERS: readonly Filters[] = [
  { user_id: ['copper-finch'] },
  { team: ['Red'] },
  { team: ['Red', '(none)'] },
  { cost_center: ['4711'] },
  { model: ['gpt-5'] },
  { agent: ['codex', 'gemini-cli'] },
  { repo: [REPOSITORY] },
  { client: ['ide'] },
  { tool: ['Bash'] },
  { tool: ['Grep', 'Glob'] },
  { mcp_server: ['github'] },
  { mcp_server: ['playwright', 'linear'], team: ['Blue'] },
  { mcp_server: ['github'], tool: ['mcp__github__search_code'] },
  { tool: ['Write'], model: ['claude-haiku-4-5'] },
  { model: ['no-such-model'] },
];

/** The columns of tables, as members of the summary. */
const MEMBERS: Readonly<Record<string, string>> = {
  ...{ Users: 'active_users', Days: 'active_days', Sessions: 'sessions', Cost: 'cost_usd' },
  ...{ Ratio: 'autonomy_ratio', 'Calls a turn': 'autonomy_ratio', 'Tool calls': 'tool_calls' },
  ...{
    Failed: 'failed_call_ratio',
    'Failed calls': 'failed_calls',
    Calls: 'tool_calls',
    Commits: 'commits',
    PRs: 'pull_requests',
    Credits: 'billable_tokens',
  },
  ...{ Input: 'input_tokens', 'Cache read': 'cache_read_tokens', 'Cache write': 'cache_write_tokens' },
  ...{ Output: 'output_tokens' },
};
/** The first columns of tables, as groups of the summary. */
const GROUPS: Readonly<Record<string, string>> = {
  ...{
    Person: 'user',
    People: 'user',
    Team: 'team',
    Teams: 'team',
    Repository: 'repo',
    Repositories: 'repo',
  },
  ...{ Model: 'model', Models: 'model', Agent: 'agent', Client: 'client', Tool: 'tool' },
  ...{ 'MCP server': 'mcp_server' },
};

const events = northwind(LAST, SAMPLE) as unknown as readonly Record<string, string>[];
const users = [...new Set(events.map(({ user_id }) => String(user_id)))].sort();
const teamOf = (user: string) => ['Red', 'Blue', '(none)'][users.indexOf(user) % 3] ?? '';
const centerOf = (user: string) => ['4711', '(none)'][users.indexOf(user) % 2] ?? '';
const serverOf = (tool: string) => (tool.startsWith('mcp__') ? (tool.split('__')[1] ?? '') : '');

/** The numbers of filters, from the events: a session of these lies in one day, and all of it has one person, agent, client and repository. */
function counted(filters: Filters): Record<string, number> {
  const isOf = (name: string, value: string | undefined) =>
    filters[name] === undefined || filters[name].includes(value ?? '');
  const isCall = ({ type, tool_name = '' }: Record<string, string>) =>
    type === 'tool_call' && isOf('tool', tool_name) && isOf('mcp_server', serverOf(tool_name));
  const sessions = new Map<string, Record<string, string>[]>();
  for (const event of events) {
    if (String(event.timestamp) < FROM || String(event.timestamp) >= addDays(LAST, 1)) continue;
    const { session_id = '', user_id = '', agent, client, repo } = event;
    if (
      !isOf('user_id', user_id) ||
      !isOf('team', teamOf(user_id)) ||
      !isOf('cost_center', centerOf(user_id))
    )
      continue;
    if (!isOf('agent', agent) || !isOf('client', client) || !isOf('repo', repo?.replace('https://', '')))
      continue;
    sessions.set(session_id, [...(sessions.get(session_id) ?? []), event]);
  }
  const chosen = [...sessions.values()].filter(
    (session) =>
      ((filters.tool ?? filters.mcp_server) === undefined || session.some(isCall)) &&
      (filters.model === undefined ||
        session.some(({ type, model }) => type === 'model_usage' && isOf('model', model))),
  );
  const all = chosen.flat();
  const outcomes = all
    .filter((one) => isCall(one) && one.success !== undefined)
    .map(({ success }) => String(success));
  const ofType = (wanted: string) => all.filter(({ type }) => type === wanted).length;
  return {
    active_users: new Set(all.map(({ user_id }) => user_id)).size,
    sessions: chosen.length,
    tool_calls: all.filter(isCall).length,
    ...(outcomes.length === 0
      ? {}
      : { failed_call_ratio: outcomes.filter((one) => one === 'false').length / outcomes.length }),
    commits: ofType('git_commit'),
    pull_requests: ofType('pull_request'),
  };
}

describe.runIf(hasBrowser)('under every filter', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  let page: Page;
  beforeAll(async () => {
    site = await Site.start(atEnd, { events });
    const { store, now } = site.world;
    const of = (kind: 'team' | 'cost_center', name: string) =>
      name === '(none)' ? [] : [{ kind, name, firstDay: FIRST_DAY, lastDay: LAST_DAY, isLead: false }];
    const people = users.map((userId) => ({
      ...{ userId, name: '', emails: [], aliases: [] },
      memberships: [...of('team', teamOf(userId)), ...of('cost_center', centerOf(userId))],
    }));
    await replacePeople(store, 'acme', () => people, { author: 'somebody' }, now);
    ({ key } = await site.key('owner'));
    page = await site.signedIn(key);
  });
  afterAll(() => expect(site?.complaints ?? []).toEqual([]));

  const textOf = (filters: Filters) =>
    Object.entries(filters)
      .flatMap(([name, values]) => values.map((value) => `${name}=${encodeURIComponent(value)}`))
      .join('&');
  const summary = async (filters: Filters, query = ''): Promise<Row[]> =>
    (await site.api(key, `analytics/summary?startDate=${FROM}&endDate=${LAST}&${textOf(filters)}${query}`))
      .data;

  const open = async (path: string) => {
    await page.goto(`${site.url}/${path}`);
    await loaded(page);
  };

  /** Compares the rows of a table with the summary of its group, whatever columns it has. */
  async function expectGroups(chart: string, filters: Filters): Promise<void> {
    const heads = await page.locator(`figure[data-chart="${chart}"] table.rows thead th`).allTextContents();
    const group = GROUPS[heads[0] ?? ''];
    expect(group, `${chart}: ${heads[0]}`).toBeDefined();
    const expected = await summary(filters, `&group_by=${group}&compare=previous&limit=1000`);
    for (const [name, cells] of Object.entries(await rowsOf(page, chart))) {
      const row = expected.find(({ group_key }) => group_key === name);
      for (const [index, head] of heads.slice(1).entries()) {
        const about = `${chart}, ${name}, ${head} under ${textOf(filters)}`;
        if (head === 'Cached') continue;
        if (head === 'Change') {
          const before = row?.previous?.cost_usd ?? null;
          expect(Number(cells[index]), about).toBeCloseTo(
            row?.previous == null ? 0 : Number(row.cost_usd) - Number(before),
            6,
          );
          continue;
        }
        const isBefore = head.endsWith(' before');
        const isOf = (start: string) => head.startsWith(start);
        const member = isOf('Calls of ')
          ? 'tool_calls'
          : isOf('Failed of ')
            ? 'failed_call_ratio'
            : MEMBERS[head.replace(/ before$/, '')];
        expect(member, about).toBeDefined();
        const value = (isBefore ? row?.previous : row)?.[String(member)] ?? null;
        const cell = cells[index] ?? null;
        if (value === null || cell === null) expect(cell, about).toBe(value);
        else expect(Number(cell), about).toBeCloseTo(Number(value), 6);
      }
    }
  }

  /** Compares what moved most with the summary of each kind. */
  async function expectMovers(filters: Filters): Promise<void> {
    for (const [name, [before, now, moved]] of Object.entries(await rowsOf(page, 'movers'))) {
      const [title = '', group = ''] = name.split(/: (.*)/);
      const rows = await summary(filters, `&group_by=${GROUPS[title]}&sort=change:abs&compare=previous`);
      const about = `${name} under ${textOf(filters)}`;
      const at = rows.findIndex(({ group_key }) => group_key === group);
      expect([0, 1, 2], about).toContain(at);
      expect([before, now], about).toEqual([rows[at]?.previous?.cost_usd, rows[at]?.cost_usd]);
      expect(moved, about).toBeCloseTo(Number(now) - Number(before), 9);
    }
  }

  /** Compares every chart of the page. One that isn't known here is a fault: its numbers were compared with nothing. */
  async function expectFiltered(filters: Filters): Promise<string[]> {
    const charts = await page
      .locator('figure[data-chart]')
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.chart ?? ''));
    for (const chart of charts) {
      if (chart === 'numbers') {
        const [total] = await summary(filters);
        const exact = counted(filters);
        for (const one of await page.locator('[data-figure]').all()) {
          const [member, value] = [
            await one.getAttribute('data-figure'),
            await one.getAttribute('data-value'),
          ];
          const about = `${member} under ${textOf(filters)}`;
          expect(value === null ? null : Number(value), about).toBe(total?.[String(member)] ?? null);
          if (exact[String(member)] !== undefined) expect(Number(value), about).toBe(exact[String(member)]);
        }
      } else if (chart === 'chosen-number') {
        const daily = await summary(filters, '&interval=day&compare=previous&limit=1000');
        expect(await rowsOf(page, chart), textOf(filters)).toEqual(
          Object.fromEntries(daily.map((row) => [row.date, [row.cost_usd, row.previous?.cost_usd ?? null]])),
        );
      } else if (chart === 'cost-by-model') {
        const rows = Object.values(await rowsOf(page, chart));
        const heads = await page.locator(`figure[data-chart=${chart}] table.rows thead th`).allTextContents();
        const models = await summary(filters, '&group_by=model&limit=1000');
        for (const [index, model] of heads.slice(1).entries()) {
          const sum = rows.reduce((all, cells) => all + Number(cells[index]), 0);
          const expected = models.find((row) => row.group_key === model)?.cost_usd;
          expect(sum, `${model} under ${textOf(filters)}`).toBeCloseTo(Number(expected ?? 0), 6);
        }
      } else if (chart === 'what-changed') {
        const about = `startDate=${FROM}&endDate=${LAST}&compare=previous&${textOf(filters)}`;
        const { data } = await site.api(key, `analytics/changes?${about}`);
        expect(Object.values(await rowsOf(page, chart)), about).toEqual(data.map(({ usd }: Row) => [usd]));
      } else if (chart === 'movers') await expectMovers(filters);
      else await expectGroups(chart, filters);
    }
    return charts;
  }

  const tried = FILTERS.filter((_, place) => playsSlow() || place % 6 === 0);
  test.each(tried.map((filters) => [textOf(filters), filters] as const))(
    'every number of the overview is that of %s',
    async (text, filters) => {
      await open(`?${text}`);
      const charts = await expectFiltered(filters);
      expect(charts).toEqual(expect.arrayContaining(['numbers', 'chosen-number', 'cost-by-model', 'places']));
      // What no filter applies to is named with its reason.
      for (const gone of [
        'needs-a-look',
        'budget',
        'active-users',
        'autonomy',
        'habits',
        'languages',
        'today',
      ])
        expect(charts).not.toContain(gone);
      await page.getByText('Autonomy of tool calls', { exact: true }).waitFor();
      const isOfSessions = (filters.tool ?? filters.mcp_server) !== undefined;
      expect(await page.locator('[data-figure=autonomy_ratio]').count()).toBe(isOfSessions ? 0 : 1);
      expect(charts.includes('people')).toBe(!isOfSessions);
      for (const tab of await page
        .locator('section', { has: page.locator('figure[data-chart=places]') })
        .getByRole('tab')
        .all()) {
        await tab.click();
        await loaded(page);
        await expectGroups('places', filters);
      }
    },
  );

  const pages = [
    ['people', {}],
    ['teams', {}],
    ['repositories', {}],
    ['models', {}],
    ['tools', {}],
    ['people?name=amber-finch', { user_id: ['amber-finch'] }],
    ...(playsSlow()
      ? ([
          ['teams?name=Red', { team: ['Red'] }],
          ['models?name=gpt-5', { model: ['gpt-5'] }],
        ] as const)
      : []),
  ] as const;
  test.each(pages)('every number of %s is filtered', async (path, fixed) => {
    for (const filters of [
      { tool: ['Bash'] },
      { mcp_server: ['github'], client: ['ide'] },
      { agent: ['codex'] },
    ]) {
      await open(`${path}${path.includes('?') ? '&' : '?'}${textOf(filters)}`);
      const charts = await expectFiltered({ ...filters, ...fixed });
      expect(charts.length).toBeGreaterThan(0);
    }
  });

  test('the page says which sessions it is about, and how many of all these are', async () => {
    await open('?mcp_server=github&mcp_server=linear&team=Red');
    const [some, all] = [
      counted({ mcp_server: ['github', 'linear'], team: ['Red'] }),
      counted({ team: ['Red'] }),
    ];
    const share = Math.round((100 * Number(some.sessions)) / Number(all.sessions));
    await page
      .getByText(`Sessions that used github or linear: ${some.sessions} of ${all.sessions} (${share}%)`)
      .waitFor();
    expect(await page.locator('[data-figure=tool_calls] .what').textContent()).toBe('Calls of it');
    await expectSound(page);
    await page.getByRole('link', { name: 'Show for all tools' }).click();
    await page.waitForURL((url) => url.search === '?team=Red');
    await loaded(page);
    expect(await page.locator('[data-figure=autonomy_ratio]').count()).toBe(1);
    expect(await page.locator('.chosen').count()).toBe(0);
    await page.getByRole('link', { name: 'Show for everything' }).first().click();
    await page.waitForURL((url) => url.search === '');
    await page.locator('figure[data-chart=autonomy]').waitFor();
    expect(await page.locator('.hidden-panels').count()).toBe(0);
    // A page about days says that filters choose nothing on it.
    await page.goto(`${site.url}/trust?team=Red`);
    await page.getByText('Filters don’t apply to this page').waitFor();
  });

  test('old numbers fade with the charts and keep their range and names until the new ones are there', async () => {
    await open('');
    const head = page.locator('.top h1 + p b');
    const before = await head.textContent();
    const release = gate();
    await page.route('**/api/v1/analytics/**', async (route) => {
      await release.opened;
      await route.continue();
    });
    await page.evaluate(() => {
      history.pushState(null, '', '/?range=7d&tool=Bash');
      window.dispatchEvent(new PopStateEvent('popstate'));
    });
    await page.locator('.top[aria-busy=true]').waitFor();
    expect(await head.textContent()).toBe(before);
    expect(await page.locator('[data-figure=sessions] .what').textContent()).toBe('Sessions');
    const opacities = () =>
      page
        .locator('figure[data-chart]')
        .evaluateAll((all) => [...new Set(all.map((one) => getComputedStyle(one).opacity))]);
    await expect.poll(opacities).toEqual(['0.6']);
    release.open();
    await expect.poll(() => head.textContent()).not.toBe(before);
    expect(await page.locator('[data-figure=sessions] .what').textContent()).toBe('Sessions with Bash');
    await loaded(page);
    await expect.poll(opacities).toEqual(['1']);
  });
});
