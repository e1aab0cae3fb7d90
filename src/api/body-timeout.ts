import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { refuseClient } from './connection-errors.js';

/** How long the rest of a body is read and thrown away if the answer comes before it has arrived. */
const DISCARD_MS = 30_000;

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Answers 408 when a body takes too long to arrive. The server has only one limit for all routes, but a file takes longer than a
 * query, so a route can set `receiveSeconds`.
 *
 * An answer that is sent before the body has arrived (a 413, for example) closes the connection, but not while the client is
 * still sending.
 */
export function limitArrival(app: FastifyInstance, seconds: number): void {
  app.addHook('onRequest', async ({ raw, routeOptions }, reply) => {
    if (!hasBody(raw)) return;
    const limit = (routeOptions.config.receiveSeconds ?? seconds) * 1000;
    const refuse = async () => {
      // What arrived while the process had no turn is read only now.
      await setImmediate();
      if (raw.complete || reply.raw.closed) return;
      const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      // For the log.
      reply.code(408);
      refuseClient.call(app, late, raw.socket);
    };
    const timer = setTimeout(() => void refuse(), limit);
    // Of the socket, not the request: if a client disconnects after the answer, the request closes without an event.
    reply.raw.once('close', () => clearTimeout(timer));
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!hasBody(raw) || raw.complete) return;
    // A small body may have arrived already without being parsed.
    await setImmediate();
    if (raw.complete) return;
    reply.header('connection', 'close');
    closeAfterBody(raw);
  });
  // The next request of the connection comes after the unread bytes.
  app.addHook('onResponse', async ({ raw }) => void raw.resume());
}

/**
 * Keeps Node from closing the connection of a request until its body has been read to its end.
 * TRICKY: a connection that is closed while bytes are still coming is reset, and a reset makes the client's system throw away
 * the answer before the client has read it.
 */
function closeAfterBody(request: IncomingMessage): void {
  const { socket } = request;
  // An interrupted request, or an injected one, doesn't close again, and the timer would keep the process alive.
  if (socket.destroyed || !(socket instanceof Socket)) return;
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS);
  socket.once('close', () => clearTimeout(timer));
  // Node calls this when it has written the last answer of a connection.
  socket.destroySoon = () => {
    const close = () => socket.end(() => socket.destroy());
    if (request.readableEnded) close();
    else request.once('end', close);
  };
}
