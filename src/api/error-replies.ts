import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isTold } from '../store/store-fault.js';
import {
  ApiError,
  ERRORS,
  type ErrorStatus,
  type Family,
  headersOf,
  PROTOBUF_TYPE,
  problemOf,
  protobufStatus,
  ScimError,
  typeOfProblem,
} from './errors.js';
import { Stale } from './revision-tag.js';

/** Errors of the framework whose own text doesn't help the sender. */
const REFUSALS: Record<string, [ErrorStatus, string]> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, "The Content-Length doesn't match the body."],
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'The body must be a JSON document.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'The body must be a JSON document, and is empty.'],
  FST_ERR_BAD_URL: [400, 'The path is malformed: a % must be followed by two hexadecimal digits.'],
};

/** The refusal of a body of an unaccepted type. */
export function wrongMediaType(request: FastifyRequest): ApiError {
  const taken = request.routeOptions.schema?.consumes ?? ['application/json'];
  return new ApiError(415, `This route doesn't accept that Content-Type: send ${taken.join(' or ')}.`);
}

/** The status and sentence for anything thrown. */
function refusalOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (isTold(error)) return new ApiError(503, error.message);
  if (error instanceof Stale) return new ApiError(412, error.ofHeader);
  if (hasZodFastifySchemaValidationErrors(error)) return new ApiError(400, sentenceOf(error, request));
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return wrongMediaType(request);
  const [status, detail] = REFUSALS[code] ?? [];
  if (status !== undefined && detail !== undefined) return new ApiError(status, detail);
  if (statusCode === 413) {
    return new ApiError(413, `The body must have at most ${request.routeOptions.bodyLimit} bytes.`);
  }
  if (statusCode === 400) return new ApiError(400, 'The body must be a JSON document.');
  // The plugin that serves the page's files refuses paths that lead out of its folder, and some headers.
  if (statusCode === 403 || statusCode === 404) return nothingAt(request.url);
  if (statusCode === 414) return new ApiError(414, ERRORS[414].detail);
  if (statusCode < 500)
    return new ApiError(400, "A header of the request names something that doesn't exist.");
  return new ApiError(500, ERRORS[500].detail);
}

const WHAT: Record<string, string> = {
  querystring: 'parameter',
  body: 'member',
  params: 'part of the path',
  headers: 'header',
};

/** The sentence for a request that its schema refuses: the first wrong member, and what would be accepted. */
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
          ? `: use ${accepted.join(', ')}`
          : context === 'querystring'
            ? ': this route takes none'
            : '';
    return `There is no ${noun} ${where === '' ? '' : `${where}.`}${unknown?.slice(0, 100)}${known}.`;
  }
  for (const [name, value] of Object.entries(context === 'querystring' ? Object(request.query) : {}))
    if (Array.isArray(value) && !takesSeveral(schema, name))
      return `The parameter ${name} must be given once, not ${value.length} times.`;
  const [first] = error.validation;
  const path = (first?.instancePath ?? '').slice(1).split('/');
  // A parameter with several values is named without the place of the wrong one.
  const name = (context === 'querystring' ? path.slice(0, 1) : path).join('.').slice(0, 100);
  if (name === '')
    return `The ${context === 'body' ? 'body' : 'request'} ${first?.message ?? 'is not valid'}.`;
  const given = request[context as 'query' | 'body' | 'params'] ?? request.query;
  const isAbsent =
    !name.includes('.') && typeof given === 'object' && given !== null && !Object.hasOwn(given, name);
  return isAbsent
    ? `The ${noun} ${name} is required: it ${first?.message}.`
    : `The ${noun} ${name} ${first?.message}.`;
}

/** Whether a parameter can be given several times. */
function takesSeveral(schema: unknown, name: string): boolean {
  const parameter = schema instanceof z.ZodObject ? schema.shape[name] : undefined;
  return parameter !== undefined && z.toJSONSchema(parameter, { io: 'input' }).type === 'array';
}

/** Sends an error in its family's shape. A 5xx never shows its cause: the log does. */
export function sendProblem(
  family: Family,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = refusalOf(error, request);
  const { status, detail, headers } = refusal;
  if (status === 500) request.log.error({ err: error }, 'the request failed');
  for (const [name, value] of Object.entries(headersOf(status)))
    if (!reply.hasHeader(name)) reply.header(name, value);
  reply.headers({ 'x-request-id': request.id, ...headers });
  // As OTLP wants it: an error is encoded as its request is.
  if (family === 'otlp' && request.mediaType === PROTOBUF_TYPE)
    return reply
      .status(status)
      .type(PROTOBUF_TYPE)
      .send(Buffer.from(protobufStatus(detail)));
  const scimType = refusal instanceof ScimError ? refusal.scimType : undefined;
  return reply
    .status(status)
    .type(typeOfProblem(family))
    .send(JSON.stringify(problemOf(family, status, detail, request.id, scimType)));
}

/**
 * Makes the scope of a plugin answer all errors in a family's shape, including those of unknown paths that `sendPage` doesn't
 * answer. It is called before the routes are added; hooks that were added earlier, such as authentication, run first.
 */
export function answerErrors(
  app: FastifyInstance,
  shapeOf: (path: string) => Family,
  sendPage: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined = () => undefined,
): void {
  app.setErrorHandler((error, request, reply) => sendProblem(shapeOf(request.url), error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const page = sendPage(request, reply);
    if (page === undefined) throw nothingAt(request.url);
    return page;
  });
}

/** Where exporters of OpenTelemetry send to if their endpoint is set without its path, or with too much of it. */
const OTLP_PATH = /^\/+(?:otlp(?:\/|$)|v1\/+(?:logs|metrics|traces)\/*$)/;

function nothingAt(url: string): ApiError {
  const path = url.split('?')[0]?.slice(0, 200) ?? '';
  const advice = OTLP_PATH.test(path)
    ? 'OTLP goes to /otlp/v1/logs, /otlp/v1/metrics and /otlp/v1/traces, which OTEL_EXPORTER_OTLP_ENDPOINT means if it ends with /otlp'
    : '/docs lists the endpoints';
  return new ApiError(404, `There is no endpoint ${path}: ${advice}.`);
}

/** Adds routes to a scope, and answers 405 for all other methods of their paths. */
export async function refuseOtherMethods(app: FastifyInstance, addRoutes: () => unknown): Promise<void> {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  await addRoutes();
  for (const url of new Set(routes.map(({ url }) => url))) {
    const there = app.supportedMethods.filter((method) => app.hasRoute({ method, url }));
    const allow = there.sort().join(', ');
    for (const route of routes) if (route.url === url) route.config = { ...route.config, allow };
    app.route({
      method: app.supportedMethods.filter((method) => !there.includes(method)),
      url: url.slice(app.prefix.length),
      schema: { hide: true },
      config: { isRefusal: true },
      onRequest: async (request) => {
        throw new ApiError(405, `This path doesn't have ${request.method}: use ${allow}.`, { allow });
      },
      handler: () => undefined,
    });
  }
}
