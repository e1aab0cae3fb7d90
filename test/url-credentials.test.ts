import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasCredentials, withoutCredentials } from '../src/url-credentials.js';

/** The claims of without_credentials, which holds the same expressions in SQL. */
const claims = readFileSync(new URL('claims/without_credentials.sql', import.meta.url), 'utf8');
const CASES = [...claims.matchAll(/^without_credentials\('(.*)'\) -> '(.*)';$/gm)].map(([, ...texts]) =>
  texts.map((text) => String(text).replaceAll("''", "'")),
);

test('a text without credentials is the same in TypeScript as in SQL', () => {
  expect(CASES.length).toBeGreaterThan(20);
  for (const [text = '', left] of CASES) {
    expect(withoutCredentials(text)).toBe(left);
    expect(hasCredentials(text)).toBe(text !== left);
    // There is nothing left to remove.
    expect(hasCredentials(withoutCredentials(text))).toBe(false);
  }
});

test('an address with a quote or bracket in its password has credentials', () => {
  for (const address of [
    'https://ci:SE"CRET@host/x.git',
    'https://SE<CRET@host/x.git',
    'ssh://git:SE>CRET@host/x.git',
  ])
    expect(hasCredentials(address), address).toBe(true);
  for (const address of ['ssh://git@host/x.git', 'https://host/a"@b.git', 'git@host:x.git'])
    expect(hasCredentials(address), address).toBe(false);
});
