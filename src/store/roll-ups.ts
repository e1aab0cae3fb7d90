import { readSqlFolder, type SqlText } from './sql-text.js';
import { tablesOf } from './tables.js';

/**
 * Sums and keys of day tables, which are read in their place because they are smaller. DuckDB keeps them, and a build computes those of
 * its days anew. In ClickHouse they are views.
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
