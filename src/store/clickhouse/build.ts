import { BUILT_TABLES, type BuiltTable, DAY_TABLES, type DailySql } from '../build.js';
import { ChecksFailed, findBreaches } from '../check.js';
import { digestSql } from '../digest.js';
import { quote, readSql, valuesOf } from '../sql.js';
import type { OrgDay, Parameters, Store } from '../store.js';
import { beginAttempt, changeColumns, dayColumns, rowsOf } from './schema.js';
import { ClickHouseSession } from './session.js';

/**
 * Replaces the tables of days in ClickHouse. The rows of a build stand in partitions of their own, beside those of the
 * builds before it; one insert into `days` exchanges all of them at once. Then nobody asks for the old ones any more, and
 * the next build drops them.
 */
export class ClickHouseBuilder {
  constructor(
    private readonly session: ClickHouseSession,
    private readonly daily: DailySql,
  ) {}

  /** Computes the days that are due, checks and digests them, and replaces their tables together: see Builder. */
  async build(due: readonly OrgDay[], batch: number, builtAt: number, commit: Commit): Promise<void> {
    const { session } = this;
    const { build, building } = await this.begin(due);
    await this.fill(building, 'user_sessions', build);
    await building.run(
      `INSERT INTO touches_rows SELECT org_id, day, ${build} FROM (${readSql('build/moved_starts.sql')})`,
    );
    await building.run(
      `INSERT INTO touches_rows SELECT org_id, day, ${build} FROM (${readSql('build/moved_windows.sql')})`,
    );
    for (const table of DAY_TABLES) await this.fill(building, table, build);
    const written = BUILT_TABLES.map(
      (table) => `SELECT ${quote(table)}, count(*) FROM ${rowsOf(table)} WHERE build = ${build}`,
    );
    await session.run(`INSERT INTO written_rows ${written.join(' UNION ALL ')}`);
    for (const table of BUILT_TABLES) await building.run(`INSERT INTO fresh_digests ${digestSql(table)}`);
    await building.run(`INSERT INTO fresh_digests ${readSql('build/empty_digests.sql')}`);
    const breaches = await findBreaches((sql) => building.select(sql));
    if (breaches.length > 0) throw new ChecksFailed(breaches);
    await this.note(building, batch, builtAt, build);
    await commit(() =>
      session.run(
        `INSERT INTO days_rows
        SELECT
          due.org_id,
          due.day,
          $batch,
          instant($built_at),
          coalesce(day_inputs.first_built_at, instant($built_at)),
          $build,
          $build
        FROM due
        LEFT JOIN day_inputs USING (org_id, day)`,
        { batch, built_at: builtAt, build },
      ),
    );
  }

  /** Computes the days that are due as a build that never comes to count, lets `read` see them, and drops their rows. */
  async preview<T>(due: readonly OrgDay[], read: (select: Store['select']) => Promise<T>): Promise<T> {
    const { build, building } = await this.begin(due);
    try {
      for (const table of BUILT_TABLES) await this.fill(building, table, build);
      return await read((sql, parameters) => building.select(sql, parameters));
    } finally {
      await this.dropOld();
    }
  }

  /** Takes a number for a build of these days, with a session that sees besides what counts what the build has written. */
  private async begin(due: readonly OrgDay[]): Promise<{ build: number; building: ClickHouseSession }> {
    const { session } = this;
    await this.abandon();
    await this.dropOld();
    const build = await beginAttempt(session, 'build');
    for (const table of ['due', 'fresh_digests', 'written_rows'])
      await session.run(`TRUNCATE TABLE ${table}`);
    await session.run(`INSERT INTO due VALUES ${valuesOf(due)}`);
    await session.run(
      `INSERT INTO days_rows SELECT org_id, day, -1, instant(0), instant(0), ${build}, -${build} FROM due`,
    );
    return { build, building: new ClickHouseSession(session.client, build) };
  }

  private async fill(building: ClickHouseSession, table: BuiltTable, build: number): Promise<void> {
    const columns = dayColumns(table).join(', ');
    await building.run(
      `INSERT INTO ${rowsOf(table)} (${columns}, build) SELECT ${columns}, ${build} FROM (${this.daily(table)})`,
    );
  }

  /** Writes what the days are built from, and what the build has restated: to count with it. */
  private async note(
    building: ClickHouseSession,
    batch: number,
    builtAt: number,
    build: number,
  ): Promise<void> {
    const insert = (table: string, select: string, parameters: Parameters) => {
      const columns = changeColumns(table).join(', ');
      return building.run(
        `INSERT INTO ${rowsOf(table)} (${columns}, build) SELECT ${columns}, ${build} FROM (${select})`,
        parameters,
      );
    };
    await insert('restatements', readSql('build/restatements.sql'), { built_at: builtAt });
    await insert('day_inputs', readSql('build/day_inputs.sql'), { batch, built_at: builtAt });
    await insert('digests', 'SELECT * FROM fresh_digests', {});
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
        AND table IN (${BUILT_TABLES.map((table) => quote(rowsOf(table))).join(', ')})
        AND partition_id NOT IN (SELECT DISTINCT toString(build) FROM newest_days)`,
    );
    for (const { table, partition_id } of parts)
      await this.session.run(`ALTER TABLE ${table} DROP PARTITION ID ${quote(String(partition_id))}`);
  }
}

/** Does the one step that makes work count, so that no reader sees a part of its queries before and a part after it. */
export type Commit = (step: () => Promise<void>) => Promise<void>;
