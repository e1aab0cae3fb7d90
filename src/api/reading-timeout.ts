import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Closes the connection of a client that takes nothing of its answer for some time, or that keeps a connection open which the service has ended.
 * Otherwise it would take memory and a file handle for as long as the client likes.
 */
export function limitReading(app: FastifyInstance, seconds: number, isEncrypted: boolean): void {
  app.addHook('onRequest', async (_, { raw }) => {
    // It ends when nothing has moved for that long. A query that takes so long has nothing to send yet.
    raw.setTimeout(seconds * 1000, () => {
      if (raw.socket !== null && raw.socket.writableLength > 0) raw.socket.destroy();
    });
  });
  app.server.on(isEncrypted ? 'secureConnection' : 'connection', (socket: Socket) => {
    socket.once('finish', () => {
      const timer = setTimeout(() => socket.destroy(), seconds * 1000);
      socket.once('close', () => clearTimeout(timer));
    });
  });
}
