import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

const PATH_CHARACTERS = 500;

/**
 * A path as the log shows it: without the query, which has signatures, and names and words that people searched for, and without
 * what looks like a key or a token that somebody put into the path.
 */
export function shownPath(url: string): string {
  const [path = ''] = url.split('?');
  return path.slice(0, PATH_CHARACTERS).replace(/\bdb([ka])_[\w-]*/g, 'db$1_***');
}

/** Logs a line for each request when it is over, also when the client left before the answer; none for health checks. */
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
          // Of an answer that nobody waited for there is no status.
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
    // The line above says it.
  }
}
