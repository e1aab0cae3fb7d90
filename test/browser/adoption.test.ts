import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { ending } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, type Site } from './browser.js';
import {
  DAYS,
  FAILING,
  NEW_SKILL,
  PEOPLE,
  SPREADS,
  siteOfStories,
  usesFigma,
  usesJira,
  usesSkill,
} from './stories.js';

const FROM = addDays(LAST, -29);
const uses: Readonly<Record<string, (person: string, day: Day) => boolean>> = {
  [SPREADS.server]: usesJira,
  [FAILING.server]: usesFigma,
  [NEW_SKILL.skill]: usesSkill,
};
const usersIn = (name: string, from: Day, to: Day) =>
  PEOPLE.filter((person) => DAYS.some((day) => day >= from && day <= to && uses[name]?.(person, day)));

/** What the table says of a name: users, their share of all 16 active people, new ones, and who came back in the next week. */
function rowOf(name: string, more: readonly (number | null)[]) {
  const users = usersIn(name, FROM, LAST);
  const before = usersIn(name, DAYS[0] as Day, addDays(FROM, -1));
  const [again, all] = [0, 7].reduce<[number, number]>(
    ([kept, sum], later) => {
      const week = addDays('2026-06-15' as Day, later);
      const those = usersIn(name, week, addDays(week, 6));
      const next = usersIn(name, addDays(week, 7), addDays(week, 13));
      return [kept + those.filter((one) => next.includes(one)).length, sum + those.length];
    },
    [0, 0],
  );
  return [
    users.length,
    users.length / 16,
    users.filter((one) => !before.includes(one)).length,
    again / all,
    ...more,
  ];
}

describe.runIf(hasBrowser)('who uses what', () => {
  const atEnd = ending();
  let site: Site;
  let page: Page;
  beforeAll(async () => {
    site = await siteOfStories(atEnd);
    page = await site.signedIn((await site.key('owner', 'root')).key);
  });
  afterAll(() => expect(site?.complaints ?? []).toEqual([]));

  test('what spreads is two clicks away, with its users by week and its sessions', async () => {
    await loaded(page);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('heading', { name: 'MCP servers: users a week' }).waitFor();
    await loaded(page);
    for (const [chart, names] of [
      ['servers-a-week', [SPREADS.server, FAILING.server]],
      ['skills-a-week', [NEW_SKILL.skill]],
    ] as const) {
      const rows = await rowsOf(page, chart);
      // Whole weeks: July 8 is a Wednesday.
      expect(Object.keys(rows)).toHaveLength(12);
      expect(Object.keys(rows).at(-1)).toBe('2026-06-29');
      for (const [week, cells] of Object.entries(rows)) {
        const expected = names.map((name) => {
          const isBegun = usersIn(name, DAYS[0] as Day, addDays(week as Day, 6)).length > 0;
          return isBegun ? usersIn(name, week as Day, addDays(week as Day, 6)).length : null;
        });
        expect(cells, `${chart} ${week}`).toEqual(expected);
      }
    }
    const days = DAYS.filter((day) => day >= FROM);
    const failed = (8 * days.filter((day) => day >= FAILING.since).length) / (10 * days.length);
    // The last columns are of requests of their own.
    const lastOf = async (chart: string, name: string) => (await rowsOf(page, chart))[name]?.at(-1) ?? null;
    await expect.poll(() => lastOf('adopted-servers', FAILING.server)).not.toBeNull();
    await expect.poll(() => lastOf('adopted-skills', NEW_SKILL.skill)).not.toBeNull();
    const servers = await rowsOf(page, 'adopted-servers');
    expect(Object.keys(servers)).toEqual([SPREADS.server, FAILING.server]);
    for (const [name, more] of [
      [SPREADS.server, [0]],
      [FAILING.server, [failed]],
    ] as const)
      for (const [place, value] of rowOf(name, more).entries())
        expect(Number(servers[name]?.[place]), `${name} ${place}`).toBeCloseTo(Number(value), 9);
    const skillDays = days.filter((day) => day >= NEW_SKILL.since).length;
    expect(await rowsOf(page, 'adopted-skills')).toEqual({
      [NEW_SKILL.skill]: rowOf(NEW_SKILL.skill, [14 * skillDays]),
    });
    const list = page.getByRole('region', { name: 'MCP servers and their users' });
    await list.getByText('failing since Jun 29').waitFor();
    await expectSound(page);
    await list.getByRole('link', { name: SPREADS.server }).click();
    await page.getByText(`Sessions that used ${SPREADS.server}: `).waitFor();
  });

  test('a skill leads to its users in SQL', async () => {
    await page.goto(`${site.url}/tools`);
    await page
      .getByRole('region', { name: 'Skills and their users' })
      .getByRole('link', { name: NEW_SKILL.skill })
      .click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('14 rows').first().waitFor();
  });

  test('leaves under a filter, and says so', async () => {
    await page.goto(`${site.url}/tools?team=web`);
    await loaded(page);
    const charts = await page
      .locator('figure[data-chart]')
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.chart));
    expect(charts).toEqual(['failures-of-tools', 'failures-of-servers']);
    await page.getByText('Users of MCP servers and skills, by week and in the range').waitFor();
  });
});
