import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasCredentials, withoutCredentials } from '../src/network/url-credentials.js';
import { readFunctions } from '../src/store/sql-text.js';

/** The claims of without_credentials, which removes the same in SQL. */
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

test('so is any text that has pieces of addresses', async () => {
  const often = ['http://', 'ssh://', 'git@', '?token=', '&a%5F=', ':', '@', '%3a', '/', ' ', 'a'];
  const piece = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...often) },
    fc.constantFrom(
      ...['HTTPS', 'git+', 'a'.repeat(31), '1', '://', '%3A', '%', '.', '-', '?', '&', '=', '#', ';', 'key'],
      ...['X-Token', 'passwd', 'ä', '\n', '\u00a0', '\v', '"', "'", '(', '<', '>', '\\'],
    ),
  );
  const text = fc.string({ unit: piece, minLength: 1, maxLength: 14, size: 'max' });
  const texts = fc.sample(text, { numRuns: 20_000, seed: 7 });
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run(readFunctions());
  const read = await connection.runAndReadAll(
    'SELECT without_credentials(CAST(text AS VARCHAR)) FROM (SELECT unnest(from_json($texts, \'["VARCHAR"]\')) AS text)',
    { texts: JSON.stringify(texts) },
  );
  const left = read.getRows().map(([text]) => text);
  connection.closeSync();
  expect(left.filter((text, n) => text !== texts[n]).length).toBeGreaterThan(1000);
  expect(texts.map(withoutCredentials)).toEqual(left);
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
