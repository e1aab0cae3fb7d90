import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { LAKE_TABLES } from '../src/lake/lake-paths.js';
import { TABLES } from '../src/store/catalog.js';
import type { TableText } from '../src/store/catalog-types.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import { columnNames, shownColumns } from '../src/store/tables.js';
import { expectPage } from './page.js';
import { World } from './world.js';

const isPublished = (name: string) => (LAKE_TABLES as readonly string[]).includes(name);

/** The tables of a kind, by name. */
function tablesOf(kind: TableText['kind']): [string, TableText][] {
  return Object.entries(TABLES).filter(([, table]) => table.kind === kind);
}

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

test('every table that people can read says what a row is, and its grain is of columns that it has', () => {
  expect(tablesOf('day table').map(([name]) => name)).toEqual([...BUILT_TABLES].sort());
  expect(tablesOf('view').length).toBeGreaterThan(10);
  for (const [name, table] of tablesOf('day table'))
    expect(
      table.columns.filter(({ isNullable }) => isNullable),
      name,
    ).toEqual([]);
  for (const [name, { kind, about, grain, columns }] of Object.entries(TABLES)) {
    if (kind === undefined) continue;
    expect(about, name).toMatch(/^One row is one .*[.]$/);
    expect(grain.length, name).toBeGreaterThan(0);
    expect(columnNames(name), name).toEqual(expect.arrayContaining([...grain]));
    // Every comment of the text that stands behind something is one of a column.
    const made = readSqlFolder('change').find((change) => change.text.includes(`CREATE TABLE ${name} (`));
    const text = made?.text ?? readFileSync(join(PACKAGE_ROOT, 'sql', `schema/${name}.sql`), 'utf8');
    const behind = [...text.matchAll(/^ {2}\w.* -- /gm)].length;
    const before = readSqlFolder('change').flatMap((change) => [
      ...change.text.matchAll(/^-- .*\nALTER TABLE (\w+)/gm),
    ]);
    expect(behind + before.filter(([, table]) => table === name).length, name).toBe(
      columns.filter(({ comment }) => comment !== undefined).length,
    );
  }
});

test('docs/tables.md has every table with its columns', async () => {
  const shown = ([name, { about, grain }]: [string, TableText], hasNulls: boolean) =>
    [
      `### ${name}\n\n${about} No two rows have the same ${grain.join(', ')}.\n`,
      ...(isPublished(name) ? [`In the lake: \`lake/<organization>/${name}\`.\n`] : []),
      `| Column | Type |${hasNulls ? ' Null |' : ''}  |\n|---|---|${hasNulls ? '---|' : ''}---|`,
      ...shownColumns(name).map(({ name: column, type, isNullable, comment = '' }) => {
        const isNull = hasNulls ? ` ${isNullable ? 'yes' : ''} |` : '';
        return `| \`${column}\` | ${type} |${isNull} ${comment} |`;
      }),
    ].join('\n');
  const text = `# Tables

For everyone who writes SQL: every table and view that you can query, with [SQL over HTTP or \`daybook sql\`](sql.md), in the [lake](lake.md) and
in the database itself.

Every row belongs to one organization, \`org_id\`, except in the price list. Days are UTC days. Instants are UTC, in milliseconds. Types are
DuckDB's; [ClickHouse](clickhouse.md) has the equivalent ones.

## Events

${tablesOf('events')
  .map((table) => shown(table, true))
  .join('\n\n')}

## Day tables

A build computes these for each closed day and replaces all rows of the day at once. No column is ever null.

${tablesOf('day table')
  .map((table) => shown(table, false))
  .join('\n\n')}

## People

Who the [people](people.md) of the organization are. The lake has them as they were at the newest publication, also where an earlier instant is asked
for.

${tablesOf('reference')
  .filter(([name]) => isPublished(name))
  .map((table) => shown(table, false))
  .join('\n\n')}

## Price list

${tablesOf('reference')
  .filter(([name]) => !isPublished(name))
  .map((table) => shown(table, true))
  .join('\n\n')}

## Records

What builds and arrivals leave. A rejected line itself is only in the database, because it can have words of a prompt.

${tablesOf('record')
  .map((table) => shown(table, false))
  .join('\n\n')}

## Views

Each view selects the rows of one term of the metrics, or adds their cost by the [price list](prices.md). The [cookbook](cookbook.md) has queries on
them.

${tablesOf('view')
  .map((table) => shown(table, false))
  .join('\n\n')}
`;
  await expectPage('tables.md', text);
});
