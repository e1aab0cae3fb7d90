import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { JobFailed } from '../src/computers/agent-message.js';
import { NoAnswer, NotConnected } from '../src/computers/agent-relay.js';
import { SharedRelay } from '../src/computers/shared-relay.js';
import { applyChanges } from '../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../src/store/postgres/postgres-session.js';
import { DEAD_MS, Node, SHARED_CLOCK } from '../src/store/state/node.js';
import { hasPostgres } from './postgres/installed.js';
import { addressOf, postgresDatabase } from './postgres/server.js';
import { until } from './service.js';
import { ending, NOW } from './world.js';

const HELLO = JSON.stringify({ type: 'hello', hostname: 'box', version: '1' });
const JOB = { type: 'clone' as const, repo: 'https://git.acme.example/api.git' };

describe.skipIf(!hasPostgres())('agents that are connected to another node', () => {
  const atEnd = ending();
  let session: PostgresSession;
  beforeAll(async () => {
    session = PostgresSession.of(addressOf(await postgresDatabase(atEnd)));
    atEnd(() => session.close());
    await applyChanges(session, { now: NOW });
  });

  /** A node, with the address at which the agent of a computer connects. */
  async function nodeFor(computerId: string) {
    const shared = {
      id: randomUUID(),
      select: session.select.bind(session),
      run: session.run.bind(session),
      stateRevision: async (table: string) => {
        const [row] = await session.select(
          'SELECT revision FROM revisions_of_tables WHERE table_name = $table',
          { table },
        );
        return String(row?.revision ?? '');
      },
    };
    const errors: unknown[] = [];
    const node = new Node(shared, { role: 'all', version: '1' }, (error) => errors.push(error));
    await node.start();
    const relay = new SharedRelay(
      node,
      () => Date.now(),
      (error) => errors.push(error),
    );
    relay.start();
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => relay.attach({ id: computerId, name: 'box' }, socket, () => {}));
    await once(server, 'listening');
    atEnd(async () => {
      for (const client of server.clients) client.terminate();
      const closed = once(server, 'close');
      server.close();
      await closed;
      await relay.stop();
      await node.stop();
      expect(errors).toEqual([]);
    });
    return { node, relay, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  async function agent(url: string, answer: (id: string) => object | undefined = () => undefined) {
    const socket = new WebSocket(url);
    socket.on('message', (data) => {
      const { type, id } = JSON.parse(String(data));
      const said = type === 'job' ? answer(id) : undefined;
      if (said !== undefined) socket.send(JSON.stringify({ id, ...said }));
    });
    await once(socket, 'open');
    socket.send(HELLO);
    return socket;
  }

  async function computer(id: string): Promise<void> {
    await session.run([
      {
        sql: `INSERT INTO computers (computer_id, org_id, name, provider_type, status, owner_kind, owner_id, repos, auto_install_deps, steps, token_hash, created_at)
          SELECT $id, 'acme', $id, 'byom', 'active', 'human', 'ada', '[]', FALSE, '[]', $id, instant($now)`,
        parameters: { id, now: NOW },
      },
    ]);
  }

  test('are seen there, do their jobs, and say why they could not', async () => {
    await computer('cmp_jobs');
    const [here, there] = [await nodeFor('cmp_jobs'), await nodeFor('cmp_jobs')];
    await expect(here.relay.ask('cmp_jobs', JOB, 1000)).rejects.toBeInstanceOf(NotConnected);
    let answers = 0;
    await agent(there.url, () =>
      answers++ === 0 ? { type: 'done' } : { type: 'failed', reason: 'full', detail: 'The disk is full.' },
    );
    await until(async () => {
      await here.relay.refresh();
      return here.relay.connectedAt('cmp_jobs') !== null;
    });
    expect(here.relay.connectedAt('cmp_jobs')).toBe(there.relay.connectedAt('cmp_jobs'));
    await here.relay.ask('cmp_jobs', JOB, 60_000);
    await expect(here.relay.ask('cmp_jobs', JOB, 60_000)).rejects.toThrow(
      new JobFailed('full', 'The disk is full.'),
    );
    expect(await session.select('SELECT job_id FROM agent_jobs')).toEqual([]);
  });

  test('have no answer in time, or are gone', async () => {
    await computer('cmp_late');
    const [here, there] = [await nodeFor('cmp_late'), await nodeFor('cmp_late')];
    const socket = await agent(there.url);
    await until(async () => {
      await here.relay.refresh();
      return here.relay.connectedAt('cmp_late') !== null;
    });
    await expect(here.relay.ask('cmp_late', JOB, 500)).rejects.toBeInstanceOf(NoAnswer);
    const asked = here.relay.ask('cmp_late', JOB, 60_000);
    await until(async () => (await session.select('SELECT job_id FROM agent_jobs')).length > 0);
    setTimeout(() => socket.close(), 500);
    await expect(asked).rejects.toBeInstanceOf(NotConnected);
    await until(async () => {
      await here.relay.refresh();
      return here.relay.connectedAt('cmp_late') === null;
    });
  });

  test('give way to one that connects here, and end when their computer is deleted here', async () => {
    await computer('cmp_moved');
    const [here, there] = [await nodeFor('cmp_moved'), await nodeFor('cmp_moved')];
    const old = await agent(there.url);
    await until(() => there.relay.connectedAt('cmp_moved') !== null);
    const closed = once(old, 'close');
    const moved = await agent(here.url);
    expect(await closed).toEqual([4002, Buffer.from('Another agent has connected.')]);
    const ended = once(moved, 'close');
    await session.run([{ sql: "DELETE FROM computers WHERE computer_id = 'cmp_moved'" }]);
    there.relay.drop('cmp_moved');
    expect(await ended).toEqual([4001, Buffer.from('The computer is deleted.')]);
  });

  test('are not taken for connected when their node is dead', async () => {
    await computer('cmp_dead');
    const [here, there] = [await nodeFor('cmp_dead'), await nodeFor('cmp_dead')];
    await agent(there.url);
    await until(async () => {
      await here.relay.refresh();
      return here.relay.connectedAt('cmp_dead') !== null;
    });
    // It says no more that it lives.
    await there.node.stop();
    await session.run([
      {
        sql: `INSERT INTO nodes (node_id, host, role, version, started_at_ms, seen_at_ms)
          VALUES ($id, 'box', 'all', '1', ${SHARED_CLOCK}, ${SHARED_CLOCK} - ${DEAD_MS})`,
        parameters: { id: there.node.id },
      },
      { sql: "UPDATE revisions_of_tables SET revision = revision + 1 WHERE table_name = 'connected_agents'" },
    ]);
    await here.relay.refresh();
    expect(here.relay.connectedAt('cmp_dead')).toBeNull();
    await expect(here.relay.ask('cmp_dead', JOB, 1000)).rejects.toBeInstanceOf(NotConnected);
  });
});
