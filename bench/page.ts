/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { Locator, Page } from 'playwright-core';
import { launch } from '../test/browser/chromium.js';
import { median } from './run-process.js';
import { startYear } from './year.js';

const ROUNDS = 5;

/** What a browser saw of a page since it began to load. */
interface Seen {
  /** Milliseconds until the largest part of the first screen was painted. */
  readonly paint: number;
  /** Bytes that came over the network. */
  readonly scripts: number;
  readonly answers: number;
  /** Milliseconds from the first request of the API to the end of its last answer. */
  readonly asking: number;
  readonly requests: number;
}

/** Until every chart has its rows, or has said why not. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelector('figure[data-chart]') !== null &&
      document.querySelector('figure[aria-busy=true]') === null,
  );
  if ((await page.locator('.problem').count()) > 0)
    throw new Error(`the page says: ${await page.locator('.problem').first().textContent()}`);
}

function seenBy(page: Page): Promise<Seen> {
  return page.evaluate(async () => {
    const paints = await new Promise<PerformanceEntry[]>((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries())).observe({
        type: 'largest-contentful-paint',
        buffered: true,
      });
    });
    const loads = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const answers = loads.filter(({ name }) => name.includes('/api/'));
    const bytesOf = (some: PerformanceResourceTiming[]) =>
      some.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    return {
      paint: paints.at(-1)?.startTime ?? Number.NaN,
      scripts: bytesOf(loads.filter(({ name }) => name.endsWith('.js'))),
      answers: bytesOf(answers),
      asking:
        Math.max(...answers.map(({ responseEnd }) => responseEnd)) -
        Math.min(...answers.map(({ startTime }) => startTime)),
      requests: answers.length,
    };
  });
}

/**
 * Clicks a link that filters the page. Answers the milliseconds from the click until every chart is drawn; what a test's driver does
 * before it clicks isn't among them.
 */
async function filteredBy(link: Locator): Promise<number> {
  const ms = await link.evaluate(async (element) => {
    const started = performance.now();
    const isBusy = () => document.querySelector('figure[aria-busy=true]') !== null;
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise((resolve) => requestAnimationFrame(resolve));
    };
    (element as HTMLElement).click();
    await until(isBusy);
    await until(() => !isBusy());
    return performance.now() - started;
  });
  await settled(link.page());
  return ms;
}

/** The overview of 10,000 users over 90 days, in a browser without a cache; each round asks for other days, which no answer in memory has. */
export async function page(root: string): Promise<void> {
  const service = await startYear(root);
  const browser = await launch();
  try {
    const seen: Seen[] = [];
    const clicks: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const context = await browser.newContext({
        baseURL: service.url,
        viewport: { width: 1280, height: 900 },
      });
      const signedIn = await context.request.post('/sign-in', {
        data: { key: service.key },
        headers: { origin: service.url },
      });
      if (!signedIn.ok()) throw new Error(`can't sign in: ${await signedIn.text()}`);
      const one = await context.newPage();
      const [from, to] = [10 + round, 99 + round].map((day) =>
        new Date(Date.parse('2026-01-01') + day * 86_400_000).toISOString().slice(0, 10),
      );
      await one.goto(`/?from=${from}&to=${to}`);
      await settled(one);
      seen.push(await seenBy(one));
      clicks.push(await filteredBy(one.locator('figure[data-chart=places] a').nth(round)));
      await context.close();
    }
    const say = (what: string, all: readonly number[], unit: string, bar: string) =>
      console.log(
        `${what}: median ${median(all).toFixed(0)} ${unit}, at most ${Math.max(...all).toFixed(0)} (bar: ${bar})`,
      );
    say(
      'largest contentful paint',
      seen.map(({ paint }) => paint),
      'ms',
      'at most 1000',
    );
    say(
      `${seen[0]?.requests} requests of the API together`,
      seen.map(({ asking }) => asking),
      'ms',
      'at most 1500',
    );
    say(
      'their answers',
      seen.map(({ answers }) => answers / 1000),
      'kB',
      'at most 300',
    );
    say(
      'JavaScript',
      seen.map(({ scripts }) => scripts / 1000),
      'kB',
      'at most 180',
    );
    say('a filter until every chart has it', clicks, 'ms', 'at most 1000');
  } finally {
    await browser.close();
    await service.stop();
  }
}
