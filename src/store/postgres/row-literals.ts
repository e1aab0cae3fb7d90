import { quote, quoteInstant } from '../sql-text.js';
import type { Value } from '../store.js';
import { columnsOf } from '../tables.js';

/** A row of a table as an SQL text, of its values in order. */
export function literalsOf(table: string, values: readonly Value[]): string {
  const columns = columnsOf(table);
  if (columns.length !== values.length)
    throw new Error(`a row of ${table} has ${columns.length} columns, not ${values.length}`);
  return `(${columns.map(({ type }, at) => literalOf(values[at] ?? null, type)).join(', ')})`;
}

function literalOf(value: Value, type: string): string {
  if (value === null) return 'NULL';
  if (type === 'VARCHAR' || type === 'DATE') return quote(String(value));
  if (type.startsWith('TIMESTAMP'))
    return typeof value === 'number' ? quoteInstant(value) : quote(String(value).replace('T', ' '));
  return String(value);
}
