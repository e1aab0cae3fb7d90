import { quote, readSql } from './sql.js';

/** SHA-256 of nothing: the digest of a day that has no rows in a table. */
export const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** What spells a value of a type in the text of a row; each is a function of `sql/engine`. */
const FIELDS: Record<string, string> = {
  VARCHAR: 'text_field',
  BIGINT: 'integer_field',
  DOUBLE: 'double_field',
  DATE: 'day_field',
};

/**
 * The text of a row of a day table, as an SQL expression: its columns in the order of the schema file, with commas between.
 * Throws for a column of a type that no text is known for: left out, it could change without the digest.
 */
export function rowText(schema: string): string {
  const columns = [...schema.matchAll(/^ {2}(\w+) +(\w+(?:\(\d+\))?)/gm)];
  const fields = columns.map(([, name, type = '']) => {
    const field = FIELDS[type];
    if (field === undefined) throw new TypeError(`digests have no text for ${name} of type ${type}`);
    return `${field}(${name})`;
  });
  return fields.join(" || ',' || ");
}

/** The SELECT that digests a day table: a row for each due day, also without rows, as `fresh_digests` has them. */
export function digestSql(table: string): string {
  return `SELECT
    due.org_id AS org_id,
    due.day AS day,
    ${quote(table)} AS table_name,
    CAST(coalesce(digested.row_count, 0) AS BIGINT) AS row_count,
    CAST(coalesce(digested.digest, ${quote(EMPTY_DIGEST)}) AS VARCHAR) AS digest
  FROM due
  LEFT JOIN (
    SELECT
      org_id,
      day,
      count(*) AS row_count,
      digest(${rowText(readSql(`schema/${table}.sql`))}) AS digest
    FROM ${table}
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    GROUP BY org_id, day
  ) AS digested
    ON digested.org_id = due.org_id
    AND digested.day = due.day`;
}
