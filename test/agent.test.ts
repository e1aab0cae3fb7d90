import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createKey, revokeKey } from '../src/api/api-keys.js';
import { CLOSE, PROTOCOL } from '../src/computers/agent-message.js';
import { NoAnswer, NotConnected, Relay } from '../src/computers/agent-relay.js';
import { Computers } from '../src/computers/computer.js';
import { ComputerBody } from '../src/computers/computer-routes.js';
import type { Step } from '../src/computers/provisioning-step.js';
import { runAgent } from '../src/computers/run-agent.js';
import { WATCHERS_AT_MOST, Watchers } from '../src/computers/watchers.js';
import { UsageError } from '../src/exit.js';
import { buildApp } from '../src/service/app.js';
import { ask, freePort } from './ask.js';
import { E2bServer } from './e2b.js';
import { type Agent, Service, until } from './service.js';
import { ending, temporaryFolder } from './world.js';

const atEnd = ending();

let shared: Service;
beforeAll(async () => {
  shared = await Service.start({}, atEnd);
});
/** Opens a connection by hand: what it got, and how it ended. */
function connect(url: string, token: string, protocol: string | string[] | undefined = undefined) {
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

/** Lets no heartbeat pass until the test advances the time. */
function beatByHand(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
}

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
    expect(await agent.ended).toEqual(new UsageError('The computer is deleted: the agent stops.'));
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

  test('that does not offer its protocol is refused in the form of the API', async () => {
    const { agentToken } = await shared.computer();
    const url = `${shared.url.replace('http', 'ws')}/api/v0/relay/agent`;
    for (const protocol of [undefined, 'daybook.agent.v2'])
      expect(await connect(url, agentToken, protocol).refused).toBe(400);
    const headers = { connection: 'upgrade', upgrade: 'websocket', authorization: `Bearer ${agentToken}` };
    const wanted = { 'sec-websocket-key': `${'x'.repeat(22)}==`, 'sec-websocket-version': '13' };
    const given = await ask(shared.url, '/api/v0/relay/agent', { headers: { ...headers, ...wanted } });
    expect(JSON.parse(given.text)).toMatchObject({
      status: 400,
      detail: 'The request must have the header "Sec-WebSocket-Protocol: daybook.agent.v1".',
    });
    // Of several that it offers it gets the right one.
    const agent = connect(url, agentToken, ['x', PROTOCOL]);
    await agent.opened();
    expect(agent.socket.protocol).toBe(PROTOCOL);
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
    ['has a name with a line break', [HELLO.replace('box', 'box\\nADMIN')]],
    ['has a name with markup', [HELLO.replace('box', '<b>box</b>')]],
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
  /** A relay behind a bare server. Who doesn't speak within a heartbeat is let go of, also on a machine that has much to do. */
  async function relayWith(heartbeatMs = 60_000): Promise<{ relay: Relay; url: string }> {
    const relay = new Relay(() => 7, heartbeatMs);
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
    beatByHand();
    const { relay, url } = await relayWith(1000);
    const silent = new WebSocket(url, { autoPong: false });
    silent.on('error', () => {});
    await once(silent, 'open');
    silent.send(HELLO);
    await until(() => relay.connectedAt('cmp_1') === 7);
    vi.advanceTimersByTime(1000);
    expect(relay.connectedAt('cmp_1')).toBe(7);
    vi.advanceTimersByTime(1000);
    await until(() => relay.connectedAt('cmp_1') === null);
    const speechless = new WebSocket(url);
    await once(speechless, 'open');
    vi.advanceTimersByTime(1000);
    await once(speechless, 'close');
  });

  test('lets go of the oldest of several connections of a computer that say nothing', async () => {
    // None is pinged before the test is over.
    const { relay, url } = await relayWith(600_000);
    const silent: WebSocket[] = [];
    for (let index = 0; index < 6; index += 1) {
      const one = new WebSocket(url);
      one.on('error', () => {});
      await once(one, 'open');
      silent.push(one);
    }
    await until(() => silent.slice(0, 2).every(({ readyState }) => readyState === WebSocket.CLOSED));
    expect(silent.slice(2).map(({ readyState }) => readyState)).toEqual(Array(4).fill(WebSocket.OPEN));
    silent.at(-1)?.send(HELLO);
    await until(() => relay.connectedAt('cmp_1') === 7);
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
  const watchUrl = ({ id }: { id: string }) =>
    `${shared.url.replace('http', 'ws')}/api/v0/computers/${id}/relay/client`;

  test('see it at once and whenever it changes, until it is deleted', async () => {
    const service = shared;
    const ada = service.as('member', 'ada');
    const computer = await service.computer();
    const { key } = await createKey(service.world.store, { orgId: 'acme', role: 'guest' }, service.world.now);
    const { relayClientUrl } = (await ada('GET', `/computers/${computer.id}`)).body;
    const watcher = connect(relayClientUrl, key);
    await until(() => watcher.messages.length > 0);
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

  test('have a limit for each credential and computer, and room again when one leaves', async () => {
    const { store, now } = shared.world;
    const computer = await shared.computer();
    const url = watchUrl(computer);
    const keyOf = async () => (await createKey(store, { orgId: 'acme', role: 'guest' }, now)).key;
    const [key, other] = [await keyOf(), await keyOf()];
    const all = Array.from({ length: 30 }, () => connect(url, key));
    const refused = all.map(({ refused }) => refused);
    const isIn = ({ socket }: { socket: WebSocket }) => socket.readyState === socket.OPEN;
    await until(() => all.every((one) => isIn(one) || one.socket.readyState === one.socket.CLOSED));
    expect(all.filter(isIn)).toHaveLength(WATCHERS_AT_MOST.computer);
    expect(await Promise.all(refused.filter((_, index) => !isIn(all[index] as (typeof all)[0])))).toEqual(
      Array.from({ length: 30 - WATCHERS_AT_MOST.computer }, () => 429),
    );
    await connect(url, other).opened();
    await connect(watchUrl(await shared.computer()), key).opened();
    all.find(isIn)?.socket.close();
    await until(async () => {
      const again = connect(url, key);
      return (await Promise.race([again.opened().then(() => 101), again.refused])) === 101;
    });
  });

  test('cost one read of the store for all of them, and one message for changes that come together', async () => {
    const { store, now } = shared.world;
    const ada = shared.as('member', 'ada');
    const computer = await shared.computer();
    const select = vi.spyOn(store, 'select');
    onTestFinished(() => select.mockRestore());
    // The service also looks for old transfers from time to time.
    const reads = () => select.mock.calls.filter(([sql]) => !sql.includes('transfers')).length;
    const readsOf = async (work: () => Promise<void>) => {
      const before = reads();
      await work();
      return reads() - before;
    };
    const change = async () => {
      for (let index = 0; index < 20; index += 1)
        await ada('PATCH', `/computers/${computer.id}`, { remoteUser: `user-${index}` });
      await ada('PATCH', `/computers/${computer.id}`, { remoteUser: 'ada' });
    };
    const unwatched = await readsOf(change);
    const watchers: ReturnType<typeof connect>[] = [];
    for (let index = 0; index < 3; index += 1) {
      const { key } = await createKey(store, { orgId: 'acme', role: 'guest' }, now);
      watchers.push(...Array.from({ length: 10 }, () => connect(watchUrl(computer), key)));
    }
    await until(() => watchers.every(({ messages }) => messages.length > 0));
    const watched = await readsOf(async () => {
      await change();
      await until(() => watchers.every(({ messages }) => messages.at(-1)?.remoteUser === 'ada'));
    });
    // As many reads as changes at most, whoever watches.
    expect(watched - unwatched).toBeLessThanOrEqual(21);
    for (const { messages } of watchers) expect(messages.length).toBeLessThanOrEqual(22);
  });

  test('are let go of when they answer no ping', async () => {
    const computer = await shared.computer();
    beatByHand();
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    const request = { caller: { orgId: 'acme', credential: 'c' }, protocol: 'http', host: 'h' };
    const { store, config, clock } = shared.world;
    const relay = new Relay(clock);
    const computers = new Computers(store, clock);
    const allowing = { authenticator: { identify: vi.fn() }, addresses: { isAllowed: async () => true } };
    const watchers = new Watchers({ ...allowing, computers, relay, config }, 500);
    onTestFinished(() => {
      watchers.close();
      for (const client of server.clients) client.terminate();
      server.close();
    });
    server.on('connection', (socket) => watchers.add(socket, request as never, computer.id));
    await once(server, 'listening');
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const silent = new WebSocket(url, { autoPong: false });
    silent.on('error', () => {});
    await once(silent, 'message');
    for (const _ of ['is pinged', 'has not answered']) vi.advanceTimersByTime(500);
    await once(silent, 'close');
    expect(watchers.isFull(request.caller as never, computer.id)).toBe(false);
  });

  test('are told by a plain request what the address is for', async () => {
    const service = shared;
    const computer = await service.computer();
    const { status, body } = await service.as('owner')('GET', `/computers/${computer.id}/relay/client`);
    expect(status).toBe(400);
    expect(body.detail).toMatch(/WebSocket/);
  });
});

/** A server of git repositories, as files: git itself can read them so. */
async function gitServer(repositories: Record<string, Record<string, string>>) {
  const folder = temporaryFolder();
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@acme.test', ...args], {
      cwd,
      stdio: 'pipe',
    });
  const add = (name: string, files: Record<string, string>) => {
    const work = join(folder, `${name}.work`);
    mkdirSync(work);
    git(work, 'init', '--quiet');
    for (const [path, content] of Object.entries(files)) writeFileSync(join(work, path), content);
    git(work, 'add', '--all');
    git(work, 'commit', '--quiet', '-m', 'first');
    git(folder, 'clone', '--quiet', '--bare', work, join(folder, `${name}.git`));
    git(join(folder, `${name}.git`), 'update-server-info');
  };
  for (const [name, files] of Object.entries(repositories)) add(name, files);
  let asked = 0;
  const server = createServer((request, answer) => {
    asked += 1;
    const path = join(folder, decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
    if (!existsSync(path) || !statSync(path).isFile()) answer.writeHead(404).end();
    else createReadStream(path).pipe(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: (name: string) => `${url}/${name}.git`, add, asked: () => asked };
}

const LOCK = JSON.stringify({ name: 'p', lockfileVersion: 3, packages: { '': { name: 'p' } } });

interface Shown {
  readonly status: string;
  readonly provisioningSteps: Step[];
  readonly connectedAt: number | null;
}

async function stepsOf(service: Service, id: string): Promise<Shown> {
  return (await service.as('member', 'ada')('GET', `/computers/${id}`)).body;
}

/** Waits until nothing of a computer is to be done any more. */
async function settled(service: Service, id: string) {
  await until(
    async () =>
      (await stepsOf(service, id)).provisioningSteps.every(
        ({ status }) => status === 'completed' || status === 'failed',
      ) || (await stepsOf(service, id)).status === 'error',
  );
  return stepsOf(service, id);
}

const clones = ({ workspace }: Agent) => readdirSync(workspace).sort();

describe('the repositories of a computer', () => {
  test('are cloned when its agent connects, and their dependencies installed by what the lock file names', async () => {
    const git = await gitServer({
      api: {
        'package.json': '{"name": "p", "scripts": {"install": "echo hello > installed"}}',
        'package-lock.json': LOCK,
      },
      docs: { 'README.md': '# Docs' },
    });
    const service = shared;
    const computer = await service.computer({
      repos: [git.url('api'), git.url('docs')],
      autoInstallDeps: true,
    });
    expect((await stepsOf(service, computer.id)).provisioningSteps.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'pending',
      'pending',
    ]);
    const agent = await service.agent(computer);
    const { status, provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps).toMatchObject([
      { name: 'create-computer', status: 'completed' },
      { name: 'configure-user', status: 'completed' },
      {
        name: 'clone-repos',
        status: 'completed',
        startedAt: service.world.now,
        completedAt: service.world.now,
      },
      { name: 'install-dependencies', status: 'completed', installSessionId: expect.stringMatching(/^ins_/) },
    ]);
    expect(status).toBe('active');
    expect(clones(agent)).toEqual(['api', 'docs']);
    expect(readFileSync(join(agent.workspace, 'docs', 'README.md'), 'utf8')).toBe('# Docs');
    expect(readFileSync(join(agent.workspace, 'api', 'installed'), 'utf8')).toBe('hello\n');
  });

  test('that are not to be had make the computer an error, with what git said; a retry goes on from there', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const ada = service.as('member', 'ada');
    const computer = await service.computer({ repos: [git.url('api'), git.url('late')] });
    const agent = await service.agent(computer);
    const failed = await settled(service, computer.id);
    expect(failed.status).toBe('error');
    expect(failed.provisioningSteps[2]).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('not found'),
    });
    expect(clones(agent)).toEqual(['api']);
    const before = git.asked();
    git.add('late', { 'README.md': '# Late' });
    writeFileSync(join(agent.workspace, 'api', 'mine'), '');
    const { status, body } = await ada('POST', `/computers/${computer.id}/retry`);
    expect(status).toBe(200);
    expect(body.status).toBe('provisioning');
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');
    expect(clones(agent)).toEqual(['api', 'late']);
    expect(existsSync(join(agent.workspace, 'api', 'mine'))).toBe(true);
    expect(git.asked()).toBeGreaterThan(before);
    const { provisioningSteps } = await stepsOf(service, computer.id);
    expect(provisioningSteps[2]).toMatchObject({ status: 'completed' });
    expect(provisioningSteps[2]).not.toHaveProperty('error');
  });

  test('whose folder is taken by something else are an error that says so', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api'), `${git.url('api')}/`] });
    const agent = await service.agent(computer);
    const { provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps[2]?.error).toMatch(/The workspace already has api, which is not a clone of/);
    expect(clones(agent)).toEqual(['api']);
  });

  test('whose dependencies can not be installed are an error, with what the package manager said', async () => {
    const git = await gitServer({
      api: { 'package.json': '{"name": "other", "dependencies": {"x": "1"}}', 'package-lock.json': LOCK },
    });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api')], autoInstallDeps: true });
    await service.agent(computer);
    const { status, provisioningSteps } = await settled(service, computer.id);
    expect(status).toBe('error');
    expect(provisioningSteps.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'failed',
    ]);
    expect(provisioningSteps[3]?.error).toMatch(/^"npm ci" ended with 1: /);
  });

  test('are cloned after the service was stopped in the middle', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = await Service.start({}, onTestFinished, await freePort());
    const computer = await service.computer({ repos: [git.url('api')] });
    // As a service leaves it that falls while the agent is at work.
    const { provisioningSteps } = await stepsOf(service, computer.id);
    const cut = provisioningSteps.map((step) =>
      step.name === 'clone-repos' ? { ...step, status: 'in_progress', startedAt: 1 } : step,
    );
    await service.world.store.run([
      {
        sql: 'UPDATE computers SET steps = $steps WHERE computer_id = $id',
        parameters: { steps: JSON.stringify(cut), id: computer.id },
      },
    ]);
    await service.app.close();
    const next = buildApp(service.world);
    await next.listen({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
    onTestFinished(() => next.close());
    const agent = await service.agent(computer);
    await settled(service, computer.id);
    expect(clones(agent)).toEqual(['api']);
  });

  test('are cloned without a password that an earlier version has kept, as is what failed shown', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api')] });
    await service.world.store.run([
      {
        sql: 'UPDATE computers SET repos = $repos WHERE computer_id = $id',
        parameters: {
          repos: JSON.stringify([git.url('api').replace('//', '//ci:s3cr3t@')]),
          id: computer.id,
        },
      },
    ]);
    const agent = await service.agent(computer);
    expect((await settled(service, computer.id)).status).toBe('active');
    expect(readFileSync(join(agent.workspace, 'api', '.git', 'config'), 'utf8')).not.toContain('s3cr3t');
    expect(agent.said.join()).not.toContain('s3cr3t');
    await agent.stop();

    // An agent of an earlier version says what git said.
    const failing = await service.computer({ repos: [git.url('late')] });
    const old = connect(
      `${service.url.replace('http', 'ws')}/api/v0/relay/agent`,
      failing.agentToken,
      PROTOCOL,
    );
    await old.opened();
    old.socket.send(HELLO);
    await until(() => old.messages.some(({ type }) => type === 'job'));
    const id = old.messages.find(({ type }) => type === 'job')?.id;
    const detail = 'remote: https://ci:s3cr3t@host/x.git?token=s3cr3t is gone';
    old.socket.send(JSON.stringify({ type: 'failed', id, reason: 'failed', detail }));
    const { provisioningSteps } = await settled(service, failing.id);
    expect(provisioningSteps[2]?.error).toBe('remote: https://host/x.git?token=*** is gone');
    const kept = await service.world.store.select('SELECT steps FROM computers WHERE computer_id = $id', {
      id: failing.id,
    });
    expect(String(kept[0]?.steps)).not.toContain('s3cr3t');
  });

  test('are not looked for in the files of the machine', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api')] });
    // What got into the store some other way is git's to refuse.
    const path = temporaryFolder();
    await service.world.store.run([
      {
        sql: 'UPDATE computers SET repos = $repos WHERE computer_id = $id',
        parameters: { repos: JSON.stringify([`file://${path}`]), id: computer.id },
      },
    ]);
    const agent = await service.agent(computer);
    const { provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps[2]?.error).toMatch(/transport 'file' not allowed/);
    expect(clones(agent)).toEqual([]);
    rmSync(path, { recursive: true });
  });
});

describe('a computer of the provider e2b', () => {
  let e2b: E2bServer;
  let service: Service;
  beforeAll(async () => {
    e2b = await E2bServer.start(atEnd);
    const port = await freePort();
    service = await Service.start(
      { ...e2b.environment, DAYBOOK_URL: `http://127.0.0.1:${port}` },
      afterAll,
      port,
    );
  });
  const made = { provider: 'e2b', remoteUser: userInfo().username };
  const of = (id: string) =>
    [...e2b.sandboxes.values()].find(({ metadata }) => metadata.daybookComputer === id);

  test('is a sandbox with its agent in it: repositories and files go there as to any machine', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const computer = await service.computer({ ...made, repos: [git.url('api')] });
    expect(computer).toMatchObject({ providerType: 'e2b', status: 'provisioning', connectedAt: null });
    expect(computer).not.toHaveProperty('agentToken');
    const { status, provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps.map(({ status, error }) => error ?? status)).toEqual(Array(3).fill('completed'));
    expect(status).toBe('active');
    const workspace = join(of(computer.id)?.home ?? '', 'workspace');
    expect(readFileSync(join(workspace, 'api', 'README.md'), 'utf8')).toBe('# API');
    expect(e2b.asked).toContain('command of root:');
    expect(e2b.asked).toContain(`command of ${made.remoteUser}:`);

    const { complete } = await service.sent(computer.id, 'hello.txt', 'hello');
    expect((await complete({ destPath: 'docs' })).status).toBe(200);
    expect(readFileSync(join(workspace, 'docs', 'hello.txt'), 'utf8')).toBe('hello');

    // Asleep, it is woken by the next file for it.
    e2b.pause(of(computer.id)?.id ?? '');
    await until(async () => (await stepsOf(service, computer.id)).connectedAt === null);
    const next = await service.sent(computer.id, 'next.txt', 'next');
    expect((await next.complete()).status).toBe(503);
    await until(async () => (await next.complete()).status === 200);
    expect(readFileSync(join(workspace, 'next.txt'), 'utf8')).toBe('next');
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');

    // Gone, it is an error that says so, and a retry makes another.
    e2b.kill(of(computer.id)?.id ?? '');
    await until(async () => (await stepsOf(service, computer.id)).connectedAt === null);
    const last = await service.sent(computer.id, 'last.txt', 'last');
    expect((await last.complete()).status).toBe(503);
    await until(async () => (await stepsOf(service, computer.id)).status === 'error');
    expect((await stepsOf(service, computer.id)).provisioningSteps[0]?.error).toMatch(/machine is gone/);
    const ada = service.as('member', 'ada');
    expect((await ada('POST', `/computers/${computer.id}/retry`)).status).toBe(200);
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');
    expect((await last.complete()).status).toBe(200);

    expect((await ada('DELETE', `/computers/${computer.id}`)).status).toBe(204);
    expect(of(computer.id)).toBeUndefined();
  });

  test('that can not be made is an error with what the provider said, and a retry goes on from there', async () => {
    const ada = service.as('member', 'ada');
    const source = { kind: 'template', templateId: 'missing' };
    const missing = await service.computer({ ...made, source });
    expect((await settled(service, missing.id)).provisioningSteps[0]?.error).toMatch(
      /^E2B: .*template 'missing'/,
    );
    e2b.failure = { status: 500, message: 'the data centre burns' };
    const unlucky = await service.computer(made);
    expect((await settled(service, unlucky.id)).provisioningSteps[0]?.error).toMatch(/the data centre burns/);
    e2b.failure = undefined;
    expect((await ada('POST', `/computers/${unlucky.id}/retry`)).body.status).toBe('provisioning');
    await until(async () => (await stepsOf(service, unlucky.id)).status === 'active');
    // Asleep while its provider can't be asked, it is an error that says so.
    e2b.pause(of(unlucky.id)?.id ?? '');
    await until(async () => (await stepsOf(service, unlucky.id)).connectedAt === null);
    e2b.failure = { status: 500, message: 'the data centre burns' };
    const { complete } = await service.sent(unlucky.id, 'a', 'a');
    expect((await complete()).status).toBe(503);
    await until(async () => (await stepsOf(service, unlucky.id)).status === 'error');
    expect((await stepsOf(service, unlucky.id)).provisioningSteps[1]?.error).toMatch(/the data centre burns/);
    e2b.failure = undefined;
    expect((await ada('POST', `/computers/${unlucky.id}/retry`)).status).toBe(200);
    await until(async () => (await stepsOf(service, unlucky.id)).status === 'active');
    // What the provider doesn't remove is not forgotten.
    e2b.failure = { status: 500, message: 'the data centre burns' };
    expect((await ada('DELETE', `/computers/${unlucky.id}`)).body).toMatchObject({ status: 503 });
    e2b.failure = undefined;
    expect((await ada('DELETE', `/computers/${unlucky.id}`)).status).toBe(204);
    expect(of(unlucky.id)).toBeUndefined();
  });

  test('without the program in its template is an error that says so', async () => {
    e2b.beforeCreated = () => {
      for (const { home } of e2b.sandboxes.values()) rmSync(join(home, 'bin'), { recursive: true });
    };
    const bare = await service.computer(made);
    expect((await settled(service, bare.id)).provisioningSteps[1]?.error).toMatch(/no program "daybook"/);
    e2b.beforeCreated = () => {};
  });

  test('is not made from another computer: its memory has the token of that one', async () => {
    const other = await service.computer();
    const source = { kind: 'computer', computerId: other.id };
    const refused = await service.as('member', 'ada')('POST', '/computers', {
      name: 'copy',
      ...made,
      source,
    });
    expect(refused.body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('scratch or template'),
    });
  });

  test('that was being made when the service stopped is made once, and gone on with after the start', async () => {
    let reached = () => {};
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    e2b.beforeCreated = () => new Promise(reached);
    const computer = await service.computer(made);
    await isReached;
    await service.app.close();
    e2b.beforeCreated = () => {};
    const next = buildApp(service.world);
    await next.listen({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
    onTestFinished(() => next.close());
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');
    const ours = [...e2b.sandboxes.values()].filter(
      ({ metadata }) => metadata.daybookComputer === computer.id,
    );
    expect(ours).toHaveLength(1);
  });
});
