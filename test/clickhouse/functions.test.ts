import { describe, expect, onTestFinished, test } from 'vitest';
import {
  functionNames,
  readClickHouseFunctions,
  withFunctionNames,
} from '../../src/store/clickhouse/clickhouse-functions.js';
import { functionsIn, readSqlFolder } from '../../src/store/sql-text.js';
import { event, World } from '../world.js';
import { databaseOf } from './engine.js';

const nameOf = (name: string) => functionNames().get(name) ?? '';

describe('the functions on a server', () => {
  test('are called by the names that have their checksum, and nothing else is renamed', () => {
    expect(nameOf('ratio')).toMatch(/^ratio_[0-9a-f]{8}$/);
    expect(
      withFunctionNames(
        `SELECT ratio(a, p50 (b)), ratio, 'ratio(', 'it''s ratio(' || "ratio(", my_ratio(1) -- ratio(
        /* ratio( */ FROM t`,
      ),
    ).toBe(
      `SELECT ${nameOf('ratio')}(a, ${nameOf('p50')} (b)), ratio, 'ratio(', 'it''s ratio(' || "ratio(", my_ratio(1) -- ratio(
        /* ratio( */ FROM t`,
    );
  });

  test('are made once, and use each other by these names', () => {
    const made = withFunctionNames(readClickHouseFunctions());
    expect(made).not.toContain('OR REPLACE');
    expect(made.match(/^CREATE FUNCTION IF NOT EXISTS \w+_[0-9a-f]{8} AS /gm)).toHaveLength(
      functionNames().size,
    );
    const p90 = functionsIn(readClickHouseFunctions()).find(({ text }) => text.includes(' FUNCTION p90 AS'));
    expect(withFunctionNames(p90?.text ?? '')).toContain(`${nameOf('percentile')}(0.9`);
  });

  test('have no name of a table or view, behind which a list of columns can stand', () => {
    const folders = ['answer', 'change', 'clickhouse', 'rollup', 'schema'];
    const tables = folders
      .flatMap((folder) => readSqlFolder(folder))
      .map(({ name }) => name.replace(/^\d+-/, ''));
    expect(tables.filter((name) => functionNames().has(name))).toEqual([]);
  });

  test('stay right when another version has its own, and are made where they are missing', async () => {
    const other = await databaseOf('another version', onTestFinished)();
    const plain = ['ratio', 'p50', 'p90', 'tool_key', 'model_key', 'instant', 'text_field', 'digest'];
    for (const name of plain)
      await other.command({ query: `CREATE OR REPLACE FUNCTION ${name} AS (a, b) -> 0` });
    await other.command({ query: `DROP FUNCTION IF EXISTS ${nameOf('vendor_of')}` });
    onTestFinished(async () => {
      for (const name of plain) await other.command({ query: `DROP FUNCTION ${name}` });
    });
    const world = await World.create();
    await world.send([event('1', { type: 'tool_call', tool_name: 'Read', success: true })]);
    expect(await world.build()).toContain('2026-06-10');
    expect(await world.store.select('SELECT tool_key FROM user_tools')).toEqual([{ tool_key: 'Read' }]);
    expect(
      await world.store.select(`SELECT name FROM system.functions WHERE name = '${nameOf('vendor_of')}'`),
    ).toHaveLength(1);
  });
});
