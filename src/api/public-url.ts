import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.js';

/**
 * Where this service is for whoever sent a request, ending with a slash. Behind a proxy that takes a prefix off the path nobody
 * but the settings can know it.
 */
export function baseOf({ publicUrl }: Pick<Config, 'publicUrl'>, { protocol, host }: FastifyRequest): URL {
  return new URL(publicUrl ?? `${protocol}://${host}/`);
}
