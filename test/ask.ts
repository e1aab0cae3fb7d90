import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const UNPACK: Record<string, (bytes: Buffer) => Buffer> = { gzip: gunzipSync, br: brotliDecompressSync };

/** An answer as it came over the network. */
export interface Given {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/** Sends a request over the network as it is, also one that a well-behaved client would not send. */
export function ask(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Given> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      const packing = String(answer.headers['content-encoding']);
      buffer(answer)
        .then((bytes) => (UNPACK[packing] ?? String)(bytes).toString())
        .then((text) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
        .catch(reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends a whole request before it reads anything, as many clients do, and gives the status of the answer. */
export function statusAfterSending(url: string, head: readonly string[], body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', reject).pause();
    socket.write(`${[...head, 'host: x', `content-length: ${body.length}`].join('\r\n')}\r\n\r\n`);
    socket.write(body, () =>
      socket
        .once('data', (data) => {
          resolve(Number(data.toString().slice(9, 12)));
          socket.destroy();
        })
        .resume(),
    );
    socket.on('close', () => reject(new Error('The connection was closed without an answer.')));
  });
}

/**
 * A port that nothing listens on. It is below those that systems give to connections, or one of these could take it before the server does,
 * or while the server is started again.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  for (;;) {
    const port = randomInt(12_000, 32_000);
    server.listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
