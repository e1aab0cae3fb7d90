import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';

const pages = ['.', 'docs', 'docs/decisions'].flatMap((folder) =>
  readdirSync(join(PACKAGE_ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(PACKAGE_ROOT, folder, name)),
);

/** The anchors of a page: its headings as code hosts spell them, and those that it sets itself. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => String(id))];
}

test.each(pages.map((page) => [relative(PACKAGE_ROOT, page), page]))(
  '%s: every link leads somewhere',
  (_, page) => {
    const broken = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path);
        if (!existsSync(target)) return true;
        return anchor !== undefined && !(statSync(target).isFile() && anchorsOf(target).includes(anchor));
      })
      .map(([link]) => link);
    expect(broken).toEqual([]);
  },
);

test('docs/security.md names tests that exist', () => {
  const folder = join(PACKAGE_ROOT, 'docs');
  const named = [
    ...readFileSync(join(folder, 'security.md'), 'utf8').matchAll(/\["([^"]+)"\]\(([^)]+\.test\.ts)\)/g),
  ];
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter(
    ([, name = '', path = '']) => !readFileSync(join(folder, path), 'utf8').includes(name),
  );
  expect(missing.map(([link]) => link)).toEqual([]);
});
