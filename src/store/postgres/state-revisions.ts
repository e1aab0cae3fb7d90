import { isPublished } from '../state/homes.js';
import type { PostgresSession } from './postgres-session.js';

/** How old an answer can be. */
const FRESH_MS = 500;

/** How often the tables of state have changed, asked for at most twice a second. */
export class StateRevisions {
  private asked:
    | { readonly at: number; readonly revisions: Promise<ReadonlyMap<string, string>> }
    | undefined;

  constructor(private readonly session: PostgresSession) {}

  /** Names the state of a table. */
  async of(table: string): Promise<string> {
    return (await this.known()).get(table) ?? '0';
  }

  /** Names the state of all tables that answers are made from. */
  async published(): Promise<string> {
    return [...(await this.known())]
      .filter(([table]) => isPublished(table))
      .map((one) => one.join(' '))
      .join(' ');
  }

  /** This node has changed something. */
  forget(): void {
    this.asked = undefined;
  }

  /** TRICKY: as old as the question is, not its answer. */
  private known(): Promise<ReadonlyMap<string, string>> {
    const at = performance.now();
    if (this.asked !== undefined && at - this.asked.at < FRESH_MS) return this.asked.revisions;
    const asked = { at, revisions: this.read() };
    this.asked = asked;
    asked.revisions.catch(() => {
      if (this.asked === asked) this.asked = undefined;
    });
    return asked.revisions;
  }

  private async read(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.session.select(
      'SELECT table_name, revision FROM revisions_of_tables ORDER BY table_name',
    );
    return new Map(rows.map(({ table_name, revision }) => [String(table_name), String(revision)]));
  }
}
