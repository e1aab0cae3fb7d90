import { join } from 'node:path';
import { expect } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';

/**
 * Holds that a page of docs/ which a test generates is up to date. A failing test leaves the page as it is;
 * `npm run docs` runs all tests that call this, by the "docs/" in their names, and writes their pages.
 */
export function expectPage(name: string, text: string): Promise<void> {
  return expectFile(join('docs', name), text);
}

/** The same of a file that is generated elsewhere. */
export async function expectFile(name: string, text: string): Promise<void> {
  const path = join(PACKAGE_ROOT, name);
  await expect(text, `${name} is out of date: run "npm run docs"`).toMatchFileSnapshot(path);
}
