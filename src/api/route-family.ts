import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Config } from '../config.js';
import type { Store } from '../store/store.js';
import { type Authenticator, type Caller, requireAction } from './auth.js';
import { answerErrors, refuseOtherMethods, wrongMediaType } from './error-replies.js';
import { ApiError, type ErrorStatus, type Family } from './errors.js';
import type { Action } from './roles.js';

/** Says where the requests of an organization may come from. */
interface AddressRules {
  isAllowed(orgId: string, ip: string): Promise<boolean>;
}

/** What all routes work with. */
export interface ApiDeps {
  readonly store: Store;
  readonly config: Config;
  readonly authenticator: Authenticator;
  readonly addresses: AddressRules;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it; set before a handler runs. */
    caller: Caller;
    /** Who sends it, once that has been found out; rejected without a valid credential. */
    identified?: Promise<Caller>;
  }
  interface FastifyContextConfig {
    /** What the route does, for the role table; without one any valid credential may. */
    action?: Action;
    /** The shape of the route's errors; only routes that need a credential have one. */
    family?: Family;
    /** What the route can fail with beyond what every route can, or in other words: a sentence of each status. */
    errors?: Partial<Record<ErrorStatus, string>>;
    /** How long its body may take to arrive, where that is not DAYBOOK_TIMEOUT_S. */
    receiveSeconds?: number;
    /** Whether answers have an entity tag, so that a client that has one is told so. */
    isTagged?: boolean;
    /** The methods of its path; set when all of them are known. */
    allow?: string;
    /** What the answer can be as CSV, where it can be had as CSV and Arrow too. */
    csvExample?: string;
    /** The other forms that the answer can be had in, by media type, for the reference. */
    forms?: Readonly<Record<string, object>>;
    /** Whether it is asked all day by what watches the service: those requests are not logged. */
    isHealthCheck?: boolean;
    /** Whether all that the route does is to refuse a method. */
    isRefusal?: boolean;
    /** The bodies that the route takes as they are, by media type, for the reference: no parser has them. */
    bodies?: Readonly<Record<string, z.ZodType>>;
  }
}

/** Refuses a request to an organization that takes none from where it comes. Throws an ApiError. */
export async function requireAddress(
  { ip }: FastifyRequest,
  orgId: string,
  { addresses }: Pick<ApiDeps, 'addresses'>,
): Promise<void> {
  if (!(await addresses.isAllowed(orgId, ip)))
    throw new ApiError(403, `The organization doesn't allow requests from ${ip.slice(0, 100)}.`);
}

/**
 * A plugin of routes that need a credential. Whoever has none gets a 401, whoever may not do what the route does a 403,
 * also where there is no such path; then come all other errors, in the family's shape.
 */
export function family<Deps extends ApiDeps>(
  shape: Family,
  routes: FastifyPluginAsyncZod<Deps>,
): FastifyPluginAsyncZod<Deps> {
  return async (app, deps) => {
    app.addHook('onRequest', async (request: FastifyRequest) => {
      request.caller = await (request.identified ?? deps.authenticator.identify(request));
      await requireAddress(request, request.caller.orgId, deps);
      const { action } = request.routeOptions.config;
      if (action !== undefined) requireAction(request.caller, action);
    });
    const scope = app as unknown as FastifyInstance;
    answerErrors(scope, () => shape);
    // A body is JSON as it is; routes that take another way of sending one say so.
    app.removeContentTypeParser('text/plain');
    app.addHook('preParsing', async (request) => {
      const { config, schema } = request.routeOptions;
      const packing = request.headers['content-encoding'] ?? 'identity';
      if (schema?.body !== undefined && config.bodies === undefined && packing.toLowerCase() !== 'identity')
        throw new ApiError(415, "This route doesn't accept a Content-Encoding: send the body uncompressed.");
    });
    app.addHook('preValidation', async (request) => {
      // Without a Content-Type an empty body reaches no parser.
      if (request.routeOptions.schema?.body !== undefined && request.body === undefined)
        throw wrongMediaType(request);
    });
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, family: shape };
    });
    await refuseOtherMethods(scope, () => routes(app, deps));
  };
}
