import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.js';

/**
 * The address of this service for the sender of a request, ending with a slash. Behind a proxy that removes a prefix from the path,
 * only the settings know it.
 */
export function baseOf({ publicUrl }: Pick<Config, 'publicUrl'>, { protocol, host }: FastifyRequest): URL {
  return new URL(publicUrl ?? `${protocol}://${host}/`);
}
