import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { snapshotAt } from '../../src/lake/earlier-snapshot.js';
import { isOfPeople, LAKE, LAKE_TABLES } from '../../src/lake/lake-paths.js';
import { lakeSql } from '../../src/lake/lake-sql.js';
import { readSnapshot } from '../../src/lake/snapshot.js';

/** What an organization's lake has published, by the instant: what each version had when it was the newest. */
export class LakeVersions {
  private readonly seen = new Map<number, string>();
  private readonly lake: string;

  constructor(
    data: string,
    private readonly orgId: string,
  ) {
    this.lake = join(data, LAKE);
  }

  /** Remembers what the newest version has. */
  async note(): Promise<void> {
    const at = readSnapshot(this.lake, this.orgId)?.published_at ?? 0;
    if (at > 0 && !this.seen.has(at)) this.seen.set(at, await this.contents());
  }

  forget(): void {
    this.seen.clear();
  }

  /** The instants whose rows aren't those that were published then, and how many versions there are. */
  async compare(): Promise<{ versions: number; changed: string[] }> {
    const changed: string[] = [];
    for (const [at, before] of this.seen) {
      const now = await this.contents(at);
      if (now !== before) changed.push(`${new Date(at).toISOString()}: ${now}, not ${before}`);
    }
    return { versions: this.seen.size, changed };
  }

  /** How many rows each table has, and a checksum of them. */
  private async contents(asOf?: number): Promise<string> {
    const current = readSnapshot(this.lake, this.orgId);
    const snapshot = current === undefined ? undefined : snapshotAt(this.lake, current, asOf);
    if (snapshot === undefined) return '';
    // The people of an earlier instant are those of today.
    const tables = LAKE_TABLES.filter((table) => !isOfPeople(table)).map((table) => {
      const rows = lakeSql(this.lake, table, [snapshot]);
      return `SELECT '${table}' AS name, count(*) AS n, bit_xor(hash(r)) AS sum FROM (${rows}) AS r`;
    });
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    const found = await connection.runAndReadAll(
      `SELECT * FROM (${tables.join(' UNION ALL ')}) WHERE n > 0 ORDER BY name`,
    );
    connection.closeSync();
    instance.closeSync();
    return found.getRows().join(' ');
  }
}
