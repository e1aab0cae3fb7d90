import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Computers } from '../computer/computer.js';
import type { Provisioner } from '../computer/provision.js';
import type { Relay } from '../computer/relay.js';
import type { Signer } from '../computer/signature.js';
import type { Uploads } from '../computer/upload.js';
import type { Config } from '../config.js';
import type { Inbox } from '../ingest/inbox.js';
import type { Store } from '../store/store.js';
import { type Authenticator, type Caller, requireAction } from './auth.js';
import { answerErrors, type ErrorStatus, type Family, PROBLEMS, refuseOtherMethods } from './errors.js';
import type { Action } from './roles.js';

/** What the routes work with. */
export interface ApiDeps {
  readonly store: Store;
  readonly config: Config;
  readonly inbox: Inbox;
  readonly computers: Computers;
  readonly relay: Relay;
  readonly signer: Signer;
  readonly provisioner: Provisioner;
  readonly uploads: Uploads;
  readonly authenticator: Authenticator;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it; set before a handler runs. */
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** What the route does, for the role table; without one any valid credential may. */
    action?: Action;
    /** How long its request may take to arrive, where that is not DAYBOOK_TIMEOUT_S. */
    receiveSeconds?: number;
    /** The statuses that the route can fail with, beyond those of every route. */
    errors?: readonly ErrorStatus[];
  }
}

/** What any route with a credential can fail with. */
const COMMON_ERRORS: readonly ErrorStatus[] = [400, 401, 403, 405, 429, 500];

/**
 * A plugin of routes that need a credential. Whoever has none gets a 401, whoever may not do what the route does a 403,
 * also where there is no such path; then come all other errors, in the family's shape.
 */
export function family(
  shape: Family,
  routes: FastifyPluginAsyncZod<ApiDeps>,
): FastifyPluginAsyncZod<ApiDeps> {
  return async (app, deps) => {
    app.addHook('onRequest', async (request: FastifyRequest) => {
      request.caller = await deps.authenticator.identify(request);
      const { action } = request.routeOptions.config;
      if (action !== undefined) requireAction(request.caller, action);
    });
    answerErrors(app as unknown as FastifyInstance, shape);
    const methods = new Map<string, Set<string>>();
    app.addHook('onRoute', (route) => {
      if (route.schema?.hide === true) return;
      const url = route.url.slice(route.prefix.length);
      const known = methods.get(url) ?? new Set();
      for (const method of [route.method].flat()) known.add(method);
      methods.set(url, known);
      const statuses = [...COMMON_ERRORS, ...(route.config?.errors ?? [])].sort();
      const problems = Object.fromEntries(statuses.map((status) => [status, PROBLEMS[shape]]));
      const answers = route.schema?.response;
      route.schema = {
        security: [{ bearer: [] }],
        ...route.schema,
        response: { ...(typeof answers === 'object' ? answers : {}), ...problems },
      };
    });
    await routes(app, deps);
    refuseOtherMethods(app as unknown as FastifyInstance, methods);
  };
}
