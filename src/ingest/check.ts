import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { Session } from '../store/duckdb.js';
import {
  defineLines,
  isReadError,
  LINE_LIMIT,
  linesOf,
  numberedLinesOf,
  numberedOf,
} from '../store/settle.js';
import { quote, readSql } from '../store/sql.js';
import { numberLines } from './number.js';

/** A file of canonical lines that somebody sent. */
export interface Sent {
  readonly path: string;
  readonly orgId: string;
  /** The user whose events alone the sender may send; null for any. */
  readonly onlyUser: string | null;
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

/** Looks at lines by the rules of ingest, and keeps nothing: in a database of its own, so that it waits for nobody. */
export class Checker {
  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly session: Session,
    private readonly folder: string,
  ) {}

  /** `folder` is for temporary files. */
  static async open(folder: string): Promise<Checker> {
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${MEMORY_MB}MiB`,
      threads: '1',
      autoinstall_known_extensions: 'false',
    });
    const session = new Session(await instance.connect());
    await session.run("SET TimeZone = 'UTC'");
    await session.run(readSql('ingest/functions.sql'));
    return new Checker(instance, session, folder);
  }

  /** The verdicts on files, in their order. `receivedAt` is Unix milliseconds. */
  async check(files: readonly Sent[], receivedAt: number): Promise<Verdict[]> {
    const verdicts = new Map<Sent, Verdict>();
    const organizations = new Set(files.map(({ orgId }) => orgId));
    for (const orgId of organizations) {
      const own = files.filter((file) => file.orgId === orgId);
      await this.session.run(
        `SET VARIABLE org_id = ${quote(orgId)}; SET VARIABLE received_at = make_timestamp_ms(${receivedAt}); SET VARIABLE batch = 0; SET VARIABLE keeps_text = false`,
      );
      for (const [index, verdict] of (await this.checkTogether(own)).entries())
        verdicts.set(own[index] as Sent, verdict);
    }
    return files.map((file) => verdicts.get(file) as Verdict);
  }

  private async checkTogether(files: readonly Sent[]): Promise<Verdict[]> {
    try {
      await defineLines(
        this.session,
        'canonical',
        linesOf(
          'canonical',
          files.map(({ path }) => path),
        ),
      );
      const rows = await this.session.select(
        `SELECT
          source,
          count(*) AS lines,
          count(fault) AS faults,
          count(*) FILTER (WHERE fault IS NULL AND user_id <> only_user) AS of_others
        FROM checked
        LEFT JOIN (VALUES ${files.map(({ onlyUser }, index) => `(${index}, ${onlyUser === null ? 'CAST(NULL AS VARCHAR)' : quote(onlyUser)})`).join(', ')}) AS sent (source, only_user)
          USING (source)
        GROUP BY source`,
      );
      const verdicts: Verdict[] = [];
      for (const [index, file] of files.entries()) {
        const row = rows.find(({ source }) => Number(source) === index);
        const rejected = Number(row?.faults ?? 0);
        const accepted = Number(row?.lines ?? 0) - rejected;
        verdicts.push(
          rejected === 0
            ? { accepted, rejected, errors: [], ofOthers: Number(row?.of_others ?? 0) }
            : await this.checkNumbered(file),
        );
      }
      return verdicts;
    } catch (error) {
      if (!isReadError(error)) throw error;
      const verdicts: Verdict[] = [];
      for (const file of files) verdicts.push(await this.checkNumbered(file));
      return verdicts;
    }
  }

  /** The verdict on a file that has faults, or may have: its lines are numbered first. */
  private async checkNumbered(file: Sent): Promise<Verdict> {
    const spool = join(this.folder, 'numbered.tmp');
    try {
      await numberLines([file.path], spool, LINE_LIMIT.canonical);
      await defineLines(this.session, 'canonical', numberedLinesOf('canonical', spool));
      await this.session.run(`CREATE OR REPLACE TEMP VIEW numbered AS ${numberedOf('canonical', spool)}`);
      await this.session.run(`CREATE OR REPLACE TEMP TABLE rejected AS ${readSql('ingest/rejects.sql')}`);
      const only = file.onlyUser === null ? 'NULL' : quote(file.onlyUser);
      const [counts] = await this.session.select(
        `SELECT
          (SELECT count(*) FROM checked WHERE fault IS NULL) AS accepted,
          (SELECT count(*) FROM rejected) AS rejected,
          (SELECT count(*) FROM checked WHERE fault IS NULL AND user_id <> ${only}) AS of_others`,
      );
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
      await this.session.run(
        `COPY (
          SELECT json(json) FROM read_json_objects(${quote(array)}, format = 'array', maximum_object_size = ${2 * LINE_LIMIT.canonical})
        ) TO ${quote(lines)} (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001')`,
      );
      return true;
    } catch (error) {
      if (!isReadError(error)) throw error;
      return false;
    }
  }

  close(): void {
    this.session.connection.closeSync();
    this.instance.closeSync();
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
