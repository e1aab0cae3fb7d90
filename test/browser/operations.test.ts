/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { runAgent } from '../../src/computers/run-agent.js';
import { gate } from '../gate.js';
import { ending, event, temporaryFolder } from '../world.js';
import { expectSound, hasBrowser, loaded, rowsOf, Site } from './browser.js';

const CONTROLS = '/api/v0/organization/enterprise-controls';
const COMPUTERS = '/api/v0/computers';
const HOSTILE = '<img src=x onerror=alert(1)>\u202Egnp.exe';

const atEnd = ending();
let site: Site;
let key: string;
beforeAll(async () => {
  if (!hasBrowser) return;
  site = await Site.start(atEnd, { events: [event('1')] });
  ({ key } = await createKey(
    site.world.store,
    { orgId: 'acme', role: 'owner', userId: 'ada', name: 'of the tests' },
    site.world.now,
  ));
});
// Browsers note in the console what the service refuses, which is what these tests have it do.
afterAll(() =>
  expect((site?.complaints ?? []).filter((text) => !/status of (400|409|412|502|503)/.test(text))).toEqual(
    [],
  ),
);

/** Asks the service with the owner's key, or another. */
async function ask(method: string, path: string, body?: object, of = key) {
  const answer = await fetch(`${site.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${of}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** What has the focus, by its role and text. */
const focusOf = (page: Page) =>
  page.evaluate(
    () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
  );

describe.runIf(hasBrowser)('operations', () => {
  test.each([
    [
      'owner',
      [
        'Computers',
        'Readiness',
        'People',
        'Budgets',
        'Controls',
        'Alerts',
        'Vendors',
        'API keys',
        'Audit',
        'Privacy',
      ],
    ],
    ['manager', ['Computers', 'Readiness', 'People', 'Budgets', 'Controls', 'Privacy']],
    ['member', ['Computers', 'Readiness', 'Privacy']],
    ['guest', ['Computers', 'Readiness', 'Privacy']],
  ] as const)('show %s what the role allows, also by address', async (role, places) => {
    const { key: own } = await site.key(role, `one-${role}`);
    const page = await site.signedIn(own, 'operations');
    const nav = page.getByRole('navigation', { name: 'Operations' });
    await nav.waitFor();
    expect(await nav.getByRole('link').allTextContents()).toEqual(places);
    expect(await page.getByRole('button', { name: 'Create computer' }).count()).toBe(
      role === 'guest' ? 0 : 1,
    );
    for (const [path, name] of [
      ['people', 'People'],
      ['controls', 'Controls'],
      ['alerts', 'Alerts'],
      ['keys', 'API keys'],
      ['audit', 'Audit'],
    ] as const) {
      await page.goto(`${site.url}/operations/${path}`);
      await nav.waitFor();
      const refusal = page.getByText('ask an owner of the organization.');
      if ((places as readonly string[]).includes(name))
        await page.getByRole('heading', { level: 1, name }).waitFor();
      else await refusal.waitFor();
    }
    if (role !== 'manager') return;
    await page.goto(`${site.url}/operations/controls`);
    await page.getByText('Your role can only read the settings.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  });

  test('stay when a page that was pressed before arrives late', async () => {
    const page = await site.signedIn(key, 'operations/readiness');
    const release = gate();
    await page.route('**/assets/trust-*.js', async (route) => {
      await release.opened;
      await route.continue();
    });
    const late = page.waitForResponse(/assets\/trust-.*\.js$/);
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    const heading = page.getByRole('heading', { level: 1, name: 'Computers' });
    await heading.waitFor();
    release.open();
    // Once its code has run, and the page was drawn again.
    const code = JSON.stringify((await late).url());
    const drawn = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';
    await page.evaluate(`import(${code}).then(() => ${drawn}).then(() => true)`);
    expect(await heading.count()).toBe(1);
  });

  test('a place that there is not says so', async () => {
    const page = await site.signedIn(key, 'operations/nothing');
    await page.getByText('There is no page here: choose one above.').waitFor();
    await page.getByRole('link', { name: 'Readiness' }).click();
    await page.getByRole('heading', { level: 1, name: 'Readiness' }).waitFor();
    expect(await page.title()).toBe('Readiness · Daybook');
  });
});

describe.runIf(hasBrowser)('API keys', () => {
  /** The new key as the page shows it. */
  const shownKey = async (page: Page) => (await page.locator('.once pre').textContent()) ?? '';

  test('a key that is created works, is shown once, and is refused everywhere once it is revoked', async () => {
    const page = await site.signedIn(key, 'operations/keys');
    await page.getByLabel('Name').fill('dashboard');
    await page.getByLabel('Role').selectOption('owner');
    await page.getByLabel('User', { exact: false }).first().fill('grace');
    await page.getByLabel('Last day').fill('2027-01-31');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: 'The new key dashboard' }).waitFor();
    const made = await shownKey(page);
    expect(made).toMatch(/^dbk_[\w-]{43}$/);
    const { data } = (await ask('GET', '/api/v1/api-keys')).body;
    expect(data.find(({ name }: { name: string }) => name === 'dashboard')).toMatchObject({
      role: 'owner',
      user_id: 'grace',
      expires_at: Date.parse('2027-02-01'),
    });
    expect((await ask('GET', '/api/v1/caller', undefined, made)).body.data.user_id).toBe('grace');
    await expectSound(page);

    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect(await page.content()).not.toContain(made);
    await page.reload();
    await page.getByRole('row', { name: /dashboard .* by ada/ }).waitFor();
    expect(await page.content()).not.toContain(made);

    const other = await site.signedIn(made, 'operations/keys');
    await other.getByRole('row', { name: /dashboard \(yours\)/ }).waitFor();
    await page.getByRole('button', { name: 'Revoke dashboard' }).click();
    await page.getByRole('dialog', { name: 'Revoke the key dashboard?' }).waitFor();
    expect(await page.getByText('You are signed in with this key').count()).toBe(0);
    expect(await focusOf(page)).toBe('Cancel');
    await expectSound(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focusOf(page)).toBe('Revoke dashboard');
    expect((await ask('GET', '/api/v1/caller', undefined, made)).status).toBe(200);

    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('The key dashboard is revoked.').waitFor();
    expect(await focusOf(page)).toBe('API keys');
    expect((await ask('GET', '/api/v1/caller', undefined, made)).status).toBe(401);
    await other.getByRole('link', { name: 'Controls' }).click();
    await other.getByLabel('API key', { exact: true }).waitFor();
  });

  test('whoever revokes the key in use is told so, and signs in again', async () => {
    const { key: own } = await createKey(
      site.world.store,
      { orgId: 'acme', role: 'owner', name: 'mine' },
      site.world.now,
    );
    const page = await site.signedIn(own, 'operations/keys');
    await page.getByRole('button', { name: 'Revoke mine' }).click();
    await page.getByText('You are signed in with this key').waitFor();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    expect((await ask('GET', '/api/v1/caller', undefined, own)).status).toBe(401);
  });

  test('a dialog stays until what it began is done, however often Escape is pressed', async () => {
    await ask('POST', '/api/v1/api-keys', { role: 'guest', name: 'of a slow network' });
    const page = await site.signedIn(key, 'operations/keys');
    const release = gate();
    await page.route('**/api/v1/api-keys/*', async (route) => {
      await release.opened;
      await route.fulfill({ status: 503, json: { detail: 'The database is away.' } });
    });
    await page.getByRole('button', { name: 'Revoke of a slow network' }).click();
    const dialog = page.getByRole('dialog');
    const asked = page.waitForRequest('**/api/v1/api-keys/*');
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await asked;
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
    release.open();
    await dialog.getByText('The database is away.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('a wrong member is refused in a sentence, and nothing that was written is lost', async () => {
    const page = await site.signedIn(key, 'operations/keys');
    await page.getByLabel('Name').fill('x'.repeat(101));
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('The member name must have at most 100 characters.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('x'.repeat(101));
  });

  test('keys that are shown once stay until each is copied', async () => {
    const page = await site.signedIn(key, 'operations/keys');
    const heading = (name: string) => page.getByRole('heading', { name: `The new key ${name}` });
    for (const name of ['of the pipeline', 'of the laptop']) {
      await page.getByLabel('Name').fill(name);
      await page.getByRole('button', { name: 'Create key' }).click();
      await heading(name).waitFor();
    }
    expect(await heading('of the pipeline').count()).toBe(1);
    await page
      .getByRole('region', { name: 'The new key of the pipeline' })
      .getByRole('button', { name: 'I have copied it' })
      .click();
    expect(await focusOf(page)).toBe('API keys');
    expect(await heading('of the pipeline').count()).toBe(0);
    expect(await heading('of the laptop').count()).toBe(1);
    await expectSound(page);
  });

  test('a name with markup is text, and a long one leaves the buttons where they are', async () => {
    const long = { name: 'n'.repeat(100), user_id: 'u'.repeat(128), expires_at: Date.parse('2027-12-31') };
    for (const more of [{ name: HOSTILE }, long]) {
      const { status } = await ask('POST', '/api/v1/api-keys', { role: 'manager', ...more });
      expect(status).toBe(201);
    }
    const page = await site.signedIn(key, 'operations/keys');
    await page.getByText(HOSTILE).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    const table = page.getByRole('region', { name: 'API keys' });
    expect(await table.evaluate((all) => all.scrollWidth - all.clientWidth)).toBe(0);
  });

  test('the browsers of a user are signed out', async () => {
    const { key: own } = await site.key('manager', 'hopper');
    const theirs = await site.signedIn(own, 'operations/readiness');
    const page = await site.signedIn(key, 'operations/keys');
    await page.getByLabel('Signed-in user').fill('hopper');
    await page.getByRole('button', { name: 'Sign out…' }).click();
    await page.getByRole('dialog', { name: 'Sign out hopper?' }).waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await page.getByText('All browsers of hopper are signed out.').waitFor();
    await theirs.getByRole('link', { name: 'Controls' }).click();
    await theirs.getByLabel('API key', { exact: true }).waitFor();
    expect((await ask('GET', '/api/v1/caller', undefined, own)).status).toBe(200);
  });
});

describe.runIf(hasBrowser)('enterprise controls', () => {
  const field = (page: Page) => page.getByLabel('Settings as JSON');
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
  const selected = (page: Page) =>
    field(page).evaluate((area) => {
      const { value, selectionStart, selectionEnd } = area as HTMLTextAreaElement;
      return value.slice(selectionStart, selectionEnd);
    });

  test('are checked as JSON, then by the schema, then by the service, and only then saved', async () => {
    const page = await site.signedIn(key, 'operations/controls');
    await page.getByText('nothing is set yet').waitFor();
    const form = page.locator('form.settings');
    expect(await form.evaluate((all) => all.scrollHeight - all.clientHeight)).toBe(0);
    const puts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request.url());
    });
    await field(page).fill('{\n  "cloudSessionSync": true\n  "env": {}\n}');
    await save(page);
    await page.getByText('This is not JSON: comma expected.').waitFor();
    await page.getByRole('button', { name: 'Line 3, column 3' }).click();
    expect(await selected(page)).toBe('"env"');

    await field(page).fill(
      '{\n  "cloudSessionSync": "yes",\n  "sessionRetentionDays": 3,\n  "sandbox": {"enabled": 1}\n}',
    );
    await save(page);
    await page.getByText('cloudSessionSync must be boolean, not string.').waitFor();
    await page.getByText(/^sessionRetentionDays .*14/).waitFor();
    await page.getByText('sandbox.enabled must be boolean, not number.').waitFor();
    await page.getByRole('button', { name: 'Line 4, column 15' }).click();
    expect(await selected(page)).toBe('"enabled": 1');
    await expectSound(page);
    expect(puts).toEqual([]);

    await field(page).fill('{\n  "hooks": {},\n  "networkPolicy": {"allowedIps": ["192.0.2.1"]}\n}');
    await save(page);
    await page.getByText(/must include your own address, 127\.0\.0\.1/).waitFor();
    await page.getByRole('button', { name: 'Line 3' }).click();
    expect(await selected(page)).toBe('"allowedIps": ["192.0.2.1"]');
    expect((await ask('GET', CONTROLS)).body.revision).toBe(0);

    await field(page).fill('{"commandDenylist": ["sudo"], "env": {"TOKEN": "a secret of acme"}}');
    await save(page);
    await page.getByText('Revision 1 is saved.').waitFor();
    expect((await ask('GET', CONTROLS)).body).toMatchObject({
      revision: 1,
      settings: { commandDenylist: ['sudo'], env: { TOKEN: '***' } },
      user: { id: 'ada' },
    });
    expect(await field(page).inputValue()).not.toContain('a secret of acme');
  });

  test('that somebody else has changed meanwhile are not overwritten, and the text is kept', async () => {
    const page = await site.signedIn(key, 'operations/controls');
    await page.getByText('revision 1', { exact: true }).waitFor();
    const text = '{"commandDenylist": ["sudo", "dd"], "env": {"TOKEN": "***"}}';
    await field(page).fill(text);
    await ask('PUT', CONTROLS, {
      settings: { commandDenylist: ['sudo'], env: { TOKEN: '***' }, voiceDictationEnabled: true },
    });
    await save(page);
    await page.getByText('ada has saved revision 2 meanwhile.').waitFor();
    await page.getByRole('row', { name: /voiceDictationEnabled – true/ }).waitFor();
    expect(await field(page).inputValue()).toBe(text);
    expect((await ask('GET', CONTROLS)).body.revision).toBe(2);
    await expectSound(page);
    await page.getByRole('button', { name: 'Continue with my text' }).click();
    expect(await field(page).inputValue()).toBe(text);
    await save(page);
    await page.getByText('Revision 3 is saved.').waitFor();
    expect((await ask('GET', CONTROLS)).body).toMatchObject({
      revision: 3,
      settings: { commandDenylist: ['sudo', 'dd'] },
    });
  });

  test('text is discarded only when its writer says so, not by a link', async () => {
    const page = await site.signedIn(key, 'operations/controls');
    await page.getByText('revision 3', { exact: true }).waitFor();
    const before = await field(page).inputValue();
    // A link that is followed as soon as the text is there.
    await field(page).evaluate(async (area) => {
      (area as HTMLTextAreaElement).value = '{}';
      area.dispatchEvent(new Event('input', { bubbles: true }));
      await null;
      [...document.querySelectorAll('a')].find(({ textContent }) => textContent === 'Readiness')?.click();
    });
    await page.getByRole('heading', { level: 1, name: 'Readiness' }).waitFor();
    await page.goBack();
    await field(page).waitFor();
    expect(await field(page).inputValue()).toBe('{}');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await field(page).inputValue()).toBe('{}');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    expect(await field(page).inputValue()).toBe(before);
  });

  test('have a history with differences, and go back once somebody has seen what that changes', async () => {
    const page = await site.signedIn(key, 'operations/controls');
    await page.locator('[data-revision="3"] summary').click();
    await page.getByRole('row', { name: 'commandDenylist[dd] – "dd"' }).waitFor();
    expect(await page.getByRole('button', { name: 'Go back to revision 3' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Go back to revision 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Go back to revision 2?' });
    await dialog.getByRole('row', { name: 'commandDenylist[dd] "dd" –' }).waitFor();
    await dialog.getByRole('row', { name: 'voiceDictationEnabled – true' }).waitFor();
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Go back to revision 2' }).click();
    await page.getByText('It has the settings of revision 2.').waitFor();
    const { revision, settings } = (await ask('GET', CONTROLS)).body;
    const { changes } = (await ask('GET', `${CONTROLS}/history`)).body;
    expect(revision).toBe(4);
    expect(settings).toEqual(changes.find((one: { revision: number }) => one.revision === 2).settings);
    await expect.poll(async () => JSON.parse(await field(page).inputValue())).toEqual(settings);
    await page.locator('[data-revision="4"]').waitFor();
  });

  test('nobody goes back over a revision that the page has not shown', async () => {
    const page = await site.signedIn(key, 'operations/controls');
    await page.getByRole('button', { name: 'Go back to revision 1' }).click();
    const { settings } = (await ask('GET', CONTROLS)).body;
    await ask('PUT', CONTROLS, { settings: { ...settings, wikiCloudSync: true } });
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Go back to revision 1' }).click();
    await dialog.getByText('The newest revision is 5, not the expected one: read it again.').waitFor();
    expect((await ask('GET', CONTROLS)).body.revision).toBe(5);
  });
});

describe.runIf(hasBrowser)('computers', () => {
  const card = (page: Page, name: string) => page.locator(`[data-computer="${name}"]`);
  const computers = async () =>
    (await ask('GET', `${COMPUTERS}?includeProvisioningSteps=true`)).body.computers;

  /** Starts an agent with a token that the page has shown. */
  async function agent(token: string): Promise<string> {
    const folder = join(site.world.folder, token.slice(0, 12));
    mkdirSync(folder, { recursive: true });
    const workspace = realpathSync(folder);
    const stopping = new AbortController();
    const ended = runAgent({
      server: site.url,
      token,
      workspace,
      version: 'test',
      clock: site.world.clock,
      say: () => {},
      signal: stopping.signal,
    }).catch(() => undefined);
    onTestFinished(async () => {
      stopping.abort();
      await ended;
    });
    return workspace;
  }

  /** Creates a computer through the page, and answers the token that it shows. */
  async function create(page: Page, name: string, more: Record<string, string> = {}): Promise<string> {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('User on the machine').fill('ada');
    for (const [label, text] of Object.entries(more)) await page.getByLabel(label).fill(text);
    await page.getByRole('button', { name: 'Create computer' }).click();
    await page.getByRole('heading', { name: `The agent token of ${name}` }).waitFor();
    const line = (await page.locator('.once pre').textContent()) ?? '';
    expect(line).toContain(`--server ${site.url} `);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    return / --token (dba_\S+) /.exec(line)?.[1] ?? '';
  }

  test('none says what to do, and one is created, connected, sent a file and deleted', async () => {
    const page = await site.signedIn(key, 'operations/computers');
    await page.getByText('There is no computer yet.').waitFor();
    await expectSound(page);
    const token = await create(page, 'box');
    await card(page, 'box').getByText('not connected').waitFor();
    expect(await page.content()).not.toContain(token);
    expect(await computers()).toMatchObject([
      { name: 'box', remoteUser: 'ada', ownerId: 'ada', status: 'active' },
    ]);

    await card(page, 'box').getByText('Send a file to box').click();
    await card(page, 'box')
      .getByLabel('File', { exact: false })
      .first()
      .setInputFiles({ name: 'hello & <b>.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
    await card(page, 'box').getByLabel('Folder in the workspace').fill('docs');
    await card(page, 'box').getByRole('button', { name: 'Send', exact: true }).click();
    await card(page, 'box').getByText('The computer is not connected').waitFor();
    const workspace = await agent(token);
    await expect.poll(async () => (await computers())[0].connectedAt).not.toBeNull();
    await card(page, 'box').getByRole('button', { name: 'Write it now' }).click();
    await card(page, 'box').getByText('docs/hello & <b>.txt is on box: 5 bytes.').waitFor();
    expect(readFileSync(join(workspace, 'docs', 'hello & <b>.txt'), 'utf8')).toBe('hello');

    await card(page, 'box')
      .getByLabel('File', { exact: false })
      .first()
      .setInputFiles({ name: 'hello & <b>.txt', mimeType: 'text/plain', buffer: Buffer.from('again') });
    await card(page, 'box').getByLabel('Folder in the workspace').fill('docs');
    await card(page, 'box').getByRole('button', { name: 'Send', exact: true }).click();
    await card(page, 'box').getByText('which is never replaced: choose another name.').waitFor();
    await card(page, 'box').getByText('connected since').waitFor();
    await expectSound(page);

    await page.getByRole('button', { name: 'Delete box' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the computer box?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await focusOf(page)).toBe('Delete box');
    expect(await computers()).toHaveLength(1);
    await page.getByRole('button', { name: 'Delete box' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('The computer box is deleted.').waitFor();
    await card(page, 'box').waitFor({ state: 'detached' });
    expect(await computers()).toEqual([]);
  });

  test('an upload goes on while the list cannot be read, and says what a proxy answers', async () => {
    const page = await site.signedIn(key, 'operations/computers');
    await create(page, 'behind-proxy');
    const of = card(page, 'behind-proxy');
    await of.getByText('Send a file to behind-proxy').click();
    await of
      .getByLabel('File', { exact: false })
      .first()
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') });
    await of.getByLabel('Folder in the workspace').fill('docs');
    await page.route('**/api/v0/computers?*', (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is away.' } }),
    );
    await create(page, 'another');
    await page.getByText('The database is away.').waitFor();
    expect(await of.getByLabel('Folder in the workspace').inputValue()).toBe('docs');
    await page.unroute('**/api/v0/computers?*');
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await card(page, 'another').waitFor();
    expect(await page.getByText('The database is away.').count()).toBe(0);
    await page.route('**/*', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' })
        : route.fallback(),
    );
    await of.getByRole('button', { name: 'Send', exact: true }).click();
    await of.getByText('The service answered 502.').waitFor();
    for (const { id } of await computers()) await ask('DELETE', `${COMPUTERS}/${id}`);
  });

  test('a large file arrives whole, in pieces that the page counts', async () => {
    const page = await site.signedIn(key, 'operations/computers');
    const workspace = await agent(await create(page, 'big'));
    const bytes = Buffer.alloc(24 << 20, 'daybook ');
    // A path: the bytes of a buffer would go to the browser as text.
    const path = join(temporaryFolder(onTestFinished), 'large.bin');
    writeFileSync(path, bytes);
    await card(page, 'big').getByText('Send a file to big').click();
    await card(page, 'big').getByLabel('File', { exact: false }).first().setInputFiles(path);
    // It isn't over before it was seen.
    const isSeen = card(page, 'big').locator('progress').waitFor();
    await page.route('**/create-upload', async (route) => {
      await isSeen;
      await route.continue();
    });
    await card(page, 'big').getByRole('button', { name: 'Send', exact: true }).click();
    await isSeen;
    await card(page, 'big').getByText('large.bin is on big: 25,165,824 bytes.').waitFor();
    expect(readFileSync(join(workspace, 'large.bin')).equals(bytes)).toBe(true);
  });

  test('steps that fail are shown with their reason, and tried again', async () => {
    const page = await site.signedIn(key, 'operations/computers');
    const token = await create(page, 'cloner', { 'Repositories to clone': 'http://127.0.0.1:1/none.git' });
    const step = card(page, 'cloner').locator('[data-step=clone-repos]');
    expect(await step.getAttribute('data-status')).toBe('pending');
    await agent(token);
    await card(page, 'cloner').locator('[data-step=clone-repos][data-status=failed] pre').waitFor();
    const failed = async () => {
      const found = (await computers()).find((one: { name: string }) => one.name === 'cloner');
      return found.provisioningSteps.find((one: { name: string }) => one.name === 'clone-repos');
    };
    const first = await failed();
    expect(await step.locator('pre').textContent()).toBe(first.error);
    site.world.now += 1000;
    await page.getByRole('button', { name: 'Try the failed steps of cloner again' }).click();
    await page.getByText('The failed steps of cloner are tried again.').waitFor();
    await expect.poll(async () => (await failed()).completedAt).toBeGreaterThan(first.completedAt);
  });

  test('what the service refuses is said in its sentence, also where no provider is set up', async () => {
    const page = await site.signedIn(key, 'operations/computers');
    await page.getByLabel('Name').fill('Box 1');
    await page.getByLabel('User on the machine').fill('ada');
    await page.getByRole('button', { name: 'Create computer' }).click();
    await page.getByText(/^The member name must be 1 to 63 lower-case letters/).waitFor();
    await page.getByLabel('Name').fill('cloud');
    await page.getByLabel('Machine', { exact: false }).first().selectOption('e2b');
    await page.getByText('The service makes it once E2B_API_KEY').waitFor();
    await page.getByRole('button', { name: 'Create computer' }).click();
    await page
      .getByText('This service has no provider e2b: set E2B_API_KEY, or create a byom computer.')
      .waitFor();
  });

  test('a member changes own computers only, and nobody sends files to another person', async () => {
    const { key: grace } = await site.key('member', 'grace');
    for (const [name, of] of [
      ['of-ada', key],
      ['of-grace', grace],
    ] as const)
      await ask('POST', COMPUTERS, { name, remoteUser: HOSTILE.slice(0, 60) }, of);
    const page = await site.signedIn(grace, 'operations/computers');
    await card(page, 'of-ada').getByText(HOSTILE.slice(0, 60)).waitFor();
    expect(await card(page, 'of-ada').getByRole('button').count()).toBe(0);
    expect(await card(page, 'of-ada').locator('details').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Delete of-grace' }).count()).toBe(1);
    const owner = await site.signedIn(key, 'operations/computers');
    await owner.getByRole('button', { name: 'Delete of-grace' }).waitFor();
    expect(await card(owner, 'of-grace').locator('details').count()).toBe(0);
  });
});

describe.runIf(hasBrowser)('readiness', () => {
  const evaluation = (numerator: number, denominator = 1, rationale = 'README.md.') => ({
    numerator,
    denominator,
    rationale,
  });
  const send = async (repoUrl: string, report: object) => {
    const { status } = await ask('POST', '/api/organization/maturity-level-reports', {
      repoUrl,
      apps: { '.': { description: 'Node.js package' } },
      report,
      branch: 'main',
    });
    expect(status).toBe(201);
    site.world.now += 86_400_000;
  };

  test('is empty until somebody checks a repository, then has its levels over time and what raises them', async () => {
    const empty = await site.signedIn(key, 'operations/readiness');
    await empty.getByText('No repository was checked yet').waitFor();
    await empty.getByText('daybook readiness check').waitFor();
    await expectSound(empty);

    const api = 'https://github.com/acme/api';
    await send(api, { linter: evaluation(0), readme: evaluation(1), security_policy: evaluation(0) });
    await send(api, {
      linter: evaluation(1),
      readme: evaluation(1),
      security_policy: evaluation(0, 1, HOSTILE),
      lint_in_ci: evaluation(1, 2),
      spelling: evaluation(0),
    });
    await send('https://github.com/acme/web', { readme: evaluation(1), license: evaluation(1) });
    const page = await site.signedIn(key, 'operations/readiness');
    await loaded(page);
    const { repositories } = (await ask('GET', '/api/organization/repositories')).body;
    const shown = await page.locator('table.things tbody tr').allInnerTexts();
    expect(shown.map((text) => text.split(/\s+/))).toEqual([
      ['acme/api', '2', '+1'],
      ['acme/web', '2', 'new'],
    ]);
    const { reports } = (
      await ask('GET', `/api/organization/maturity-level-reports?repoId=${repositories[0].repoId}`)
    ).body;
    const rows = Object.values(await rowsOf(page, 'readiness-over-time'));
    expect(rows.map(([level, met, criteria]) => [level, met, criteria])).toEqual([
      [1, 1, 3],
      [2, 2, 5],
    ]);
    expect(reports.map(({ level }: { level: number }) => level)).toEqual([2, 1]);
    expect(await page.locator('figure[data-chart=readiness-over-time] svg circle').count()).toBe(2);
    const steps = page.locator('[data-list=next-steps] [data-criterion]');
    expect(await steps.evaluateAll((all) => all.map((one) => one.getAttribute('data-criterion')))).toEqual(
      repositories[0].nextSteps.map(({ id }: { id: string }) => id),
    );
    await page
      .getByText('25.0% of the 2 criteria of level 2 are met, and 80% open level 3: 2 more are enough.')
      .waitFor();
    await page.getByText(HOSTILE).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await page.getByText('2 of 5 criteria are met').click();
    await page.locator('.fold').getByText('linter').waitFor();
    await expectSound(page);

    await page.getByRole('link', { name: 'acme/web' }).click();
    await page.getByText('Every criterion is met.').waitFor();
    await loaded(page);
    expect(Object.keys(await rowsOf(page, 'readiness-over-time'))).toHaveLength(1);
    await page.goBack();
    await page.locator('[data-criterion=security_policy]').waitFor();
  });

  test('has no page without repositories, and a link leads to any of its pages', async () => {
    const { repositories } = (await ask('GET', '/api/organization/repositories')).body;
    const report = { readme: evaluation(1) };
    for (let count = repositories.length; count < 25; count += 1)
      await send(`https://github.com/acme/of-${count}`, report);
    const page = await site.signedIn(key, 'operations/readiness');
    const rows = page.locator('table.things tbody tr');
    await expect.poll(() => rows.count()).toBe(25);
    expect(await page.getByRole('button', { name: 'Next' }).count()).toBe(0);
    const now = site.world.now;
    await send('https://github.com/acme/last', report);
    // Within the hours of the browser's session.
    site.world.now = now;
    await page.reload();
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'Previous' }).click();
    await expect.poll(() => rows.count()).toBe(25);
  });

  test('a guest reads it', async () => {
    const { key: guest } = await site.key('guest');
    const page = await site.signedIn(guest, 'operations/readiness');
    await page.locator('[data-criterion=security_policy]').waitFor();
  });
});

describe.runIf(hasBrowser)('the audit', () => {
  test('shows who asked about whom, in pages and by user', async () => {
    const { key: own } = await site.key('manager', 'grace');
    const { key: guest } = await site.key('guest', 'ken');
    const users = '/api/v1/analytics/users?startDate=2026-06-01&endDate=2026-06-07';
    for (let read = 0; read < 60; read += 1) await ask('GET', `${users}&user_id=ada`, undefined, own);
    expect(
      (await ask('GET', `${users}&user_id=${encodeURIComponent(HOSTILE)}`, undefined, guest)).status,
    ).toBe(403);
    const page = await site.signedIn(key, 'operations/audit');
    const row = page.getByRole('row', { name: /ken .* analytics\/users refused/ });
    await row.waitFor();
    expect(await row.locator('td').nth(2).textContent()).toBe(HOSTILE);
    await expectSound(page);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByRole('button', { name: 'Newer', disabled: false }).waitFor();
    await row.waitFor({ state: 'detached' });

    await page.locator('input[name=userId]').fill('ken');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await row.waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByText('Only by ken.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page
      .getByRole('row', { name: /grace .* ada/ })
      .first()
      .waitFor();
  });
});
