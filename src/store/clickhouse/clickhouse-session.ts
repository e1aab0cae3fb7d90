import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import {
  type ClickHouseClient,
  ClickHouseError,
  type ClickHouseSettings,
  drainStream,
  type ExecResult,
  parseError,
  ResultSet,
} from '@clickhouse/client';
import { codeOf, messageOf } from '../../exit.js';
import { certificateFaultOf } from '../../network/certificate.js';
import { quote, readSql, tokensOf } from '../sql-text.js';
import type { Parameter, Parameters, Row, Value } from '../store.js';
import { StoreUnavailable } from '../store-fault.js';
import type { Names } from './names.js';

/** The settings that engine/clickhouse.sql lists, which make ClickHouse read SQL as the standard has it. */
const SETTINGS: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 1,
  ...Object.fromEntries(
    readSql('engine/clickhouse.sql')
      .split('\n')
      .filter((line) => line.startsWith('SET '))
      .map((line) => line.slice('SET '.length, -1).replaceAll("'", '').split(' = ')),
  ),
};

/** The codes of connection errors, of the system and of Node. */
const CONNECTION_ERRORS = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
]);

/** The statuses with which a proxy says that it doesn't reach the server. */
const PROXY_ERRORS = new Set([502, 503, 504]);

/** The server's codes of errors that pass: it has too much to do, or no room. */
const PASSING_ERRORS = new Set([
  'NOT_ENOUGH_SPACE',
  'TABLE_IS_READ_ONLY',
  'TOO_MANY_PARTS',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
]);

/** A proxy answers in the server's place, with this status. */
class NotFromServer extends Error {
  constructor(status: number) {
    super(`a proxy answers ${status}`);
  }
}

/** Why a statement didn't reach the server, or its answer didn't come back; undefined for another error. */
function connectionFaultOf(error: unknown): string | undefined {
  if (CONNECTION_ERRORS.has(codeOf(error))) return codeOf(error);
  if (error instanceof NotFromServer) return error.message;
  return /^(Timeout error|socket hang up)/.exec(messageOf(error))?.[0];
}

/** Whether the server refuses a statement because its user has no grant for it. */
function isDenied(error: unknown): boolean {
  return error instanceof ClickHouseError && error.type === 'ACCESS_DENIED';
}

/** Throws the error in an answer, if there is one. */
async function requireSuccess({ stream, response_headers, http_status_code = 200 }: Answer): Promise<void> {
  const isOwn = response_headers['x-clickhouse-exception-code'] !== undefined;
  if (http_status_code < 300 && !isOwn) return;
  const message = await text(stream);
  throw !isOwn && PROXY_ERRORS.has(http_status_code)
    ? new NotFromServer(http_status_code)
    : parseError(message);
}

/** The type of ClickHouse that goes with a parameter. */
function typeOf(value: Parameter): string {
  if (value === null) return 'Nullable(String)';
  if (typeof value === 'object') return 'day' in value ? 'Date' : 'Array(String)';
  if (typeof value === 'string') return 'String';
  return Number.isInteger(value) ? 'Int64' : 'Float64';
}

/**
 * A text that both engines read, in ClickHouse's spelling: `$name` as `{name:Type}`, and a backslash in a string doubled,
 * since ClickHouse gives it a meaning there that the standard doesn't. An expression, since the text is anybody's statement: its
 * parameters are found by their names.
 */
export function spelled(sql: string, parameters: Parameters): string {
  return sql
    .replaceAll('\\', '\\\\')
    .replace(/\$(\w+)/g, (text, name: string) =>
      Object.hasOwn(parameters, name) ? `{${name}:${typeOf(parameters[name] as Parameter)}}` : text,
    );
}

/** Converts a value as Store promises it, by its column's type. */
function toValue(value: unknown, type: string): Value {
  if (value === null) return null;
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1];
  if (inner !== undefined) return toValue(value, inner);
  if (/^((U?Int|Float)\d+|Decimal\()/.test(type)) return Number(value);
  if (type.startsWith('DateTime')) return Date.parse(`${String(value).replace(' ', 'T')}Z`);
  if (type === 'Bool') return value === true;
  if (type === 'String' || type === 'Date' || type === 'Date32') return String(value);
  const element = /^Array\((.*)\)$/.exec(type)?.[1];
  if (element !== undefined && Array.isArray(value)) return value.map((one) => toValue(one, element));
  throw new TypeError(`a column of type ${type} can't be read: cast it in the SELECT`);
}

type Answer = ExecResult<Readable>;

/** Waits until a statement that answers nothing is done. */
const done = ({ stream }: Answer) => drainStream(stream);

const ROWS = 'JSONCompactEachRowWithNamesAndTypes';

/**
 * Queries of one ClickHouse database. All of them throw StoreUnavailable when the server
 * can't be reached or has too much to do, or the connection breaks midway.
 */
export class ClickHouseSession {
  /** `url` is named in errors: only where no answer of the API has them. */
  constructor(
    readonly client: ClickHouseClient,
    private readonly url?: string,
    private readonly settings = SETTINGS,
    /** What the names of tables mean in its queries. */
    private readonly names?: Names,
  ) {}

  /** The same, with other settings. */
  with(settings: ClickHouseSettings): ClickHouseSession {
    return new ClickHouseSession(this.client, this.url, { ...this.settings, ...settings }, this.names);
  }

  /** The same, for a reader of its own. */
  naming(names: Names): ClickHouseSession {
    return new ClickHouseSession(this.client, this.url, this.settings, names);
  }

  /** A SELECT with what its names mean to this reader, to be a part of another statement. */
  spell(sql: string): string {
    return this.names?.spell(sql) ?? sql;
  }

  private named(sql: string, parameters: Parameters): string {
    return spelled(this.names?.spell(sql, parameters) ?? sql, parameters);
  }

  /** The rows of one SELECT, in the spelling that both engines read. */
  async select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const read = ({ stream, query_id, response_headers }: Answer) =>
      new ResultSet<typeof ROWS>(stream, ROWS, query_id, () => {}, response_headers).json<unknown[]>();
    const query = `${this.named(sql, parameters)}\nFORMAT ${ROWS}`;
    const [names = [], types = [], ...rows] = await this.ask(query, read, { parameters });
    return rows.map((row) =>
      Object.fromEntries(
        names.map((name, column) => [String(name), toValue(row[column], String(types[column]))]),
      ),
    );
  }

  /** Inserts the rows of a SELECT, `into` a table and its columns. */
  insert(into: string, select: string, parameters: Parameters = {}): Promise<void> {
    return this.ask(`INSERT INTO ${into} ${this.named(select, parameters)}`, done, { parameters });
  }

  /** Runs one statement, in the spelling that both engines read. Its names mean what they do in the database. */
  run(sql: string, parameters: Parameters = {}): Promise<void> {
    return this.ask(spelled(sql, parameters), done, { parameters });
  }

  /** Ends the inserts with a comment that the server goes on with after their sender was cut off. */
  async endInserts(comment: string): Promise<void> {
    try {
      await this.run(
        `KILL QUERY
        WHERE user = currentUser()
          AND current_database = currentDatabase()
          AND query_kind = 'Insert'
          AND Settings['log_comment'] = ${quote(comment)}
        SYNC`,
      );
    } catch (error) {
      // A user without the right to look for them can still write: such rows are found, or go with their table.
      if (!isDenied(error)) throw error;
    }
  }

  /** Runs statements that ClickHouse alone reads, one after the other. */
  async define(text: string): Promise<void> {
    for (const statement of `${text}\n`.split(';\n')) {
      const [verb] = tokensOf(statement);
      if (verb !== undefined && verb !== 'SET') await this.ask(statement, done);
    }
  }

  /** Sends the rows of a Parquet file to a table; the file streams to the server as it is. */
  async upload(path: string, table: string, columns: readonly string[]): Promise<void> {
    const file = await open(path);
    const values = file.createReadStream({ autoClose: false });
    try {
      const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Parquet`;
      await this.ask(query, done, { values });
    } finally {
      values.destroy();
      await file.close();
    }
  }

  /** Writes the rows of one SELECT to a Parquet file, as they stream from the server. */
  download(sql: string, parameters: Parameters, path: string): Promise<void> {
    const write = ({ stream }: Answer) => pipeline(stream, createWriteStream(path));
    return this.ask(`${this.named(sql, parameters)} FORMAT Parquet`, write, { parameters });
  }

  /** Sends a statement with its settings and parameters, and reads its answer. */
  private async ask<T>(
    query: string,
    read: (answer: Answer) => Promise<T>,
    { parameters = {}, values }: { parameters?: Parameters; values?: Readable } = {},
  ): Promise<T> {
    const given = Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && 'day' in value ? value.day : value,
    ]);
    try {
      const answer = await this.client.exec({
        query,
        ...(values && { values }),
        query_params: Object.fromEntries(given),
        clickhouse_settings: this.settings,
        // By itself the client throws the text of an error without its status.
        ignore_error_response: true,
      });
      await requireSuccess(answer);
      return await read(answer);
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  /** The error for the caller. */
  private faultOf(error: unknown): unknown {
    const unavailable = (reason: string) => {
      const server = this.url === undefined ? 'server' : `server ${this.url}`;
      return new StoreUnavailable(`The ClickHouse ${server} ${reason}.`, { cause: error });
    };
    const certificate = certificateFaultOf(error);
    if (certificate !== undefined) return unavailable(`can't be reached, because ${certificate}`);
    const fault = connectionFaultOf(error);
    if (fault !== undefined)
      return unavailable(`can't be reached (${fault}): start it, or correct DAYBOOK_STORE, and try again`);
    if (error instanceof ClickHouseError && PASSING_ERRORS.has(error.type ?? ''))
      return unavailable(`can't do this now (${error.type}): look at its log, and try again later`);
    return error;
  }
}
