import { join } from 'node:path';
import { rmSync } from '../../disk/renames.js';
import type { Session } from '../duckdb-session.js';
import { findWithdrawn, noteWithdrawn, Remapper } from '../remapper.js';
import { Settler } from '../settler.js';
import { quote } from '../sql-text.js';
import type { Batch, Settled, Withdrawal } from '../store.js';
import { columnNames } from '../tables.js';
import type { Commit } from './clickhouse-builder.js';
import { beginAttempt } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';

const EVENTS = columnNames('events');
const BATCHES = columnNames('batches');
const ARRIVALS = columnNames('arrivals');
const REJECTS = columnNames('rejects');
const MENDED_LINES = columnNames('mended_lines');
const INGESTED_FILES = columnNames('ingested_files');
const USER_EMAILS = [...columnNames('user_emails'), 'batch'];

/** How many copies may have given way, and how many batches may be between, before hidden rows are taken out. */
const REMOVALS_AT_MOST = 10_000;
const BATCHES_BETWEEN = 1000;

/** The columns by which a usage repeats another: see sql/ingest/replays.sql. */
const MESSAGE_KEY = 'message_key(type, agent, event_id, request_id)';

/** Reads and checks a batch in DuckDB, beside those stored events that it may repeat. */
class Reader extends Settler {
  constructor(
    session: Session,
    folder: string,
    private readonly stored: ClickHouseSession,
  ) {
    super(session, folder, stored);
  }

  /** Empties the tables, but for the newest batch: the number after it is the one that is settled. */
  async clear(newest: number): Promise<void> {
    await this.session.transaction(async () => {
      for (const table of [
        'events',
        'rejects',
        'mended_lines',
        'arrivals',
        'user_emails',
        'batches',
        'day_inputs',
        'removed_days',
        'ingested_files',
      ])
        await this.session.run(`DELETE FROM ${table}`);
      await this.session.run("INSERT INTO batches VALUES ($newest, '', '', instant(0), 0, 0, 0, NULL)", {
        newest,
      });
    });
  }

  /** Sends the rows of a SELECT to a table of ClickHouse, and answers how many they are. */
  async send(select: string, table: string, columns: readonly string[]): Promise<number> {
    const path = join(this.folder, `rows-${table}.parquet`);
    try {
      const count = await this.session.run(`COPY (${select}) TO ${quote(path)} (FORMAT parquet)`);
      if (count > 0) await this.stored.upload(path, table, columns);
      return count;
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Fetches the rows of a SELECT from ClickHouse into a table. */
  private async fetch(select: string, table: string): Promise<void> {
    const path = join(this.folder, `rows-${table}.parquet`);
    try {
      await this.stored.download(select, {}, path);
      await this.session.run(`INSERT INTO ${table} BY NAME FROM read_parquet(${quote(path)})`);
    } finally {
      rmSync(path, { force: true });
    }
  }

  protected override async recallRejects(): Promise<void> {
    await this.stored.run('TRUNCATE TABLE incoming_rejects');
    await this.send('SELECT DISTINCT org_id, source FROM new_rejects', 'incoming_rejects', [
      'org_id',
      'source',
    ]);
    await this.fetch(
      'SELECT * FROM rejects WHERE (org_id, source) IN (SELECT org_id, source FROM incoming_rejects)',
      'rejects',
    );
  }

  protected override async recallMended(): Promise<void> {
    await this.stored.run('TRUNCATE TABLE incoming_rejects');
    await this.send('SELECT DISTINCT org_id, source FROM new_mended_lines', 'incoming_rejects', [
      'org_id',
      'source',
    ]);
    await this.fetch(
      'SELECT * FROM mended_lines WHERE (org_id, source) IN (SELECT org_id, source FROM incoming_rejects)',
      'mended_lines',
    );
  }

  protected override async recall(number: number): Promise<void> {
    await this.session.run('CREATE OR REPLACE TEMP TABLE recalled AS FROM events LIMIT 0');
    await this.stored.run('TRUNCATE TABLE incoming');
    await this.send(
      `SELECT DISTINCT
        org_id,
        day,
        event_id,
        user_id,
        ${MESSAGE_KEY} AS message_key
      FROM events WHERE batch = ${number}`,
      'incoming',
      ['org_id', 'day', 'event_id', 'user_id', 'message_key'],
    );
    // Of organizations whose first events these are, nothing is there.
    const known = await this.stored.select(
      'SELECT 1 AS known FROM arrivals_rows WHERE org_id IN (SELECT org_id FROM incoming) LIMIT 1',
    );
    if (known.length === 0) return;
    await this.fetch(
      'SELECT * FROM user_emails WHERE (org_id, user_id) IN (SELECT org_id, user_id FROM incoming)',
      'user_emails',
    );
    await this.fetch(
      'SELECT * FROM removed_days WHERE (org_id, day) IN (SELECT org_id, day FROM incoming)',
      'removed_days',
    );
    const [stored] = await this.stored.select(
      'SELECT count(*) AS events FROM events_rows WHERE (org_id, day) IN (SELECT org_id, day FROM incoming)',
    );
    if (Number(stored?.events) > 0) await this.recallEvents();
    await this.fetch(
      'SELECT * FROM day_inputs WHERE (org_id, day) IN (SELECT org_id, day FROM incoming)',
      'day_inputs',
    );
  }

  /** Fetches the stored events that files of a source gave, and the batches that brought them. */
  async recallOf({ orgId, source, userId, days }: Withdrawal): Promise<void> {
    const ofSource = `org_id = ${quote(orgId)} AND source = ${quote(source)}`;
    await this.fetch(`SELECT ${BATCHES.join(', ')} FROM batches_rows WHERE ${ofSource}`, 'batches');
    const isMeant =
      days === undefined
        ? `user_id = ${quote(userId)} AND channel = 'log'`
        : `day IN (${days.map(quote).join(', ')}) AND channel = 'vendor_api'`;
    await this.fetch(
      `SELECT ${EVENTS.join(', ')} FROM events
      WHERE org_id = ${quote(orgId)} AND ${isMeant}
        AND batch IN (SELECT batch FROM batches_rows WHERE ${ofSource})`,
      'events',
    );
  }

  private async recallEvents(): Promise<void> {
    const select = `SELECT ${EVENTS.join(', ')} FROM events WHERE org_id IN (SELECT org_id FROM incoming)`;
    const mayBeRepeated = `((org_id, day) IN (SELECT org_id, day FROM incoming) AND (${[
      '(org_id, day, event_id) IN (SELECT org_id, day, event_id FROM incoming)',
      `(org_id, day, ${MESSAGE_KEY}) IN (SELECT org_id, day, message_key FROM incoming WHERE message_key IS NOT NULL)`,
    ].join(' OR ')}))`;
    await this.fetch(`${select} AND ${mayBeRepeated}`, 'recalled');
    await this.session.run('INSERT INTO events FROM recalled');
    // Where an event that gave an e-mail is replaced, the newest other event with each e-mail of its user decides.
    await this.fetch(
      `${select} AND user_email IS NOT NULL AND NOT ${mayBeRepeated}
        AND (org_id, user_id) IN (
          SELECT org_id, user_id FROM events
          WHERE org_id IN (SELECT org_id FROM incoming) AND user_email IS NOT NULL AND ${mayBeRepeated}
        )
      ORDER BY occurred_at DESC
      LIMIT 1 BY org_id, user_id, user_email`,
      'events',
    );
  }
}

/**
 * Settles batches in ClickHouse: DuckDB reads and checks the lines and decides which copies stand, and the rows go on as
 * Parquet files. They are there before they count: the batch's row in `batches`, which comes last, makes them.
 */
export class ClickHouseSettler {
  private readonly reader: Reader;
  private readonly remapper: Remapper;
  /** The batch that the reader's tables were emptied for last, as long as nothing came into them. */
  private cleared: number | undefined;

  constructor(
    private readonly session: ClickHouseSession,
    private readonly staging: Session,
    folder: string,
  ) {
    this.reader = new Reader(staging, folder, session);
    this.remapper = new Remapper(staging, folder, session);
  }

  /** Settles a batch as Store promises. */
  async settle(
    batch: Batch,
    progress: ((share: number) => void) | undefined,
    commit: Commit,
  ): Promise<Settled> {
    const number = await beginAttempt(this.session, 'batch');
    const { reader } = this;
    if (this.cleared !== number - 1) await reader.clear(number - 1);
    this.cleared = undefined;
    const settled = await reader.settle(batch, progress);
    await reader.send(
      `SELECT ${EVENTS.join(', ')} FROM events WHERE batch = ${number}`,
      'events_rows',
      EVENTS,
    );
    const removals = await reader.send(
      `SELECT org_id, day, event_id, batch, CAST(${number} AS BIGINT) AS removed_by FROM recalled
      WHERE (org_id, day, event_id, batch) NOT IN (SELECT org_id, day, event_id, batch FROM events)`,
      'removals',
      ['org_id', 'day', 'event_id', 'batch', 'removed_by'],
    );
    await reader.send(`FROM rejects WHERE batch = ${number}`, 'rejects_rows', REJECTS);
    await reader.send(`FROM mended_lines WHERE batch = ${number}`, 'mended_lines_rows', MENDED_LINES);
    await reader.send('FROM arrivals', 'arrivals_rows', ARRIVALS);
    await reader.send(
      `SELECT org_id, user_id, coalesce(user_email, '') AS user_email, coalesce(seen_at, instant(0)) AS seen_at,
        CAST(${number} AS BIGINT) AS batch
      FROM new_emails`,
      'user_emails_rows',
      USER_EMAILS,
    );
    await reader.send('FROM ingested_files', 'ingested_files_rows', INGESTED_FILES);
    await commit(async () => {
      await reader.send(`FROM batches WHERE batch = ${number}`, 'batches_rows', BATCHES);
    });
    await reader.clear(number);
    this.cleared = number;
    if (removals > 0 || number % BATCHES_BETWEEN === 0) await this.tidy(number);
    return settled;
  }

  /** Notes what a batch gives, as Store promises. */
  remap(batch: Batch, progress: ((share: number) => void) | undefined): Promise<Settled> {
    this.reader.forget();
    return this.remapper.settle(batch, progress);
  }

  /** Withdraws events as Store promises. */
  async withdraw(withdrawal: Withdrawal, commit: Commit): Promise<number> {
    const number = await beginAttempt(this.session, 'batch');
    const { reader, staging } = this;
    await reader.clear(number - 1);
    this.cleared = undefined;
    await reader.recallOf(withdrawal);
    const found = await staging.transaction(async () => {
      const events = await findWithdrawn(staging, withdrawal);
      await noteWithdrawn(staging, number, withdrawal);
      return events;
    });
    if (found > 0) {
      await reader.send(
        `SELECT org_id, day, event_id, batch, CAST(${number} AS BIGINT) AS removed_by FROM withdrawn`,
        'removals',
        ['org_id', 'day', 'event_id', 'batch', 'removed_by'],
      );
      await reader.send(`FROM arrivals WHERE batch = ${number}`, 'arrivals_rows', ARRIVALS);
      await commit(async () => {
        await reader.send(`FROM batches WHERE batch = ${number}`, 'batches_rows', BATCHES);
      });
    }
    await reader.clear(found > 0 ? number : number - 1);
    return found;
  }

  /**
   * Takes out rows that no view shows any more: now and then, or when there are many copies that gave way. Nobody sees a
   * difference, so it can be cut off anywhere.
   */
  private async tidy(batch: number): Promise<void> {
    const { session } = this;
    const [hidden] = await session.select('SELECT count(*) AS rows FROM removals');
    if (Number(hidden?.rows) <= REMOVALS_AT_MOST && batch % BATCHES_BETWEEN !== 0) return;
    const isAbandoned = "IN (SELECT number FROM abandoned WHERE kind = 'batch')";
    const counts = `removed_by <= ${batch} AND removed_by NOT ${isAbandoned}`;
    await session.run(
      `DELETE FROM events_rows WHERE batch ${isAbandoned} OR (org_id, day, event_id, batch) IN (
        SELECT org_id, day, event_id, batch FROM removals WHERE ${counts}
      )`,
    );
    await session.run(`DELETE FROM removals WHERE removed_by <= ${batch}`);
    for (const table of ['arrivals_rows', 'rejects_rows', 'mended_lines_rows', 'ingested_files_rows'])
      await session.run(`DELETE FROM ${table} WHERE batch ${isAbandoned}`);
    await session.run(
      `DELETE FROM user_emails_rows WHERE (org_id, user_id, batch) NOT IN (
        SELECT org_id, user_id, max(batch) FROM user_emails_rows WHERE batch NOT ${isAbandoned} GROUP BY org_id, user_id
      )`,
    );
    for (const table of ['digests_rows', 'day_inputs_rows']) {
      await session.run(
        `DELETE FROM ${table} WHERE (org_id, day, build) NOT IN (
          SELECT org_id, day, max(build) FROM ${table} WHERE build NOT IN (SELECT number FROM abandoned WHERE kind = 'build') GROUP BY org_id, day
        )`,
      );
    }
    await session.run(
      'DELETE FROM days_rows WHERE (org_id, day, version) NOT IN (SELECT org_id, day, version FROM newest_days)',
    );
  }
}
