import { randomUUID } from 'node:crypto';
import { BUILT_TABLES } from '../day-builder.js';
import { digestSql } from '../row-digest.js';
import { quote, withSources } from '../sql-text.js';
import { isPublished } from '../state/homes.js';
import type { Rewriting, RowChange, Sources } from '../store.js';
import { columnNames } from '../tables.js';
import type { Commit } from './clickhouse-builder.js';
import { BUILD_SCRATCH, rowsOf, SETTLE_SCRATCH } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { tablesOnAll } from './cluster-tables.js';

/** How the name of a copy ends that takes the place of a table. */
const COPY = '_renewed';

/** The table that says that all copies are whole. Its comment is theirs. */
const WHOLE = 'renewal';

/** How the comment of copies begins. */
const RENEWED = 'renewed';

/** The comment of tables that say what changes. */
const FOUND = 'of a renewal';

/** The digests of the days that have other rows. */
const DIGESTS = 'renewal_digests';

/** Tables that name nobody: they stay as they are. */
const SPARED = [
  ...['abandoned', 'attempts', 'changes', 'days_rows', 'erased_names', 'erasures', 'facts', 'languages'],
  ...['organization_secrets', 'organizations', 'price_multipliers', 'prices', 'probes', 'rates'],
  'trailing_days',
];

/** Tables whose rows nobody reads between two batches or builds, and the one that says which rows of events are hidden: none is copied. */
const EMPTIED = [...[...BUILD_SCRATCH, ...SETTLE_SCRATCH].map(rowsOf), 'removals'];

/** Views that have all columns of their tables, and the rows that count. */
const WITHOUT_HIDDEN = ['events', 'arrivals', 'rejects', 'mended_lines', 'ingested_files'];

/** The comment by which the server tells a renewal's statements from others. */
const COMMENT = 'daybook renewal';

/** The server shouldn't note statements that name people, and a person can have many names. By itself it keeps tables above 50 GB. */
const SETTINGS = {
  log_comment: COMMENT,
  log_queries: 0,
  max_query_size: String(16 << 20),
  max_table_size_to_drop: '0',
} as const;

/** How long replicas may take to fetch the rows of a copy. */
const FETCH_SECONDS = 3600;

interface Column {
  readonly name: string;
  /** The expression of its values in a copy. */
  readonly value: string;
}

/** What tells the copies of one renewal, and the columns of all tables. */
interface Copying {
  readonly comment: string;
  readonly columns: ReadonlyMap<string, readonly Column[]>;
}

/**
 * A column of a copy.
 * TRICKY: a text that an expression makes null is still beside the null, and would be written to the disk with it.
 */
function columnOf(name: string, type: string): Column {
  const value =
    type === 'Nullable(String)' ? `CASE WHEN ${name} IS NULL THEN NULL ELSE coalesce(${name}, '') END` : name;
  return { name, value };
}

/** The SELECT of the rows of a table that count, with all of its columns, before anything changes. */
function rowsBefore(table: string): string {
  const name = table.replace(/_rows$/, '');
  if (EMPTIED.includes(table)) return `SELECT * FROM ${table} WHERE false`;
  // Without the rows of before a change.
  if (isPublished(name) && table !== name) return `SELECT * FROM ${table} FINAL`;
  if (WITHOUT_HIDDEN.includes(name)) return `SELECT * FROM ${name}`;
  return (BUILT_TABLES as readonly string[]).includes(name)
    ? `SELECT * FROM ${table} WHERE (org_id, day, build) IN (SELECT org_id, day, build FROM newest_days)`
    : `SELECT * FROM ${table}`;
}

/** The rows of a SELECT after a change. */
function afterChange(rows: string, { table, where, set, lookedUp, merged }: RowChange): string {
  if (merged !== undefined) {
    const columns = [...columnNames(table), 'build'].join(', ');
    return `SELECT ${columns} FROM (${rows}) AS other_row WHERE NOT coalesce(${where}, false)
    UNION ALL
    SELECT ${merged.columns.join(', ')}, build FROM (${rows}) AS part WHERE ${where} GROUP BY ${merged.by.join(', ')}, build`;
  }
  if (lookedUp !== undefined) {
    const { column, pairs } = lookedUp;
    return `SELECT old_row.* REPLACE (CASE WHEN ${where} THEN coalesce(pair.new_value, old_row.${column}) ELSE old_row.${column} END AS ${column})
    FROM (${rows}) AS old_row
    LEFT JOIN (${pairs}) AS pair ON pair.old_value = old_row.${column}`;
  }
  if (set === undefined) return `SELECT * FROM (${rows}) AS old_row WHERE NOT coalesce(${where}, false)`;
  const values = Object.entries(set).map(
    ([column, value]) => `CASE WHEN ${where} THEN ${value} ELSE ${column} END AS ${column}`,
  );
  return `SELECT * REPLACE (${values.join(', ')}) FROM (${rows}) AS old_row`;
}

/** The tables of a renewal that was cut off. */
async function leftIn(session: ClickHouseSession) {
  const tables = await tablesOnAll(
    session,
    ({ name, comment }, names) =>
      // Nobody's own tables of such names.
      (name.endsWith(COPY) && names.has(name.slice(0, -COPY.length))) ||
      (name === WHOLE && comment.startsWith(RENEWED)) ||
      comment === FOUND,
  );
  const whole = tables.find(({ name }) => name === WHOLE);
  const isWaiting = ({ name, comment }: { name: string; comment: string }) =>
    name.endsWith(COPY) && comment === whole?.comment;
  return {
    waiting: tables.filter(isWaiting).map(({ name }) => name),
    others: tables.filter((one) => one !== whole).map(({ name }) => name),
    isWhole: whole !== undefined,
  };
}

/**
 * Finishes a renewal whose copies are whole, and takes back one whose copies aren't.
 * TRICKY: exchanging two tables twice changes nothing, and a statement can be lost, or run after its sender gave up. So the copies have a comment
 * that the tables of before don't have, and these go when all copies are in place. Copies that are stale, because others have written since, go
 * whether they are whole or not.
 */
export async function finishRenewal(
  anySession: ClickHouseSession,
  commit: Commit,
  isStale = false,
): Promise<void> {
  const session = anySession.with(SETTINGS);
  let left = await leftIn(session);
  // A table can't be dropped as long as rows come into it.
  if (left.others.length > 0) await session.endInserts(COMMENT);
  if (left.waiting.length > 0 && !isStale)
    await commit(async () => {
      while (left.waiting.length > 0) {
        for (const name of left.waiting)
          await session.run(`EXCHANGE TABLES ${name} AND ${name.slice(0, -COPY.length)}`);
        left = await leftIn(session);
      }
    });
  for (const name of left.others) await session.run(`DROP TABLE IF EXISTS ${name} SYNC`);
  if (left.isWhole) await session.run(`DROP TABLE IF EXISTS ${WHOLE} SYNC`);
}

/**
 * Changes rows in ClickHouse, where keys can't be updated, and several tables can't be changed together. Copies of the tables get the changed
 * rows, and take the tables' places when all of them are whole. The tables of before go with all their parts, so that no row that was changed,
 * deleted or hidden is left on the server's disk.
 */
export class ClickHouseRewriter {
  private readonly session: ClickHouseSession;

  /** Where several nodes write, others may have written since a renewal was cut off. */
  constructor(
    session: ClickHouseSession,
    private readonly areLeftStale: boolean,
  ) {
    this.session = session.with(SETTINGS);
  }

  /** Changes rows as Store promises. */
  async rewrite(rewriting: Rewriting, commit: Commit): Promise<void> {
    const { session } = this;
    const { found, added } = rewriting;
    await finishRenewal(session, commit, this.areLeftStale);
    const written = await this.written();
    for (const [name, text] of Object.entries(found)) {
      await session.run(
        `CREATE TABLE ${name} ENGINE = MergeTree ORDER BY tuple() COMMENT ${quote(FOUND)} EMPTY AS ${session.spell(text)}`,
      );
      await session.insert(name, text);
    }
    const changes = await this.withoutIdle(rewriting.changes);
    const copying = await this.copying();
    const tables = new Set([...written, ...['digests', 'restatements', ...Object.keys(added)].map(rowsOf)]);
    // After the tables that they are computed from.
    tables.delete(rowsOf('digests'));
    for (const table of tables) {
      const own = changes.filter((change) => rowsOf(change.table) === table);
      await this.copy(table, own.reduce(afterChange, rowsBefore(table)), copying);
    }
    await this.digest(rewriting, tables, copying);
    for (const [table, text] of Object.entries(added)) await session.insert(`${rowsOf(table)}${COPY}`, text);
    await this.exchange(copying, commit);
  }

  /** Writes tables anew with the rows of SELECTs. */
  async renew(rows: Sources, commit: Commit): Promise<void> {
    await finishRenewal(this.session, commit, this.areLeftStale);
    const copying = await this.copying();
    for (const [table, text] of Object.entries(rows)) await this.copy(rowsOf(table), text, copying);
    await this.exchange(copying, commit);
  }

  private async copying(): Promise<Copying> {
    const rows = await this.session.select(
      'SELECT table, name, type FROM system.columns WHERE database = currentDatabase() ORDER BY table, position',
    );
    const columns = new Map<string, Column[]>();
    for (const { table, name, type } of rows) {
      const own = columns.get(String(table)) ?? [];
      columns.set(String(table), [...own, columnOf(String(name), String(type))]);
    }
    return { comment: `${RENEWED} ${randomUUID()}`, columns };
  }

  /** The tables that have, or had a while ago, rows that may name somebody. */
  private async written(): Promise<string[]> {
    const rows = await this.session.select(
      `SELECT DISTINCT table FROM system.parts
      WHERE database = currentDatabase() AND table NOT IN (${SPARED.map(quote).join(', ')})
      ORDER BY table`,
    );
    return rows.map(({ table }) => String(table));
  }

  /** Changes without those that look up nothing: each is a join. */
  private async withoutIdle(changes: readonly RowChange[]): Promise<RowChange[]> {
    const all = new Set(changes.flatMap(({ lookedUp }) => (lookedUp === undefined ? [] : [lookedUp.pairs])));
    const idle = new Set<string>();
    for (const pairs of all) {
      const found = await this.session.select(`SELECT 1 AS found FROM (${pairs}) AS pair LIMIT 1`);
      if (found.length === 0) idle.add(pairs);
    }
    return changes.filter(({ lookedUp }) => lookedUp === undefined || !idle.has(lookedUp.pairs));
  }

  private async copy(table: string, rows: string, { comment, columns }: Copying): Promise<void> {
    const { session } = this;
    await session.run(`CREATE TABLE ${table}${COPY} AS ${table} COMMENT ${quote(comment)}`);
    const own = columns.get(table) ?? [];
    const names = own.map(({ name }) => name).join(', ');
    const values = own.map(({ value }) => value).join(', ');
    // Each build has a partition of its own, and an insert by itself takes a hundred at most.
    await session.insert(
      `${table}${COPY} (${names})`,
      `SELECT ${values} FROM (${rows}) AS changed_row SETTINGS max_partitions_per_insert_block = 0`,
    );
  }

  /** Digests the days that have other rows, and restates them. They stay rows of the builds that built them. */
  private async digest(
    { orgId, days, reason, at }: Rewriting,
    tables: ReadonlySet<string>,
    copying: Copying,
  ): Promise<void> {
    const { session } = this;
    await session.run(`CREATE TABLE ${DIGESTS} AS ${rowsOf('fresh_digests')} COMMENT ${quote(FOUND)}`);
    const due = `SELECT org_id, day FROM days WHERE org_id = ${quote(orgId)} AND day IN (SELECT day FROM ${days})`;
    for (const table of BUILT_TABLES.filter((name) => tables.has(rowsOf(name)))) {
      const rows = `SELECT ${columnNames(table).join(', ')} FROM ${rowsOf(table)}${COPY}`;
      await session.insert(
        `${DIGESTS} (org_id, day, table_name, row_count, digest)`,
        withSources(digestSql(table), { due, [table]: rows }),
      );
    }
    const key = 'org_id, day, table_name';
    const table = rowsOf('digests');
    await this.copy(
      table,
      `SELECT * FROM ${table} WHERE (${key}) NOT IN (SELECT ${key} FROM ${DIGESTS})`,
      copying,
    );
    const builds = 'JOIN newest_days ON newest_days.org_id = fresh.org_id AND newest_days.day = fresh.day';
    await session.insert(
      `${table}${COPY} (${key}, row_count, digest, build)`,
      `SELECT fresh.org_id, fresh.day, fresh.table_name, fresh.row_count, fresh.digest, newest_days.version
      FROM ${DIGESTS} AS fresh
      ${builds}`,
    );
    await session.insert(
      `${rowsOf('restatements')}${COPY} (${columnNames('restatements').join(', ')}, build)`,
      `SELECT fresh.org_id, fresh.day, fresh.table_name, digests.digest, fresh.digest, instant(${at}), ${quote(reason)}, newest_days.version
      FROM ${DIGESTS} AS fresh
      JOIN digests ON digests.org_id = fresh.org_id AND digests.day = fresh.day AND digests.table_name = fresh.table_name
      ${builds}
      WHERE digests.digest <> fresh.digest`,
    );
  }

  private async exchange({ comment }: Copying, commit: Commit): Promise<void> {
    await this.untilAllHave(comment);
    await this.session.run(
      `CREATE TABLE ${WHOLE} (is_whole BOOLEAN) ENGINE = MergeTree ORDER BY tuple() COMMENT ${quote(comment)}`,
    );
    await finishRenewal(this.session, commit);
  }

  /** A replica that exchanges tables before it has fetched the rows of the copies would answer without them. */
  private async untilAllHave(comment: string): Promise<void> {
    const { session } = this;
    if (session.cluster === undefined) return;
    const copies = await tablesOnAll(session, (table) => table.comment === comment);
    const patient = session.with({
      receive_timeout: FETCH_SECONDS,
      distributed_ddl_task_timeout: String(FETCH_SECONDS),
    });
    for (const { name } of copies) await patient.run(`SYSTEM SYNC REPLICA ${name}`);
  }
}
