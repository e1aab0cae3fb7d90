import { DAY_TABLES } from '../catalog.js';
import {
  BUILT_TABLES,
  type BuiltTable,
  type DailySql,
  DECISION_TABLES,
  DECISION_TOUCHES,
  FIRST_TABLES,
  SCRATCH_TABLES,
} from '../day-builder.js';
import { ChecksFailed, findBreaches } from '../day-checks.js';
import { digestSql } from '../row-digest.js';
import { quote, readSql, valuesOf, withSources } from '../sql-text.js';
import type { OrgDay, Parameters } from '../store.js';
import { columnNames, tablesOf } from '../tables.js';
import { beginAttempt, rowsOf, viewsOnDays } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';

const VIEWS = viewsOnDays();

/** The comment by which the server tells a build's statements from others. */
const COMMENT = 'daybook build';

/**
 * The table that a name in FROM or JOIN means for the running build; undefined if it is the same for everybody.
 * Of all tables the daily queries look back on user_sessions alone.
 */
function meaningOf(name: string, build: number): string | undefined {
  if (!(BUILT_TABLES as readonly string[]).includes(name)) return VIEWS.get(name);
  const isSeen =
    name === 'user_sessions'
      ? '(org_id, day, build) IN (SELECT org_id, day, build FROM building)'
      : `build = ${build}`;
  return `SELECT ${columnNames(name).join(', ')} FROM ${rowsOf(name)} WHERE ${isSeen}`;
}

/**
 * A query as the running build asks it, which sees the rows that it has written. The views that everybody reads don't show
 * those, and take longer to read.
 */
function asBuilding(sql: string, build: number): string {
  const meanings = new Map<string, string>();
  const collect = (text: string) => {
    for (const name of tablesOf(text)) {
      const meaning = meanings.has(name) ? undefined : meaningOf(name, build);
      if (meaning === undefined) continue;
      collect(meaning);
      meanings.set(name, meaning);
    }
  };
  collect(sql);
  return withSources(sql, Object.fromEntries(meanings));
}

/**
 * Replaces the tables of days in ClickHouse. The rows of a build stand in partitions of their own, beside those of the
 * builds before it; one insert into `days` exchanges all of them at once. Then nobody asks for the old ones any more, and
 * the next build drops them.
 */
export class ClickHouseBuilder {
  private readonly session: ClickHouseSession;

  constructor(
    session: ClickHouseSession,
    private readonly daily: DailySql,
  ) {
    this.session = session.with({ log_comment: COMMENT });
  }

  /** Computes the days that are due, checks and digests them, and replaces their tables together: see Builder. */
  async build(due: readonly OrgDay[], batch: number, builtAt: number, commit: Commit): Promise<void> {
    const { session } = this;
    const build = await this.begin(due);
    for (const touches of DECISION_TOUCHES)
      await session.run(`INSERT INTO fresh_touches ${readSql(`build/${touches}.sql`)}`);
    await this.fillSessions(build);
    for (const touches of ['moved_starts', 'moved_windows'])
      await session.run(`INSERT INTO fresh_touches ${asBuilding(readSql(`build/${touches}.sql`), build)}`);
    for (const table of DAY_TABLES) await this.fill(table, build);
    const written = BUILT_TABLES.map(
      (table) => `SELECT ${quote(table)}, count(*) FROM ${rowsOf(table)} WHERE build = ${build}`,
    );
    await session.run(`INSERT INTO written_rows ${written.join(' UNION ALL ')}`);
    for (const table of BUILT_TABLES)
      await session.run(`INSERT INTO fresh_digests ${asBuilding(digestSql(table), build)}`);
    await session.run(`INSERT INTO fresh_digests ${readSql('build/empty_digests.sql')}`);
    const breaches = await findBreaches((sql) => session.select(asBuilding(sql, build)));
    if (breaches.length > 0) throw new ChecksFailed(breaches);
    await this.note(batch, builtAt, build);
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

  /**
   * Computes the days that are due as a build that never comes to count, and drops their rows again. `read` sees them in queries that it has
   * had spelled for it.
   */
  async preview<T>(
    due: readonly OrgDay[],
    read: (asBuilt: (sql: string) => string) => Promise<T>,
  ): Promise<T> {
    const build = await this.begin(due);
    try {
      await this.fillSessions(build);
      for (const table of DAY_TABLES) await this.fill(table, build);
      return await read((sql) => asBuilding(sql, build));
    } finally {
      await this.dropOld();
    }
  }

  /** Takes a number for a build of these days, and answers it. */
  private async begin(due: readonly OrgDay[]): Promise<number> {
    const { session } = this;
    const build = await beginAttempt(session, 'build');
    // Rows of a build that was cut off would come into the scratch tables of this one. No other build of the database can be running.
    await session.endInserts(COMMENT);
    await this.dropOld();
    for (const table of [...SCRATCH_TABLES, 'building']) await session.run(`TRUNCATE TABLE ${table}`);
    await session.run(`INSERT INTO due VALUES ${valuesOf(due)}`);
    // They read the rows of earlier builds, and none of the running build.
    for (const table of DECISION_TABLES)
      await session.run(`INSERT INTO ${table} ${readSql(`build/${table}.sql`)}`);
    await session.run(
      `INSERT INTO building
      SELECT org_id, day, ${build} FROM due
      UNION ALL
      SELECT org_id, day, build FROM newest_days WHERE (org_id, day) NOT IN (SELECT org_id, day FROM due)`,
    );
    return build;
  }

  /** Fills the tables that the tables of days look back on. */
  private async fillSessions(build: number): Promise<void> {
    for (const table of FIRST_TABLES) await this.fill(table, build);
    await this.session.run(
      `INSERT INTO other_starts ${asBuilding(readSql('build/other_starts.sql'), build)}`,
    );
  }

  private async fill(table: BuiltTable, build: number): Promise<void> {
    const columns = columnNames(table).join(', ');
    const rows = asBuilding(`SELECT ${columns}, ${build} FROM (${this.daily(table)})`, build);
    await this.session.run(`INSERT INTO ${rowsOf(table)} (${columns}, build) ${rows}`);
  }

  /** Writes the inputs of the days, and the restatements of the build, which count together with it. */
  private async note(batch: number, builtAt: number, build: number): Promise<void> {
    const insert = (table: string, select: string, parameters: Parameters) => {
      const columns = columnNames(table).join(', ');
      return this.session.run(
        `INSERT INTO ${rowsOf(table)} (${columns}, build) SELECT ${columns}, ${build} FROM (${select})`,
        parameters,
      );
    };
    await insert('restatements', readSql('build/restatements.sql'), { built_at: builtAt });
    await insert('day_inputs', readSql('build/day_inputs.sql'), { batch, built_at: builtAt });
    await insert('digests', 'SELECT * FROM fresh_digests', {});
    await insert('touches', 'SELECT * FROM fresh_touches', {});
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
