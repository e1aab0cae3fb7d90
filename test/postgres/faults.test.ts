import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { applyChanges } from '../../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { freePort } from '../ask.js';
import { NOW } from '../world.js';
import { bouncedDatabase, hasBouncer } from './pgbouncer.js';
import { addressOf, postgresDatabase } from './server.js';

/** A way to a server, on which connections can break. */
class Way {
  /** Has the connection that sends this text break before the server's answer comes back. */
  losing: string | undefined;
  private readonly open = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async to(port: number): Promise<Way> {
    const server = createServer();
    const way = new Way(server);
    server.on('connection', (socket) => way.lead(socket, connect(port, '127.0.0.1')));
    await way.listen(await freePort());
    return way;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  private lead(socket: Socket, onward: Socket): void {
    let isLosing = false;
    for (const one of [socket, onward]) {
      this.open.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          this.open.delete(one);
          socket.destroy();
          onward.destroy();
        });
    }
    socket.on('data', (sent) => {
      isLosing ||= this.losing !== undefined && sent.includes(this.losing);
      onward.write(sent);
    });
    onward.on('data', (answered) => {
      if (isLosing) socket.destroy();
      else socket.write(answered);
    });
  }

  /** Breaks all connections, and takes no further ones if it is closed. */
  cut(): void {
    for (const socket of this.open) socket.destroy();
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
  }

  async listen(port: number): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
  }
}

async function onTheWay(): Promise<{ way: Way; session: PostgresSession; direct: PostgresSession }> {
  const address = addressOf(await postgresDatabase(onTestFinished));
  const way = await Way.to(address.port);
  const [session, direct] = [PostgresSession.of({ ...address, port: way.port }), PostgresSession.of(address)];
  onTestFinished(async () => {
    await session.close();
    await direct.close();
    await way.close();
  });
  await direct.run([{ sql: 'CREATE TABLE seen (n BIGINT)' }]);
  return { way, session, direct };
}

const insert = (n: number) => [{ sql: 'INSERT INTO seen SELECT $n', parameters: { n } }];

describe('a connection that breaks', () => {
  test('while nobody uses it is replaced', async () => {
    const { way, session } = await onTheWay();
    await session.run(insert(1));
    way.cut();
    await expect.poll(() => session.select('SELECT n FROM seen').catch(() => 'not yet')).toEqual([{ n: 1 }]);
  });

  test('in a transaction undoes it, says so, and the next one is made', async () => {
    const { way, session } = await onTheWay();
    await expect(
      session.transaction(async ({ run }) => {
        await run(insert(1));
        way.cut();
        await run(insert(2));
      }),
    ).rejects.toThrow(StoreUnavailable);
    await session.run(insert(3));
    expect(await session.select('SELECT n FROM seen')).toEqual([{ n: 3 }]);
  });

  test('before the answer to a COMMIT leaves open whether it is made, and nothing is done twice', async () => {
    const { way, session, direct } = await onTheWay();
    way.losing = 'COMMIT';
    await expect(session.run(insert(1))).rejects.toThrow(StoreUnavailable);
    way.losing = undefined;
    // This one was made.
    await expect.poll(() => direct.select('SELECT n FROM seen')).toEqual([{ n: 1 }]);
    await session.run(insert(2));
    expect(await session.select('SELECT n FROM seen ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('to a server that is gone, and back again', async () => {
    const { way, session } = await onTheWay();
    await session.run(insert(1));
    const { port } = way;
    await way.close();
    await expect(session.select('SELECT n FROM seen')).rejects.toThrow(
      /^The PostgreSQL server can't be reached/,
    );
    await way.listen(port);
    expect(await session.select('SELECT n FROM seen')).toEqual([{ n: 1 }]);
  });

  test('because an operator ended it is a fault that passes', async () => {
    const { session, direct } = await onTheWay();
    await expect(
      session.transaction(async ({ select }) => {
        const [own] = await select('SELECT pg_backend_pid() AS pid');
        await direct.select(`SELECT pg_terminate_backend(${own?.pid}) AS ended`);
        await select('SELECT 1');
      }),
    ).rejects.toThrow(StoreUnavailable);
    expect(await session.select('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

test('a lock that is held for too long is a fault that passes', async () => {
  const { direct } = await onTheWay();
  await expect(
    direct.transaction(async (one) => {
      await one.run([{ sql: 'LOCK TABLE seen' }]);
      await direct.transaction((other) =>
        other.run([{ sql: "SET LOCAL lock_timeout = '50ms'" }, ...insert(1)]),
      );
    }),
  ).rejects.toThrow(/was busy with the same rows/);
});

describe.runIf(hasBouncer())('behind pgbouncer, in transaction mode', () => {
  test('tables are made, and transactions and snapshots are whole, on fewer connections than nodes use', async () => {
    const url = await bouncedDatabase(onTestFinished);
    const nodes = [1, 2].map(() => PostgresSession.of(addressOf(url)));
    onTestFinished(async () => {
      for (const node of nodes) await node.close();
    });
    await Promise.all(nodes.map((node) => applyChanges(node, { now: NOW })));
    const [node] = nodes as [PostgresSession];
    await node.run([{ sql: "INSERT INTO turns VALUES ('count')" }]);
    const add = (one: PostgresSession) =>
      one.transaction(async ({ select, run }) => {
        await select("SELECT name FROM turns WHERE name = 'count' FOR UPDATE");
        const [newest] = await select('SELECT coalesce(max(revision), 0) AS revision FROM people_revisions');
        await run([
          {
            sql: "INSERT INTO people_revisions SELECT 'acme', $revision, 'ada', instant($now), 1",
            parameters: { revision: Number(newest?.revision) + 1, now: NOW },
          },
        ]);
      });
    await Promise.all(Array.from({ length: 20 }, (_, at) => add(nodes[at % 2] ?? node)));
    await node.snapshot(async (select) => {
      const count = () => select('SELECT count(*) AS n, max(revision) AS newest FROM people_revisions');
      expect(await count()).toEqual([{ n: 20, newest: 20 }]);
      await add(node);
      expect(await count()).toEqual([{ n: 20, newest: 20 }]);
    });
    // No setting of a transaction stays on a connection.
    const left = await Promise.all(
      Array.from({ length: 4 }, () => node.select("SELECT current_setting('lock_timeout') AS lock")),
    );
    expect(new Set(left.flat().map(({ lock }) => lock))).toEqual(new Set(['0']));
  });
});
