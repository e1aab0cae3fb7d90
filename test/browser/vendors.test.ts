import { afterAll, describe, expect, test } from 'vitest';
import { SecretKey } from '../../src/controls/secret-key.js';
import { addDays } from '../../src/day.js';
import { pullOrganization } from '../../src/vendors/pull-reports.js';
import { KEY } from '../pulled.js';
import { anthropicBills } from '../vendor-bills-stand-in.js';
import { StandIn, Status, type VendorAnswers } from '../vendor-stand-in.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, LAST, loaded, rowsOf, Site } from './browser.js';

const atEnd = ending();
let site: Site | undefined;
afterAll(() => expect(site?.complaints ?? []).toEqual([]));

describe.runIf(hasBrowser)('vendors', () => {
  test('an owner sets one, and sees its last pulls with their faults, and what events have of its bill', async () => {
    const bills = anthropicBills(8, 30);
    // The report of messages is down.
    const answers: VendorAnswers = (request, self) =>
      request.url.pathname.endsWith('/messages') ? new Status(403) : bills(request, self);
    const vendor = await StandIn.start(7, answers, atEnd);
    const usage = Array.from({ length: 8 }, (_, days) =>
      event(`u${days}`, {
        ...{ type: 'model_usage', agent: 'claude-code', channel: 'log', model: 'claude-opus-4-5' },
        ...{ input_tokens: 9_000_000, output_tokens: 0, timestamp: `${addDays(LAST, -days)}T10:00:00Z` },
      }),
    );
    site = await Site.start(atEnd, { events: usage, settings: { DAYBOOK_VENDOR_HOSTS: vendor.host } });
    const { world } = site;
    const { key } = await site.key('owner', 'ada');
    const page = await site.signedIn(key, 'operations/vendors');
    await page.getByText('No vendor is pulled yet: set one below.').waitFor();
    await page.getByText('Nothing was pulled yet.').waitFor();
    await page.locator('select[name=vendor]').selectOption('github');
    await page.getByLabel('Account').waitFor();
    await page.locator('select[name=vendor]').selectOption('anthropic');
    await page.locator('input[name=key]').fill(KEY);
    await page.getByLabel('First day').fill(addDays(LAST, -9));
    await page.getByRole('button', { name: 'Set' }).click();
    await page.getByText('Anthropic API is pulled from the next night on.').waitFor();
    await page.getByText('key ***, from Jun 29 on, with bills').waitFor();
    expect(await page.content()).not.toContain(KEY);

    // Its address is the stand-in's, which the form doesn't ask for.
    const answer = await fetch(`${site.url}/api/v0/organization/vendors`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        vendors: [{ vendor: 'anthropic', key: KEY, url: vendor.url, since: addDays(LAST, -9) }],
      }),
    });
    expect(answer.status).toBe(200);
    vendor.now = world.now;
    const { store, config, clock } = world;
    await pullOrganization(
      { store, config, clock, key: new SecretKey(config), pause: async () => {} },
      'acme',
    );
    await page.reload();
    const fault =
      'Anthropic answers /v1/organizations/usage_report/messages with 403: give it a key that may read this report';
    await page.getByText(fault).waitFor();
    await page
      .getByRole('row', { name: /anthropic-costs/ })
      .locator('.state.ok')
      .waitFor();
    const faulty = page.getByRole('row', { name: /anthropic-messages/ });
    await faulty.locator('.state.warn').waitFor();
    expect(await faulty.textContent()).toMatch(/\d+ days/);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectSound(page);
      if (process.env.PICTURES_OF_VENDORS !== undefined)
        await page.screenshot({
          path: `${process.env.PICTURES_OF_VENDORS}/vendors-${width}.png`,
          fullPage: true,
        });
    }

    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${site.url}/trust?range=7d`);
    await loaded(page);
    const { data } = await site.api(
      key,
      `analytics/coverage?startDate=${addDays(LAST, -6)}&endDate=${LAST}&group_by=vendor`,
    );
    expect(data).toHaveLength(1);
    const [row] = data;
    expect(row).toMatchObject({ vendor: 'anthropic', agent: '', captured_usd: 7 * 45, vendor_tokens: null });
    expect(await rowsOf(page, 'vendor-bills')).toEqual({
      'Anthropic’s bill': [
        ...[row.month, row.days, row.billed_usd, row.gross_usd, row.captured_usd],
        ...[row.captured_cost_ratio, null],
      ],
    });
    await page.getByText(/^Anthropic’s agents: events have \d.* of what Anthropic billed in /).waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectSound(page);
      if (process.env.PICTURES_OF_VENDORS !== undefined)
        await page
          .locator('section', { has: page.locator('#vendor-bills-title') })
          .last()
          .screenshot({ path: `${process.env.PICTURES_OF_VENDORS}/bills-${width}.png` });
    }

    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${site.url}/operations/vendors`);
    await page.getByRole('button', { name: 'Remove Anthropic API' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No vendor is pulled yet: set one below.').waitFor();
  });
});
