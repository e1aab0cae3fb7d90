import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult, DuckDBType } from '@duckdb/node-api';
import { BIGINT, DuckDBTypeId } from '../arrow/duckdb-driver.js';
import { textBytes } from '../arrow/text-lines.js';
import { rm } from '../disk/renames.js';
import { snapshotAt, whyMissing } from '../lake/earlier-snapshot.js';
import { readSnapshot, type Seen, seenOf } from '../lake/snapshot.js';
import { csvRow, type Expression, jsonRow } from '../store/row-text.js';
import { quote } from '../store/sql-text.js';
import { csvLine } from '../terminal/csv-line.js';
import { confine, organizationFolder, readLake } from './lake-database.js';
import type { SqlForm, SqlJob, SqlParameters } from './query-job.js';
import { NOT_YET_PUBLISHED, SqlError } from './sql-error.js';

/** Receives the bytes of an answer. */
export interface Output {
  /** Called once, when the first bytes come: a failure before that can still be reported as an error. */
  begin(seen: Seen): Promise<void>;
  /** Takes bytes; resolves when it can take more. */
  write(bytes: Uint8Array): Promise<void>;
}

/** How many bytes are held back: a failure within them is an error, not an answer that breaks off. */
const HELD_BYTES = 1 << 18;

/** How often the size of a file that DuckDB writes is checked. */
const SIZE_MS = 50;

/** Holds back the first bytes of an answer, and counts all bytes. */
class Bytes {
  private held: Uint8Array[] | undefined = [];
  private count = 0;

  constructor(
    private readonly output: Output,
    private readonly most: number,
    private readonly seen: Seen,
  ) {}

  get hasBegun(): boolean {
    return this.held === undefined;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.count += bytes.length;
    if (this.count > this.most) throw new SqlError('limit', bytesSentence(this.most));
    if (this.held === undefined) return this.output.write(bytes);
    this.held.push(bytes);
    if (this.count >= HELD_BYTES) await this.end();
  }

  /** Releases the held back bytes. */
  async end(): Promise<void> {
    if (this.held === undefined) return;
    const held = Buffer.concat(this.held);
    this.held = undefined;
    await this.output.begin(this.seen);
    await this.output.write(held);
  }
}

function bytesSentence(most: number): string {
  return `The answer has more than ${Math.floor(most / 2 ** 20)} MiB: read fewer rows or columns`;
}

/** Loads code that only some formats need and that takes as long as everything else. */
async function loadArrow() {
  return { ...(await import('../arrow/arrow-stream.js')), ...(await import('../arrow/arrow-type.js')) };
}

/**
 * Answers a checked query and returns the number of rows, on a connection of openLake that hasn't answered any. Throws a SqlError or
 * DuckDB's error.
 */
export async function answer(
  connection: DuckDBConnection,
  job: SqlJob,
  only: ReadonlySet<string>,
  output: Output,
): Promise<number> {
  const started = performance.now();
  const { lake, orgId, asOf } = job;
  const snapshot = readSnapshot(lake, orgId);
  if (snapshot === undefined) throw new SqlError('unpublished', NOT_YET_PUBLISHED);
  const published = snapshotAt(lake, snapshot, asOf);
  if (published === undefined) throw new SqlError('query', whyMissing(lake, snapshot, asOf));
  const seen = seenOf(published);
  await readLake(connection, lake, { snapshots: [published], only });
  const folders = [organizationFolder(lake, orgId)];
  await confine(connection, { folders, paths: job.form === 'parquet' ? [job.file] : [] });
  const query = await Query.of(connection, job, started, seen);
  const bytes = new Bytes(output, job.bytes, seen);
  try {
    if (job.form === 'parquet') await query.writeFile(bytes);
    else for await (const piece of query.pieces()) await bytes.write(piece);
  } catch (error) {
    // As long as nothing was sent, it can still be reported.
    if (error instanceof BrokenOff && !bytes.hasBegun) await query.fail();
    throw error;
  }
  await bytes.end();
  return query.rows;
}

/** A stream of DuckDB ended too early. */
class BrokenOff extends SqlError {
  constructor() {
    super('engine', 'The query failed after its first rows');
  }
}

/** A checked query with known columns. */
class Query {
  /** The number of rows so far. */
  rows = 0;
  private streamed = '';

  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly job: SqlJob,
    private readonly columns: readonly Expression[],
    private readonly started: number,
    private readonly seen: Seen,
  ) {}

  static async of(connection: DuckDBConnection, job: SqlJob, started: number, seen: Seen): Promise<Query> {
    const statement = await prepare(
      connection,
      `SELECT * FROM (\n${bare(job.sql)}\n) AS answer LIMIT 0`,
      job.params,
    );
    const result = await statement.run();
    const types = result.columnTypes();
    const columns = result.columnNames().map((name, index) => {
      const type = types[index] as DuckDBType;
      // A sum of BIGINT is of 128 bits, which few clients know.
      return type.typeId === DuckDBTypeId.HUGEINT
        ? { name, type: BIGINT, sql: `CAST(c${index} AS BIGINT)` }
        : { name, type, sql: `c${index}` };
    });
    return new Query(connection, job, columns, started, seen);
  }

  /** A query on the rows of this one: those that are wanted, or one row more than allowed, so that too many are noticed. */
  private textOf(list: string): string {
    const { job, columns } = this;
    const names = columns.map((_, index) => `c${index}`).join(', ');
    const most = Math.min(job.limit ?? Number.POSITIVE_INFINITY, job.rows + 1);
    return `SELECT ${list} FROM (\n${bare(job.sql)}\n) AS answer (${names}) LIMIT ${most}`;
  }

  /** The columns, cast to types that other formats have. */
  private async portable(): Promise<string> {
    return this.textOf((await loadArrow()).portable(this.columns));
  }

  /** A row as one text, in the format. */
  private get line(): string {
    const { columns } = this;
    const lines: Partial<Record<SqlForm, () => string>> = {
      json: () => `concat(',', ${jsonRow(columns)})`,
      ndjson: () => `concat(${jsonRow(columns)}, chr(10))`,
      csv: () => csvRow(columns),
    };
    return this.textOf(lines[this.job.form]?.() ?? '');
  }

  /** The answer in a format that can be streamed. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    const { columns } = this;
    switch (this.job.form) {
      case 'arrow': {
        const { arrowBytes } = await loadArrow();
        return yield* arrowBytes(this.results(await this.portable()), {}, (rows) => this.count(rows));
      }
      case 'csv':
        yield Buffer.from(csvLine(columns.map(({ name }) => name)));
        return yield* this.lines();
      case 'ndjson':
        return yield* this.lines();
      default: {
        let before = '{"data":[';
        for await (const piece of this.lines()) {
          // Each row begins with a comma.
          yield before === '' ? piece : Buffer.concat([Buffer.from(before), piece.subarray(1)]);
          before = '';
        }
        const meta = {
          columns: columns.map(({ name, type }) => ({ name, type: String(type) })),
          row_count: this.rows,
          elapsed_ms: Math.round(performance.now() - this.started),
          snapshot: this.seen,
        };
        yield Buffer.from(`${before}],"meta":${JSON.stringify(meta)}}`);
      }
    }
  }

  /** The bytes of rows that are texts. */
  private lines(): AsyncGenerator<Uint8Array> {
    return textBytes(this.results(this.line), (rows) => this.count(rows));
  }

  /**
   * The result of the query as a stream, and a check afterwards that it was complete.
   * TRICKY: if a query fails after some chunks, the driver's stream just ends, and even COMMIT succeeds. But its transaction is aborted, so
   * another query in it fails.
   */
  private async *results(sql: string): AsyncGenerator<DuckDBResult> {
    this.streamed = sql;
    const statement = await prepare(this.connection, sql, this.job.params);
    await this.connection.run('BEGIN');
    yield await statement.stream();
    await this.connection.run('SELECT 1').catch(() => {
      throw new BrokenOff();
    });
  }

  /** Writes the answer to a file, and sends that. */
  async writeFile(bytes: Bytes): Promise<void> {
    const { file, params, bytes: most } = this.job;
    const sql = `COPY (${await this.portable()}) TO ${quote(file)} (FORMAT parquet, COMPRESSION zstd)`;
    const statement = await prepare(this.connection, sql, params);
    let isLarge = false;
    const watch = setInterval(() => {
      isLarge ||= (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > most;
      if (isLarge) this.connection.interrupt();
    }, SIZE_MS);
    try {
      const result = await statement.run();
      this.count(result.rowsChanged);
      const opened = await open(file);
      for await (const chunk of opened.createReadStream()) await bytes.write(chunk);
    } catch (error) {
      throw isLarge ? new SqlError('limit', bytesSentence(most)) : error;
    } finally {
      clearInterval(watch);
      await rm(file, { force: true });
    }
  }

  /** Runs the query again to find out why it failed, and throws that. */
  async fail(): Promise<void> {
    await this.connection.run('ROLLBACK');
    const statement = await prepare(this.connection, this.streamed, this.job.params);
    await statement.run();
  }

  private count(rows: number): void {
    this.rows += rows;
    if (this.rows > this.job.rows)
      throw new SqlError(
        'limit',
        `The answer has more than ${this.job.rows} rows: add a LIMIT, or group earlier`,
      );
  }
}

/** A statement without trailing semicolons. */
function bare(sql: string): string {
  let end = sql.length;
  while (end > 0 && /[\s;]/.test(sql.charAt(end - 1))) end -= 1;
  return sql.slice(0, end);
}

/** A statement with its parameters. Throws a SqlError if parameters are missing or unknown. */
async function prepare(
  connection: DuckDBConnection,
  sql: string,
  params: SqlParameters,
): Promise<DuckDBPreparedStatement> {
  const statement = await connection.prepare(sql);
  const wanted = Array.from({ length: statement.parameterCount }, (_, index) =>
    statement.parameterName(index + 1),
  );
  const isList = Array.isArray(params);
  const given = new Map(
    Object.entries(params).map(([name, value]) => [isList ? String(Number(name) + 1) : name, value]),
  );
  const odd = [
    ...wanted.filter((name) => !given.has(name)),
    ...[...given.keys()].filter((name) => !wanted.includes(name)),
  ];
  if (odd.length > 0)
    throw new SqlError(
      'query',
      `The member params must have a value for each parameter of the query and no others: $${odd[0]} is in only one of them`,
    );
  for (const [index, name] of wanted.entries()) {
    const value = given.get(name);
    if (value === null || value === undefined) statement.bindNull(index + 1);
    else if (typeof value === 'boolean') statement.bindBoolean(index + 1, value);
    else if (typeof value === 'string') statement.bindVarchar(index + 1, value);
    else if (Number.isSafeInteger(value)) statement.bindBigInt(index + 1, BigInt(value));
    else statement.bindDouble(index + 1, value);
  }
  return statement;
}
