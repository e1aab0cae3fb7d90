import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Debian's packages of it: the one without windows draws the same pages in half the time. */
const NAMES = ['chromium-headless-shell', 'chromium'];

/** Where it is; undefined where there is none. */
export const CHROMIUM = NAMES.flatMap((name) =>
  (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
).find((path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

/** Starts it. Throws where there is none. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    timeout: 300_000,
  });
}
