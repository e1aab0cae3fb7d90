import { grouped } from '../../input/grouped.js';
import { publishedRows } from '../clickhouse/published-tables.js';
import { Queue } from '../queue.js';
import { withSources } from '../sql-text.js';
import { PUBLISHED, PUBLISHED_TABLES } from '../state/homes.js';
import type { Row } from '../store.js';
import { columnNames, columnsOf } from '../tables.js';
import type { PostgresSession, Transaction } from './postgres-session.js';
import { literalsOf } from './row-literals.js';

/** How many rows one statement publishes: each can be a report of readiness. */
const TOGETHER = 500;

/** How often a node looks for what another one didn't publish. */
const LOOK_MS = 5000;

/** Runs an INSERT in ClickHouse. */
type Insert = (sql: string) => Promise<void>;

/** A row of the outbox. */
interface Change {
  readonly number: number;
  readonly table: string;
  readonly isRemoved: boolean;
  readonly content: Readonly<Record<string, string | null>>;
}

function changeOf(row: Row): Change {
  return {
    number: Number(row.number),
    table: String(row.table_name),
    isRemoved: row.is_removed === true,
    content: JSON.parse(String(row.content)),
  };
}

const COLUMNS = 'number, table_name, is_removed, content';

/** The columns of a changed row, in the order of its table. */
function valuesOf({ table, content }: Change): string {
  return literalsOf(
    table,
    columnNames(table).map((name) => content[name] ?? null),
  );
}

/**
 * Copies what has changed of published tables from PostgreSQL to ClickHouse. Any node does it at any time: of a row that comes twice, or late,
 * the newest number counts.
 */
export class Publisher {
  private readonly queue = new Queue();
  /** Waits for its turn, and publishes what is there then. */
  private waiting: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly session: PostgresSession,
    /** Does work that writes to ClickHouse while nobody else publishes. */
    private readonly publishing: <T>(work: (insert: Insert) => Promise<T>) => Promise<T>,
  ) {
    this.timer = setInterval(() => void this.publish().catch(() => undefined), LOOK_MS).unref();
  }

  /** Publishes all changes that are committed by now. */
  publish(): Promise<void> {
    this.waiting ??= this.queue.run(() => {
      this.waiting = undefined;
      return this.publishAll();
    });
    return this.waiting;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.queue.run(async () => undefined);
  }

  private async publishAll(): Promise<void> {
    let after = (await this.changes(0, 1)).length > 0 ? 0 : undefined;
    while (after !== undefined) {
      const from: number = after;
      // What is read was not published by others: rows of before an erasure must not come after it.
      after = await this.publishing(async (insert) => {
        const changes = await this.changes(from, TOGETHER);
        const known = changes.filter(isKnown);
        for (const sql of insertsOf(known)) await insert(sql);
        const numbers = known.map(({ number }) => number).join(', ');
        if (known.length > 0)
          await this.session.run([{ sql: `DELETE FROM outbox WHERE number IN (${numbers})` }]);
        return changes.length === TOGETHER ? changes.at(-1)?.number : undefined;
      });
    }
  }

  /** The first changes after a number that aren't published. */
  private async changes(after: number, most: number): Promise<Change[]> {
    const rows = await this.session.select(
      `SELECT ${COLUMNS} FROM outbox
      WHERE table_name IN $tables AND number > ${after}
      ORDER BY number
      LIMIT ${most}`,
      { tables: PUBLISHED_TABLES },
    );
    return rows.map(changeOf);
  }
}

/** A node of a newer version publishes tables and columns that this one doesn't know. */
function isKnown({ table, content }: Change): boolean {
  const known = columnNames(table);
  return Object.keys(content).every((name) => known.includes(name));
}

/** The INSERTs of changed rows, by table in the order in which they changed first: what others are told by comes after what it is about. */
function insertsOf(changes: readonly Change[]): string[] {
  return [...grouped(changes, ({ table }) => table)].map(([table, some]) => {
    const rows = some.map((one) => `${valuesOf(one).slice(0, -1)}, ${one.number}, ${one.isRemoved ? 1 : 0})`);
    return `INSERT INTO ${publishedRows(table)} (${columnNames(table).join(', ')}, number, is_removed) VALUES ${rows.join(', ')}`;
  });
}

/**
 * A SELECT of data as it will be when what a transaction has changed is published: a WITH in front makes the names of changed tables mean these
 * rows. Published rows that views read stay as they are.
 */
export async function asPublished(
  sql: string,
  tables: readonly string[],
  { select }: Pick<Transaction, 'select'>,
): Promise<string> {
  if (tables.length === 0) return sql;
  const rows = await select(`SELECT ${COLUMNS} FROM outbox WHERE table_name IN $tables ORDER BY number`, {
    tables,
  });
  const changed = grouped(rows.map(changeOf), ({ table }) => table);
  const sources = [...changed].map(([table, changes]) => [table, rowsWith(table, changes)]);
  return withSources(sql, Object.fromEntries(sources));
}

/** The rows of a table, with changed ones in the place of those that are published. */
function rowsWith(table: string, changes: readonly Change[]): string {
  const key = PUBLISHED[table] ?? [];
  const columns = columnNames(table).join(', ');
  const newest = new Map(changes.map((one) => [JSON.stringify(key.map((name) => one.content[name])), one]));
  const rows = [...newest.values()].map((one) => `${valuesOf(one).slice(0, -1)}, ${one.isRemoved ? 1 : 0})`);
  const structure = columnsOf(table).map(({ name, type, isNullable }) => {
    const [base = ''] = /^\w+/.exec(type) ?? [];
    const scale = type.slice(base.length);
    const inner = `${TYPES[base] ?? base}${scale}`;
    return `${name} ${isNullable ? `Nullable(${inner})` : inner}`;
  });
  const changed = `VALUES('${structure.join(', ')}, is_removed UInt8', ${rows.join(', ')})`;
  return `SELECT ${columns} FROM ${publishedRows(table)} FINAL WHERE (${key.join(', ')}) NOT IN (SELECT ${key.join(', ')} FROM ${changed})
UNION ALL
SELECT ${columns} FROM ${changed} WHERE is_removed = 0`;
}

/** The types of columns, as ClickHouse calls them. */
const TYPES: Readonly<Record<string, string>> = {
  BIGINT: 'Int64',
  BOOLEAN: 'Bool',
  DATE: 'Date',
  DECIMAL: 'Decimal',
  TIMESTAMP_MS: 'DateTime64(3)',
  VARCHAR: 'String',
};
