import { expect, test } from 'vitest';
import { readFunctions, readSql } from '../src/store/sql-text.js';
import { sharedWorld } from './ingest/event.js';

/** Plays the claims in sql/source/functions.sql: comments under a function, as `expression -> value;`. */
const text = readSql('source/functions.sql');
const FUNCTIONS = text.split(/^CREATE OR REPLACE MACRO (?=\w+\()/m).slice(1);

const shared = sharedWorld();

for (const definition of FUNCTIONS) {
  const [name = ''] = /^\w+/.exec(definition) ?? [];
  test(name, async () => {
    const claims = [...definition.matchAll(/^-- (.*) -> (.*);$/gm)];
    expect(claims.length).toBeGreaterThan(0);
    for (const [, expression, value] of claims) {
      expect(expression, 'a claim is about its function').toContain(`${name}(`);
      const [row] = await shared.world.store.select(
        `SELECT (${expression}) IS NOT DISTINCT FROM (${value}) AS holds, CAST((${expression}) AS VARCHAR) AS actual`,
      );
      expect.soft(row?.holds, `${expression} is ${value}, not ${row?.actual}`).toBe(true);
    }
  });
}

test('no function of sources takes the name of another one', () => {
  const namesIn = (sql: string) =>
    [...sql.matchAll(/^CREATE OR REPLACE (?:FUNCTION|MACRO) (\w+)/gm)].map(([, name]) => name);
  const names = [...namesIn(readFunctions()), ...namesIn(text)];
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(namesIn(readFunctions()).length).toBeGreaterThan(10);
});
