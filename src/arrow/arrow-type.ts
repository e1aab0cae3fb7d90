import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
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
  TimeMicrosecond,
  TimeNanosecond,
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
import {
  DuckDBArrayType,
  DuckDBDecimalType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from './duckdb-driver.js';

/** How values lie that have the same bytes in DuckDB and in Arrow: as some elements each of a kind of array. */
export interface Layout {
  readonly of: {
    readonly BYTES_PER_ELEMENT: number;
    new (bytes: ArrayBufferLike, start: number, count: number): ArrayBufferView;
  };
  readonly elements: number;
}

type Same = readonly [DataType, Layout['of']];

/** Every instant is in UTC, and says so. */
const UTC = 'UTC';

/** Types whose values have the same bytes in DuckDB and in Arrow. */
const SAME: Partial<Record<DuckDBTypeId, Same>> = {
  [DuckDBTypeId.TINYINT]: [new Int8(), Int8Array],
  [DuckDBTypeId.SMALLINT]: [new Int16(), Int16Array],
  [DuckDBTypeId.INTEGER]: [new Int32(), Int32Array],
  [DuckDBTypeId.BIGINT]: [new Int64(), BigInt64Array],
  [DuckDBTypeId.UTINYINT]: [new Uint8(), Uint8Array],
  [DuckDBTypeId.USMALLINT]: [new Uint16(), Uint16Array],
  [DuckDBTypeId.UINTEGER]: [new Uint32(), Uint32Array],
  [DuckDBTypeId.UBIGINT]: [new Uint64(), BigUint64Array],
  [DuckDBTypeId.FLOAT]: [new Float32(), Float32Array],
  [DuckDBTypeId.DOUBLE]: [new Float64(), Float64Array],
  [DuckDBTypeId.DATE]: [new DateDay(), Int32Array],
  [DuckDBTypeId.TIME]: [new TimeMicrosecond(), BigInt64Array],
  [DuckDBTypeId.TIME_NS]: [new TimeNanosecond(), BigInt64Array],
  [DuckDBTypeId.TIMESTAMP_S]: [new TimestampSecond(UTC), BigInt64Array],
  [DuckDBTypeId.TIMESTAMP_MS]: [new TimestampMillisecond(UTC), BigInt64Array],
  [DuckDBTypeId.TIMESTAMP]: [new TimestampMicrosecond(UTC), BigInt64Array],
  [DuckDBTypeId.TIMESTAMP_NS]: [new TimestampNanosecond(UTC), BigInt64Array],
  [DuckDBTypeId.TIMESTAMP_TZ]: [new TimestampMicrosecond(UTC), BigInt64Array],
};

/** From this width on DuckDB has a decimal in 128 bits, as Arrow always does. */
const WIDE = 19;
const WIDEST = 38;

/** How the values of a type lie; undefined where they don't lie the same in both. */
export function layoutOf(type: DuckDBType): Layout | undefined {
  if (type instanceof DuckDBDecimalType)
    return type.width >= WIDE ? { of: Uint32Array, elements: 4 } : undefined;
  const same = SAME[type.typeId];
  return same === undefined ? undefined : { of: same[1], elements: 1 };
}

/** The type of Arrow that a column of DuckDB has. Throws where there is none here: see castOf. */
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
  if (type.typeId === DuckDBTypeId.BLOB) return new Binary();
  if (type.typeId === DuckDBTypeId.BOOLEAN) return new Bool();
  if (type instanceof DuckDBDecimalType && type.width >= WIDE)
    return new Decimal(type.scale, type.width, 128);
  const same = SAME[type.typeId];
  if (same === undefined) throw new TypeError(`a column of type ${type} has no Arrow type here: cast it`);
  return same[0];
}

/** Instants without a time zone that fit into those that have one. */
const INSTANTS = new Set([DuckDBTypeId.TIMESTAMP_S, DuckDBTypeId.TIMESTAMP_MS, DuckDBTypeId.TIMESTAMP]);

/** The fields of columns, any of which can be null. */
export function fieldsOf(names: readonly string[], types: readonly DuckDBType[]): Field[] {
  return names.map((name, index) => new Field(name, arrowType(types[index] as DuckDBType), true));
}

/**
 * The type to cast a column to that has a type of Arrow, as SQL: its own where it has one, BIGINT for integers of 128 bits, which
 * sums are, a wide decimal for a narrow one, an instant with a time zone for one without, a list for an array, and texts for all others; the
 * same in what is nested.
 */
function castOf(type: DuckDBType): string {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) return `${castOf(type.valueType)}[]`;
  if (type instanceof DuckDBStructType)
    return `STRUCT(${type.entryNames.map((name, index) => `${quoteName(name)} ${castOf(type.entryTypes[index] as DuckDBType)}`).join(', ')})`;
  if (type instanceof DuckDBMapType) return `MAP(${castOf(type.keyType)}, ${castOf(type.valueType)})`;
  if (type instanceof DuckDBDecimalType) return `DECIMAL(${WIDEST}, ${type.scale})`;
  if (type.typeId === DuckDBTypeId.HUGEINT) return 'BIGINT';
  if (INSTANTS.has(type.typeId)) return 'TIMESTAMPTZ';
  const isSame =
    type.typeId === DuckDBTypeId.BLOB || type.typeId === DuckDBTypeId.BOOLEAN || layoutOf(type) !== undefined;
  return isSame ? String(type) : 'VARCHAR';
}

/** Columns cast to types that Arrow has, as SQL: see castOf. */
export function portable(
  columns: readonly { readonly name: string; readonly type: DuckDBType; readonly sql: string }[],
): string {
  return columns
    .map(({ name, type, sql }) => `CAST(${sql} AS ${castOf(type)}) AS ${quoteName(name)}`)
    .join(', ');
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
