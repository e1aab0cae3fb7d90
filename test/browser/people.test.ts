import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Day } from '../../src/day.js';
import { replacePeople } from '../../src/people/people-change.js';
import { FIRST_DAY, LAST_DAY, type Person, peopleOf } from '../../src/store/state/person.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, Site } from './browser.js';

const atEnd = ending();
let site: Site;
let owner: string;
beforeAll(async () => {
  if (!hasBrowser) return;
  const users = ['ada', 'Ada', 'grace', 'konrad', 'KONRAD'];
  site = await Site.start(atEnd, { events: users.map((user_id) => event(user_id, { user_id })) });
  ({ key: owner } = await site.key('owner', 'ada'));
});
// Browsers note in the console what the service refuses, which is what these tests have it do.
afterAll(() =>
  expect((site?.complaints ?? []).filter((text) => !/status of (400|412)/.test(text))).toEqual([]),
);

function person(userId: string, more: Partial<Person> = {}): Person {
  return { userId, name: '', emails: [], aliases: [], memberships: [], ...more };
}

function team(name: string, firstDay = FIRST_DAY, lastDay = LAST_DAY, isLead = false) {
  return { kind: 'team', name, firstDay, lastDay, isLead } as const;
}

/** Makes these the people, as somebody else would. */
async function save(...people: readonly Person[]): Promise<void> {
  const { store, now } = site.world;
  await replacePeople(store, 'acme', () => people, { author: 'somebody' }, now);
}

const stored = async () => (await peopleOf(site.world.store, 'acme')).people;

async function shown(page: Page, name: string): Promise<void> {
  const folder = process.env.SEEN;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize() ?? { width: 1280, height: 900 };
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({
      path: join(folder, `${name}-${width}.png`),
      fullPage: true,
      animations: 'disabled',
    });
  }
  await page.setViewportSize(before);
}

const row = (page: Page, userId: string) =>
  page.locator('tbody tr', { has: page.locator(`[title="${userId}"]`) });

describe.runIf(hasBrowser)('people', () => {
  test('an owner adds a person and sees what would change before it counts', async () => {
    await save();
    const page = await site.signedIn(owner, 'operations/people');
    await page.getByText('Nobody is named yet').waitFor();
    await page.getByLabel('User id').fill('grace');
    await page.getByLabel('Name', { exact: true }).fill('Grace Hopper');
    await page.getByLabel('E-mail addresses').fill('grace@acme.example\n');
    await page.getByLabel('Other names').fill('grace-laptop\n00u1');
    await page.getByRole('button', { name: 'Add a team' }).click();
    await page.getByLabel('Name of team').fill('Compilers');
    await page.getByLabel('leads it').check();
    await page.getByRole('button', { name: 'Add a cost centre' }).click();
    await page.getByLabel('Name of cost centre').fill('4711');
    await page.getByRole('button', { name: 'Show the change' }).click();
    await page.locator('.preview').getByText('Compilers as lead').waitFor();
    expect(await stored()).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'grace-laptop').waitFor();
    expect(await stored()).toEqual([
      person('grace', {
        name: 'Grace Hopper',
        emails: ['grace@acme.example'],
        aliases: ['00u1', 'grace-laptop'],
        memberships: [
          team('Compilers', FIRST_DAY, LAST_DAY, true),
          { kind: 'cost_center', name: '4711', firstDay: FIRST_DAY, lastDay: LAST_DAY, isLead: false },
        ],
      }),
    ]);
    await page.getByText('1 person in 1 team and 1 cost centre today').waitFor();
    await expectSound(page);

    // A second one of the id isn't sent, and what the service refuses stays in the form.
    await page.getByLabel('User id').fill('grace');
    await page.getByRole('button', { name: 'Show the change' }).click();
    await page.getByText('is there already: edit that person.').waitFor();
    await page.getByLabel('User id').fill('ada');
    await page.getByLabel('Other names').fill('00u1');
    await page.getByRole('button', { name: 'Show the change' }).click();
    await page.getByText('00u1 names both grace and ada: only one person can have it.').waitFor();
    expect(await page.getByLabel('User id').inputValue()).toBe('ada');
    await expectSound(page);
  });

  test('a person who moves keeps the team of before for the days before', async () => {
    await save(person('ada', { memberships: [team('Compilers')] }), person('grace'));
    const page = await site.signedIn(owner, 'operations/people');
    await page.getByRole('button', { name: 'Edit ada' }).click();
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).evaluate((one) => one === document.activeElement))
      .toBe(true);
    await page.getByRole('button', { name: 'Move to another team today' }).click();
    await page.getByLabel('Name of team 2').fill('Engines');
    const first = await page.getByLabel('First day in team 2').inputValue();
    const last = await page.getByLabel('Last day in team 1').inputValue();
    expect(Date.parse(first) - Date.parse(last)).toBe(86_400_000);
    await page.getByRole('button', { name: 'Show the change' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.done').getByText(`+ team Engines from ${first}`).waitFor();
    expect((await stored())[0]?.memberships).toEqual([
      team('Compilers', FIRST_DAY, last as Day),
      team('Engines', first as Day),
    ]);
    await row(page, 'Engines').waitFor();
    // Two teams on a day are refused with the service's sentence.
    await page.getByRole('button', { name: 'Edit ada' }).click();
    await page.getByLabel('Last day in team 1').fill('');
    await page.getByRole('button', { name: 'Show the change' }).click();
    await page.getByText('end the first one before.').waitFor();
    await shown(page, 'edit');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Add a person' }).waitFor();
  });

  test('nothing is overwritten that somebody else has changed meanwhile', async () => {
    await save(person('ada'), person('grace'));
    const page = await site.signedIn(owner, 'operations/people');
    await page.getByRole('button', { name: 'Edit ada' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Show the change' }).click();
    await page.getByText('+ name').waitFor();
    await save(person('ada', { name: 'Ada King' }), person('grace'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByText('Somebody has changed the people meanwhile, and nothing of yours is saved.')
      .waitFor();
    expect((await stored())[0]?.name).toBe('Ada King');
    await shown(page, 'conflict');
    await page.getByRole('button', { name: 'Reload' }).click();
    await row(page, 'ada').getByText('Ada King').waitFor();
  });

  test('a proposal becomes another name, unless somebody else was faster', async () => {
    await save(person('grace'));
    const page = await site.signedIn(owner, 'operations/people');
    const accept = page.getByRole('button', { name: 'are the same person' });
    await page.getByText('Only upper case and white space tell them apart.').first().waitFor();
    expect(await accept.count()).toBe(2);
    await save(person('grace', { name: 'Grace' }));
    await accept.first().click();
    await page.getByText('Somebody has changed the people meanwhile').waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await row(page, 'grace').getByText('Grace', { exact: true }).waitFor();
    await shown(page, 'proposals');
    await accept.first().click();
    await page.getByText('so from the next build on.').waitFor();
    await expect.poll(() => accept.count()).toBe(1);
    const merged = (await stored()).find(({ aliases }) => aliases.length > 0);
    expect([merged?.userId, ...(merged?.aliases ?? [])].sort()).toEqual(['Ada', 'ada']);
  });

  test('a manager reads the people, finds them by any name, and can change nothing', async () => {
    const many = Array.from({ length: 120 }, (_, place) =>
      person(`user-${String(place).padStart(3, '0')}`, {
        name: `Person ${place}`,
        emails: [`user-${place}@acme.example`],
        aliases: place % 3 === 0 ? [`00u${place}`, `laptop-of-${place}`] : [],
        memberships: [
          team(['Compilers', 'Engines', 'Support tools'][place % 3] ?? ''),
          {
            kind: 'cost_center',
            name: `47${place % 5}`,
            firstDay: FIRST_DAY,
            lastDay: LAST_DAY,
            isLead: false,
          },
        ],
      }),
    );
    await save(...many);
    const { key } = await site.key('manager', 'grace');
    const page = await site.signedIn(key, 'operations/people');
    await page.getByText('120 people in 3 teams and 5 cost centres today').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await row(page, 'user-050').waitFor();
    await page.getByRole('searchbox').fill('LAPTOP-OF-117');
    await row(page, 'user-117').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    expect(await page.getByRole('button', { name: /^Edit|Show the change|same person/ }).count()).toBe(0);
    await page.getByText('Your role can only read who the people are').waitFor();
    await page.getByRole('searchbox').fill('');
    await expectSound(page);
    const own = await site.signedIn(owner, 'operations/people');
    await row(own, 'user-000').waitFor();
    await shown(own, 'people');
  });
});
