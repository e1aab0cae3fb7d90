import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBPreparedStatement } from '../duckdb-driver.js';
import { Queue } from '../queue.js';
import { Session } from '../store/duckdb-session.js';
import { type NumberedLine, numberedLines, writeLines } from '../store/line-numbers.js';
import { isReadError } from '../store/settler.js';
import { defineSource, limitOf, overLines, readFiles, readLines, readNumbered } from '../store/source-sql.js';
import { quote, readFunctions, readSql } from '../store/sql-text.js';
import { TooManyValues } from './body-size.js';
import { CANONICAL } from './source.js';

/** A file of canonical lines that somebody sent. */
export interface Sent {
  readonly path: string;
  readonly orgId: string;
  /** The user whose events alone the sender may send; null for any. */
  readonly onlyUser: string | null;
  /** When the sender's request came: the instant that its events are judged by. Unix milliseconds. */
  readonly receivedAt: number;
  /** Aborted when nobody waits for the verdict any more. */
  readonly gone: AbortSignal;
}

/** Nobody waits for the verdict any more. */
export class Gone extends Error {
  override name = 'Gone';
}

/** A line that broke a rule: its number from 1, the reason, and a sentence. */
export interface LineError {
  readonly line: number;
  readonly code: string;
  readonly detail: string;
}

/** What a file's lines are: valid ones, those that broke a rule with the first hundred of them, and valid ones of other users. */
export interface Verdict {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly LineError[];
  readonly ofOthers: number;
}

const ERRORS_SHOWN = 100;
const MEMORY_MB = 160;
/** How much of temporary files there may be on the disk. */
const TEMPORARY_MB = 64;
/** How much of a file with faults is looked at before others have their turn: bytes. */
const SLICE_BYTES = 1 << 20;

/** Fills the table that tells the rules whose each file is, with a row for each by its index. */
function describe(files: readonly Sent[]): string {
  const rows = files.map(
    ({ orgId, onlyUser, receivedAt }, index) =>
      `(${index}, '', ${quote(orgId)}, NULL, make_timestamp_ms(${receivedAt}), ${onlyUser === null ? 'NULL' : quote(onlyUser)})`,
  );
  return `DELETE FROM batch_files; INSERT INTO batch_files VALUES ${rows.join(', ')}`;
}

/** Counts the lines of each file of a group. Planning it takes longer than looking at a thousand lines. */
const COUNTS = `WITH
  lines AS (SELECT source, CAST(NULL AS BIGINT) AS line_no, line FROM sent_lines),
  typed_lines AS (${readSql('source/canonical/events.sql')}),
  checked AS (${readSql('ingest/rules.sql')})
  SELECT
    source,
    count(*) AS lines,
    count(fault) AS faults,
    count(*) FILTER (WHERE fault IS NULL AND user_id <> only_user) AS of_others
  FROM checked
  JOIN batch_files USING (source)
  GROUP BY source`;

/** What is asked of each line of a slice, which is looked at once. */
const JUDGED = 'SELECT source, line_no, fault, day, user_id FROM checked';
const REJECTS = readSql('ingest/rejects.sql').replace('FROM faults', 'FROM judged WHERE fault IS NOT NULL');

/**
 * Looks at lines by the rules of ingest, and keeps nothing: in a database of its own, so that it waits for nobody. It looks
 * at one group of files at a time.
 */
export class Checker {
  private readonly queue = new Queue();
  /** Whether the queries over numbered lines are there. */
  private isDefined = false;

  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly session: Session,
    private readonly counts: DuckDBPreparedStatement,
    private readonly folder: string,
  ) {}

  /** `folder` is for temporary files, of this one alone. */
  static async open(folder: string): Promise<Checker> {
    mkdirSync(folder, { recursive: true });
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${MEMORY_MB}MiB`,
      temp_directory: folder,
      max_temp_directory_size: `${TEMPORARY_MB}MiB`,
      threads: '1',
      autoinstall_known_extensions: 'false',
    });
    const session = new Session(await instance.connect());
    await session.run("SET TimeZone = 'UTC'; SET preserve_insertion_order = false");
    await session.run(readFunctions());
    await session.run(readSql('ingest/functions.sql'));
    await session.run(`
      CREATE TEMP TABLE batch_files (source INTEGER, name VARCHAR, org_id VARCHAR, file_user_id VARCHAR, received_at TIMESTAMP, only_user VARCHAR);
      CREATE TEMP TABLE sent_lines (source INTEGER, line JSON)`);
    // TRICKY: a plan is made once for all groups, so it must not be made for the values that happen to be in the tables.
    await session.run("SET disabled_optimizers = 'statistics_propagation,compressed_materialization'");
    const counts = await session.connection.prepare(COUNTS);
    await session.run("SET disabled_optimizers = ''");
    return new Checker(instance, session, counts, folder);
  }

  /**
   * The verdicts on files, in their order; undefined for a file whose lines must be looked at one by one.
   */
  check(files: readonly Sent[]): Promise<(Verdict | undefined)[]> {
    return this.queue.run(async () => {
      const counts = await this.count(files);
      return files.map((_, index) => {
        const { lines = 0, faults = 0, ofOthers = 0 } = counts?.get(index) ?? {};
        return counts !== undefined && faults === 0
          ? { accepted: lines, rejected: 0, errors: [], ofOthers }
          : undefined;
      });
    });
  }

  /** Counts the lines of files by their index; undefined when a file can't be read as it is. */
  private async count(
    files: readonly Sent[],
  ): Promise<Map<number, { lines: number; faults: number; ofOthers: number }> | undefined> {
    const { session } = this;
    try {
      // Taking it back gives the memory back at once, as deleting the rows would not.
      const found = await session.trial(async () => {
        await session.run(`
          ${describe(files)};
          INSERT INTO sent_lines SELECT source, line FROM (${readFiles(CANONICAL, files)})`);
        return this.counts.runAndReadAll();
      });
      return new Map(
        found
          .getRowObjects()
          .map((row) => [
            Number(row.source),
            { lines: Number(row.lines), faults: Number(row.faults), ofOthers: Number(row.of_others) },
          ]),
      );
    } catch (error) {
      if (!isReadError(error) && !isOutOfMemory(error)) throw error;
      return undefined;
    }
  }

  /**
   * The verdict on a file that has faults, or may have. Its lines are looked at some at a time, and others have their turn in
   * between. Throws Gone when the sender has gone.
   */
  async checkNumbered(file: Sent): Promise<Verdict> {
    const lines = numberedLines({ path: file.path, source: 0 }, limitOf(CANONICAL));
    let bytes = SLICE_BYTES;
    const total = { accepted: 0, rejected: 0, errors: [] as LineError[], ofOthers: 0 };
    try {
      for (let rest: readonly NumberedLine[] | undefined = []; rest !== undefined; ) {
        const before: readonly NumberedLine[] = rest;
        rest = await this.queue.run(async () => {
          if (file.gone.aborted) throw new Gone();
          const slice = await sliceOf(before, lines, bytes);
          if (slice.length === 0) return undefined;
          try {
            const { accepted, rejected, errors, ofOthers } = await this.checkSlice(slice, file);
            total.accepted += accepted;
            total.rejected += rejected;
            total.ofOthers += ofOthers;
            total.errors.push(...errors.slice(0, ERRORS_SHOWN - total.errors.length));
            return before.slice(slice.length);
          } catch (error) {
            // A line of many small values takes a hundred times its length.
            if (!isOutOfMemory(error) || slice.length === 1) throw error;
            bytes = Math.floor(bytes / 8);
            return [...slice, ...before.slice(slice.length)];
          }
        });
      }
      return total;
    } finally {
      await lines.return(undefined);
    }
  }

  private async checkSlice(slice: readonly NumberedLine[], file: Sent): Promise<Verdict> {
    const { session } = this;
    const spool = join(this.folder, 'numbered');
    try {
      await session.run(
        `${describe([file])}; SET VARIABLE batch = 0; SET VARIABLE keeps_text = true; SET VARIABLE unit = 'line'; SET VARIABLE limit_mb = ${CANONICAL.limitMb}`,
      );
      await writeLines(slice, spool);
      if (!this.isDefined) {
        const numbered = readNumbered(CANONICAL, spool);
        await defineSource(session, CANONICAL, readLines(CANONICAL, numbered));
        await session.run(`CREATE OR REPLACE TEMP VIEW numbered AS ${numbered}`);
        this.isDefined = true;
      }
      await overLines(session, [{ path: spool }], () =>
        session.run(`CREATE OR REPLACE TEMP TABLE judged AS ${JUDGED}`),
      );
      await session.run(`CREATE OR REPLACE TEMP TABLE rejected AS ${REJECTS}`);
      const [counts] = await session.select(
        `SELECT
          count(*) FILTER (WHERE fault IS NULL) AS accepted,
          count(*) FILTER (WHERE fault IS NULL AND user_id <> only_user) AS of_others,
          (SELECT count(*) FROM rejected) AS rejected
        FROM judged
        JOIN batch_files USING (source)`,
      );
      const errors = await session.select(
        `SELECT line_no, reason, detail FROM rejected ORDER BY line_no LIMIT ${ERRORS_SHOWN}`,
      );
      return {
        accepted: Number(counts?.accepted),
        rejected: Number(counts?.rejected),
        errors: errors.map((row) => ({
          line: Number(row.line_no),
          code: String(row.reason),
          detail: String(row.detail),
        })),
        ofOthers: Number(counts?.of_others),
      };
    } finally {
      rmSync(spool, { force: true });
    }
  }

  /**
   * Writes the elements of a JSON array as lines. Answers false, and writes nothing that counts, when the file is no array.
   */
  async toLines(array: string, lines: string): Promise<boolean> {
    if (!(await isBracketed(array))) return false;
    try {
      await this.queue.run(() =>
        this.session.run(
          `COPY (
            SELECT json(json) FROM read_json_objects(${quote(array)}, format = 'array', maximum_object_size = ${2 * limitOf(CANONICAL)})
          ) TO ${quote(lines)} (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001')`,
        ),
      );
      return true;
    } catch (error) {
      if (isOutOfMemory(error)) throw new TooManyValues();
      if (!isReadError(error)) throw error;
      return false;
    }
  }

  async close(): Promise<void> {
    await this.queue.run(async () => {
      this.session.connection.closeSync();
      this.instance.closeSync();
    });
  }
}

/** What looking at a line takes, in bytes of ordinary text: values take more than their bytes, and are told by their commas. */
function costOf(text: string): number {
  let commas = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) commas += 1;
  return Math.max(text.length, 16 * commas);
}

/** The next lines, of those that were read before and then of others: one at least, and up to so many bytes. */
async function sliceOf(
  before: readonly NumberedLine[],
  others: AsyncGenerator<NumberedLine>,
  bytes: number,
): Promise<NumberedLine[]> {
  const slice: NumberedLine[] = [];
  for (let taken = 0; slice.length === 0 || taken < bytes; ) {
    const next = before[slice.length] ?? (await others.next()).value;
    if (next === undefined) break;
    slice.push(next);
    taken += costOf(next.text);
  }
  return slice;
}

/** Whether some lines took more memory than the checker has. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /^Out of Memory Error/i.test(error.message);
}

/** Whether a file begins with [ and ends with ], white space aside: a reader of arrays takes one that was cut off for whole. */
async function isBracketed(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const edge = async (position: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, position);
      return buffer.subarray(0, bytesRead).toString('latin1').trim();
    };
    return (await edge(0)).startsWith('[') && (await edge(Math.max(0, size - 4096))).endsWith(']');
  } finally {
    await file.close();
  }
}
