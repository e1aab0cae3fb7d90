import fastify, { type FastifyInstance } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { type ApiDeps, analytics } from './analytics.js';
import { analyticsProblem } from './errors.js';
import { ulid } from './ulid.js';

/** The HTTP service. It opens no port. */
export function buildApp(deps: ApiDeps, options: { logs?: boolean } = {}): FastifyInstance {
  const app = fastify({
    // The log goes to standard error: what the program says to its user stays readable.
    logger: options.logs === true ? { level: deps.config.logLevel, stream: process.stderr } : false,
    genReqId: () => `req_${ulid(deps.clock())}`,
    bodyLimit: 1 << 20,
  });
  app.setValidatorCompiler(validatorCompiler);
  // Rows are sent as they are, not cut to their schema: a test holds the two together.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.register(analytics, { ...deps, prefix: '/api/v1/analytics' });
  app.setNotFoundHandler((request, reply) =>
    reply
      .status(404)
      .send(
        analyticsProblem(
          404,
          `There is nothing at ${request.method} ${request.url.split('?')[0]}.`,
          request.id,
        ),
      ),
  );
  return app;
}
