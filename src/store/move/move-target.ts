import { UsageError } from '../../exit.js';
import type { ClickHouseAddress, PostgresAddress } from '../../settings/store-address.js';
import { applyChanges as applyDataChanges, definedIn, requireHome } from '../clickhouse/clickhouse-schema.js';
import { ClickHouseSession } from '../clickhouse/clickhouse-session.js';
import { firstNumber } from '../clickhouse/lease-ledger.js';
import { connectToDatabase, PUBLISH, SCHEMA } from '../clickhouse-store.js';
import { ALL_GROUPS } from '../group.js';
import { Leases } from '../postgres/leases.js';
import { openState } from '../postgres/postgres-schema.js';
import type { PostgresSession } from '../postgres/postgres-session.js';
import { Publisher } from '../postgres/state-publisher.js';
import type { ReferencePaths } from '../reference-data.js';
import { STATE_TABLES } from '../state/homes.js';
import { LIVING } from '../state/node.js';
import { type MovedTable, type Numbering, newestNumbers } from './moved-tables.js';

/** The lease that whoever moves a store holds. */
const MOVE = 'move';

/** By which the server tells the inserts of a move from others. */
const COMMENT = 'daybook move';

const COPIED = 'INSERT INTO moved_pieces VALUES ($piece) ON CONFLICT DO NOTHING';

/** The two databases that a store is moved into. Rows of data count for nobody before `finish`, and no node starts. */
export class MoveTarget {
  private constructor(
    readonly state: PostgresSession,
    private readonly all: ClickHouseSession,
    readonly leases: Leases,
    readonly publisher: Publisher,
    /** Of days, in ClickHouse. */
    readonly definitions: string,
  ) {}

  /** Opens both databases and makes their tables, as ClusterStore does. */
  static async open(
    addresses: { readonly clickhouse: ClickHouseAddress; readonly postgres: PostgresAddress },
    settings: ReferencePaths & { readonly now: number },
  ): Promise<MoveTarget> {
    const { clickhouse, postgres } = addresses;
    const state = await openState(postgres, settings);
    const leases = new Leases(state, firstNumber);
    let all: ClickHouseSession | undefined;
    try {
      const session = new ClickHouseSession(await connectToDatabase(clickhouse));
      // A piece can have days of many months, and of each group's builds.
      all = session.with({ log_comment: COMMENT, max_partitions_per_insert_block: '0' });
      await requireHome(definedIn(session, true), true);
      const definitions = await leases.leading(SCHEMA, () => applyDataChanges(session, settings, true));
      const publisher = new Publisher(state, (work) =>
        leases.leading(PUBLISH, () => work((sql) => session.run(sql))),
      );
      return new MoveTarget(state, all, leases, publisher, definitions);
    } catch (error) {
      await leases.close();
      await all?.close();
      await state.close();
      throw error;
    }
  }

  /** Does the work of a move while no other process does. */
  leading<T>(work: () => Promise<T>): Promise<T> {
    return this.leases.leading(MOVE, work);
  }

  /** The servers of ClickHouse. */
  get servers(): readonly ClickHouseSession[] {
    return this.all.onEach();
  }

  /**
   * Begins to move a source, or goes on. Answers what was copied before; undefined if all of it was. Throws a UsageError for databases that have
   * anything else.
   */
  async begin(source: string, tables: readonly MovedTable[], now: number): Promise<Set<string> | undefined> {
    const { state } = this;
    const [begun] = await state.select('SELECT source, finished_at FROM moves');
    if (begun === undefined) {
      await this.requireEmpty(tables);
      await state.run([
        { sql: 'INSERT INTO moves SELECT $source, instant($now), NULL', parameters: { source, now } },
      ]);
    } else if (begun.source !== source)
      throw new UsageError(
        begun.finished_at === null
          ? 'The databases have a part of another store, or of this one before it was changed: create them anew, and move again.'
          : 'Another store was moved into the databases, or this one before it was changed: name empty ones.',
      );
    else if (begun.finished_at !== null) return undefined;
    // What a killed process sent may still be written.
    await this.all.endInserts(COMMENT);
    const pieces = await state.select('SELECT piece FROM moved_pieces');
    return new Set(pieces.map(({ piece }) => String(piece)));
  }

  private async requireEmpty(tables: readonly MovedTable[]): Promise<void> {
    const { state } = this;
    const [living] = await state.select(LIVING);
    if (living !== undefined)
      throw new UsageError('A node runs on the databases: stop it, and begin with empty ones.');
    const found = [
      ...(await state.select(
        STATE_TABLES.map((table) => `(SELECT '${table}' AS name FROM ${table} LIMIT 1)`).join(' UNION ALL '),
      )),
      ...(await this.all.select(
        tables
          .map(({ into }) => `SELECT '${into}' AS name FROM (SELECT 1 FROM ${into} LIMIT 1) AS one`)
          .join(' UNION ALL '),
      )),
    ];
    if (found.length > 0)
      throw new UsageError(
        `The databases aren't empty, since there are rows in ${found[0]?.name}: name new ones.`,
      );
  }

  /** Copies a piece of a table of state, all of it or nothing. */
  async keepState(piece: string, statements: readonly string[]): Promise<void> {
    await this.state.run([...statements.map((sql) => ({ sql })), { sql: COPIED, parameters: { piece } }]);
  }

  /** Writes the rows of a Parquet file in the place of those that an earlier attempt left. */
  async replaceData({ into, columns }: MovedTable, condition: string, path: string | undefined) {
    const session = this.all.pinned();
    const [left] = await session.select(`SELECT count(*) AS rows FROM ${into} WHERE ${condition}`);
    if (left?.rows !== 0) await session.run(`DELETE FROM ${into} WHERE ${condition}`);
    if (path !== undefined)
      await session.upload(
        path,
        into,
        columns.map(({ name }) => name),
      );
  }

  /** Notes that a piece is copied, or has to be copied again. */
  async note(piece: string, isCopied: boolean): Promise<void> {
    await this.state.run([
      {
        sql: isCopied ? COPIED : 'DELETE FROM moved_pieces WHERE piece = $piece',
        parameters: { piece },
      },
    ]);
  }

  /** Makes all of it count. Throws a UsageError if somebody else has written to the databases meanwhile. */
  async finish(numbering: Numbering, now: number): Promise<void> {
    const lease = this.leases.lease(MOVE);
    const isHeld = await this.state.transaction(async ({ select, run }) => {
      const held = await select(
        'SELECT 1 AS found FROM leases WHERE name = $name AND epoch = $epoch FOR UPDATE',
        { ...lease },
      );
      if (held.length === 0) return false;
      for (const group of ALL_GROUPS) {
        const newest = newestNumbers(numbering, group);
        for (const [name, number] of [
          [`settle ${group}`, newest.batch],
          [`build ${group}`, newest.build],
        ] as const) {
          const [set] = await run([
            {
              sql: `INSERT INTO leases AS known (name, epoch, expires_at, taken, number)
                VALUES ($name, 0, clock_timestamp(), $number, $number)
                ON CONFLICT (name) DO UPDATE SET taken = excluded.taken, number = excluded.number
                WHERE known.taken = $first`,
              parameters: { name, number, first: firstNumber(name) },
            },
          ]);
          if (set !== 1)
            throw new UsageError(
              'Another program has written to the databases meanwhile: stop it, create them anew, and move again.',
            );
        }
      }
      await run([
        { sql: 'DELETE FROM moved_pieces' },
        { sql: 'UPDATE moves SET finished_at = instant($now)', parameters: { now } },
      ]);
      return true;
    });
    if (!isHeld) throw this.leases.lost(lease);
  }

  async close(): Promise<void> {
    await this.publisher.close();
    await this.leases.close();
    await this.all.close();
    await this.state.close();
  }
}
