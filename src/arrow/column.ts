import { setImmediate } from 'node:timers/promises';
import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import duckdb, { type Vector } from '@duckdb/node-bindings';
import { BufferType, Data, type DataType, type Field } from 'apache-arrow';
import { SAME } from './type.js';

/** How many values of a column are made before others get a turn. */
const VALUES_A_TURN = 1 << 14;

/** What a text of DuckDB takes in its vector, and the length up to which it is there itself, instead of a pointer to it. */
const TEXT_BYTES = 16;
const INLINE_BYTES = 12;

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
export async function columnOf(vector: Vector, type: DuckDBType, to: DataType, count: number): Promise<Data> {
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
