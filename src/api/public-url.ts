import type { FastifyRequest } from 'fastify';
import type { Config } from '../settings/config.js';

/**
 * The address of this service for the sender of a request, ending with a slash. Behind a proxy that removes a prefix from the path,
 * only the settings know it.
 */
export function baseOf({ publicUrl }: Pick<Config, 'publicUrl'>, { protocol, host }: FastifyRequest): URL {
  return new URL(publicUrl ?? `${protocol}://${host}/`);
}

/** Says what the addresses of this service are made from, if the settings don't say the address; for the log. */
export function trustedForAddresses({
  publicUrl,
  trustProxy,
}: Pick<Config, 'publicUrl' | 'trustProxy'>): string | undefined {
  if (publicUrl !== undefined) return undefined;
  const headers =
    trustProxy.length === 0
      ? 'the header Host of each request is'
      : `the headers Host and, from ${trustProxy.join(', ')}, X-Forwarded-Host and X-Forwarded-Proto of each request are`;
  return `DAYBOOK_PUBLIC_URL is not set, so ${headers} trusted for the address that people come back to after signing in, for addresses in answers and for cookies.`;
}
