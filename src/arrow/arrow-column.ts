import duckdb, { type Vector } from '@duckdb/node-bindings';
import { BufferType, Data, type DataType, type Field } from 'apache-arrow';
import { type Layout, layoutOf } from './arrow-type.js';
import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from './duckdb-driver.js';
import { type Bytes, isSet, Offsets, roomFor, Texts, validityOf } from './duckdb-texts.js';

/**
 * A column of Arrow that is gathered from the vectors of one chunk after the other. Where a value isn't set, a vector has the bytes
 * that were in that memory before, which can be another organization's: the column has zeros there.
 */
export abstract class Column {
  protected count = 0;
  /** Which values are there, a bit each; undefined as long as all are. DuckDB and Arrow have the same bits for it. */
  private bits: Bytes | undefined;

  constructor(protected readonly to: DataType) {}

  /** Takes over the first `count` values of a vector. `within` says which of them are inside a value that is set: all, without it. */
  add(vector: Vector, count: number, within?: Uint8Array): void {
    const bits = both(validityOf(vector, count), within);
    this.note(bits, count);
    this.gather(vector, count, bits);
    this.count += count;
  }

  /** The bytes so far. They are valid until more is added, because the buffer is reused: allocating takes longer than filling. */
  take(): Data {
    const { count, bits } = this;
    const { buffers, children = [] } = this.gathered(count);
    const validity = bits === undefined ? {} : { [BufferType.VALIDITY]: firstBits(bits, count) };
    this.count = 0;
    this.bits = undefined;
    return new Data(this.to, 0, count, bits === undefined ? 0 : -1, { ...validity, ...buffers }, children);
  }

  protected abstract gather(vector: Vector, count: number, bits: Uint8Array | undefined): void;
  protected abstract gathered(count: number): { buffers: object; children?: Data[] };

  private note(added: Uint8Array | undefined, count: number): void {
    if (this.bits === undefined && added === undefined) return;
    this.bits ??= new Uint8Array(Math.ceil(this.count / 8)).fill(0xff);
    this.bits = roomFor(this.bits, Math.ceil((this.count + count) / 64) * 8);
    if (this.count % 8 === 0) {
      const bytes = Math.ceil(count / 8);
      if (added === undefined) this.bits.fill(0xff, this.count >> 3, (this.count >> 3) + bytes);
      else this.bits.set(added.subarray(0, bytes), this.count >> 3);
    } else {
      for (let index = 0; index < count; index += 1)
        setBit(this.bits, this.count + index, isSet(added, index));
    }
  }
}

/** The bits that are set in both; undefined stands for all bits. */
function both(bits: Uint8Array | undefined, others: Uint8Array | undefined): Uint8Array | undefined {
  if (bits === undefined || others === undefined) return bits ?? others;
  return bits.map((byte, index) => byte & (others[index] as number));
}

/** The bytes of the first `count` bits, with zeros after them. */
function firstBits(bits: Uint8Array, count: number): Uint8Array {
  const bytes = bits.subarray(0, Math.ceil(count / 8));
  if (count % 8 !== 0) bytes[bytes.length - 1] = (bytes.at(-1) as number) & ((1 << (count % 8)) - 1);
  return bytes;
}

/** Puts zeros where `values`, of which each has `width` bytes, have none that is set. */
function clearUnset(values: Uint8Array, width: number, bits: Uint8Array | undefined): void {
  if (bits === undefined) return;
  const count = values.length / width;
  for (let first = 0; first < count; first += 8) {
    if (bits[first >> 3] === 0xff) continue;
    for (let index = first; index < Math.min(first + 8, count); index += 1)
      if (!isSet(bits, index)) values.fill(0, index * width, (index + 1) * width);
  }
}

function setBit(bits: Uint8Array, index: number, value: boolean): void {
  const byte = bits[index >> 3] as number;
  const bit = 1 << (index & 7);
  bits[index >> 3] = value ? byte | bit : byte & ~bit;
}

/** Values that lie the same in both. */
class Values extends Column {
  private bytes: Bytes = new Uint8Array();

  constructor(
    to: DataType,
    private readonly layout: Layout,
  ) {
    super(to);
  }

  protected gather(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    const width = this.layout.elements * this.layout.of.BYTES_PER_ELEMENT;
    const [start, end] = [this.count * width, (this.count + count) * width];
    this.bytes = roomFor(this.bytes, end);
    this.bytes.set(duckdb.vector_get_data(vector, count * width), start);
    clearUnset(this.bytes.subarray(start, end), width, bits);
  }

  protected gathered() {
    const { of: Elements, elements } = this.layout;
    return { buffers: { [BufferType.DATA]: new Elements(this.bytes.buffer, 0, this.count * elements) } };
  }
}

class Booleans extends Column {
  private bytes: Bytes = new Uint8Array();

  protected gather(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    this.bytes = roomFor(this.bytes, Math.ceil((this.count + count) / 8));
    for (const [index, byte] of duckdb.vector_get_data(vector, count).entries())
      setBit(this.bytes, this.count + index, byte !== 0 && isSet(bits, index));
  }

  protected gathered(count: number) {
    return { buffers: { [BufferType.DATA]: firstBits(this.bytes, count) } };
  }
}

/** Texts and blobs. */
class TextValues extends Column {
  private readonly texts = new Texts();

  protected gather(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    this.texts.add(vector, count, bits);
  }

  protected gathered() {
    const { offsets, bytes } = this.texts.take();
    return { buffers: { [BufferType.OFFSET]: offsets, [BufferType.DATA]: bytes } };
  }
}

class Structs extends Column {
  constructor(
    to: DataType,
    private readonly columns: readonly Column[],
  ) {
    super(to);
  }

  protected gather(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    for (const [index, column] of this.columns.entries())
      column.add(duckdb.struct_vector_get_child(vector, index), count, bits);
  }

  protected gathered() {
    return { buffers: {}, children: this.columns.map((column) => column.take()) };
  }
}

/** Lists, and maps, which are lists of entries. */
class Lists extends Column {
  private readonly offsets = new Offsets();

  constructor(
    to: DataType,
    private readonly elements: Column,
  ) {
    super(to);
  }

  protected gather(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    const bytes = duckdb.vector_get_data(vector, count * 2 * BigUint64Array.BYTES_PER_ELEMENT);
    const entries = new BigUint64Array(bytes.buffer, bytes.byteOffset, 2 * count);
    this.offsets.reserve(count);
    let end = 0;
    for (let index = 0; index < count; index += 1) {
      const length = isSet(bits, index) ? Number(entries[index * 2 + 1]) : 0;
      // The values of a query were copied, so they stand one after the other.
      if (length > 0 && Number(entries[index * 2]) !== end) throw new TypeError('lists are not in order');
      end += length;
      this.offsets.push(length);
    }
    this.elements.add(duckdb.list_vector_get_child(vector), end);
  }

  protected gathered() {
    return { buffers: { [BufferType.OFFSET]: this.offsets.take() }, children: [this.elements.take()] };
  }
}

/** An empty column of Arrow for vectors of a type of DuckDB. */
export function columnOf(type: DuckDBType, to: DataType): Column {
  const inside = (index: number, of: DuckDBType) => columnOf(of, (to.children[index] as Field).type);
  if (type instanceof DuckDBStructType)
    return new Structs(
      to,
      type.entryTypes.map((entry, index) => inside(index, entry)),
    );
  if (type instanceof DuckDBListType) return new Lists(to, inside(0, type.valueType));
  if (type instanceof DuckDBMapType)
    return new Lists(to, inside(0, new DuckDBStructType(['key', 'value'], [type.keyType, type.valueType])));
  if (type.typeId === DuckDBTypeId.VARCHAR || type.typeId === DuckDBTypeId.BLOB) return new TextValues(to);
  if (type.typeId === DuckDBTypeId.BOOLEAN) return new Booleans(to);
  return new Values(to, layoutOf(type) as Layout);
}
