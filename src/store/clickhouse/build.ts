import { DAY_TABLES } from '../build.js';
import { quote, readSql } from '../sql.js';
import type { OrgDay } from '../store.js';
import { beginAttempt, dayColumns, rowsOf } from './schema.js';
import type { ClickHouseSession } from './session.js';

const TABLES = ['user_sessions', ...DAY_TABLES] as const;

/**
 * Replaces the tables of days in ClickHouse. The rows of a build stand in partitions of their own, beside those of the
 * builds before it; one insert into `days` exchanges all of them at once. Then nobody asks for the old ones any more, and
 * the next build drops them.
 */
export class ClickHouseBuilder {
  /** `session` sees what counts, `building` besides it what the running build has written. */
  constructor(
    private readonly session: ClickHouseSession,
    private readonly building: ClickHouseSession,
  ) {}

  /** Computes the days that are due, and replaces their tables together: see Builder. */
  async build(due: readonly OrgDay[], batch: number, builtAt: number, commit: Commit): Promise<void> {
    const { session, building } = this;
    await this.abandon();
    await this.dropOld();
    const build = await beginAttempt(session, 'build');
    await session.run('TRUNCATE TABLE due');
    const rows = due.map(({ orgId, day }) => `(${quote(orgId)}, '${day}')`);
    await session.run(`INSERT INTO due VALUES ${rows.join(', ')}`);
    await this.fill('user_sessions', build);
    await building.run(
      `INSERT INTO touches_rows SELECT org_id, day, ${build} FROM (${readSql('build/moved_starts.sql')})`,
    );
    for (const table of DAY_TABLES) await this.fill(table, build);
    await commit(() =>
      session.run(
        `INSERT INTO days_rows
        SELECT
          due.org_id,
          due.day,
          $batch,
          instant($built_at),
          coalesce(newest_days.first_built_at, instant($built_at)),
          $build,
          $build
        FROM due
        LEFT JOIN newest_days USING (org_id, day)`,
        { batch, built_at: builtAt, build },
      ),
    );
  }

  private async fill(table: string, build: number): Promise<void> {
    const columns = dayColumns(table).join(', ');
    await this.building.run(
      `INSERT INTO ${rowsOf(table)} (${columns}, build) SELECT ${columns}, ${build} FROM (${readSql(`daily/${table}.sql`)})`,
    );
  }

  /** A build that was begun and isn't the newest one that counts was cut off: what it wrote must never count. */
  private async abandon(): Promise<void> {
    await this.session.run(
      `INSERT INTO abandoned SELECT kind, number FROM attempts
      WHERE kind = 'build'
        AND number > (SELECT coalesce(max(version), 0) FROM days_rows)
        AND number NOT IN (SELECT number FROM abandoned WHERE kind = 'build')`,
    );
  }

  /** Drops the rows of builds of which no day is left: replaced ones, and those that were cut off. */
  private async dropOld(): Promise<void> {
    const parts = await this.session.select(
      `SELECT DISTINCT table, partition_id FROM system.parts
      WHERE active AND database = currentDatabase()
        AND table IN (${TABLES.map((table) => quote(rowsOf(table))).join(', ')})
        AND partition_id NOT IN (SELECT DISTINCT toString(build) FROM newest_days)`,
    );
    for (const { table, partition_id } of parts)
      await this.session.run(`ALTER TABLE ${table} DROP PARTITION ID ${quote(String(partition_id))}`);
  }
}

/** Does the one step that makes work count, so that no reader sees a part of its queries before and a part after it. */
export type Commit = (step: () => Promise<void>) => Promise<void>;
