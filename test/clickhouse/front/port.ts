import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { EngineError, sendError, sendRows } from './http-answer.js';
import type { Statement } from './statement.js';

/**
 * What becomes of a statement: it is done and answered; not done, and the connection stays silent or is closed; done, and the connection
 * stays silent or breaks within the answer; not done, and refused with an error that passes. A port that refuses takes no connection.
 */
export const WAYS = ['answer', 'hang', 'drop', 'hang after', 'cut', 'busy', 'refuse'] as const;
export type Way = (typeof WAYS)[number];

export interface Done {
  readonly rows: Uint8Array;
  readonly headers?: Record<string, string>;
}

/** ClickHouse's HTTP interface on one port. */
export class Port {
  private server: Server | undefined;
  private way: Way = 'answer';
  private match = /(?:)/;
  /** How many statements still go that way. */
  private times = Number.POSITIVE_INFINITY;

  constructor(
    public port: number,
    private readonly uploads: string,
    private readonly run: (statement: Statement, format: string | undefined) => Promise<Done>,
  ) {}

  /** Opens the port. */
  async listen(): Promise<void> {
    this.server = createServer((request, answer) => void this.serve(request, answer));
    // Of a client that keeps its connections for as long as the server says.
    this.server.keepAliveTimeout = 30_000;
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Sends statements that match another way, as often as said: the port alone refuses all of them. */
  async take(way: Way, match = '', times = Number.POSITIVE_INFINITY): Promise<void> {
    if (way === 'refuse') await this.close();
    else if (this.server === undefined) await this.listen();
    this.way = way;
    this.match = new RegExp(match);
    this.times = times;
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    server?.close();
    server?.closeAllConnections();
  }

  private wayOf(query: string): Way {
    if (this.times <= 0 || !this.match.test(query)) return 'answer';
    this.times -= 1;
    return this.way;
  }

  private async serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { pathname, searchParams: asked } = new URL(request.url ?? '', 'http://front');
    if (pathname === '/ping') return void answer.end('Ok.\n');
    let body: string | undefined;
    try {
      const packed = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
      const inUrl = asked.get('query');
      if (inUrl !== null && request.method === 'POST') {
        body = join(this.uploads, `${randomUUID()}.rows`);
        await pipeline(packed, createWriteStream(body));
      }
      const query = inUrl ?? (await text(packed));
      const way = this.wayOf(query);
      if (way === 'hang') return;
      if (way === 'drop') return void request.socket.destroy();
      if (way === 'busy') throw new EngineError(252, 'TOO_MANY_PARTS', 'Too many parts');
      const statement = { query, ...givenIn(asked), body };
      const { rows, headers = {} } = await this.run(statement, asked.get('default_format') ?? undefined);
      if (way === 'hang after') return;
      const id = asked.get('query_id') ?? randomUUID();
      sendRows(request, answer, rows, {
        isCut: way === 'cut',
        headers: { 'x-clickhouse-query-id': id, ...headers },
      });
    } catch (error) {
      sendError(answer, error);
    } finally {
      if (body !== undefined) rmSync(body, { force: true });
    }
  }
}

/** The database, the parameters and the settings of a request. */
function givenIn(asked: URLSearchParams): Pick<Statement, 'database' | 'settings' | 'parameters'> {
  const {
    query: _,
    query_id: __,
    database = 'default',
    user: ___,
    password: ____,
    ...others
  } = Object.fromEntries(asked);
  const settings: Record<string, string> = {};
  const parameters: Record<string, string> = {};
  for (const [name, value] of Object.entries(others))
    if (name.startsWith('param_')) parameters[name.slice('param_'.length)] = value;
    else settings[name] = value;
  return { database, settings, parameters };
}
