import { readSqlFolder, type SqlText, tablesOf } from './sql-text.js';

/**
 * Sums of day tables, which answers over many days read in its place: they have fewer rows. DuckDB keeps them, and a build computes
 * those of its days anew; in ClickHouse they are views.
 */
export interface RollUp extends SqlText {
  /** The day tables that are added up. */
  readonly tables: readonly string[];
  /** Whether a row is of a whole ISO week, by its last day, and not of a day. */
  readonly isOfWeeks: boolean;
}

export const ROLL_UPS: readonly RollUp[] = readSqlFolder('rollup').map(({ name, text }) => ({
  name,
  text,
  tables: tablesOf(text),
  isOfWeeks: name.endsWith('_weeks'),
}));

/** The statement that shows the sums as a view. */
export function rollUpView({ name, text }: SqlText): string {
  return `CREATE OR REPLACE VIEW ${name} AS\n${text}`;
}

/** The statement that keeps the sums of all days as a table. */
export function rollUpTable({ name, text }: SqlText): string {
  return `CREATE OR REPLACE TABLE ${name} AS SELECT * FROM (\n${text}\n) AS sums ORDER BY ALL`;
}
