import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import duckdb, { type Vector } from '@duckdb/node-bindings';
import { BufferType, Data, type DataType, type Field } from 'apache-arrow';
import { type Layout, layoutOf } from './type.js';

/** What a text of DuckDB takes in its vector, and the length up to which it is there itself, instead of a pointer to it. */
const TEXT_BYTES = 16;
const INLINE_BYTES = 12;

/** Offsets in a column of Arrow have 32 bits. */
const MOST_BYTES = 2 ** 31 - 1 - INLINE_BYTES;

type Bytes = Uint8Array<ArrayBuffer>;

/** The same bytes, with room for as many as are needed. */
function roomFor(bytes: Bytes, needed: number): Bytes {
  if (needed <= bytes.length) return bytes;
  const larger = new Uint8Array(Math.max(needed, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}

/** A column of Arrow that is gathered from the vectors of one chunk after the other. */
export abstract class Column {
  protected count = 0;
  /** Which values are there, a bit each; undefined as long as all are. DuckDB and Arrow have the same bits for it. */
  private bits: Bytes | undefined;

  constructor(protected readonly to: DataType) {}

  /** Takes over the first values of a vector, so many. */
  add(vector: Vector, count: number): void {
    const bits: Uint8Array | undefined =
      duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8) ?? undefined;
    this.note(bits, count);
    this.gather(vector, count, bits);
    this.count += count;
  }

  /** What was gathered so far; the next value is the first of another. */
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

function isSet(bits: Uint8Array | undefined, index: number): boolean {
  return bits === undefined || ((bits[index >> 3] as number) & (1 << (index & 7))) !== 0;
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
    const { bytes } = this;
    this.bytes = new Uint8Array(bytes.length);
    return { buffers: { [BufferType.DATA]: new Elements(bytes.buffer, 0, this.count * elements) } };
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
    const { bytes } = this;
    this.bytes = new Uint8Array(bytes.length);
    return { buffers: { [BufferType.DATA]: bytes } };
  }
}

/** Where each value of some length begins and ends. */
class Offsets {
  private offsets: Int32Array<ArrayBuffer> = new Int32Array(1);
  private count = 0;

  get end(): number {
    return this.offsets[this.count] as number;
  }

  /** Makes room for so many more. */
  reserve(count: number): void {
    const bytes = roomFor(new Uint8Array(this.offsets.buffer), (this.count + count + 1) * 4);
    this.offsets = new Int32Array(bytes.buffer);
  }

  push(length: number): void {
    this.offsets[this.count + 1] = (this.offsets[this.count] as number) + length;
    this.count += 1;
  }

  take(): Int32Array {
    const { offsets, count } = this;
    this.offsets = new Int32Array(offsets.length);
    this.count = 0;
    return offsets.subarray(0, count + 1);
  }
}

/** Texts and blobs: one after the other. */
export class Texts extends Column {
  private readonly offsets = new Offsets();
  private bytes: Bytes = new Uint8Array();

  protected gather(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    const entries = duckdb.vector_get_data(vector, count * TEXT_BYTES);
    const words = new Uint32Array(entries.buffer, entries.byteOffset, count * 4);
    const { offsets } = this;
    let at = offsets.end;
    let end = at;
    for (let index = 0; index < count; index += 1) {
      // What stands where there is no value has no meaning.
      if (!isSet(bits, index)) words[index * 4] = 0;
      end += words[index * 4] as number;
    }
    if (end > MOST_BYTES) throw new RangeError('a column of Arrow has at most 2 GiB of texts at once');
    // Texts are copied in whole words, so there must be room for some bytes behind the last one.
    this.bytes = roomFor(this.bytes, end + INLINE_BYTES);
    offsets.reserve(count);
    const target = new DataView(this.bytes.buffer);
    let run: Uint8Array = new Uint8Array();
    let done = 0;
    for (let index = 0; index < count; index += 1) {
      const word = index * 4;
      const length = words[word] as number;
      if (length <= INLINE_BYTES) {
        target.setUint32(at, words[word + 1] as number, true);
        target.setUint32(at + 4, words[word + 2] as number, true);
        target.setUint32(at + 8, words[word + 3] as number, true);
        at += length;
        offsets.push(length);
        continue;
      }
      if (done === run.length) {
        run = runFrom(entries, words, index, count);
        done = 0;
      }
      // Those after it that are long too come right behind it here as there.
      let bytes = length;
      offsets.push(length);
      for (; index + 1 < count && done + bytes < run.length; index += 1) {
        const next = words[(index + 1) * 4] as number;
        if (next <= INLINE_BYTES) break;
        bytes += next;
        offsets.push(next);
      }
      copy(run, done, bytes, this.bytes, at);
      done += bytes;
      at += bytes;
    }
  }

  protected gathered() {
    const offsets = this.offsets.take();
    const { bytes } = this;
    this.bytes = new Uint8Array(bytes.length);
    return {
      buffers: { [BufferType.OFFSET]: offsets, [BufferType.DATA]: bytes.subarray(0, offsets.at(-1)) },
    };
  }
}

/**
 * The bytes of a long text, and of those after it that stand right behind it, with short ones between them or not: asking
 * for each would take most of the time.
 */
function runFrom(entries: Uint8Array, words: Uint32Array, first: number, count: number): Uint8Array {
  const addressOf = (index: number) =>
    (words[index * 4 + 2] as number) + (words[index * 4 + 3] as number) * 2 ** 32;
  const start = addressOf(first);
  let end = start;
  for (let index = first; index < count; index += 1) {
    const length = words[index * 4] as number;
    if (length <= INLINE_BYTES) continue;
    if (addressOf(index) !== end) break;
    end += length;
  }
  const pointer = entries.byteOffset + first * TEXT_BYTES + 8;
  return duckdb.get_data_from_pointer(entries.buffer as ArrayBuffer, pointer, end - start);
}

/** A few bytes are copied faster one by one. */
function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  if (length > 64) to.set(from.subarray(start, start + length), at);
  else for (let byte = 0; byte < length; byte += 1) to[at + byte] = from[start + byte] as number;
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
  if (type.typeId === DuckDBTypeId.VARCHAR || type.typeId === DuckDBTypeId.BLOB) return new Texts(to);
  if (type.typeId === DuckDBTypeId.BOOLEAN) return new Booleans(to);
  return new Values(to, layoutOf(type) as Layout);
}
