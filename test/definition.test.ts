import { expect, test } from 'vitest';
import { addDays, type Day } from '../src/day.js';
import { rowsOf } from '../src/store/clickhouse/clickhouse-schema.js';
import { meaningOf, readDefinitions } from '../src/store/definition.js';
import { readFunctions, readSqlFolder, tokensOf } from '../src/store/sql-text.js';
import { staleDays } from '../src/store/stale-days.js';
import { answersOf } from './laws/law.js';
import { storeName, World } from './world.js';

test.each([
  ['SELECT a - b FROM t', 'SELECT a -- less\n  -\n\tb /* of\nthe */ FROM t -- "all'],
  ["SELECT 'it''s -- no comment'", "-- It's one.\nSELECT 'it''s -- no comment'"],
])('%s means the same with other comments and white space', (one, other) => {
  expect(meaningOf(one)).toBe(meaningOf(other));
});

test.each([
  ['SELECT a - b FROM t', 'SELECT a + b FROM t'],
  ["SELECT '--' || a", "SELECT '-- ' || a"],
  ["SELECT 'it''s /* no comment */'", "SELECT 'it''s'"],
  ['SELECT "a b"', 'SELECT "a  b"'],
  ['SELECT ab', 'SELECT a b'],
  ['n BIGINT NOT NULL', 'n BIGINT'],
])('%s does not mean %s', (one, other) => {
  expect(meaningOf(one)).not.toBe(meaningOf(other));
});

test('a quote that does not end as SQL ends it is refused', () => {
  expect(() => meaningOf("SELECT 'it\\'s'")).toThrow('a quote does not end');
});

test('days depend on the functions that their queries use, and on no others', () => {
  const functions = readFunctions();
  const days = (from: string, to: string) => {
    expect(functions).toContain(from);
    return readDefinitions(functions.replace(from, to)).days;
  };
  const present = readDefinitions(functions).days;
  expect(days('WHEN d = 0 THEN 0.0', 'WHEN d = 0 THEN 1.0')).not.toBe(present);
  expect(days("replace(value, '\"', '\"\"')", 'value')).not.toBe(present);
  // Costs are computed when somebody asks for them.
  expect(days('WHEN tokens = 0', 'WHEN tokens = 1')).toBe(present);
  // How often an engine computes a part changes no row.
  expect(days('WHEN d = 0 THEN 0.0', 'MATERIALIZED WHEN d = 0 THEN 0.0')).toBe(present);
});

/** The CTEs of a text that it reads more than once, though ClickHouse computes them each time. */
function computedAgain(text: string): string[] {
  const tokens = tokensOf(text);
  const follows = (place: number, ...words: string[]) => words.includes(tokens[place - 1] ?? '');
  return tokens
    .filter(
      (_, place) => tokens[place + 1] === 'AS' && tokens[place + 2] === '(' && follows(place, 'WITH', ','),
    )
    .filter(
      (cte) => tokens.filter((token, place) => token === cte && follows(place, 'FROM', 'JOIN')).length > 1,
    );
}

test.each(['build', 'daily'])('what a query of sql/%s reads more than once is computed once', (folder) => {
  expect(computedAgain('WITH a AS (SELECT 1), b AS (SELECT 2 FROM a) SELECT * FROM a JOIN b')).toEqual(['a']);
  for (const { name, text } of readSqlFolder(folder)) expect(computedAgain(text), name).toEqual([]);
});

test('every answer is served while an upgrade builds 300 days again', async () => {
  const first = '2025-09-01' as Day;
  const days = Array.from({ length: 300 }, (_, index) => addDays(first, index));
  const last = addDays(first, days.length - 1);
  const older = await World.create();
  older.now = Date.parse(`${addDays(last, 1)}T12:00:00Z`);
  await older.send(
    days.map((day) => ({
      event_id: `call-${day}`,
      type: 'tool_call',
      tool_name: 'mcp__github__search',
      timestamp: `${day}T10:00:00Z`,
      user_id: 'ada',
      session_id: `session-${day}`,
    })),
  );
  await older.build();
  const ask = (world: World) =>
    answersOf(world, 'acme', { from: first, to: last }, (family) => family !== 'quality');
  const before = await ask(older);
  // Its table of users has one column less.
  await older.age();
  const users = storeName() === 'DuckDB' ? 'users' : rowsOf('users');
  await older.store.run([{ sql: `ALTER TABLE ${users} DROP COLUMN mcp_calls` }]);
  await older.store.close();

  const world = await World.create({ DAYBOOK_DATA: older.config.data });
  world.now = older.now;
  expect(await staleDays(world.store, last)).toHaveLength(days.length);
  const others = (answers: object) => JSON.stringify(answers).replaceAll(/"mcp_calls":\d+/g, '');
  let isBuilding = true;
  const built = world.build().finally(() => {
    isBuilding = false;
  });
  let asked = 0;
  for (; isBuilding; asked += 1) expect(others(await ask(world))).toBe(others(before));
  expect(await built).toEqual(days);
  expect(asked).toBeGreaterThan(1);
  expect(await ask(world)).toEqual(before);
});
