import { join } from 'node:path';
import { rmSync } from '../../disk/renames.js';
import type { Session } from '../duckdb-session.js';
import { findWithdrawn, noteWithdrawn, Remapper } from '../remapper.js';
import { Settler } from '../settler.js';
import { quote } from '../sql-text.js';
import type { Batch, Settled, Store, Withdrawal } from '../store.js';
import { columnNames } from '../tables.js';
import type { Commit } from './clickhouse-builder.js';
import { rowsOf, SETTLE_SCRATCH, viewQueries } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { takeOutHidden } from './hidden-rows.js';
import type { Attempt, Ledger } from './ledger.js';
import { dropScratch } from './leftovers.js';
import { Names } from './names.js';
import type { Replicas } from './replicas.js';

const EVENTS = columnNames('events');
const BATCHES = columnNames('batches');
const ARRIVALS = columnNames('arrivals');
const REJECTS = columnNames('rejects');
const MENDED_LINES = columnNames('mended_lines');
const INGESTED_FILES = columnNames('ingested_files');
const REMOVALS = ['org_id', 'day', 'event_id', 'batch', 'removed_by'];
const USER_EMAILS = [...columnNames('user_emails'), 'batch'];

/** How many batches may be between, before hidden rows are taken out. */
const BATCHES_BETWEEN = 1000;

/** The columns by which a usage repeats another: see sql/ingest/replays.sql. */
const MESSAGE_KEY = 'message_key(type, agent, event_id, request_id)';

/** Reads and checks a batch in DuckDB, beside those stored events that it may repeat. */
class Reader extends Settler {
  /** Asks as the attempt does, which sees its own rows of scratch tables. */
  private stored: ClickHouseSession;
  /** The number of the attempt. */
  private number = 0;
  /** Whether it has written to scratch tables. */
  private isScratched = false;

  constructor(
    session: Session,
    folder: string,
    private server: ClickHouseSession,
    /** Where state is asked for. */
    state: Pick<Store, 'select'>,
  ) {
    super(session, folder, state);
    this.stored = server;
  }

  /** Reads and writes for an attempt from now on, all of it at one server. */
  begin({ number, counted }: Attempt, server: ClickHouseSession): void {
    this.number = number;
    this.server = server;
    const scratch: readonly string[] = SETTLE_SCRATCH;
    const names = new Names(viewQueries(), counted, (name) =>
      scratch.includes(name) ? `SELECT * FROM ${rowsOf(name)} WHERE batch = ${number}` : undefined,
    );
    this.stored = this.server.naming(names);
  }

  /** Drops what the attempt has written for itself alone. */
  async end(attempt: Attempt): Promise<void> {
    if (!this.isScratched) return;
    this.isScratched = false;
    await dropScratch(this.server, attempt);
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

  /** Sends the keys that the attempt asks by, to a scratch table. */
  private async ask(select: string, table: (typeof SETTLE_SCRATCH)[number], columns: readonly string[]) {
    this.isScratched = true;
    const rows = `SELECT *, CAST(${this.number} AS BIGINT) AS batch FROM (${select})`;
    await this.send(rows, rowsOf(table), [...columns, 'batch']);
  }

  protected override async recallRejects(): Promise<void> {
    await this.ask('SELECT DISTINCT org_id, source FROM new_rejects', 'incoming_rejects', [
      'org_id',
      'source',
    ]);
    await this.fetch(
      'SELECT * FROM rejects WHERE (org_id, source) IN (SELECT org_id, source FROM incoming_rejects)',
      'rejects',
    );
  }

  protected override async recallMended(): Promise<void> {
    await this.ask('SELECT DISTINCT org_id, source FROM new_mended_lines', 'incoming_rejects', [
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
    await this.ask(
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
    await this.fetch(`SELECT ${BATCHES.join(', ')} FROM batches WHERE ${ofSource}`, 'batches');
    const isMeant =
      days === undefined
        ? `user_id = ${quote(userId)} AND channel = 'log'`
        : `day IN (${days.map(quote).join(', ')}) AND channel = 'vendor_api'`;
    await this.fetch(
      `SELECT ${EVENTS.join(', ')} FROM events
      WHERE org_id = ${quote(orgId)} AND ${isMeant}
        AND batch IN (SELECT batch FROM batches WHERE ${ofSource})`,
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
 * Parquet files. They are there before they count: the last step of the attempt makes all of them count at once.
 */
export class ClickHouseSettler {
  private readonly reader: Reader;
  private readonly remapper: Remapper;
  /** The batch that the reader's tables were emptied for last, as long as nothing came into them. */
  private cleared: number | undefined;

  constructor(
    private session: ClickHouseSession,
    private readonly replicas: Replicas,
    private readonly ledger: Ledger,
    private readonly staging: Session,
    folder: string,
    state: Pick<Store, 'select'>,
  ) {
    this.reader = new Reader(staging, folder, session, state);
    this.remapper = new Remapper(staging, folder, state);
  }

  /** Settles a batch of one group as Store promises. */
  async settle(
    batch: Batch,
    group: number,
    progress: ((share: number) => void) | undefined,
    commit: Commit,
  ): Promise<Settled> {
    const attempt = await this.begin(group);
    const { number } = attempt;
    const { reader } = this;
    const settled = await reader.settle(batch, progress);
    const sent = new Map<string, number>();
    const send = async (select: string, table: string, columns: readonly string[]) => {
      sent.set(table, await reader.send(select, rowsOf(table), columns));
    };
    await send(`SELECT ${EVENTS.join(', ')} FROM events WHERE batch = ${number}`, 'events', EVENTS);
    await send(
      `SELECT org_id, day, event_id, batch, CAST(${number} AS BIGINT) AS removed_by FROM recalled
      WHERE (org_id, day, event_id, batch) NOT IN (SELECT org_id, day, event_id, batch FROM events)`,
      'removals',
      REMOVALS,
    );
    await send(`FROM rejects WHERE batch = ${number}`, 'rejects', REJECTS);
    await send(`FROM mended_lines WHERE batch = ${number}`, 'mended_lines', MENDED_LINES);
    await send('FROM arrivals', 'arrivals', ARRIVALS);
    await send(
      `SELECT org_id, user_id, coalesce(user_email, '') AS user_email, coalesce(seen_at, instant(0)) AS seen_at,
        CAST(${number} AS BIGINT) AS batch
      FROM new_emails`,
      'user_emails',
      USER_EMAILS,
    );
    // Not among the rows that have to be there: the newest row of a file takes the place of earlier ones at any time.
    await reader.send('FROM ingested_files', rowsOf('ingested_files'), INGESTED_FILES);
    await this.finish(attempt, sent, commit);
    const isDue = (number / this.ledger.step) % BATCHES_BETWEEN < 1;
    if (!isDue && sent.get('removals') === 0) return settled;
    const { session, ledger } = this;
    if (await takeOutHidden(session, attempt, await ledger.past(attempt), isDue)) await ledger.forget(group);
    return settled;
  }

  /** Begins an attempt, with empty tables. */
  private async begin(group: number): Promise<Attempt> {
    const attempt = await this.ledger.begin('batch', group);
    const { reader } = this;
    if (this.cleared !== attempt.number - 1) await reader.clear(attempt.number - 1);
    this.cleared = undefined;
    this.session = await this.replicas.having(attempt.counted);
    reader.begin(attempt, this.session);
    return attempt;
  }

  /** Makes an attempt count that has sent so many rows to tables, and ends it. */
  private async finish(attempt: Attempt, sent: Map<string, number>, commit: Commit): Promise<void> {
    const { reader, ledger } = this;
    const { number } = attempt;
    const batches = `FROM batches WHERE batch = ${number}`;
    await commit(() =>
      ledger.commit(attempt, {
        row: async () => {
          sent.set('batches', await reader.send(batches, rowsOf('batches'), BATCHES));
        },
        written: async () => sent,
      }),
    );
    await reader.end(attempt);
    await reader.clear(number);
    this.cleared = number;
  }

  /** Notes what a batch gives, as Store promises. */
  remap(batch: Batch, progress: ((share: number) => void) | undefined): Promise<Settled> {
    this.reader.forget();
    return this.remapper.settle(batch, progress);
  }

  /** Withdraws events as Store promises. */
  async withdraw(withdrawal: Withdrawal, group: number, commit: Commit): Promise<number> {
    const attempt = await this.begin(group);
    const { number } = attempt;
    const { reader, staging } = this;
    await reader.recallOf(withdrawal);
    const found = await staging.transaction(async () => {
      const events = await findWithdrawn(staging, withdrawal);
      await noteWithdrawn(staging, number, withdrawal);
      return events;
    });
    if (found === 0) {
      await reader.clear(number - 1);
      return 0;
    }
    const removals = await reader.send(
      `SELECT org_id, day, event_id, batch, CAST(${number} AS BIGINT) AS removed_by FROM withdrawn`,
      'removals',
      REMOVALS,
    );
    const arrivals = await reader.send(`FROM arrivals WHERE batch = ${number}`, rowsOf('arrivals'), ARRIVALS);
    await this.finish(
      attempt,
      new Map([
        ['removals', removals],
        ['arrivals', arrivals],
      ]),
      commit,
    );
    return found;
  }
}
