import { randomInt, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { DuckDBInstance } from '@duckdb/node-api';
import { STAGING } from '../disk/data-files.js';
import { makeFolder } from '../disk/folder.js';
import { rename, rm } from '../disk/renames.js';
import { reasonOf, UsageError } from '../exit.js';
import type { ClickHouseAddress } from '../settings/store-address.js';
import { emptyCopy, exchangeFile } from './clean-copy.js';
import { ClickHouseBuilder, type Commit } from './clickhouse/clickhouse-builder.js';
import { ClickHouseLedger } from './clickhouse/clickhouse-ledger.js';
import { ClickHouseRewriter, finishRenewal } from './clickhouse/clickhouse-rewriter.js';
import { applyChanges, definedIn, requireHome } from './clickhouse/clickhouse-schema.js';
import { ClickHouseServers } from './clickhouse/clickhouse-servers.js';
import { ClickHouseSession } from './clickhouse/clickhouse-session.js';
import { ClickHouseSettler } from './clickhouse/clickhouse-settler.js';
import { EventRemover } from './clickhouse/event-remover.js';
import type { Ledger } from './clickhouse/ledger.js';
import { Replicas } from './clickhouse/replicas.js';
import { openInstance, openingAgain, type Resources } from './database-file.js';
import { dailySql } from './day-builder.js';
import { connect, limitMemory, type Session, withWriter } from './duckdb-session.js';
import type { StoreOptions } from './duckdb-store.js';
import { clickHousePlace, Mark } from './loss-mark.js';
import { Queue } from './queue.js';
import { withReadable } from './readable-batch.js';
import type { ReferencePaths } from './reference-data.js';
import { Renewable } from './renewable.js';
import {
  applyChanges as applyDuckDbChanges,
  bringUpToDate,
  type Defined,
  isOfNewerVersion,
  requireUpToDate,
} from './schema-change.js';
import { sentencesOf } from './shared-files.js';
import { copyOf, quote, withSources } from './sql-text.js';
import { isAboutState } from './state/homes.js';
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
  type Statement,
  type Store,
  type Task,
  type Withdrawal,
} from './store.js';
import { StoreUnavailable } from './store-fault.js';
import { Turns } from './turns.js';

/** Names the work of whoever changes tables, or their definitions, prices and rates. */
export const SCHEMA = 'schema';

/** Names the work of whoever copies state. */
export const PUBLISH = 'publish';

/** Names the work of whoever exchanges tables for copies of them. */
const EXCHANGE = 'exchange';

/** How often reads are done again that a commit came into, before they wait for their turn. */
const READS_AT_MOST = 3;

/** How long a statement may take: a build of many days is one statement a table. */
const REQUEST_TIMEOUT_MS = 3_600_000;

/** The name is a database's: it goes into a statement as it is. */
function connectTo({ urls, username, password, database, cluster }: ClickHouseAddress): ClickHouseServers {
  const servers = urls.map((url) => ({
    url,
    client: createClient({
      url,
      username,
      password,
      database,
      application: 'daybook',
      request_timeout: REQUEST_TIMEOUT_MS,
      compression: { response: true },
      // Errors are thrown, and reported once.
      log: { level: ClickHouseLogLevel.OFF },
    }),
  }));
  return ClickHouseServers.from(servers, cluster, randomInt(urls.length));
}

/**
 * Creates the database if it is missing. A user without that right can use one that somebody else has created. Throws a UsageError where
 * that can't be, or there is none to read, and StoreUnavailable when no server can be reached.
 */
async function requireDatabase(address: ClickHouseAddress, isReading = false): Promise<void> {
  const servers = connectTo({ ...address, database: 'system' });
  const urls = address.urls.join(' or ');
  try {
    const session = new ClickHouseSession(servers, { namesServer: true });
    const found = await session.select('SELECT 1 FROM system.databases WHERE name = $name', {
      name: address.database,
    });
    if (found.length > 0) return;
    if (isReading)
      throw new UsageError(
        `The ClickHouse server ${urls} has no database ${address.database}: "daybook ingest" makes it, and DAYBOOK_STORE can name another.`,
      );
    await session.run(`CREATE DATABASE ${address.database}`);
  } catch (error) {
    if (error instanceof UsageError || error instanceof StoreUnavailable) throw error;
    throw new UsageError(
      `The ClickHouse server ${urls} can't be used (${reasonOf(error)}): correct DAYBOOK_STORE.`,
    );
  } finally {
    await servers.close();
  }
}

/** Connects to a database. Makes it, and throws, as requireDatabase does. */
export async function connectToDatabase(
  address: ClickHouseAddress,
  isReading = false,
): Promise<ClickHouseServers> {
  await requireDatabase(address, isReading);
  return connectTo(address);
}

/** Opens the file in which batches are checked. A reader can't make its tables, so they are made before. */
async function openStaging(folder: string, settings: StoreOptions): Promise<DuckDBInstance> {
  if (settings.isReading === true && !existsSync(join(folder, STAGING))) {
    makeFolder(folder);
    await rename(join(folder, await emptyCopy(folder, settings)), join(folder, STAGING));
  }
  return openInstance(folder, STAGING, settings);
}

/** It keeps nothing. */
async function removeStaging(folder: string): Promise<void> {
  for (const file of [STAGING, `${STAGING}.wal`]) await rm(join(folder, file), { force: true });
}

/** What makes rows count, and the state that they are settled by, where both are in PostgreSQL. */
export interface Elsewhere {
  readonly ledger: Ledger;
  readonly state: Pick<Store, 'select'>;
}

/** The open file in which batches are checked, and all that goes when it has to be opened again. */
interface Staging {
  readonly instance: DuckDBInstance;
  readonly writer: Session;
  readonly settler: ClickHouseSettler;
  readonly session: () => Promise<Session>;
}

/** The store for those who outgrow one machine: a ClickHouse database, which one Daybook at a time writes to. */
export class ClickHouseStore implements Store {
  /** A build takes a second however small it is. */
  readonly daysAtOnce = 186;
  /** Writers take turns. */
  private readonly queue = new Queue();
  private readonly turns = new Turns();
  /** Rises before and after every step that changes what readers see. */
  private commits = 0;
  /** How often this process wrote. */
  private writes = 0;
  /** Tables are copied, so that no row may come meanwhile. */
  private isRenewing = false;
  /** That failed. Only some tables may be exchanged, so nobody reads or writes before all are. */
  private isCutOff = false;
  private readonly appends = new Set<Promise<void>>();
  /** Builds and previews that go on beside the queue. */
  private readonly running = new Set<Promise<void>>();
  /** The staging file is exchanged. */
  private exchanging: Promise<void> | undefined;

  private constructor(
    private readonly session: ClickHouseSession,
    private readonly replicas: Replicas,
    private readonly ledger: Ledger,
    private readonly staging: Renewable<Staging>,
    private readonly mark: Mark,
    private readonly builder: ClickHouseBuilder,
    private readonly remover: EventRemover,
    private readonly settings: Resources & ReferencePaths & { readonly now: number },
    private readonly folder: string,
    readonly definitions: string,
    private readonly defined: Defined,
  ) {}

  /**
   * Opens a database, makes it when it isn't there, and brings its tables up to date. Opened to read, it must be there and up to
   * date. Batches are read and checked in a DuckDB file of the folder, which keeps nothing. Throws StoreBusy when another process has that file open,
   * StoreUnavailable when the server can't be reached, and a UsageError when it refuses.
   */
  static async open(
    folder: string,
    address: ClickHouseAddress,
    settings: StoreOptions,
    elsewhere?: Elsewhere,
  ): Promise<ClickHouseStore> {
    return ClickHouseStore.with(
      folder,
      settings,
      () => connectToDatabase(address, settings.isReading),
      elsewhere,
    );
  }

  /** The same with a client that is connected to the database in another way. The database has no state if that is `elsewhere`. */
  static async with(
    folder: string,
    settings: StoreOptions,
    connected: () => Promise<ClickHouseClient | ClickHouseServers>,
    elsewhere?: Elsewhere,
  ): Promise<ClickHouseStore> {
    const isStateElsewhere = elsewhere !== undefined;
    let instance = await openStaging(folder, settings);
    let client: ClickHouseClient | ClickHouseServers | undefined;
    try {
      client = await connected();
      const session = new ClickHouseSession(client);
      const ledger = elsewhere?.ledger ?? new ClickHouseLedger(session);
      const replicas = new Replicas(session, ledger);
      const defined = definedIn(session, isStateElsewhere);
      await requireHome(defined, isStateElsewhere);
      if (await isOfNewerVersion(defined)) {
        instance.closeSync();
        // That version may have run here.
        await removeStaging(folder);
        instance = await openStaging(folder, settings);
      }
      const openFile = openingAgain(instance, folder, STAGING, settings);
      const change = async () => {
        // Before an upgrade, since the copies have the columns of before.
        if (!isStateElsewhere) await finishRenewal(session, (step) => step());
        return applyChanges(session, settings, isStateElsewhere);
      };
      const definitions =
        settings.isReading === true
          ? await requireUpToDate(defined, settings)
          : ((await ledger.leading(SCHEMA, change, 'waits')) as string);
      const staging = await Renewable.start<Staging>(
        {
          open: async (broke) => {
            const opened = await openFile();
            return withWriter(opened, broke, async (writer) => {
              await applyDuckDbChanges(writer, settings);
              return {
                instance: opened,
                writer,
                settler: new ClickHouseSettler(
                  session,
                  replicas,
                  ledger,
                  writer,
                  folder,
                  elsewhere?.state ?? session,
                ),
                session: () => connect(opened, broke),
              };
            });
          },
          close: ({ instance, writer }) => {
            writer.connection.closeSync();
            instance.closeSync();
          },
        },
        settings.mishaps,
      );
      const select: Store['select'] = async (sql) =>
        elsewhere !== undefined && isAboutState(sql)
          ? elsewhere.state.select(sql)
          : (await replicas.having(await ledger.counted())).select(sql);
      const mark = await Mark.open(clickHousePlace(folder), select, settings);
      const builder = new ClickHouseBuilder(replicas, ledger, settings.daily ?? dailySql, definitions);
      const remover = new EventRemover(replicas, ledger);
      return new ClickHouseStore(
        session,
        replicas,
        ledger,
        staging,
        mark,
        builder,
        remover,
        settings,
        folder,
        definitions,
        defined,
      );
    } catch (error) {
      await client?.close();
      instance.closeSync();
      throw error;
    }
  }

  select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    return this.snapshot((select) => select(sql, parameters));
  }

  /**
   * All SELECTs name the same numbers, and it reads again if tables were exchanged meanwhile. Where the views of the database say what counts,
   * it does when a batch or a build came to count; that is rare, and takes as long as one insert.
   */
  async snapshot<T>(read: Read<T>): Promise<T> {
    let servers = this.session.onEach().length;
    for (let counted = await this.ledger.counted(); counted !== undefined; ) {
      if (counted.exchanges % 2 === 0) {
        try {
          const result = await this.readBy(await this.replicas.having(counted), read);
          if ((await this.ledger.exchanges()) === counted.exchanges) return result;
        } catch (error) {
          // Of a server that ended meanwhile, the next one is asked.
          servers = error instanceof StoreUnavailable ? servers - 1 : 0;
          if (servers <= 0 && (await this.ledger.exchanges()) === counted.exchanges) throw error;
        }
      } else await this.finishExchange();
      counted = await this.ledger.counted();
    }
    const work = () => this.readBy(this.session, read);
    for (let reads = 0; reads < READS_AT_MOST && !this.isCutOff; reads += 1) {
      const before = this.commits;
      try {
        const result = await work();
        if (before === this.commits && before % 2 === 0) return result;
      } catch (error) {
        // A table that was exchanged meanwhile can be gone before it is read.
        if (before === this.commits) throw error;
      }
    }
    return this.exclusive(work);
  }

  private readBy<T>(session: ClickHouseSession, read: Read<T>): Promise<T> {
    return read(
      (sql, parameters) => session.select(sql, parameters),
      // All of it at once, since the files go.
      (sql, sources, parameters) =>
        this.withRows(session, sql, sources, parameters, (duckdb, text) => duckdb.readColumns(text, {}, {})),
    );
  }

  /** Does work when nobody writes. */
  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      if (this.isCutOff) await finishRenewal(this.session, this.commit);
      this.isCutOff = false;
      return work();
    });
  }

  async copy(sql: string, sources: Sources, path: string, partitions: readonly string[] = []) {
    const session = await this.replicas.having(await this.ledger.counted());
    return this.withRows(session, sql, sources, {}, (duckdb, text) =>
      duckdb.copy(copyOf(text, path, partitions)),
    );
  }

  /** The rows of sources come as Parquet files, which the embedded DuckDB reads. */
  private async withRows<T>(
    from: ClickHouseSession,
    sql: string,
    sources: Sources,
    parameters: Parameters,
    work: (session: Session, sql: string) => Promise<T>,
  ): Promise<T> {
    while (this.exchanging !== undefined) await this.exchanging;
    return this.staging.use(async ({ session }) =>
      this.withRowsOf(from, await session(), sql, sources, parameters, work),
    );
  }

  private async withRowsOf<T>(
    from: ClickHouseSession,
    session: Session,
    sql: string,
    sources: Sources,
    parameters: Parameters,
    work: (session: Session, sql: string) => Promise<T>,
  ): Promise<T> {
    const paths: string[] = [];
    try {
      const files: Record<string, string> = {};
      for (const [name, text] of Object.entries(sources)) {
        // A killed process may leave a file of this name: see isSpool.
        const path = join(this.folder, `rows-${name}_${randomUUID().replaceAll('-', '')}.parquet`);
        paths.push(path);
        await from.download(text, parameters, path);
        files[name] = `SELECT * FROM read_parquet(${quote(path)})`;
      }
      return await work(session, withSources(sql, files));
    } finally {
      session.connection.closeSync();
      for (const path of paths) await rm(path, { force: true });
    }
  }

  /** Asked of the database, since another process may have built. */
  async revision(): Promise<string> {
    return `${await this.ledger.revision()} ${this.writes}`;
  }

  get groups(): readonly number[] {
    return this.ledger.groups;
  }

  groupOf(orgId: string): number {
    return this.ledger.groupOf(orgId);
  }

  leading<T>(task: Task, work: () => Promise<T>): Promise<T> {
    return this.ledger.leading(task, work, 'waits') as Promise<T>;
  }

  trying<T>(task: Task, work: () => Promise<T>): Promise<T | undefined> {
    return this.ledger.leading(task, work, 'tries');
  }

  asOnly<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.ledger.leading(name, work, 'keeps');
  }

  async newestBatch(group: number): Promise<number> {
    const counted = await this.ledger.counted();
    return counted?.batch.newest[group] ?? newestBatch(this.session);
  }

  inTurn<T>(name: string, work: (store: Store) => Promise<T>): Promise<T> {
    return this.turns.run(name, () => work(this));
  }

  async stateRevision(): Promise<string> {
    return '';
  }

  preview<T>(due: readonly OrgDay[], read: Read<T>): Promise<T> {
    return this.beside(() =>
      this.builder.preview(due, (session, names) => this.readBy(session.naming(names), read)),
    );
  }

  /** Does work whose rows have numbers that nobody else's have. Where several nodes write, nobody waits for it. */
  private beside<T>(work: () => Promise<T>): Promise<T> {
    if (this.groups.length === 1) return this.exclusive(work);
    const running = work();
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.running.add(ended);
    void ended.then(() => this.running.delete(ended));
    return running;
  }

  /** Runs small statements one after the other. ClickHouse has no transactions: each counts by itself. */
  run(statements: readonly Statement[]): Promise<void> {
    return this.writing(async () => {
      for (const { sql, parameters } of statements) await this.session.run(sql, parameters);
    });
  }

  append(sql: string): Promise<void> {
    if (this.isRenewing || this.isCutOff) return this.exclusive(() => this.session.run(sql));
    const appended = this.session.run(sql).finally(() => this.appends.delete(appended));
    this.appends.add(appended);
    return appended;
  }

  /** Does work that writes rows of state that is elsewhere. It waits for others that do, and for tables that are exchanged. */
  publishing<T>(work: (insert: (sql: string) => Promise<void>) => Promise<T>): Promise<T> {
    const write = () => work((sql) => this.session.run(sql));
    return this.ledger.leading(PUBLISH, write, 'waits') as Promise<T>;
  }

  settle(batch: Batch, progress?: (share: number) => void, signal?: AbortSignal): Promise<Settled> {
    return withReadable(batch, { folder: this.folder, signal }, (readable) =>
      this.settling(batch.files[0]?.orgId, (group) =>
        this.staging.use(({ settler }) => settler.settle(readable, group, progress, this.commit)),
      ),
    );
  }

  remap(batch: Batch, progress?: (share: number) => void, signal?: AbortSignal): Promise<Settled> {
    return withReadable(batch, { folder: this.folder, signal }, (readable) =>
      this.exclusive(() => this.staging.use(({ settler }) => settler.remap(readable, progress))),
    );
  }

  withdraw(withdrawal: Withdrawal): Promise<number> {
    return this.settling(withdrawal.orgId, (group) =>
      this.staging.use(({ settler }) => settler.withdraw(withdrawal, group, this.commit)),
    );
  }

  private settling<T>(orgId: string | undefined, work: (group: number) => Promise<T>): Promise<T> {
    const group = orgId === undefined ? 0 : this.groupOf(orgId);
    return this.leading(`settle ${group}`, () => this.writing(() => work(group)));
  }

  build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void> {
    const group = due[0] === undefined ? 0 : this.groupOf(due[0].orgId);
    const work = () => this.builder.build(due, batch, builtAt, group, this.commit);
    return this.leading(`build ${group}`, () => this.beside(work)).finally(() => this.wrote());
  }

  /** Nobody settles or builds days of these groups meanwhile. */
  async removeEvents(days: readonly OrgDay[], removedAt: number): Promise<OrgDay[]> {
    const removed: OrgDay[] = [];
    for (const group of this.groups) {
      const own = days.filter(({ orgId }) => this.groupOf(orgId) === group);
      // Without any, too: it covers work that was cut off.
      if (own.length === 0 && this.groups.length > 1) continue;
      const work = () => this.exclusive(() => this.remover.remove(own, removedAt, group, this.commit));
      removed.push(...(await this.leading(`build ${group}`, () => this.leading(`settle ${group}`, work))));
    }
    return removed;
  }

  async refresh(): Promise<string[]> {
    const work = () => this.writing(() => bringUpToDate(this.defined, this.settings, true));
    const replaced = await this.ledger.leading(SCHEMA, work, 'waits');
    return sentencesOf(replaced ?? [], this.settings);
  }

  rest(): Promise<void> {
    return this.exclusive(() =>
      this.staging.use(({ writer }) => limitMemory(writer, this.settings.memoryMb)),
    );
  }

  /** The server does it by itself. */
  async tidy(): Promise<void> {}

  /** Only the files of the data folder: the database is on its server, which has backups of its own. */
  async hold(at: () => Promise<void>, during: () => Promise<void>): Promise<void> {
    await this.exclusive(at);
    await during();
  }

  rewrite(rewriting: Rewriting): Promise<void> {
    return this.renewing((rewriter, commit) => rewriter.rewrite(rewriting, commit));
  }

  /** The staging file, which has bytes of rows of before, and the tables of `rows`: others are written anew whenever they are rewritten. */
  renewFile(rows: Sources): Promise<void> {
    return this.renewing(async (rewriter, commit) => {
      const { folder, settings } = this;
      const draft = await emptyCopy(folder, settings);
      this.exchanging = this.staging
        .reopen(({ writer }) => exchangeFile(writer, folder, draft, STAGING))
        .finally(() => {
          this.exchanging = undefined;
        });
      await this.exchanging;
      await rewriter.renew(rows, commit);
    });
  }

  /** Nobody settles or builds meanwhile, on any node: the tables have the rows of all groups. */
  private renewing(work: (rewriter: ClickHouseRewriter, commit: Commit) => Promise<void>): Promise<void> {
    const alone = () =>
      this.writing(async () => {
        await this.finishExchange();
        const counted = await this.ledger.counted();
        const session = await this.replicas.having(counted);
        this.isRenewing = true;
        try {
          await Promise.allSettled(this.appends);
          await work(new ClickHouseRewriter(session, counted !== undefined), exchange);
        } catch (error) {
          this.isCutOff = counted === undefined;
          throw error;
        } finally {
          this.isRenewing = false;
        }
      });
    const names = [
      ...this.groups.map((group) => `build ${group}`),
      ...this.groups.map((group) => `settle ${group}`),
      PUBLISH,
      EXCHANGE,
    ];
    const exchange: Commit = (step) => this.commit(() => this.ledger.exchanging(step, names));
    const led = names.reduceRight<() => Promise<unknown>>(
      (inside, name) => () => this.ledger.leading(name, inside, 'waits'),
      alone,
    );
    return led() as Promise<void>;
  }

  /** Waits until all tables are exchanged, and does it itself if whoever began with it is gone. */
  private async finishExchange(): Promise<void> {
    const { ledger, session } = this;
    await ledger.leading(
      EXCHANGE,
      async () => {
        const counted = await ledger.counted();
        if (counted === undefined || counted.exchanges % 2 === 0) return;
        await ledger.exchanging(() => finishRenewal(session, (step) => step()), []);
      },
      'waits',
    );
  }

  async probe(now: number): Promise<void> {
    await this.session.run('INSERT INTO probes SELECT instant($now)', { now });
    const [probe] = await this.session.select('SELECT 1 AS found FROM probes LIMIT 1');
    if (probe === undefined) throw new Error('what was written can not be read');
  }

  async close(): Promise<void> {
    await Promise.all(this.running);
    await this.queue.run(async () => {
      await this.mark.close();
      await this.session.close();
      await this.staging.close();
    });
  }

  private readonly commit: Commit = async (step) => {
    this.commits += 1;
    try {
      await step();
    } finally {
      this.commits += 1;
    }
  };

  private writing<T>(work: () => Promise<T>): Promise<T> {
    return this.exclusive(work).finally(() => this.wrote());
  }

  private wrote(): void {
    this.writes += 1;
    this.mark.touch();
  }
}
