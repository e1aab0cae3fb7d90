import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** The statuses that a server gives its errors, by their codes; 500 for others. */
const STATUSES: Record<string, number> = {
  60: 404,
  62: 400,
  81: 404,
  159: 408,
  202: 503,
  209: 408,
  242: 503,
  252: 503,
  497: 403,
  516: 403,
};

/** An error of ClickHouse's: `Code: 60. DB::Exception: ... (UNKNOWN_TABLE)`. */
export class EngineError extends Error {
  constructor(code: number, type: string, message: string) {
    super(`Code: ${code}. DB::Exception: ${message}. (${type})`);
  }
}

/** Answers with what the engine says. */
export function sendError(answer: ServerResponse, error: unknown): void {
  const said = error instanceof Error ? error.message : String(error);
  const message = said.slice(Math.max(0, said.indexOf('Code: ')));
  const code = /^Code: (\d+)/.exec(message)?.[1] ?? '1002';
  answer.writeHead(STATUSES[code] ?? 500, {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-exception-code': code,
  });
  answer.end(`${message}\n`);
}

/** Answers with rows: all of them, or half of them before the connection breaks. */
export function sendRows(
  request: IncomingMessage,
  answer: ServerResponse,
  rows: Uint8Array,
  { isCut, headers }: { isCut: boolean; headers: Record<string, string> },
): void {
  const asked = new URL(request.url ?? '', 'http://front').searchParams;
  const isPacked =
    asked.get('enable_http_compression') === '1' &&
    /\bgzip\b/.test(String(request.headers['accept-encoding']));
  const body = isPacked ? gzipSync(rows) : rows;
  answer.writeHead(200, {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-summary': '{}',
    'x-clickhouse-timezone': 'UTC',
    ...headers,
    ...(isPacked && { 'content-encoding': 'gzip' }),
    // So that a client notices that the half of nothing is missing.
    ...(isCut && { 'content-length': String(body.length + 1) }),
  });
  if (!isCut) return void answer.end(body);
  answer.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
  if (body.length < 2) request.socket.destroy();
}
