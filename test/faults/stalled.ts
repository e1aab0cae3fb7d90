import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { until } from '../service.js';
import type { Site } from './site.js';

const head = (line: string, headers: Record<string, string | number> = {}) =>
  `${[line, ...Object.entries({ host: 'x', ...headers }).map((one) => one.join(': '))].join('\r\n')}\r\n\r\n`;

/** A body of which more is announced than comes. */
const part = (path: string, type: string, body: string) => (key: string) =>
  head(`POST ${path} HTTP/1.1`, {
    authorization: `Bearer ${key}`,
    'content-type': type,
    'content-length': 100_000,
  }) + body;

/** Clients that stall: what each sends at once, and what it sends then, a byte at a time. None of them reads an answer. */
const CLIENTS: Record<string, { first: (key: string) => string; drips?: string }> = {
  'says nothing': { first: () => '' },
  'sends a head a byte at a time': { first: () => 'GET /healthz HTTP/1.1\r\nx-slow: ', drips: 'a' },
  'sends half of a body': { first: part('/api/v1/events', 'application/x-ndjson', '{"event_id":') },
  'sends a body a byte at a time': {
    first: part('/api/v1/events', 'application/json', '[{"event_id":"'),
    drips: 'a',
  },
  'sends half of telemetry': { first: part('/otlp/v1/logs', 'application/x-protobuf', '\n\x05') },
  'sends telemetry a byte at a time': {
    first: part('/otlp/v1/logs', 'application/json', '{"resourceLogs":['),
    drips: ' ',
  },
  'reads no answers': { first: () => head('GET /openapi.json HTTP/1.1').repeat(200) },
  'reads no rows': {
    first: (key) => {
      const body = JSON.stringify({ sql: 'SELECT range AS n FROM range(3000000)' });
      return `${head('POST /api/v1/sql HTTP/1.1', {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      })}${body}`;
    },
  },
};

/** The ports of those whose connections a service has open, by the system. */
function connectedTo(port: number): Set<number> {
  const ports = new Set<number>();
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/);
    const [here, there] = [local, remote].map((address) => Number.parseInt(address.split(':')[1] ?? '', 16));
    // One that the service has closed may still have bytes to be delivered.
    if (here === port && there !== undefined && inode !== '0') ports.add(there);
  }
  return ports;
}

/** Clients of a service that keep their connections and go on with nothing. */
export class Stalled {
  private readonly dripping: NodeJS.Timeout;

  private constructor(
    private readonly site: Site,
    private readonly sockets: ReadonlyMap<string, Socket>,
  ) {
    this.dripping = setInterval(() => {
      for (const [name, socket] of sockets) if (socket.writable) socket.write(CLIENTS[name]?.drips ?? '');
    }, 100);
  }

  /** Connects one of each kind. */
  static async at(site: Site, key: string): Promise<Stalled> {
    const sockets = new Map<string, Socket>();
    for (const [name, { first }] of Object.entries(CLIENTS)) {
      const socket = connect(site.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(first(key));
      sockets.set(name, socket);
    }
    return new Stalled(site, sockets);
  }

  /** Those whose connections the service has open. */
  get left(): string[] {
    const open = connectedTo(this.site.port);
    const isOpen = ({ localPort }: Socket) => localPort !== undefined && open.has(localPort);
    return [...this.sockets].flatMap(([name, socket]) => (isOpen(socket) ? [name] : []));
  }

  /** Waits until the service has ended all connections. */
  async ended(): Promise<void> {
    await until(() => this.left.length === 0);
    this.stop();
  }

  stop(): void {
    clearInterval(this.dripping);
    for (const socket of this.sockets.values()) socket.destroy();
  }
}
