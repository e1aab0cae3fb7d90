import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { columnsOf, LAKE_TABLES, type LakeTable } from '../src/lake/lake-paths.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import type { TableText } from '../src/store/table-text.js';
import { readTables } from '../src/store/tables.js';
import { expectPage } from './page.js';
import { ending, World } from './world.js';

const atEnd = ending();

const isPublished = (name: string) => (LAKE_TABLES as readonly string[]).includes(name);

/** The columns of each table, as the database has them. */
const columns = new Map<string, { name: string; type: string; isNullable: boolean }[]>();

beforeAll(async () => {
  const { store } = await World.create({}, atEnd);
  const rows = await store.select(
    'SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal ORDER BY column_index',
  );
  for (const { table_name, column_name, data_type, is_nullable } of rows) {
    const column = { name: String(column_name), type: String(data_type), isNullable: is_nullable === true };
    columns.set(String(table_name), [...(columns.get(String(table_name)) ?? []), column]);
  }
});

test('no daily query looks back further than the trailing windows, but for sessions that were active on the day', async () => {
  const { store } = await World.create();
  const [reach] = await store.select('SELECT max(days_back) AS days FROM trailing_days');
  for (const { name, text } of readSqlFolder('daily')) {
    const [, days] =
      /^-- Looks back: (?:(\d+) days|to the first day, for the sessions that started earlier)\.$/m.exec(
        text,
      ) ?? [];
    if (days !== undefined) expect(Number(days), name).toBeLessThanOrEqual(Number(reach?.days));
    expect(text, name).toMatch(/^-- Looks back: /m);
  }
});

test('every table says what a row is, and its grain and comments are of columns that it has', () => {
  const { events, days, references, views } = readTables();
  expect(days.map(({ name }) => name)).toEqual([...BUILT_TABLES].sort());
  expect(views.length).toBeGreaterThan(10);
  for (const { name } of days)
    expect(
      columns.get(name)?.filter(({ isNullable }) => isNullable),
      name,
    ).toEqual([]);
  for (const { name, about, grain, comments } of [...events, ...days, ...references, ...views]) {
    const names = columns.get(name)?.map((column) => column.name);
    if (isPublished(name))
      expect(columnsOf(name as LakeTable)).toEqual(
        columns.get(name)?.map(({ type, ...column }) => ({
          ...column,
          type: type.replace('TIMESTAMP_MS', 'TIMESTAMP(3)'),
        })),
      );
    expect(about, name).toMatch(/^One row is one .*[.]$/);
    expect(grain.length, name).toBeGreaterThan(0);
    expect(names, name).toEqual(expect.arrayContaining([...grain, ...comments.keys()]));
    // Every comment of the text that stands behind something is one of a column.
    const made = readSqlFolder('change').find((change) => change.text.includes(`CREATE TABLE ${name} (`));
    const text = made?.text ?? readFileSync(join(PACKAGE_ROOT, 'sql', `schema/${name}.sql`), 'utf8');
    const behind = [...text.matchAll(/^ {2}\w.* -- /gm)].length;
    const before = readSqlFolder('change').flatMap((change) => [
      ...change.text.matchAll(/^-- .*\nALTER TABLE (\w+)/gm),
    ]);
    expect(behind + before.filter(([, table]) => table === name).length, name).toBe(comments.size);
  }
});

test('docs/tables.md has every table with its columns', async () => {
  const { events, days, references, views } = readTables();
  const shown = ({ name, about, grain, comments }: TableText, hasNulls: boolean) =>
    [
      `### ${name}\n\n${about} No two rows have the same ${grain.join(', ')}.\n`,
      ...(isPublished(name) ? [`In the lake: \`lake/<organization>/${name}\`.\n`] : []),
      `| Column | Type |${hasNulls ? ' Null |' : ''}  |\n|---|---|${hasNulls ? '---|' : ''}---|`,
      ...(columns.get(name) ?? []).map((column) => {
        const isNull = hasNulls ? ` ${column.isNullable ? 'yes' : ''} |` : '';
        return `| \`${column.name}\` | ${column.type} |${isNull} ${comments.get(column.name) ?? ''} |`;
      }),
    ].join('\n');
  const text = `# Tables

For everyone who writes SQL: every table and view that you can query, with [SQL over HTTP or \`daybook sql\`](sql.md), in the [lake](lake.md) and
in the database itself.

Every row belongs to one organization, \`org_id\`, except in the price list. Days are UTC days. Instants are UTC, in milliseconds. Types are
DuckDB's; [ClickHouse](clickhouse.md) has the equivalent ones.

## Events

${events.map((table) => shown(table, true)).join('\n\n')}

## Day tables

A build computes these for each closed day and replaces all rows of the day at once. No column is ever null.

${days.map((table) => shown(table, false)).join('\n\n')}

## Price list

${references.map((table) => shown(table, true)).join('\n\n')}

## Views

Each view selects the rows of one term of the metrics, or adds their cost by the [price list](prices.md). The [cookbook](cookbook.md) has queries on
them.

${views.map((table) => shown(table, false)).join('\n\n')}
`;
  await expectPage('tables.md', text);
});
