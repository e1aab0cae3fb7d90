import type { Attributes } from './allow-list.js';

/** The three kinds of telemetry that OTLP carries, as its addresses name them. */
export const SIGNALS = ['logs', 'metrics', 'traces'] as const;
export type Signal = (typeof SIGNALS)[number];

/** A log record, a span or a data point, as far as it is read. Instants are texts of Unix nanoseconds, ids are hexadecimal. */
export interface Telemetry {
  readonly scope: string;
  /** The name of a span, of a metric, or of an event where its attributes don't say it. */
  readonly name: string;
  /** When it happened, or ended. */
  readonly time: string;
  readonly start?: string;
  readonly value?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly parentSpanId?: string;
  /** The kind of a span, as OTLP numbers it. */
  readonly kind?: number;
  /** Whether a data point repeats what former ones have said. */
  readonly isCumulative?: boolean;
  /** Its own attributes, and those of its resource that it doesn't have itself. */
  readonly attributes: Attributes;
}

/** What a body is read into, piece by piece: a record, one that is too large to be read, or nothing yet. */
export type Piece = Telemetry | 'too large' | undefined;

/** The body isn't what its Content-Type says. */
export class NotDecoded extends Error {
  override name = 'NotDecoded';
}

/** The body has more records than it may. */
export class TooManyRecords extends Error {
  override name = 'TooManyRecords';
}

/** A longer record isn't read: bytes. */
export const RECORD_BYTES = 4 << 20;

/** A body can have so many records, and so many resources and scopes. */
export const RECORDS_AT_MOST = 100_000;

/** A shorter record can't have too many values: bytes. */
export const PLAIN_BYTES = 16 << 10;

/** How much is looked at before others can have their turn: bytes. */
export const PIECE_BYTES = 64 << 10;
