import {
  type DescMessage,
  fromBinary,
  type Message,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { type Attributes, inherited, keep, type Scalar } from './allow-list.js';
import { ExportLogsServiceRequestSchema } from './proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { ExportMetricsServiceRequestSchema } from './proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js';
import { ExportTraceServiceRequestSchema } from './proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { AnyValue, KeyValue } from './proto/opentelemetry/proto/common/v1/common_pb.js';
import {
  LogRecordSchema,
  ResourceLogsSchema,
  ScopeLogsSchema,
} from './proto/opentelemetry/proto/logs/v1/logs_pb.js';
import {
  AggregationTemporality,
  MetricSchema,
  ResourceMetricsSchema,
  ScopeMetricsSchema,
} from './proto/opentelemetry/proto/metrics/v1/metrics_pb.js';
import {
  ResourceSpansSchema,
  ScopeSpansSchema,
  SpanSchema,
} from './proto/opentelemetry/proto/trace/v1/trace_pb.js';
import { endOf, keepAttributes } from './protobuf-attributes.js';
import {
  NotDecoded,
  PIECE_BYTES,
  type Piece,
  PLAIN_BYTES,
  RECORD_BYTES,
  RECORDS_AT_MOST,
  type Signal,
  type Telemetry,
  TooManyRecords,
} from './telemetry.js';

/** Reads a protobuf body record by record. Throws NotDecoded and TooManyRecords. */
export function* protobufTelemetry(signal: Signal, body: Buffer): Generator<Piece> {
  const { request, group, inner } = SCHEMAS[signal];
  let room = RECORDS_AT_MOST;
  function* split(bytes: Buffer, field: number) {
    const found = yield* splitAt(bytes, field, room);
    room -= found.parts.length;
    return found;
  }
  try {
    const whole = yield* split(body, 1);
    if (isUnknown(whole.parts, readAround(request, whole.rest))) yield 'unknown';
    for (const part of whole.parts) {
      const { parts, rest } = yield* split(part, 2);
      const around = readAround(group, rest);
      if (isUnknown(parts, around)) yield 'unknown';
      const resource = attributesOf(around.resource?.attributes ?? []);
      for (const records of parts) {
        const found = yield* split(records, 2);
        const aroundRecords = readAround(inner, found.rest);
        if (isUnknown(found.parts, aroundRecords)) yield 'unknown';
        const scope = aroundRecords.scope?.name ?? '';
        for (const record of found.parts) yield* READ[signal](record, scope, resource);
      }
    }
  } catch (error) {
    if (error instanceof TooManyRecords) throw error;
    // A name that isn't UTF-8, a length beyond the end, too many levels: the library has many errors for this.
    throw new NotDecoded(String(error));
  }
}

/** The messages that contain the records of a signal, outermost first. A request has its parts in field 1, the others in field 2. */
const SCHEMAS = {
  logs: { request: ExportLogsServiceRequestSchema, group: ResourceLogsSchema, inner: ScopeLogsSchema },
  metrics: {
    request: ExportMetricsServiceRequestSchema,
    group: ResourceMetricsSchema,
    inner: ScopeMetricsSchema,
  },
  traces: { request: ExportTraceServiceRequestSchema, group: ResourceSpansSchema, inner: ScopeSpansSchema },
} as const;

type Read = (bytes: Buffer, scope: string, resource: Attributes) => Iterable<Piece>;

const READ: Readonly<Record<Signal, Read>> = {
  logs: (bytes, scope, resource) => {
    if (isTooLarge(LogRecordSchema, bytes)) return ['too large'];
    const attributes = inherited(resource);
    const rest = keepAttributes(bytes, LogRecordSchema.field.attributes.number, attributes);
    const { timeUnixNano, observedTimeUnixNano, eventName, body } = read(LogRecordSchema, rest);
    const time = String(timeUnixNano === 0n ? observedTimeUnixNano : timeUnixNano);
    const name = eventName || body?.value.case !== 'stringValue' ? eventName : body.value.value;
    return [{ scope, name, time, attributes }];
  },
  traces: (bytes, scope, resource) => {
    if (isTooLarge(SpanSchema, bytes)) return ['too large'];
    const attributes = inherited(resource);
    const span = read(SpanSchema, keepAttributes(bytes, SpanSchema.field.attributes.number, attributes));
    return [
      {
        ...{ scope, name: span.name, kind: span.kind },
        time: String(span.endTimeUnixNano),
        start: String(span.startTimeUnixNano),
        traceId: hexOf(span.traceId),
        spanId: hexOf(span.spanId),
        parentSpanId: hexOf(span.parentSpanId),
        attributes,
      },
    ];
  },
  *metrics(bytes, scope, resource) {
    if (isTooLarge(MetricSchema, bytes)) return yield 'too large';
    const { name, data } = read(MetricSchema, bytes);
    yield;
    if (data.case !== 'sum') return yield* (data.value?.dataPoints ?? []).map(() => NO_COUNT);
    const isCumulative = data.value.aggregationTemporality === AggregationTemporality.CUMULATIVE;
    for (const point of data.value.dataPoints)
      yield {
        ...{ scope, name, isCumulative },
        time: String(point.timeUnixNano),
        start: String(point.startTimeUnixNano),
        value: String(point.value.value ?? ''),
        attributes: attributesOf(point.attributes, resource),
      };
  },
};

/** A data point that counts nothing. */
const NO_COUNT: Telemetry = { scope: '', name: '', time: '', attributes: inherited() };

/**
 * Splits a message into the messages of one field and the bytes of everything else. Yields at least once, and between pieces. Throws
 * TooManyRecords, and NotDecoded if the field is no message, or too much is around them.
 */
function* splitAt(
  bytes: Buffer,
  field: number,
  atMost: number,
): Generator<undefined, { parts: Buffer[]; rest: Buffer }> {
  const reader = new BinaryReader(bytes);
  const parts: Buffer[] = [];
  const rest: Buffer[] = [];
  let [from, next, around] = [0, 0, 0];
  const leave = (end: number) => {
    around += end - from;
    if (around > RECORD_BYTES) throw new NotDecoded();
    if (end > from) rest.push(bytes.subarray(from, end));
    from = end;
  };
  yield;
  while (reader.pos < reader.len) {
    if (reader.pos >= next) {
      next = reader.pos + PIECE_BYTES;
      leave(reader.pos);
      yield;
    }
    const start = reader.pos;
    const [number, type] = reader.tag();
    if (number !== field) {
      skip(reader, type);
      continue;
    }
    if (type !== WireType.LengthDelimited) throw new NotDecoded();
    if (parts.length === atMost) throw new TooManyRecords();
    leave(start);
    from = endOf(reader);
    parts.push(bytes.subarray(reader.pos, from));
    reader.pos = from;
  }
  leave(reader.len);
  return { parts, rest: Buffer.concat(rest) };
}

/** Skips a field. Throws NotDecoded for a group: OTLP has none, and skipping one could take as long as a whole body. */
function skip(reader: BinaryReader, type: WireType): void {
  if (type === WireType.StartGroup) throw new NotDecoded();
  reader.skip(type);
}

/** Reads the message around records. Throws NotDecoded if it has too much in it. */
function readAround<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  if (isTooLarge(schema, bytes)) throw new NotDecoded();
  return read(schema, bytes, true);
}

/** Whether a message has no parts, but a field that isn't known, so that what was sent is something else. */
function isUnknown(parts: readonly Buffer[], around: Message): boolean {
  return parts.length === 0 && around.$unknown !== undefined;
}

function read<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
  readUnknownFields = false,
): MessageShape<Desc> {
  return fromBinary(schema, bytes, { readUnknownFields, recursionLimit: LEVELS_AT_MOST });
}

/** Whether a message has too many bytes or values. */
function isTooLarge(schema: DescMessage, bytes: Uint8Array): boolean {
  if (bytes.length <= PLAIN_BYTES) return false;
  return (
    bytes.length > RECORD_BYTES || valuesOf(schema, new BinaryReader(bytes), bytes.length, 0) > VALUES_AT_MOST
  );
}

/** Counts the fields of a message and those nested in it, without creating them. Stops when there are too many. */
function valuesOf(schema: DescMessage, reader: BinaryReader, end: number, depth: number): number {
  let values = 0;
  while (reader.pos < end && values <= VALUES_AT_MOST) {
    const [number, type] = reader.tag();
    values += 1;
    if (type !== WireType.LengthDelimited) {
      skip(reader, type);
      continue;
    }
    const stop = endOf(reader);
    const { message, bytesEach } = contentOf(schema, number);
    if (message !== undefined && depth < LEVELS_AT_MOST) values += valuesOf(message, reader, stop, depth + 1);
    else if (bytesEach !== undefined) values += (stop - reader.pos) / bytesEach;
    reader.pos = stop;
  }
  return values;
}

/** The content of a length-delimited field: a message, numbers with a minimum of bytes each, or a text. */
interface Content {
  readonly message?: DescMessage;
  readonly bytesEach?: number;
}

const TEXT: Content = {};
const CONTENTS = new Map<DescMessage, ReadonlyMap<number, Content>>();

function contentOf(schema: DescMessage, number: number): Content {
  const known = CONTENTS.get(schema);
  if (known !== undefined) return known.get(number) ?? TEXT;
  const contents = schema.fields.map((field): [number, Content] => {
    if (field.message !== undefined) return [field.number, { message: field.message }];
    const isPacked = field.fieldKind === 'list' && field.packed;
    if (!isPacked) return [field.number, TEXT];
    const isLong = field.scalar === ScalarType.FIXED64 || field.scalar === ScalarType.DOUBLE;
    return [field.number, { bytesEach: isLong ? 8 : 1 }];
  });
  CONTENTS.set(schema, new Map(contents));
  return contentOf(schema, number);
}

function attributesOf(list: readonly KeyValue[], resource?: Attributes): Attributes {
  const kept = inherited(resource);
  for (const { key, value } of list) keep(kept, key, () => scalarOf(value));
  return kept;
}

function scalarOf(value: AnyValue | undefined): Scalar {
  switch (value?.value.case) {
    case 'stringValue':
      return value.value.value;
    case 'boolValue':
    case 'intValue':
    case 'doubleValue':
      return String(value.value.value);
    default:
      return undefined;
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
