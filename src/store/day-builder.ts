import type { Day } from '../day.js';
import { DAY_TABLES } from './catalog.js';
import { ChecksFailed, findBreaches } from './day-checks.js';
import type { Session } from './duckdb-session.js';
import { ROLL_UPS } from './roll-ups.js';
import { digestSql } from './row-digest.js';
import { quote, readSql, valuesOf, withinDays, withSources } from './sql-text.js';
import type { OrgDay, Parameters } from './store.js';

/** The day tables that are written before the others, which look back on them. */
export const FIRST_TABLES = ['shadowed_events', 'decided_users', 'user_aliases', 'user_sessions'] as const;

/** All tables that a build writes rows of days into. */
export const BUILT_TABLES = [...FIRST_TABLES, ...DAY_TABLES] as const;
export type BuiltTable = (typeof BUILT_TABLES)[number];

/** The text of the query that gives the rows of a day table. */
export type DailySql = (table: BuiltTable) => string;

/** The names of the files in `sql/daily`. */
export const dailySql: DailySql = (table) => readSql(`daily/${table}.sql`);

/** The scratch tables that say which events of the running build count, and for whom, in the order in which they are filled. */
export const DECISION_TABLES = [
  'user_days',
  'fresh_users',
  'shadow_days',
  'fresh_shadows',
  'fresh_auxiliary',
] as const;

/** The queries of the built days for which that is decided in another way than before. */
export const DECISION_TOUCHES = ['moved_shadows', 'moved_users', 'moved_auxiliary'] as const;

/** The scratch tables of the running build. */
export const SCRATCH_TABLES = [
  'due',
  'fresh_digests',
  'fresh_touches',
  'other_starts',
  ...DECISION_TABLES,
  'written_rows',
] as const;

const EMPTY_SCRATCH = SCRATCH_TABLES.map((table) => `DELETE FROM ${table}`).join('; ');

/** How the SQL of builds selects the due days. An expression, since they are selected anywhere in it, by any name of the table. */
const OF_DUE = /\((?:\w+\.)?org_id, ((?:\w+\.)?day)\) IN \(SELECT org_id, day FROM due\)/g;

/** Replaces the tables of days in DuckDB. */
export class Builder {
  /** The rows that the running build has written, as values of written_rows. */
  private written: string[] = [];
  /** The days that are due. */
  private days: readonly Day[] = [];

  constructor(
    private readonly session: Session,
    private readonly daily: DailySql = dailySql,
  ) {}

  /**
   * Computes the days that are due, checks and digests them, and replaces all their tables in one transaction. Throws
   * ChecksFailed, and changes nothing, when a day breaks a claim of `sql/check`.
   *
   * Which events count, and for whom, is decided first, and user_sessions goes before the tables that look back on it. A day that looks
   * back on a day whose own events have changed must come with or after it; then every day has the same rows in whatever
   * order days are built.
   */
  async build(due: readonly OrgDay[], batch: number, builtAt: number, definitions: string): Promise<void> {
    await this.session.transaction(async () => {
      await this.setDue(due);
      for (const touches of DECISION_TOUCHES)
        await this.run(`INSERT INTO fresh_touches BY NAME ${readSql(`build/${touches}.sql`)}`);
      await this.decide();
      await this.replaceSessions();
      await this.run(`INSERT INTO fresh_touches BY NAME ${readSql('build/moved_starts.sql')}`);
      await this.run(`INSERT INTO fresh_touches BY NAME ${readSql('build/moved_windows.sql')}`);
      for (const table of DAY_TABLES) await this.replace(table);
      await this.run(`INSERT INTO written_rows VALUES ${this.written.splice(0).join(', ')}`);
      // As one statement they are computed side by side.
      const digests = BUILT_TABLES.map(digestSql).join(' UNION ALL ');
      await this.run(`INSERT INTO fresh_digests BY NAME ${digests}`);
      await this.run(`INSERT INTO fresh_digests BY NAME ${readSql('build/empty_digests.sql')}`);
      const breaches = await findBreaches((sql) => this.session.select(this.withDays(sql)));
      if (breaches.length > 0) throw new ChecksFailed(breaches);
      await this.run('DROP VIEW temp.counted_events; DROP VIEW temp.decided_events');
      await this.rollUp();
      await this.note(batch, builtAt, definitions);
    });
  }

  /**
   * Computes the days that are due as a build would, lets `read` see them, and takes all of it back: nobody else ever sees
   * anything. Days that no build writes meanwhile, as open ones, can't be in its way.
   */
  async preview<T>(due: readonly OrgDay[], read: () => Promise<T>): Promise<T> {
    return this.session.trial(async () => {
      await this.setDue(due);
      await this.decide();
      await this.replaceSessions();
      for (const table of DAY_TABLES) await this.replace(table);
      await this.rollUp();
      return read();
    });
  }

  private run(sql: string, parameters?: Parameters): Promise<number> {
    return this.session.run(this.withDays(sql), parameters);
  }

  /**
   * Names the due days as constants beside the table `due`. Only then does the engine pass over the rows of other days, before it joins or groups
   * them.
   */
  private withDays(sql: string): string {
    return sql.replace(OF_DUE, (isDue, day: string) => `(${withinDays(day, this.days)} AND ${isDue})`);
  }

  private async setDue(days: readonly OrgDay[]): Promise<void> {
    this.written = [];
    this.days = days.map(({ day }) => day);
    await this.run(EMPTY_SCRATCH);
    await this.run(`INSERT INTO due VALUES ${valuesOf(days)}`);
    for (const table of DECISION_TABLES)
      await this.run(`INSERT INTO ${table} BY NAME ${readSql(`build/${table}.sql`)}`);
  }

  /**
   * Replaces the rows of shadowed_events, decided_users and user_aliases, and until it drops them gives this connection decided_events and
   * counted_events by row numbers.
   * TRICKY: a temporary view hides the other one of its name, also from views. The other ones compare the ids and users of all events.
   */
  private async decide(): Promise<void> {
    await this.replace('shadowed_events');
    await this.replace('decided_users');
    await this.run(
      `CREATE OR REPLACE TEMP TABLE shadowed_rows AS
      SELECT rowid AS row_id FROM events
      WHERE (org_id, day, event_id) IN (
        SELECT org_id, day, event_id FROM shadowed_events WHERE (org_id, day) IN (SELECT org_id, day FROM due)
      )`,
    );
    await this.run('CREATE OR REPLACE TEMP TABLE moved_rows (row_id BIGINT, user_id VARCHAR)');
    const moved = await this.run(
      `INSERT INTO moved_rows
      SELECT events.rowid, decided_users.user_id
      FROM events
      JOIN decided_users
        ON decided_users.org_id = events.org_id
        AND decided_users.day = events.day
        AND decided_users.session_id = events.session_id
        AND decided_users.agent = coalesce(events.agent, '')
        AND decided_users.channel = events.channel
        AND decided_users.named_user_id = events.user_id
      WHERE decided_users.user_id <> events.user_id
        AND names_no_person(events.channel, events.user_id, events.is_installation)
        AND (events.org_id, events.day) IN (SELECT org_id, day FROM due)
        AND (decided_users.org_id, decided_users.day) IN (SELECT org_id, day FROM due)`,
    );
    await this.replace('user_aliases');
    await this.run(
      'CREATE OR REPLACE TEMP TABLE due_aliases (org_id VARCHAR, day DATE, named_user_id VARCHAR, user_id VARCHAR)',
    );
    const aliases = await this.run(
      'INSERT INTO due_aliases SELECT * FROM user_aliases WHERE (org_id, day) IN (SELECT org_id, day FROM due)',
    );
    const named = moved === 0 ? 'events.user_id' : 'coalesce(moved_rows.user_id, events.user_id)';
    const decided = [
      `SELECT events.* REPLACE (${aliases === 0 ? named : `coalesce(due_aliases.user_id, ${named})`} AS user_id) FROM events`,
      ...(moved === 0 ? [] : ['LEFT JOIN moved_rows ON moved_rows.row_id = events.rowid']),
      ...(aliases === 0
        ? []
        : [
            `LEFT JOIN due_aliases ON due_aliases.org_id = events.org_id AND due_aliases.day = events.day AND due_aliases.named_user_id = ${named}`,
          ]),
    ].join(' ');
    await this.run(`CREATE TEMP VIEW decided_events AS ${decided}`);
    await this.run(
      `CREATE TEMP VIEW counted_events AS ${decided} WHERE events.rowid NOT IN (SELECT row_id FROM shadowed_rows)`,
    );
  }

  /** Replaces the rows of user_sessions, and says where else their sessions are. */
  private async replaceSessions(): Promise<void> {
    await this.run(
      `CREATE OR REPLACE TEMP TABLE sessions_before AS
      SELECT org_id, day, user_id, session_id FROM user_sessions WHERE (org_id, day) IN (SELECT org_id, day FROM due)`,
    );
    await this.replace('user_sessions');
    await this.run(`INSERT INTO other_starts BY NAME ${readSql('build/other_starts.sql')}`);
  }

  private async replace(table: BuiltTable): Promise<void> {
    await this.run(`DELETE FROM ${table} WHERE (org_id, day) IN (SELECT org_id, day FROM due)`);
    // The first columns are the grain. In its order, a query of some days or users passes over the rest.
    const rows = await this.run(
      `INSERT INTO ${table} BY NAME SELECT * FROM (${this.daily(table)}) ORDER BY ALL`,
    );
    this.written.push(`(${quote(table)}, ${rows})`);
  }

  /** Computes the sums of the due days anew. */
  private async rollUp(): Promise<void> {
    const isMeant = `org_id IN (SELECT org_id FROM due) AND ${withinDays('day', this.days)}`;
    for (const { name, text, tables } of ROLL_UPS) {
      const rows = Object.fromEntries(
        tables.map((table) => [table, `SELECT * FROM ${table} WHERE ${isMeant}`]),
      );
      await this.run(`DELETE FROM ${name} WHERE ${isMeant}`);
      await this.run(`INSERT INTO ${name} BY NAME SELECT * FROM (${withSources(text, rows)}) ORDER BY ALL`);
    }
  }

  /** Records the inputs of the due days, and the restatements of the build. */
  private async note(batch: number, builtAt: number, definitions: string): Promise<void> {
    const isDue = 'WHERE (org_id, day) IN (SELECT org_id, day FROM due)';
    // The old inputs say why rows have changed, and when the day was built first.
    await this.run(`INSERT INTO restatements BY NAME ${readSql('build/restatements.sql')}`, {
      built_at: builtAt,
      definitions,
    });
    await this.run(`CREATE OR REPLACE TEMP TABLE built AS ${readSql('build/day_inputs.sql')}`, {
      batch,
      built_at: builtAt,
      definitions,
    });
    await this.run(`DELETE FROM day_inputs ${isDue}`);
    await this.run('INSERT INTO day_inputs BY NAME FROM built');
    await this.run(`DELETE FROM days ${isDue}`);
    await this.run('INSERT INTO days BY NAME SELECT org_id, day, batch, built_at, first_built_at FROM built');
    await this.run(`DELETE FROM digests ${isDue}`);
    await this.run('INSERT INTO digests BY NAME FROM fresh_digests');
    await this.run('INSERT INTO touches FROM fresh_touches');
    await this.run(`DELETE FROM touches ${isDue}`);
    await this.run(EMPTY_SCRATCH);
  }
}
