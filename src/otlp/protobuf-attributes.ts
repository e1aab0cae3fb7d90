import { isUtf8 } from 'node:buffer';
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { LEVELS_AT_MOST } from '../input/json-depth.js';
import { isKept, keep, type Scalar } from './allow-list.js';
import { AnyValueSchema, KeyValueSchema } from './proto/opentelemetry/proto/common/v1/common_pb.js';
import { NotDecoded } from './telemetry.js';

const { key: KEY, value: VALUE } = KeyValueSchema.field;
const { stringValue: TEXT, boolValue: BOOL, intValue: INTEGER, doubleValue: DOUBLE } = AnyValueSchema.field;

/** A value is the third level of a record, after the record and the attribute. */
const OPTIONS = { readUnknownFields: false, recursionLimit: LEVELS_AT_MOST - 2 };

/**
 * Reads a record that has attributes in one of its fields: keeps those on the list, and answers the bytes of everything else. Makes no
 * strings of texts that aren't kept. Throws for a record that generated code couldn't read.
 *
 * A record has some twenty attributes: making messages of them would take twice as long as all the rest of reading a record.
 */
export function keepAttributes(record: Buffer, field: number, into: Scalar[]): Buffer {
  const reader = new BinaryReader(record);
  const rest: Buffer[] = [];
  let from = 0;
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    if (number === field) {
      if (start > from) rest.push(record.subarray(from, start));
      readAttribute(reader, record, into);
      from = reader.pos;
    } else reader.skip(type, number);
  }
  rest.push(record.subarray(from));
  return Buffer.concat(rest);
}

function readAttribute(reader: BinaryReader, record: Buffer, into: Scalar[]): void {
  const end = endOf(reader);
  const first = reader.pos;
  let name = '';
  const values: { start: number; end: number }[] = [];
  while (reader.pos < end) {
    const [number, type] = reader.tag();
    if (number === KEY.number) name = readText(reader, record);
    else if (number === VALUE.number) {
      values.push({ end: endOf(reader), start: reader.pos });
      reader.pos = values.at(-1)?.end ?? end;
    } else {
      // A damaged tag can turn another field into this one: let generated code decide whether it can be read.
      fromBinary(KeyValueSchema, record.subarray(first, end), OPTIONS);
      reader.skip(type, number);
    }
  }
  if (reader.pos !== end) throw new NotDecoded();
  const isListed = isKept(name);
  let value: Scalar;
  for (const one of values) {
    reader.pos = one.start;
    value = readValue(reader, record, one.end, isListed, value);
  }
  reader.pos = end;
  if (isListed) keep(into, name, () => value);
}

/** Reads a value. `before` is its value unless a field says otherwise. */
function readValue(
  reader: BinaryReader,
  record: Buffer,
  end: number,
  isListed: boolean,
  before: Scalar,
): Scalar {
  let value = before;
  while (reader.pos < end) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    if (number === TEXT.number) value = isListed ? readText(reader, record) : passText(reader, record);
    else if (number === BOOL.number) value = String(reader.bool());
    else if (number === INTEGER.number) value = String(reader.int64());
    else if (number === DOUBLE.number) value = String(reader.double());
    else {
      // A list isn't kept, but it must be valid.
      reader.skip(type, number);
      const other = fromBinary(AnyValueSchema, record.subarray(start, reader.pos), OPTIONS);
      if (other.value.case !== undefined) value = undefined;
    }
  }
  if (reader.pos !== end) throw new NotDecoded();
  return value;
}

/** The end of a message or text that begins with its length. */
export function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  if (reader.pos + length > reader.len) throw new NotDecoded();
  return reader.pos + length;
}

function readText(reader: BinaryReader, record: Buffer): string {
  const end = endOf(reader);
  const text = record.toString('utf8', reader.pos, end);
  // Bytes that aren't UTF-8 become the replacement character.
  if (text.includes('\ufffd') && !isUtf8(record.subarray(reader.pos, end))) throw new NotDecoded();
  reader.pos = end;
  return text;
}

function passText(reader: BinaryReader, record: Buffer): undefined {
  const end = endOf(reader);
  if (!isUtf8(record.subarray(reader.pos, end))) throw new NotDecoded();
  reader.pos = end;
}
