import cors from '@fastify/cors';
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
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: READABLE,
    strictPreflight: false,
  });
}
