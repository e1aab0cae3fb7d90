import type { FastifyInstance } from 'fastify';
import { refuseClient } from './connection-errors.js';

/**
 * Answers 408 where a body takes too long to arrive. The server's own limit is one for all, and a file takes longer than a
 * question: routes can say `receiveSeconds`.
 */
export function limitArrival(app: FastifyInstance, seconds: number): void {
  app.addHook('onRequest', async ({ raw, routeOptions }, reply) => {
    if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return;
    const limit = (routeOptions.config.receiveSeconds ?? seconds) * 1000;
    const timer = setTimeout(() => {
      if (raw.complete) return;
      const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      // For the log.
      reply.code(408);
      refuseClient.call(app, late, raw.socket);
    }, limit);
    raw.once('close', () => clearTimeout(timer));
  });
}
