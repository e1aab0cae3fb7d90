import { DuckDBInstance } from '../../arrow/duckdb-driver.js';
import { changeStatements } from '../duckdb-rewriting.js';
import { connect, type Session } from '../duckdb-session.js';
import { namesIn, quote, readFunctions, readSqlFolder, tokensOf } from '../sql-text.js';
import { isState } from '../state/homes.js';
import { inParts } from '../state/person.js';
import type { Rewriting, RowChange, Sources } from '../store.js';
import { columnNames, columnsOf } from '../tables.js';
import type { Transaction } from './postgres-session.js';
import { literalsOf } from './row-literals.js';
import { usesElsewhere } from './statement-home.js';

/** Does work with the rows of a SELECT of data in a Parquet file. */
export type WithRows = <T>(
  select: string,
  sources: Sources,
  work: (path: string) => Promise<T>,
) => Promise<T>;

/**
 * Changes rows of state as Store promises of `rewrite`. Changes that need functions of DuckDB, or what was found in data, are made there: in
 * memory, with the rows of the tables, which nobody else changes meanwhile.
 */
export async function rewriteState(
  inside: Transaction,
  rewriting: Rewriting,
  withRows: WithRows,
): Promise<void> {
  const { orgId, found } = rewriting;
  const changes = rewriting.changes.filter(({ table }) => isState(table));
  const added = Object.entries(rewriting.added).filter(([table]) => isState(table));
  const copied = new Set([
    ...changes.filter((change) => !isPlain(change, found)).map(({ table }) => table),
    ...added.map(([table]) => table),
  ]);
  for (const change of changes)
    if (!copied.has(change.table)) await inside.run(changeStatements(change).map((sql) => ({ sql })));
  const texts = [
    ...changes.filter(({ table }) => copied.has(table)).flatMap(changeStatements),
    ...added.map(([table, text]) => `INSERT INTO ${table} ${text}`),
  ];
  await withCopies(inside, [...copied], orgId, async (session) => {
    const before: Record<string, string> = {};
    const isNamed = (name: string) => texts.some((text) => tokensOf(text).includes(name));
    const sources = { ...found, removed_days: `SELECT * FROM removed_days WHERE org_id = ${quote(orgId)}` };
    for (const [name, text] of Object.entries(sources)) {
      if (isNamed(name))
        await withRows(text, name === 'removed_days' ? {} : before, (path) =>
          session.run(`CREATE OR REPLACE TABLE ${name} AS FROM read_parquet(${quote(path)})`),
        );
      before[name] = text;
    }
    for (const text of texts) await session.run(text);
  });
}

/** Has the rows of a SELECT of DuckDB take the place of those of tables of state. */
export async function replaceState(inside: Transaction, rows: Sources): Promise<void> {
  await withCopies(inside, Object.keys(rows), undefined, async (session) => {
    for (const [table, select] of Object.entries(rows))
      await session.run(
        `CREATE TEMP TABLE renewed AS ${select}; DELETE FROM ${table}; INSERT INTO ${table} FROM renewed; DROP TABLE temp.renewed`,
      );
  });
}

/** Whether PostgreSQL can make a change by itself. */
function isPlain(change: RowChange, found: Sources): boolean {
  if (change.lookedUp !== undefined || change.merged !== undefined) return false;
  return changeStatements(change).every(
    (text) => !usesElsewhere(text) && ![...namesIn(text)].some((name) => Object.hasOwn(found, name)),
  );
}

/** The columns of a table; decimals as texts, since a number of JavaScript has fewer digits. */
function columnsIn(table: string): string {
  return columnsOf(table)
    .map(({ name, type }) => (type.startsWith('DECIMAL') ? `CAST(${name} AS VARCHAR) AS ${name}` : name))
    .join(', ');
}

/** Does work in DuckDB with copies of the rows of an organization, or of all, and takes over what it has changed. */
async function withCopies(
  inside: Transaction,
  tables: readonly string[],
  orgId: string | undefined,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: '', threads: '1' });
  const session = await connect(instance);
  try {
    await session.run(readFunctions());
    for (const { text } of readSqlFolder('change')) await session.run(text);
    const where = (table: string) =>
      orgId !== undefined && columnNames(table).includes('org_id') ? ` WHERE org_id = ${quote(orgId)}` : '';
    const before = new Map<string, string[]>();
    for (const table of tables) {
      await inside.run([{ sql: `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE` }]);
      const rows = await inside.select(`SELECT ${columnsIn(table)} FROM ${table}${where(table)}`);
      const literals = rows.map((row) => literalsOf(table, Object.values(row)));
      before.set(table, literals);
      for (const part of inParts(literals))
        await session.run(`INSERT INTO ${table} VALUES ${part.join(', ')}`);
    }
    await work(session);
    for (const [table, old] of before) {
      const rows = await session.select(`SELECT ${columnsIn(table)} FROM ${table}`);
      const literals = rows.map((row) => literalsOf(table, Object.values(row)));
      if (literals.toSorted().join('\n') === old.toSorted().join('\n')) continue;
      await inside.run([
        { sql: `DELETE FROM ${table}${where(table)}` },
        ...inParts(literals).map((part) => ({ sql: `INSERT INTO ${table} VALUES ${part.join(', ')}` })),
      ]);
    }
  } finally {
    session.connection.closeSync();
    instance.closeSync();
  }
}
