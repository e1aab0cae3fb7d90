/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import AxeBuilder from 'axe-core';
import type { Browser, BrowserContextOptions, Download, Page } from 'playwright-core';
import { expect } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import type { Role } from '../../src/api/roles.js';
import { DaySchema } from '../../src/day.js';
import { Lake } from '../../src/lake/data-lake.js';
import { buildApp } from '../../src/service/app.js';
import { type AtEnd, World } from '../world.js';
import { CHROMIUM, launch } from './chromium.js';
import { northwind } from './northwind.js';

/** The newest day of the organization in these tests. */
export const LAST = DaySchema.parse('2026-07-08');

/** How large it is. */
export const SAMPLE = { people: 18, days: 64 } as const;

/** Whether the tests of a browser can run. CI fails without one. */
export const hasBrowser = CHROMIUM !== undefined || process.env.CI !== undefined;
if (!hasBrowser)
  console.warn(
    'The tests of the page are skipped: install chromium ("apt-get install chromium-headless-shell") to run them.',
  );

let browser: Promise<Browser> | undefined;

/** A service with the page, and browsers that look at it. */
export class Site {
  /** What pages said that they shouldn't: errors, refusals of the policy, requests to elsewhere. */
  readonly complaints: string[] = [];

  private constructor(
    readonly world: World,
    readonly url: string,
    private app: ReturnType<typeof buildApp>,
    private readonly atEnd: AtEnd,
  ) {
    atEnd(() => this.app.close());
  }

  /** Starts a service, with the days of an invented organization unless there are other events. */
  static async start(
    atEnd: AtEnd,
    { events, settings = {} }: { events?: readonly object[]; settings?: Record<string, string> } = {},
  ): Promise<Site> {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0', ...settings }, atEnd);
    await world.send(events ?? northwind(LAST, SAMPLE));
    await world.build();
    const app = buildApp(world);
    const url = await app.listen({ host: '127.0.0.1', port: Number(settings.DAYBOOK_PORT ?? 0) });
    return new Site(world, url, app, atEnd);
  }

  /** Stops the service; `startAgain` lets another one serve the same data at the same address. */
  async stop(): Promise<void> {
    this.app.server.closeAllConnections();
    await this.app.close();
  }

  async startAgain(): Promise<void> {
    this.app = buildApp(this.world);
    await this.app.listen({ host: '127.0.0.1', port: Number(new URL(this.url).port) });
  }

  /** Publishes what is built, as SQL reads it. */
  async publish(): Promise<void> {
    await new Lake(this.world.config, this.world.clock).publish(this.world.store, []);
  }

  async key(role: Role, userId?: string): Promise<{ key: string; key_id: string }> {
    return createKey(this.world.store, { orgId: 'acme', role, userId }, this.world.now);
  }

  /** A browser that nobody uses yet, at the page. */
  async open(path = '', options: BrowserContextOptions = {}): Promise<Page> {
    browser ??= launch();
    const started = await browser;
    this.atEnd(async () => {
      await context.close();
    });
    const context = await started.newContext({
      locale: 'en-US',
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    // A limit is for pages that hang.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // The first request of a browser that isn't signed in is a 401.
      if (message.type() === 'error' && !/status of (401|403)/.test(message.text()))
        this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(`${this.url}/`) && !/^(blob|data):/.test(request.url()))
        this.complaints.push(`asks ${request.url()}`);
    });
    await page.goto(`${this.url}/${path}`);
    return page;
  }

  /** A browser that is signed in with a key. */
  async signedIn(key: string, path = '', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(path, options);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in with this key' }).click();
    await page.waitForSelector('.head');
    return page;
  }

  /** What the API answers for a key. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  async api(key: string, path: string): Promise<any> {
    const answer = await fetch(`${this.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status, path).toBe(200);
    return answer.json();
  }
}

/** Waits until every chart of the page has its rows, and is drawn. */
export async function loaded(page: Page): Promise<void> {
  await page.waitForSelector('figure[data-chart]');
  await page.waitForFunction(
    () => document.querySelector('[aria-busy=true]') === null && document.querySelector('.problem') === null,
  );
  await drawn(page);
}

/** Waits until the charts are drawn whose rows are there: the page draws them after its next frame. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
}

/** The rows of a chart: the name of each, and its numbers. */
export async function rowsOf(page: Page, chart: string): Promise<Record<string, (number | string | null)[]>> {
  return page.locator(`figure[data-chart="${chart}"]`).evaluate((figure) => {
    const rows = [...figure.querySelectorAll('table.rows tbody tr')];
    return Object.fromEntries(
      rows.map((row) => [
        row.querySelector('th')?.textContent ?? '',
        [...row.querySelectorAll('td')].map(({ dataset: { value } }) =>
          value === undefined ? null : Number.isNaN(Number(value)) ? value : Number(value),
        ),
      ]),
    );
  });
}

/** Fails where a column of a chart isn't as high, or a bar of a list not as long, as its number in the chart's table says. */
export async function expectMarks(page: Page, chart: string): Promise<void> {
  const figure = page.locator(`figure[data-chart="${chart}"]`);
  const rows = Object.values(await rowsOf(page, chart));
  const names = (await figure.locator('table.rows thead th').allTextContents()).slice(1);
  const columns = await figure.locator('.columns rect').evaluateAll((all) =>
    all.map((one) => ({
      name: (one as SVGElement).dataset.name ?? '',
      length: Number(one.getAttribute('height')),
    })),
  );
  const bars = await figure
    .locator('.list .bar i')
    .evaluateAll((all) => all.map((one) => ({ name: 'bars', length: one.getBoundingClientRect().width })));
  const drawn = columns.length > 0 ? columns : bars;
  const numbers =
    columns.length > 0
      ? names.flatMap((name, index) =>
          rows.flatMap((cells) => (Number(cells[index]) > 0 ? { name, value: Number(cells[index]) } : [])),
        )
      : rows.slice(0, bars.length).map(([value]) => ({ name: 'bars', value: Number(value) }));
  const expected = numbers.filter(({ name }) => drawn.some((one) => one.name === name));
  expect(drawn.length, chart).toBeGreaterThan(1);
  expect(drawn.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
  const longest = Math.max(...drawn.map(({ length }) => length));
  const scale = longest / Math.max(...expected.map(({ value }) => value));
  // A gap between the parts of a stack is half a pixel.
  for (const [index, { value }] of expected.entries())
    expect(Math.abs((drawn[index]?.length ?? 0) - value * scale), `${chart} ${index}`).toBeLessThan(1);
}

/** The rows of a chart's CSV, as a spreadsheet gets them. */
export async function csvOf(page: Page, chart: string): Promise<string> {
  const panel = page.locator('main section', { has: page.locator(`figure[data-chart="${chart}"]`) });
  await panel.locator('.dots summary').click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    panel.locator('.dots').getByRole('button', { name: 'CSV' }).click(),
  ]);
  return (await bytesOf(file)).toString();
}

/** What a browser has saved. */
export async function bytesOf(file: Download): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** By how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth));
}

/** Fails where a page has faults in either colour scheme, or is wider than a phone, once nothing on it is awaited. */
export async function expectSound(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 900 };
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(
    () => document.querySelector('[aria-busy="true"]') === null && document.getAnimations().length === 0,
  );
  // Schemes differ in their colours alone.
  for (const [colorScheme, rule] of [['light'], ['dark', 'color-contrast']] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await faultsOf(page, rule), page.url()).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await overflowOf(page), page.url()).toBe(0);
  await page.setViewportSize(size);
}

/** What axe finds wrong on a page, by one of its rules or by all. */
export async function faultsOf(page: Page, rule?: string): Promise<string[]> {
  await page.evaluate(AxeBuilder.source);
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Fault[] }> } };
    interface Fault {
      id: string;
      nodes: { html: string; failureSummary: string }[];
    }
    const { violations } = await axe.run(only === undefined ? {} : { runOnly: [only] });
    return violations.flatMap(({ id, nodes }) =>
      nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`),
    );
  }, rule);
}
