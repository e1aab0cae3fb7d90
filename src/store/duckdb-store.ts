import { setTimeout as wait } from 'node:timers/promises';
import type { DuckDBInstance } from '../arrow/duckdb-driver.js';
import { DATABASE, refuseHalfRestored } from '../disk/data-files.js';
import { requireRoom } from '../disk/folder.js';
import { cleanCopy, exchangeFile } from './clean-copy.js';
import {
  type DatabaseOptions,
  openDatabase,
  openingAgain,
  type Resources,
  sentenceOf,
} from './database-file.js';
import { checkpointBytes } from './database-size.js';
import { Builder, type DailySql, dailySql } from './day-builder.js';
import { rewritingStatements } from './duckdb-rewriting.js';
import { connect, limitMemory, type Session, withWriter } from './duckdb-session.js';
import { duckDbPlace, Mark, requireFile } from './loss-mark.js';
import { Processors } from './processors.js';
import { Queue } from './queue.js';
import { withReadable } from './readable-batch.js';
import type { ReferencePaths } from './reference-data.js';
import { Remapper, withdraw } from './remapper.js';
import { removableOf } from './removable-days.js';
import { type Mishaps, Renewable } from './renewable.js';
import { applyChanges, bringUpToDate, definedIn, requireUpToDate } from './schema-change.js';
import { Settler } from './settler.js';
import { copyOf, valuesOf, withSources } from './sql-text.js';
import {
  type Batch,
  newestBatch,
  type OrgDay,
  type Parameters,
  type Read,
  type Rewriting,
  type Row,
  type Settled,
  type Sources,
  type Store,
  type Task,
  type Withdrawal,
} from './store.js';
import { StoreUnavailable } from './store-fault.js';
import { Turns } from './turns.js';
import { copyBeforeUpgrade } from './upgrade-copy.js';

/** How often a checkpoint is tried that somebody else's transaction is in the way of, and how long it waits in between. */
const CHECKPOINTS_AT_MOST = 100;
const CHECKPOINT_RETRY_MS = 50;

/** How long the file waits for rows that are just being appended before it is written anew. */
const APPEND_RETRY_MS = 5;

/** More than a page of a disk: on one that is full, less may still find room at the end of the log. */
const PROBE_CHARACTERS = 4096;

/** The cache that an idle store keeps: MiB. */
const RESTING_MB = 16;

/** An open database, and all that goes when it has to be opened again. */
interface Opened {
  readonly instance: DuckDBInstance;
  readonly writer: Session;
  readonly settler: Settler;
  readonly remapper: Remapper;
  readonly builder: Builder;
  readonly processors: Processors;
  /** Connections that wait for a reader. */
  readonly idle: Session[];
  readonly session: () => Promise<Session>;
}

/** How a store is opened. Tests give queries of their own as `daily`. */
export type StoreOptions = DatabaseOptions & ReferencePaths & { daily?: DailySql; mishaps?: Mishaps };

/** The store of one machine: a DuckDB file, which one process at a time has open. */
export class DuckDbStore implements Store {
  readonly daysAtOnce = 31;
  readonly groups = [0];
  /** Writers take turns on the one writing connection. */
  private readonly queue = new Queue();
  private readonly turns = new Turns();
  /** Holds of the file take turns. */
  private readonly holds = new Queue();
  /** How often something was written: by this process, since no other one has the file. */
  private writes = 0;
  private readers = 0;
  private resting: Promise<void> | undefined;
  /** The file is written anew. */
  private copying: Promise<void> | undefined;
  private appends = 0;

  private constructor(
    private readonly database: Renewable<Opened>,
    private readonly mark: Mark,
    private readonly daily: DailySql,
    private readonly folder: string,
    private readonly settings: Resources & ReferencePaths & { readonly now: number },
    readonly definitions: string,
  ) {}

  /**
   * Opens the database in a folder, makes it when it isn't there, and brings its tables up to date. Opened to read, it must be
   * there and up to date. When the engine gives
   * up on it later, it is opened again, and requests meanwhile get StoreUnavailable. Throws StoreBusy when another
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
          return withWriter(instance, broke, async (writer) => {
            const processors = new Processors(writer, folder, settings.threads);
            await processors.choose();
            return {
              instance,
              writer,
              settler: new Settler(writer, folder),
              remapper: new Remapper(writer, folder),
              builder: new Builder(writer, daily),
              processors,
              idle: [],
              session: () => connect(instance, broke),
            };
          });
        },
        close: ({ instance, writer, idle }) => {
          for (const session of [...idle, writer]) session.connection.closeSync();
          instance.closeSync();
        },
      },
      settings.mishaps,
    );
    try {
      // Not on the writing connection: only committed rows may be marked.
      const select: Store['select'] = (sql) => withReader(database, (session) => session.select(sql));
      const names = await withReader(database, (session) => definedIn(session).tables());
      // Before anything is written, so that a lost file can still be put back.
      const mark = await Mark.open(duckDbPlace(folder), select, settings, names);
      const definitions = await database.use(async ({ writer }) => {
        if (settings.isReading === true) return requireUpToDate(definedIn(writer), settings);
        await copyBeforeUpgrade(writer, folder, settings.now);
        return applyChanges(writer, settings);
      });
      return new DuckDbStore(database, mark, daily, folder, settings, definitions);
    } catch (error) {
      // A refused database stays as it is: the engine would take the readable part of a truncated log into the file.
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

  snapshot<T>(read: Read<T>): Promise<T> {
    return this.reading((session) => session.transaction(() => read(session.select, session.readColumns)));
  }

  async revision(): Promise<string> {
    return String(this.writes);
  }

  inTurn<T>(name: string, work: (store: Store) => Promise<T>): Promise<T> {
    return this.turns.run(name, () => work(this));
  }

  async stateRevision(): Promise<string> {
    return '';
  }

  preview<T>(due: readonly OrgDay[], read: Read<T>): Promise<T> {
    return this.reading((session) =>
      new Builder(session, this.daily).preview(due, () => read(session.select, session.readColumns)),
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

  async append(sql: string): Promise<void> {
    while (this.copying !== undefined) await this.copying;
    this.appends += 1;
    try {
      await this.reading(async (session) => void (await session.run(sql)));
    } finally {
      this.appends -= 1;
    }
  }

  settle(batch: Batch, progress?: (share: number) => void, signal?: AbortSignal): Promise<Settled> {
    return withReadable(batch, { folder: this.folder, signal }, (readable) =>
      this.exclusive(async ({ settler, processors }) => {
        await processors.choose(readable.files);
        return settler.settle(readable, progress);
      }),
    );
  }

  remap(batch: Batch, progress?: (share: number) => void, signal?: AbortSignal): Promise<Settled> {
    return withReadable(batch, { folder: this.folder, signal }, (readable) =>
      this.exclusive(async ({ settler, remapper, processors }) => {
        await processors.choose(readable.files);
        settler.forget();
        return remapper.settle(readable, progress);
      }),
    );
  }

  withdraw(withdrawal: Withdrawal): Promise<number> {
    return this.exclusive(({ writer }) => withdraw(writer, withdrawal));
  }

  groupOf(): number {
    return 0;
  }

  leading<T>(_task: Task, work: () => Promise<T>): Promise<T> {
    return work();
  }

  trying<T>(_task: Task, work: () => Promise<T>): Promise<T> {
    return work();
  }

  asOnly<T>(_name: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  newestBatch(): Promise<number> {
    return newestBatch(this);
  }

  build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void> {
    return this.exclusive(async ({ builder, processors, writer }) => {
      await processors.choose();
      // By itself the engine tidies up whenever it commits, and writes rows of other days again before the new days are there.
      await writer.run('SET max_vacuum_tasks = 0');
      const reset = () => writer.run('RESET max_vacuum_tasks').catch(() => undefined);
      await builder.build(due, batch, builtAt, this.definitions).finally(reset);
    });
  }

  removeEvents(days: readonly OrgDay[], removedAt: number): Promise<OrgDay[]> {
    return this.exclusive(({ writer }) =>
      writer.transaction(async () => {
        const removed = await removableOf(writer.select, days);
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

  copy(sql: string, sources: Sources, path: string, partitions: readonly string[] = []) {
    return this.reading((session) => session.copy(copyOf(withSources(sql, sources), path, partitions)));
  }

  refresh(): Promise<string[]> {
    return this.exclusive(({ writer }) =>
      writer.transaction(() => bringUpToDate(definedIn(writer), this.settings)),
    );
  }

  rest(): Promise<void> {
    return this.queue.run(async () => {
      // A query that runs under the limit might get too little memory.
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

  tidy(): Promise<void> {
    // A hold of the file needs it unchanged.
    return this.holds.run(async () => {
      await requireRoom(this.folder, checkpointBytes(this.folder), 'Tidying up the database');
      await this.queue.run(() => this.database.use(({ writer }) => checkpoint(writer)));
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
        await requireRoom(this.folder, checkpointBytes(this.folder), 'Merging the log into the database');
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

  rewrite(rewriting: Rewriting): Promise<void> {
    return this.turns.run(rewriting.turn, () => this.run(rewritingStatements(rewriting)));
  }

  async renewFile(rows: Sources): Promise<void> {
    let resume = () => {};
    await this.holds.run(() =>
      this.queue.run(async () => {
        // Rows that are appended meanwhile would be lost.
        this.copying = new Promise((resolve) => {
          resume = resolve;
        });
        try {
          while (this.appends > 0) await wait(APPEND_RETRY_MS);
          const draft = await this.database.use(({ writer }) =>
            cleanCopy(writer, this.folder, { ...this.settings, rows }),
          );
          // Readers wait for the new file.
          this.resting = this.database
            .reopen(({ writer }) => exchangeFile(writer, this.folder, draft))
            .finally(() => {
              this.resting = undefined;
            });
          await this.resting;
        } finally {
          this.copying = undefined;
          this.writes += 1;
          resume();
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
