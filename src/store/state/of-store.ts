import { Queue } from '../queue.js';
import type { Store } from '../store.js';

/** What a turn has dropped from memory, by the store that its work got: that of the others drops it once the turn is over. */
const dropped = new WeakMap<Store, ((store: Store) => void)[]>();

/** Runs work that reads state and changes it: see Store.inTurn. Facts in memory that it drops are dropped for the store of the others, too. */
export async function inTurn<T>(store: Store, name: string, work: (turn: Store) => Promise<T>): Promise<T> {
  const drops: ((store: Store) => void)[] = [];
  try {
    return await store.inTurn(name, (turn) => {
      if (turn !== store) dropped.set(turn, drops);
      return work(turn);
    });
  } finally {
    for (const drop of drops) drop(store);
  }
}

/**
 * Facts about the organizations of each store, in memory until they are dropped, or another node changes one of the tables that they come from.
 * One that couldn't be read is read again.
 */
export class OfOrganizations<Fact> {
  private readonly known = new WeakMap<Store, { revision: string; facts: Map<string, Promise<Fact>> }>();

  constructor(private readonly tables: readonly string[]) {}

  async get(store: Store, orgId: string, read: () => Promise<Fact>): Promise<Fact> {
    // Before the facts are read, so that they are at least as new.
    let revision = '';
    for (const table of this.tables) revision += ` ${await store.stateRevision(table)}`;
    let known = this.known.get(store);
    if (known?.revision !== revision) {
      known = { revision, facts: new Map() };
      this.known.set(store, known);
    }
    const { facts } = known;
    const found = facts.get(orgId);
    if (found !== undefined) return found;
    const fact = read();
    facts.set(orgId, fact);
    fact.catch(() => {
      if (facts.get(orgId) === fact) facts.delete(orgId);
    });
    return fact;
  }

  /** Drops the facts of a store, or of one organization. */
  drop(store: Store, orgId?: string): void {
    if (orgId === undefined) this.known.delete(store);
    else this.known.get(store)?.facts.delete(orgId);
    dropped.get(store)?.push((other) => this.drop(other, orgId));
  }
}

/** One fact about each store, kept in the same way. */
export class OfStore<Fact> {
  private readonly all: OfOrganizations<Fact>;

  constructor(tables: readonly string[]) {
    this.all = new OfOrganizations(tables);
  }

  get(store: Store, read: () => Promise<Fact>): Promise<Fact> {
    return this.all.get(store, '', read);
  }

  drop(store: Store): void {
    this.all.drop(store);
  }
}

/** Whether other nodes have the same state. What is claimed for a while has to be claimed only then. */
export async function isShared(store: Store): Promise<boolean> {
  return (await store.stateRevision('organizations')) !== '';
}

/** Long work of this process, one after another for each store. It may wait for anything; a lease keeps other nodes from it. */
export class OneAtATime {
  private readonly queues = new WeakMap<Store, Queue>();

  run<T>(store: Store, work: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(store) ?? new Queue();
    this.queues.set(store, queue);
    return queue.run(work);
  }
}
