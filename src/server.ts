import { once } from 'node:events';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './api/app.js';
import { openStore } from './command/call.js';
import { controlPath, serveControl } from './command/control.js';
import type { Config } from './config.js';
import { UsageError } from './exit.js';
import type { Store } from './store/store.js';

/** A running service. */
export interface Serving {
  readonly app: FastifyInstance;
  readonly store: Store;
  /** The address that it listens on, as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Takes no more requests, finishes those under way, and lets go of the database. */
  readonly stop: () => Promise<void>;
}

/** Whether another server answers commands for the data folder. */
async function isServed(config: Config): Promise<boolean> {
  const socket = connect(controlPath(config.data));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Opens the database, does what `prepare` wants with it, and serves until stopped: HTTP, and the commands of other
 * processes. Throws a UsageError when the port is in use, or another server has the data folder.
 */
export async function serve(
  config: Config,
  clock: () => number,
  prepare: (store: Store) => Promise<void> = async () => {},
): Promise<Serving> {
  const store = await openStore(config, clock, () => isServed(config));
  if (store === undefined) {
    throw new UsageError(
      `Another "daybook serve" has the data folder ${config.data}: stop it first, or set DAYBOOK_DATA to another folder.`,
    );
  }
  let app: FastifyInstance;
  try {
    app = buildApp({ store, config, clock }, { logs: true });
  } catch (error) {
    await store.close();
    throw error;
  }
  try {
    // Whoever starts it says where it listens. The port comes before the work: whoever can't serve should hear it at once.
    app.log.level = 'silent';
    const url = await app.listen({ host: config.host, port: config.port });
    app.log.level = config.logLevel;
    await prepare(store);
    const control = await serveControl({ store, config, clock });
    const stop = async () => {
      const closed = once(control, 'close');
      control.close();
      await app.close();
      await closed;
      await store.close();
    };
    return { app, store, url, stop };
  } catch (error) {
    await app.close();
    await store.close();
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      throw new UsageError(
        `Port ${config.port} of ${config.host} is in use: stop what uses it, or choose another with --port or DAYBOOK_PORT.`,
      );
    }
    if (
      error instanceof Error &&
      'code' in error &&
      (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    ) {
      throw new UsageError(
        `Daybook can't listen on ${config.host}, port ${config.port} (${error.code}): choose others with --host and --port.`,
      );
    }
    throw error;
  }
}
