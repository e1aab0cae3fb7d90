import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ulid } from '../ulid.js';
import { ERRORS, type ErrorStatus, familyOf, problemOf, typeOfProblem } from './errors.js';
import { shownPath } from './request-log.js';

const STATUSES: Record<string, [ErrorStatus, string]> = {
  HPE_HEADER_OVERFLOW: [431, ERRORS[431].detail],
  ERR_HTTP_REQUEST_TIMEOUT: [408, ERRORS[408].detail],
};

const NOT_HTTP: [ErrorStatus, string] = [400, 'This is not an HTTP/1.1 request that the service can read.'];

const HTTP_2: [ErrorStatus, string] = [
  400,
  'A client speaks HTTP/2, perhaps gRPC: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf for its telemetry.',
];

/** The path of each connection's last request, which may have arrived only in part. */
const paths = new WeakMap<Socket, string>();
/** Connections with a request in progress, which is logged separately. */
const busy = new WeakSet<Socket>();

/** The path in the first line of a request, as far as these bytes contain it. */
function pathIn(bytes: unknown): string | undefined {
  return Buffer.isBuffer(bytes) ? /^[A-Z-]+ (\S+)/.exec(bytes.toString('latin1', 0, 4096))?.[1] : undefined;
}

/** Remembers the path of a connection's next request as soon as its first bytes arrive. */
function watchNext(socket: Socket): void {
  // TRICKY: the server reports a request only when it has the whole head, which a late request never gets.
  socket.prependOnceListener('data', (bytes) => {
    const path = pathIn(bytes);
    if (path !== undefined) paths.set(socket, path);
  });
}

/** Remembers each connection's path, so that a request that can't be read is refused in the shape of its path. */
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
  // Without this, an unknown expectation gets a bare 417. It may be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}

/** Answers requests that aren't HTTP, are late or too large to be read, in the shape of their path. */
export function refuseClient(
  this: FastifyInstance,
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (socket.destroyed || !socket.writable) return;
  const path = pathIn(error.rawPacket) ?? paths.get(socket) ?? '/';
  const isHttp2 = Buffer.isBuffer(error.rawPacket) && error.rawPacket.toString('latin1', 0, 6) === 'PRI * ';
  const [status, detail] = isHttp2 ? HTTP_2 : (STATUSES[error.code ?? ''] ?? NOT_HTTP);
  const requestId = `req_${ulid(Date.now())}`;
  const family = familyOf(path);
  const body = JSON.stringify(problemOf(family, status, detail, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${typeOfProblem(family)}`,
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client of HTTP/2 doesn't understand the answer: only the log tells whoever runs the service.
  const message = isHttp2 ? detail : 'request';
  if (!busy.has(socket)) this.log.info({ reqId: requestId, path: shownPath(path), status }, message);
}
