import type { Row, Store } from '../store.js';
import { inTurn } from './of-store.js';

/** Settings of an organization after a change of them; revision 0 before the first. */
export interface Revision {
  readonly revision: number;
  /** JSON. */
  readonly document: string;
  readonly author: string | null;
  /** Unix milliseconds. */
  readonly changedAt: number | null;
}

/** The same with the settings themselves. */
export interface SettingsChange<Settings> extends Omit<Revision, 'document'> {
  readonly settings: Settings;
}

/** Settings of organizations, each change of which is a row of a table: org_id, revision, the settings as JSON, author and changed_at. */
export class Revisions {
  /** `before` is the document before the first change. */
  constructor(
    private readonly table: string,
    private readonly column: string,
    private readonly before: string,
  ) {}

  private revisionOf(row: Row | undefined): Revision {
    if (row === undefined) return { revision: 0, document: this.before, author: null, changedAt: null };
    return {
      revision: Number(row.revision),
      document: String(row[this.column]),
      author: String(row.author),
      changedAt: Number(row.changed_at),
    };
  }

  /** The newest settings of an organization. */
  async newest(store: Pick<Store, 'select'>, orgId: string): Promise<Revision> {
    const [newest] = await this.history(store, orgId, 1);
    return newest ?? this.revisionOf(undefined);
  }

  /** The newest changes of an organization's settings, the newest one first. */
  async history(store: Pick<Store, 'select'>, orgId: string, limit: number): Promise<Revision[]> {
    const rows = await store.select(
      `SELECT revision, ${this.column}, author, changed_at FROM ${this.table}
      WHERE org_id = $org_id ORDER BY revision DESC LIMIT $limit`,
      { org_id: orgId, limit },
    );
    return rows.map((row) => this.revisionOf(row));
  }

  /** Changes settings. `make` gets the newest revision, and throws if it may not be changed. An equal document is no change. */
  change(
    store: Store,
    orgId: string,
    make: (before: Revision) => string,
    author: string,
    now: number,
  ): Promise<Revision> {
    return inTurn(store, `${this.table} ${orgId}`, async (turn) => {
      const before = await this.newest(turn, orgId);
      const document = make(before);
      if (document === before.document) return before;
      await turn.run([
        {
          sql: `INSERT INTO ${this.table}
            SELECT $org_id, CAST($revision AS BIGINT), $document, $author, instant($now)`,
          parameters: { org_id: orgId, revision: before.revision + 1, document, author, now },
        },
      ]);
      return this.newest(turn, orgId);
    });
  }
}
