import { readSqlFolder, type SqlText, tablesOf } from './sql-text.js';

/**
 * What is read in place of day tables since it is smaller: their sums, for answers over many days, and keys. DuckDB keeps it, and a build
 * computes that of its days anew; in ClickHouse these are views.
 */
export interface RollUp extends SqlText {
  /** The day tables that it is computed from. */
  readonly tables: readonly string[];
}

export const ROLL_UPS: readonly RollUp[] = readSqlFolder('rollup').map(({ name, text }) => ({
  name,
  text,
  tables: tablesOf(text),
}));

/** The statement that shows the sums as a view. */
export function rollUpView({ name, text }: SqlText): string {
  return `CREATE OR REPLACE VIEW ${name} AS\n${text}`;
}

/** The statement that keeps the sums of all days as a table. */
export function rollUpTable({ name, text }: SqlText): string {
  return `CREATE OR REPLACE TABLE ${name} AS SELECT * FROM (\n${text}\n) AS sums ORDER BY ALL`;
}
