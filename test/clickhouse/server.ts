import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { onTestFinished } from 'vitest';
import { freePort } from '../ask.js';
import { type AtEnd, temporaryFolder } from '../world.js';
import { databaseOf } from './engine.js';

/** What becomes of a statement on its way: there and back, or how far it gets. */
export type Way = 'answered' | 'unanswered' | 'hung up' | 'broken off' | 'refused' | 'busy' | 502 | 503 | 504;

/** The HTTP interface of the ClickHouse in this process, for one database, and what may go wrong on the way to it. */
export class ClickHouseServer {
  /** Decides on each statement; those that are broken off are done. */
  way: (query: string) => Way = () => 'answered';
  private server: Server | undefined;

  private constructor(
    private readonly client: ClickHouseClient,
    private readonly database: string,
    private readonly port: number,
  ) {}

  static async start(atEnd: AtEnd = onTestFinished): Promise<ClickHouseServer> {
    const client = await databaseOf(temporaryFolder(atEnd), atEnd)();
    const name = await client.query({ query: 'SELECT currentDatabase() AS name', format: 'JSONEachRow' });
    const [{ name: database } = { name: '' }] = await name.json<{ name: string }>();
    const started = new ClickHouseServer(client, database, await freePort());
    await started.listen();
    atEnd(() => started.close());
    return started;
  }

  /** Of the HTTP interface. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** As DAYBOOK_STORE names it. */
  get store(): string {
    return `clickhouse://ada:secret@127.0.0.1:${this.port}/${this.database}`;
  }

  /** Opens the port unless it is open, again the same one. */
  async listen(): Promise<void> {
    if (this.server?.listening === true) return;
    // A client that is killed may have sent half a request.
    this.server = createServer((request, answer) => {
      this.serve(request, answer).catch(() => request.destroy());
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** Closes the port: connections are refused from then on. */
  async close(): Promise<void> {
    const { server } = this;
    if (server?.listening !== true) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  private async serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const asked = new URL(request.url ?? '', this.url).searchParams;
    const values = asked.has('query');
    const query = asked.get('query') ?? (await text(request));
    const way = this.way(query);
    if (way === 'unanswered') return;
    if (way === 'hung up') return void request.socket.destroy();
    if (way === 'refused')
      return this.fail(answer, { code: '497', type: 'ACCESS_DENIED', message: 'Not enough privileges. ' });
    if (way === 'busy')
      return this.fail(answer, { code: '252', type: 'TOO_MANY_PARTS', message: 'Too many parts. ' });
    if (typeof way === 'number') return void answer.writeHead(way).end();
    try {
      const given = [...asked].filter(([name]) => !['query', 'database', 'query_id'].includes(name));
      const isParameter = (name: string) => name.startsWith('param_');
      const { stream } = await this.client.exec({
        query,
        ...(values && { values: request }),
        query_params: Object.fromEntries(
          given.flatMap(([name, value]) =>
            isParameter(name) ? [[name.slice('param_'.length), value === '\\N' ? null : value]] : [],
          ),
        ),
        clickhouse_settings: Object.fromEntries(given.filter(([name]) => !isParameter(name))),
      });
      const body = gzipSync(await buffer(stream));
      answer.writeHead(200, { 'content-encoding': 'gzip' });
      if (way === 'answered') return void answer.end(body);
      answer.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
    } catch (error) {
      // The engine has a class of errors of its own, with the same members.
      this.fail(answer, error as ClickHouseError);
    }
  }

  private fail(
    answer: ServerResponse,
    { code, type, message }: Pick<ClickHouseError, 'code' | 'type' | 'message'>,
  ) {
    answer.writeHead(500, { 'x-clickhouse-exception-code': code });
    answer.end(`Code: ${code}. DB::Exception: ${message}(${type})`);
  }
}
