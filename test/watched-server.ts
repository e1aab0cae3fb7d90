import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server that answers requests once they have come whole, what it was asked, and how much of its answers it could send. */
export async function serverThat(respond: (request: IncomingMessage, answer: ServerResponse) => void) {
  const asked: string[] = [];
  let written = 0;
  const server = createServer((request, answer) => {
    const { socket } = answer;
    answer.on('close', () => {
      written += socket?.bytesWritten ?? 0;
    });
    request.resume().on('end', () => {
      asked.push(request.url ?? '');
      respond(request, answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, url, asked, written: () => written };
}

/** Answers spaces for as long as somebody reads them. */
export function answerEndlessly(answer: ServerResponse, status = 200, type = 'application/json'): void {
  answer.writeHead(status, { 'content-type': type });
  const spaces = Buffer.alloc(1 << 18, ' ');
  const go = () => {
    while (!answer.destroyed && answer.write(spaces));
  };
  answer.on('drain', go);
  go();
}
