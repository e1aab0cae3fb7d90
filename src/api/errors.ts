import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ulid } from '../ulid.js';

/** Every status that an error can have: public-api.md 7, decisions.md, Everywhere. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 406
  | 408
  | 409
  | 412
  | 413
  | 414
  | 415
  | 424
  | 429
  | 431
  | 500
  | 503;

/** What went wrong with a request, in one sentence that says what would be accepted. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    readonly status: ErrorStatus,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }
}

/** The families of routes: each has one shape of errors. */
export type Family = 'v0' | 'v1';

const Problem = z.object({ title: z.string(), detail: z.string(), status: z.int() });

/** The bodies of errors: v0 as public-api.md 2.5 has them, analytics and the rest as public-api.md 7 does. */
export const PROBLEMS = {
  v0: Problem.extend({ metadata: z.record(z.string(), z.unknown()).optional() }).meta({ id: 'Problem' }),
  v1: Problem.extend({ requestId: z.string() }).meta({ id: 'ProblemWithRequest' }),
} as const satisfies Record<Family, z.ZodType>;

const HIDDEN = 'The server could not answer; its log has the cause under this request id.';

/** What a framework's refusal is, where its own text says nothing to the sender. */
const REFUSALS: Record<string, [ErrorStatus, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    'The Content-Type is not one that this route takes: send application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'The Content-Length is not the length of the body.'],
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'The body must be a JSON document.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'The body must be a JSON document, and is empty.'],
  FST_ERR_BAD_URL: [400, 'The path is not one: a % in it must be followed by two hexadecimal digits.'],
};

/** The status and sentence of whatever was thrown. */
function refusalOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return new ApiError(400, sentenceOf(error, request));
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const [status, detail] = REFUSALS[code] ?? [];
  if (status !== undefined && detail !== undefined) return new ApiError(status, detail);
  if (statusCode === 413) {
    return new ApiError(413, `The body must have at most ${request.routeOptions.bodyLimit} bytes.`);
  }
  if (statusCode === 400) return new ApiError(400, 'The body must be a JSON document.');
  return new ApiError(500, HIDDEN);
}

const WHAT: Record<string, string> = {
  querystring: 'parameter',
  body: 'member',
  params: 'part of the path',
  headers: 'header',
};

/** The sentence for a request that its schema refuses: the first member that is wrong, and what would be accepted. */
function sentenceOf(
  error: {
    validationContext?: string;
    validation: { keyword: string; instancePath: string; message?: string; params: unknown }[];
  },
  request: FastifyRequest,
): string {
  const context = error.validationContext ?? 'body';
  const noun = WHAT[context] ?? 'member';
  const schema = (request.routeOptions.schema as Record<string, unknown> | undefined)?.[context];
  const accepted = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  for (const { keyword, params, instancePath } of error.validation) {
    if (keyword !== 'unrecognized_keys') continue;
    const [unknown] = (params as { keys: string[] }).keys;
    const where = instancePath.slice(1).replaceAll('/', '.');
    const known = where === '' && accepted.length > 0 ? `: there are ${accepted.join(', ')}` : '';
    return `There is no ${noun} ${where === '' ? '' : `${where}.`}${unknown?.slice(0, 100)}${known}.`;
  }
  const [first] = error.validation;
  const name = (first?.instancePath ?? '').slice(1).replaceAll('/', '.').slice(0, 100);
  if (name === '')
    return `The ${context === 'body' ? 'body' : 'request'} ${first?.message ?? 'is not valid'}.`;
  const given = request[context as 'query' | 'body' | 'params'] ?? request.query;
  const isAbsent =
    !name.includes('.') && typeof given === 'object' && given !== null && !Object.hasOwn(given, name);
  return isAbsent
    ? `The ${noun} ${name} is required: it ${first?.message}.`
    : `The ${noun} ${name} ${first?.message}.`;
}

/** Sends an error in its family's shape. A 5xx never shows its cause: the log does. */
export function sendProblem(
  family: Family,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, detail, headers } = refusalOf(error, request);
  if (status === 500) request.log.error({ err: error }, 'the request failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  reply.headers({ 'x-request-id': request.id, ...headers });
  const problem = { title: STATUS_CODES[status] ?? 'Error', detail, status };
  return reply
    .status(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(family === 'v0' ? problem : { ...problem, requestId: request.id }));
}

/** Answers what is no HTTP request, or has too large a head: before any route, so in the shape of most. */
export function refuseClient(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable) return;
  const [status, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The path and headers must have at most 16 KiB together.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request took too long to arrive: send it again.']
        : [400, 'This is not a request of HTTP/1.1 that the service can read.'];
  const title = STATUS_CODES[Number(status)] ?? 'Error';
  const requestId = `req_${ulid(Date.now())}`;
  const body = JSON.stringify({ title, detail, status, requestId });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/json; charset=utf-8',
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * Makes the scope of a plugin answer all errors in its family's shape, those of unknown paths too. Called before its
 * routes; hooks that were added before, as the one that asks for a credential, come first.
 */
export function answerErrors(app: FastifyInstance, family: Family): void {
  app.setErrorHandler((error, request, reply) => sendProblem(family, error, request, reply));
  app.setNotFoundHandler({ preHandler: [] }, (request) => {
    throw new ApiError(
      404,
      `There is nothing at ${request.url.split('?')[0]?.slice(0, 200)}: /docs shows what there is.`,
    );
  });
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Answers 405 for the methods that the routes of a scope don't have. Called after its routes. */
export function refuseOtherMethods(
  app: FastifyInstance,
  routes: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const [url, methods] of routes) {
    const others = METHODS.filter((method) => !methods.has(method));
    const allow = [...methods].sort().join(', ');
    app.route({
      method: others,
      url,
      schema: { hide: true },
      onRequest: async (request) => {
        throw new ApiError(405, `There is no ${request.method} here: use ${allow}.`, { allow });
      },
      handler: () => undefined,
    });
  }
}
