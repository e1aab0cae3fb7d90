import { isUtf8 } from 'node:buffer';
import type { DescEnum } from '@bufbuild/protobuf';
import { isIntricate, LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { type Attributes, inherited, keep, type Scalar } from './allow-list.js';
import { cutRecords, type Group } from './json-cut.js';
import {
  AggregationTemporality,
  AggregationTemporalitySchema,
} from './proto/opentelemetry/proto/metrics/v1/metrics_pb.js';
import { Span_SpanKindSchema } from './proto/opentelemetry/proto/trace/v1/trace_pb.js';
import {
  MEMBERS,
  NotDecoded,
  type Piece,
  PLAIN_BYTES,
  RECORD_BYTES,
  type Signal,
  type Telemetry,
} from './telemetry.js';

/** Reads a JSON body record by record. Throws NotDecoded and TooManyRecords. */
export function* jsonTelemetry(signal: Signal, body: Buffer): Generator<Piece> {
  if (body.length === 0) return;
  const [outer, middle, inner] = MEMBERS[signal];
  const { groups, frame } = yield* cutRecords(body);
  const others = new Set(groups);
  const whole = parse(frame);
  const members = objectOf(whole);
  if (members !== whole && members[outer] !== undefined) yield 'renamed';
  for (const place of yield* partsOf(members, outer, [])) {
    const group = groups[Number(objectOf(place).at)];
    if (group === undefined) throw new NotDecoded();
    others.delete(group);
    yield* recordsOf(signal, body, group, middle, inner);
  }
  // Other parts of the body have no meaning, but must be JSON.
  for (const group of others) {
    parse(group.text);
    yield* checked(body, group.records);
  }
}

/** Checks that records are JSON. */
function* checked(body: Buffer, records: Group['records']): Generator<undefined> {
  for (const [start, end] of records) {
    if (end - start <= RECORD_BYTES) parse(textIn(body, start, end));
    yield;
  }
}

function* recordsOf(
  signal: Signal,
  body: Buffer,
  group: Group,
  middle: string,
  inner: string,
): Generator<Piece> {
  const members = objectOf(parse(group.text));
  const resource = attributesOf(objectOf(members.resource).attributes);
  const seen = new Set<number>();
  yield;
  for (const one of yield* partsOf(members, middle, ['resource', 'schemaUrl'])) {
    yield;
    const part = objectOf(one);
    const scope = textOf(objectOf(part.scope).name);
    for (const place of yield* partsOf(part, inner, ['scope', 'schemaUrl'])) {
      const at = Number(objectOf(place).at);
      const [start, end] = group.records[at] ?? [];
      seen.add(at);
      if (start === undefined || end === undefined) throw new NotDecoded();
      const text = end - start > RECORD_BYTES ? undefined : textIn(body, start, end);
      if (text === undefined || isTooLarge(text)) {
        yield 'too large';
        continue;
      }
      // Each step can take long with a long record.
      yield;
      const exact = exactOf(text);
      yield;
      yield* READ[signal](objectOf(parseExact(exact)), scope, resource);
    }
  }
  if (seen.size < group.records.length)
    yield* checked(
      body,
      group.records.filter((_, at) => !seen.has(at)),
    );
}

/** The list in a member. Yields 'unknown' if there is none, but a member other than these, so that what was sent is something else. */
function* partsOf(
  members: Members,
  list: string,
  others: readonly string[],
): Generator<'unknown', readonly unknown[]> {
  if (members[list] === undefined && Object.keys(members).some((name) => !others.includes(name)))
    yield 'unknown';
  return listOf(members[list]);
}

type Members = Readonly<Record<string, unknown>>;
type Read = (members: Members, scope: string, resource: Attributes) => Iterable<Telemetry>;

const READ: Readonly<Record<Signal, Read>> = {
  logs: (record, scope, resource) => {
    const { timeUnixNano, observedTimeUnixNano, eventName, body, attributes } = record;
    const time = integerOf(timeUnixNano);
    return [
      {
        scope,
        name: textOf(eventName) || textOf(objectOf(body).stringValue),
        time: time === '0' ? integerOf(observedTimeUnixNano) : time,
        attributes: attributesOf(attributes, resource),
      },
    ];
  },
  traces: (span, scope, resource) => [
    {
      ...{ scope, name: textOf(span.name), kind: enumOf(Span_SpanKindSchema, span.kind) },
      time: integerOf(span.endTimeUnixNano),
      start: integerOf(span.startTimeUnixNano),
      traceId: textOf(span.traceId).toLowerCase(),
      spanId: textOf(span.spanId).toLowerCase(),
      parentSpanId: textOf(span.parentSpanId).toLowerCase(),
      attributes: attributesOf(span.attributes, resource),
    },
  ],
  metrics: ({ name, sum, gauge, histogram, exponentialHistogram, summary }, scope, resource) => {
    const isSum = sum !== undefined && sum !== null;
    const data = objectOf(isSum ? sum : (gauge ?? histogram ?? exponentialHistogram ?? summary));
    return listOf(data.dataPoints).map((one) => {
      const point = objectOf(one);
      return {
        scope,
        name: isSum ? textOf(name) : '',
        isCumulative:
          enumOf(AggregationTemporalitySchema, data.aggregationTemporality) ===
          AggregationTemporality.CUMULATIVE,
        time: integerOf(point.timeUnixNano),
        start: integerOf(point.startTimeUnixNano),
        value: point.asInt === undefined ? numberOf(point.asDouble) : integerOf(point.asInt),
        attributes: attributesOf(point.attributes, resource),
      };
    });
  },
};

/** A part of the body as text. Throws NotDecoded if it isn't UTF-8. */
function textIn(body: Buffer, start: number, end: number): string {
  const bytes = body.subarray(start, end);
  if (!isUtf8(bytes)) throw new NotDecoded();
  return bytes.toString();
}

function isTooLarge(text: string): boolean {
  return text.length > PLAIN_BYTES && isIntricate(text, LEVELS_AT_MOST, VALUES_AT_MOST);
}

/** Finds a possible number with more digits than JavaScript's numbers can hold exactly. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const INTEGER = /^-?\d{16,}$/;
const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

function parse(text: string): unknown {
  return parseExact(exactOf(text));
}

/** A JSON text with its long integers as strings. Nanoseconds have nineteen digits, and some exporters write them as numbers. */
function exactOf(text: string): string {
  if (!LONG_NUMBER.test(text)) return text;
  let exact = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1)
        if (text.charCodeAt(at) === BACKSLASH) at += 1;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number = ''] = NUMBER.exec(text) ?? [];
      if (INTEGER.test(number)) {
        exact += `${text.slice(from, at)}"${number}"`;
        from = at + number.length;
      }
      at += Math.max(number.length, 1) - 1;
    }
  }
  return exact + text.slice(from);
}

function parseExact(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotDecoded();
  }
}

/**
 * An object; one without members if it is missing. Its members can have the names of protobuf, such as `resource_logs`, which are read
 * as those of JSON, `resourceLogs`. Throws NotDecoded for anything else.
 */
function objectOf(value: unknown): Members {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new NotDecoded();
  for (const name in value) if (name.includes('_')) return renamed(value);
  return value as Members;
}

function renamed(members: object): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      member,
    ]),
  );
}

/** The number of an enum's value, which JSON has as a number or by its name. Throws NotDecoded for a name that it doesn't have. */
function enumOf({ values }: DescEnum, value: unknown = 0): number {
  const named = values.find(({ name }) => name === value);
  const number = named?.number ?? Number(value);
  if (!Number.isInteger(number)) throw new NotDecoded();
  return number;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new NotDecoded();
  return value;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A 64-bit integer, which JSON has as a string or a number. Throws NotDecoded for anything else. */
function integerOf(value: unknown): string {
  const text = value === undefined || value === null ? '0' : String(value);
  if (!/^-?\d{1,20}$/.test(text)) throw new NotDecoded();
  return text;
}

function numberOf(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '';
}

function attributesOf(list: unknown, resource?: Attributes): Attributes {
  const kept = inherited(resource);
  for (const one of listOf(list)) {
    const { key, value } = objectOf(one);
    if (typeof key === 'string') keep(kept, key, () => scalarOf(objectOf(value)));
  }
  return kept;
}

function scalarOf({ stringValue, intValue, boolValue, doubleValue }: Members): Scalar {
  if (stringValue !== undefined) return typeof stringValue === 'string' ? stringValue : undefined;
  const value = intValue ?? boolValue ?? doubleValue;
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}
