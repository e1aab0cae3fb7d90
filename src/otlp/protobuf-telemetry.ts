import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { LEVELS_AT_MOST, VALUES_AT_MOST } from '../json-depth.js';
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
import { keepAttributes } from './protobuf-attributes.js';
import {
  NotDecoded,
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
  let count = 0;
  const split = (bytes: Buffer, field: number) => {
    const found = splitAt(bytes, field);
    count += found.parts.length;
    if (count > RECORDS_AT_MOST) throw new TooManyRecords();
    return found;
  };
  try {
    const whole = split(body, 1);
    read(request, whole.rest);
    for (const part of whole.parts) {
      const { parts, rest } = split(part, 2);
      const resource = attributesOf(read(group, rest).resource?.attributes ?? []);
      for (const records of parts) {
        const found = split(records, 2);
        const scope = read(inner, found.rest).scope?.name ?? '';
        for (const record of found.parts) yield* READ[signal](record, scope, resource);
      }
    }
  } catch (error) {
    if (error instanceof TooManyRecords) throw error;
    // A name that is no UTF-8, a length beyond the end, too many levels: there are as many ways as there are lines in the library.
    throw new NotDecoded(String(error));
  }
}

/** What holds the records of a signal, the outermost first. A request has its parts in field 1, the others in field 2. */
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
  metrics: (bytes, scope, resource) => {
    if (isTooLarge(MetricSchema, bytes)) return ['too large'];
    const { name, data } = read(MetricSchema, bytes);
    if (data.case !== 'sum') return (data.value?.dataPoints ?? []).map(() => NO_COUNT);
    const isCumulative = data.value.aggregationTemporality === AggregationTemporality.CUMULATIVE;
    return data.value.dataPoints.map((point) => ({
      ...{ scope, name, isCumulative },
      time: String(point.timeUnixNano),
      start: String(point.startTimeUnixNano),
      value: String(point.value.value ?? ''),
      attributes: attributesOf(point.attributes, resource),
    }));
  },
};

/** A data point that counts nothing. */
const NO_COUNT: Telemetry = { scope: '', name: '', time: '', attributes: inherited() };

/** The messages in a field of a message, and the bytes of everything else in it. Throws for a field that is no message. */
function splitAt(bytes: Buffer, field: number): { parts: Buffer[]; rest: Buffer } {
  const reader = new BinaryReader(bytes);
  const parts: Buffer[] = [];
  const rest: Buffer[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    if (number === field && type !== WireType.LengthDelimited) throw new NotDecoded();
    if (number === field) {
      const end = reader.uint32() + reader.pos;
      if (end > bytes.length) throw new NotDecoded();
      parts.push(bytes.subarray(reader.pos, end));
      reader.pos = end;
    } else {
      reader.skip(type, number);
      rest.push(bytes.subarray(start, reader.pos));
    }
  }
  return { parts, rest: Buffer.concat(rest) };
}

function read<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  return fromBinary(schema, bytes, { readUnknownFields: false, recursionLimit: LEVELS_AT_MOST });
}

/** Whether a record has too many bytes or values. */
function isTooLarge(schema: DescMessage, bytes: Uint8Array): boolean {
  if (bytes.length <= PLAIN_BYTES) return false;
  return bytes.length > RECORD_BYTES || valuesOf(schema, bytes, 0) > VALUES_AT_MOST;
}

/** How many messages there are in a message, without making them. */
function valuesOf(schema: DescMessage, bytes: Uint8Array, depth: number): number {
  const reader = new BinaryReader(bytes);
  let values = 1;
  while (reader.pos < reader.len && values <= VALUES_AT_MOST && depth <= LEVELS_AT_MOST) {
    const [number, type] = reader.tag();
    const inner = type === WireType.LengthDelimited ? messageOf(schema, number) : undefined;
    if (inner === undefined) reader.skip(type, number);
    else values += valuesOf(inner, reader.bytes(), depth + 1);
  }
  return values;
}

const INNER = new Map<DescMessage, ReadonlyMap<number, DescMessage>>();

/** The message in a field of a message. */
function messageOf(schema: DescMessage, number: number): DescMessage | undefined {
  const known = INNER.get(schema);
  if (known !== undefined) return known.get(number);
  INNER.set(
    schema,
    new Map(
      schema.fields.flatMap((field) =>
        field.message === undefined ? [] : [[field.number, field.message] as const],
      ),
    ),
  );
  return messageOf(schema, number);
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
