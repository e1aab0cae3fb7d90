import { hostname } from 'node:os';
import type { Shared } from '../store.js';

/** How often a node says that it lives, and after how long without that it counts as dead. Milliseconds. */
export const BEAT_MS = 10_000;
export const DEAD_MS = 35_000;

/** The clock of PostgreSQL, which all nodes share, in Unix milliseconds. Only PostgreSQL reads this. */
export const SHARED_CLOCK = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';

/** The condition that a node lives. */
export const LIVES = `seen_at_ms > ${SHARED_CLOCK} - ${DEAD_MS}`;

/** The nodes that live. */
export const LIVING = `SELECT node_id FROM nodes WHERE ${LIVES}`;

/** One of several processes that share their stores. */
export class Node {
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<unknown> = Promise.resolve();

  constructor(
    readonly shared: Shared,
    private readonly about: { readonly role: string; readonly version: string },
    private readonly report: (error: unknown) => void,
  ) {}

  get id(): string {
    return this.shared.id;
  }

  /** Says that the node lives, from now on. */
  async start(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => {
      this.beating = this.beat().catch(this.report);
    }, BEAT_MS).unref();
  }

  /** Says so, and forgets nodes that have been dead for a day. */
  private beat(): Promise<unknown> {
    return this.shared.run([
      {
        sql: `INSERT INTO nodes (node_id, host, role, version, started_at_ms, seen_at_ms)
          VALUES ($id, $host, $role, $version, ${SHARED_CLOCK}, ${SHARED_CLOCK})
          ON CONFLICT (node_id) DO UPDATE SET seen_at_ms = excluded.seen_at_ms`,
        parameters: { id: this.id, host: hostname(), ...this.about },
      },
      { sql: `DELETE FROM nodes WHERE seen_at_ms < ${SHARED_CLOCK} - 86400000` },
    ]);
  }

  /** Whether no other node lives. */
  async isAlone(): Promise<boolean> {
    return (await this.shared.select(LIVING)).every(({ node_id }) => node_id === this.id);
  }

  /** Takes the node from the list. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.beating;
    await this.shared.run([{ sql: 'DELETE FROM nodes WHERE node_id = $id', parameters: { id: this.id } }]);
  }
}
