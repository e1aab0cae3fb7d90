import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RemoteService } from '../src/command/remote-service.js';
import { connectTo } from '../src/hooks/connect.js';
import { Service } from './service.js';
import { temporaryFolder } from './world.js';

const PREFIX = '/daybook';

/** A proxy that takes a prefix off the path, and has nothing elsewhere. Answers its address, and what tells it where to ask. */
async function proxy(): Promise<{ url: string; askAt: (target: string) => void }> {
  let target = '';
  const passed = ({ method, url = '', headers }: IncomingMessage) =>
    request(target + (url.startsWith(`${PREFIX}/`) ? url.slice(PREFIX.length) : '/nothing'), {
      method,
      headers,
    });
  const server = createServer((given, answer) => {
    const asked = passed(given);
    asked.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(answer);
    });
    given.pipe(asked);
  });
  server.on('upgrade', (given, socket) => {
    const asked = passed(given);
    asked.on('upgrade', ({ rawHeaders }, other) => {
      const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
      for (const one of [socket, other]) one.on('error', () => {});
      socket.pipe(other).pipe(socket);
    });
    asked.on('response', () => socket.destroy());
    asked.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const askAt = (address: string) => {
    target = address;
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`;
  return { url, askAt };
}

test('a service below a path is reached there: its agent, uploads, hooks and the addresses in its answers', async () => {
  const { url, askAt } = await proxy();
  const service = await Service.start({ DAYBOOK_PUBLIC_URL: url });
  askAt(service.url);
  const remote = RemoteService.of({ server: url, key: service.key }, service.world.clock);
  const computer = await remote.createComputer({ name: 'box', remoteUser: 'ada' });
  const { body } = await service.as('owner', 'ada')('GET', `/computers/${computer.id}`);
  const socket = url.replace('http:', 'ws:');
  expect([body.relayClientUrl, body.relayAgentUrl]).toEqual([
    `${socket}/api/v0/computers/${computer.id}/relay/client`,
    `${socket}/api/v0/relay/agent`,
  ]);
  const agent = await service.agent({ id: computer.id, agentToken: String(computer.agentToken) }, url);
  const path = join(temporaryFolder(), 'a.txt');
  writeFileSync(path, 'hello');
  expect(await remote.upload({ path, size: 5, name: 'a.txt' }, 'box', undefined, () => {})).toBe(5);
  expect(readFileSync(join(agent.workspace, 'a.txt'), 'utf8')).toBe('hello');
  const { sentence } = await connectTo(temporaryFolder(), { server: url, key: service.key });
  expect(sentence).toContain(`reports to ${url}`);
});
