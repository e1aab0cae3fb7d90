import { randomUUID } from 'node:crypto';
import { BEAT_MS, LIVING, type Node } from '../store/state/node.js';
import type { Row, Store } from '../store/store.js';
import { Failure, Job, JobFailed } from './agent-message.js';
import { NoAnswer, NotConnected, Relay } from './agent-relay.js';

/** How often a node looks for jobs of its agents, and for the answers that it waits for, in milliseconds. */
const LOOK_MS = 200;

/** An agent that is connected to another node. */
interface Elsewhere {
  readonly nodeId: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** A job that another node's agent does. */
interface Sent {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * The agents of all nodes. A row of `connected_agents` says to which node an agent is connected, and a job for one of another node is a
 * row of `agent_jobs`, which that node looks for. So nodes need no way to each other.
 */
export class SharedRelay extends Relay {
  private elsewhere = new Map<string, Elsewhere>();
  private readonly sent = new Map<string, Sent>();
  /** The jobs of other nodes that an agent of this one is doing. */
  private readonly taken = new Set<string>();
  private revisions = '';
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  /** Rows are written in the order in which agents come and go. */
  private noting: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly node: Pick<Node, 'id' | 'shared'>,
    private readonly time: () => number,
    private readonly report: (error: unknown) => void,
  ) {
    super(time);
  }

  override connectedAt(computerId: string): number | null {
    return super.connectedAt(computerId) ?? this.elsewhere.get(computerId)?.since ?? null;
  }

  override async ask(computerId: string, job: Job, timeoutMs: number): Promise<void> {
    if (this.connections.has(computerId)) return super.ask(computerId, job, timeoutMs);
    await this.refresh();
    const other = this.elsewhere.get(computerId);
    if (other === undefined) throw new NotConnected();
    const id = randomUUID();
    await this.node.shared.run([
      {
        sql: `INSERT INTO agent_jobs (job_id, computer_id, node_id, asker_id, job, timeout_ms, is_done)
          VALUES ($id, $computer_id, $node_id, $asker_id, $job, $timeout_ms, FALSE)`,
        parameters: {
          ...{ id, computer_id: computerId, node_id: other.nodeId, asker_id: this.node.id },
          ...{ job: JSON.stringify(job), timeout_ms: timeoutMs },
        },
      },
    ]);
    let late: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.sent.set(id, { resolve, reject });
        late = setTimeout(() => reject(new NoAnswer()), timeoutMs);
      });
    } finally {
      clearTimeout(late);
      this.sent.delete(id);
      await this.node.shared.run([{ sql: 'DELETE FROM agent_jobs WHERE job_id = $id', parameters: { id } }]);
    }
  }

  override drop(computerId: string): void {
    super.drop(computerId);
    this.note([
      {
        sql: 'DELETE FROM connected_agents WHERE computer_id = $computer_id',
        parameters: { computer_id: computerId },
      },
    ]);
  }

  protected override joined(computerId: string, since: number): void {
    this.note([
      {
        sql: `INSERT INTO connected_agents (computer_id, node_id, connected_at_ms) VALUES ($computer_id, $node_id, $since)
          ON CONFLICT (computer_id) DO UPDATE SET node_id = excluded.node_id, connected_at_ms = excluded.connected_at_ms`,
        parameters: { computer_id: computerId, node_id: this.node.id, since },
      },
    ]);
  }

  protected override left(computerId: string): void {
    this.note([
      {
        sql: 'DELETE FROM connected_agents WHERE computer_id = $computer_id AND node_id = $node_id',
        parameters: { computer_id: computerId, node_id: this.node.id },
      },
    ]);
  }

  /** Writes rows. The next look makes good for a failure. */
  private note(statements: Parameters<Store['run']>[0]): void {
    this.revisions = '';
    this.noting = this.noting.then(() => this.node.shared.run(statements)).catch(this.report);
  }

  override start(): void {
    this.timer = setInterval(() => {
      const isNeeded =
        this.connections.size > 0 || this.sent.size > 0 || this.changes.eventNames().length > 0;
      if (isNeeded)
        this.looking ??= this.look().finally(() => {
          this.looking = undefined;
        });
    }, LOOK_MS).unref();
  }

  override async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    for (const { reject } of this.sent.values()) reject(new NotConnected());
    this.note([
      {
        sql: 'DELETE FROM connected_agents WHERE node_id = $node_id',
        parameters: { node_id: this.node.id },
      },
    ]);
    await this.noting;
  }

  private async look(): Promise<void> {
    try {
      await this.refresh();
      const rows = await this.node.shared.select(
        `SELECT job_id, computer_id, node_id, job, timeout_ms, is_done, reason, detail FROM agent_jobs
        WHERE (node_id = $node_id AND NOT is_done) OR (asker_id = $node_id AND is_done)`,
        { node_id: this.node.id },
      );
      const there = new Set(rows.map(({ job_id }) => String(job_id)));
      for (const id of this.taken) if (!there.has(id)) this.taken.delete(id);
      for (const row of rows) {
        if (row.is_done === true) this.finish(row);
        else if (!this.taken.has(String(row.job_id))) void this.take(row);
      }
    } catch (error) {
      this.report(error);
    }
  }

  /** Has an agent of this node do a job for another node. */
  private async take({ job_id, computer_id, job, timeout_ms }: Row): Promise<void> {
    const id = String(job_id);
    this.taken.add(id);
    let [reason, detail]: [string | null, string | null] = [null, null];
    try {
      await super.ask(String(computer_id), Job.parse(JSON.parse(String(job))), Number(timeout_ms));
    } catch (error) {
      if (error instanceof NoAnswer) return;
      [reason, detail] = error instanceof JobFailed ? [error.reason, error.message] : ['not connected', null];
    }
    try {
      await this.node.shared.run([
        {
          sql: 'UPDATE agent_jobs SET is_done = TRUE, reason = $reason, detail = $detail WHERE job_id = $id',
          parameters: { id, reason, detail },
        },
      ]);
    } catch (error) {
      this.report(error);
    }
  }

  /** Passes on the answer to a job. */
  private finish({ job_id, reason, detail }: Row): void {
    const sent = this.sent.get(String(job_id));
    const failure = Failure.safeParse(reason);
    if (reason === null) sent?.resolve();
    else sent?.reject(failure.success ? new JobFailed(failure.data, String(detail)) : new NotConnected());
  }

  /** Learns which agents are connected to other nodes, and of changed computers, when there is something new. */
  override async refresh(): Promise<void> {
    const tables = ['computers', 'connected_agents'];
    const found = await Promise.all(tables.map((table) => this.node.shared.stateRevision(table)));
    // Nobody says that a node is dead.
    const revisions = [...found, Math.trunc(this.time() / BEAT_MS)].join(' ');
    if (revisions === this.revisions) return;
    const rows = await this.node.shared.select(
      `SELECT computer_id, node_id, connected_at_ms FROM connected_agents WHERE node_id IN (${LIVING})`,
    );
    const all = new Map(
      rows.map((row) => [
        String(row.computer_id),
        { nodeId: String(row.node_id), since: Number(row.connected_at_ms) },
      ]),
    );
    await this.compareOwn(all);
    for (const [id, { nodeId }] of all) if (nodeId === this.node.id) all.delete(id);
    this.elsewhere = all;
    this.revisions = revisions;
    // Whoever watches a computer reads it again, and tells only what is new.
    for (const id of this.changes.eventNames()) this.changes.emit(String(id));
  }

  /** Ends connections that an agent on another node has replaced, or whose computer is gone, and adds rows that are missing. */
  private async compareOwn(all: ReadonlyMap<string, Elsewhere>): Promise<void> {
    for (const [computerId, { since }] of this.connections) {
      const row = all.get(computerId);
      if (row?.nodeId === this.node.id) continue;
      if (row !== undefined && row.since >= since) {
        this.end(computerId, 'replaced');
        continue;
      }
      const found = await this.node.shared.select(
        'SELECT 1 AS found FROM computers WHERE computer_id = $id',
        {
          id: computerId,
        },
      );
      if (found.length === 0) this.end(computerId, 'deleted');
      else this.joined(computerId, since);
    }
  }
}
