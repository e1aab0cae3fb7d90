import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { CLOSE, FromAgent, type FromService, type Job, JobFailed, parse } from './agent-message.js';

/** How often an agent is pinged, in milliseconds. One that doesn't answer before the next ping is disconnected. */
export const HEARTBEAT_MS = 15_000;

/** How many connections per computer may be waiting to say hello. Beyond that the oldest is closed. */
const SILENT_AT_MOST = 4;

/** The computer's agent is not connected, or its connection broke before it answered. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

/** The agent did not answer in time. It may still be at work. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  override message = 'The computer did not answer.';
}

interface Asked {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A connected agent. */
interface Connection {
  readonly socket: WebSocket;
  /** Unix milliseconds. */
  readonly since: number;
  readonly asked: Map<string, Asked>;
}

/** The agents that are connected now, one per computer. */
export class Relay {
  protected readonly connections = new Map<string, Connection>();
  /** The connections of each computer that haven't said hello, the oldest first. */
  private readonly silent = new Map<string, Set<WebSocket>>();
  /** Emits an event named after a computer's id when the computer changes, or its agent connects or disconnects. */
  readonly changes = new EventEmitter().setMaxListeners(0);

  constructor(
    private readonly clock: () => number,
    private readonly heartbeatMs = HEARTBEAT_MS,
  ) {}

  /** Takes the connection of a computer's agent, which replaces an older one. Calls `hello` with the machine's name for itself. */
  attach(computer: { id: string; name: string }, socket: WebSocket, hello: (hostname: string) => void): void {
    const connection: Connection = { socket, since: this.clock(), asked: new Map() };
    this.addSilent(computer.id, socket);
    let isAlive = true;
    let isKnown = false;
    const beat = setInterval(() => {
      if (!isAlive || !isKnown) return socket.terminate();
      isAlive = false;
      socket.ping();
    }, this.heartbeatMs);
    socket.on('pong', () => {
      isAlive = true;
    });
    socket.on('error', () => socket.terminate());
    socket.on('message', (data, isBinary) => {
      isAlive = true;
      const message = parse(FromAgent, data, isBinary);
      if (message === undefined || (message.type === 'hello') === isKnown)
        return socket.close(CLOSE.violated, "This message doesn't follow the protocol.");
      if (message.type === 'hello') {
        isKnown = true;
        this.removeSilent(computer.id, socket);
        this.end(computer.id, 'replaced');
        this.connections.set(computer.id, connection);
        send(socket, {
          type: 'welcome',
          computerId: computer.id,
          name: computer.name,
          heartbeatMs: this.heartbeatMs,
        });
        hello(message.hostname);
        this.joined(computer.id, connection.since);
        this.changes.emit(computer.id);
        return;
      }
      // Nobody waits for an answer that came too late, or to a question from before the service restarted.
      const asked = connection.asked.get(message.id);
      connection.asked.delete(message.id);
      if (message.type === 'done') asked?.resolve();
      else asked?.reject(new JobFailed(message.reason, message.detail));
    });
    socket.on('close', () => {
      clearInterval(beat);
      this.removeSilent(computer.id, socket);
      for (const { reject } of connection.asked.values()) reject(new NotConnected());
      connection.asked.clear();
      if (this.connections.get(computer.id) !== connection) return;
      this.connections.delete(computer.id);
      this.left(computer.id);
      this.changes.emit(computer.id);
    });
  }

  /** The agent of a computer has connected. */
  protected joined(_computerId: string, _since: number): void {}

  /** The agent of a computer has disconnected, and no other one has taken its place here. */
  protected left(_computerId: string): void {}

  private addSilent(computerId: string, socket: WebSocket): void {
    const silent = this.silent.get(computerId) ?? new Set();
    this.silent.set(computerId, silent.add(socket));
    const [oldest] = silent;
    if (silent.size > SILENT_AT_MOST) oldest?.terminate();
  }

  private removeSilent(computerId: string, socket: WebSocket): void {
    const silent = this.silent.get(computerId);
    silent?.delete(socket);
    if (silent?.size === 0) this.silent.delete(computerId);
  }

  /** When a computer's agent connected, in Unix milliseconds; null if it isn't connected. */
  connectedAt(computerId: string): number | null {
    return this.connections.get(computerId)?.since ?? null;
  }

  /** Asks a computer to do a job. Throws NotConnected, NoAnswer after `timeoutMs`, and JobFailed. */
  ask(computerId: string, job: Job, timeoutMs: number): Promise<void> {
    const connection = this.connections.get(computerId);
    if (connection === undefined) return Promise.reject(new NotConnected());
    const id = randomUUID();
    let late: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve, reject) => {
      late = setTimeout(() => {
        connection.asked.delete(id);
        reject(new NoAnswer());
      }, timeoutMs);
      connection.asked.set(id, { resolve, reject });
      send(connection.socket, { type: 'job', id, job });
    });
    return done.finally(() => clearTimeout(late));
  }

  /** Ends the connection of a computer that is deleted. */
  drop(computerId: string): void {
    this.end(computerId, 'deleted');
    this.changes.emit(computerId);
  }

  /** Ends a connection for good. */
  protected end(computerId: string, why: 'deleted' | 'replaced'): void {
    const reason = why === 'deleted' ? 'The computer is deleted.' : 'Another agent has connected.';
    this.connections.get(computerId)?.socket.close(CLOSE[why], reason);
  }

  /** Learns what other nodes know; nothing where there is one. */
  async refresh(): Promise<void> {}

  /** Starts work of its own. */
  start(): void {}

  /** Ends it. */
  async stop(): Promise<void> {}
}

function send(socket: WebSocket, message: FromService): void {
  socket.send(JSON.stringify(message));
}
