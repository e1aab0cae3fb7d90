/** A relay between an agent and Daybook: it passes requests on as they come, and can send them once more. */
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

interface Kept {
  /** Of the file that has its body. */
  readonly name: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Relay {
  readonly url: string;
  /** Sends what came so far once more, with another key. */
  readonly replay: (key: string) => Promise<void>;
  /** How many requests came, by path, type and encoding: `2 x /v1/logs application/json gzip`. */
  readonly came: () => string[];
  /** Answers that weren't a plain success. */
  readonly faults: () => string[];
  readonly stop: () => void;
}

/** Starts a relay to an address such as `http://127.0.0.1:8787`, which writes the bodies to a folder. */
export async function startRelay(to: string, folder: string): Promise<Relay> {
  const kept: Kept[] = [];
  const faults: string[] = [];

  /** Passes a request on with the headers that it came with, so chunked and compressed ones stay so. */
  function pass({ name, path, headers, body }: Kept, key?: string): Promise<Answer> {
    const { host: _, ...rest } = headers;
    const credential = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return new Promise((resolve, reject) => {
      const passed = send(
        new URL(path, to),
        { method: 'POST', headers: { ...rest, ...credential } },
        (response) => {
          buffer(response).then((answer) => {
            const status = response.statusCode ?? 0;
            // An export of protobuf or JSON without rejects is empty.
            const isPlain = status === 200 && (answer.length === 0 || answer.toString() === '{}');
            if (!isPlain) faults.push(`${path} (${name}) answered ${status} ${printable(answer)}`);
            resolve({ status, headers: response.headers, body: answer });
          }, reject);
        },
      );
      passed.on('error', reject).end(body);
    });
  }

  const server = createServer((request, response) => {
    buffer(request)
      .then(async (body) => {
        const one = {
          name: `request-${kept.length}`,
          path: request.url ?? '',
          headers: request.headers,
          body,
        };
        kept.push(one);
        writeFileSync(join(folder, one.name), body);
        const answer = await pass(one);
        response.writeHead(answer.status, answer.headers).end(answer.body);
      })
      .catch((error: unknown) => {
        faults.push(String(error));
        response.writeHead(503).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replay: async (key) => {
      for (const one of kept) await pass(one, key);
    },
    came: () => {
      const counts = new Map<string, number>();
      for (const { path, headers } of kept) {
        const form = [headers['content-type'], headers['content-encoding'], headers['transfer-encoding']];
        const name = [path, ...form].filter((part) => part !== undefined).join(' ');
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      return [...counts].map(([name, count]) => `${count} x ${name}`);
    },
    faults: () => faults,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const printable = (body: Buffer) =>
  body
    .toString('latin1')
    .replaceAll(/[^ -~]+/g, ' ')
    .slice(0, 300);
