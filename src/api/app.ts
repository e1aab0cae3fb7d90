import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, { type FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject, validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import '../sentence.js';
import { Computers } from '../computer/computer.js';
import { PACKAGE_ROOT } from '../config.js';
import { UsageError } from '../exit.js';
import { ulid } from '../ulid.js';
import { analytics } from './analytics.js';
import { Authenticator } from './auth.js';
import { computers } from './computers.js';
import { ApiError, answerErrors, refuseClient, sendProblem } from './errors.js';
import { events } from './events.js';
import { type ApiDeps, family } from './family.js';
import { operations } from './operations.js';

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')));

/** A body of JSON is small; routes that take more say so. */
const BODY_BYTES = 1 << 20;

function readPem(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new UsageError(`${name} must be the path of a PEM file that can be read, and ${path} is none.`);
  }
}

/** The HTTP service. It opens no port. Throws a UsageError for a file of the settings that can't be read. */
export function buildApp(
  deps: Omit<ApiDeps, 'authenticator' | 'computers'>,
  options: { logs?: boolean } = {},
): FastifyInstance {
  const { config, clock } = deps;
  const app: FastifyInstance = fastify({
    // The log goes to standard error: what the program says to its user stays readable.
    logger: options.logs === true ? { level: config.logLevel, stream: process.stderr } : false,
    genReqId: () => `req_${ulid(clock())}`,
    bodyLimit: BODY_BYTES,
    // A part of a path can be as long as a head may be; each route says what it takes.
    routerOptions: { maxParamLength: 16_384 },
    requestTimeout: config.timeoutSeconds * 1000,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    ...(config.tls === undefined
      ? {}
      : {
          https: {
            cert: readPem(config.tls.cert, 'DAYBOOK_TLS_CERT'),
            key: readPem(config.tls.key, 'DAYBOOK_TLS_KEY'),
          },
        }),
    clientErrorHandler: refuseClient,
    frameworkErrors: (error, request, reply) =>
      void sendProblem(request.url.startsWith('/api/v0') ? 'v0' : 'v1', error, request, reply),
  });
  app.setValidatorCompiler(validatorCompiler);
  // Answers are sent as they are, not cut to their schema: tests hold the two together.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Without TLS of its own the service can't promise it for others.
    strictTransportSecurity: config.tls !== undefined,
  });
  app.register(cors, {
    origin: config.corsOrigins.length > 0 ? [...config.corsOrigins] : false,
    exposedHeaders: ['etag', 'x-request-id', 'retry-after'],
  });
  app.register(compress, { globalDecompression: false, threshold: 1024, encodings: ['gzip', 'br'] });
  answerErrors(app, 'v1');
  if (config.rateLimit > 0) {
    app.register(rateLimit, {
      max: config.rateLimit,
      timeWindow: 60_000,
      enableDraftSpec: true,
      keyGenerator: ({ headers, ip }) =>
        headers.authorization === undefined
          ? ip
          : createHash('sha256').update(headers.authorization).digest('base64'),
      errorResponseBuilder: (_, { max, ttl }) =>
        new ApiError(
          429,
          `A credential may send ${max} requests a minute: go on in ${Math.ceil(ttl / 1000)} seconds.`,
        ),
    });
  }
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Daybook',
        version,
        description: 'Analytics for the coding agents of an organization. Dates are UTC days.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, or a JWT where the service takes them.',
          },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  app.register(swaggerUi, {
    routePrefix: '/docs',
    // The page has all it needs here, and looks nothing up elsewhere.
    uiConfig: { validatorUrl: null },
    staticCSP:
      "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  });
  const all: ApiDeps = {
    ...deps,
    authenticator: new Authenticator(deps.store, config.jwt, clock),
    computers: new Computers(deps.store, clock),
  };
  app.register(operations, all);
  app.register(family('v0', computers), { ...all, prefix: '/api/v0' });
  app.register(family('v1', analytics), { ...all, prefix: '/api/v1/analytics' });
  app.register(family('v1', events), { ...all, prefix: '/api/v1' });
  return app;
}
