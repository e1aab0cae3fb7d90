import type { Column } from './catalog-types.js';
import { quote } from './sql-text.js';
import { columnsOf } from './tables.js';

/** How a value of a type is written into the text of a row, by functions of `sql/function` or `sql/engine`. */
const FIELDS: Record<string, (name: string) => string> = {
  VARCHAR: (name) => `text_field(${name})`,
  BIGINT: (name) => `plain_field(${name})`,
  BOOLEAN: (name) => `plain_field(${name})`,
  DOUBLE: (name) => `double_field(${name})`,
  DATE: (name) => `plain_field(${name})`,
  // Engines write instants differently, so it is their Unix milliseconds.
  TIMESTAMP_MS: (name) => `plain_field(date_diff('millisecond', instant(0), ${name}))`,
  'DECIMAL(18,9)': (name) => `decimal_field(${name})`,
};

/**
 * The text of a row of a table, as an SQL expression: its columns in their order, with commas between.
 * Throws for a column of a type that no text is known for: left out, it could change without the digest.
 */
export function rowText(columns: readonly Pick<Column, 'name' | 'type'>[]): string {
  const fields = columns.map(({ name, type }) => {
    const field = FIELDS[type];
    if (field === undefined) throw new TypeError(`digests have no text for ${name} of type ${type}`);
    return field(name);
  });
  return `concat(${fields.join(", ',', ")})`;
}

/** Tables that can have nearly as many rows as `events`: their texts aren't kept to be sorted. */
const LARGE = [
  'shadowed_events',
  'decided_users',
  'user_sessions',
  'session_models',
  'session_tools',
  'session_parts',
];

/** The SQL expression that combines the texts of a table's rows into a digest. */
export function digestOfTexts(table: string, text: string): string {
  return `CAST(${LARGE.includes(table) ? 'unordered_digest' : 'digest'}(${text}) AS VARCHAR)`;
}

/** The SELECT that digests a day table: a row for each due day that has rows, as `fresh_digests` has them. */
export function digestSql(table: string): string {
  return `SELECT
    org_id,
    day,
    ${quote(table)} AS table_name,
    CAST(count(*) AS BIGINT) AS row_count,
    ${digestOfTexts(table, 'row_text')} AS digest
  FROM (
    SELECT
      org_id,
      day,
      ${rowText(columnsOf(table))} AS row_text
    FROM ${table}
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  ) AS row_texts
  GROUP BY
    org_id,
    day`;
}
