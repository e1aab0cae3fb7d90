import duckdb, { type Vector } from '@duckdb/node-bindings';
import { BufferType, Data, type DataType, type Field } from 'apache-arrow';
import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '../duckdb-driver.js';
import { type Layout, layoutOf } from './arrow-type.js';
import { type Bytes, isSet, Offsets, roomFor, Texts, validityOf } from './duckdb-texts.js';

/** A column of Arrow that is gathered from the vectors of one chunk after the other. */
export abstract class Column {
  protected count = 0;
  /** Which values are there, a bit each; undefined as long as all are. DuckDB and Arrow have the same bits for it. */
  private bits: Bytes | undefined;

  constructor(protected readonly to: DataType) {}

  /** Takes over the first values of a vector, so many. */
  add(vector: Vector, count: number): void {
    const bits = validityOf(vector, count);
    this.note(bits, count);
    this.gather(vector, count, bits);
    this.count += count;
  }

  /** What was gathered so far. It stands until more is added, which goes to the same place: making room takes longer than filling it. */
  take(): Data {
    const { count, bits } = this;
    const { buffers, children = [] } = this.gathered();
    const validity = bits === undefined ? {} : { [BufferType.VALIDITY]: bits };
    this.count = 0;
    this.bits = undefined;
    return new Data(this.to, 0, count, bits === undefined ? 0 : -1, { ...validity, ...buffers }, children);
  }

  protected abstract gather(vector: Vector, count: number, bits: Uint8Array | undefined): void;
  protected abstract gathered(): { buffers: object; children?: Data[] };

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

  protected gather(vector: Vector, count: number): void {
    const width = this.layout.elements * this.layout.of.BYTES_PER_ELEMENT;
    this.bytes = roomFor(this.bytes, (this.count + count) * width);
    this.bytes.set(duckdb.vector_get_data(vector, count * width), this.count * width);
  }

  protected gathered() {
    const { of: Elements, elements } = this.layout;
    return { buffers: { [BufferType.DATA]: new Elements(this.bytes.buffer, 0, this.count * elements) } };
  }
}

class Booleans extends Column {
  private bytes: Bytes = new Uint8Array();

  protected gather(vector: Vector, count: number): void {
    this.bytes = roomFor(this.bytes, Math.ceil((this.count + count) / 8));
    for (const [index, byte] of duckdb.vector_get_data(vector, count).entries())
      setBit(this.bytes, this.count + index, byte !== 0);
  }

  protected gathered() {
    return { buffers: { [BufferType.DATA]: this.bytes } };
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

  protected gather(vector: Vector, count: number): void {
    for (const [index, column] of this.columns.entries())
      column.add(duckdb.struct_vector_get_child(vector, index), count);
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
      // What a query gives was copied, so they stand one after the other.
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
