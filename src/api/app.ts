import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import websocket from '@fastify/websocket';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject, validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import '../sentence.js';
import { MESSAGE_BYTES } from '../agent/message.js';
import { Computers } from '../computer/computer.js';
import { LocalObjects } from '../computer/object.js';
import { Provisioner } from '../computer/provision.js';
import { Relay } from '../computer/relay.js';
import { S3Objects } from '../computer/s3.js';
import { Signer } from '../computer/signature.js';
import { Transfers } from '../computer/transfer.js';
import { Uploads } from '../computer/upload.js';
import { PACKAGE_ROOT } from '../config.js';
import { UsageError } from '../exit.js';
import { ulid } from '../ulid.js';
import { analytics } from './analytics.js';
import { Authenticator } from './auth.js';
import { computers } from './computers.js';
import { ApiError, answerErrors, refuseClient, sendProblem } from './errors.js';
import { events } from './events.js';
import { type ApiDeps, family } from './family.js';
import { files } from './files.js';
import { operations } from './operations.js';
import { agents, watchers } from './relay.js';
import { transfers } from './transfers.js';

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
  deps: Pick<ApiDeps, 'store' | 'config' | 'clock' | 'inbox'>,
  options: { logs?: boolean } = {},
): FastifyInstance {
  const { config, clock } = deps;
  const app: FastifyInstance = fastify({
    // The log goes to standard error: what the program says to its user stays readable.
    logger:
      options.logs === true
        ? { level: config.logLevel, stream: process.stderr, serializers: { req: shown } }
        : false,
    genReqId: () => `req_${ulid(clock())}`,
    bodyLimit: BODY_BYTES,
    // A part of a path can be as long as a head may be; each route says what it takes.
    routerOptions: { maxParamLength: 16_384 },
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
  limitArrival(app, config.timeoutSeconds);
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
    ...computerDeps(deps, app.log),
  };
  app.register(operations, all);
  app.register(websocket, { options: { maxPayload: MESSAGE_BYTES }, preClose: hangUp });
  app.register(
    family('v0', async (app, deps) => {
      for (const routes of [computers, files, watchers]) await routes(app, deps);
    }),
    { ...all, prefix: '/api/v0' },
  );
  app.register(agents, { ...all, prefix: '/api/v0' });
  app.register(transfers, { ...all, prefix: '/api/v0' });
  sweepWhileListening(app, all.uploads);
  app.addHook('onClose', () => all.provisioner.finish());
  app.register(family('v1', analytics), { ...all, prefix: '/api/v1/analytics' });
  app.register(family('v1', events), { ...all, prefix: '/api/v1' });
  return app;
}

/** A request as the log has it: a signed address is a credential. */
function shown({ method, url, host, ip }: FastifyRequest) {
  return { method, url: url.replace(/(signature=)[^&]*/g, '$1***'), host, remoteAddress: ip };
}

/** What the routes of computers work with. */
function computerDeps(
  { store, config, clock }: Pick<ApiDeps, 'store' | 'config' | 'clock'>,
  log: FastifyInstance['log'],
) {
  const relay = new Relay(clock);
  const signer = Signer.open(config.data);
  const objects =
    config.objects === undefined
      ? new LocalObjects(join(config.data, 'objects'))
      : new S3Objects(config.objects);
  const timeoutMs = config.agentTimeoutSeconds * 1000;
  const computers = new Computers(store, clock, (id) => relay.changed(id));
  return {
    relay,
    signer,
    computers,
    provisioner: new Provisioner(computers, relay, clock, (error) =>
      log.error({ err: error }, 'a provisioning was cut off'),
    ),
    uploads: new Uploads(new Transfers(store, clock), objects, relay, signer, timeoutMs, clock),
  };
}

/** How often it is looked for uploads that are over. */
const SWEEP_MS = 60_000;

function sweepWhileListening(app: FastifyInstance, uploads: Uploads): void {
  let timer: NodeJS.Timeout | undefined;
  let sweeping = Promise.resolve();
  app.addHook('onListen', async () => {
    timer = setInterval(() => {
      sweeping = uploads.sweep().catch((error) => app.log.error({ err: error }, 'uploads were not cleared'));
    }, SWEEP_MS);
  });
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await sweeping;
  });
}

/** How long the other side of a connection may take to agree that it ends. */
const GOODBYE_MS = 1000;

/** Ends WebSocket connections when the service stops: agents come back to the next one. */
function hangUp(this: FastifyInstance, done: () => void): void {
  const server = this.websocketServer;
  for (const client of server.clients) client.close(1001, 'The service stops.');
  setTimeout(() => {
    for (const client of server.clients) client.terminate();
  }, GOODBYE_MS).unref();
  server.close(() => done());
}

/**
 * Answers 408 where a request takes too long to arrive. The server's own limit is one for all, and a file takes longer than
 * a question.
 */
function limitArrival(app: FastifyInstance, seconds: number): void {
  app.server.headersTimeout = seconds * 1000;
  app.addHook('onRequest', async ({ raw, routeOptions }) => {
    if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return;
    const limit = (routeOptions.config.receiveSeconds ?? seconds) * 1000;
    const timer = setTimeout(() => {
      if (!raw.complete)
        refuseClient(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), raw.socket);
    }, limit);
    raw.once('close', () => clearTimeout(timer));
  });
}
