import { once } from 'node:events';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createKey } from '../../src/api/api-keys.js';
import { Inbox } from '../../src/ingest/inbox.js';
import { buildApp } from '../../src/service/app.js';
import { type Config, readConfig } from '../../src/settings/config.js';
import { ClusterStore } from '../../src/store/cluster-store.js';
import { Node } from '../../src/store/state/node.js';
import { freePort } from '../ask.js';
import { databaseOf } from '../clickhouse/engine.js';
import { E2bServer } from '../e2b.js';
import { gate } from '../gate.js';
import { until } from '../service.js';
import { ending, temporaryFolder } from '../world.js';
import { addressOf, expireLease, postgresDatabase } from './server.js';

const atEnd = ending();
const clock = () => Date.now();
let e2b: E2bServer;
let here: Awaited<ReturnType<typeof nodeOf>>;
let there: Awaited<ReturnType<typeof nodeOf>>;

beforeAll(async () => {
  e2b = await E2bServer.start(afterAll);
  const state = addressOf(await postgresDatabase(atEnd));
  const folder = temporaryFolder(atEnd);
  const connected = databaseOf(join(folder, 'here'), atEnd);
  const port = await freePort();
  const open = (name: string, own: number) =>
    nodeOf(own, { DAYBOOK_DATA: join(folder, name), DAYBOOK_URL: `http://127.0.0.1:${port}` }, (config) =>
      ClusterStore.with(config.data, state, { ...config, now: clock() }, connected),
    );
  here = await open('here', port);
  there = await open('there', await freePort());
});

/** A node that listens, with what asks it as an owner, and how often it was refused work on a computer, and ended some. */
async function nodeOf(
  port: number,
  environment: Record<string, string>,
  open: (config: Config) => Promise<ClusterStore>,
) {
  const config = readConfig({
    DAYBOOK_THREADS: '1',
    DAYBOOK_RATE_LIMIT: '0',
    ...e2b.environment,
    ...environment,
  });
  const store = await open(config);
  atEnd(() => store.close());
  const errors: unknown[] = [];
  const node = new Node(store.shared, { role: 'all', version: '1' }, (error) => errors.push(error));
  await node.start();
  let [refused, ended] = [0, 0];
  const watched = new Proxy(store, {
    get: (target, name) => {
      if (name === 'trying')
        return async (...given: Parameters<ClusterStore['trying']>) => {
          const result = await target.trying(...given);
          if (result === undefined) refused += 1;
          else ended += 1;
          return result;
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const inbox = Inbox.open(config, clock);
  const app = buildApp({ store: watched, config, clock, inbox, node });
  const url = await app.listen({ host: '127.0.0.1', port });
  atEnd(async () => {
    await app.close();
    await inbox.close();
    await node.stop();
    expect(errors).toEqual([]);
  });
  const { key } = await createKey(store, { orgId: 'acme', role: 'owner', userId: 'ada' }, clock());
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/api/v0/computers${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as { id: string; status: string; name: string };
  };
  return { store, url, headers, ask, refused: () => refused, ended: () => ended };
}

/** Holds the provider back before it answers that a sandbox is made. */
function holding() {
  const [reach, release] = [gate(), gate()];
  e2b.beforeCreated = async () => {
    e2b.beforeCreated = () => {};
    reach.open();
    await release.opened;
  };
  return { reached: reach.opened, release: release.open };
}

const create = (name: string) =>
  here.ask('POST', '', { name, provider: 'e2b', remoteUser: userInfo().username });
const isActive = async (id: string) => (await there.ask('GET', `/${id}`)).status === 'active';
const machinesOf = (id: string) =>
  [...e2b.sandboxes.values()].filter(({ metadata }) => metadata.daybookComputer === id).length;
const agentsStarted = () => e2b.asked.filter((call) => call.endsWith('/connect')).length;

test('a computer is made once, although another node looks for what is left to do', async () => {
  const { reached, release } = holding();
  const { id } = await create('once');
  await reached;
  const before = there.refused();
  await until(() => there.refused() > before);
  release();
  await until(() => isActive(id));
  expect([machinesOf(id), agentsStarted()]).toEqual([1, 1]);
  await until(
    async () =>
      (await here.store.shared.select("SELECT name FROM leases WHERE name LIKE 'provision %'")).length === 0,
  );
});

test('what a node leaves half done is done by another one, and what it does later counts for nothing', async () => {
  const agents = agentsStarted();
  const { reached, release } = holding();
  const { id } = await create('left');
  await reached;
  // Its lease expires, also if it has just renewed it.
  await until(async () => {
    await expireLease(here.store.shared, `provision ${id}`, here.store.shared.id);
    return isActive(id);
  });
  const computer = await there.ask('GET', `/${id}`);
  const before = here.ended();
  release();
  await until(() => here.ended() > before);
  expect(await there.ask('GET', `/${id}`)).toEqual(computer);
  expect([machinesOf(id), agentsStarted() - agents]).toEqual([1, 1]);
});

test('whoever watches a computer at one node is told what another node changes', async () => {
  const { id } = await here.ask('POST', '', { name: 'seen', remoteUser: 'ada' });
  const address = `${there.url.replace('http', 'ws')}/api/v0/computers/${id}/relay/client`;
  const socket = new WebSocket(address, { headers: { authorization: there.headers.authorization } });
  atEnd(() => socket.terminate());
  const names: string[] = [];
  socket.on('message', (data) => names.push(JSON.parse(String(data)).name));
  await once(socket, 'open');
  await until(() => names.length === 1);
  await here.ask('PATCH', `/${id}`, { name: 'renamed' });
  await until(() => names.length === 2);
  expect(names).toEqual(['seen', 'renamed']);
  const ended = once(socket, 'close');
  await fetch(`${here.url}/api/v0/computers/${id}`, {
    method: 'DELETE',
    headers: { authorization: here.headers.authorization },
  });
  expect((await ended)[0]).toBe(4001);
});
