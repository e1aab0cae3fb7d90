import type { ClickHouseClient } from '@clickhouse/client';

/** How long a server is left out that couldn't be reached. */
const LEFT_OUT_MS = 5000;

/** One server of a database. */
export interface ClickHouseServer {
  readonly client: ClickHouseClient;
  /** Its HTTP interface, such as `http://host:8123`. */
  readonly url?: string;
}

/** The servers that have a database: one, or the replicas of a cluster. */
export class ClickHouseServers {
  /** When servers that couldn't be reached are asked again. */
  private readonly leftOut = new Map<ClickHouseServer, number>();

  /** They are asked in this order. `cluster` is the name under which they know themselves. */
  constructor(
    readonly all: readonly ClickHouseServer[],
    readonly cluster?: string,
    private readonly clock: () => number = Date.now,
  ) {}

  /** The same servers, one of them first: so not all processes ask the same. */
  static from(
    all: readonly ClickHouseServer[],
    cluster: string | undefined,
    first: number,
  ): ClickHouseServers {
    return new ClickHouseServers([...all.slice(first), ...all.slice(0, first)], cluster);
  }

  /** All servers, those first that can be expected to answer. */
  inOrder(): ClickHouseServer[] {
    const now = this.clock();
    const isLeftOut = (server: ClickHouseServer) => (this.leftOut.get(server) ?? 0) > now;
    return [...this.all.filter((one) => !isLeftOut(one)), ...this.all.filter(isLeftOut)];
  }

  /** Leaves a server out for some seconds, which couldn't be reached. */
  leaveOut(server: ClickHouseServer): void {
    this.leftOut.set(server, this.clock() + LEFT_OUT_MS);
  }

  /** Takes a server that answers. */
  takeBack(server: ClickHouseServer): void {
    this.leftOut.delete(server);
  }

  async close(): Promise<void> {
    for (const { client } of this.all) await client.close();
  }
}
