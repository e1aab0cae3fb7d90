import fastify, { type FastifyInstance } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { analyticsRoutes } from '../api/analytics-routes.js';
import { answerErrors } from '../api/error-replies.js';
import { ApiError, familyOf } from '../api/errors.js';
import { parseJsonBodies } from '../api/json-body.js';
import { type ApiDeps, family } from '../api/route-family.js';
import { sqlRoutes } from '../sql/sql-routes.js';

/** Serves the routes of tools in a process without a service. Only the process itself can call them: see trustedCaller. */
export function ownApp(deps: Pick<ApiDeps, 'store' | 'config' | 'clock'>): FastifyInstance {
  const app: FastifyInstance = fastify();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  parseJsonBodies(app);
  answerErrors(app, familyOf);
  const identify = async () => {
    throw new ApiError(401, 'Only the process itself can ask.');
  };
  const all = {
    ...deps,
    authenticator: { identify },
    addresses: { isAllowed: async () => false },
  };
  app.addHook('onRequest', async ({ url }) => {
    // Counting writes to the store, which is only open for reading here.
    if (url === '/api/v1/analytics/today')
      throw new ApiError(503, 'Only a service counts the open day: start "daybook serve", and ask again.');
  });
  app.register(family('v1', analyticsRoutes), { ...all, prefix: '/api/v1/analytics' });
  app.register(family('v1', sqlRoutes), { ...all, prefix: '/api/v1/sql' });
  return app;
}
