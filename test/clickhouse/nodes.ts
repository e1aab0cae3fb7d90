import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { onTestFinished } from 'vitest';
import { ingest } from '../../src/ingest/ingest-files.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { readConfig } from '../../src/settings/config.js';
import type { PostgresAddress } from '../../src/settings/store-address.js';
import { ClusterStore } from '../../src/store/cluster-store.js';
import { type DailySql, dailySql } from '../../src/store/day-builder.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { addressOf, expireFor, postgresDatabase } from '../postgres/server.js';
import { type AtEnd, NOW, temporaryFolder } from '../world.js';
import { clientBeside, newDatabase } from './engine.js';

/** A statement on its way to a store: what it throws, if it doesn't get there, or after it is done. */
export interface Faults {
  readonly before?: (query: string) => Promise<void> | void;
  readonly after?: (query: string) => Promise<void> | void;
  /** What the server is asked in its place. */
  readonly instead?: (query: string) => string;
}

/** A client between whose statements something happens. */
export function faulty(client: ClickHouseClient, faults: () => Faults | undefined): ClickHouseClient {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'exec') return member.bind(target);
      return async (parameters: { query: string }) => {
        await faults()?.before?.(parameters.query);
        const query = faults()?.instead?.(parameters.query) ?? parameters.query;
        const answer: unknown = await member.call(target, { ...parameters, query });
        await faults()?.after?.(parameters.query);
        return answer;
      };
    },
  });
}

/** One of several nodes on the same databases. */
export class Node {
  faults: Faults | undefined;
  private sent = 0;
  private opened: ClusterStore | undefined;

  constructor(private readonly folder: string) {}

  get store(): ClusterStore {
    if (this.opened === undefined) throw new Error('the node is not open yet');
    return this.opened;
  }

  async open(address: PostgresAddress, database: string, daily: DailySql): Promise<void> {
    const config = readConfig({ DAYBOOK_DATA: join(this.folder, 'data'), DAYBOOK_THREADS: '1' });
    const client = await clientBeside(database);
    this.opened = await ClusterStore.with(config.data, address, { ...config, now: NOW, daily }, async () =>
      faulty(client, () => this.faults),
    );
  }

  /** Settles events of an organization. */
  async send(orgId: string, events: readonly object[]): Promise<void> {
    const path = join(this.folder, `events-${this.sent++}.ndjson`);
    writeFileSync(path, events.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const files = [{ path, size: 1, state: String(events.length) }];
    await ingest(this.store, { orgId, source: CANONICAL, files }, () => NOW);
  }
}

/** Nodes of one ClickHouse database and one PostgreSQL database. */
export class Nodes {
  /** Asks PostgreSQL beside the nodes. */
  readonly session: PostgresSession;

  private constructor(
    private readonly address: PostgresAddress,
    private readonly database: string,
    private readonly atEnd: AtEnd,
  ) {
    this.session = PostgresSession.of(address);
    atEnd(() => this.session.close());
  }

  /** Lets a node's lease expire, as if it had slept, until work has ended for which another one needs it. */
  expireFor<T>(name: string, { store }: Node, work: Promise<T>): Promise<T> {
    return expireFor(this.session, name, store.shared.id, work);
  }

  static async start(atEnd: AtEnd = onTestFinished): Promise<Nodes> {
    const address = addressOf(await postgresDatabase(atEnd));
    return new Nodes(address, await newDatabase(atEnd), atEnd);
  }

  async open(daily = dailySql): Promise<Node> {
    const node = new Node(temporaryFolder(this.atEnd));
    await node.open(this.address, this.database, daily);
    this.atEnd(() => node.store.close());
    return node;
  }
}
