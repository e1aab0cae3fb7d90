import type { DuckDBResult } from '@duckdb/node-api';
import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampMillisecondsValue,
  type DuckDBValue,
} from '../arrow/duckdb-driver.js';
import type { Row, Value } from './store.js';

/** Converts a value as Store promises it. Throws where a column has a type that no table has. */
function toValue(value: DuckDBValue): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof DuckDBDateValue) return value.toString();
  if (value instanceof DuckDBTimestampMillisecondsValue) return Number(value.millis);
  if (value instanceof DuckDBDecimalValue) return Number(value.toString());
  if (value instanceof DuckDBListValue) return value.items.map(toValue);
  throw new TypeError(`a column of type ${value.constructor.name} can't be read: cast it in the SELECT`);
}

/** The rows of a result, as Store promises them. */
export async function rowsOf(result: DuckDBResult): Promise<Row[]> {
  const rows: Row[] = [];
  // Chunk by chunk: of many rows at once nobody else would get a turn meanwhile.
  for await (const some of result.yieldConvertedRowObjects(toValue)) rows.push(...some);
  return rows;
}
