import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBPreparedStatement } from '../duckdb.js';
import { Queue } from '../queue.js';
import { Session } from '../store/duckdb.js';
import {
  defineLines,
  isReadError,
  LINE_LIMIT,
  linesOf,
  numberedLinesOf,
  numberedOf,
  overLines,
} from '../store/settle.js';
import { quote, readSql } from '../store/sql.js';
import { numberLines } from './number.js';

/** A file of canonical lines that somebody sent. */
export interface Sent {
  readonly path: string;
  readonly orgId: string;
  /** The user whose events alone the sender may send; null for any. */
  readonly onlyUser: string | null;
  /** When the sender's request came: the instant that its events are judged by. Unix milliseconds. */
  readonly receivedAt: number;
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
const MEMORY_MB = 256;

/** Fills the table that tells the rules whose each file is, with a row for each by its index. */
function describe(files: readonly Sent[]): string {
  const rows = files.map(
    ({ orgId, onlyUser, receivedAt }, index) =>
      `('${index}', '', ${quote(orgId)}, make_timestamp_ms(${receivedAt}), ${onlyUser === null ? 'NULL' : quote(onlyUser)})`,
  );
  return `DELETE FROM batch_files; INSERT INTO batch_files VALUES ${rows.join(', ')}`;
}

/** Counts the lines of each file of a group. Planning it takes longer than looking at a thousand lines. */
const COUNTS = `WITH
  lines AS (SELECT source, CAST(NULL AS BIGINT) AS line_no, line FROM sent_lines),
  typed_lines AS (${readSql('ingest/canonical.sql')}),
  checked AS (${readSql('ingest/rules.sql')})
  SELECT
    source,
    count(*) AS lines,
    count(fault) AS faults,
    count(*) FILTER (WHERE fault IS NULL AND user_id <> only_user) AS of_others
  FROM checked
  JOIN batch_files USING (source)
  GROUP BY source`;

/**
 * Looks at lines by the rules of ingest, and keeps nothing: in a database of its own, so that it waits for nobody. It looks
 * at one group of files at a time.
 */
export class Checker {
  private readonly queue = new Queue();

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
      threads: '1',
      autoinstall_known_extensions: 'false',
    });
    const session = new Session(await instance.connect());
    await session.run("SET TimeZone = 'UTC'; SET preserve_insertion_order = false");
    await session.run(readSql('engine/duckdb.sql'));
    await session.run(readSql('ingest/functions.sql'));
    await session.run(`
      CREATE TEMP TABLE batch_files (source VARCHAR, name VARCHAR, org_id VARCHAR, received_at TIMESTAMP, only_user VARCHAR);
      CREATE TEMP TABLE sent_lines (source VARCHAR, line JSON)`);
    // TRICKY: a plan is made once for all groups, so it must not be made for the values that happen to be in the tables.
    await session.run("SET disabled_optimizers = 'statistics_propagation,compressed_materialization'");
    const counts = await session.connection.prepare(COUNTS);
    await session.run("SET disabled_optimizers = ''");
    return new Checker(instance, session, counts, folder);
  }

  /** The verdicts on files, in their order. */
  check(files: readonly Sent[]): Promise<Verdict[]> {
    return this.queue.run(async () => {
      const counts = await this.count(files);
      const verdicts: Verdict[] = [];
      for (const [index, file] of files.entries()) {
        const { lines = 0, faults = 0, ofOthers = 0 } = counts?.get(index) ?? {};
        verdicts.push(
          counts !== undefined && faults === 0
            ? { accepted: lines, rejected: 0, errors: [], ofOthers }
            : await this.checkNumbered(file),
        );
      }
      return verdicts;
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
          INSERT INTO sent_lines SELECT source, line FROM (${linesOf('canonical', files)})`);
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
      if (!isReadError(error)) throw error;
      return undefined;
    }
  }

  /** The verdict on a file that has faults, or may have: its lines are numbered first. */
  private async checkNumbered(file: Sent): Promise<Verdict> {
    const spool = join(this.folder, 'numbered');
    try {
      await this.session.run(`${describe([file])}; SET VARIABLE batch = 0; SET VARIABLE keeps_text = false`);
      await numberLines([{ path: file.path, source: '0' }], spool, LINE_LIMIT.canonical);
      await defineLines(this.session, 'canonical', numberedLinesOf('canonical', spool));
      await this.session.run(`CREATE OR REPLACE TEMP VIEW numbered AS ${numberedOf('canonical', spool)}`);
      const [counts] = await overLines(this.session, [file], async () => {
        await this.session.run(`CREATE OR REPLACE TEMP TABLE rejected AS ${readSql('ingest/rejects.sql')}`);
        return this.session.select(
          `SELECT
            count(*) FILTER (WHERE fault IS NULL) AS accepted,
            count(*) FILTER (WHERE fault IS NULL AND user_id <> only_user) AS of_others,
            (SELECT count(*) FROM rejected) AS rejected
          FROM checked
          JOIN batch_files USING (source)`,
        );
      });
      const errors = await this.session.select(
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
            SELECT json(json) FROM read_json_objects(${quote(array)}, format = 'array', maximum_object_size = ${2 * LINE_LIMIT.canonical})
          ) TO ${quote(lines)} (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001')`,
        ),
      );
      return true;
    } catch (error) {
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
