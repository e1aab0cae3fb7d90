import { join } from 'node:path';
import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { refuseOtherMethods } from '../api/error-replies.js';
import { type ApiDeps, family } from '../api/route-family.js';
import type { Store } from '../store/store.js';
import { Signer } from './address-signer.js';
import { MESSAGE_BYTES, PROTOCOL } from './agent-message.js';
import { Relay } from './agent-relay.js';
import { S3Objects } from './bucket-objects.js';
import { Computers } from './computer.js';
import type { ComputerDeps } from './computer-deps.js';
import { computers } from './computer-routes.js';
import { E2b } from './e2b.js';
import { LocalObjects } from './object-storage.js';
import { Provisioner } from './provisioner.js';
import { agents, watchers } from './relay-routes.js';
import { SharedRelay } from './shared-relay.js';
import { Transfers } from './transfer.js';
import { transfers } from './transfer-routes.js';
import { Uploads } from './upload.js';
import { files } from './upload-routes.js';

/** How often expired uploads are removed. */
const SWEEP_MS = 60_000;
/** How often a node looks for provisionings of nodes that are dead. */
const RESUME_MS = 5000;
/** How long the other side may take to confirm that a connection closes. */
const GOODBYE_MS = 1000;

/** Adds everything for computers: routes, agents, and the work between requests. */
export function addComputers(app: FastifyInstance, deps: ApiDeps): void {
  const all = open(deps, app.log);
  app.register(websocket, { options: { maxPayload: MESSAGE_BYTES, handleProtocols }, preClose: hangUp });
  const routes = family<ComputerDeps>('v0', async (scope, all) => {
    scope.addHook('preHandler', () => all.relay.refresh());
    for (const part of [computers, files, watchers]) await part(scope, all);
  });
  app.register(routes, { ...all, prefix: '/api/v0' });
  // Agents and clients with a signed address have no API credential.
  const withoutCredential: FastifyPluginAsync = (scope) =>
    refuseOtherMethods(scope, async () => {
      for (const part of [agents, transfers]) await part(scope, all);
    });
  app.register(withoutCredential, { prefix: '/api/v0' });
  workWhileListening(app, all);
}

function open(deps: ApiDeps, log: FastifyInstance['log']): ComputerDeps {
  const { store, config, clock, node } = deps;
  const report = (err: unknown) => log.error({ err }, 'the agents of other nodes are out of reach');
  const relay = node === undefined ? new Relay(clock) : new SharedRelay(node, clock, report);
  const signer = Signer.open(config);
  const computers = new Computers(store, clock, (id) => relay.changes.emit(id));
  const provider = config.e2b === undefined ? undefined : new E2b(config.e2b, config.publicUrl ?? config.url);
  const provisioner = new Provisioner(
    computers,
    relay,
    provider,
    clock,
    (error) => log.error({ err: error }, 'a provisioning was interrupted'),
    (id, work) => provisioning(store, id, work),
  );
  const objects =
    config.objects === undefined
      ? new LocalObjects(join(config.data, 'objects'))
      : new S3Objects(config.objects);
  const timeoutMs = config.agentTimeoutSeconds * 1000;
  const uploads = new Uploads(new Transfers(store, clock), objects, relay, signer, timeoutMs, clock);
  return { ...deps, relay, signer, computers, provisioner, uploads };
}

/** Does work on a computer unless another node does some. Its lease goes afterwards: there would be one for each computer that ever was. */
async function provisioning<T>(store: Store, id: string, work: () => Promise<T>): Promise<T | undefined> {
  const name = `provision ${id}` as const;
  let isOurs = false;
  const own = () => {
    isOurs = true;
    return work();
  };
  try {
    return await store.trying(name, own);
  } finally {
    const sql = 'DELETE FROM leases WHERE name = $name AND holder IS NULL';
    if (isOurs) await store.shared?.run([{ sql, parameters: { name } }]);
  }
}

/** Picks the protocol from those that a client offers. */
function handleProtocols(offered: ReadonlySet<string>): string | false {
  return offered.has(PROTOCOL) && PROTOCOL;
}

/** Resumes the work of an earlier process, and removes expired uploads. */
function workWhileListening(app: FastifyInstance, { uploads, provisioner, relay, node }: ComputerDeps): void {
  const timers: NodeJS.Timeout[] = [];
  let working = Promise.resolve();
  const work = (task: () => Promise<void>, what: string) => {
    working = working.then(task).catch((error) => app.log.error({ err: error }, what));
  };
  app.addHook('onListen', async () => {
    relay.start();
    const resume = () => work(() => provisioner.resume(), 'could not continue provisionings');
    resume();
    // What a node that died has left.
    if (node !== undefined) timers.push(setInterval(resume, RESUME_MS));
    timers.push(setInterval(() => work(() => uploads.sweep(), 'could not remove old uploads'), SWEEP_MS));
  });
  app.addHook('onClose', async () => {
    for (const timer of timers) clearInterval(timer);
    await working;
    await provisioner.finish();
    await relay.stop();
  });
}

/** Closes WebSocket connections when the service stops. Agents reconnect to the next one. */
function hangUp(this: FastifyInstance, done: () => void): void {
  const server = this.websocketServer;
  for (const client of server.clients) client.close(1001, 'The service is stopping.');
  setTimeout(() => {
    for (const client of server.clients) client.terminate();
  }, GOODBYE_MS).unref();
  server.close(() => done());
}
