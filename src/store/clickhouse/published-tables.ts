import type { SqlText } from '../sql-text.js';
import { PUBLISHED } from '../state/homes.js';
import { columnNames, columnsOf } from '../tables.js';

/** Where published rows are: those of before too, and those that were removed. */
export function publishedRows(table: string): string {
  return `${table}_rows`;
}

/**
 * The tables of published state, and the views that show the newest row of each key, under the names that the tables have where state is
 * with the data. A row that is published twice is one.
 */
export function publishedDefinitions(): SqlText[] {
  return Object.entries(PUBLISHED).flatMap(([table, key]) => {
    const rows = publishedRows(table);
    const columns = columnsOf(table).map(
      ({ name, type, isNullable }) =>
        `  ${name} ${type.replace('TIMESTAMP_MS', 'TIMESTAMP(3)')}${isNullable ? '' : ' NOT NULL'}`,
    );
    const added = columnsOf(table)
      .filter(({ isNullable }) => isNullable)
      .map(
        ({ name, type }) =>
          `ALTER TABLE ${rows} ADD COLUMN ${name} ${type.replace('TIMESTAMP_MS', 'TIMESTAMP(3)')};\n`,
      );
    const text = `CREATE TABLE ${rows} (
${columns.join(',\n')},
  number BIGINT NOT NULL,
  is_removed UInt8 NOT NULL
)
ENGINE = ReplacingMergeTree(number, is_removed) ORDER BY (${key.join(', ')})
`;
    return [
      { name: rows, text: `${text};\n${added.join('')}` },
      {
        name: table,
        text: `CREATE OR REPLACE VIEW ${table} AS\nSELECT ${columnNames(table).join(', ')}\nFROM ${rows} FINAL`,
      },
    ];
  });
}
