import { isUtf8 } from 'node:buffer';
import { isIntricate, LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { type Attributes, inherited, keep, type Scalar } from './allow-list.js';
import { cutRecords, type Group } from './json-cut.js';
import {
  NotDecoded,
  type Piece,
  PLAIN_BYTES,
  RECORD_BYTES,
  type Signal,
  type Telemetry,
} from './telemetry.js';

/** The members of a body that hold the records of a signal, the outermost first. */
const MEMBERS: Readonly<Record<Signal, readonly [string, string, string]>> = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
};

/** Reads a JSON body record by record. Throws NotDecoded and TooManyRecords. */
export function* jsonTelemetry(signal: Signal, body: Buffer): Generator<Piece> {
  if (body.length === 0) return;
  const [outer, middle, inner] = MEMBERS[signal];
  const { groups, frame } = yield* cutRecords(body);
  const others = new Set(groups);
  for (const place of listOf(objectOf(parse(frame))[outer])) {
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
  for (const one of listOf(members[middle])) {
    yield;
    const part = objectOf(one);
    const scope = textOf(objectOf(part.scope).name);
    for (const place of listOf(part[inner])) {
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
      ...{ scope, name: textOf(span.name), kind: Number(span.kind ?? 0) },
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
        isCumulative: Number(data.aggregationTemporality) === 2,
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

/** An object; one without members if it is missing. Throws NotDecoded for anything else. */
function objectOf(value: unknown): Members {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new NotDecoded();
  return value as Members;
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
