import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between laptops and a server on this machine. */
export interface Network {
  /** Where the server is, for laptops. */
  readonly url: string;
  /** Says where the server is now. */
  readonly lead: (to: string) => void;
  /** Cuts all connections. */
  readonly cut: () => void;
  readonly close: () => void;
}

export async function openNetwork(): Promise<Network> {
  let port = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const one of [socket, onward]) {
      open.add(one);
      one.on('close', () => open.delete(one)).on('error', () => {});
    }
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (to) => {
      port = Number(new URL(to).port);
    },
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
