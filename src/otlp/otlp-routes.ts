import type { IncomingMessage } from 'node:http';
import { create, toBinary } from '@bufbuild/protobuf';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { wrongMediaType } from '../api/error-replies.js';
import { ApiError, PROTOBUF_TYPE } from '../api/errors.js';
import { NotUnpacked, TooLarge, UNPACKED_BYTES } from '../ingest/body.js';
import { Gone } from '../ingest/body-check.js';
import { NotKept } from '../ingest/bucket-writer.js';
import { InboxFull } from '../ingest/inbox.js';
import {
  CUT_OFF,
  encodingOf,
  FULL,
  goneOf,
  type InboxDeps,
  onlyUserOf,
  refusalOfBody,
} from '../ingest/request-body.js';
import { RequestMapper } from '../ingest/request-mapper.js';
import { kindOf } from '../ingest/set-aside.js';
import { OTLP } from '../ingest/source.js';
import { erasedIn } from '../store/state/erased-names.js';
import { BodyMemory } from './body-memory.js';
import { jsonTelemetry } from './json-telemetry.js';
import { ExportLogsServiceResponseSchema } from './proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { ExportMetricsServiceResponseSchema } from './proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js';
import { ExportTraceServiceResponseSchema } from './proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { protobufTelemetry } from './protobuf-telemetry.js';
import { RecordLines } from './record-lines.js';
import { Sessions } from './session-settings.js';
import { collect, type Outcome, settle } from './take-telemetry.js';
import { NotDecoded, RECORDS_AT_MOST, SIGNALS, type Signal, TooManyRecords } from './telemetry.js';

const MIB = 2 ** 20;
const MEDIA_TYPES = [PROTOBUF_TYPE, 'application/json'];
const NOT_DECODED =
  'The body must be an export request of OTLP, encoded as its Content-Type and Content-Encoding say.';
const TOO_LARGE = `A body must have at most ${UNPACKED_BYTES / MIB} MiB unpacked, and ${RECORDS_AT_MOST} records: send it in parts.`;
const FAILED =
  "The service can't keep events at the moment: none of these were accepted, so send them again later.";

const Taken = z
  .object({
    partialSuccess: z
      .object({
        rejectedLogRecords: z
          .string()
          .optional()
          .meta({ description: 'how many log records broke a rule', examples: ['1'] }),
        rejectedDataPoints: z
          .string()
          .optional()
          .meta({ description: 'the same of data points', examples: ['1'] }),
        rejectedSpans: z
          .string()
          .optional()
          .meta({ description: 'the same of spans', examples: ['1'] }),
        errorMessage: z
          .string()
          .meta({ description: 'what would be accepted, or advice', examples: ['session_id is required.'] }),
      })
      .optional()
      .meta({ description: 'absent if no record was rejected and there is no advice' }),
  })
  .meta({ id: 'OtlpAnswer', description: 'the answer of OTLP' });

/** The export request of a signal, for the API reference. */
const requestOf = (member: string) =>
  z.looseObject({
    [member]: z
      .array(z.looseObject({}))
      .optional()
      .meta({ examples: [[]] }),
  });

interface Route {
  readonly records: string;
  readonly member: string;
  /** The member of an answer that says how many records were rejected. */
  readonly rejected: 'rejectedLogRecords' | 'rejectedDataPoints' | 'rejectedSpans';
  /** The answer as protobuf. */
  readonly encode: (rejected: bigint, errorMessage: string) => Uint8Array;
}

const ROUTES: Readonly<Record<Signal, Route>> = {
  logs: {
    records: 'log records',
    member: 'resourceLogs',
    rejected: 'rejectedLogRecords',
    encode: (rejectedLogRecords, errorMessage) => {
      const partialSuccess = { rejectedLogRecords, errorMessage };
      return toBinary(
        ExportLogsServiceResponseSchema,
        create(ExportLogsServiceResponseSchema, { partialSuccess }),
      );
    },
  },
  metrics: {
    records: 'metrics',
    member: 'resourceMetrics',
    rejected: 'rejectedDataPoints',
    encode: (rejectedDataPoints, errorMessage) => {
      const partialSuccess = { rejectedDataPoints, errorMessage };
      return toBinary(
        ExportMetricsServiceResponseSchema,
        create(ExportMetricsServiceResponseSchema, { partialSuccess }),
      );
    },
  },
  traces: {
    records: 'spans',
    member: 'resourceSpans',
    rejected: 'rejectedSpans',
    encode: (rejectedSpans, errorMessage) => {
      const partialSuccess = { rejectedSpans, errorMessage };
      return toBinary(
        ExportTraceServiceResponseSchema,
        create(ExportTraceServiceResponseSchema, { partialSuccess }),
      );
    },
  },
};

/** The dependencies of these routes. */
export interface OtlpDeps extends InboxDeps {
  /** Called with the outcome of each request's records. */
  readonly countRecords: (signal: Signal, outcome: Outcome) => void;
}

/** Telemetry over OTLP/HTTP (docs/otlp.md, "Answers"). */
export const otlpRoutes: FastifyPluginAsyncZod<OtlpDeps> = async (
  app,
  { inbox, store, clock, countRecords },
) => {
  const mapper = new RequestMapper(OTLP);
  app.addHook('onClose', () => mapper.close());
  const memory = new BodyMemory();
  const sessions = new Sessions();
  // The body is unpacked and decoded below, so no parser may read it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(MEDIA_TYPES, (_, payload, done) => done(null, payload));

  const take = async (signal: Signal, request: FastifyRequest, gone: AbortSignal): Promise<Outcome> => {
    const { orgId, userId } = request.caller;
    // With a key without a user, records name their own users.
    onlyUserOf(request.caller);
    const isErased = await erasedIn(store, orgId);
    const sender = { requestId: request.id, orgId, userId, receivedAt: clock(), isErased };
    const records = new RecordLines(signal, sender, sessions);
    const encoding = encodingOf(request.headers['content-encoding']);
    // The body's memory is free before its records are mapped.
    await memory.with(orgId, request.body as IncomingMessage, encoding, (body) =>
      collect(
        request.mediaType === PROTOBUF_TYPE ? protobufTelemetry(signal, body) : jsonTelemetry(signal, body),
        records,
        gone,
      ),
    );
    return settle(signal, records, sender, mapper, inbox);
  };

  for (const signal of SIGNALS) {
    const { records, member, rejected, encode } = ROUTES[signal];
    app.post(
      `/v1/${signal}`,
      {
        config: {
          action: 'send events',
          bodies: {
            'application/json': requestOf(member),
            [PROTOBUF_TYPE]: z.string().meta({ examples: [''] }),
          },
          errors: {
            400: NOT_DECODED,
            413: TOO_LARGE,
            415: `This route doesn't accept that Content-Type: send ${MEDIA_TYPES.join(' or ')}.`,
            503: FULL,
          },
        },
        schema: {
          tags: ['events'],
          summary: `Send ${records} of OpenTelemetry`,
          description:
            'The body is an export request of OTLP/HTTP, as JSON or protobuf; Content-Encoding can be gzip. What a coding agent reports becomes events, everything else is ignored, and texts are dropped. Events are on disk when the answer comes, and count once however often they are sent. Answers and errors are encoded as the request is.',
          consumes: MEDIA_TYPES,
          response: { 200: Taken },
        },
      },
      async (request, reply) => {
        // An empty body without a Content-Type reaches no parser.
        if (request.body === undefined) throw wrongMediaType(request);
        const outcome = await take(signal, request, goneOf(reply)).catch((error) => {
          throw refusalOf(error, request);
        });
        countRecords(signal, outcome);
        const isSilent = outcome.rejected === 0 && outcome.message === '';
        const count = BigInt(outcome.rejected);
        if (request.mediaType === PROTOBUF_TYPE)
          return (reply as FastifyReply)
            .type(PROTOBUF_TYPE)
            .send(Buffer.from(isSilent ? [] : encode(count, outcome.message)));
        return isSilent
          ? {}
          : { partialSuccess: { [rejected]: String(count), errorMessage: outcome.message } };
      },
    );
  }
};

/** The error that the sender gets. Clients retry after a 503, and drop the data after any other error. */
function refusalOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TooLarge || error instanceof TooManyRecords) return new ApiError(413, TOO_LARGE);
  if (error instanceof NotDecoded || error instanceof NotUnpacked) return new ApiError(400, NOT_DECODED);
  if (error instanceof Gone || request.raw.readableAborted) return new ApiError(400, CUT_OFF);
  if (error instanceof InboxFull) return new ApiError(503, FULL);
  if (error instanceof NotKept) return refusalOfBody(error, request.log) as ApiError;
  request.log.error(`the records of the request could not be kept (${kindOf(error)})`);
  return new ApiError(503, FAILED);
}
