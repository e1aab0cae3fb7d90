/** What a Parquet file's footer says of where its rows are, in bytes from the start of the file. */
export interface Footer {
  readonly rows: number;
  /** Where the first and the last byte of its rows are. */
  readonly start: number;
  readonly end: number;
  /** The footer as it is when those have moved. */
  readonly bytes: Buffer;
}

/** The members of FileMetaData that are offsets, by the numbers of the fields that lead to them (parquet.thrift). */
const ROWS = '3';
const PAGES = ['4.1.3.9', '4.1.3.10', '4.1.3.11'];
const PAGES_LENGTH = '4.1.3.7';
const BLOOM_FILTER = '4.1.3.14';
const BLOOM_FILTER_LENGTH = '4.1.3.15';
const OFFSETS = new Set(['4.5', '4.1.2', '4.1.4', '4.1.6', ...PAGES, BLOOM_FILTER]);

/** Thrift's compact protocol: the kinds of values that FileMetaData has. */
const [TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, , STRUCT] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
];

/** Copies a struct of Thrift's compact protocol, with other numbers in place of some. */
class Copier {
  private readonly copied: Buffer[] = [];
  private at = 0;
  private kept = 0;

  constructor(
    private readonly bytes: Buffer,
    /** Answers the number to write for one that was read. */
    private readonly replace: (path: string, value: number) => number,
  ) {}

  copy(): Buffer {
    this.struct('');
    this.copied.push(this.bytes.subarray(this.kept, this.at));
    return Buffer.concat(this.copied);
  }

  private struct(path: string): void {
    for (let field = 0; ; ) {
      const head = this.byte();
      if (head === 0) return;
      field = head >> 4 === 0 ? this.number() : field + (head >> 4);
      this.value(head & 15, path === '' ? String(field) : `${path}.${field}`);
    }
  }

  private value(kind: number, path: string): void {
    if (kind === TRUE || kind === FALSE) return;
    if (kind === BYTE) this.at += 1;
    else if (kind === I16 || kind === I32 || kind === I64) this.integer(path);
    else if (kind === DOUBLE) this.at += 8;
    else if (kind === BINARY) this.skip(this.varint());
    else if (kind === LIST || kind === SET) this.list(path);
    else if (kind === STRUCT) this.struct(path);
    else throw new TypeError(`a Parquet footer has no values of kind ${kind}`);
  }

  private list(path: string): void {
    const head = this.byte();
    const length = head >> 4 === 15 ? this.varint() : head >> 4;
    const kind = head & 15;
    // In a list a boolean is a byte of its own.
    for (let index = 0; index < length; index += 1)
      this.value(kind === TRUE || kind === FALSE ? BYTE : kind, path);
  }

  private integer(path: string): void {
    const from = this.at;
    const value = this.number();
    const other = this.replace(path, value);
    if (other === value) return;
    this.copied.push(this.bytes.subarray(this.kept, from), varintOf(other));
    this.kept = this.at;
  }

  private byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw new RangeError('the Parquet footer ends too early');
    this.at += 1;
    return byte;
  }

  private skip(length: number): void {
    this.at += length;
    if (this.at > this.bytes.length) throw new RangeError('the Parquet footer ends too early');
  }

  private varint(): number {
    // By arithmetic, since offsets have more than the 32 bits that operators on bits have.
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  /** Zigzag: 0, -1, 1, -2, ... */
  private number(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

function varintOf(number: number): Buffer {
  const bytes: number[] = [];
  let value = number < 0 ? -2 * number - 1 : 2 * number;
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

/** Reads a footer, and moves the rows that it is of by so many bytes. */
export function movedFooter(bytes: Buffer, by: number): Footer {
  let rows = 0;
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  let length = 0;
  let filter = 0;
  const moved = new Copier(bytes, (path, value) => {
    if (path === ROWS) rows = value;
    else if (path === PAGES_LENGTH) length = value;
    else if (path === BLOOM_FILTER) filter = value;
    else if (path === BLOOM_FILTER_LENGTH) end = Math.max(end, filter + value);
    else if (PAGES.includes(path) && value > 0) {
      start = Math.min(start, value);
      end = Math.max(end, value + length);
    }
    // What isn't there is 0.
    return OFFSETS.has(path) && value > 0 ? value + by : value;
  }).copy();
  return { rows, start: Math.min(start, end), end, bytes: moved };
}
