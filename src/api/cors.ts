import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** What a page may read of an answer beside its body. */
const READABLE = [
  'etag',
  'link',
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

/** Lets pages of some origins call the API from a browser, with every method that it has. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  const methods = new Set<string>();
  app.addHook('onRoute', ({ method, config }) => {
    if (config?.isRefusal === true) return;
    for (const one of [method].flat()) if (one !== 'OPTIONS') methods.add(one);
  });
  // As a function, since the routes aren't there yet.
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
