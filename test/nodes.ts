import type { Store } from '../src/store/store.js';

/**
 * Nodes that have one store: each has facts of its own in memory, learns of the changes of others by `stateRevision`, and gets another store in
 * a turn, as with state in PostgreSQL.
 */
export class Nodes {
  /** How often each table was written, and how often as far as nodes know. */
  private readonly written = new Map<string, number>();
  private learned = new Map<string, number>();

  constructor(private readonly store: Store) {}

  /** Half a second passes: nodes learn which tables have changed. */
  learn(): void {
    this.learned = new Map(this.written);
  }

  /** Another node. */
  node(): Store {
    const { store } = this;
    const note = (sql: string) => {
      for (const [, table = ''] of sql.matchAll(/(?:INTO|UPDATE|DELETE FROM)\s+(\w+)/g))
        this.written.set(table, (this.written.get(table) ?? 0) + 1);
    };
    const own: Partial<Store> = {
      run: async (statements) => {
        await store.run(statements);
        for (const { sql } of statements) note(sql);
      },
      append: async (sql) => {
        await store.append(sql);
        note(sql);
      },
      stateRevision: async (table) => String(this.learned.get(table) ?? 0),
      inTurn: (name, work) => store.inTurn(name, () => work(this.node())),
    };
    return new Proxy(store, {
      get(target, name) {
        if (Object.hasOwn(own, name)) return own[name as keyof Store];
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }
}
