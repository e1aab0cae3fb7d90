import { setImmediate } from 'node:timers/promises';
import {
  type DuckDBDataChunk,
  DuckDBListType,
  DuckDBMapType,
  type DuckDBResult,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import duckdb, { type Vector } from '@duckdb/node-bindings';
import {
  Bool,
  BufferType,
  Data,
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
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
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

/** How many values of a column are made before others get a turn. */
const VALUES_A_TURN = 1 << 14;

/** What a text of DuckDB takes in its vector, and the length up to which it is there itself, instead of a pointer to it. */
const TEXT_BYTES = 16;
const INLINE_BYTES = 12;

interface Values {
  readonly BYTES_PER_ELEMENT: number;
  new (bytes: ArrayBufferLike, start: number, count: number): ArrayBufferView;
}

/** Types whose values have the same bytes in DuckDB and in Arrow. */
const SAME: Partial<Record<DuckDBTypeId, { type: DataType; of: Values }>> = {
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

function fieldsOf(names: readonly string[], types: readonly DuckDBType[]): Field[] {
  return names.map((name, index) => new Field(name, arrowType(types[index] as DuckDBType), true));
}

/** Which of the values are there, a bit each; undefined when all are. Both have the same bits for it. */
function bitsOf(vector: Vector, count: number): Uint8Array | undefined {
  const bits: Uint8Array | null = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8);
  return bits ?? undefined;
}

function isSet(bits: Uint8Array | undefined, index: number): boolean {
  return bits === undefined || ((bits[index >> 3] as number) & (1 << (index & 7))) !== 0;
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
}

/** The texts one after the other, and where each begins and ends. */
function textsOf(entries: Uint8Array, count: number, bits: Uint8Array | undefined) {
  const view = new DataView(entries.buffer, entries.byteOffset);
  const offsets = new Int32Array(count + 1);
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    if (isSet(bits, index)) end += view.getUint32(index * TEXT_BYTES, true);
    offsets[index + 1] = end;
  }
  const lengthOf = (index: number) => (offsets[index + 1] as number) - (offsets[index] as number);
  const addressOf = (index: number) =>
    view.getUint32(index * TEXT_BYTES + 8, true) + view.getUint32(index * TEXT_BYTES + 12, true) * 2 ** 32;
  /** The bytes of a long text, and of those after it that stand right behind it: asking for each takes most of the time. */
  const runFrom = (first: number): Uint8Array => {
    let bytes = lengthOf(first);
    for (let index = first + 1; index < count; index += 1) {
      if (lengthOf(index) <= INLINE_BYTES) continue;
      if (addressOf(index) !== addressOf(first) + bytes) break;
      bytes += lengthOf(index);
    }
    const pointer = entries.byteOffset + first * TEXT_BYTES + 8;
    return duckdb.get_data_from_pointer(entries.buffer as ArrayBuffer, pointer, bytes);
  };
  const bytes = new Uint8Array(end);
  let run: Uint8Array = new Uint8Array();
  let done = 0;
  for (let index = 0; index < count; index += 1) {
    const length = lengthOf(index);
    const isLong = length > INLINE_BYTES;
    if (isLong && done === run.length) {
      run = runFrom(index);
      done = 0;
    }
    const from = isLong ? run : entries;
    const start = isLong ? done : index * TEXT_BYTES + 4;
    copy(from, start, length, bytes, offsets[index] as number);
    if (isLong) done += length;
  }
  return { bytes, offsets };
}

/** A few bytes are copied faster one by one. */
function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  if (length > 64) to.set(from.subarray(start, start + length), at);
  else for (let byte = 0; byte < length; byte += 1) to[at + byte] = from[start + byte] as number;
}

/** Where each list begins and ends among the elements. What a query gives was copied, so they stand one after the other. */
function listsOf(bytes: Uint8Array, count: number, bits: Uint8Array | undefined): Int32Array {
  const entries = new BigUint64Array(bytes.buffer, bytes.byteOffset, 2 * count);
  const offsets = new Int32Array(count + 1);
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const length = isSet(bits, index) ? Number(entries[index * 2 + 1]) : 0;
    if (length > 0 && Number(entries[index * 2]) !== end) throw new TypeError('lists are not in order');
    end += length;
    offsets[index + 1] = end;
  }
  return offsets;
}

/** A column of Arrow from the first values of a vector, so many, with the columns in it. */
async function columnOf(vector: Vector, type: DuckDBType, to: DataType, count: number): Promise<Data> {
  const bits = bitsOf(vector, count);
  // A copy, as everything is that the driver hands out.
  const data = (width: number) => duckdb.vector_get_data(vector, count * width);
  const made = (buffers: object, children: Data[] = []) =>
    new Data(
      to,
      0,
      count,
      bits === undefined ? 0 : -1,
      { ...(bits && { [BufferType.VALIDITY]: bits }), ...buffers },
      children,
    );
  if (count >= VALUES_A_TURN) await setImmediate();
  if (type instanceof DuckDBStructType) {
    const children: Data[] = [];
    for (const [index, entry] of type.entryTypes.entries()) {
      const child = duckdb.struct_vector_get_child(vector, index);
      children.push(await columnOf(child, entry, typeIn(to, index), count));
    }
    return made({}, children);
  }
  if (type instanceof DuckDBListType || type instanceof DuckDBMapType) {
    const offsets = listsOf(data(2 * BigUint64Array.BYTES_PER_ELEMENT), count, bits);
    const elements = offsets.at(-1) ?? 0;
    const child = duckdb.list_vector_get_child(vector);
    const element =
      type instanceof DuckDBMapType
        ? new DuckDBStructType(['key', 'value'], [type.keyType, type.valueType])
        : type.valueType;
    return made({ [BufferType.OFFSET]: offsets }, [await columnOf(child, element, typeIn(to, 0), elements)]);
  }
  if (type.typeId === DuckDBTypeId.VARCHAR) {
    const { bytes, offsets } = textsOf(data(TEXT_BYTES), count, bits);
    return made({ [BufferType.OFFSET]: offsets, [BufferType.DATA]: bytes });
  }
  if (type.typeId === DuckDBTypeId.BOOLEAN) {
    const packed = new Uint8Array(Math.ceil(count / 8));
    for (const [index, byte] of data(1).entries()) if (byte !== 0) setBit(packed, index);
    return made({ [BufferType.DATA]: packed });
  }
  const { of: Values } = SAME[type.typeId] as NonNullable<(typeof SAME)[DuckDBTypeId]>;
  const bytes = data(Values.BYTES_PER_ELEMENT);
  return made({ [BufferType.DATA]: new Values(bytes.buffer, bytes.byteOffset, count) });
}

function typeIn(type: DataType, index: number): DataType {
  return (type.children[index] as Field).type;
}

async function batchOf(chunk: DuckDBDataChunk, types: readonly DuckDBType[], schema: Schema) {
  const columns: Data[] = [];
  for (const [index, type] of types.entries()) {
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, index);
    const to = (schema.fields[index] as Field).type;
    columns.push(await columnOf(vector, type, to, chunk.rowCount));
  }
  return new RecordBatch(schema, new Data(new Struct(schema.fields), 0, chunk.rowCount, 0, {}, columns));
}

/** Hands out what it has written as one piece at a time. What the library's own queue has can't be taken so. */
class Writer extends RecordBatchStreamWriter {
  private made: Uint8Array[] = [];

  protected override _write(bytes: Uint8Array | ArrayBufferView): this {
    this.made.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return this;
  }

  take(): Uint8Array {
    return Buffer.concat(this.made.splice(0));
  }
}

/**
 * The stream of Arrow IPC of results that have the same columns, one at least, with a batch for each of DuckDB's chunks: column
 * by column, and no more of it at once than a chunk. The members of `meta` are texts of the schema's metadata.
 */
export async function* arrowBytes(
  results: AsyncIterable<DuckDBResult>,
  meta: Readonly<Record<string, string>> = {},
): AsyncGenerator<Uint8Array> {
  const writer = new Writer();
  let schema: Schema | undefined;
  for await (const result of results) {
    const types = result.columnTypes();
    if (schema === undefined) {
      schema = new Schema(fieldsOf(result.columnNames(), types), new Map(Object.entries(meta)));
      writer.reset(undefined, schema);
    }
    let next = result.fetchChunk();
    try {
      for (let chunk = await next; chunk !== null && chunk.rowCount > 0; chunk = await next) {
        // The engine makes the next one meanwhile.
        next = result.fetchChunk();
        writer.write(await batchOf(chunk, types, schema));
        yield writer.take();
      }
    } finally {
      await next.catch(() => {});
    }
  }
  writer.finish();
  yield writer.take();
}
