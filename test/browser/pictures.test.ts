import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { event } from '../world.js';
import { LAST, loaded, Site } from './browser.js';
import { northwind } from './northwind.js';

/**
 * Makes docs/pictures, which people look at after a change of the page: PICTURES=1 npx vitest run --project Page -t pictures
 * It needs Debian's packages pngquant and webp.
 */
const FOLDER = join(PACKAGE_ROOT, 'docs', 'pictures');
const MOST_BYTES = 1_000_000;
const PAGES: Readonly<Record<string, string>> = {
  overview: '',
  people: 'people',
  person: 'people?name=copper-finch',
  repositories: 'repositories',
  models: 'models',
  tools: 'tools',
  trust: 'trust',
  sql: `sql?sql=${encodeURIComponent(`SELECT day, agent, sum(tool_calls) AS tool_calls
FROM session_parts
WHERE day > CAST($day AS DATE) - 30
GROUP BY day, agent
ORDER BY day, agent`)}&$day=${LAST}`,
  operations: 'operations',
};
const COMPUTERS = [
  { name: 'build-1', remoteUser: 'ada', repos: ['https://github.com/northwind/api'] },
  { name: 'build-2', remoteUser: 'ada', repos: ['https://github.com/northwind/web'], autoInstallDeps: true },
  { name: 'review', remoteUser: 'grace', hostId: '5b2f6a34-9f0e-4f0b-8a59-2d1c5a1f7c11' },
];

/** Waits until a page has what its picture shows. */
async function ready(name: string, page: Page): Promise<void> {
  if (name === 'operations') return page.locator('[data-computer=review]').waitFor();
  if (name === 'sql') await page.getByRole('button', { name: 'Run' }).click();
  await loaded(page);
}

/** A picture of all of a page, as WebP without loss in 24 colours: text stays sharp, in a sixth of a PNG. */
async function pictureOf(page: Page): Promise<Buffer> {
  const png = await page.screenshot({ fullPage: true, animations: 'disabled' });
  const few = execFileSync('pngquant', ['--nofs', '24', '-'], { input: png });
  return execFileSync('cwebp', '-quiet -lossless -m 6 -q 100 -o - -- -'.split(' '), { input: few });
}

test.runIf(process.env.PICTURES !== undefined)('pictures of every page', async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const names: string[] = [];
  const keep = async (name: string, page: Page) => {
    const path = join(FOLDER, `${name}.webp`);
    writeFileSync(path, await pictureOf(page));
    names.push(path);
    await page.context().close();
  };
  const site = await Site.start(onTestFinished, { events: northwind(LAST, { people: 60, days: 75 }) });
  const nobody = await Site.start(onTestFinished, { events: [] });
  // Lines that are rejected, and an event that comes after its day was built.
  const at = (daysAgo: number) => ({ timestamp: `${addDays(LAST, -daysAgo)}T11:00:00Z` });
  await site.world.send([
    ...Array.from({ length: 26 }, (_, index) =>
      event(`broken-${index}`, { type: 'tool_call', ...at((index * index) % 23) }),
    ),
    ...Array.from({ length: 9 }, (_, index) =>
      event(`other-${index}`, { type: 'no_such_type', ...at(index % 4) }),
    ),
    event('late', { user_id: 'amber-finch', session_id: 'late', agent: 'codex', ...at(12) }),
  ]);
  site.world.now += 60_000;
  await site.world.build();
  await site.publish();
  const { key } = await site.key('owner', 'ada');
  for (const computer of COMPUTERS) {
    const answer = await fetch(`${site.url}/api/v0/computers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(computer),
    });
    expect(answer.status).toBe(201);
  }
  const newcomer = await nobody.key('owner');
  const all = Object.keys(PAGES);
  const looks = [
    { width: 390, colorScheme: 'light', pages: all },
    { width: 1280, colorScheme: 'light', pages: all },
    { width: 1280, colorScheme: 'dark', pages: ['overview'] },
    { width: 1920, colorScheme: 'light', pages: ['overview'] },
  ] as const;
  for (const { width, colorScheme, pages } of looks) {
    const options = { colorScheme, viewport: { width, height: 800 } };
    const end = `${width}${colorScheme === 'dark' ? '-dark' : ''}`;
    for (const name of pages) {
      const page = await site.signedIn(key, PAGES[name], options);
      await ready(name, page);
      await keep(`${name}-${end}`, page);
    }
    if (pages !== all) continue;
    const form = await site.open('', options);
    await form.getByLabel('API key').waitFor();
    await keep(`sign-in-${end}`, form);
    const empty = await nobody.signedIn(newcomer.key, '', options);
    await empty.getByRole('heading', { name: 'No events yet: send some' }).waitFor();
    await keep(`empty-${end}`, empty);
  }
  expect(names.reduce((sum, path) => sum + statSync(path).size, 0)).toBeLessThanOrEqual(MOST_BYTES);
});
