import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../ask.js';
import type { AtEnd } from '../world.js';

/** The way from one node to one server, which can be cut. */
export class TcpProxy {
  port = 0;
  private server: Server | undefined;
  private isSilent = false;
  private readonly pairs = new Set<readonly [Socket, Socket]>();

  private constructor(private readonly to: number) {}

  static async to(port: number, atEnd: AtEnd): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    proxy.port = await freePort();
    await proxy.open();
    atEnd(() => proxy.refuse());
    return proxy;
  }

  /** Takes connections, again on the same port, and passes on what comes. */
  async open(): Promise<void> {
    this.isSilent = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
    if (this.server !== undefined) return;
    this.server = createServer((near) => this.pass(near));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** Ends all connections. New ones are taken. */
  cut(): void {
    for (const [near, far] of this.pairs) {
      near.destroy();
      far.destroy();
    }
    this.pairs.clear();
  }

  /** Takes no connections until it is opened again. */
  async refuse(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    this.cut();
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  }

  /** Passes nothing on until it is opened again: nobody notices that the other is gone. */
  silence(): void {
    this.isSilent = true;
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  private pass(near: Socket): void {
    const far = connect(this.to, '127.0.0.1');
    const pair = [near, far] as const;
    this.pairs.add(pair);
    const end = () => {
      near.destroy();
      far.destroy();
      this.pairs.delete(pair);
    };
    for (const [from, to] of [pair, [far, near] as const]) {
      // Not a pipe: it would go on by itself when a socket that is paused drains.
      from.on('data', (bytes) => {
        to.write(bytes);
      });
      from.on('error', end).on('close', end);
      if (this.isSilent) from.pause();
    }
  }
}
