import type { Session } from './duckdb.js';
import { quote, readSql } from './sql.js';
import type { OrgDay } from './store.js';

/** The tables of a day, each after those that its query reads. */
export const DAY_TABLES = [
  'user_models',
  'user_tools',
  'user_modes',
  'user_clients',
  'user_skills',
  'user_slash_commands',
  'user_hooks',
  'user_extensions',
  'users',
  'tools',
  'activity',
  'productivity',
  'quality',
] as const;

/** Replaces the tables of days in DuckDB. */
export class Builder {
  constructor(private readonly session: Session) {}

  /**
   * Computes the days that are due and replaces all their tables in one transaction.
   *
   * user_sessions goes first, since the other tables look back on it. A day that looks back on a day whose own events
   * have changed must come with or after it; then every day has the same rows in whatever order days are built.
   */
  async build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void> {
    const { session } = this;
    await session.transaction(async () => {
      await this.setDue(due);
      await session.run(
        `CREATE OR REPLACE TEMP TABLE sessions_before AS
        SELECT org_id, day, user_id, session_id FROM user_sessions WHERE (org_id, day) IN (SELECT org_id, day FROM due)`,
      );
      await this.replace('user_sessions');
      await session.run(`INSERT INTO touches ${readSql('build/moved_starts.sql')}`);
      for (const table of DAY_TABLES) await this.replace(table);
      await session.run(
        `CREATE OR REPLACE TEMP TABLE built AS
        SELECT
          due.org_id,
          due.day,
          CAST($batch AS BIGINT) AS batch,
          make_timestamp_ms($built_at) AS built_at,
          coalesce(days.first_built_at, make_timestamp_ms($built_at)) AS first_built_at
        FROM due
        LEFT JOIN days USING (org_id, day)`,
        { batch, built_at: builtAt },
      );
      await session.run('DELETE FROM days WHERE (org_id, day) IN (SELECT org_id, day FROM due)');
      await session.run('DELETE FROM touches WHERE (org_id, day) IN (SELECT org_id, day FROM due)');
      await session.run('INSERT INTO days BY NAME FROM built');
      await session.run('DELETE FROM due');
    });
  }

  private async setDue(days: readonly OrgDay[]): Promise<void> {
    await this.session.run('DELETE FROM due');
    const rows = days.map(({ orgId, day }) => `(${quote(orgId)}, DATE '${day}')`);
    await this.session.run(`INSERT INTO due VALUES ${rows.join(', ')}`);
  }

  private async replace(table: string): Promise<void> {
    await this.session.run(`DELETE FROM ${table} WHERE (org_id, day) IN (SELECT org_id, day FROM due)`);
    await this.session.run(`INSERT INTO ${table} BY NAME ${readSql(`daily/${table}.sql`)}`);
  }
}
