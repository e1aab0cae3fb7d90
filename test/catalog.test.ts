import { expect, test } from 'vitest';
import { ANSWERS, TABLES } from '../src/store/catalog.js';
import { BUILT_TABLES, dailySql } from '../src/store/day-builder.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import { catalogText } from './catalog.js';
import { expectFile } from './page.js';
import { World } from './world.js';

test('src/store/catalog.ts has the names, types and comments of sql/', async () => {
  const { store } = await World.create();
  await expectFile('src/store/catalog.ts', await catalogText(store));
});

test('the catalogue has every answer', () => {
  expect(Object.keys(ANSWERS).sort()).toEqual(readSqlFolder('answer').map(({ name }) => name));
});

test('a daily query has the columns of its table, with their types', async () => {
  const { store } = await World.create();
  for (const table of BUILT_TABLES) {
    const columns = await store.select(`SELECT column_name, column_type FROM (DESCRIBE ${dailySql(table)})`);
    expect(
      columns.map(({ column_name, column_type }) => ({ name: column_name, type: column_type })),
      table,
    ).toEqual(TABLES[table]?.columns.map(({ name, type }) => ({ name, type })));
  }
});
