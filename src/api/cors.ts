import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** The headers that a page may read. */
const READABLE = [
  'etag',
  'link',
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

/** Lets pages of some origins call the API from a browser, with every method of the API. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  const methods = new Set<string>();
  app.addHook('onRoute', ({ method, config }) => {
    if (config?.isRefusal === true) return;
    for (const one of [method].flat()) if (one !== 'OPTIONS') methods.add(one);
  });
  // A function, because the routes don't exist yet.
  app.register(
    cors,
    () => async (): Promise<FastifyCorsOptions> => ({
      origin: [...origins],
      methods: [...methods],
      exposedHeaders: READABLE,
      strictPreflight: false,
    }),
  );
}
