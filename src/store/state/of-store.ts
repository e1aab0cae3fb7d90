import { Queue } from '../queue.js';
import type { Store } from '../store.js';

/** Facts about the organizations of each store, in memory until they are dropped. One that couldn't be read is read again. */
export class OfOrganizations<Fact> {
  private readonly known = new WeakMap<Store, Map<string, Promise<Fact>>>();

  get(store: Store, orgId: string, read: () => Promise<Fact>): Promise<Fact> {
    const found = this.known.get(store) ?? new Map<string, Promise<Fact>>();
    this.known.set(store, found);
    const fact = found.get(orgId) ?? read();
    found.set(orgId, fact);
    fact.catch(() => {
      if (found.get(orgId) === fact) found.delete(orgId);
    });
    return fact;
  }

  /** Drops the facts of a store, or of one organization. */
  drop(store: Store, orgId?: string): void {
    if (orgId === undefined) this.known.delete(store);
    else this.known.get(store)?.delete(orgId);
  }
}

/** Changes of a store that take turns: each is made of what the one before left. */
export class Turns {
  private readonly queues = new WeakMap<Store, Queue>();

  run<T>(store: Store, work: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(store) ?? new Queue();
    this.queues.set(store, queue);
    return queue.run(work);
  }
}
