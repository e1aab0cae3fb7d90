import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { readText } from '../../disk/text-file.js';
import type { PostgresAddress } from '../../settings/store-address.js';
import { Queue } from '../queue.js';
import type { Parameters, Row, Value } from '../store.js';
import { faultOf, isConflict, isLost, isTaken } from './postgres-fault.js';
import { spelled } from './postgres-spelling.js';
import { VALUES } from './postgres-values.js';

/** How many connections a process has at most. */
const CONNECTIONS = 10;

/** How long to wait for a connection. */
const CONNECT_MS = 10_000;

/** How long a statement may take, and how long it may wait for rows that another one changes. */
const STATEMENT_MS = 60_000;
const LOCK_MS = 30_000;

/** How long a transaction may wait for the program, which may write to the other store meanwhile. */
const IDLE_MS = 120_000;

/** How long an unused connection is kept. */
const IDLE_CONNECTION_MS = 60_000;

/** How often to look whether transactions have ended. */
const LOOK_MS = 100;

/** How often a transaction is tried that another one is in the way of. */
const TRIES = 5;

/** TRICKY: for this transaction only, since behind pgbouncer the next one can be on another connection. */
const LIMITS = `SET LOCAL statement_timeout = ${STATEMENT_MS};
SET LOCAL lock_timeout = ${LOCK_MS};
SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`;

/** How to encrypt a connection, as libpq does by the same settings: only verify-full makes sure whose server it is. */
function encryptionOf({ ssl, host }: PostgresAddress): pg.PoolConfig['ssl'] {
  if (ssl === undefined) return false;
  const ca = ssl.rootCertificate === undefined ? {} : { ca: readText(ssl.rootCertificate) };
  if (ssl.mode === 'verify-full') return { ...ca, host };
  // TRICKY: with an authority, libpq verifies the certificate in this mode too, but not its name.
  return {
    ...ca,
    rejectUnauthorized: ssl.rootCertificate !== undefined,
    checkServerIdentity: () => undefined,
  };
}

export interface Statement {
  readonly sql: string;
  readonly parameters?: Parameters;
}

/** What reads and changes rows, in the spelling that all engines read. */
export interface Transaction {
  /** The rows of one statement: of a SELECT, or those that RETURNING names. */
  select(sql: string, parameters?: Parameters): Promise<Row[]>;
  /** Runs statements one after the other, in one transaction. Answers how many rows each changed. */
  run(statements: readonly Statement[]): Promise<number[]>;
}

/**
 * Queries of one PostgreSQL database. All of them throw StoreUnavailable when the server can't be reached or has too much to do, or the
 * connection breaks midway: then nobody knows whether a change was made. Nothing needs a session, so that pgbouncer can pool transactions.
 */
export class PostgresSession implements Transaction {
  private ended: Promise<void> | undefined;

  private constructor(private readonly pool: pg.Pool) {}

  /** Connects with the first query. */
  static of(address: PostgresAddress, connections = CONNECTIONS): PostgresSession {
    const { host, port, database, user, password } = address;
    const pool = new pg.Pool({
      ...{ host, port, database, user, password, ssl: encryptionOf(address) },
      max: connections,
      connectionTimeoutMillis: CONNECT_MS,
      // In vain if the server doesn't answer any more: it ends by itself what takes too long, unless the network is gone.
      query_timeout: STATEMENT_MS + CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      application_name: 'daybook',
      allowExitOnIdle: true,
    });
    // A connection that breaks is replaced. Its statement fails by itself, and nobody is to hear of it if there is none.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return new PostgresSession(pool);
  }

  select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    return this.connected((connection) => connection.select(sql, parameters));
  }

  run(statements: readonly Statement[]): Promise<number[]> {
    return this.transaction((inside) => inside.run(statements));
  }

  /**
   * Runs work in a transaction: all of it, or nothing when it throws. Work that another transaction was in the way of is done again from the
   * beginning: whatever it does beside must be of no harm then. In a snapshot it sees one state of the database, and changes nothing.
   */
  async transaction<T>(
    work: (inside: Transaction) => Promise<T>,
    { isSnapshot = false }: { readonly isSnapshot?: boolean } = {},
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.connected((connection) => connection.transaction(work, isSnapshot));
      } catch (error) {
        // A row that another node has just made, too, is there at the second try.
        const most = isConflict(error) ? TRIES : isTaken(error) ? 2 : 1;
        if (tries >= most) throw error;
        await wait(Math.random() * 20 * 2 ** tries);
      }
    }
  }

  /** Reads one state of the database: that of the first SELECT, with which the transaction begins. */
  async snapshot<T>(read: (select: Transaction['select']) => Promise<T>): Promise<T> {
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun: Promise<Transaction> | undefined;
    let ended: Promise<void> = Promise.resolve();
    const begin = () =>
      new Promise<Transaction>((resolve, reject) => {
        const work = (inside: Transaction) => {
          resolve(inside);
          return over;
        };
        ended = this.transaction(work, { isSnapshot: true }).catch(reject);
      });
    try {
      return await read(async (sql, parameters) => {
        begun ??= begin();
        return (await begun).select(sql, parameters);
      });
    } finally {
      end();
      await ended;
    }
  }

  /**
   * Removes the rows of before from the pages of tables, which are written anew, and their values from what the planner knows. Waits for
   * transactions that still see these rows, and for those that began to change something before the rows went: the server would keep the rows
   * for them. Nobody reads or writes a table meanwhile.
   */
  async vacuum(tables: readonly string[]): Promise<void> {
    const [now] = await this.select('SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS number');
    const isSeen = async () => {
      const seen = await this.select(
        `SELECT 1 AS found FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND greatest(age(backend_xmin), age(backend_xid)) > age(CAST($number AS xid))
        LIMIT 1`,
        { number: String(now?.number) },
      );
      return seen.length > 0;
    };
    // No transaction of Daybook is open for longer.
    const until = performance.now() + IDLE_MS + STATEMENT_MS;
    while ((await isSeen()) && performance.now() < until) await wait(LOOK_MS);
    for (const table of tables) await this.select(`VACUUM (FULL, ANALYZE) ${table}`);
  }

  /** Waits until nobody has a connection any more. */
  close(): Promise<void> {
    this.ended ??= this.pool.end();
    return this.ended;
  }

  /** Lends a connection. One that is left in a state that nobody knows is closed. */
  private async connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw faultOf(error);
    });
    const connection = new Connection(client);
    try {
      return await work(connection);
    } finally {
      client.release(connection.isBroken);
    }
  }
}

/** A connection for as long as it is lent. Statements that are sent beside each other wait for their turn. */
class Connection implements Transaction {
  isBroken = false;
  private readonly queue = new Queue();

  constructor(private readonly client: pg.ClientBase) {}

  readonly select = async (sql: string, parameters: Parameters = {}): Promise<Row[]> => {
    const { fields, rows } = await this.ask(sql, parameters);
    return rows.map((row) =>
      Object.fromEntries(fields.map(({ name }, column) => [name, row[column] as Value])),
    );
  };

  readonly run = async (statements: readonly Statement[]): Promise<number[]> => {
    const changed: number[] = [];
    for (const { sql, parameters } of statements) {
      const { rowCount } = await this.ask(sql, parameters);
      changed.push(rowCount ?? 0);
    }
    return changed;
  };

  async transaction<T>(work: (inside: Transaction) => Promise<T>, isSnapshot: boolean): Promise<T> {
    const begin = isSnapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN';
    await this.told(() => this.client.query(`${begin};\n${LIMITS}`));
    try {
      const result = await work(this);
      const { command } = await this.told(() => this.client.query('COMMIT'));
      // It is what a server answers to the COMMIT of a transaction in which a statement failed.
      if (command !== 'COMMIT') throw new Error('a transaction was undone, because a statement in it failed');
      return result;
    } catch (error) {
      if (!this.isBroken) await this.told(() => this.client.query('ROLLBACK')).catch(() => undefined);
      throw error;
    }
  }

  /** A statement without a name is parsed for this one time. */
  private ask(sql: string, parameters: Parameters = {}): Promise<pg.QueryArrayResult<Value[]>> {
    const { text, values } = spelled(sql, parameters);
    return this.told(() =>
      this.client.query<Value[]>({ text, values: [...values], rowMode: 'array', types: VALUES }),
    );
  }

  private told<T>(work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      try {
        return await work();
      } catch (error) {
        this.isBroken ||= isLost(error);
        throw faultOf(error);
      }
    });
  }
}
