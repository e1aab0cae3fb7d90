import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readFunctions, readSql, readSqlFolder } from '../src/store/sql-text.js';
import { sharedWorld } from './ingest/event.js';

/**
 * Plays test/claims: for each function of sql/function and sql/engine, expressions and what they must give, as
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

function definedIn(text: string): string[] {
  return [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)/gm)].map(([, name]) => String(name)).sort();
}

const PRIMITIVES = definedIn(readSql('engine/duckdb.sql'));

test('each function has claims, and is written once unless the engines spell it in different ways', () => {
  expect(definedIn(readSql('engine/clickhouse.sql'))).toEqual(PRIMITIVES);
  expect(PRIMITIVES.length).toBeLessThanOrEqual(12);
  for (const { name, text } of readSqlFolder('function')) expect(definedIn(text)).toEqual([name]);
  expect([...functions].sort()).toEqual(definedIn(readFunctions()));
});

describe('the functions', () => {
  const shared = sharedWorld();

  for (const name of functions) {
    test(name, async () => {
      const claims = claimsOf(name);
      expect(claims.length).toBeGreaterThan(0);
      for (const [expression] of claims)
        expect(expression, 'a claim is about its function').toContain(`${name}(`);
      const rows = await shared.world.store.select(
        claims
          .map(
            ([expression, value], index) => `SELECT
              ${index} AS claim,
              CASE WHEN (${expression}) IS NOT DISTINCT FROM (${value}) THEN 1 ELSE 0 END AS holds,
              CAST((${expression}) AS VARCHAR) AS actual`,
          )
          .join('\nUNION ALL\n'),
      );
      expect(rows).toHaveLength(claims.length);
      for (const { claim, holds, actual } of rows) {
        const [expression, value] = claims[Number(claim)] ?? [];
        expect.soft(holds, `${expression} is ${value}, not ${actual}`).toBe(1);
      }
    });
  }
});
