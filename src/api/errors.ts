import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ulid } from '../ulid.js';

/** What there is to know of a status: when an answer has it, a sentence as its `detail`, and headers that it always has. */
interface ErrorKind {
  readonly when: string;
  readonly detail: string;
  /** With their values, unless the error has others. */
  readonly headers?: Readonly<Record<string, string>>;
}

const HIDDEN = 'The server could not answer; its log has the cause under this request id.';

/** Every status that an error can have: public-api.md 7; decisions.md, Everywhere. */
export const ERRORS = {
  400: {
    when: 'A parameter, a member of the body, or the request itself is wrong.',
    detail: 'There is no parameter timezone: this route takes none.',
  },
  401: {
    when: 'There is no credential, or it is not valid.',
    detail: 'The request must have the header "Authorization: Bearer <API key>".',
    headers: { 'www-authenticate': 'Bearer' },
  },
  403: {
    when: 'The role of the credential may not do this.',
    detail: 'A credential of role guest may not do this.',
  },
  404: {
    when: 'There is nothing here.',
    detail: 'There is nothing at /api/v1/analytics/nothing: /docs shows what there is.',
  },
  405: {
    when: 'The path has other methods only.',
    detail: 'There is no DELETE here: use GET, HEAD.',
    headers: { allow: 'GET, HEAD' },
  },
  406: {
    when: 'No form of the answer is one that the Accept header takes.',
    detail: 'The answer is application/json.',
  },
  408: {
    when: 'The request took too long to arrive.',
    detail: 'The request took too long to arrive: send it again.',
  },
  409: { when: 'What is to be made is there already.', detail: 'There is one of this name already.' },
  412: {
    when: 'What is to be changed has been changed since it was read.',
    detail: 'The revision is not the newest: read it again.',
  },
  413: { when: 'The body is too large.', detail: `The body must have at most ${2 ** 20} bytes.` },
  414: { when: 'The path is too long.', detail: 'A part of the path is too long.' },
  415: {
    when: 'The body is of a type, or packed in a way, that the route does not take.',
    detail: 'The Content-Type is not one that this route takes: send application/json.',
  },
  424: { when: 'What the request depends on failed.', detail: 'The bytes were never uploaded.' },
  429: {
    when: 'The credential has sent as many requests as it may for now.',
    detail: 'A credential may send 6000 requests a minute: go on in 60 seconds.',
    headers: { 'retry-after': '60' },
  },
  431: {
    when: 'The path and the headers are too large.',
    detail: 'The path and headers must have at most 16 KiB together.',
  },
  500: {
    when: 'Something went wrong in the service; its log has the cause under the request id.',
    detail: HIDDEN,
  },
  503: {
    when: 'The service cannot do this just now.',
    detail: 'The keys that JWTs are checked with can not be had just now: try again.',
    headers: { 'retry-after': '5' },
  },
} as const satisfies Record<number, ErrorKind>;

export type ErrorStatus = keyof typeof ERRORS;

/** The headers that every error of a status has, with their values unless the error has others. */
export function headersOf(status: ErrorStatus): Readonly<Record<string, string>> {
  const { headers = {} }: ErrorKind = ERRORS[status];
  return headers;
}

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

/** The family that a path is of, whether there is something at it or not. */
export function familyOf(path: string): Family {
  return /^\/api\/v0(\/|\?|$)/.test(path) ? 'v0' : 'v1';
}

const Problem = z.object({
  title: z.string().meta({ description: 'title of the status' }),
  detail: z.string().meta({ description: 'what is wrong and what would be accepted, in a sentence' }),
  status: z.int().min(400).max(599),
});

/** The bodies of errors: v0 as public-api.md 2.5 has them, analytics and the rest as public-api.md 7 does. */
export const PROBLEMS = {
  v0: Problem.extend({ metadata: z.record(z.string(), z.unknown()).optional() }).meta({ id: 'Problem' }),
  v1: Problem.extend({
    requestId: z.string().meta({ description: 'what x-request-id has too' }),
  }).meta({ id: 'ProblemWithRequest' }),
} as const satisfies Record<Family, z.ZodType>;

/** The body of an error. */
export function problemOf(family: Family, status: ErrorStatus, detail: string, requestId: string): object {
  const problem = { title: STATUS_CODES[status] ?? 'Error', detail, status };
  return family === 'v0' ? problem : { ...problem, requestId };
}

/** What a framework's refusal is, where its own text says nothing to the sender. */
const REFUSALS: Record<string, [ErrorStatus, string]> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'The Content-Length is not the length of the body.'],
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'The body must be a JSON document.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'The body must be a JSON document, and is empty.'],
  FST_ERR_BAD_URL: [400, 'The path is not one: a % in it must be followed by two hexadecimal digits.'],
};

/** The refusal of a body of a type that the route doesn't take. */
export function wrongMediaType(request: FastifyRequest): ApiError {
  const taken = request.routeOptions.schema?.consumes ?? ['application/json'];
  return new ApiError(415, `The Content-Type is not one that this route takes: send ${taken.join(' or ')}.`);
}

/** The status and sentence of whatever was thrown. */
function refusalOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return new ApiError(400, sentenceOf(error, request));
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return wrongMediaType(request);
  const [status, detail] = REFUSALS[code] ?? [];
  if (status !== undefined && detail !== undefined) return new ApiError(status, detail);
  if (statusCode === 413) {
    return new ApiError(413, `The body must have at most ${request.routeOptions.bodyLimit} bytes.`);
  }
  if (statusCode === 400) return new ApiError(400, 'The body must be a JSON document.');
  // What serves the files of the page refuses paths that lead out of them, and headers.
  if (statusCode === 403 || statusCode === 404) return nothingAt(request.url);
  if (statusCode < 500) return new ApiError(400, 'A header of the request asks for what there is not.');
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
    const known =
      where !== ''
        ? ''
        : accepted.length > 0
          ? `: there are ${accepted.join(', ')}`
          : context === 'querystring'
            ? ': this route takes none'
            : '';
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

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends an error in its family's shape. A 5xx never shows its cause: the log does. */
export function sendProblem(
  family: Family,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, detail, headers } = refusalOf(error, request);
  if (status === 500) request.log.error({ err: error }, 'the request failed');
  for (const [name, value] of Object.entries(headersOf(status)))
    if (!reply.hasHeader(name)) reply.header(name, value);
  reply.headers({ 'x-request-id': request.id, ...headers });
  return reply
    .status(status)
    .type(JSON_TYPE)
    .send(JSON.stringify(problemOf(family, status, detail, request.id)));
}

/** Answers what is no HTTP request, or has too large a head: before any route, so in the shape of most. */
export function refuseClient(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable) return;
  const [status, detail] = CONNECTION_ERRORS[error.code ?? ''] ?? [
    400,
    'This is not a request of HTTP/1.1 that the service can read.',
  ];
  const requestId = `req_${ulid(Date.now())}`;
  const body = JSON.stringify(problemOf('v1', status, detail, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const CONNECTION_ERRORS: Record<string, [ErrorStatus, string]> = {
  HPE_HEADER_OVERFLOW: [431, ERRORS[431].detail],
  ERR_HTTP_REQUEST_TIMEOUT: [408, ERRORS[408].detail],
};

/**
 * Makes the scope of a plugin answer all errors in a family's shape, those of unknown paths too. Called before its
 * routes; hooks that were added before, as the one that asks for a credential, come first.
 */
export function answerErrors(app: FastifyInstance, shapeOf: (path: string) => Family): void {
  app.setErrorHandler((error, request, reply) => sendProblem(shapeOf(request.url), error, request, reply));
  app.setNotFoundHandler((request) => {
    throw nothingAt(request.url);
  });
}

function nothingAt(url: string): ApiError {
  return new ApiError(
    404,
    `There is nothing at ${url.split('?')[0]?.slice(0, 200)}: /docs shows what there is.`,
  );
}

/** Adds routes to a scope, and answers 405 for all other methods of their paths. */
export async function refuseOtherMethods(app: FastifyInstance, addRoutes: () => unknown): Promise<void> {
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  await addRoutes();
  for (const url of [...paths]) {
    const there = app.supportedMethods.filter((method) => app.hasRoute({ method, url }));
    const allow = there.sort().join(', ');
    app.route({
      method: app.supportedMethods.filter((method) => !there.includes(method)),
      url: url.slice(app.prefix.length),
      schema: { hide: true },
      config: { isRefusal: true },
      onRequest: async (request) => {
        throw new ApiError(405, `There is no ${request.method} here: use ${allow}.`, { allow });
      },
      handler: () => undefined,
    });
  }
}
