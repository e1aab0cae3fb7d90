import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import {
  Bool,
  type DataType,
  DateDay,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  Struct,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from 'apache-arrow';

/** A kind of array that has such values. */
interface Values {
  readonly BYTES_PER_ELEMENT: number;
  new (bytes: ArrayBufferLike, start: number, count: number): ArrayBufferView;
}

/** Types whose values have the same bytes in DuckDB and in Arrow. */
export const SAME: Partial<Record<DuckDBTypeId, { type: DataType; of: Values }>> = {
  [DuckDBTypeId.TINYINT]: { type: new Int8(), of: Int8Array },
  [DuckDBTypeId.SMALLINT]: { type: new Int16(), of: Int16Array },
  [DuckDBTypeId.INTEGER]: { type: new Int32(), of: Int32Array },
  [DuckDBTypeId.BIGINT]: { type: new Int64(), of: BigInt64Array },
  [DuckDBTypeId.UTINYINT]: { type: new Uint8(), of: Uint8Array },
  [DuckDBTypeId.USMALLINT]: { type: new Uint16(), of: Uint16Array },
  [DuckDBTypeId.UINTEGER]: { type: new Uint32(), of: Uint32Array },
  [DuckDBTypeId.UBIGINT]: { type: new Uint64(), of: BigUint64Array },
  [DuckDBTypeId.FLOAT]: { type: new Float32(), of: Float32Array },
  [DuckDBTypeId.DOUBLE]: { type: new Float64(), of: Float64Array },
  [DuckDBTypeId.DATE]: { type: new DateDay(), of: Int32Array },
  [DuckDBTypeId.TIMESTAMP_S]: { type: new TimestampSecond(), of: BigInt64Array },
  [DuckDBTypeId.TIMESTAMP_MS]: { type: new TimestampMillisecond(), of: BigInt64Array },
  [DuckDBTypeId.TIMESTAMP]: { type: new TimestampMicrosecond(), of: BigInt64Array },
  [DuckDBTypeId.TIMESTAMP_NS]: { type: new TimestampNanosecond(), of: BigInt64Array },
  [DuckDBTypeId.TIMESTAMP_TZ]: { type: new TimestampMicrosecond('UTC'), of: BigInt64Array },
};

/** The type of Arrow that a column of DuckDB has. Throws where there is none here. */
function arrowType(type: DuckDBType): DataType {
  if (type instanceof DuckDBListType) return new List(new Field('item', arrowType(type.valueType), true));
  if (type instanceof DuckDBStructType) return new Struct(fieldsOf(type.entryNames, type.entryTypes));
  if (type instanceof DuckDBMapType) {
    const entry = new Struct<{ key: DataType; value: DataType }>([
      new Field('key', arrowType(type.keyType), false),
      new Field('value', arrowType(type.valueType), true),
    ]);
    return new Map_(new Field('entries', entry, false));
  }
  if (type.typeId === DuckDBTypeId.VARCHAR) return new Utf8();
  if (type.typeId === DuckDBTypeId.BOOLEAN) return new Bool();
  const same = SAME[type.typeId];
  if (same === undefined) throw new TypeError(`a column of type ${type} has no Arrow type here: cast it`);
  return same.type;
}

/** The fields of columns, any of which can be null. */
export function fieldsOf(names: readonly string[], types: readonly DuckDBType[]): Field[] {
  return names.map((name, index) => new Field(name, arrowType(types[index] as DuckDBType), true));
}
