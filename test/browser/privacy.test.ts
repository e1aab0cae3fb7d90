import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changePrivacy } from '../../src/store/state/privacy-revisions.js';
import { ending } from '../world.js';
import { expectSound, hasBrowser, Site } from './browser.js';

const atEnd = ending();
let site: Site;
let names: string[];
beforeAll(async () => {
  if (!hasBrowser) return;
  site = await Site.start(atEnd);
  const { store, now } = site.world;
  names = (await store.select('SELECT DISTINCT user_id FROM users')).map(({ user_id }) => String(user_id));
  const change = { mode: 'protected', smallestGroup: 5, auditors: ['auditor'] } as const;
  await changePrivacy(store, 'acme', () => change, 'root', now);
});
afterAll(() => expect(site?.complaints ?? []).toEqual([]));

describe.runIf(hasBrowser)('a protected organization', () => {
  test('shows a manager no name, asks for nothing that is refused, and joins few people', async () => {
    const refused: string[] = [];
    const { key } = await site.key('manager', 'boss');
    const page = await site.signedIn(key);
    page.on('response', (answer) => {
      if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`);
    });
    const nav = page.getByRole('navigation', { name: 'Pages' });
    await nav.waitFor();
    expect(await nav.getByRole('link').allTextContents()).toEqual([
      ...['Overview', 'Teams', 'Repositories', 'Models', 'Tools', 'Operations'],
    ]);
    for (const path of [
      '',
      'teams',
      'repositories',
      'models',
      'tools',
      'operations/computers',
      'operations/privacy',
    ]) {
      await page.goto(`${site.url}/${path}`);
      await page.waitForLoadState('networkidle');
      const shown = await page.locator('body').innerText();
      expect(names.filter((name) => shown.includes(name))).toEqual([]);
      await expectSound(page);
    }
    await page.getByText('people are shown in groups of at least 5').waitFor();
    expect(refused).toEqual([]);
    expect(await page.getByRole('button', { name: 'Change' }).count()).toBe(0);
    await page.goto(site.url);
    const joined = page.getByText('(small groups)').first();
    await joined.waitFor();
    expect(await page.getByRole('link', { name: '(small groups)' }).count()).toBe(0);
    await page.getByText('+ Filter').click();
    expect(await page.getByRole('button', { name: 'Person', exact: true }).count()).toBe(0);
  });

  test('shows an auditor everything', async () => {
    const { key } = await site.key('manager', 'auditor');
    const page = await site.signedIn(key, 'people');
    await page
      .getByRole('link', { name: String(names[0]) })
      .first()
      .waitFor();
    await page.goto(`${site.url}/operations/privacy`);
    await page.getByText('You do.').waitFor();
  });

  test('shows a member the own place, and nobody else', async () => {
    const { key } = await site.key('member', names[0]);
    const page = await site.signedIn(key);
    const place = page.getByRole('region', { name: 'Your place' });
    await place.getByText(/^among \d+ people/).waitFor();
    await place.getByText('Autonomy ratio').first().waitFor();
    const shown = await page.locator('body').innerText();
    expect(names.slice(1).filter((name) => shown.includes(name))).toEqual([]);
    await expectSound(page);
  });

  test('is one because an owner said so', async () => {
    const { key } = await site.key('owner', 'root');
    const page = await site.signedIn(key, 'operations/privacy');
    await page.getByText('1 auditor sees people by name').waitFor();
    await page.getByLabel('Smallest group').fill('6');
    await page.getByRole('textbox', { name: 'Auditors' }).fill('auditor, heidi');
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByText('2 auditors see people by name').waitFor();
    await page.getByText('shown in groups of at least 6').waitFor();
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('Protected, groups of at least 6, 2 auditors: auditor, heidi').waitFor();
    expect(await history.getByRole('listitem').count()).toBe(2);
    await expectSound(page);
  });
});
