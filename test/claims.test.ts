import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readSql } from '../src/store/sql.js';
import { sharedWorld } from './ingest/event.js';

/**
 * Plays test/claims: for each function that the engines spell differently, expressions and what they must give, as
 * `expression -> value;` with lines of comment. Both sides are SQL, in the one spelling that every store reads.
 */
const CLAIMS = fileURLToPath(new URL('claims/', import.meta.url));

const functions = readdirSync(CLAIMS).map((file) => file.replace(/\.sql$/, ''));

function claimsOf(name: string): [expression: string, value: string][] {
  const text = readFileSync(join(CLAIMS, `${name}.sql`), 'utf8').replaceAll(/^--.*\n/gm, '');
  return text
    .split(/;\n/)
    .filter((claim) => claim.trim() !== '')
    .map((claim) => {
      const at = claim.lastIndexOf(' -> ');
      return [claim.slice(0, at).trim(), claim.slice(at + ' -> '.length).trim()];
    });
}

function definedIn(engine: string): string[] {
  const text = readSql(`engine/${engine}.sql`);
  return [...text.matchAll(/^CREATE OR REPLACE (?:MACRO|FUNCTION) (\w+)/gm)].map(([, name]) => String(name));
}

test('both engines have the same functions, and each has claims', () => {
  expect(definedIn('clickhouse').sort()).toEqual(definedIn('duckdb').sort());
  expect([...functions].sort()).toEqual(definedIn('duckdb').sort());
});

describe('the functions of the engines', () => {
  const shared = sharedWorld();

  for (const name of functions) {
    test(name, async () => {
      const claims = claimsOf(name);
      expect(claims.length).toBeGreaterThan(0);
      for (const [expression, value] of claims) {
        expect(expression, 'a claim is about its function').toContain(`${name}(`);
        const [row] = await shared.world.store.select(
          `SELECT
            CASE WHEN (${expression}) IS NOT DISTINCT FROM (${value}) THEN 1 ELSE 0 END AS holds,
            CAST((${expression}) AS VARCHAR) AS actual`,
        );
        expect.soft(row?.holds, `${expression} is ${value}, not ${row?.actual}`).toBe(1);
      }
    });
  }
});
