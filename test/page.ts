import { join } from 'node:path';
import { expect } from 'vitest';
import { PACKAGE_ROOT } from '../src/config.js';

/**
 * Holds that a page of docs/ which a test generates is up to date. A failing test leaves the page as it is; the same command
 * with `-u` writes it.
 */
export async function expectPage(name: string, text: string): Promise<void> {
  const path = join(PACKAGE_ROOT, 'docs', name);
  await expect(text, `docs/${name} is out of date: run this test again with -u`).toMatchFileSnapshot(path);
}
