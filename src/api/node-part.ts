import type { FastifyInstance } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { does, type NodeRole, type Part } from '../settings/setting-list.js';
import { ApiError } from './errors.js';
import { trustedCaller } from './trusted-caller.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The part of the work that a route belongs to; `api` unless it says otherwise. Nodes of every role have those of `any`. */
    part?: Part | 'any';
  }
}

/** The same routes as a part of the work. */
export function as<Options extends object>(
  part: Part | 'any',
  routes: FastifyPluginAsyncZod<Options>,
): FastifyPluginAsyncZod<Options> {
  return async (scope, options) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, part };
    });
    await routes(scope, options);
  };
}

/**
 * Has a node refuse requests that are for nodes of another role. The status is 503, since whoever sends events keeps what was refused so,
 * and sends it again.
 */
export function refuseOtherParts(app: FastifyInstance, role: NodeRole): void {
  app.addHook('onRequest', async (request) => {
    const { part = 'api' } = request.routeOptions.config;
    const isOwn = part === 'any' || does(role, part) || request.is404;
    // The service's own questions, such as those of digests.
    if (!isOwn && trustedCaller.getStore() === undefined)
      throw new ApiError(
        503,
        `This node has the role ${role}: send the request to a node with the role ${part} or all.`,
        { 'retry-after': '10' },
      );
  });
}
