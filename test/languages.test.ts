import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { languageTable } from '../scripts/languages.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';

test('data/languages.json is what the package of languages gives: else run node scripts/languages.js', () => {
  const file = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'data', 'languages.json'), 'utf8'));
  expect(file).toEqual(languageTable());
});

test('well-known extensions and names have the languages that everybody expects', () => {
  const { extensions, names } = languageTable();
  const known = {
    '.md': 'Markdown',
    '.sql': 'SQL',
    '.rs': 'Rust',
    '.h': 'C',
    '.ts': 'TypeScript',
    '.tsx': 'TypeScript',
    '.cs': 'C#',
    '.php': 'PHP',
  };
  expect(extensions).toMatchObject(known);
  expect(names).toMatchObject({ Makefile: 'Makefile', Dockerfile: 'Dockerfile' });
});
