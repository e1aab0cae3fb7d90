import type { DuckDBResult } from '@duckdb/node-api';
import {
  BIGINT,
  connectTo,
  DATE,
  type DuckDBConnection,
  DuckDBDateValue,
  type DuckDBInstance,
  type DuckDBPreparedStatement,
  type DuckDBType,
  type DuckDBValue,
} from '../arrow/duckdb-driver.js';
import { MS_PER_DAY } from '../day.js';
import { rowsOf } from './duckdb-rows.js';
import { withSources } from './sql-text.js';
import type { Parameter, Parameters, ReadColumns, Row, WrittenFile } from './store.js';
import {
  isFatal,
  isOutOfMemory,
  isOutOfRoom,
  isUnwritable,
  StoreFull,
  StoreOutOfMemory,
  StoreUnavailable,
  StoreUnwritable,
} from './store-fault.js';

/** A database connection with typed parameters, transactions and errors that people understand. */
export class Session {
  /** `broke` is called with an error after which the database has to be opened again. */
  constructor(
    readonly connection: DuckDBConnection,
    private readonly broke: (error: unknown) => void = () => {},
  ) {}

  readonly select = async (sql: string, parameters: Parameters = {}): Promise<Row[]> =>
    rowsOf(await this.query(sql, parameters));

  /**
   * See ReadColumns.
   * TRICKY: not as a stream. If a query fails after some chunks, the stream just ends, and the driver reports no error.
   */
  readonly readColumns: ReadColumns = (sql, sources, parameters) =>
    this.query(withSources(sql, sources), parameters);

  async run(sql: string, parameters: Parameters = {}): Promise<number> {
    const { rowsChanged } = await this.query(sql, parameters);
    return rowsChanged;
  }

  /** Runs a COPY ... TO with RETURN_STATS. */
  async copy(sql: string): Promise<WrittenFile[]> {
    const written = await (await this.query(sql, {})).getRowObjectsJson();
    return written.map(({ filename, count, file_size_bytes }) => ({
      path: String(filename),
      rows: Number(count),
      bytes: Number(file_size_bytes),
    }));
  }

  /** Only a statement with parameters is prepared first, and by itself: each turn of the driver takes its time. */
  private async query(sql: string, parameters: Parameters): Promise<DuckDBResult> {
    try {
      if (Object.keys(parameters).length === 0) return await this.connection.run(sql);
      const spelled = withListsSpelled(sql, parameters);
      const statement = await this.connection.prepare(spelled.sql);
      try {
        statement.bind(...bind(statement, spelled.parameters));
        return await statement.run();
      } finally {
        statement.destroySync();
      }
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  /** Turns an error of the engine into one for the caller: an error that will pass, or can be mended, says so. */
  private faultOf(error: unknown): unknown {
    if (isFatal(error)) {
      this.broke(error);
      return unwritten(error) ?? new StoreUnavailable(undefined, { cause: error });
    }
    const fault = unwritten(error);
    if (fault !== undefined) return fault;
    return isOutOfMemory(error) ? new StoreOutOfMemory({ cause: error }) : error;
  }

  /** Runs the work in a transaction: all of it, or nothing when it throws. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.run('BEGIN');
    try {
      const result = await work();
      await this.run('COMMIT');
      return result;
    } catch (error) {
      await this.rollBack();
      throw error;
    }
  }

  /** Runs the work in a transaction that is always rolled back. */
  async trial<T>(work: () => Promise<T>): Promise<T> {
    await this.run('BEGIN');
    try {
      return await work();
    } finally {
      await this.rollBack();
    }
  }

  /** Never throws, so that the error that made the rollback necessary is the one that is reported. */
  private async rollBack(): Promise<void> {
    try {
      await this.run('ROLLBACK');
    } catch (error) {
      // A COMMIT that fails has rolled back already. Any other failure leaves a connection that can't begin anything.
      if (!/no transaction is active/i.test(String(error))) this.broke(error);
    }
  }
}

/** The error for the caller if the disk refused a write. */
function unwritten(error: unknown): StoreUnavailable | undefined {
  if (isOutOfRoom(error)) return new StoreFull({ cause: error });
  return isUnwritable(error) ? new StoreUnwritable({ cause: error }) : undefined;
}

/** Makes a connection, set as all of Daybook's are. */
export async function connect(instance: DuckDBInstance, broke?: (error: unknown) => void): Promise<Session> {
  const session = new Session(await connectTo(instance), broke);
  // Rows come in an order only where a query asks for one; keeping the order of the input costs half of an ingest. Files are read once, but by
  // default the engine caches their content, even after they are gone, until its memory is full.
  await session.run('SET preserve_insertion_order = false; SET GLOBAL enable_external_file_cache = false');
  return session;
}

/** Sets up a database and its writing connection. Closes both if that fails, so that the file can be opened again. */
export async function withWriter<T>(
  instance: DuckDBInstance,
  broke: (error: unknown) => void,
  make: (writer: Session) => Promise<T>,
): Promise<T> {
  let writer: Session | undefined;
  try {
    writer = await connect(instance, broke);
    return await make(writer);
  } catch (error) {
    writer?.connection.closeSync();
    instance.closeSync();
    throw error;
  }
}

/**
 * Gives unneeded memory back: the cache beyond a limit, and the free pages of the allocator.
 * TRICKY: the engine's allocator lets go of them when the limit is set, even to its current value.
 */
export async function limitMemory(session: Session, memoryMb: number): Promise<void> {
  await session.run(`SET memory_limit = '${memoryMb}MiB'`);
}

type Single = Exclude<Parameter, readonly unknown[]>;

function isList(value: Parameter | undefined): value is readonly string[] {
  return typeof value === 'object' && value !== null && !('day' in value);
}

/**
 * A statement with each list as single parameters: `IN $name` as `IN ($name, $name_2)`. The engine would take a list too, but would look
 * through it for each row: it compares with one constant, and looks several up in a hash table. An expression, since parameters are found by
 * their names.
 */
function withListsSpelled(
  sql: string,
  parameters: Parameters,
): { readonly sql: string; readonly parameters: Readonly<Record<string, Single>> } {
  const nameOf = (name: string, index: number) => (index === 0 ? name : `${name}_${index + 1}`);
  return {
    sql: sql.replaceAll(/\bIN \$(\w+)/g, (_, name: string) => {
      const value = parameters[name];
      const names = isList(value) ? value.map((_, index) => nameOf(name, index)) : [name];
      return `IN (${names.map((one) => `$${one}`).join(', ')})`;
    }),
    parameters: Object.fromEntries(
      Object.entries(parameters).flatMap(([name, value]): [string, Single][] =>
        isList(value) ? value.map((one, index) => [nameOf(name, index), one]) : [[name, value]],
      ),
    ),
  };
}

/**
 * The values of the parameters that a statement has, and the types that go with them: left to itself, the driver makes a HUGEINT of a bigint.
 */
function bind(
  statement: DuckDBPreparedStatement,
  parameters: Readonly<Record<string, Single>>,
): [Record<string, DuckDBValue>, Record<string, DuckDBType | undefined>] {
  const values: Record<string, DuckDBValue> = {};
  const types: Record<string, DuckDBType | undefined> = {};
  for (let index = 1; index <= statement.parameterCount; index += 1) {
    const name = statement.parameterName(index);
    const value = parameters[name];
    if (value === undefined) continue;
    const isDay = typeof value === 'object' && value !== null;
    const isInteger = Number.isInteger(value);
    values[name] = isDay
      ? new DuckDBDateValue(Date.parse(value.day) / MS_PER_DAY)
      : isInteger
        ? BigInt(value as number)
        : value;
    types[name] = isDay ? DATE : isInteger ? BIGINT : undefined;
  }
  return [values, types];
}
