import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { runAgent } from '../src/agent/agent.js';
import { CLOSE, PROTOCOL } from '../src/agent/message.js';
import { ComputerBody } from '../src/api/computers.js';
import { createKey, revokeKey } from '../src/api/keys.js';
import { NoAnswer, NotConnected, Relay } from '../src/computer/relay.js';
import { UsageError } from '../src/exit.js';
import { Service, until } from './service.js';

let shared: Service;
beforeAll(async () => {
  shared = await Service.start({}, afterAll);
});
/** Opens a connection by hand: what it got, and how it ended. */
function connect(url: string, token: string, protocol: string | undefined = undefined) {
  const socket = new WebSocket(url, protocol ?? [], { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => socket.terminate());
  const messages: Record<string, unknown>[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const refused = new Promise<number>((resolve) =>
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    }),
  );
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  return { socket, messages, refused, closed, opened: () => once(socket, 'open') };
}

const HELLO = JSON.stringify({ type: 'hello', hostname: 'box', version: '1' });

describe('an agent', () => {
  test('shows its computer connected and since when, and not connected once it has stopped', async () => {
    const service = shared;
    const ada = service.as('member', 'ada');
    const computer = await service.computer();
    const shown = async () => (await ada('GET', `/computers/${computer.id}`)).body;
    expect((await shown()).connectedAt).toBeNull();
    const agent = await service.agent(computer);
    await until(async () => (await shown()).hostname !== undefined);
    expect((await shown()).connectedAt).toBe(service.world.now);
    await agent.stop();
    expect(await agent.ended).toBeUndefined();
    await until(async () => (await shown()).connectedAt === null);
  });

  test('with a token that is none, of another kind, or of a deleted computer is refused, and ends with a sentence', async () => {
    const service = shared;
    const computer = await service.computer();
    const agent = await service.agent(computer);
    expect((await service.as('member', 'ada')('DELETE', `/computers/${computer.id}`)).status).toBe(204);
    expect(await agent.ended).toEqual(new UsageError('The computer is deleted: the agent ends.'));
    const { key } = await createKey(service.world.store, { orgId: 'acme', role: 'owner' }, service.world.now);
    const url = `${service.url.replace('http', 'ws')}/api/v0/relay/agent`;
    for (const token of [computer.agentToken, key, 'x', `dba_${'a'.repeat(43)}`])
      expect(await connect(url, token, PROTOCOL).refused).toBe(401);
    const { signal } = new AbortController();
    const again = runAgent({
      server: service.url,
      token: computer.agentToken,
      workspace: agent.workspace,
      version: 'test',
      clock: service.world.clock,
      say: () => {},
      signal,
    });
    await expect(again).rejects.toThrow(/does not know this agent token/);
    expect(await fetch(url.replace('ws', 'http'))).toMatchObject({ status: 401 });
  });

  test('gives way to another with the same token, and ends with a sentence', async () => {
    const service = shared;
    const computer = await service.computer();
    const first = await service.agent(computer);
    const second = await service.agent(computer);
    expect(await first.ended).toBeInstanceOf(UsageError);
    expect(await first.ended).toMatchObject({ message: expect.stringContaining('Another agent') });
    const sent = await service.sent(computer.id, 'a.txt', 'a');
    expect((await sent.complete()).status).toBe(200);
    await second.stop();
  });

  for (const [what, messages] of [
    ['speaks before it says hello', [JSON.stringify({ type: 'done', id: crypto.randomUUID() })]],
    ['says hello twice', [HELLO, HELLO]],
    ['sends what is no JSON', [HELLO, '{']],
    ['sends an unknown member', [HELLO, JSON.stringify({ type: 'done', id: crypto.randomUUID(), x: 1 })]],
    ['sends bytes', [Buffer.from(HELLO)]],
  ] as const)
    test(`that ${what} is hung up on`, async () => {
      const service = shared;
      const { agentToken } = await service.computer();
      const agent = connect(`${service.url.replace('http', 'ws')}/api/v0/relay/agent`, agentToken, PROTOCOL);
      await agent.opened();
      for (const message of messages) agent.socket.send(message);
      expect(await agent.closed).toBe(CLOSE.violated);
    });

  test('that sends more than a message may have is hung up on', async () => {
    const service = shared;
    const { agentToken } = await service.computer();
    const agent = connect(`${service.url.replace('http', 'ws')}/api/v0/relay/agent`, agentToken, PROTOCOL);
    await agent.opened();
    agent.socket.send('x'.repeat(70_000));
    expect(await agent.closed).toBe(1009);
  });
});

describe('the relay', () => {
  /** A relay with a heart that beats fast, behind a bare server. */
  async function relayWith(): Promise<{ relay: Relay; url: string }> {
    const relay = new Relay(() => 7, 20);
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    server.on('connection', (socket) => relay.attach({ id: 'cmp_1', name: 'box' }, socket, () => {}));
    await once(server, 'listening');
    return { relay, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  test('lets go of an agent that answers no ping, or never says hello', async () => {
    const { relay, url } = await relayWith();
    const silent = new WebSocket(url, { autoPong: false });
    silent.on('error', () => {});
    await once(silent, 'open');
    silent.send(HELLO);
    await until(() => relay.connectedAt('cmp_1') === 7);
    await until(() => relay.connectedAt('cmp_1') === null);
    const speechless = new WebSocket(url);
    await once(speechless, 'open');
    await once(speechless, 'close');
  });

  test('ends what it was asked when the agent goes, or takes too long', async () => {
    const { relay, url } = await relayWith();
    const job = {
      type: 'write' as const,
      transferId: crypto.randomUUID(),
      fileName: 'a',
      sizeBytes: 0,
      sha256: '0'.repeat(64),
      createdAt: 0,
      url: 'x',
    };
    await expect(relay.ask('cmp_1', job, 1)).rejects.toBeInstanceOf(NotConnected);
    const agent = new WebSocket(url);
    await once(agent, 'open');
    agent.send(HELLO);
    await until(() => relay.connectedAt('cmp_1') !== null);
    await expect(relay.ask('cmp_1', job, 1)).rejects.toBeInstanceOf(NoAnswer);
    const asked = relay.ask('cmp_1', job, 60_000);
    agent.close();
    await expect(asked).rejects.toBeInstanceOf(NotConnected);
  });
});

describe('those who watch a computer', () => {
  test('see it at once and whenever it changes, until it is deleted', async () => {
    const service = shared;
    const ada = service.as('member', 'ada');
    const computer = await service.computer();
    const { key } = await createKey(service.world.store, { orgId: 'acme', role: 'guest' }, service.world.now);
    const { relayClientUrl } = (await ada('GET', `/computers/${computer.id}`)).body;
    const watcher = connect(relayClientUrl, key);
    await until(() => watcher.messages.length === 1);
    expect(ComputerBody.parse(watcher.messages[0])).toMatchObject({ id: computer.id, connectedAt: null });
    await service.agent(computer);
    await until(() => watcher.messages.some(({ connectedAt }) => connectedAt === service.world.now));
    await ada('PATCH', `/computers/${computer.id}`, { name: 'desk' });
    await until(() => watcher.messages.some(({ name }) => name === 'desk'));
    await ada('DELETE', `/computers/${computer.id}`);
    expect(await watcher.closed).toBe(CLOSE.deleted);
    expect(JSON.stringify(watcher.messages)).not.toContain('dba_');
  });

  test('need a credential of the organization that may read computers, for as long as they watch', async () => {
    const service = shared;
    const { store, now } = service.world;
    const computer = await service.computer();
    const url = `${service.url.replace('http', 'ws')}/api/v0/computers/${computer.id}/relay/client`;
    const keyOf = async (orgId: string, role: 'owner' | 'ingest') => createKey(store, { orgId, role }, now);
    expect(await connect(url, 'x').refused).toBe(401);
    expect(await connect(url, computer.agentToken).refused).toBe(401);
    expect(await connect(url, (await keyOf('acme', 'ingest')).key).refused).toBe(403);
    expect(await connect(url, (await keyOf('rival', 'owner')).key).refused).toBe(404);
    const { key, key_id } = await keyOf('acme', 'owner');
    const watcher = connect(url, key);
    await until(() => watcher.messages.length === 1);
    await revokeKey(store, key_id, now);
    await service.as('member', 'ada')('PATCH', `/computers/${computer.id}`, { name: 'desk' });
    expect(await watcher.closed).toBe(1011);
    expect(watcher.messages).toHaveLength(1);
  });

  test('are told by a plain request what the address is for', async () => {
    const service = shared;
    const computer = await service.computer();
    const { status, body } = await service.as('owner')('GET', `/computers/${computer.id}/relay/client`);
    expect(status).toBe(400);
    expect(body.detail).toMatch(/WebSocket/);
  });
});
