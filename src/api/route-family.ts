import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Config } from '../settings/config.js';
import type { Node } from '../store/state/node.js';
import type { Store } from '../store/store.js';
import { type Authenticator, identifyOnce, requireAction } from './auth.js';
import type { Caller } from './caller.js';
import { answerErrors, refuseOtherMethods, wrongMediaType } from './error-replies.js';
import { ApiError, type ErrorStatus, type Family } from './errors.js';
import { FOR_AUDITORS, type Protection, protectionOf } from './protection.js';
import type { About } from './read-audit.js';
import { nameInLog } from './request-log.js';
import type { Action } from './roles.js';
import { trustedCaller } from './trusted-caller.js';

/** What all routes use. */
export interface ApiDeps {
  readonly store: Store;
  readonly config: Config;
  readonly authenticator: Pick<Authenticator, 'identify'>;
  /** Decides from which addresses an organization accepts requests. */
  readonly addresses: { isAllowed(orgId: string, ip: string): Promise<boolean> };
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** This process among those that share its stores; undefined if it is the only one. */
  readonly node?: Node;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The sender; set before a handler runs. */
    caller: Caller;
    /** The sender, once authenticated; rejected without a valid credential. */
    identified?: Promise<Caller>;
    /** How the sender is kept from seeing people by name; undefined for one who may. */
    protection?: Protection | undefined;
    /** Whom the answer is about, if only the handler can tell. */
    about?: About;
  }
  interface FastifyContextConfig {
    /** The route's action in the role table; without one, any valid credential may use it. */
    action?: Action;
    /** Whom an answer is about, for the access log; only routes whose answers are about people have it. */
    about?: (request: FastifyRequest) => About;
    /** Whether a route whose answers are about people keeps to `protection` itself. Others refuse a sender who has one. */
    isProtected?: boolean;
    /** The shape of the route's errors; only routes that need a credential have one. */
    family?: Family;
    /** Errors of this route beyond those of every route, or with other sentences: one example per status. */
    errors?: Partial<Record<ErrorStatus, string>>;
    /** How long its body may take to arrive, if not DAYBOOK_TIMEOUT_S. */
    receiveSeconds?: number;
    /** Headers of answers, as examples for the reference. */
    headers?: Readonly<Record<string, string>>;
    /** Whether answers have an entity tag, so that a 304 is possible. */
    isTagged?: boolean;
    /** The methods of its path, set once all are known. */
    allow?: string;
    /** An example of the answer as CSV, if it is available as CSV and Arrow. */
    csvExample?: string;
    /** Other formats of the answer, by media type, for the reference. */
    forms?: Readonly<Record<string, object>>;
    /** Whether monitors call it all day: these requests are not logged. */
    isHealthCheck?: boolean;
    /** Whether the route only refuses methods. */
    isRefusal?: boolean;
    /** Bodies that the route reads without a parser, by media type, for the reference. */
    bodies?: Readonly<Record<string, z.ZodType>>;
  }
}

/** Refuses a request from an address that the organization doesn't allow. Throws an ApiError. */
export async function requireAddress(
  { ip }: FastifyRequest,
  orgId: string,
  { addresses }: Pick<ApiDeps, 'addresses'>,
): Promise<void> {
  if (!(await addresses.isAllowed(orgId, ip)))
    throw new ApiError(403, `The organization doesn't allow requests from ${ip.slice(0, 100)}.`);
}

/**
 * A plugin of routes that need a credential. Without one the answer is a 401, for the wrong role a 403, even for unknown paths.
 * All other errors come after these, in the family's shape.
 */
export function family<Deps extends ApiDeps>(
  shape: Family,
  routes: FastifyPluginAsyncZod<Deps>,
): FastifyPluginAsyncZod<Deps> {
  return async (app, deps) => {
    app.addHook('onRequest', async (request: FastifyRequest, reply) => {
      const trusted = trustedCaller.getStore();
      request.caller = trusted?.caller ?? (await identifyOnce(request, deps.authenticator));
      if (trusted !== undefined) nameInLog(request, trusted.caller);
      if (trusted === undefined) await requireAddress(request, request.caller.orgId, deps);
      // Routes notice it as they notice a connection that closes.
      trusted?.left.addEventListener('abort', () => reply.raw.destroy());
      const { action, about, isProtected } = request.routeOptions.config;
      if (action !== undefined) requireAction(request.caller, action);
      request.protection = await protectionOf(deps.store, request.caller, deps.clock());
      if (request.protection !== undefined && about !== undefined && isProtected !== true)
        throw new ApiError(403, FOR_AUDITORS);
    });
    const scope = app as unknown as FastifyInstance;
    answerErrors(scope, () => shape);
    // Bodies are uncompressed JSON; routes that accept anything else declare it.
    app.removeContentTypeParser('text/plain');
    app.addHook('preParsing', async (request) => {
      const { config, schema } = request.routeOptions;
      const packing = request.headers['content-encoding'] ?? 'identity';
      if (schema?.body !== undefined && config.bodies === undefined && packing.toLowerCase() !== 'identity')
        throw new ApiError(415, "This route doesn't accept a Content-Encoding: send the body uncompressed.");
    });
    app.addHook('preValidation', async (request) => {
      // An empty body without a Content-Type reaches no parser.
      if (request.routeOptions.schema?.body !== undefined && request.body === undefined)
        throw wrongMediaType(request);
    });
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, family: shape };
    });
    await refuseOtherMethods(scope, () => routes(app, deps));
  };
}
