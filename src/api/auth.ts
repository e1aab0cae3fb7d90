import type { FastifyRequest } from 'fastify';
import type { Store } from '../store/store.js';
import { ApiError } from './errors.js';
import { authenticate, type Caller, type Role } from './keys.js';

/**
 * Who sends a request, by its Authorization header (public-api.md 5).
 * Throws 401 without a valid credential, and 403 when its role is none of those.
 */
export async function requireRole(
  store: Store,
  clock: () => number,
  request: FastifyRequest,
  roles: readonly Role[],
): Promise<Caller> {
  const [, key] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (key === undefined)
    throw new ApiError(401, 'The request must have the header "Authorization: Bearer <API key>".');
  const caller = await authenticate(store, key, clock());
  if (caller === undefined)
    throw new ApiError(401, 'The API key is unknown, expired or revoked: "daybook keys create" makes one.');
  if (!roles.includes(caller.role)) {
    throw new ApiError(
      403,
      `This needs a key of role ${roles.join(' or ')}; this key is of role ${caller.role}.`,
    );
  }
  return caller;
}
