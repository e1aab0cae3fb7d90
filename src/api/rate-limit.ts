import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { type Authenticator, identifyOnce } from './auth.js';
import { ApiError } from './errors.js';
import { trustedCaller } from './trusted-caller.js';

/** How many credentials and addresses are counted at a time. The least recent is forgotten first. */
const COUNTED_AT_MOST = 20_000;

/** How the names of valid credentials begin, unlike those of addresses. */
const CREDENTIAL = 'credential ';

/**
 * Limits requests per minute: those with a valid credential by its principal, all others by their address (for IPv6 its /64). So
 * guessing credentials gives nobody a new allowance, and doesn't use up that of valid credentials from the same address.
 */
export function limitRequests(app: FastifyInstance, authenticator: Authenticator, max: number): void {
  app.register(rateLimit, {
    global: false,
    max,
    timeWindow: 60_000,
    cache: COUNTED_AT_MOST,
    enableDraftSpec: true,
    keyGenerator: async (request) => {
      try {
        const { orgId, credential } = await identifyOnce(request, authenticator);
        return `${CREDENTIAL}${orgId} ${credential}`;
      } catch {
        return `address ${normalizeIP(request.ip)}`;
      }
    },
    allowList: ({ routeOptions: { config } }, key) =>
      // A flood from an address must not make its health checks fail and restart the service. They cost next to nothing.
      config?.isHealthCheck === true ||
      // One key can send the telemetry of thousands of people. The inbox limits its bytes.
      (config?.action === 'send events' && key.startsWith(CREDENTIAL)) ||
      trustedCaller.getStore() !== undefined,
    errorResponseBuilder: (_, { max, ttl }) =>
      new ApiError(
        429,
        `A credential, or an address without a valid credential, may send ${max} requests per minute: try again in ${Math.ceil(ttl / 1000)} seconds.`,
      ),
  });
  // For every request, also to paths that don't exist.
  app.after(() => app.addHook('onRequest', app.rateLimit()));
}
