import { METHODS } from 'node:http';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import helmet from 'helmet';
import { z } from 'zod';
import '../input/sentence.js';
import { alertRoutes } from '../alerts/alert-routes.js';
import { analyticsRoutes } from '../api/analytics-routes.js';
import { apiKeyRoutes } from '../api/api-key-routes.js';
import { saveKeyUses } from '../api/api-keys.js';
import { auditRoutes } from '../api/audit-routes.js';
import { Authenticator } from '../api/auth.js';
import { limitArrival } from '../api/body-timeout.js';
import { budgetRoutes } from '../api/budget-routes.js';
import { refuseClient, watchConnections } from '../api/connection-errors.js';
import { allowOrigins } from '../api/cors.js';
import { ENCODINGS } from '../api/encodings.js';
import { answerErrors, refuseOtherMethods, sendProblem } from '../api/error-replies.js';
import { familyOf } from '../api/errors.js';
import { removePorts } from '../api/forwarded-addresses.js';
import { parseJsonBodies } from '../api/json-body.js';
import { as, refuseOtherParts } from '../api/node-part.js';
import { OPENAPI } from '../api/openapi.js';
import { operationsRoutes } from '../api/operations-routes.js';
import { privacyRoutes } from '../api/privacy-routes.js';
import { limitRequests } from '../api/rate-limit.js';
import { auditReads } from '../api/read-audit.js';
import { limitReading } from '../api/reading-timeout.js';
import { referenceRoutes } from '../api/reference-routes.js';
import { refuseAmbiguousHeads } from '../api/request-head.js';
import { RequestLog } from '../api/request-log.js';
import { family } from '../api/route-family.js';
import { statusRoutes } from '../api/status-routes.js';
import { addComputers } from '../computers/computers-plugin.js';
import { Controls } from '../controls/control-revisions.js';
import { controlsRoutes } from '../controls/controls-routes.js';
import { SecretKey } from '../controls/secret-key.js';
import { hookRoutes } from '../hooks/hook-routes.js';
import { eventRoutes } from '../ingest/event-routes.js';
import { heartbeatRoutes } from '../ingest/heartbeat-routes.js';
import type { InboxDeps } from '../ingest/request-body.js';
import { mcpRoutes } from '../mcp/mcp-routes.js';
import { otlpRoutes } from '../otlp/otlp-routes.js';
import { withoutSlashes } from '../otlp/signal-path.js';
import { collectorRoutes } from '../page/collector-routes.js';
import { isOpenedInBrowser, pageRoutes, pageSender } from '../page/page-routes.js';
import { peopleRoutes } from '../people/people-routes.js';
import { readinessRoutes } from '../readiness/readiness-routes.js';
import { scimRoutes } from '../scim/scim-routes.js';
import { BrowserSessions } from '../sign-in/browser-sessions.js';
import { callerRoutes } from '../sign-in/caller-routes.js';
import { sessionRoutes } from '../sign-in/session-routes.js';
import { signInRoutes } from '../sign-in/sign-in-routes.js';
import { Tickets } from '../sign-in/tickets.js';
import { sqlRoutes } from '../sql/sql-routes.js';
import type { Store } from '../store/store.js';
import { print } from '../terminal/printing.js';
import { ulid } from '../ulid.js';
import { vendorRoutes } from '../vendors/vendor-routes.js';
import { Metrics } from './prometheus.js';
import { readCertificate } from './served-certificate.js';

/** Writes the log through `print`, because its lines repeat texts of clients and other servers. */
const LOG = { write: (line: string) => print(line, process.stderr) };

/** Bodies of JSON are small; routes that accept more declare it. */
const BODY_BYTES = 1 << 20;

/** How often the days on which keys were used are stored. */
const USES_MS = 60_000;

function keepKeyUses(app: FastifyInstance, store: Store): void {
  const save = () =>
    saveKeyUses(store).catch((err) => app.log.warn({ err }, 'the last uses of API keys could not be stored'));
  const timer = setInterval(save, USES_MS).unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await save();
  });
}

/** The HTTP service. It opens no port. Throws a UsageError if a file named in the settings can't be read. */
export function buildApp(
  deps: Omit<InboxDeps, 'authenticator' | 'addresses'>,
  options: { logs?: boolean; metrics?: Metrics } = {},
): FastifyInstance {
  const { config, clock } = deps;
  const limits = {
    headersTimeout: config.timeoutSeconds * 1000,
    // A request without a Host is refused in the usual form: see refuseAmbiguousHeads.
    requireHostHeader: false,
    // Each route decides how long a body may take: see limitArrival.
    requestTimeout: 0,
    // How often slow requests are looked for: the default is longer than most limits.
    connectionsCheckingInterval: 1000,
  };
  const app: FastifyInstance = fastify({
    // The log goes to standard error, so that the program's output to its user stays readable.
    logger: options.logs === true ? { level: config.logLevel, stream: LOG } : false,
    logController: options.logs === true ? new RequestLog() : new LogController(),
    genReqId: () => `req_${ulid(clock())}`,
    bodyLimit: BODY_BYTES,
    // A path segment can be as long as the whole head; each route limits its own.
    routerOptions: { maxParamLength: 16_384 },
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    // TRICKY: this also changes a header, because it is called before anything reads the sender's address.
    rewriteUrl: ({ headers, url = '/' }) => {
      removePorts(headers);
      return withoutSlashes(url);
    },
    ...(config.tls === undefined
      ? { http: limits }
      : { https: { ...limits, ...readCertificate(config.tls) } }),
    clientErrorHandler: refuseClient,
    frameworkErrors: (error, request, reply) =>
      void sendProblem(familyOf(request.url), error, request, reply),
    // Requests that arrive while the service stops are answered too, in the usual form.
    return503OnClosing: false,
  });
  // All methods are registered, so that a path refuses a PROPFIND in the same way as a DELETE.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.setValidatorCompiler(validatorCompiler);
  // Answers are sent without cutting them to their schemas: tests compare the two.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.addHook('onRequest', async (request, reply) => {
    // Nothing may be cached unless its route says so.
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
  });
  watchConnections(app, config.tls !== undefined);
  limitArrival(app, config.timeoutSeconds);
  limitReading(app, config.timeoutSeconds, config.tls !== undefined);
  parseJsonBodies(app);
  // A connection that stays open after the last answer would delay a stop.
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  // Fastify's own plugin assembles the headers again for each request.
  const secure = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Without its own TLS the service can't promise HTTPS.
    strictTransportSecurity: config.tls !== undefined,
  });
  app.addHook('onRequest', (request, reply, done) =>
    secure(request.raw, reply.raw, (error) => done(error as Error)),
  );
  refuseAmbiguousHeads(app);
  if (config.role !== 'all') refuseOtherParts(app, config.role);
  if (config.corsOrigins.length > 0) allowOrigins(app, config.corsOrigins);
  app.register(compress, { globalDecompression: false, threshold: 1024, encodings: [...ENCODINGS] });
  const sendPage = pageSender(config);
  answerErrors(app, familyOf, (request, reply) =>
    isOpenedInBrowser(request) ? sendPage?.(reply.status(404)) : undefined,
  );
  const metrics = options.metrics ?? new Metrics(clock);
  metrics.watch(app, deps);
  const secretKey = new SecretKey(config);
  const controls = new Controls(deps.store, secretKey, clock);
  app.register(cookie);
  const sessions = new BrowserSessions(deps.store, new Tickets(deps.store, secretKey, clock), config, clock);
  const authenticator = new Authenticator(deps.store, config.jwt, clock, sessions);
  keepKeyUses(app, deps.store);
  const accessLog = auditReads(app, deps.store, clock);
  const all = { ...deps, authenticator, addresses: controls, controls, sessions, accessLog };
  if (config.rateLimit > 0) limitRequests(app, authenticator, config.rateLimit);
  // Unknown parameters are an error, also for routes without parameters.
  app.addHook('onRoute', (route) => {
    if (route.schema?.hide !== true) route.schema = { querystring: z.strictObject({}), ...route.schema };
  });
  app.register(swagger, OPENAPI);
  app.register(async (scope) => {
    await refuseOtherMethods(scope, async () => {
      await scope.register(referenceRoutes);
      await scope.register(as('any', operationsRoutes), all);
      await scope.register(signInRoutes, all);
      await scope.register(pageRoutes, { sendPage });
      await scope.register(collectorRoutes);
      await scope.register(
        as('any', async (own) => metrics.serve(own as unknown as FastifyInstance, config)),
      );
    });
  });
  app.register(family('v0', controlsRoutes), { ...all, prefix: '/api/v0/organization' });
  app.register(family('v0', peopleRoutes), { ...all, prefix: '/api/v0/organization/people' });
  app.register(family('v0', budgetRoutes), { ...all, prefix: '/api/v0/organization/budgets' });
  app.register(family('v0', alertRoutes), { ...all, secretKey, prefix: '/api/v0/organization/alerts' });
  app.register(family('v0', vendorRoutes), { ...all, secretKey, prefix: '/api/v0/organization/vendors' });
  app.register(family('v0', privacyRoutes), { ...all, prefix: '/api/v0/organization/privacy' });
  app.register(family('v0', auditRoutes), { ...all, prefix: '/api/v0/organization/audit' });
  addComputers(app, all);
  app.register(family('v1', analyticsRoutes), { ...all, prefix: '/api/v1/analytics' });
  app.register(family('v1', callerRoutes), { ...all, prefix: '/api/v1/caller' });
  app.register(family('v1', apiKeyRoutes), { ...all, prefix: '/api/v1/api-keys' });
  app.register(family('v1', sessionRoutes), { ...all, prefix: '/api/v1/sessions' });
  app.register(family('v1', statusRoutes), { ...all, prefix: '/api/v1/status' });
  app.register(family('v1', sqlRoutes), { ...all, prefix: '/api/v1/sql' });
  app.register(family('v1', mcpRoutes), { ...all, prefix: '/mcp' });
  app.register(as('ingest', family('v1', heartbeatRoutes)), { ...all, prefix: '/api/v1/events/heartbeat' });
  app.register(as('ingest', family('v1', eventRoutes)), { ...all, prefix: '/api/v1' });
  app.register(as('ingest', family('v1', hookRoutes)), { ...all, prefix: '/api/v1/hooks' });
  app.register(as('ingest', family('otlp', otlpRoutes)), {
    ...all,
    countRecords: metrics.countRecords,
    prefix: '/otlp',
  });
  app.register(family('scim', scimRoutes), { ...all, prefix: '/scim/v2' });
  app.register(family('v1', readinessRoutes), { ...all, prefix: '/api/organization' });
  return app;
}
