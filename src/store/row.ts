import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import duckdb, { type Vector } from '@duckdb/node-bindings';
import { chunksOf } from '../arrow/chunk.js';
import { isSet, Texts, validityOf } from '../arrow/text.js';
import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTypeId,
  type DuckDBValue,
} from '../duckdb.js';
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

/** Gives the first values of a vector, so many, whether they are there or not. */
type Read = (vector: Vector, count: number, bits: Uint8Array | undefined) => Value[];

function integers(vector: Vector, count: number): number[] {
  const { buffer, byteOffset } = duckdb.vector_get_data(vector, count * 8);
  const low = new Uint32Array(buffer, byteOffset, count * 2);
  const high = new Int32Array(buffer, byteOffset, count * 2);
  return Array.from(
    { length: count },
    (_, index) => (high[index * 2 + 1] as number) * 2 ** 32 + (low[index * 2] as number),
  );
}

function texts(vector: Vector, count: number, bits: Uint8Array | undefined): string[] {
  const gathered = new Texts();
  gathered.add(vector, count, bits);
  const { offsets, bytes } = gathered.take();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: count }, (_, index) =>
    buffer.toString('utf8', offsets[index], offsets[index + 1]),
  );
}

/** There are few days in many rows. */
function days(vector: Vector, count: number): string[] {
  const { buffer, byteOffset } = duckdb.vector_get_data(vector, count * 4);
  const known = new Map<number, string>();
  return Array.from(new Int32Array(buffer, byteOffset, count), (number) => {
    const day = known.get(number) ?? new DuckDBDateValue(number).toString();
    known.set(number, day);
    return day;
  });
}

/** The types that most columns have: the driver's own way takes twice as long, and leaves an object of each value. */
const READS: Partial<Record<DuckDBTypeId, Read>> = {
  [DuckDBTypeId.BIGINT]: integers,
  [DuckDBTypeId.VARCHAR]: texts,
  [DuckDBTypeId.DATE]: days,
};

/** The values of one column of a chunk. */
function valuesOf(chunk: DuckDBDataChunk, index: number, typeId: DuckDBTypeId): Value[] {
  const read = READS[typeId];
  if (read === undefined) return chunk.convertColumnValues(index, toValue);
  const { rowCount } = chunk;
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, index);
  const bits = validityOf(vector, rowCount);
  const values = read(vector, rowCount, bits);
  return bits === undefined ? values : values.map((value, row) => (isSet(bits, row) ? value : null));
}

/** The rows of a result, as Store promises them. */
export async function rowsOf(result: DuckDBResult): Promise<Row[]> {
  const names = result.columnNames();
  const types = result.columnTypes();
  const rows: Row[] = [];
  // Chunk by chunk: of many rows at once nobody else would get a turn meanwhile.
  for await (const chunk of chunksOf(result)) {
    const columns = types.map(({ typeId }, index) => valuesOf(chunk, index, typeId));
    for (let index = 0; index < chunk.rowCount; index += 1) {
      const row: Row = {};
      for (const [column, name] of names.entries()) row[name] = columns[column]?.[index] as Value;
      rows.push(row);
    }
  }
  return rows;
}
