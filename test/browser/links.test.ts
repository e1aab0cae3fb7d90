/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, Site } from './browser.js';

/** Names that every object has. */
const INHERITED = ['constructor', '__proto__', 'toString'];

const PLACES = [
  ...['', 'people', 'repositories', 'models', 'tools', 'trust', 'sql'],
  ...['keys', 'computers', 'readiness', 'controls'].map((path) => `operations/${path}`),
];

/** The parameters of links to the page. */
const PARAMETERS = [
  ...['range', 'from', 'to', 'user_id', 'model', 'agent', 'repo', 'client', 'tool', 'mcp_server'],
  ...['metric', 'sort', 'today', 'name', 'x', 'y', 'group', 'after', 'repository'],
];

/** Goes to a link of the page without loading it again, and lets it draw. */
async function follow(page: Page, link: string): Promise<void> {
  await page.evaluate(async (to) => {
    history.pushState(null, '', `/${to}`);
    window.dispatchEvent(new PopStateEvent('popstate'));
    for (let frame = 0; frame < 3; frame += 1) await new Promise((drawn) => setTimeout(drawn, 20));
  }, link);
}

describe.runIf(hasBrowser)('a link', () => {
  test('shows a page, whatever names its parameters have', async () => {
    const site = await Site.start(onTestFinished);
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`));
    for (const name of INHERITED) {
      const all = PARAMETERS.map((one) => `${one}=${name}`);
      const links = [...PLACES, name, `people/${name}`, `operations/${name}`].map(
        (place) => `${place}?${all.join('&')}`,
      );
      for (const link of [...links, ...all.map((one) => `?${one}`), `?${name}=${name}`])
        await follow(page, link);
      // Also where it is loaded.
      await page.goto(`${site.url}/?${all.join('&')}`);
      await page.locator('main h1').waitFor();
    }
    expect(errors).toEqual([]);
  });

  test('is followed as soon as there is a page', async () => {
    const site = await Site.start(onTestFinished);
    const { key } = await site.key('owner');
    const page = await site.open();
    await page.evaluate(() => {
      const watch = new MutationObserver(() => {
        if (document.querySelector('.head') === null) return;
        watch.disconnect();
        history.pushState(null, '', '/trust');
        window.dispatchEvent(new PopStateEvent('popstate'));
      });
      watch.observe(document, { childList: true, subtree: true });
    });
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in with this key' }).click();
    await page.getByRole('heading', { level: 1, name: 'Trust' }).waitFor();
  });

  test('has a range of 30 days unless it names another', async () => {
    const site = await Site.start(onTestFinished);
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    const days = async (range: string) => {
      await page.goto(`${site.url}/?range=${range}`);
      return page.locator('.range-head b, main b').first().textContent();
    };
    const usual = await days('30d');
    expect(await days('90d')).not.toBe(usual);
    for (const name of INHERITED) expect(await days(name)).toBe(usual);
  });

  test('with a statement has only the values that it gives', async () => {
    const site = await Site.start(onTestFinished);
    await site.publish();
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    for (const name of INHERITED) {
      const search = new URLSearchParams({ sql: `SELECT $${name} AS a`, x: name, y: name, group: name });
      await page.goto(`${site.url}/sql?${search}`);
      expect(await page.getByLabel(`$${name}`).inputValue()).toBe('');
    }
  });

  test('back from a provider says why only if the service does', async () => {
    const site = await Site.start(onTestFinished);
    const said = async (reason: string) => {
      const page = await site.open(`#sign-in=${reason}`);
      return page.locator('.sign-in [role=alert]').textContent();
    };
    expect(await said('late')).toContain('Signing in took too long');
    for (const name of INHERITED) expect(await said(name)).toBe('');
  });
});
