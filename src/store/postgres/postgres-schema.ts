import { hash } from 'node:crypto';
import { UsageError } from '../../exit.js';
import type { PostgresAddress } from '../../settings/store-address.js';
import { quote, readSql, readSqlFolder } from '../sql-text.js';
import { isCounted, isPublished, isState, STATE_TABLES } from '../state/homes.js';
import { openingFaultOf } from './postgres-fault.js';
import { PostgresSession, type Transaction } from './postgres-session.js';

/** The oldest version that has all that the statements use. */
const OLDEST = 140_000;

/** Names the transaction in which one node at a time changes tables. TRICKY: a lock that ends with it, so that it holds behind pgbouncer too. */
const LOCK = 0x6461_7962;

/** A change of the database. Its name says whether it was made. */
interface Change {
  readonly name: string;
  readonly text: string;
}

/**
 * The statements of `sql/change` about state, in PostgreSQL's spelling. Texts are in the order of their bytes, as in the other engines.
 * Expressions, since only the types in these statements differ.
 */
function forPostgres(text: string): string {
  return text
    .replaceAll(/--.*$/gm, '')
    .split(/;\s*$/m)
    .filter((statement) => isState(/\b(?:CREATE|ALTER) TABLE (\w+)/.exec(statement)?.[1] ?? ''))
    .map((statement) => statement.replaceAll(/\bVARCHAR\b/g, 'TEXT COLLATE "C"'))
    .join(';\n');
}

/** Everything that makes a database, in order. */
function changes(): Change[] {
  const functions = readSql('engine/postgres.sql');
  return [
    { name: `functions ${hash('sha256', functions).slice(0, 12)}`, text: functions },
    ...readSqlFolder('change').map(({ name, text }) => ({ name: `change ${name}`, text: forPostgres(text) })),
    ...readSqlFolder('postgres').map(({ name, text }) => ({ name: `postgres ${name}`, text })),
    ...STATE_TABLES.map((table) => ({ name: `triggers ${table}`, text: triggersOf(table) })),
  ].filter(({ text }) => text.trim() !== '');
}

/** Has changes of a table counted and put out, as is its way. */
function triggersOf(table: (typeof STATE_TABLES)[number]): string {
  const trigger = (name: string, each: string, run: string) =>
    `CREATE OR REPLACE TRIGGER ${name} AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ${each} EXECUTE FUNCTION ${run}()`;
  return [
    ...(isCounted(table) ? [trigger('counted', 'STATEMENT', 'count_change')] : []),
    ...(isPublished(table) ? [trigger('published', 'ROW', 'put_out')] : []),
  ].join(';\n');
}

/** The changes that a database hasn't seen. */
async function missingIn({ select }: Pick<Transaction, 'select'>): Promise<Change[]> {
  const [found] = await select(
    "SELECT 1 AS found FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'changes'",
  );
  const rows = found === undefined ? [] : await select('SELECT name FROM changes');
  const made = new Set(rows.map(({ name }) => name));
  return changes().filter(({ name }) => !made.has(name));
}

/**
 * Brings a PostgreSQL database up to date: all of it or nothing, and one node after the other. Changes only add something, so that a version
 * before them can go on. Throws a UsageError for a server that can't have the tables, or, if it is only read, for one that lacks a change.
 */
export async function applyChanges(
  session: PostgresSession,
  { now, isReading = false }: { readonly now: number; readonly isReading?: boolean | undefined },
): Promise<void> {
  await requireServer(session);
  const missing = await missingIn({ select: (...given) => session.select(...given) });
  if (missing.length === 0) return;
  if (isReading)
    throw new UsageError(
      'The PostgreSQL database of DAYBOOK_STATE was last written by an older version of Daybook, and a command that reads doesn\'t change it: start "daybook serve" or run "daybook build" first.',
    );
  await session.transaction(async ({ select, run }) => {
    await run([
      { sql: `SELECT 1 FROM pg_advisory_xact_lock(${LOCK})` },
      {
        sql: 'CREATE TABLE IF NOT EXISTS changes (name TEXT COLLATE "C" PRIMARY KEY, applied_at TIMESTAMP(3) NOT NULL)',
      },
    ]);
    for (const { name, text } of await missingIn({ select }))
      await run([
        { sql: text },
        {
          sql: `INSERT INTO changes VALUES (${quote(name)}, TIMESTAMP '1970-01-01' + ${now} * INTERVAL '1 millisecond')`,
        },
      ]);
  });
}

/** Connects to a database and brings it up to date: see applyChanges. Throws StoreUnavailable when it can't be reached. */
export async function openState(
  address: PostgresAddress,
  settings: Parameters<typeof applyChanges>[1],
): Promise<PostgresSession> {
  const session = PostgresSession.of(address);
  try {
    await applyChanges(session, settings);
    return session;
  } catch (error) {
    await session.close();
    throw openingFaultOf(error, `${address.host}:${address.port}`);
  }
}

/** Throws a UsageError for databases that a store is being moved into: only some of its rows are there. */
export async function requireMoved(session: Pick<PostgresSession, 'select'>): Promise<void> {
  const [unfinished] = await session.select('SELECT 1 AS found FROM moves WHERE finished_at IS NULL');
  if (unfinished !== undefined)
    throw new UsageError(
      'A store is being moved into the databases of DAYBOOK_STORE and DAYBOOK_STATE: wait for "daybook move", or run it again if it was stopped.',
    );
}

async function requireServer(session: PostgresSession): Promise<void> {
  const [server] = await session.select(
    `SELECT
      CAST(current_setting('server_version_num') AS BIGINT) AS version,
      current_setting('server_version') AS name,
      current_setting('server_encoding') AS encoding`,
  );
  if (Number(server?.version) < OLDEST)
    throw new UsageError(
      `The server of DAYBOOK_STATE is PostgreSQL ${server?.name}: Daybook needs version 14 or later.`,
    );
  if (server?.encoding !== 'UTF8')
    throw new UsageError(
      `The database of DAYBOOK_STATE has the encoding ${server?.encoding}: create one with ENCODING 'UTF8'.`,
    );
}
