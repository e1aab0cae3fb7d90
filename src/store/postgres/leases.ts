import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../store-fault.js';
import { Turns } from '../turns.js';
import type { PostgresSession } from './postgres-session.js';

/** How long a lease is held without being renewed, and how often it is renewed. */
const HELD_SECONDS = 60;
const RENEW_MS = 10_000;

/** How often it is looked whether a lease is free, and for how long whoever waits comes first. */
const LOOK_MS = 250;
const FIRST_SECONDS = 5;

/** A lease as its holder has it. */
export interface Lease {
  readonly name: string;
  /** Rises with each holder. */
  readonly epoch: number;
}

/** A lease was taken over by another node, so nothing that was done under it counts. It can be tried again. */
export class LeaseLost extends StoreUnavailable {
  constructor({ name }: Lease) {
    super(`Another node has taken over "${name}", because this one did not renew its lease: try again.`);
  }
}

const HELD = `clock_timestamp() + INTERVAL '${HELD_SECONDS} seconds'`;

/**
 * The leases of one node. A lease is a row in PostgreSQL, by whose clock it expires. That a node believes to hold one proves nothing: a change
 * that needs it says `WHERE epoch = ...`.
 */
export class Leases {
  /** Names the node. */
  readonly holder = randomUUID();
  private readonly held = new Map<string, Lease>();
  private readonly turns = new Turns();
  private readonly waiting = new Map<string, number>();
  /** The leases that the work at hand is done under. */
  private readonly inside = new AsyncLocalStorage<ReadonlySet<string>>();
  private readonly ending = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly session: Pick<PostgresSession, 'select' | 'run'>,
    /** The number that a lease begins with, by its name. */
    private readonly firstNumber: (name: string) => number = () => 0,
  ) {
    this.timer = setInterval(() => void this.renew().catch(() => undefined), RENEW_MS).unref();
  }

  /** Does work under a lease, one at a time in this node too. Waits for it, and releases it at the end. Work in the work has it already. */
  leading<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.under(name, work, async () => {
      await this.acquire(name);
      return true;
    }) as Promise<T>;
  }

  /** The same, or answers undefined if another node has the lease. */
  trying<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.under(name, work, () => this.tryToAcquire(name));
  }

  private under<T>(
    name: string,
    work: () => Promise<T>,
    acquire: () => Promise<boolean>,
  ): Promise<T | undefined> {
    const around = this.inside.getStore();
    if (around?.has(name)) return work();
    return this.turns.run(name, async () => {
      const isKept = this.held.has(name);
      if (!isKept && !(await acquire())) return undefined;
      try {
        return await this.inside.run(new Set([...(around ?? []), name]), work);
      } finally {
        if (!isKept) await this.release(name);
      }
    });
  }

  /** Does work under a lease unless another node has it, or this one does the work already. Keeps it: others get it when this node ends. */
  async keeping<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.waiting.has(name)) return undefined;
    this.waiting.set(name, 1);
    try {
      if (!this.held.has(name) && !(await this.tryToAcquire(name))) return undefined;
      return await this.inside.run(new Set([...(this.inside.getStore() ?? []), name]), work);
    } finally {
      this.waiting.delete(name);
    }
  }

  /** The lease that this node has, or believes to have. */
  lease(name: string): Lease {
    const held = this.held.get(name);
    if (held === undefined) throw new LeaseLost({ name, epoch: 0 });
    return held;
  }

  /** A change under a lease found another epoch. */
  lost(lease: Lease): LeaseLost {
    if (this.held.get(lease.name)?.epoch === lease.epoch) this.held.delete(lease.name);
    return new LeaseLost(lease);
  }

  /** Lets others have all leases at once. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.ending.abort(new StoreUnavailable('The store is being closed.'));
    await Promise.all([...this.held.keys()].map((name) => this.release(name)));
  }

  /** Renews all leases, and notices those that were lost. */
  async renew(): Promise<void> {
    const asked = new Map(this.held);
    const names = [...asked.keys()];
    if (names.length === 0) return;
    const rows = await this.session.select(
      `UPDATE leases SET expires_at = ${HELD} WHERE name IN $names AND holder = $holder RETURNING name, epoch`,
      { names, holder: this.holder },
    );
    const epochs = new Map(rows.map((row) => [String(row.name), Number(row.epoch)]));
    // One that was released meanwhile may be held again: this answer is not about that.
    for (const [name, lease] of asked)
      if (this.held.get(name) === lease && lease.epoch !== epochs.get(name)) this.held.delete(name);
  }

  private async acquire(name: string): Promise<void> {
    while (!(await this.tryToAcquire(name))) {
      await this.session.run([
        {
          sql: `UPDATE leases SET wanted_by = $holder, wanted_at = clock_timestamp()
            WHERE name = $name AND ${MAY_WANT}`,
          parameters: { name, holder: this.holder },
        },
      ]);
      await wait(LOOK_MS * (0.5 + Math.random()), undefined, { signal: this.ending.signal }).catch(() => {
        throw this.ending.signal.reason;
      });
    }
  }

  private async tryToAcquire(name: string): Promise<boolean> {
    this.ending.signal.throwIfAborted();
    const [row] = await this.session.select(
      `UPDATE leases SET holder = $holder, epoch = epoch + 1, expires_at = ${HELD}, wanted_by = NULL
      WHERE name = $name AND (holder IS NULL OR expires_at < clock_timestamp()) AND ${MAY_WANT}
      RETURNING epoch`,
      { name, holder: this.holder },
    );
    if (row !== undefined) {
      this.held.set(name, { name, epoch: Number(row.epoch) });
      return true;
    }
    const first = this.firstNumber(name);
    const [made] = await this.session.select(
      `INSERT INTO leases (name, epoch, expires_at, taken, number)
      VALUES ($name, 0, clock_timestamp(), ${first}, ${first})
      ON CONFLICT (name) DO NOTHING
      RETURNING epoch`,
      { name },
    );
    return made !== undefined && this.tryToAcquire(name);
  }

  /** If PostgreSQL can't be reached, the lease expires by itself. */
  private async release(name: string): Promise<void> {
    const lease = this.held.get(name);
    this.held.delete(name);
    if (lease === undefined) return;
    await this.session
      .run([
        {
          sql: 'UPDATE leases SET holder = NULL WHERE name = $name AND epoch = $epoch',
          parameters: { ...lease },
        },
      ])
      .catch(() => undefined);
  }
}

/** Whoever has waited gets a lease before its last holder gets it again. */
const MAY_WANT = `(wanted_by IS NULL OR wanted_by = $holder OR wanted_at < clock_timestamp() - INTERVAL '${FIRST_SECONDS} seconds')`;
