import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import {
  type ClickHouseClient,
  type ClickHouseSettings,
  drainStream,
  type ExecResult,
  parseError,
  ResultSet,
} from '@clickhouse/client';
import { quote, readSql, tokensOf } from '../sql-text.js';
import type { Parameter, Parameters, Row, Value } from '../store.js';
import { StoreUnavailable } from '../store-fault.js';
import { connectionFaultOf, isDenied, NotFromServer, PROXY_ERRORS, toCaller } from './clickhouse-fault.js';
import { withFunctionNames } from './clickhouse-functions.js';
import { type ClickHouseServer, ClickHouseServers } from './clickhouse-servers.js';
import { CLUSTER_SETTINGS, forCluster } from './cluster-statement.js';
import type { Names } from './names.js';
import { whileAnswering } from './server-watch.js';

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

/** What goes with a statement. */
interface Given {
  readonly parameters?: Parameters;
  readonly settings?: ClickHouseSettings;
  readonly values?: Readable;
  /** Whether it only reads: then it can be asked of another server. */
  readonly isRead?: boolean;
}

/** Waits until a statement that answers nothing is done. */
const done = ({ stream }: Answer) => drainStream(stream);

const ROWS = 'JSONCompactEachRowWithNamesAndTypes';

/** How a session differs from another of the same database. */
interface Options {
  readonly settings?: ClickHouseSettings;
  /** The only server that is asked. */
  readonly server?: ClickHouseServer;
  /** Whether errors name the server: only where no answer of the API has them. */
  readonly namesServer?: boolean;
  /** What the names of tables mean in its queries. */
  readonly names?: Names;
}

/**
 * Queries of one ClickHouse database, which one or more servers have. All of them throw StoreUnavailable when no server
 * can be reached or it has too much to do, or the connection breaks midway. A read is asked of the next server then; a write isn't,
 * since the first one may have done it.
 */
export class ClickHouseSession {
  private readonly servers: ClickHouseServers;
  private readonly settings: ClickHouseSettings;

  constructor(
    source: ClickHouseClient | ClickHouseServers,
    private readonly options: Options = {},
  ) {
    this.servers = source instanceof ClickHouseServers ? source : new ClickHouseServers([{ client: source }]);
    const { cluster } = this.servers;
    this.settings = options.settings ?? { ...SETTINGS, ...(cluster !== undefined && CLUSTER_SETTINGS) };
  }

  /** The name of the cluster whose replicas the servers are. */
  get cluster(): string | undefined {
    return this.servers.cluster;
  }

  /** The only server that is asked; undefined if it can be any. */
  get server(): ClickHouseServer | undefined {
    return this.options.server;
  }

  /** The same, with other settings. */
  with(settings: ClickHouseSettings): ClickHouseSession {
    return new ClickHouseSession(this.servers, {
      ...this.options,
      settings: { ...this.settings, ...settings },
    });
  }

  /** The same, whose statements all go to one server: the one that is asked now, or another. */
  pinned(server = this.candidates[0]): ClickHouseSession {
    return server === undefined ? this : new ClickHouseSession(this.servers, { ...this.options, server });
  }

  /** The same for each server, those first that can be expected to answer. */
  onEach(): ClickHouseSession[] {
    return this.servers.inOrder().map((server) => this.pinned(server));
  }

  /**
   * The same, whose inserts do nothing if inserts with the same token were done, on whichever server: it can be sent again when nobody knows
   * whether it was done. Only on a cluster, and for an insert with the same rows in the same order.
   */
  once(token: string): ClickHouseSession {
    return this.with({
      deduplicate_insert: 'enable',
      deduplicate_insert_select: 'enable_even_for_bad_queries',
      insert_deduplication_token: token,
    });
  }

  close(): Promise<void> {
    return this.servers.close();
  }

  private get candidates(): readonly ClickHouseServer[] {
    return this.options.server === undefined ? this.servers.inOrder() : [this.options.server];
  }

  /** The same, for a reader of its own. */
  naming(names: Names): ClickHouseSession {
    return new ClickHouseSession(this.servers, { ...this.options, settings: this.settings, names });
  }

  /** A SELECT with what its names mean to this reader, to be a part of another statement. */
  spell(sql: string): string {
    return this.options.names?.spell(sql) ?? sql;
  }

  private named(sql: string, parameters: Parameters): string {
    return spelled(this.options.names?.spell(sql, parameters) ?? sql, parameters);
  }

  /** The rows of one SELECT, in the spelling that both engines read. */
  async select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const read = ({ stream, query_id, response_headers }: Answer) =>
      new ResultSet<typeof ROWS>(stream, ROWS, query_id, () => {}, response_headers).json<unknown[]>();
    const query = `${this.named(sql, parameters)}\nFORMAT ${ROWS}`;
    const [names = [], types = [], ...rows] = await this.ask(query, read, { parameters, isRead: true });
    return rows.map((row) =>
      Object.fromEntries(
        names.map((name, column) => [String(name), toValue(row[column], String(types[column]))]),
      ),
    );
  }

  /** Inserts the rows of a SELECT, `into` a table and its columns. */
  insert(into: string, select: string, parameters: Parameters = {}): Promise<void> {
    return this.write(`INSERT INTO ${into} ${this.named(select, parameters)}`, { parameters });
  }

  /** Runs one statement, in the spelling that both engines read. Its names mean what they do in the database. */
  run(sql: string, parameters: Parameters = {}): Promise<void> {
    return this.write(spelled(sql, parameters), { parameters });
  }

  /** Ends the inserts with a comment that servers go on with after their sender was cut off. */
  async endInserts(comment: string): Promise<void> {
    for (const session of this.onEach()) {
      try {
        await session.run(
          `KILL QUERY
          WHERE user = currentUser()
            AND current_database = currentDatabase()
            AND query_kind = 'Insert'
            AND Settings['log_comment'] = ${quote(comment)}
          SYNC`,
        );
      } catch (error) {
        // A user without the right to look for them can still write: such rows are found, or go with their table.
        const isAway = this.cluster !== undefined && error instanceof StoreUnavailable;
        if (!isAway && !isDenied(error)) throw error;
      }
    }
  }

  /** Runs statements that ClickHouse alone reads, one after the other. */
  async define(text: string): Promise<void> {
    for (const statement of `${text}\n`.split(';\n')) {
      const [verb] = tokensOf(statement);
      if (verb !== undefined && verb !== 'SET') await this.write(statement);
    }
  }

  /** Sends the rows of a Parquet file to a table; the file streams to the server as it is. */
  async upload(path: string, table: string, columns: readonly string[]): Promise<void> {
    const file = await open(path);
    const values = file.createReadStream({ autoClose: false });
    try {
      const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Parquet`;
      await this.write(query, { values });
    } finally {
      values.destroy();
      await file.close();
    }
  }

  /** Writes the rows of one SELECT to a Parquet file, as they stream from the server. */
  download(sql: string, parameters: Parameters, path: string): Promise<void> {
    const write = ({ stream }: Answer) => pipeline(stream, createWriteStream(path));
    return this.ask(`${this.named(sql, parameters)} FORMAT Parquet`, write, { parameters, isRead: true });
  }

  /** Sends a statement that changes something. */
  private write(query: string, given: Given = {}): Promise<void> {
    const { cluster } = this;
    if (cluster === undefined) return this.ask(query, done, given);
    const own = forCluster(withFunctionNames(query), cluster);
    return this.ask(own.query, done, { ...given, settings: own.settings });
  }

  /** Sends a statement with its settings and parameters, and reads its answer. */
  private async ask<T>(sql: string, read: (answer: Answer) => Promise<T>, given: Given = {}): Promise<T> {
    const query = withFunctionNames(sql);
    const { candidates } = this;
    for (const [place, server] of candidates.entries()) {
      try {
        const result = await this.askOf(server, query, read, given);
        this.servers.takeBack(server);
        return result;
      } catch (error) {
        const isLost = connectionFaultOf(error) !== undefined;
        if (isLost) this.servers.leaveOut(server);
        if (!isLost || given.isRead !== true || place === candidates.length - 1)
          throw toCaller(error, this.options.namesServer === true ? server.url : undefined);
      }
    }
    throw new Error('there is no server');
  }

  private async askOf<T>(
    { client, url }: ClickHouseServer,
    query: string,
    read: (answer: Answer) => Promise<T>,
    { parameters = {}, settings, values }: Given,
  ): Promise<T> {
    const sent = Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && 'day' in value ? value.day : value,
    ]);
    const send = async (signal?: AbortSignal) => {
      const answer = await client.exec({
        query,
        ...(values && { values }),
        ...(signal && { abort_signal: signal }),
        query_params: Object.fromEntries(sent),
        clickhouse_settings: settings === undefined ? this.settings : { ...this.settings, ...settings },
        // By itself the client throws the text of an error without its status.
        ignore_error_response: true,
      });
      await requireSuccess(answer);
      return read(answer);
    };
    return url === undefined || this.servers.all.length === 1 ? send() : whileAnswering(url, send);
  }
}
