import {
  BUILT_TABLES,
  type BuiltTable,
  type DailySql,
  DECISION_TABLES,
  FIRST_TABLES,
} from '../day-builder.js';
import { type Breach, findBreaches } from '../day-checks.js';
import { digestSql } from '../row-digest.js';
import { quote, readSql, valuesOf } from '../sql-text.js';
import type { OrgDay, Parameters, Row } from '../store.js';
import { columnNames } from '../tables.js';
import { BUILD_SCRATCH, rowsOf } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import type { Meaning, Names } from './names.js';

/** Of all tables the daily queries look back on this one alone. */
const LOOKED_BACK_ON = 'user_sessions';

/** What the names of scratch tables mean to a build. */
function scratchOf(build: number): Meaning {
  return (name) => {
    if (name === 'building') return `SELECT org_id, day, build FROM ${rowsOf(name)} WHERE attempt = ${build}`;
    if (!(BUILD_SCRATCH as readonly string[]).includes(name)) return undefined;
    return `SELECT ${columnNames(name).join(', ')} FROM ${rowsOf(name)} WHERE build = ${build}`;
  };
}

/** What the names of day tables mean to it, as it fills them. The views that everybody reads don't show its rows, and take longer to read. */
function builtBy(build: number): Meaning {
  return (name) => {
    if (!(BUILT_TABLES as readonly string[]).includes(name)) return undefined;
    const isSeen =
      name === LOOKED_BACK_ON
        ? '(org_id, day, build) IN (SELECT org_id, day, build FROM building)'
        : `build = ${build}`;
    return `SELECT ${columnNames(name).join(', ')} FROM ${rowsOf(name)} WHERE ${isSeen}`;
  };
}

/** The tables whose rows come to count with a build, beside those of days. */
const NOTED = ['restatements', 'day_inputs', 'digests', 'touches'] as const;

/** The rows of one build, all of them under its number: until it counts, nobody else sees any. */
export class BuildAttempt {
  /** Asks as the build does before it has written anything: of days it sees the rows that count. */
  private readonly before: ClickHouseSession;
  /** Sees its own rows. */
  private readonly building: ClickHouseSession;

  constructor(
    private readonly session: ClickHouseSession,
    private readonly daily: DailySql,
    readonly number: number,
    names: Names,
  ) {
    const own = names.with(scratchOf(number));
    this.before = session.naming(own);
    this.names = own.with(builtBy(number));
    this.building = session.naming(this.names);
  }

  /** What names mean to it. */
  readonly names: Names;

  /** Decides which events count, and for whom. */
  async begin(due: readonly OrgDay[]): Promise<void> {
    const { number } = this;
    const days = `SELECT org_id, day, ${number} FROM VALUES('org_id String, day Date', ${valuesOf(due)})`;
    await this.session.run(`INSERT INTO ${rowsOf('due')} (org_id, day, build) ${days}`);
    for (const table of DECISION_TABLES) await this.keep(this.before, table, readSql(`build/${table}.sql`));
    await this.before.insert(
      `${rowsOf('building')} (org_id, day, build, attempt)`,
      `SELECT org_id, day, ${number} AS build, ${number} AS attempt FROM due
      UNION ALL
      SELECT org_id, day, build, ${number} AS attempt FROM newest_days
      WHERE org_id IN (SELECT org_id FROM due) AND (org_id, day) NOT IN (SELECT org_id, day FROM due)`,
    );
  }

  /** Keeps the days that are touched, by the names of their queries, before or after the sessions are there. */
  async touch(queries: readonly string[], isBuilding: boolean): Promise<void> {
    for (const query of queries)
      await this.keep(
        isBuilding ? this.building : this.before,
        'fresh_touches',
        readSql(`build/${query}.sql`),
      );
  }

  /** Fills the tables that the tables of days look back on. */
  async fillSessions(): Promise<void> {
    for (const table of FIRST_TABLES) await this.fill(table);
    await this.keep(this.building, 'other_starts', readSql('build/other_starts.sql'));
  }

  fill(table: BuiltTable): Promise<void> {
    return this.keep(this.building, table, this.daily(table));
  }

  /** Digests all tables, and answers how many rows each has. */
  async digest(): Promise<ReadonlyMap<string, number>> {
    const written = await this.countsOf(BUILT_TABLES);
    const rows = [...written].map(([table, count]) => `(${quote(table)}, ${count}, ${this.number})`);
    await this.session.run(
      `INSERT INTO ${rowsOf('written_rows')} (table_name, row_count, build) VALUES ${rows.join(', ')}`,
    );
    for (const table of BUILT_TABLES) await this.keep(this.building, 'fresh_digests', digestSql(table));
    await this.keep(this.before, 'fresh_digests', readSql('build/empty_digests.sql'));
    return written;
  }

  findBreaches(): Promise<Breach[]> {
    return findBreaches((sql) => this.building.select(sql));
  }

  /** Writes the inputs of the days, and the restatements of the build, which count together with it. */
  async note(batch: number, builtAt: number, definitions: string): Promise<void> {
    const { before } = this;
    const given = { built_at: builtAt, definitions };
    await this.keep(before, 'restatements', readSql('build/restatements.sql'), given);
    await this.keep(before, 'day_inputs', readSql('build/day_inputs.sql'), { batch, ...given });
    await this.keep(before, 'digests', 'SELECT * FROM fresh_digests');
    await this.keep(before, 'touches', 'SELECT * FROM fresh_touches');
  }

  /** Writes which build has the rows of the days. */
  last(batch: number, builtAt: number): Promise<void> {
    return this.before.insert(
      `${rowsOf('days')} (org_id, day, batch, built_at, first_built_at, build, version)`,
      `SELECT
        due.org_id,
        due.day,
        $batch,
        instant($built_at),
        coalesce(day_inputs.first_built_at, instant($built_at)),
        $build,
        $build
      FROM due
      LEFT JOIN day_inputs USING (org_id, day)`,
      { batch, built_at: builtAt, build: this.number },
    );
  }

  /** How many rows the build has written that come to count with it. */
  async written(built: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    return new Map([...built, ...(await this.countsOf([...NOTED, 'days']))]);
  }

  /** The revision of the people of each organization that the build reads. */
  async people(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.before.select(
      `SELECT due.org_id AS org_id, coalesce(max(people_revisions.revision), 0) AS revision
      FROM (SELECT DISTINCT org_id FROM due) AS due
      LEFT JOIN people_revisions ON people_revisions.org_id = due.org_id
      GROUP BY due.org_id`,
    );
    return new Map(rows.map(({ org_id, revision }: Row) => [String(org_id), Number(revision)]));
  }

  private async countsOf(tables: readonly string[]): Promise<Map<string, number>> {
    const counts = tables.map(
      (table) =>
        `SELECT ${quote(table)} AS table_name, count(*) AS row_count FROM ${rowsOf(table)} WHERE build = ${this.number}`,
    );
    const rows = await this.session.select(counts.join(' UNION ALL '));
    return new Map(rows.map(({ table_name, row_count }) => [String(table_name), Number(row_count)]));
  }

  private keep(session: ClickHouseSession, table: string, select: string, parameters?: Parameters) {
    const columns = columnNames(table).join(', ');
    return session.insert(
      `${rowsOf(table)} (${columns}, build)`,
      `SELECT ${columns}, ${this.number} FROM (${select})`,
      parameters,
    );
  }
}
