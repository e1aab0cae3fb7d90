import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKey } from '../../src/api/api-keys.js';
import { SecretKey } from '../../src/controls/secret-key.js';
import { buildApp } from '../../src/service/app.js';
import { signInLink } from '../../src/sign-in/tickets.js';
import { freePort } from '../ask.js';
import { gate } from '../gate.js';
import { startProvider } from '../openid.js';
import { ending, event } from '../world.js';
import { drawn, expectSound, hasBrowser, loaded, Site } from './browser.js';

const EVENTS = [event('1'), event('2', { user_id: 'grace' })];
const HOUR = 3_600_000;

describe.runIf(hasBrowser)('a browser', () => {
  const atEnd = ending();
  let site: Site;
  beforeAll(async () => {
    site = await Site.start(atEnd, { events: EVENTS });
  });
  afterAll(() => expect(site.complaints).toEqual([]));

  const linkOf = ({ world, url }: Site) =>
    signInLink(world.store, new SecretKey(world.config), world.clock, { orgId: 'acme', url });

  test('is signed in by a link, once, and the address keeps nothing of it', async () => {
    const link = linkOf(site);
    const page = await site.open(link.slice(site.url.length + 1));
    await page.waitForSelector('.head');
    expect(page.url()).toBe(`${site.url}/`);
    await page.goBack().catch(() => null);
    const other = await site.open(link.slice(site.url.length + 1));
    expect(await other.getByRole('alert').textContent()).toContain('This link was used before');
  });

  test('hears what is wrong with a link that is cut off', async () => {
    for (const rest of ['', '%20abc']) {
      const page = await site.open(`#token=${rest}`);
      await page.getByText('This link').waitFor();
      expect(page.url()).toBe(`${site.url}/`);
    }
  });

  test('hears when a page cannot be loaded and when it cannot be signed out', async () => {
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    await page.route('**/assets/trust-*.js', (route) =>
      route.fulfill({ status: 404, contentType: 'text/plain', body: '' }),
    );
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.getByText('This page can’t be loaded').waitFor();
    await page.unroute('**/assets/trust-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Trust' }).waitFor();
    await page.route('**/sign-out', (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is away.' } }),
    );
    await page.locator('.head .menu summary').last().click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('The database is away.').waitFor();
    // The browser itself notes what isn't there.
    const isNoted = (text: string) => /status of (404|503)/.test(text);
    site.complaints.splice(0, Infinity, ...site.complaints.filter((text) => !isNoted(text)));
  });

  test('hears what to do when no script can be loaded, with and without a stylesheet', async () => {
    const page = await site.open();
    await page.getByLabel('API key').waitFor();
    const text = page.getByText("Daybook's page hasn't loaded. Reload it.");
    expect(await text.count()).toBe(0);
    // The stylesheet shows it after some seconds, however long the page takes to load.
    const browser = await page.context().newCDPSession(page);
    await browser.send('Animation.enable');
    const play = (playbackRate: number) => browser.send('Animation.setPlaybackRate', { playbackRate });
    for (const files of ['**/*.js', '**/*.{js,css}']) {
      await page.route(files, (route) => route.fulfill({ status: 404, body: '' }));
      await play(0);
      await page.reload();
      const isSeenAtOnce = await text.isVisible();
      expect(isSeenAtOnce).toBe(files.includes('css'));
      // What can't be seen isn't read either.
      expect(await page.getByRole('alert').count()).toBe(isSeenAtOnce ? 1 : 0);
      await play(1);
      await page.getByRole('alert').waitFor();
      expect(await text.isVisible()).toBe(true);
    }
    await page.unrouteAll();
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(await text.count()).toBe(0);
    site.complaints.length = 0;
  });

  test('is signed out when its key is revoked while the page is open', async () => {
    const { key, key_id } = await site.key('owner');
    const page = await site.signedIn(key);
    await loaded(page);
    await revokeKey(site.world.store, key_id, site.world.now);
    await page.getByRole('link', { name: '7 d' }).click();
    await page.getByLabel('API key').waitFor();
  });

  test('keeps what is written into the form when what was asked before is refused late', async () => {
    const { key, key_id } = await site.key('owner');
    const page = await site.signedIn(key);
    await loaded(page);
    const release = gate();
    let held = '';
    await page.route('**/api/v1/analytics/**', async (route) => {
      if (held === '') {
        held = route.request().url();
        await release.opened;
      }
      await route.continue();
    });
    await revokeKey(site.world.store, key_id, site.world.now);
    await page.getByRole('link', { name: '7 d' }).click();
    const field = page.getByLabel('API key');
    await field.fill(key);
    const late = page.waitForResponse((response) => response.url() === held);
    release.open();
    await (await late).finished();
    await drawn(page);
    expect(await field.inputValue()).toBe(key);
  });

  test('is signed out when its session has ended, and when somebody signs out', async () => {
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    await loaded(page);
    site.world.now += 13 * HOUR;
    await page.getByRole('link', { name: '7 d' }).click();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in with this key' }).click();
    await page.locator('.head .menu summary').last().click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    site.world.now -= 13 * HOUR;
    expect(await page.context().cookies()).toEqual([]);
  });

  test('stays signed in when the service is started again', async () => {
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    await loaded(page);
    const again = buildApp(site.world);
    const url = await again.listen({ host: '127.0.0.1', port: 0 });
    await page.goto(url);
    await page.waitForSelector('.head');
    // Else it would complain of what it goes on to ask for.
    await page.context().close();
    await again.close();
    site.complaints.length = 0;
  });

  test('hears in a sentence what is wrong with a key', async () => {
    const page = await site.open();
    await page.getByLabel('API key').fill('dbk_wrong');
    await page.getByRole('button', { name: 'Sign in with this key' }).click();
    await page.getByText('The API key is unknown, expired or revoked').waitFor();
    await expectSound(page);
  });

  test('opens an unknown address as a page that says so, and programs get JSON', async () => {
    const { key } = await site.key('owner');
    const page = await site.signedIn(key);
    const opened = await page.goto(`${site.url}/peoples/ada?range=7d`);
    expect(opened?.status()).toBe(404);
    expect(opened?.headers()['content-security-policy']).toContain("script-src 'self'");
    await page.getByText('There is no page here.').waitFor();
    expect(await page.title()).toBe('Nothing here · Daybook');
    await expectSound(page);
    await page.getByRole('link', { name: 'Overview' }).last().click();
    await loaded(page);
    // The browser itself notes the status.
    site.complaints.length = 0;

    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const ask = async (path: string, init: RequestInit) => {
      const answer = await fetch(site.url + path, init);
      return [answer.status, answer.headers.get('content-type')];
    };
    const json = 'application/json; charset=utf-8';
    expect(await ask('/peoples', { method: 'HEAD', headers: { accept } })).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    for (const init of [
      {},
      { headers: { accept: 'application/json' } },
      { method: 'POST', headers: { accept } },
    ])
      expect(await ask('/peoples', init)).toEqual([404, json]);
    for (const path of ['/api', '/api/v2/things', '/v1/logs', '/docs/nothing', '/otlp/nothing'])
      expect((await ask(path, { headers: { accept } }))[1], path).toBe(json);
  });

  test('shows the page in no frame, and runs nothing that is written into it', async () => {
    const answer = await fetch(site.url);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(answer.headers.get('x-frame-options')).not.toBeNull();
    const page = await site.open();
    const isRefused = page.waitForEvent('console', {
      predicate: (one) => one.text().includes('Content Security'),
    });
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken"';
      document.body.append(script);
    });
    await isRefused;
    expect(await page.title()).not.toBe('taken');
    site.complaints.length = 0;
  });
});

test.runIf(hasBrowser)('a browser is signed in by an OpenID provider', async () => {
  const port = await freePort();
  const people = { ada: { org_id: 'acme', role: 'manager', email: 'ada@acme.example' }, eve: {} };
  const { onTestFinished } = await import('vitest');
  const provider = await startProvider(people, `http://127.0.0.1:${port}/sign-in/callback`);
  const site = await Site.start(onTestFinished, {
    events: EVENTS,
    settings: { ...provider, DAYBOOK_PORT: String(port) },
  });
  for (const [login, shown] of [
    ['eve', 'claims give you no organization or role'],
    ['ada', 'Overview'],
  ] as const) {
    const page = await site.open();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.locator('input[name=login]').fill(login);
    await page.locator('input[name=password]').fill('anything');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(shown).first().waitFor();
  }
});
