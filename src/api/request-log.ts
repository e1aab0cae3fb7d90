import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';

const PATH_CHARACTERS = 500;

/**
 * A path in the log: without the query, which has signatures, names and search texts, and without anything in the path that looks like
 * a key or token.
 */
export function shownPath(url: string): string {
  const [path = ''] = url.split('?');
  return path.slice(0, PATH_CHARACTERS).replace(/\bdb([ka])_[\w-]*/g, 'db$1_***');
}

/** The requests whose log lines name their sender. */
const named = new WeakSet<FastifyRequest>();

/** Adds the organization of a request's sender, and the fingerprint of the credential, to all lines that it logs from now on. */
export function nameInLog(
  request: FastifyRequest,
  { orgId, credential }: { readonly orgId: string; readonly credential?: string },
): void {
  // A browser that is signed in can sign in again.
  if (named.has(request)) return;
  named.add(request);
  // The logger of a service without a log has no bindings.
  const { log }: { log: FastifyBaseLogger & { setBindings?: (members: object) => void } } = request;
  log.setBindings?.({ org: orgId, key: credential });
}

/** Logs one line per request when it ends, even if the client left before the answer. Health checks are not logged. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    if (request.routeOptions.config?.isHealthCheck === true) return;
    const startedAt = performance.now();
    const { method, ip } = request;
    const path = shownPath(request.url);
    reply.raw.once('close', () => {
      const isWhole = reply.raw.writableFinished;
      const isAnswered = isWhole || reply.raw.headersSent || reply.statusCode >= 400;
      request.log.info(
        {
          method,
          path,
          // If nobody waited for the answer, there is no status.
          ...(isAnswered ? { status: reply.statusCode } : {}),
          ...(isWhole ? {} : { isCutOff: true }),
          ms: Math.round(10 * (performance.now() - startedAt)) / 10,
          ip,
        },
        'request',
      );
    });
  }

  override requestCompleted(): void {
    // The line above is enough.
  }
}
