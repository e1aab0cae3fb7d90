import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { replacePeople } from '../../src/people/people-change.js';
import { FIRST_DAY, LAST_DAY } from '../../src/store/state/person.js';
import { ending } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

const FROM = addDays(LAST, -29);
const BEFORE = addDays(LAST, -59);
const BEGIN = addDays(LAST, -75);
/** The day from which payments has a dearer model, that on which somebody joins web, and that on which the data of support begin. */
const DEARER = addDays(LAST, -23);
const JOINED = addDays(LAST, -20);
const LATE = addDays(LAST, -44);
/** USD per million tokens of input and output. */
const PRICES: Readonly<Record<string, readonly [number, number]>> = {
  'claude-sonnet-4-5': [3, 15],
  'claude-opus-4-5': [5, 25],
};

interface Use {
  readonly day: string;
  readonly user: string;
  readonly team: string;
  readonly repo: string;
  readonly model: string;
  readonly tokens: readonly [input: number, output: number];
}

const PEOPLE: readonly (readonly [user: string, team: string, begin: string, work: number])[] = [
  ...['amber', 'brisk', 'copper', 'dusty'].map((user) => [user, 'payments', BEGIN, 5] as const),
  ...['hazel', 'misty', 'polar'].map((user) => [user, 'web', BEGIN, 2] as const),
  ['rapid', 'web', JOINED, 2],
  ...['sunny', 'umber'].map((user) => [user, 'support', LATE, 1] as const),
];

/** All use of models: on each weekday, and a little more each month. */
const USES: readonly Use[] = Array.from({ length: 76 }, (_, index) => addDays(BEGIN, index)).flatMap((day) =>
  new Date(day).getUTCDay() % 6 === 0
    ? []
    : PEOPLE.filter(([, , begin]) => begin <= day).flatMap(([user, team, , calls]) =>
        Array.from({ length: calls }, () => ({
          ...{ day, user, team, repo: `github.com/northwind/${team}` },
          model: team === 'payments' && day >= DEARER ? 'claude-opus-4-5' : 'claude-sonnet-4-5',
          tokens: [day >= FROM ? 105_000 : 100_000, 20_000] as const,
        })),
      ),
);

interface Call {
  readonly day: string;
  readonly user: string;
  readonly tool: string;
  readonly isFailed: boolean;
}

/** All calls of tools: on each weekday two of Bash by each of web, of which every fourth fails, and one of jira, which fails since the range began. */
const CALLS: readonly Call[] = USES.filter(({ team }) => team === 'web').flatMap(({ day, user }, index) => [
  { day, user, tool: 'Bash', isFailed: false },
  { day, user, tool: 'Bash', isFailed: index % 4 === 0 },
  { day, user, tool: 'mcp__jira__search', isFailed: day >= FROM && index % 2 === 0 },
]);

/** The calls, the failed ones, and the share that failed. */
const failed = (calls: readonly Call[]): [number, number, number] => {
  const failures = calls.filter(({ isFailed }) => isFailed).length;
  return [calls.length, failures, failures / calls.length];
};

const isNow = ({ day }: Use | Call) => day >= FROM;
const isBefore = ({ day }: Use | Call) => day >= BEFORE && day < FROM;
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const cost = (uses: readonly Use[]) =>
  sum(
    uses.map(({ model, tokens }) =>
      sum(tokens.map((one, kind) => (one * (PRICES[model]?.[kind] ?? 0)) / 1e6)),
    ),
  );
const move = (isOf: (use: Use) => boolean) =>
  cost(USES.filter((use) => isOf(use) && isNow(use))) -
  cost(USES.filter((use) => isOf(use) && isBefore(use)));

/** What each factor adds, as the mean over all orders in which the factors can change. */
function steps(uses: readonly Use[]): Record<string, number> {
  const [before, now] = [uses.filter(isBefore), uses.filter(isNow)];
  const people = (of: readonly Use[]) => new Set(of.map(({ user }) => user)).size;
  const tokens = (of: readonly Use[]) => sum(of.flatMap((one) => one.tokens));
  const price = (of: readonly Use[]) => (1e6 * cost(of)) / tokens(of);
  const factors = {
    people: [people(before), people(now)],
    'volume per person': [tokens(before) / people(before), tokens(now) / people(now)],
    'model mix': [price(before), price(now)],
    price: [1, 1],
  } as const;
  const names = Object.keys(factors) as (keyof typeof factors)[];
  const orders = (left: readonly (keyof typeof factors)[]): (keyof typeof factors)[][] =>
    left.length === 0
      ? [[]]
      : left.flatMap((first) => orders(left.filter((one) => one !== first)).map((rest) => [first, ...rest]));
  const found: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  const all = orders(names);
  for (const order of all) {
    const sides = Object.fromEntries(names.map((name) => [name, 0])) as Record<keyof typeof factors, 0 | 1>;
    const value = () => names.reduce((product, name) => product * factors[name][sides[name]], 1) / 1e6;
    for (const name of order) {
      const earlier = value();
      sides[name] = 1;
      found[name] = (found[name] ?? 0) + (value() - earlier) / all.length;
    }
  }
  return found;
}

describe.runIf(hasBrowser)('why the cost changed', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  beforeAll(async () => {
    const events = USES.map(({ day, user, repo, model, tokens: [input_tokens, output_tokens] }, index) => ({
      ...{
        event_id: `use-${index}`,
        type: 'model_usage',
        timestamp: `${day}T10:00:00Z`,
        agent: 'claude-code',
      },
      ...{ user_id: user, session_id: `${user}-${day}`, repo: `https://${repo}`, model },
      ...{ input_tokens, output_tokens, cache_read_tokens: 0, cache_write_tokens: 0 },
    }));
    const calls = CALLS.map(({ day, user, tool, isFailed }, index) => ({
      ...{
        event_id: `call-${index}`,
        type: 'tool_call',
        timestamp: `${day}T10:05:00Z`,
        agent: 'claude-code',
      },
      ...{ user_id: user, session_id: `${user}-${day}`, repo: 'https://github.com/northwind/web' },
      ...{ tool_name: tool, success: !isFailed },
    }));
    site = await Site.start(atEnd, { events: [...events, ...calls] });
    const { store, now } = site.world;
    const people = PEOPLE.map(([userId, name]) => ({
      ...{ userId, name: '', emails: [], aliases: [] },
      memberships: [{ kind: 'team' as const, name, firstDay: FIRST_DAY, lastDay: LAST_DAY, isLead: false }],
    }));
    await replacePeople(store, 'acme', () => people, { author: 'somebody' }, now);
    ({ key } = await site.key('owner'));
  });
  afterAll(() => expect(site?.complaints ?? []).toEqual([]));

  const near = (found: Record<string, (number | string | null)[]>, expected: Record<string, number>) => {
    expect(Object.keys(found)).toEqual(Object.keys(expected));
    for (const [name, value] of Object.entries(expected))
      expect(found[name]?.at(-1), name).toBeCloseTo(value, 6);
  };

  test('is told in steps that add up, and leads to the team and its dearer model in two clicks', async () => {
    const page = await site.signedIn(key);
    await loaded(page);
    const old = USES.filter(({ team }) => team !== 'support');
    const [before, now] = [cost(USES.filter(isBefore)), cost(USES.filter(isNow))];
    const found = await rowsOf(page, 'what-changed');
    near(found, {
      'May 10 – Jun 8': before,
      'new data': move(({ team }) => team === 'support'),
      ...steps(old),
      'Jun 9 – Jul 8': now,
    });
    const panel = page.locator('section', { has: page.locator('figure[data-chart=what-changed]') });
    await panel.getByText(`+$${(now - before).toFixed(2)} (+`).waitFor();
    // The amounts that are shown add up as well.
    const shown = await panel.locator('[aria-label=text] text').allTextContents();
    const amounts = shown.map((text) => Number(text.replace('−', '-').replace(/[^\d.-]/g, '')));
    expect(amounts).toHaveLength(7);
    expect(sum(amounts.slice(0, -1))).toBe(amounts.at(-1));
    await panel
      .getByText(/^Most of it is model mix: claude-opus-4-5 has \d+% of tokens, 0% before/)
      .waitFor();
    const payments = move(({ team }) => team === 'payments');
    await panel.getByText(`payments makes +$${payments.toFixed(2)} of +$`).waitFor();
    const movers = await rowsOf(page, 'movers');
    const moveOf = (name: string) => movers[name]?.at(-1);
    expect(moveOf('Teams: payments')).toBeCloseTo(payments, 6);
    expect(moveOf('Teams: web')).toBeCloseTo(
      move(({ team }) => team === 'web'),
      6,
    );
    // What can't be compared is no mover.
    expect(movers).not.toHaveProperty(['Teams: support']);
    expect(moveOf('People: amber')).toBeCloseTo(
      move(({ user }) => user === 'amber'),
      6,
    );
    expect(moveOf('Models: claude-opus-4-5')).toBeCloseTo(
      move(({ model }) => model === 'claude-opus-4-5'),
      6,
    );
    await expectSound(page);

    await panel.getByRole('link', { name: 'payments', exact: true }).click();
    await page.waitForURL(/teams\?name=payments/);
    await loaded(page);
    const of = USES.filter(({ team }) => team === 'payments');
    near(await rowsOf(page, 'what-changed'), {
      'May 10 – Jun 8': cost(of.filter(isBefore)),
      ...steps(of),
      'Jun 9 – Jul 8': cost(of.filter(isNow)),
    });
    const tokens = (uses: readonly Use[]) => sum(uses.filter(isNow).flatMap((one) => one.tokens));
    const share = tokens(of.filter(({ model }) => model === 'claude-opus-4-5')) / tokens(of);
    await page
      .getByText(
        `Most of it is model mix: claude-opus-4-5 has ${Math.round(100 * share)}% of tokens, 0% before.`,
      )
      .waitFor();
    expect(await page.locator('.moved', { hasText: 'Teams' }).count()).toBe(0);
    await expectSound(page);

    await page.locator('.moved').getByRole('link', { name: 'claude-opus-4-5' }).click();
    await page.waitForURL((url) => url.search === '?team=payments&name=claude-opus-4-5');
    await loaded(page);
    expect(Number(await page.locator('[data-figure=cost_usd]').getAttribute('data-value'))).toBeCloseTo(
      cost(of.filter((use) => isNow(use) && use.model === 'claude-opus-4-5')),
      6,
    );
  });

  test('is not told where data begin within the days before, and not in a sentence where little changed', async () => {
    const page = await site.signedIn(key, '?range=90d');
    await loaded(page);
    await page.getByText(/^Data begins Apr 24: nothing is compared\.$/).waitFor();
    expect(Object.keys(await rowsOf(page, 'what-changed'))).toHaveLength(1);
    expect(await page.locator('.movers, figure[data-chart=what-changed] rect').count()).toBe(0);
    await expectSound(page);
    await page.goto(`${site.url}/teams?name=support`);
    await loaded(page);
    await page.getByText(/^Data begins May 25: nothing is compared\.$/).waitFor();
    await page.goto(`${site.url}/?range=7d`);
    await loaded(page);
    expect(Object.keys(await rowsOf(page, 'what-changed'))).toHaveLength(6);
    await page.getByText('±$0.00').first().waitFor();
    expect(await page.locator('.why').count()).toBe(0);
    await page.getByText('Nothing moved.').waitFor();
  });

  test('sorts teams, and sums those that are compared', async () => {
    const page = await site.signedIn(key, 'teams');
    await loaded(page);
    const table = page.locator('figure[data-chart=all-teams]');
    await table.getByRole('link', { name: 'Change' }).click();
    await page.waitForURL(/sort=change/);
    await loaded(page);
    const [payments, web] = ['payments', 'web'].map((name) => move(({ team }) => team === name));
    const names = () =>
      table
        .locator('.groups tbody tr')
        .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.key));
    expect(await names()).toEqual(['payments', 'web', 'support']);
    const rows = await rowsOf(page, 'all-teams');
    for (const [name, value] of [
      ['payments', payments],
      ['web', web],
    ] as const)
      expect(Number(rows[name]?.[5]), name).toBeCloseTo(Number(value), 6);
    expect(rows.support?.[5]).toBeNull();
    await table.locator('[data-key=support]').getByText('data begins May 25: not compared').waitFor();
    const foot = table.locator('tfoot').first();
    await foot.getByText('2 teams').waitFor();
    expect(Number(await foot.locator('[data-change]').getAttribute('data-change'))).toBeCloseTo(
      Number(payments) + Number(web),
      6,
    );
    await table.getByRole('link', { name: 'Change ↓' }).click();
    await page.waitForURL(/sort=change(:|%3A)asc/);
    await loaded(page);
    expect(await names()).toEqual(['web', 'payments', 'support']);
    await expectSound(page);
  });

  test('lists tools and MCP servers by their failed calls', async () => {
    const page = await site.signedIn(key, 'tools');
    await loaded(page);
    const ofTool = (tool: string) => {
      const calls = CALLS.filter((call) => call.tool === tool);
      return [...failed(calls.filter(isNow)), failed(calls.filter(isBefore))[2]];
    };
    expect(Object.entries(await rowsOf(page, 'failures-of-tools'))).toEqual([
      ['mcp__jira__search', ofTool('mcp__jira__search')],
      ['Bash', ofTool('Bash')],
    ]);
    expect(await rowsOf(page, 'failures-of-servers')).toEqual({ jira: ofTool('mcp__jira__search') });
    const [calls, failures, share] = failed(CALLS.filter(isNow));
    const before = failed(CALLS.filter(isBefore))[2];
    const foot = page.locator('figure[data-chart=failures-of-tools] tfoot td');
    expect((await foot.allTextContents()).slice(0, 4)).toEqual([
      ...[String(calls), String(failures), `${(100 * share).toFixed(1)}%`],
      `+${(100 * (share - before)).toFixed(1)} pt`,
    ]);
    await page.getByRole('link', { name: 'Calls', exact: true }).first().click();
    await page.waitForURL(/sort=tool_calls/);
    await loaded(page);
    expect(Object.keys(await rowsOf(page, 'failures-of-tools'))).toEqual(['Bash', 'mcp__jira__search']);
    await expectSound(page);
    const servers = page.locator('figure[data-chart=failures-of-servers]');
    await servers.getByRole('link', { name: 'jira', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/' && url.search === '?mcp_server=jira');
    await loaded(page);
    const shown = await page.locator('[data-figure=failed_call_ratio]').getAttribute('data-value');
    expect(Number(shown)).toBe(ofTool('mcp__jira__search')[2]);
  });

  test('is told a member of the own use only', async () => {
    const member = await site.key('member', 'amber');
    const page = await site.signedIn(member.key);
    await loaded(page);
    const own = USES.filter(({ user }) => user === 'amber');
    near(await rowsOf(page, 'what-changed'), {
      'May 10 – Jun 8': cost(own.filter(isBefore)),
      ...steps(own),
      'Jun 9 – Jul 8': cost(own.filter(isNow)),
    });
    expect(Object.keys(await rowsOf(page, 'movers')).filter((name) => /^(Teams|People)/.test(name))).toEqual(
      [],
    );
    await page.getByText(/^Most of it is model mix/).waitFor();
  });
});
