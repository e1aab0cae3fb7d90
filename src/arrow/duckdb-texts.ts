import duckdb, { type Vector } from '@duckdb/node-bindings';

/** The bytes of a text in a vector of DuckDB, and the length up to which the text itself is there instead of a pointer. */
const TEXT_BYTES = 16;
const INLINE_BYTES = 12;

/** Offsets in a column of Arrow have 32 bits. */
const MOST_BYTES = 2 ** 31 - 1 - INLINE_BYTES;

export type Bytes = Uint8Array<ArrayBuffer>;

/** The same bytes, with room for as many as are needed. */
export function roomFor(bytes: Bytes, needed: number): Bytes {
  if (needed <= bytes.length) return bytes;
  const larger = new Uint8Array(Math.max(needed, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}

/** The bits that say which values of a vector are there, so many of them; undefined where all are. */
export function validityOf(vector: Vector, count: number): Uint8Array | undefined {
  return duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8) ?? undefined;
}

/** Whether a value is there, by the bits that say so of each; all are where there are none. */
export function isSet(bits: Uint8Array | undefined, index: number): boolean {
  return bits === undefined || ((bits[index >> 3] as number) & (1 << (index & 7))) !== 0;
}

/** Where each value of some length begins and ends. */
export class Offsets {
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
    const taken = this.offsets.subarray(0, this.count + 1);
    this.count = 0;
    return taken;
  }
}

/** Texts or blobs that are gathered from the vectors of one chunk after the other: one right behind the other. */
export class Texts {
  private readonly offsets = new Offsets();
  private bytes: Bytes = new Uint8Array();

  /** Takes over the first values of a vector, so many. `bits` say which are there. */
  add(vector: Vector, count: number, bits: Uint8Array | undefined): void {
    const entries = duckdb.vector_get_data(vector, count * TEXT_BYTES);
    const words = new Uint32Array(entries.buffer, entries.byteOffset, count * 4);
    const { offsets } = this;
    let at = offsets.end;
    let end = at;
    for (let index = 0; index < count; index += 1) {
      // The bytes of a null are undefined.
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
      this.bytes.set(run.subarray(done, done + bytes), at);
      done += bytes;
      at += bytes;
    }
  }

  /** The bytes so far, valid until more is added. */
  take(): { offsets: Int32Array; bytes: Uint8Array } {
    const offsets = this.offsets.take();
    return { offsets, bytes: this.bytes.subarray(0, offsets.at(-1)) };
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
