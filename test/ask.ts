import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
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

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
