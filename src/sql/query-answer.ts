import { statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult, DuckDBType } from '@duckdb/node-api';
import { textBytes } from '../arrow/text-lines.js';
import { csvLine } from '../csv-line.js';
import { csvRow, type Expression, jsonRow } from '../store/row-text.js';
import { quote } from '../store/sql-text.js';
import { confine, foldersOf, NAMES, readLake } from './lake-database.js';
import { checkQuery } from './query-check.js';
import type { SqlForm, SqlJob, SqlParameters } from './query-job.js';
import { SqlError } from './sql-error.js';

/** Where the bytes of an answer go. */
export interface Output {
  /** Called once, when there is an answer: before this a failure is known before its first byte. */
  begin(): Promise<void>;
  /** Takes bytes, and is done when it can take more. */
  write(bytes: Uint8Array): Promise<void>;
}

/** So many bytes are made before the first goes out: what fails until then is an error, and no answer that breaks off. */
const HELD_BYTES = 1 << 18;

/** How often the size of a file is looked at that DuckDB writes. */
const SIZE_MS = 50;

/** Holds the first bytes of an answer back, and counts them all. */
class Bytes {
  private held: Uint8Array[] | undefined = [];
  private count = 0;

  constructor(
    private readonly output: Output,
    private readonly most: number,
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

  /** Lets what was held back go. */
  async end(): Promise<void> {
    if (this.held === undefined) return;
    const held = Buffer.concat(this.held);
    this.held = undefined;
    await this.output.begin();
    await this.output.write(held);
  }
}

function bytesSentence(most: number): string {
  return `The answer has more than ${Math.floor(most / 2 ** 20)} MiB: read fewer rows or columns`;
}

/** Loads what only some forms need, and takes as long as all the rest. */
async function loadArrow() {
  return { ...(await import('../arrow/arrow-stream.js')), ...(await import('../arrow/arrow-type.js')) };
}

/** Checks the query of a job, and answers the names of the tables that it reads. Nothing is read yet. Throws a SqlError. */
export function check(connection: DuckDBConnection, { sql }: SqlJob): Promise<Set<string>> {
  return checkQuery(connection, sql, NAMES);
}

/**
 * Answers the query of a job that was checked, and how many rows there are, on a connection of openLake that has answered
 * none. Throws a SqlError, or what DuckDB does.
 */
export async function answer(
  connection: DuckDBConnection,
  job: SqlJob,
  only: ReadonlySet<string>,
  output: Output,
): Promise<number> {
  const started = performance.now();
  await readLake(connection, job.lake, { orgId: job.orgId, only });
  const folders = foldersOf(job.lake, job.orgId);
  await confine(connection, { folders, paths: job.form === 'parquet' ? [job.file] : [] });
  const query = await Query.of(connection, job, started);
  const bytes = new Bytes(output, job.bytes);
  try {
    if (job.form === 'parquet') await query.writeFile(bytes);
    else for await (const piece of query.pieces()) await bytes.write(piece);
  } catch (error) {
    // As long as nothing went out, it can still be told.
    if (error instanceof BrokenOff && !bytes.hasBegun) await query.fail();
    throw error;
  }
  await bytes.end();
  return query.rows;
}

/** The forms whose code differs, and how many rows a query has to be played with until that is compiled. */
const REHEARSALS: readonly (readonly [form: SqlForm, rows: number])[] = [
  ['arrow', 100_000],
  ['json', 50_000],
];

/**
 * Does what a query does, without one: the code for it is loaded and compiled then. Is done early when `isAsked` says that
 * there is one.
 */
export async function rehearse(connection: DuckDBConnection, isAsked: () => boolean): Promise<void> {
  for (const [form, rows] of REHEARSALS) {
    if (isAsked()) return;
    const job: SqlJob = {
      lake: '',
      orgId: '',
      // Numbers, and texts of both kinds that DuckDB has.
      sql: `SELECT i AS a, concat('a', i) AS b, concat('longer than it may be there itself', i) AS c FROM range(${rows}) AS numbers (i)`,
      params: [],
      form,
      rows,
      bytes: 0,
      file: '',
    };
    await check(connection, job);
    const query = await Query.of(connection, job, 0);
    for await (const _ of query.pieces()) if (isAsked()) break;
    await connection.run('ROLLBACK');
  }
}

/** A stream of DuckDB ended before its end. */
class BrokenOff extends SqlError {
  constructor() {
    super('engine', 'The query failed after its first rows');
  }
}

/** A query that is checked, whose columns are known. */
class Query {
  /** How many rows there were so far. */
  rows = 0;
  private streamed = '';

  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly job: SqlJob,
    private readonly columns: readonly Expression[],
    private readonly started: number,
  ) {}

  static async of(connection: DuckDBConnection, job: SqlJob, started: number): Promise<Query> {
    const statement = await prepare(
      connection,
      `SELECT * FROM (\n${bare(job.sql)}\n) AS answer LIMIT 0`,
      job.params,
    );
    const result = await statement.run();
    const types = result.columnTypes();
    const columns = result
      .columnNames()
      .map((name, index) => ({ name, type: types[index] as DuckDBType, sql: `c${index}` }));
    return new Query(connection, job, columns, started);
  }

  /** The query as another, that makes something of its rows: of one more than there may be, so that this is seen. */
  private textOf(list: string): string {
    const { job, columns } = this;
    const names = columns.map(({ sql }) => sql).join(', ');
    return `SELECT ${list} FROM (\n${bare(job.sql)}\n) AS answer (${names}) LIMIT ${job.rows + 1}`;
  }

  /** The columns with types that other formats have. */
  private async portable(): Promise<string> {
    const { castOf, quoteName } = await loadArrow();
    return this.textOf(
      this.columns
        .map(({ name, type, sql }) => `CAST(${sql} AS ${castOf(type)}) AS ${quoteName(name)}`)
        .join(', '),
    );
  }

  /** A row as a text of its own, by the form. */
  private get line(): string {
    const { columns } = this;
    const lines: Partial<Record<SqlForm, () => string>> = {
      json: () => `concat(',', ${jsonRow(columns)})`,
      ndjson: () => `concat(${jsonRow(columns)}, chr(10))`,
      csv: () => csvRow(columns),
    };
    return this.textOf(lines[this.job.form]?.() ?? '');
  }

  /** The answer in a form that can be written from its beginning to its end. */
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
          // Each row has a comma before it.
          yield before === '' ? piece : Buffer.concat([Buffer.from(before), piece.subarray(1)]);
          before = '';
        }
        const meta = {
          columns: columns.map(({ name, type }) => ({ name, type: String(type) })),
          row_count: this.rows,
          elapsed_ms: Math.round(performance.now() - this.started),
        };
        yield Buffer.from(`${before}],"meta":${JSON.stringify(meta)}}`);
      }
    }
  }

  /** The bytes of the rows that are texts. */
  private lines(): AsyncGenerator<Uint8Array> {
    return textBytes(this.results(this.line), (rows) => this.count(rows));
  }

  /**
   * The result of the query, as a stream; and afterwards, that it was whole.
   * TRICKY: where a query fails that has given some chunks, the driver's stream just ends, and even COMMIT says nothing. But
   * in its transaction, which is aborted then, nothing else can be asked.
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

  /** Writes the answer to a file, and from there. */
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

  /** Finds out why the query failed, by having it fail again. Throws it. */
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

/** A statement without the semicolons behind it. */
function bare(sql: string): string {
  let end = sql.length;
  while (end > 0 && /[\s;]/.test(sql.charAt(end - 1))) end -= 1;
  return sql.slice(0, end);
}

/** A statement with its parameters. Throws a SqlError when these are not those that it has. */
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
