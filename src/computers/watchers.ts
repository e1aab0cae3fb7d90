import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Caller } from '../api/caller.js';
import { requireAddress } from '../api/route-family.js';
import { CLOSE } from './agent-message.js';
import { HEARTBEAT_MS } from './agent-relay.js';
import type { Computer } from './computer.js';
import type { ComputerDeps } from './computer-deps.js';
import { bodyOf } from './computer-routes.js';

/** How many connections can watch: one computer with one credential, any computer with one credential, and an organization. */
export const WATCHERS_AT_MOST = { computer: 10, credential: 200, organization: 1000 };

/** How long changes are collected before watchers are told, in milliseconds. */
const TOGETHER_MS = 100;

/** How many bytes can be waiting for a watcher. One that reads too slowly is disconnected. */
const UNREAD_BYTES = 1 << 20;

/** A connection that watches a computer. */
interface Watcher {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly computerId: string;
  isAlive: boolean;
  /** The text that it was sent last. */
  text: string;
}

/** The connections that watch computers. Sends them changes. */
export class Watchers {
  private readonly organizations = new Map<string, Set<Watcher>>();
  /** The computers of each organization that have changed since they were last read. */
  private readonly changed = new Map<string, Set<string>>();
  private readonly beat: NodeJS.Timeout;

  constructor(
    private readonly deps: Pick<
      ComputerDeps,
      'computers' | 'relay' | 'authenticator' | 'addresses' | 'config'
    >,
    heartbeatMs = HEARTBEAT_MS,
  ) {
    this.beat = setInterval(() => this.checkAll(), heartbeatMs).unref();
  }

  /** Whether the maximum of connections is reached, so that the caller can't watch a computer. */
  isFull({ orgId, credential }: Caller, computerId: string): boolean {
    const all = [...(this.organizations.get(orgId) ?? [])];
    const own = all.filter(({ request }) => request.caller.credential === credential);
    const same = own.filter((one) => one.computerId === computerId);
    return (
      same.length >= WATCHERS_AT_MOST.computer ||
      own.length >= WATCHERS_AT_MOST.credential ||
      all.length >= WATCHERS_AT_MOST.organization
    );
  }

  /** Shows a computer to a connection, now and whenever it changes. */
  add(socket: WebSocket, request: FastifyRequest, computerId: string): void {
    const { orgId } = request.caller;
    // Other connections may have been added since the request was answered.
    if (this.isFull(request.caller, computerId)) {
      socket.close(1013, 'Too many connections watch.');
      return;
    }
    const watcher: Watcher = { socket, request, computerId, isAlive: true, text: '' };
    const watchers = this.organizations.get(orgId) ?? new Set();
    this.organizations.set(orgId, watchers.add(watcher));
    const note = () => this.note(orgId, computerId);
    this.deps.relay.changes.on(computerId, note);
    socket.on('pong', () => {
      watcher.isAlive = true;
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.deps.relay.changes.off(computerId, note);
      watchers.delete(watcher);
      if (watchers.size === 0) this.organizations.delete(orgId);
    });
    // Watchers only listen: a client that sends a message has the wrong address.
    socket.on('message', () => socket.close(CLOSE.violated));
    note();
  }

  close(): void {
    clearInterval(this.beat);
  }

  /** Tells all watchers of a computer that it has changed, together with other changes of the same moment. */
  private note(orgId: string, computerId: string): void {
    const changed = this.changed.get(orgId);
    if (changed !== undefined) {
      changed.add(computerId);
      return;
    }
    this.changed.set(orgId, new Set([computerId]));
    void this.tell(orgId);
  }

  /** Reads the changed computers of an organization once for all watchers, until there are no more changes. */
  private async tell(orgId: string): Promise<void> {
    for (let changed = this.changed.get(orgId); changed !== undefined && changed.size > 0; ) {
      await wait(TOGETHER_MS);
      const ids = changed;
      changed = new Set();
      this.changed.set(orgId, changed);
      const watchers = [...(this.organizations.get(orgId) ?? [])].filter((one) => ids.has(one.computerId));
      try {
        const computers = watchers.length === 0 ? [] : await this.read(orgId, [...ids]);
        for (const watcher of watchers) await this.show(watcher, computers);
      } catch {
        for (const { socket } of watchers) socket.close(1011);
      }
    }
    this.changed.delete(orgId);
  }

  private async read(orgId: string, ids: readonly string[]): Promise<Computer[]> {
    const [id = ''] = ids;
    if (ids.length > 1) return this.deps.computers.list(orgId);
    const computer = await this.deps.computers.find(orgId, { id });
    return computer === undefined ? [] : [computer];
  }

  private async show(watcher: Watcher, computers: readonly Computer[]): Promise<void> {
    const { socket, request, computerId } = watcher;
    if (!(await this.isAllowed(watcher))) return;
    const computer = computers.find(({ id }) => id === computerId);
    const text = computer && JSON.stringify(bodyOf(computer, this.deps, request, true));
    if (text === undefined) socket.close(CLOSE.deleted, 'The computer is deleted.');
    else if (socket.bufferedAmount > UNREAD_BYTES) socket.terminate();
    else if (text !== watcher.text) {
      watcher.text = text;
      socket.send(text);
    }
  }

  /** Whether a connection can still watch. It can't once its credential is revoked, or its address is no longer allowed. */
  private async isAllowed({ socket, request }: Watcher): Promise<boolean> {
    try {
      await this.deps.authenticator.identify(request);
      await requireAddress(request, request.caller.orgId, this.deps);
      return true;
    } catch {
      socket.close(1011);
      return false;
    }
  }

  /** Disconnects watchers that don't answer pings or have a credential that is no longer valid. */
  private checkAll(): void {
    for (const watchers of this.organizations.values())
      for (const watcher of watchers) {
        if (!watcher.isAlive) {
          watcher.socket.terminate();
          continue;
        }
        watcher.isAlive = false;
        watcher.socket.ping();
        void this.isAllowed(watcher);
      }
  }
}
