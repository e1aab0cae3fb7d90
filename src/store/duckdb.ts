import { existsSync, linkSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DuckDBResult } from '@duckdb/node-api';
import { DATABASE, RESTORED } from '../config.js';
import { MS_PER_DAY, stampOf } from '../day.js';
import {
  BIGINT,
  DATE,
  type DuckDBConnection,
  DuckDBDateValue,
  DuckDBInstance,
  type DuckDBType,
  type DuckDBValue,
} from '../duckdb.js';
import { UsageError } from '../exit.js';
import { makeFolder, requireRoom, sync, unwritable } from '../folder.js';
import { Queue } from '../queue.js';
import { Builder, type DailySql, dailySql } from './build.js';
import { applyChanges, definedIn, requireUpToDate } from './change.js';
import { isFatal, isOutOfRoom, StoreFull, StoreUnavailable } from './fault.js';
import { duckDbPlace, Mark, requireFile } from './mark.js';
import { copyBeforeUpgrade } from './precaution.js';
import type { ReferencePaths } from './reference.js';
import { removableOf } from './removal.js';
import { type Mishaps, Renewable } from './renewable.js';
import { checkpointBytes } from './room.js';
import { rowsOf } from './row.js';
import { isSpool, Settler } from './settle.js';
import { quote, valuesOf } from './sql.js';
import type { Batch, OrgDay, Parameters, ReadColumns, Row, Settled, Sources, Store } from './store.js';

/** The format of the file: by itself the engine writes that of its oldest version, in which texts take a fifth more. */
const STORAGE = { storage_compatibility_version: 'v1.5.0' };
/** How much of temporary files a database may have: by itself the engine takes nearly all of the disk. */
const TEMPORARY_GB = 16;
/** How often a checkpoint is tried that somebody else's transaction is in the way of, and how long it waits in between. */
const CHECKPOINTS_AT_MOST = 100;
const CHECKPOINT_RETRY_MS = 50;

/** More than a page of a disk: on one that is full, less may still find room at the end of the log. */
const PROBE_CHARACTERS = 4096;

/** What a database may use of its machine: MiB of memory, and processors; all of them unless it says how many. */
export interface Resources {
  readonly memoryMb: number;
  readonly threads?: number | undefined;
}

/** Another process has the database open. */
export class StoreBusy extends Error {
  override name = 'StoreBusy';
}

/** Whether a database can't be opened as another process has it open. */
export function isLocked(error: unknown): error is Error {
  return (
    error instanceof Error && /lock on file|already open|being used by another process/i.test(error.message)
  );
}

/** The log of a database can't be read. */
class DamagedLog extends UsageError {
  override name = 'DamagedLog';
}

/** What a database that can't be opened means for the one who runs it. */
function sentenceOf(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  if (error instanceof StoreFull)
    return new UsageError(`The disk of ${folder} is full: make room there, and run the command again.`);
  const [cause = ''] = error.message.split('\n');
  if (/replaying WAL/i.test(cause))
    return new DamagedLog(
      `The log ${DATABASE}.wal in ${folder} is damaged, or of another database file: put back the two that go together, restore a backup with "daybook restore", or go on without what is in the log with --accept-loss. (${cause})`,
    );
  if (/permission denied|read-only file system|not a directory/i.test(cause))
    return unwritable(folder, error);
  if (/checksum|corrupt|not a valid DuckDB|could not read enough bytes|serializ|is a directory/i.test(cause))
    return damaged(folder, cause);
  return error;
}

function damaged(folder: string, cause: string): UsageError {
  return new UsageError(
    `The database in ${folder} is damaged: restore a backup with "daybook restore --replace", or move daybook.duckdb* away and ingest again. (${cause})`,
  );
}

/** What a failed command means for the one who runs it. Queries find damage that opening does not, such as a file that was cut off. */
export function sentenceOfQuery(error: unknown, folder: string): unknown {
  const [cause = ''] = error instanceof Error ? error.message.split('\n') : [];
  // Commands also read other files, in which the same can be wrong.
  const isDamage = /Corrupt database file|Could not read enough bytes from file ".*daybook\.duckdb"/;
  return isDamage.test(cause) ? damaged(folder, cause) : error;
}

/** The values of parameters and the types that go with them: left to itself, the driver makes a HUGEINT of a bigint. */
function bind(parameters: Parameters): [Record<string, DuckDBValue>, Record<string, DuckDBType | undefined>] {
  const values: Record<string, DuckDBValue> = {};
  const types: Record<string, DuckDBType | undefined> = {};
  for (const [name, value] of Object.entries(parameters)) {
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

/** A SELECT with the others that it reads from before it. */
export function withSources(sql: string, sources: Sources): string {
  if (Object.keys(sources).length === 0) return sql;
  const texts = Object.entries(sources).map(([name, text]) => `${name} AS (\n${text}\n)`);
  return `WITH ${texts.join(',\n')}\n${sql.replace(/^WITH /m, ', ')}`;
}

/** The statement that writes the rows of a SELECT to Parquet: see Store. */
export function copyOf(sql: string, path: string, partitions: readonly string[]): string {
  const parts = partitions.length === 0 ? '' : `, PARTITION_BY (${partitions.join(', ')})`;
  return `COPY (${sql}) TO ${quote(path)} (FORMAT parquet, COMPRESSION zstd${parts})`;
}

/** One database connection, with what this project asks of one. */
export class Session {
  /** `broke` hears of what makes the whole database useless until it is opened again. */
  constructor(
    readonly connection: DuckDBConnection,
    private readonly broke: (error: unknown) => void = () => {},
  ) {}

  async select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    return rowsOf(await this.query(sql, parameters));
  }

  /**
   * See ReadColumns.
   * TRICKY: not as a stream, whose chunks just end where a query fails that has given some: the driver says nothing of it.
   */
  readonly readColumns: ReadColumns = (sql, sources, parameters) =>
    this.query(withSources(sql, sources), parameters);

  async run(sql: string, parameters: Parameters = {}): Promise<number> {
    const { rowsChanged } = await this.query(sql, parameters);
    return rowsChanged;
  }

  /** Only a statement with parameters is prepared first, and by itself: each turn of the driver takes its time. */
  private async query(sql: string, parameters: Parameters): Promise<DuckDBResult> {
    try {
      if (Object.keys(parameters).length === 0) return await this.connection.run(sql);
      const statement = await this.connection.prepare(sql);
      try {
        statement.bind(...bind(parameters));
        return await statement.run();
      } finally {
        statement.destroySync();
      }
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  /** What an error of the engine is to whoever asked: a full disk or a broken database will pass, and is told as such. */
  private faultOf(error: unknown): unknown {
    if (isFatal(error)) {
      this.broke(error);
      return isOutOfRoom(error)
        ? new StoreFull({ cause: error })
        : new StoreUnavailable(undefined, { cause: error });
    }
    return isOutOfRoom(error) ? new StoreFull({ cause: error }) : error;
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

  /** Runs the work in a transaction that is taken back in any case: what it wrote, nobody else ever sees. */
  async trial<T>(work: () => Promise<T>): Promise<T> {
    await this.run('BEGIN');
    try {
      return await work();
    } finally {
      await this.rollBack();
    }
  }

  /** Never throws: what made it necessary is what must be heard of. */
  private async rollBack(): Promise<void> {
    try {
      await this.run('ROLLBACK');
    } catch (error) {
      // A COMMIT that fails has rolled back already. Any other failure leaves a connection that can't begin anything.
      if (!/no transaction is active/i.test(String(error))) this.broke(error);
    }
  }
}

/**
 * Makes an empty database unless the file is there. It gets its name when it is whole: one that is found can be opened,
 * whoever else makes it at the same time, and wherever this process is killed.
 */
async function makeDatabase(folder: string, file: string): Promise<void> {
  const path = join(folder, file);
  if (existsSync(path)) return;
  const draft = join(folder, `new-${process.pid}.duckdb`);
  rmSync(draft, { force: true });
  const instance = await DuckDBInstance.create(draft, STORAGE);
  instance.closeSync();
  try {
    linkSync(draft, path);
    await sync(folder);
  } catch (error) {
    // Another process was faster, or has the database open already and took the draft for one that was left behind.
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Whether a file of the data folder is one that is removed again in the course of things: a killed process may leave it. */
function isLeftover(file: string): boolean {
  return isSpool(file) || /^new-\d+\.duckdb(\.wal)?$|^answer-[\w-]+\.tmp$|^held-[\w-]+$/.test(file);
}

/** Throws a UsageError for a data folder in which only some of a backup's files are in place. */
function refuseHalfRestored(folder: string): void {
  if (existsSync(join(folder, RESTORED)))
    throw new UsageError(`A restore into ${folder} was cut off: run the same "daybook restore" again.`);
}

/**
 * Opens a database file in the data folder, and clears what a killed process left beside it.
 * Throws StoreBusy when another process has it open.
 */
export async function openInstance(
  folder: string,
  file: string,
  resources: Resources,
): Promise<DuckDBInstance> {
  makeFolder(folder);
  refuseHalfRestored(folder);
  let instance: DuckDBInstance;
  try {
    await makeDatabase(folder, file);
    instance = await openFile(folder, file, resources);
  } catch (error) {
    throw isLocked(error) ? new StoreBusy(error.message) : sentenceOf(error, folder);
  }
  // What a killed process left: having the database open, this is the only one that writes here.
  for (const file of readdirSync(folder))
    if (isLeftover(file)) rmSync(join(folder, file), { force: true, recursive: true });
  return instance;
}

/**
 * Opens the database of a folder. Throws a UsageError where its log can't be read, unless that loss is accepted: then the
 * log is put aside.
 */
async function openDatabase(folder: string, settings: StoreOptions): Promise<DuckDBInstance> {
  if (settings.isReading === true)
    return openFile(folder, DATABASE, settings).catch((error) => {
      throw isLocked(error) ? new StoreBusy(error.message) : sentenceOf(error, folder);
    });
  try {
    return await openInstance(folder, DATABASE, settings);
  } catch (error) {
    if (!(error instanceof DamagedLog) || settings.acceptsLoss !== true) throw error;
    const log = join(folder, `${DATABASE}.wal`);
    renameSync(log, `${log}.damaged-${stampOf(settings.now)}`);
    return openInstance(folder, DATABASE, settings);
  }
}

/** Opens a database file that is there, and touches nothing else. Opened to read, it stays as it is, and so does its log. */
function openFile(
  folder: string,
  file: string,
  { memoryMb, threads, isReading }: Resources & { readonly isReading?: boolean },
): Promise<DuckDBInstance> {
  return DuckDBInstance.create(join(folder, file), {
    ...STORAGE,
    access_mode: isReading === true ? 'READ_ONLY' : 'READ_WRITE',
    memory_limit: `${memoryMb}MiB`,
    max_temp_directory_size: `${TEMPORARY_GB}GiB`,
    ...(threads === undefined ? {} : { threads: String(threads) }),
    autoinstall_known_extensions: 'false',
  });
}

/** What opens a database file whenever it is asked to, but for the first time: then it gives the one that is open. */
export function openingAgain(
  first: DuckDBInstance,
  folder: string,
  file: string,
  resources: Resources & { readonly isReading?: boolean },
): () => Promise<DuckDBInstance> {
  let given: DuckDBInstance | undefined = first;
  return async () => {
    const instance = given ?? (await openFile(folder, file, resources));
    given = undefined;
    return instance;
  };
}

/** Makes a connection, set as all of Daybook's are. */
export async function connect(instance: DuckDBInstance, broke?: (error: unknown) => void): Promise<Session> {
  const session = new Session(await instance.connect(), broke);
  // Rows come in an order only where a query asks for one; keeping the order of the input costs half of an ingest.
  await session.run("SET preserve_insertion_order = false; SET TimeZone = 'UTC'");
  return session;
}

/** How much of what was read a store that rests keeps in memory: MiB. */
const RESTING_MB = 16;

/**
 * Gives memory back that nobody needs: what is cached beyond a limit, and what the allocator keeps for later.
 * TRICKY: setting the limit, even to what it is, is what makes the engine's allocator let go.
 */
export async function limitMemory(session: Session, memoryMb: number): Promise<void> {
  await session.run(`SET memory_limit = '${memoryMb}MiB'`);
}

/** An open database, and all that goes when it has to be opened again. */
interface Opened {
  readonly instance: DuckDBInstance;
  readonly writer: Session;
  readonly settler: Settler;
  readonly builder: Builder;
  /** Connections that wait for a reader. */
  readonly idle: Session[];
  readonly session: () => Promise<Session>;
}

/** How a store is opened: to read, it isn't changed. Tests give queries of their own as `daily`. */
export type StoreOptions = Resources &
  ReferencePaths & {
    now: number;
    daily?: DailySql;
    mishaps?: Mishaps;
    acceptsLoss?: boolean;
    isReading?: boolean;
  };

/** The store of one machine: a DuckDB file, which one process at a time has open. */
export class DuckDbStore implements Store {
  readonly daysAtOnce = 31;
  /** Whoever writes waits for the one before: there is one writing connection. */
  private readonly queue = new Queue();
  /** Whoever holds the file waits for the one before. */
  private readonly holds = new Queue();
  /** How often something was written: by this process, since no other one has the file. */
  private writes = 0;
  private readers = 0;
  private resting: Promise<void> | undefined;

  private constructor(
    private readonly database: Renewable<Opened>,
    private readonly mark: Mark,
    private readonly daily: DailySql,
    private readonly folder: string,
    private readonly settings: Resources & ReferencePaths,
    public definitions: string,
  ) {}

  /**
   * Opens the database in a folder, makes it when it isn't there, and brings its tables up to date. Opened to read, it must be
   * there and up to date. When the engine gives
   * up on it later, it is opened again, and whoever asks meanwhile gets StoreUnavailable. Throws StoreBusy when another
   * process has it open.
   */
  static async open(folder: string, settings: StoreOptions): Promise<DuckDbStore> {
    const daily = settings.daily ?? dailySql;
    const acceptsLoss = settings.acceptsLoss === true;
    refuseHalfRestored(folder);
    requireFile(folder, acceptsLoss);
    const openFile = openingAgain(await openDatabase(folder, settings), folder, DATABASE, settings);
    const database = await Renewable.start<Opened>(
      {
        open: async (broke) => {
          const instance = await openFile();
          const writer = await connect(instance, broke);
          return {
            instance,
            writer,
            settler: new Settler(writer, folder),
            builder: new Builder(writer, daily),
            idle: [],
            session: () => connect(instance, broke),
          };
        },
        close: ({ instance, writer, idle }) => {
          for (const session of [...idle, writer]) session.connection.closeSync();
          instance.closeSync();
        },
      },
      settings.mishaps,
    );
    try {
      // Not on the connection that writes: what isn't committed must not be marked.
      const select: Store['select'] = (sql) => withReader(database, (session) => session.select(sql));
      const tables = await select('SELECT table_name FROM duckdb_tables()');
      const names = new Set(tables.map(({ table_name }) => String(table_name)));
      // Before anything is written, so that what was lost can still be put back.
      const mark = await Mark.open(duckDbPlace(folder), select, settings, names);
      const definitions = await database.use(async ({ writer }) => {
        if (settings.isReading === true) return requireUpToDate(definedIn(writer), settings);
        await copyBeforeUpgrade(writer, folder, settings.now);
        return applyChanges(writer, settings);
      });
      return new DuckDbStore(database, mark, daily, folder, settings, definitions);
    } catch (error) {
      // What is refused stays as it is: by itself the engine would take the rest of a log that was cut off into the file.
      await database
        .use(({ writer }) => writer.run('PRAGMA disable_checkpoint_on_shutdown'))
        .catch(() => undefined);
      await database.close();
      throw sentenceOf(error, folder);
    }
  }

  select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    return this.reading((session) => session.select(sql, parameters));
  }

  snapshot<T>(read: (select: Store['select'], readColumns: ReadColumns) => Promise<T>): Promise<T> {
    return this.reading((session) =>
      session.transaction(() =>
        read((sql, parameters) => session.select(sql, parameters), session.readColumns),
      ),
    );
  }

  async revision(): Promise<string> {
    return String(this.writes);
  }

  preview<T>(due: readonly OrgDay[], read: (select: Store['select']) => Promise<T>): Promise<T> {
    return this.reading((session) =>
      new Builder(session, this.daily).preview(due, () =>
        read((sql, parameters) => session.select(sql, parameters)),
      ),
    );
  }

  private async reading<T>(read: (session: Session) => Promise<T>): Promise<T> {
    while (this.resting !== undefined) await this.resting;
    this.readers += 1;
    try {
      return await withReader(this.database, read);
    } finally {
      this.readers -= 1;
    }
  }

  run(statements: readonly { sql: string; parameters?: Parameters }[]): Promise<void> {
    return this.exclusive(({ writer }) =>
      writer.transaction(async () => {
        for (const { sql, parameters } of statements) await writer.run(sql, parameters);
      }),
    );
  }

  settle(batch: Batch, progress?: (share: number) => void): Promise<Settled> {
    return this.exclusive(({ settler }) => settler.settle(batch, progress));
  }

  build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void> {
    return this.exclusive(({ builder }) => builder.build(due, batch, builtAt));
  }

  removeEvents(days: readonly OrgDay[], removedAt: number): Promise<OrgDay[]> {
    return this.exclusive(({ writer }) =>
      writer.transaction(async () => {
        const removed = await removableOf((sql, parameters) => writer.select(sql, parameters), days);
        if (removed.length === 0) return removed;
        await writer.run(
          `INSERT INTO removed_days SELECT org_id, day, instant($removed_at) FROM (VALUES ${valuesOf(removed)}) AS removed (org_id, day)`,
          { removed_at: removedAt },
        );
        await writer.run('DELETE FROM events WHERE (org_id, day) IN (SELECT org_id, day FROM removed_days)');
        return removed;
      }),
    );
  }

  copy(sql: string, sources: Sources, path: string, partitions: readonly string[] = []): Promise<void> {
    return this.reading(async (session) => {
      await session.run(copyOf(withSources(sql, sources), path, partitions));
    });
  }

  refresh(now: number): Promise<void> {
    return this.exclusive(async ({ writer }) => {
      this.definitions = await applyChanges(writer, { ...this.settings, now });
    });
  }

  rest(): Promise<void> {
    return this.queue.run(async () => {
      // Who reads under the limit might get too little.
      if (this.readers > 0) return;
      this.resting = this.database
        .use(async ({ writer }) => {
          await limitMemory(writer, RESTING_MB).catch(() => undefined);
          await limitMemory(writer, this.settings.memoryMb);
        })
        .finally(() => {
          this.resting = undefined;
        });
      await this.resting;
    });
  }

  /**
   * TRICKY: the database file has the state of its last checkpoint, and the engine writes nothing over what that consists of
   * until the next one: what is written meanwhile goes to the log, and into blocks that are free. So without checkpoints the
   * file can be copied while writers go on.
   */
  hold(at: () => Promise<void>, during: () => Promise<void>): Promise<void> {
    return this.holds.run(() =>
      this.database.use(async ({ writer }, broken) => {
        await requireRoom(this.folder, checkpointBytes(this.folder), 'Taking the log into the database');
        try {
          await this.queue.run(async () => {
            await writer.run("SET checkpoint_threshold = '1000 TB'");
            await checkpoint(writer);
            await at();
          });
          // Once it is opened again nothing keeps the file as it is.
          await untilBroken(during(), broken);
        } finally {
          if (!broken.aborted) await this.queue.run(() => writer.run('RESET checkpoint_threshold'));
        }
      }),
    );
  }

  async probe(now: number): Promise<void> {
    await this.reading((session) =>
      session.transaction(async () => {
        const value = String(now).padEnd(PROBE_CHARACTERS);
        const isThere =
          (await session.run("UPDATE facts SET value = $value WHERE name = 'probe'", { value })) > 0;
        if (!isThere) await session.run("INSERT INTO facts VALUES ('probe', $value)", { value });
      }),
    );
    const [probe] = await this.select("SELECT value FROM facts WHERE name = 'probe'");
    if (probe === undefined) throw new Error('what was written can not be read');
  }

  async close(): Promise<void> {
    await this.queue.run(async () => {
      await this.mark.close();
      await this.database.close();
    });
  }

  private exclusive<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    return this.queue.run(() =>
      this.database.use(work).finally(() => {
        this.writes += 1;
        this.mark.touch();
      }),
    );
  }
}

/** Reads on a connection that nobody else uses meanwhile. */
function withReader<T>(database: Renewable<Opened>, read: (session: Session) => Promise<T>): Promise<T> {
  return database.use(async ({ idle, session: make }) => {
    const session = idle.pop() ?? (await make());
    try {
      return await read(session);
    } finally {
      idle.push(session);
    }
  });
}

/** Moves all that is committed from the log into the file. A preview that is under way may be in the way: it ends soon. */
async function checkpoint(session: Session): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await session.run('CHECKPOINT');
      return;
    } catch (error) {
      if (attempt === CHECKPOINTS_AT_MOST || !/cannot checkpoint/i.test(String(error))) throw error;
      await wait(CHECKPOINT_RETRY_MS);
    }
  }
}

/** Waits for work, and no longer than until the database breaks: then it throws StoreUnavailable. */
async function untilBroken(work: Promise<void>, broken: AbortSignal): Promise<void> {
  let fail = () => {};
  const cutOff = new Promise<never>((_, reject) => {
    fail = () => reject(new StoreUnavailable());
  });
  broken.addEventListener('abort', fail);
  if (broken.aborted) fail();
  try {
    await Promise.race([work, cutOff]);
  } finally {
    broken.removeEventListener('abort', fail);
  }
}
