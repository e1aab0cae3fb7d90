import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Day } from '../day.js';
import { rmSync } from '../disk/renames.js';
import { bytesOf } from './database-size.js';
import type { Session } from './duckdb-session.js';
import { isCompressed, isWhole, numberLines } from './line-numbers.js';
import { nameRepos } from './repo-names.js';
import {
  CHECKED_LINES,
  countFromZero,
  defineSource,
  isMendable,
  limitOf,
  overLines,
  PLACES_OF_A_LINE,
  readFiles,
  readLines,
  readNumbered,
  readSideFiles,
  replaceLines,
  unitOf,
  unreadOf,
} from './source-sql.js';
import { quote, readSql, withinDays } from './sql-text.js';
import { type Refusal, refusalOf } from './state/erased-names.js';
import {
  type Batch,
  type BatchFile,
  EXAMPLES,
  newestBatch,
  type Settled,
  type SourceSql,
  type Store,
} from './store.js';
import { StoreOutOfMemory } from './store-fault.js';
import { columnNames, EVENT_ORDER } from './tables.js';

/** How many lines are no JSON, and how many events break a rule. */
interface Faults {
  readonly lines: number;
  readonly events: number;
}

export type Rejects = Pick<Settled, 'rejected' | 'byReason' | 'examples' | 'mended'>;

const NO_REJECTS: Rejects = { rejected: 0, byReason: {}, examples: [], mended: 0 };

/** The columns of `events` that a line fills, in the table's order. */
const EVENT_COLUMNS = columnNames('events')
  .filter((name) => name !== 'batch')
  .join(', ');

/** A file under the name that its lines carry: its index in the batch, since a text on each line takes time. */
interface IndexedFile extends BatchFile {
  readonly source: number;
  readonly unit: SourceSql['unit'];
}

function orNull(text: string | undefined): string {
  return text === undefined ? 'NULL' : quote(text);
}

/** The SELECT that answers the rows of `batch_files`. */
function indexOf(files: readonly IndexedFile[]): string {
  const rows = files.map(
    ({ source, unit, name, orgId, userId, receivedAt, state }) =>
      `(${source}, ${quote(unit)}, ${quote(name)}, ${quote(orgId)}, ${orNull(userId)}, make_timestamp_ms(${receivedAt}), ${orNull(state)})`,
  );
  return `SELECT source, unit, name, org_id, CAST(file_user_id AS VARCHAR) AS file_user_id, received_at, CAST(state AS VARCHAR) AS state
    FROM (VALUES ${rows.join(', ')}) AS file (source, unit, name, org_id, file_user_id, received_at, state)`;
}

/** Errors of the zstd library (ZSTD_getErrorString), which DuckDB passes on without naming the file. */
const ZSTD_ERRORS =
  /frame descriptor|data corruption detected|doesn't match checksum|doesn't respect format|dictionary (mismatch|is corrupted)|src size is incorrect|destination buffer is too small|unsupported (frame )?parameter|version not supported|too much memory for decoding/i;

function isZstdError(error: unknown): boolean {
  return error instanceof Error && ZSTD_ERRORS.test(error.message);
}

/** The reader gives up on a whole file when a line is too long, or when a compressed file isn't what its name says. */
export function isReadError(error: unknown): boolean {
  return (
    isZstdError(error) ||
    (error instanceof Error &&
      /maximum_object_size|gzip|zstd|malformed|invalid input error/i.test(error.message))
  );
}

/** Batches of more bytes aren't sorted: it would take many times as much room for temporary files. */
const SORTED_BYTES = 1 << 30;

/** Whether a file of the data folder is one that a settle writes and removes: numbered lines, rows on their way elsewhere; or that a pull does. */
export function isSpool(file: string): boolean {
  return /^((lines|pulled)-\d+(-\d+)?\.tmp|rows-\w+\.parquet)$/.test(file);
}

/** Whether a file can't be read as it is: of compressed ones the reader takes one that was cut off for whole. */
async function isUnreadable(file: BatchFile, source: SourceSql): Promise<boolean> {
  const { path, unit = unitOf(source, path) } = file;
  return unit === 'document'
    ? isCompressed(path) || statSync(path).size > limitOf(source)
    : isCompressed(path) && !(file.isWhole ?? (await isWhole(path)));
}

/** Numbering the lines found other faults than reading them at speed: a byte order mark, or a file that has changed since. */
class Misread extends Error {}

/** Settles batches in DuckDB: one at a time, on one connection. */
export class Settler {
  /** The source for which the queries over lines are defined. */
  protected defined: SourceSql | undefined;
  /** How events of erased people are refused, if an organization of the batch has erased anybody. */
  private refusal: Refusal | undefined;
  /** The columns of `events` that a line fills. */
  protected readonly columns: string = EVENT_COLUMNS;
  /** Where its events go. */
  protected readonly table: string = 'events';
  /** Whether lines with a fault are kept with their place and reason, or only counted. */
  protected readonly keepsRejects: boolean = true;

  /** `store` has the names of erased people, where they are kept elsewhere. */
  constructor(
    protected readonly session: Session,
    protected readonly folder: string,
    private readonly store: Pick<Store, 'select'> = session,
  ) {}

  /** Defines the source again with the next batch, because somebody else has used the connection for another. */
  forget(): void {
    this.defined = undefined;
  }

  /** Puts the stored rejects that the new ones may repeat beside them, where they are kept elsewhere. */
  protected async recallRejects(): Promise<void> {}

  /** Puts the stored mended lines that the new ones may repeat beside them, where they are kept elsewhere. */
  protected async recallMended(): Promise<void> {}

  /** Puts the stored events that the batch may repeat beside its own, where they are kept elsewhere. */
  protected async recall(_number: number): Promise<void> {}

  /** Does all of a batch's work, or nothing when it throws. */
  protected async whole<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.session.transaction(work);
    } catch (error) {
      // With the transaction they are gone.
      this.defined = undefined;
      throw error;
    }
  }

  /** Settles a batch as Store promises. The files are read as they are; only those with faults are read again, numbered. */
  async settle(batch: Batch, progress: (share: number) => void = () => {}): Promise<Settled> {
    const watch = setInterval(
      () => progress(Math.max(0, this.session.connection.progress.percentage) / 100),
      200,
    );
    try {
      for (const file of batch.files)
        if (await isUnreadable(file, batch.source)) return await this.settleNumbered(batch);
      return await this.settleSorted(batch);
    } catch (error) {
      if (batch.source.isChecked === true || (!(error instanceof Misread) && !isReadError(error)))
        throw error;
      return await this.settleNumbered(batch);
    } finally {
      clearInterval(watch);
    }
  }

  /** Settles a batch in the order of events, unless there is too little memory, or room for temporary files, to sort it. */
  private async settleSorted(batch: Batch): Promise<Settled> {
    const isSorted = bytesOf(batch.files) <= SORTED_BYTES;
    try {
      return await this.whole(() => this.attempt(batch, { isSorted }));
    } catch (error) {
      if (!isSorted || !(error instanceof StoreOutOfMemory)) throw error;
      return this.whole(() => this.attempt(batch));
    }
  }

  /** Settles a batch of which a file can't be read as it is. */
  private async settleNumbered(batch: Batch): Promise<Settled> {
    const files: (BatchFile & { isDamaged: boolean })[] = [];
    for (const file of batch.files)
      files.push({ ...file, isDamaged: await this.isCorrupt(file, batch.source) });
    return this.whole(() => this.attempt({ ...batch, files }, { isNumbered: true }));
  }

  /**
   * Whether a zstd file whose frames are complete has other content than was packed. The library that lines are numbered with
   * checks no checksum, and takes some damaged blocks.
   */
  private async isCorrupt({ path }: BatchFile, source: SourceSql): Promise<boolean> {
    if (!path.endsWith('.zst') || !(await isWhole(path))) return false;
    try {
      await this.session.select(
        `SELECT count(*) FROM (${readFiles(source, [{ path, source: 0, unit: 'line' }])})`,
      );
      return false;
    } catch (error) {
      if (!isReadError(error)) throw error;
      return isZstdError(error);
    }
  }

  private async attempt(batch: Batch, { isNumbered = false, isSorted = false } = {}): Promise<Settled> {
    const { session } = this;
    const { source } = batch;
    const number = (await newestBatch(session)) + 1;
    await session.run(`SET VARIABLE batch = ${number}`);
    const spool = join(this.folder, `lines-${process.pid}.tmp`);
    try {
      await this.refuse(batch);
      const files = batch.files.map((file, index) => ({
        ...file,
        name: this.refusal?.withoutNames(file.orgId, file.name) ?? file.name,
        source: index,
        unit: file.unit ?? unitOf(source, file.path),
      }));
      await session.run(`CREATE OR REPLACE TEMP TABLE batch_files AS ${indexOf(files)}`);
      await readSideFiles(session, source, files);
      const mends = isMendable(source);
      const numberThem = (some: readonly IndexedFile[]) =>
        numberLines(
          some.map((file) => ({ ...file, mends })),
          spool,
          limitOf(source),
        );
      const order = isSorted ? `ORDER BY ${EVENT_ORDER.join(', ')}` : '';
      let longest = isNumbered ? await numberThem(files) : 0;
      const all = isNumbered ? readLines(source, readNumbered(spool, longest)) : readFiles(source, files);
      let inserted = await this.insert(source, all, order);
      let faults = await this.faults();
      const isLookedAt = this.keepsRejects || (mends && faults.lines > 0);
      const suspects = !isLookedAt ? [] : isNumbered ? files : await this.suspects(source, files, faults);
      await session.run(`
        CREATE OR REPLACE TEMP TABLE new_rejects AS FROM rejects LIMIT 0;
        CREATE OR REPLACE TEMP TABLE new_mended_lines AS FROM mended_lines LIMIT 0`);
      let rejects: Rejects = { ...NO_REJECTS, rejected: faults.lines + faults.events };
      if (suspects.length > 0) {
        if (!isNumbered && source.isChecked !== true) longest = await numberThem(suspects);
        const numbered = source.isChecked === true ? CHECKED_LINES : readNumbered(spool, longest);
        const mended = mends ? await this.mended(numbered) : 0;
        if (mended > 0 && !isNumbered) {
          // Once more with the mended files: what a line means can depend on the others of its file.
          await session.run(`DELETE FROM ${this.table} WHERE batch = ${number}`);
          const others = files.filter((file) => !suspects.includes(file));
          const lines = [
            ...(others.length > 0 ? [readFiles(source, others)] : []),
            readLines(source, numbered),
          ];
          inserted = await this.insert(source, lines.join(' UNION ALL '), order);
          faults = await this.faults();
        }
        if (source.isChecked !== true) await replaceLines(session, readLines(source, numbered));
        rejects = this.keepsRejects
          ? await this.reject(source, numbered, faults)
          : { ...NO_REJECTS, rejected: faults.lines + faults.events };
        rejects = { ...rejects, mended };
      }
      if (batch.checkoutOf !== undefined) await nameRepos(session, batch.checkoutOf);
      return await this.finish(batch, number, inserted, rejects);
    } finally {
      rmSync(spool, { force: true });
    }
  }

  /** Finds out how to refuse the events of people who were erased. */
  protected async refuse({ files }: Batch): Promise<void> {
    const refusal = await refusalOf(
      this.store,
      files.map(({ orgId }) => orgId),
    );
    if (refusal?.condition !== this.refusal?.condition) this.defined = undefined;
    this.refusal = refusal;
  }

  /** Inserts the events without a fault, and answers how many. */
  private async insert(source: SourceSql, lines: string, order: string): Promise<number> {
    const { session } = this;
    if (this.defined === source) {
      await replaceLines(session, lines);
      await countFromZero(session);
    } else {
      await defineSource(session, source, lines, this.refusal?.condition);
      this.defined = source;
    }
    // Rejected lines are counted on the way, so that lines are read once.
    return overLines(session, () =>
      session.run(
        `INSERT INTO ${this.table} (${this.columns}, batch) SELECT ${this.columns}, getvariable('batch') FROM checked
        WHERE CASE WHEN fault IS NULL THEN true ELSE nextval('faulty_events') < 0 END
        ${order}`,
      ),
    );
  }

  /** How many lines and events were left out. */
  private async faults(): Promise<Faults> {
    const [left] = await this.session.select(
      "SELECT nextval('unread_lines') AS lines, nextval('faulty_events') AS events",
    );
    return { lines: Number(left?.lines), events: Number(left?.events) };
  }

  /** How many lines were mended, of those that are numbered. */
  private async mended(numbered: string): Promise<number> {
    const [row] = await this.session.select(
      `SELECT count(DISTINCT (source, line_no // ${PLACES_OF_A_LINE})) AS lines FROM (${numbered}) WHERE is_mended`,
    );
    return Number(row?.lines);
  }

  /** The files that have a line with a fault. */
  private async suspects(
    source: SourceSql,
    files: readonly IndexedFile[],
    faults: Faults,
  ): Promise<readonly IndexedFile[]> {
    if (files.length === 1) return faults.lines + faults.events > 0 ? files : [];
    const found: string[] = [];
    if (faults.lines > 0) found.push(unreadOf(source));
    if (faults.events > 0) found.push('SELECT source FROM checked WHERE fault IS NOT NULL');
    if (found.length === 0) return [];
    const rows = await overLines(this.session, () =>
      this.session.select(`SELECT DISTINCT source FROM (${found.join(' UNION ALL ')}) ORDER BY source`),
    );
    return rows.flatMap((row) => files[Number(row.source)] ?? []);
  }

  /**
   * Keeps the lines with a fault, of those that are numbered and in `lines`, and counts them by reason. Throws Misread
   * when their faults aren't as many as were found before.
   */
  private async reject(source: SourceSql, numbered: string, found: Faults): Promise<Rejects> {
    const { session } = this;
    await session.run(`CREATE OR REPLACE TEMP VIEW sentences AS ${readSql('ingest/sentences.sql')}`);
    await session.run(`
      SET VARIABLE keeps_text = ${source.keepsText === true && this.refusal === undefined};
      SET VARIABLE limit_mb = ${source.limitMb};
      SET VARIABLE places = ${source.isChecked === true ? 1 : PLACES_OF_A_LINE}`);
    await countFromZero(session);
    await overLines(session, async () => {
      await session.run(
        'CREATE OR REPLACE TEMP TABLE faults AS SELECT source, line_no, fault, day FROM checked WHERE fault IS NOT NULL',
      );
      await session.run(`CREATE OR REPLACE TEMP VIEW numbered AS ${numbered}`);
      await session.run(`CREATE OR REPLACE TEMP TABLE new_rejects AS ${readSql('ingest/rejects.sql')}`);
    });
    const [faults] = await session.select(
      "SELECT nextval('unread_lines') AS lines, count(*) AS events FROM faults",
    );
    if (Number(faults?.lines) !== found.lines || Number(faults?.events) !== found.events) throw new Misread();
    await this.keepMended(source);
    await this.recallRejects();
    // A line that was rejected before, and stands where it stood, is not another one.
    await session.run(`
      INSERT INTO rejects BY NAME
      SELECT *
      FROM new_rejects
      WHERE NOT EXISTS (
        SELECT 1
        FROM rejects
        WHERE rejects.org_id = new_rejects.org_id
          AND rejects.source = new_rejects.source
          AND rejects.line_no = new_rejects.line_no
          AND rejects.reason = new_rejects.reason
          AND rejects.line IS NOT DISTINCT FROM new_rejects.line
      )`);
    const rows = await session.select(
      'SELECT reason, count(*) AS lines FROM new_rejects GROUP BY reason ORDER BY reason',
    );
    const examples = await session.select(
      `SELECT source, line_no, reason, detail FROM new_rejects ORDER BY source, line_no LIMIT ${EXAMPLES}`,
    );
    return {
      rejected: rows.reduce((sum, { lines }) => sum + Number(lines), 0),
      mended: 0,
      byReason: Object.fromEntries(rows.map(({ reason, lines }) => [String(reason), Number(lines)])),
      examples: examples.map(({ source, line_no, reason, detail }) => ({
        source: String(source),
        line_no: Number(line_no),
        reason: String(reason),
        detail: String(detail),
      })),
    };
  }

  /** Keeps the lines that were mended, of those that are in `numbered` and `lines`. */
  private async keepMended(source: SourceSql): Promise<void> {
    if (!isMendable(source)) return;
    const { session } = this;
    await overLines(session, async () => {
      await session.run(
        `CREATE OR REPLACE TEMP TABLE line_days AS
        SELECT source, line_no, min(day) AS day FROM checked WHERE fault IS NULL AND line_no % ${PLACES_OF_A_LINE} > 0 GROUP BY ALL`,
      );
      await session.run(
        `CREATE OR REPLACE TEMP TABLE new_mended_lines AS ${readSql('ingest/mended_lines.sql')}`,
      );
    });
    await this.recallMended();
    // A line that was mended before, and stands where it stood, is not another one.
    await session.run(
      `INSERT INTO mended_lines BY NAME
      FROM new_mended_lines
      WHERE (org_id, source, line_no) NOT IN (SELECT org_id, source, line_no FROM mended_lines)`,
    );
  }

  /** Removes losing copies, records the arrivals of each day, and updates the e-mails. */
  protected async finish(batch: Batch, number: number, inserted: number, rejects: Rejects): Promise<Settled> {
    const { session } = this;
    await this.recall(number);
    await this.nameDays();
    const late = await this.takeOut('too_late');
    // A table, since the engine knows how few rows one has.
    await session.run(`CREATE OR REPLACE TEMP TABLE crowded_keys AS ${readSql('ingest/crowded_keys.sql')}`);
    let duplicates = late + (await this.takeOut('losers'));
    if (late > 0) await session.run('INSERT INTO losers FROM too_late');
    const replays = await this.takeOut('replays');
    if (replays > 0) await session.run('INSERT INTO losers FROM replays');
    duplicates += replays;
    await session.run(`INSERT INTO arrivals BY NAME ${readSql('ingest/arrivals.sql')}`);
    await session.run(`CREATE OR REPLACE TEMP TABLE new_emails AS ${readSql('ingest/user_emails.sql')}`);
    await session.run(
      'DELETE FROM user_emails WHERE (org_id, user_id) IN (SELECT org_id, user_id FROM new_emails)',
    );
    await session.run('INSERT INTO user_emails BY NAME FROM new_emails WHERE user_email IS NOT NULL');
    await session.run(`INSERT INTO batches BY NAME ${readSql('ingest/batches.sql')}`, {
      source: batch.source.name,
      settled_at: batch.settledAt,
      token: batch.token ?? null,
    });
    if (batch.files.some(({ state }) => state !== undefined)) await this.remember(batch.source);
    return { accepted: inserted - duplicates, duplicates, ...rejects, leftOut: [] };
  }

  /** Makes is_batch_day of the days of the batch: only by constants does the engine pass over the rows of other days. */
  private async nameDays(): Promise<void> {
    const rows = await this.session.select(
      "SELECT DISTINCT day FROM events WHERE batch = getvariable('batch')",
    );
    const days = rows.map(({ day }) => day as Day);
    await this.session.run(`CREATE OR REPLACE TEMP MACRO is_batch_day(day) AS ${withinDays('day', days)}`);
  }

  /** Notes the state of files, so that they aren't read again as long as they have it. */
  private async remember({ name }: SourceSql): Promise<void> {
    const { session } = this;
    await session.run(`CREATE OR REPLACE TEMP TABLE read_files AS ${readSql('ingest/ingested_files.sql')}`, {
      source: name,
    });
    await session.run(
      `DELETE FROM ingested_files
      WHERE (org_id, source, user_id, path) IN (SELECT org_id, source, user_id, path FROM read_files)`,
    );
    await session.run('INSERT INTO ingested_files BY NAME FROM read_files');
  }

  /** Removes the events that a query of sql/ingest finds, keeps its rows in a table of its name, and returns their number. */
  private async takeOut(name: 'losers' | 'replays' | 'too_late'): Promise<number> {
    const { session } = this;
    await session.run(`CREATE OR REPLACE TEMP TABLE ${name} AS ${readSql(`ingest/${name}.sql`)}`);
    return session.run(`DELETE FROM events WHERE rowid IN (SELECT row_id FROM ${name})`);
  }
}
