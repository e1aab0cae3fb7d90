import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { isNewerVersion } from '../disk/package-root.js';
import { rm } from '../disk/renames.js';
import type { ClickHouseAddress, PostgresAddress } from '../settings/store-address.js';
import { firstNumber, LeaseLedger } from './clickhouse/lease-ledger.js';
import { ClickHouseStore, type Elsewhere } from './clickhouse-store.js';
import type { StoreOptions } from './duckdb-store.js';
import { Leases } from './postgres/leases.js';
import { openState, requireMoved } from './postgres/postgres-schema.js';
import type { PostgresSession, Statement, Transaction } from './postgres/postgres-session.js';
import { literalsOf } from './postgres/row-literals.js';
import { writeStateRows } from './postgres/state-files.js';
import { asPublished, Publisher } from './postgres/state-publisher.js';
import { StateRevisions } from './postgres/state-revisions.js';
import { replaceState, rewriteState, type WithRows } from './postgres/state-rewriting.js';
import { changedBy, fromData, homeOfChanges, homeOfSelect } from './postgres/statement-home.js';
import { withSources } from './sql-text.js';
import { isPublished, isState, STATE_TABLES, tablesIn } from './state/homes.js';
import { LIVES } from './state/node.js';
import { inParts } from './state/person.js';
import type { OrgDay, Parameters, Read, Rewriting, Row, Shared, Sources, Store } from './store.js';
import { StoreUnavailable } from './store-fault.js';
import { Turns } from './turns.js';

/** The tables through which what was changed, or asked of agents, passes. */
const OF_STATE = ['outbox', 'agent_jobs'];

/** The store of several nodes: data in ClickHouse, and state in PostgreSQL. A statement runs where its tables are. */
export class ClusterStore implements Store {
  readonly daysAtOnce: number;
  readonly definitions: string;
  private readonly turns = new Turns();

  private constructor(
    private readonly data: ClickHouseStore,
    private readonly state: PostgresSession,
    private readonly publisher: Publisher,
    private readonly revisions: StateRevisions,
    /** What this node alone may do now. */
    readonly leases: Leases,
    private readonly folder: string,
  ) {
    this.daysAtOnce = data.daysAtOnce;
    this.definitions = data.definitions;
  }

  /**
   * Opens both databases, and brings them up to date, as ClickHouseStore does. Throws StoreUnavailable when one can't be reached, and a UsageError
   * when it refuses.
   */
  static open(
    folder: string,
    addresses: { readonly clickhouse: ClickHouseAddress; readonly postgres: PostgresAddress },
    settings: StoreOptions,
  ): Promise<ClusterStore> {
    return ClusterStore.of(folder, addresses.postgres, settings, (elsewhere) =>
      ClickHouseStore.open(folder, addresses.clickhouse, settings, elsewhere),
    );
  }

  /** The same with a client that is connected to the database of data in another way. */
  static with(
    folder: string,
    postgres: PostgresAddress,
    settings: StoreOptions,
    connected: () => Promise<ClickHouseClient>,
  ): Promise<ClusterStore> {
    return ClusterStore.of(folder, postgres, settings, (elsewhere) =>
      ClickHouseStore.with(folder, settings, connected, elsewhere),
    );
  }

  private static async of(
    folder: string,
    address: PostgresAddress,
    settings: StoreOptions,
    openData: (elsewhere: Elsewhere) => Promise<ClickHouseStore>,
  ): Promise<ClusterStore> {
    const state = await openState(address, settings);
    const leases = new Leases(state, firstNumber);
    try {
      await requireMoved(state);
      const data = await openData({ state, ledger: new LeaseLedger(state, leases) });
      const publisher = new Publisher(state, (work) => data.publishing(work));
      return new ClusterStore(data, state, publisher, new StateRevisions(state), leases, folder);
    } catch (error) {
      await leases.close();
      await state.close();
      throw error;
    }
  }

  async select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    return homeOfSelect(sql) === 'state'
      ? this.state.select(sql, parameters)
      : this.data.select(sql, parameters);
  }

  /** State is of one state of PostgreSQL, which is the newest one when it is first read. */
  snapshot<T>(read: Read<T>): Promise<T> {
    return this.data.snapshot((select, readColumns) =>
      this.state.snapshot((selectState) =>
        read(
          async (sql, parameters) =>
            homeOfSelect(sql) === 'state' ? selectState(sql, parameters) : select(sql, parameters),
          readColumns,
        ),
      ),
    );
  }

  async revision(): Promise<string> {
    const [data, state] = await Promise.all([this.data.revision(), this.revisions.published()]);
    return `${data} ${state}`;
  }

  stateRevision(table: string): Promise<string> {
    return this.revisions.of(table);
  }

  get shared(): Shared {
    return {
      id: this.leases.holder,
      select: (sql, parameters) => this.state.select(sql, parameters),
      run: (statements) => this.state.run(statements).finally(() => this.revisions.forget()),
      stateRevision: (table) => this.revisions.of(table),
    };
  }

  preview<T>(due: readonly OrgDay[], read: Read<T>): Promise<T> {
    return this.data.preview(due, (select, readColumns) =>
      read(
        async (sql, parameters) =>
          homeOfSelect(sql) === 'state' ? this.state.select(sql, parameters) : select(sql, parameters),
        readColumns,
      ),
    );
  }

  async run(statements: readonly Statement[]): Promise<void> {
    if (statements.length === 0) return;
    if (homeOfChanges(statements) === 'data') return this.data.run(statements);
    await this.changing((inside) => this.runInside(inside, statements));
  }

  async append(sql: string): Promise<void> {
    if (homeOfChanges([{ sql }]) === 'data') return this.data.append(sql);
    await this.changing((inside) => inside.run([{ sql }]));
  }

  /** The row of the name is locked until all that the work has changed is committed. */
  inTurn<T>(name: string, work: (store: Store) => Promise<T>): Promise<T> {
    return this.turns.run(name, () =>
      this.changing(async (inside) => {
        await inside.run([
          { sql: 'INSERT INTO turns SELECT $name ON CONFLICT DO NOTHING', parameters: { name } },
        ]);
        await inside.select('SELECT name FROM turns WHERE name = $name FOR UPDATE', { name });
        return work(this.inside(inside));
      }),
    );
  }

  /** A change of state is made when it is committed, and published if it is of a published table. */
  private async changing<T>(work: (inside: Transaction) => Promise<T>): Promise<T> {
    let isPublishing = false;
    const result = await this.state
      .transaction(({ select, run }) =>
        work({
          select,
          run: (statements) => {
            isPublishing ||= statements.some(({ sql }) => isPublished(changedBy(sql) ?? ''));
            return run(statements);
          },
        }),
      )
      .finally(() => this.revisions.forget());
    if (isPublishing) await this.publisher.publish();
    return result;
  }

  /** Runs statements about state. One that takes its rows from data is given them: as data is with what the transaction has changed. */
  private async runInside(inside: Transaction, statements: readonly Statement[]): Promise<void> {
    for (const statement of statements) {
      const { parameters = {} } = statement;
      const given = fromData(statement.sql);
      if (given === undefined) {
        await inside.run([statement]);
        continue;
      }
      const rows = await this.selectInside(inside, given.select, parameters);
      const literals = rows.map((row) => literalsOf(given.table, Object.values(row)));
      for (const part of inParts(literals))
        await inside.run([{ sql: `${given.into} VALUES ${part.join(', ')}` }]);
    }
  }

  private async selectInside(inside: Transaction, sql: string, parameters: Parameters = {}): Promise<Row[]> {
    if (homeOfSelect(sql) === 'state') return inside.select(sql, parameters);
    return this.data.select(await asPublished(sql, tablesIn(sql).filter(isPublished), inside), parameters);
  }

  /** This store as the work of a transaction has it. */
  private inside(transaction: Transaction): Store {
    const select: Store['select'] = (sql, parameters) => this.selectInside(transaction, sql, parameters);
    const inside: Partial<Store> = {
      select,
      snapshot: (read) => this.data.snapshot((_, readColumns) => read(select, readColumns)),
      run: async (statements) => {
        if (statements.length === 0) return;
        if (homeOfChanges(statements) === 'data') return this.data.run(statements);
        await this.runInside(transaction, statements);
      },
      append: async (sql) => {
        if (homeOfChanges([{ sql }]) === 'data') return this.data.append(sql);
        await transaction.run([{ sql }]);
      },
      inTurn: (_, work) => work(store),
    };
    const store: Store = new Proxy<Store>(this, {
      get: (target, name) => {
        const member: unknown = Reflect.get(name in inside ? inside : target, name);
        return typeof member === 'function' ? member.bind(name in inside ? inside : target) : member;
      },
    });
    return store;
  }

  get groups(): readonly number[] {
    return this.data.groups;
  }

  readonly groupOf: Store['groupOf'] = (orgId) => this.data.groupOf(orgId);
  readonly leading: Store['leading'] = (task, work) => this.data.leading(task, work);
  readonly trying: Store['trying'] = (task, work) => this.data.trying(task, work);
  readonly asOnly: Store['asOnly'] = (name, work) => this.data.asOnly(name, work);
  readonly newestBatch: Store['newestBatch'] = (group) => this.data.newestBatch(group);
  readonly settle: Store['settle'] = (...given) => this.data.settle(...given);
  readonly remap: Store['remap'] = (...given) => this.data.remap(...given);
  readonly withdraw: Store['withdraw'] = (...given) => this.data.withdraw(...given);
  readonly removeEvents: Store['removeEvents'] = (...given) => this.data.removeEvents(...given);
  readonly refresh: Store['refresh'] = () => this.data.refresh();
  readonly rest: Store['rest'] = () => this.data.rest();
  readonly tidy: Store['tidy'] = () => this.data.tidy();
  /** Only the files of the data folder: the databases are on servers, which have backups of their own. */
  readonly hold: Store['hold'] = (...given) => this.data.hold(...given);

  /** Where versions run beside each other, the newest one builds: another one would build its days by what it knows itself. */
  async build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void> {
    const versions = await this.state.select(`SELECT DISTINCT version FROM nodes WHERE ${LIVES}`);
    const newer = versions.find(({ version }) => isNewerVersion(String(version)));
    if (newer !== undefined)
      throw new StoreUnavailable(
        `Nodes of Daybook ${newer.version} build the days now: update this one, which takes events and answers until then.`,
      );
    await this.data.build(due, batch, builtAt);
  }

  /** Rows of state come as files, as those of data do: see ClickHouseStore. */
  async copy(sql: string, sources: Sources, path: string, partitions?: readonly string[]) {
    const read: Record<string, string> = {};
    const others: Record<string, string> = {};
    const files: string[] = [];
    try {
      for (const [name, text] of Object.entries(sources)) {
        if (homeOfSelect(text) === 'data' || tablesIn(text).every(isPublished)) others[name] = text;
        else {
          // A killed process may leave a file of this name: see isSpool.
          const file = join(this.folder, `rows-${name}_${randomUUID().replaceAll('-', '')}.parquet`);
          files.push(file);
          read[name] = await writeStateRows(this.state, text, file);
        }
      }
      return await this.data.copy(withSources(sql, read), others, path, partitions);
    } finally {
      for (const file of files) await rm(file, { force: true });
    }
  }

  /**
   * State first: what is found in data of before says what changes in it too. Cut off in between, all of it is done again, and finds that again.
   */
  async rewrite(rewriting: Rewriting): Promise<void> {
    await this.changing((inside) => rewriteState(inside, rewriting, this.withRows));
    const added = Object.entries(rewriting.added).filter(([table]) => !isState(table));
    await this.data.rewrite({
      ...rewriting,
      changes: rewriting.changes.filter(({ table }) => !isState(table)),
      added: Object.fromEntries(added),
    });
  }

  /** PostgreSQL keeps the rows of before in its files until it is told to remove them. */
  async renewFile(rows: Sources): Promise<void> {
    const [state, data] = [isState, (table: string) => !isState(table)].map((home) =>
      Object.fromEntries(Object.entries(rows).filter(([table]) => home(table))),
    ) as [Sources, Sources];
    await this.data.renewFile(data);
    await this.state.vacuum([...STATE_TABLES, ...OF_STATE]);
    if (Object.keys(state).length > 0) await this.changing((inside) => replaceState(inside, state));
    await this.state.vacuum(Object.keys(state));
  }

  private readonly withRows: WithRows = async (select, sources, work) => {
    const path = join(this.folder, `rows-found_${randomUUID().replaceAll('-', '')}.parquet`);
    try {
      await this.data.copy('SELECT * FROM found_rows', { found_rows: withSources(select, sources) }, path);
      return await work(path);
    } finally {
      await rm(path, { force: true });
    }
  };

  async probe(now: number): Promise<void> {
    await this.state.run([
      { sql: 'DELETE FROM probes WHERE probed_at < instant($before)', parameters: { before: now - 60_000 } },
      { sql: 'INSERT INTO probes SELECT instant($now)', parameters: { now } },
    ]);
    await this.data.probe(now);
  }

  async close(): Promise<void> {
    await this.publisher.close();
    await this.data.close();
    await this.leases.close();
    await this.state.close();
  }
}
