import { quote } from '../store/sql-text.js';
import { SQL_TABLES } from './sql-tables.js';

const SHOW_TABLES = /^\s*SHOW\s+(?:ALL\s+)?TABLES\s*(?:;\s*)?$/i;

/** A query with SHOW TABLES as the SELECT that it stands for: DuckDB's own would list what belongs to the engine. */
export function withoutShow(sql: string): string {
  if (!SHOW_TABLES.test(sql)) return sql;
  const rows = SQL_TABLES.map(({ name, kind, about }) => `(${[name, kind, about].map(quote).join(', ')})`);
  return `SELECT * FROM (VALUES ${rows.join(', ')}) AS tables (name, kind, about)`;
}
