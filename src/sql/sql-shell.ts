import { once } from 'node:events';
import { join, resolve, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { chunksOf } from '../arrow/duckdb-chunks.js';
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  StatementType,
} from '../arrow/duckdb-driver.js';
import { rm } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import { snapshotAt, whyMissing } from '../lake/earlier-snapshot.js';
import { fetchAllPublished, fetchPublished } from '../lake/fetched-lake.js';
import { LAKE } from '../lake/lake-paths.js';
import { organizationsIn, readSnapshot, type Seen, seenOf } from '../lake/snapshot.js';
import type { Config } from '../settings/config.js';
import { TABLES } from '../store/catalog.js';
import { csvRow, EXACT, type Expression, jsonRow } from '../store/row-text.js';
import { quote } from '../store/sql-text.js';
import { csvLine } from '../terminal/csv-line.js';
import { print, printData } from '../terminal/printing.js';
import { plainText } from '../terminal/text-table.js';
import { confine, openLake, organizationFolder, readLake } from './lake-database.js';
import { rowsText, SHOWN_ROWS } from './shown-rows.js';
import { allStatementsIn, faultOf, type Statement } from './sql-statements.js';

export const FORMATS = ['table', 'csv', 'json', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** Statements that only read the lake. */
const READING = new Set([StatementType.SELECT, StatementType.EXPLAIN]);

/** Statements that change only this process's memory, or write a file. */
const WRITING = new Set([
  ...READING,
  StatementType.INSERT,
  StatementType.UPDATE,
  StatementType.DELETE,
  StatementType.MERGE_INTO,
  StatementType.CREATE,
  StatementType.ALTER,
  StatementType.DROP,
  StatementType.COPY,
]);

/** The options of a shell. */
export interface ShellOptions {
  /** The only visible organization; undefined for all. */
  readonly orgId?: string | undefined;
  /** Shows the rows that were published at this instant: Unix milliseconds. */
  readonly asOf?: number | undefined;
  readonly format: Format;
  /** The file for rows, instead of `out`. */
  readonly output?: string | undefined;
  /** The values of parameters, by name. */
  readonly parameters?: Parameters | undefined;
  /** How many characters a line of a table may have; as many as it takes by default. */
  readonly width?: number | undefined;
  /** Whether own tables and files can be written. */
  readonly isWriting: boolean;
}

/** The table that isn't in the lake, because everybody who may run SQL reads that: `write` puts its rows into a Parquet file. */
export interface AccessLogFile {
  readonly path: string;
  readonly write: () => Promise<void>;
}

/** The values of parameters by name: texts, which take the type that they are compared with or cast to. */
export type Parameters = Readonly<Record<string, string>>;

/** A table or view, its columns in their order. */
export interface ShellTable {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly comment: string | null;
  }[];
}

/** The statements of a text that has some. Throws a UsageError for several if the rows go to a file. */
export function statementsToRun(text: string, output: string | undefined): Statement[] {
  const statements = allStatementsIn(text);
  if (statements.length === 0) throw new UsageError('There is no SQL to run: daybook sql "SELECT 1".');
  if (output !== undefined && statements.length > 1)
    throw new UsageError('--output takes the rows of one statement.');
  return statements;
}

/** SQL on the lake of a data folder, in a DuckDB of this process: it needs no service, waits for no lock, and never writes Daybook's data. */
export class Shell {
  private isInterrupted = false;

  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly data: string,
    private readonly options: ShellOptions,
    private readonly out: Writable,
    private readonly seen: readonly Seen[],
    private accessLog: AccessLogFile | undefined,
  ) {}

  /** Throws a UsageError for an organization that isn't in the lake, or wasn't yet. */
  static async open(
    config: Config,
    options: ShellOptions,
    out: Writable,
    accessLog?: AccessLogFile,
  ): Promise<Shell> {
    const lake = join(config.data, LAKE);
    const { orgId, asOf, format, output, isWriting } = options;
    if (orgId === undefined) await fetchAllPublished(config, asOf);
    else await fetchPublished(config, orgId, asOf);
    const orgIds = orgId === undefined ? organizationsIn(lake) : [orgId];
    const current = orgIds.flatMap((one) => readSnapshot(lake, one) ?? []);
    const [first] = current;
    if (orgId !== undefined && first === undefined)
      throw new UsageError(
        `The lake ${lake} has no days of an organization ${orgId}: "daybook status" lists the organizations.`,
      );
    const snapshots = current.flatMap((one) => snapshotAt(lake, one, asOf) ?? []);
    if (first !== undefined && snapshots.length === 0)
      throw new UsageError(`${whyMissing(lake, first, asOf)}.`);
    const connection = await openLake(config);
    await readLake(connection, lake, { snapshots });
    if (!isWriting)
      await confine(connection, {
        folders: orgId === undefined ? [`${lake}${sep}`] : [organizationFolder(lake, orgId)],
        paths: [
          ...(format === 'parquet' && output !== undefined ? [draftOf(output)] : []),
          ...(accessLog === undefined ? [] : [accessLog.path]),
        ],
      });
    return new Shell(connection, config.data, options, out, snapshots.map(seenOf), accessLog);
  }

  async run(text: string): Promise<void> {
    for (const statement of statementsToRun(text, this.options.output)) await this.execute(statement);
  }

  async execute(statement: Statement): Promise<void> {
    const started = performance.now();
    const { sql } = statement;
    this.isInterrupted = false;
    try {
      await this.readAccessLog(sql);
      const type = await this.typeOf(sql);
      if (!READING.has(type)) {
        await (await this.prepared(sql)).run();
        return print(`Done, ${secondsSince(started).toFixed(3)} s.`, this.out);
      }
      const { format } = this.options;
      if (type === StatementType.EXPLAIN) await this.writePlan(sql);
      else if (format === 'table') await this.writeTable(sql, started);
      else if (format === 'parquet') await this.writeParquet(sql);
      else await this.writeLines(sql, format);
    } catch (error) {
      if (this.isInterrupted) throw new UsageError('The query was interrupted.');
      if (error instanceof UsageError) throw error;
      const names = (await this.tables()).map(({ name }) => name);
      throw new UsageError(faultOf(error, statement, names));
    }
  }

  /** Creates the table `access_log` for the first statement that names it. */
  private async readAccessLog(sql: string): Promise<void> {
    const { accessLog } = this;
    if (accessLog === undefined || !/\baccess_log\b/i.test(sql)) return;
    try {
      await accessLog.write();
      await this.connection.run(
        `CREATE TABLE access_log AS SELECT * FROM read_parquet(${quote(accessLog.path)})`,
      );
      this.accessLog = undefined;
    } finally {
      await rm(accessLog.path, { force: true });
    }
  }

  interrupt(): void {
    this.isInterrupted = true;
    this.connection.interrupt();
  }

  async tables(): Promise<ShellTable[]> {
    const found = await this.connection.runAndReadAll(
      "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal ORDER BY table_name, column_index",
    );
    const rows = found.getRows().map((row) => row.map(String));
    return [...new Set(rows.map(([table = '']) => table))].map((name) => ({
      name,
      about: TABLES[name]?.about ?? '',
      columns: rows
        .filter(([table]) => table === name)
        .map(([, column = '', type = '']) => ({
          name: column,
          type,
          comment: TABLES[name]?.columns.find((one) => one.name === column)?.comment ?? null,
        })),
    }));
  }

  /** A statement with the values of its parameters. Throws a UsageError for one without a value. */
  private async prepared(sql: string): Promise<DuckDBPreparedStatement> {
    const { parameters = {} } = this.options;
    const statement = await this.connection.prepare(sql);
    for (let index = 1; index <= statement.parameterCount; index += 1) {
      const name = statement.parameterName(index);
      const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
      if (value === undefined)
        throw new UsageError(`The parameter $${name} has no value: give it one with --param ${name}=VALUE.`);
      statement.bindVarchar(index, value);
    }
    return statement;
  }

  /** The type of a statement. Throws a UsageError for one that isn't allowed here. */
  private async typeOf(sql: string): Promise<StatementType> {
    const { isWriting } = this.options;
    if (/^pragma\b/i.test(sql)) throw new UsageError("PRAGMA can't be used here.");
    const prepared = await this.connection.prepare(sql);
    const type = prepared.statementType;
    prepared.destroySync();
    if (!(isWriting ? WRITING : READING).has(type))
      throw new UsageError(
        isWriting
          ? `${StatementType[type]} can't be used here: --write allows tables in memory and COPY ... TO files.`
          : `${StatementType[type]} can't be used here, only SELECT: --write allows tables in memory and COPY ... TO files.`,
      );
    // EXPLAIN ANALYZE runs its statement.
    const explained = /^\s*EXPLAIN\s+(?:ANALYZE\b\s*)?(?:\([^)]*\)\s*)?/i.exec(sql);
    if (type === StatementType.EXPLAIN) {
      const inner = await this.typeOf(sql.slice(explained?.[0].length));
      if (inner !== StatementType.SELECT) throw new UsageError('EXPLAIN can only be used of a SELECT here.');
    }
    if (type === StatementType.COPY) this.refuseOwn(sql);
    return type;
  }

  /** Throws a UsageError for a COPY into the data folder, or if its target isn't clear. */
  private refuseOwn(sql: string): void {
    const target = /\bTO\s+'((?:[^']|'')*)'\s*(?:\([^()]*\)\s*)?$/i.exec(sql)?.[1]?.replaceAll("''", "'");
    const path = resolve(target ?? '');
    if (target === undefined || path === this.data || path.startsWith(this.data + sep))
      throw new UsageError(
        `COPY must end in TO 'file' (OPTIONS), with a file outside the data folder ${this.data}.`,
      );
  }

  private async write(text: string): Promise<void> {
    if (!printData(text, this.out)) await once(this.out, 'drain');
  }

  /** Writes the first rows as a table for people, and the number of all. */
  private async writeTable(sql: string, started: number): Promise<void> {
    const names = (await this.columnsOf(sql)).map(({ name }) => name);
    const rows = `FROM (\n${sql}\n)`;
    const first = await (await this.prepared(`${rows} LIMIT ${SHOWN_ROWS + 1}`)).runAndReadAll();
    const texts = first
      .getRows()
      .slice(0, SHOWN_ROWS)
      .map((row) => row.map(shown));
    let count = first.currentRowCount;
    if (count > SHOWN_ROWS) {
      const counted = await (await this.prepared(`SELECT count(*) ${rows}`)).runAndReadAll();
      count = Number(counted.getRows()[0]?.[0]);
    }
    const isNumeric = first.columnTypes().map(isNumber);
    const columns = names.map((name, index) => ({
      name: plainText(name),
      cells: texts.map((row) => row[index] ?? ''),
      isNumber: isNumeric[index] === true,
    }));
    const answer = { columns, count, seconds: secondsSince(started), seen: this.seen };
    print(rowsText(answer, this.options.width, this.out), this.out);
  }

  /** Writes the plan of a query as DuckDB draws it. */
  private async writePlan(sql: string): Promise<void> {
    const plan = await (await this.prepared(sql)).runAndReadAll();
    for (const [, drawing] of plan.getRows()) print(String(drawing), this.out);
  }

  /**
   * Writes the rows as CSV or as a JSON array, in portions.
   * TRICKY: if a query fails after some chunks, the driver's stream just ends. So there is one row after the last, and if it doesn't come,
   * the query is run again for its error.
   */
  private async writeLines(sql: string, format: 'csv' | 'json'): Promise<void> {
    const columns = await this.columnsOf(sql);
    const names = columns.map((column) => column.sql).join(', ');
    const isCsv = format === 'csv';
    // Each row of JSON begins with the separator.
    const row = isCsv ? csvRow(columns) : `concat(',', chr(10), ${jsonRow(columns)})`;
    const lines = `SELECT ${row} FROM (\n${sql}\n) AS answer (${names}) UNION ALL SELECT NULL`;
    if (isCsv) await this.write(csvLine(columns.map(({ name }) => name)));
    let isFirst = true;
    let isWhole = false;
    for await (const chunk of chunksOf(await (await this.prepared(lines)).stream())) {
      const texts = chunk.getColumnValues(0) as (string | null)[];
      isWhole = texts.at(-1) === null;
      const text = texts.join('');
      if (text === '') continue;
      await this.write(isFirst && !isCsv ? `[${text.slice(1)}` : text);
      isFirst = false;
    }
    if (!isWhole) {
      if (!this.isInterrupted) await (await this.prepared(lines)).run();
      throw new UsageError('The query stopped after some of its rows: run it again.');
    }
    if (!isCsv) await this.write(isFirst ? '[]\n' : '\n]\n');
  }

  /** The columns of a SELECT, under unique names. */
  private async columnsOf(sql: string): Promise<Expression[]> {
    const statement = await this.prepared(sql);
    // Without values of parameters the types of columns can be open.
    const of =
      statement.parameterCount === 0
        ? statement
        : await (await this.prepared(`SELECT * FROM (\n${sql}\n) LIMIT 0`)).run();
    return Array.from({ length: of.columnCount }, (_, index) => ({
      name: of.columnName(index),
      type: of.columnType(index),
      sql: `c${index}`,
    }));
  }

  private async writeParquet(sql: string): Promise<void> {
    const { output = '' } = this.options;
    const columns = await this.columnsOf(sql);
    const names = columns.map((column) => column.sql).join(', ');
    const { portable } = await import('../arrow/arrow-type.js');
    const copy = `COPY (SELECT ${portable(columns)} FROM (\n${sql}\n) AS answer (${names})) TO ${quote(draftOf(output))} (FORMAT parquet, COMPRESSION zstd)`;
    await (await this.prepared(copy)).run();
  }
}

const NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([...EXACT, DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE]);

function isNumber({ typeId }: DuckDBType): boolean {
  return NUMBERS.has(typeId);
}

/** A value for people. */
function shown(value: DuckDBValue): string {
  return value === null ? 'NULL' : plainText(String(value));
}

/** The temporary path of a file until it is complete. */
export function draftOf(output: string): string {
  return `${resolve(output)}.unfinished`;
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
