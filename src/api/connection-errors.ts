import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ulid } from '../ulid.js';
import { ERRORS, type ErrorStatus, familyOf, JSON_TYPE, problemOf } from './errors.js';
import { shownPath } from './request-log.js';

const STATUSES: Record<string, [ErrorStatus, string]> = {
  HPE_HEADER_OVERFLOW: [431, ERRORS[431].detail],
  ERR_HTTP_REQUEST_TIMEOUT: [408, ERRORS[408].detail],
};

const NOT_HTTP: [ErrorStatus, string] = [400, 'This is not an HTTP/1.1 request that the service can read.'];

/** The path that each connection last asked for, or began to. */
const paths = new WeakMap<Socket, string>();
/** The connections that have a request under way: what becomes of it is in the log by itself. */
const busy = new WeakSet<Socket>();

/** The path in the first line of a request, as far as these bytes have it. */
function pathIn(bytes: unknown): string | undefined {
  return Buffer.isBuffer(bytes) ? /^[A-Z-]+ (\S+)/.exec(bytes.toString('latin1', 0, 4096))?.[1] : undefined;
}

/** Has the path of the next request of a connection remembered as soon as its first bytes come. */
function watchNext(socket: Socket): void {
  // TRICKY: the server tells nothing of a request before it has the whole head, and of one that is late there is never more.
  socket.prependOnceListener('data', (bytes) => {
    const path = pathIn(bytes);
    if (path !== undefined) paths.set(socket, path);
  });
}

/** Remembers what each connection asks for, so that what can't be read as a request is refused in the shape of its path. */
export function watchConnections(app: FastifyInstance, isEncrypted: boolean): void {
  app.server.on(isEncrypted ? 'secureConnection' : 'connection', watchNext);
  app.addHook('onRequest', async ({ url, raw: { socket } }, reply) => {
    paths.set(socket, url);
    busy.add(socket);
    reply.raw.once('close', () => {
      busy.delete(socket);
      if (!socket.destroyed) watchNext(socket);
    });
  });
  // Without this, an expectation that the server doesn't know is a 417 in no shape. It may be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}

/** Answers what is no HTTP request, or is late or too large to be read, in the shape of its path. */
export function refuseClient(
  this: FastifyInstance,
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (socket.destroyed || !socket.writable) return;
  const path = pathIn(error.rawPacket) ?? paths.get(socket) ?? '/';
  const [status, detail] = STATUSES[error.code ?? ''] ?? NOT_HTTP;
  const requestId = `req_${ulid(Date.now())}`;
  const body = JSON.stringify(problemOf(familyOf(path), status, detail, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  if (!busy.has(socket)) this.log.info({ reqId: requestId, path: shownPath(path), status }, 'request');
}
