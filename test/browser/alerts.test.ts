import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkOrganization, sendDue } from '../../src/alerts/alarm.js';
import { createKey } from '../../src/api/api-keys.js';
import { SecretKey } from '../../src/controls/secret-key.js';
import { buildApp } from '../../src/service/app.js';
import { ending, event } from '../world.js';
import { expectSound, hasBrowser, Site } from './browser.js';

const atEnd = ending();
let site: Site;
let key: string;
let address: string;
const received: string[] = [];
let status = 200;

beforeAll(async () => {
  if (!hasBrowser) return;
  const receiver = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    received.push(Buffer.concat(pieces).toString());
    response.writeHead(status).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  atEnd(() => void receiver.close());
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  address = `http://${host}/services/T000`;
  site = await Site.start(atEnd, { events: [event('1')], settings: { DAYBOOK_ALERT_HOSTS: host } });
  ({ key } = await createKey(
    site.world.store,
    { orgId: 'acme', role: 'owner', userId: 'ada' },
    site.world.now,
  ));
});
afterAll(() => expect((site?.complaints ?? []).filter((text) => !/status of 400/.test(text))).toEqual([]));

describe.runIf(hasBrowser)('alerts in Operations', () => {
  test('an owner adds a way, tests it, sees what is on and not delivered, and mutes it', async () => {
    const page = await site.signedIn(key, 'operations/alerts');
    await page.getByText('Nothing is on.').waitFor();
    await page.getByLabel('Name').fill('channel');
    await page.getByLabel('Address').fill(address);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Alerts go to channel: press Test to see one arrive.').waitFor();
    await page.getByRole('button', { name: 'Test channel' }).click();
    await page.getByText('The test went to channel.').waitFor();
    expect(received).toHaveLength(1);
    status = 500;
    await page.getByRole('button', { name: 'Test channel' }).click();
    await page.getByText('The test did not arrive: it answers 500.').waitFor();

    // A day that nobody builds, and a receiver that is down for a day.
    const { world } = site;
    await world.send([event('2', { timestamp: '2026-06-01T10:00:00Z' })]);
    const app = buildApp(world);
    const { store, config, clock } = world;
    const deps = { store, config, clock, app, key: new SecretKey(config) };
    await checkOrganization(deps, 'acme');
    const before = world.now;
    for (let attempt = 0; attempt < 7; attempt += 1) {
      await sendDue(deps);
      world.now += 13 * 3_600_000;
    }
    // Nobody stays signed in for so long.
    world.now = before;
    await page.reload();
    await page.getByText("1 day with events isn't built, the first is Jun 1").waitFor();
    const again = page.getByRole('button', { name: 'Try again: alerts to channel' });
    await again.waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectSound(page);
    }
    status = 200;
    await again.click();
    await page.getByText('It is sent again within half a minute.').waitFor();
    await sendDue(deps);
    expect(received.at(-1)).toContain('Jun 1');

    await page.getByLabel('What').selectOption('unbuilt_day');
    await page.getByLabel('Until').fill('2026-12-31');
    await page.getByLabel('Why').fill('moves house');
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText('Day that isn’t built is muted until 2026-12-31: moves house').waitFor();
    await page.getByRole('button', { name: 'Remove channel' }).click();
    await page.getByText('Nobody is told yet: add a way below.').waitFor();
    await app.close();
  });
});
