import type { Attributes } from './allow-list.js';

/** The three kinds of telemetry that OTLP carries, as its addresses name them. */
export const SIGNALS = ['logs', 'metrics', 'traces'] as const;
export type Signal = (typeof SIGNALS)[number];

/** The members of a body that hold the records of a signal, the outermost first. */
export const MEMBERS: Readonly<Record<Signal, readonly [string, string, string]>> = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
};

/** A log record, a span or a data point, as far as it is read. Instants are texts of Unix nanoseconds, ids are hexadecimal. */
export interface Telemetry {
  readonly scope: string;
  /** The name of a span or metric, or of an event whose attributes don't have it. */
  readonly name: string;
  /** The time of the record, or the end of a span. */
  readonly time: string;
  readonly start?: string;
  readonly value?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly parentSpanId?: string;
  /** The kind of a span, as OTLP numbers it. */
  readonly kind?: number;
  /** Whether a data point includes the counts of earlier ones. */
  readonly isCumulative?: boolean;
  /** Its own attributes, and those of its resource that it doesn't have itself. */
  readonly attributes: Attributes;
}

/**
 * A piece of a body: a record, one that is too large to be read, a part without any member of the signal, the news that it is JSON with
 * protobuf's names, or nothing yet.
 */
export type Piece = Telemetry | 'too large' | 'unknown' | 'renamed' | undefined;

/** The body doesn't match its Content-Type. */
export class NotDecoded extends Error {
  override name = 'NotDecoded';
}

/** The body has too many records. */
export class TooManyRecords extends Error {
  override name = 'TooManyRecords';
}

/** How many bytes a record can have. Longer ones aren't read. */
export const RECORD_BYTES = 4 << 20;

/** How many records a body can have, and how many resources and scopes. */
export const RECORDS_AT_MOST = 100_000;

/** A record of at most this many bytes can't have too many values. */
export const PLAIN_BYTES = 16 << 10;

/** How many bytes are read before other work gets a turn. */
export const PIECE_BYTES = 64 << 10;
