import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isCompressed, isWhole, numberLines } from '../ingest/number.js';
import type { Session } from './duckdb.js';
import { patternOf, quote, readSql } from './sql.js';
import { type Batch, type BatchFile, EXAMPLES, type Format, newestBatch, type Settled } from './store.js';
import { rawColumns } from './table-text.js';

type Rejects = Pick<Settled, 'rejected' | 'byReason' | 'examples'>;

const NO_REJECTS: Rejects = { rejected: 0, byReason: {}, examples: [] };

/** Lines longer than this are rejected (events.md): bytes. The reader itself needs room for a little more. */
export const LINE_LIMIT: Record<Format, number> = { canonical: 1 << 20, 'claude-code': 64 << 20 };

/** The columns of `events` that a line fills, in the table's order. */
const EVENT_COLUMNS = rawColumns('events')
  .filter((name) => name !== 'batch')
  .join(', ');

/**
 * The optimizers that lines are read without: they copy the rules into every column and filter that use them, so that a line is
 * parsed many times.
 */
const HARMFUL_OPTIMIZERS = ['filter_pushdown', 'expression_rewriter'];

/** Those that find nothing to do in it as well: to plan with them takes longer than to read a small batch. */
const USELESS_OPTIMIZERS = [
  ...HARMFUL_OPTIMIZERS,
  'statistics_propagation',
  'in_clause',
  'reorder_filter',
  'common_subplan',
  'join_order',
  'duplicate_groups',
  'column_lifetime',
  'join_elimination',
  'build_side_probe_side',
  'join_filter_pushdown',
];

/** Up to here a batch is small: bytes. */
const SMALL_BYTES = 1 << 20;

/** A JSON document that lists members and their DuckDB types, as claude-code.json. */
type Structure = string | [Structure] | { [member: string]: Structure };

function typeOf(structure: Structure): string {
  if (typeof structure === 'string') return structure;
  if (Array.isArray(structure)) return `${typeOf(structure[0])}[]`;
  const members = Object.entries(structure).map(([name, type]) => `"${name}" ${typeOf(type)}`);
  return `STRUCT(${members.join(', ')})`;
}

const TRANSCRIPT_STRUCTURE = readSql('ingest/claude-code.json');
const TRANSCRIPT_COLUMNS = Object.entries(JSON.parse(TRANSCRIPT_STRUCTURE) as Record<string, Structure>)
  .map(([name, structure]) => `${quote(name)}: ${quote(typeOf(structure))}`)
  .join(', ');

/** A file under the name that its lines carry: its index in the batch, since a text on each line takes time. */
export interface Source extends BatchFile {
  readonly source: number;
}

/** The SELECT that answers the rows of `batch_files`. */
export function sourcesOf(files: readonly Source[]): string {
  const rows = files.map(
    ({ source, name, orgId, receivedAt }) =>
      `(${source}, ${quote(name)}, ${quote(orgId)}, make_timestamp_ms(${receivedAt}))`,
  );
  return `SELECT * FROM (VALUES ${rows.join(', ')}) AS file (source, name, org_id, received_at)`;
}

/**
 * What reads the lines of files as they are, whose sources are their indexes. A line that is no JSON comes out as NULLs, and
 * has no number.
 */
export function linesOf(format: Format, files: readonly Pick<BatchFile, 'path'>[]): string {
  const options = `format = 'newline_delimited', ignore_errors = true, hive_partitioning = false, maximum_object_size = ${LINE_LIMIT[format]}`;
  const paths = `[${files.map(({ path }) => quote(patternOf(path))).join(', ')}]`;
  return format === 'canonical'
    ? `SELECT CAST(file_index AS INTEGER) AS source, CAST(NULL AS BIGINT) AS line_no, json AS line FROM read_ndjson_objects(${paths}, ${options})`
    : `SELECT CAST(file_index AS INTEGER) AS source, CAST(NULL AS BIGINT) AS line_no, * FROM read_json(${paths}, columns = {${TRANSCRIPT_COLUMNS}}, ${options})`;
}

/** What reads the lines that numberLines has written. */
export function numberedOf(format: Format, spool: string): string {
  return `SELECT source, line_no, read_fault, text, CASE WHEN read_fault IS NULL AND json_valid(text) THEN CAST(text AS JSON) END AS line
    FROM read_json(${quote(spool)}, format = 'newline_delimited', maximum_object_size = ${2 * LINE_LIMIT[format] + 65536},
      columns = {source: 'INTEGER', line_no: 'BIGINT', read_fault: 'VARCHAR', text: 'VARCHAR'})`;
}

/** The same, in the shape of linesOf. */
export function numberedLinesOf(format: Format, spool: string): string {
  const numbered = numberedOf(format, spool);
  return format === 'canonical'
    ? `SELECT source, line_no, line FROM (${numbered})`
    : `SELECT source, line_no, event.* FROM (SELECT source, line_no, from_json(line, ${quote(TRANSCRIPT_STRUCTURE)}) AS event FROM (${numbered}))`;
}

/** Sets up the queries over the lines of a format: `checked` is a row an event, or its fault. Other `lines` can take their place. */
export async function defineLines(session: Session, format: Format, lines: string): Promise<void> {
  await replaceLines(session, lines);
  if (format === 'claude-code') {
    await session.run(
      `CREATE OR REPLACE TEMP VIEW transcript_lines AS ${readSql('ingest/claude-code.lines.sql')}`,
    );
  }
  await session.run(`CREATE OR REPLACE TEMP VIEW typed_lines AS ${readSql(`ingest/${format}.sql`)}`);
  await session.run(`CREATE OR REPLACE TEMP VIEW checked AS ${readSql('ingest/rules.sql')}`);
}

/**
 * Does something with the lines of files that defineLines has set up.
 * TRICKY: what plans are made without is a setting of the whole instance. What others plan meanwhile is slower and not wrong;
 * beside large files, which take a while, as little as may be.
 */
export async function overLines<T>(
  session: Session,
  files: readonly Pick<BatchFile, 'path'>[],
  work: () => Promise<T>,
): Promise<T> {
  let bytes = 0;
  for (const { path } of files) if (bytes <= SMALL_BYTES) bytes += statSync(path).size;
  const disabled = bytes <= SMALL_BYTES ? USELESS_OPTIMIZERS : HARMFUL_OPTIMIZERS;
  await session.run(`SET disabled_optimizers = '${disabled}'`);
  try {
    return await work();
  } finally {
    // A transaction that has failed takes no statement; what made it fail must not be hidden.
    await session.run("SET disabled_optimizers = ''").catch(() => undefined);
  }
}

async function replaceLines(session: Session, lines: string): Promise<void> {
  await session.run(`CREATE OR REPLACE TEMP VIEW lines AS ${lines}`);
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

/** Whether a file of the data folder is one that a settle writes and removes: numbered lines, rows on their way elsewhere. */
export function isSpool(file: string): boolean {
  return /^(lines-\d+\.tmp|rows-\w+\.parquet)$/.test(file);
}

async function isAnyDamaged(files: readonly BatchFile[]): Promise<boolean> {
  for (const { path } of files) if (isCompressed(path) && !(await isWhole(path))) return true;
  return false;
}

/** Numbering the lines found fewer faults than reading them at speed: a byte order mark, or a file that has changed since. */
class Misread extends Error {}

/** Settles batches in DuckDB: one at a time, on one connection. */
export class Settler {
  /** What the queries over lines are defined for. */
  private defined: Format | undefined;

  constructor(
    protected readonly session: Session,
    protected readonly folder: string,
  ) {}

  /** Puts the stored rejects that the new ones may repeat beside them, where they are kept elsewhere. */
  protected async recallRejects(): Promise<void> {}

  /** Puts the stored events that a batch may repeat beside its own, where they are kept elsewhere. */
  protected async recall(_batch: Batch, _number: number): Promise<void> {}

  /** Settles a batch as Store promises. The files are read as they are; only those with faults are read again, numbered. */
  async settle(batch: Batch, progress: (share: number) => void = () => {}): Promise<Settled> {
    const watch = setInterval(
      () => progress(Math.max(0, this.session.connection.progress.percentage) / 100),
      200,
    );
    try {
      // A reader of compressed files takes one that was cut off for whole.
      if (await isAnyDamaged(batch.files)) return await this.settleNumbered(batch);
      return await this.session.transaction(() => this.attempt(batch, false));
    } catch (error) {
      // With the transaction they are gone.
      this.defined = undefined;
      if (!(error instanceof Misread) && !isReadError(error)) throw error;
      return await this.settleNumbered(batch);
    } finally {
      clearInterval(watch);
    }
  }

  /** Settles a batch of which a file can't be read as it is. */
  private async settleNumbered(batch: Batch): Promise<Settled> {
    const files: (BatchFile & { isDamaged: boolean })[] = [];
    for (const file of batch.files)
      files.push({ ...file, isDamaged: await this.isCorrupt(file, batch.format) });
    return this.session.transaction(() => this.attempt({ ...batch, files }, true));
  }

  /**
   * Whether a zstd file whose frames are complete has other content than was packed. The library that lines are numbered with
   * checks no checksum, and takes some damaged blocks.
   */
  private async isCorrupt({ path }: BatchFile, format: Format): Promise<boolean> {
    if (!path.endsWith('.zst') || !(await isWhole(path))) return false;
    try {
      await this.session.select(`SELECT count(*) FROM (${linesOf(format, [{ path }])})`);
      return false;
    } catch (error) {
      if (!isReadError(error)) throw error;
      return isZstdError(error);
    }
  }

  private async attempt(batch: Batch, isNumbered: boolean): Promise<Settled> {
    const { session } = this;
    const number = (await newestBatch(session)) + 1;
    await session.run(`
      SET VARIABLE user_id = ${quote(batch.userId ?? '')};
      SET VARIABLE batch = ${number}`);
    const spool = join(this.folder, `lines-${process.pid}.tmp`);
    try {
      const files = batch.files.map((file, index) => ({ ...file, source: index }));
      await session.run(`CREATE OR REPLACE TEMP TABLE batch_files AS ${sourcesOf(files)}`);
      if (isNumbered) await numberLines(files, spool, LINE_LIMIT[batch.format]);
      const inserted = await this.insert(
        batch,
        isNumbered ? numberedLinesOf(batch.format, spool) : linesOf(batch.format, files),
      );
      const faults = await this.faults();
      const suspects = isNumbered ? files : await this.suspects(files, faults);
      if (suspects.length > 0 && !isNumbered) {
        await numberLines(suspects, spool, LINE_LIMIT[batch.format]);
        await this.define(batch.format, numberedLinesOf(batch.format, spool));
      }
      await session.run('CREATE OR REPLACE TEMP TABLE new_rejects AS FROM rejects LIMIT 0');
      const rejects = suspects.length > 0 ? await this.reject(batch.format, suspects, spool) : NO_REJECTS;
      if (batch.format === 'canonical' && !isNumbered && faults.events !== rejects.rejected)
        throw new Misread();
      return await this.finish(batch, number, inserted, rejects);
    } finally {
      rmSync(spool, { force: true });
    }
  }

  private async define(format: Format, lines: string): Promise<void> {
    if (this.defined === format) return replaceLines(this.session, lines);
    await defineLines(this.session, format, lines);
    this.defined = format;
  }

  /** Inserts the events without a fault, and answers how many. */
  private async insert(batch: Batch, lines: string): Promise<number> {
    // What is left out is counted on the way, so that lines are looked at once.
    await this.session.run(
      'CREATE OR REPLACE TEMP SEQUENCE unread_lines MINVALUE 0; CREATE OR REPLACE TEMP SEQUENCE faulty_events MINVALUE 0',
    );
    await this.define(batch.format, lines);
    return overLines(this.session, batch.files, () =>
      this.session.run(
        `INSERT INTO events (${EVENT_COLUMNS}, batch) SELECT ${EVENT_COLUMNS}, getvariable('batch') FROM checked
        WHERE CASE WHEN fault IS NULL THEN true ELSE nextval('faulty_events') < 0 END`,
      ),
    );
  }

  /** How many lines and events the insert has left out. */
  private async faults(): Promise<{ lines: number; events: number }> {
    const [left] = await this.session.select(
      "SELECT nextval('unread_lines') AS lines, nextval('faulty_events') AS events",
    );
    return { lines: Number(left?.lines), events: Number(left?.events) };
  }

  /** The files that have a line with a fault. */
  private async suspects(
    files: readonly Source[],
    faults: { lines: number; events: number },
  ): Promise<readonly Source[]> {
    if (files.length === 1) return faults.lines + faults.events > 0 ? files : [];
    const found: string[] = [];
    if (faults.lines > 0) found.push('SELECT source FROM lines WHERE type IS NULL');
    if (faults.events > 0) found.push('SELECT source FROM checked WHERE fault IS NOT NULL');
    if (found.length === 0) return [];
    const rows = await overLines(this.session, files, () =>
      this.session.select(`SELECT DISTINCT source FROM (${found.join(' UNION ALL ')}) ORDER BY source`),
    );
    return rows.flatMap(({ source }) => files[Number(source)] ?? []);
  }

  /** Keeps the lines with a fault, of those of files that are defined and numbered, and counts them by reason. */
  private async reject(format: Format, files: readonly Source[], spool: string): Promise<Rejects> {
    const { session } = this;
    await session.run(`CREATE OR REPLACE TEMP VIEW numbered AS ${numberedOf(format, spool)}`);
    await session.run(`SET VARIABLE keeps_text = ${format === 'canonical'}`);
    await overLines(session, files, () =>
      session.run(`CREATE OR REPLACE TEMP TABLE new_rejects AS ${readSql('ingest/rejects.sql')}`),
    );
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
      byReason: Object.fromEntries(rows.map(({ reason, lines }) => [String(reason), Number(lines)])),
      examples: examples.map(({ source, line_no, reason, detail }) => ({
        source: String(source),
        line_no: Number(line_no),
        reason: String(reason),
        detail: String(detail),
      })),
    };
  }

  /** Takes out the copies that don't stand, notes what the batch brought for each day, and keeps the e-mails up to date. */
  private async finish(batch: Batch, number: number, inserted: number, rejects: Rejects): Promise<Settled> {
    const { session } = this;
    await this.recall(batch, number);
    const late = await this.takeOut('too_late');
    let duplicates = late + (await this.takeOut('losers'));
    if (late > 0) await session.run('INSERT INTO losers FROM too_late');
    if (batch.format === 'claude-code') {
      const replays = await this.takeOut('replays');
      if (replays > 0) await session.run('INSERT INTO losers FROM replays');
      duplicates += replays;
    }
    await session.run(`INSERT INTO arrivals BY NAME ${readSql('ingest/arrivals.sql')}`);
    await session.run(`CREATE OR REPLACE TEMP TABLE new_emails AS ${readSql('ingest/user_emails.sql')}`);
    await session.run(
      'DELETE FROM user_emails WHERE (org_id, user_id) IN (SELECT org_id, user_id FROM new_emails)',
    );
    await session.run('INSERT INTO user_emails BY NAME FROM new_emails WHERE user_email IS NOT NULL');
    await session.run(`INSERT INTO batches BY NAME ${readSql('ingest/batches.sql')}`, {
      source: batch.format,
      settled_at: batch.settledAt,
      token: batch.token ?? null,
    });
    return { accepted: inserted - duplicates, duplicates, ...rejects };
  }

  /** Takes the events that a query of sql/ingest finds out, keeps what it says of them in a table of its name, and answers how many. */
  private async takeOut(name: 'losers' | 'replays' | 'too_late'): Promise<number> {
    const { session } = this;
    await session.run(`CREATE OR REPLACE TEMP TABLE ${name} AS ${readSql(`ingest/${name}.sql`)}`);
    return session.run(`DELETE FROM events WHERE rowid IN (SELECT row_id FROM ${name})`);
  }
}
