import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';

const pages = ['.', 'docs', 'docs/decisions'].flatMap((folder) =>
  readdirSync(join(PACKAGE_ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(PACKAGE_ROOT, folder, name)),
);

/** A heading as code hosts spell it in an anchor. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The anchors of a page: its headings, and those that it sets itself. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
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

const COMMENT = /(?:^\s*(?:\/\*\*?|\*|\/\/|--)|\s(?:\/\/|--)\s)(.*)/;
const CITED =
  /(?<![\w/.:'-])((?:[\w.-]+\/)*[\w.-]+\.md|(?:src|sql|test|docs|data|web|bench|scripts)\/[\w./-]*\w)\b(?:, "([^"]+)")?/g;

test('comments name files that exist, by their paths, and headings that these have', () => {
  const files = ['src', 'sql', 'test', 'web/src', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(tsx?|js|sql|css)$/.test(path) && !/node_modules|otlp\/proto/.test(path))
      .map((path) => join(folder, path)),
  );
  const cited = files.flatMap((path) =>
    readFileSync(join(PACKAGE_ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const [, comment = ''] = COMMENT.exec(line) ?? [];
        return [...comment.matchAll(CITED)].map(([text, name = '', heading]) => ({
          text: `${path}:${index + 1}: ${text}`,
          page: join(PACKAGE_ROOT, name),
          heading,
        }));
      }),
  );
  expect(cited.length).toBeGreaterThan(50);
  const wrong = cited.filter(
    ({ page, heading }) =>
      !existsSync(page) || (heading !== undefined && !anchorsOf(page).includes(anchorOf(heading))),
  );
  expect(wrong.map(({ text }) => text)).toEqual([]);
});

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
