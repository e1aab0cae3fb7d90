import { hash } from 'node:crypto';
import { carriedOver, changesAfter, columnsOf, inOrder, readDefinitions } from '../change.js';
import { type ReferencePaths, readReferences } from '../reference.js';
import { readSql, readSqlFolder } from '../sql.js';
import type { Row } from '../store.js';
import type { ClickHouseSession } from './session.js';

/** The tables that builds write, one for each query of sql/daily. */
const DAILY = readSqlFolder('daily').map(({ name }) => name);

const OWN = readSqlFolder('clickhouse');
const OWN_TABLES = OWN.filter(({ text }) => text.includes('CREATE TABLE'));
const OWN_VIEWS = OWN.filter(({ text }) => text.includes('CREATE OR REPLACE VIEW'));

/** The tables whose rows are written before they count: what counts is shown by a view of the table's name. */
const SHOWN_BY_VIEW = new Set([...DAILY, ...OWN_VIEWS.map(({ name }) => name)]);

/** What is acknowledged is on disk: ClickHouse by itself leaves that to the operating system. */
const ON_DISK = 'fsync_after_insert = 1, fsync_part_directory = 1';

/** Where the rows of a table are, whether they count or not. */
export function rowsOf(table: string): string {
  return SHOWN_BY_VIEW.has(table) ? `${table}_rows` : table;
}

/** The columns of a day table that both engines have. */
export function dayColumns(table: string): string[] {
  return columnsOf(readSql(`schema/${table}.sql`)).map(({ name }) => name);
}

/** The names that a query has in FROM and JOIN. */
export function tablesOf(query: string): string[] {
  return [...query.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].map(([, name]) => String(name));
}

/** The queries of the views that stand on day tables, or on such a view, by the views' names. */
export function viewsOnDays(): Map<string, string> {
  const views = readSqlFolder('schema').filter(({ text }) => text.includes('CREATE OR REPLACE VIEW'));
  const found = new Map<string, string>();
  for (const { name, text } of inOrder(views)) {
    const [, query = ''] = text.split(/^CREATE OR REPLACE VIEW \w+ AS$/m);
    if (tablesOf(query).some((table) => DAILY.includes(table) || found.has(table))) found.set(name, query);
  }
  return found;
}

/** Statements that make or change tables, for ClickHouse: what stands in `--clickhouse` lines is part of them. */
function forClickHouse(text: string): string {
  return (
    text
      .replaceAll(/^--clickhouse /gm, '')
      .replaceAll(
        /\b(CREATE TABLE|ALTER TABLE) (?:IF NOT EXISTS )?(\w+)/g,
        (_, verb: string, table: string) =>
          verb === 'CREATE TABLE'
            ? `CREATE TABLE IF NOT EXISTS ${rowsOf(table)}`
            : `${verb} ${rowsOf(table)}`,
      )
      // By itself only a new table's columns can have nulls.
      .replaceAll(/\bADD COLUMN (\w+) ([A-Z]+(?:\([\d, ]+\))?)/g, 'ADD COLUMN IF NOT EXISTS $1 Nullable($2)')
      .replaceAll(/^ENGINE = .*$/gm, (engine) =>
        engine.includes('SETTINGS') ? `${engine}, ${ON_DISK}` : `${engine} SETTINGS ${ON_DISK}`,
      )
  );
}

/** Shows of a day table the rows of the builds that count. */
function viewOf(table: string): string {
  return `CREATE OR REPLACE VIEW ${table} AS
SELECT ${dayColumns(table).join(', ')}
FROM ${rowsOf(table)}
WHERE (org_id, day, build) IN (SELECT org_id, day, build FROM newest_days)`;
}

/**
 * Does for ClickHouse what applyChanges does for DuckDB. Each step can be done twice, and is noted when it is done: who was
 * cut off begins again where that was. Throws a UsageError for a database of a newer version, and for wrong reference data.
 */
export async function applyChanges(
  session: ClickHouseSession,
  settings: ReferencePaths & { now: number },
): Promise<void> {
  await session.define(
    `CREATE TABLE IF NOT EXISTS changes (number BIGINT NOT NULL, name VARCHAR NOT NULL, applied_at TIMESTAMP(3) NOT NULL) ENGINE = MergeTree ORDER BY number SETTINGS ${ON_DISK}`,
  );
  const [applied] = await session.select('SELECT coalesce(max(number), 0) AS newest FROM changes');
  for (const change of changesAfter(Number(applied?.newest))) {
    await session.define(forClickHouse(change.text));
    const parameters = { number: change.number, name: change.name, now: settings.now };
    await session.run(
      'INSERT INTO changes SELECT $number, $name, fromUnixTimestamp64Milli($now)',
      parameters,
    );
  }
  const facts = await session.select('SELECT name, value FROM facts');
  const isNew = (name: string, value: string) =>
    !facts.some((fact) => fact.name === name && fact.value === value);
  const note = async (name: string, value: string) => {
    if (facts.some((fact) => fact.name === name))
      await session.run('DELETE FROM facts WHERE name = $name', { name });
    await session.run('INSERT INTO facts SELECT $name, $value', { name, value });
  };
  const definitions = readDefinitions(readSql('engine/clickhouse.sql'));
  const definitionsSha256 = hash('sha256', definitions.sha256 + OWN.map(({ text }) => text).join());
  const areTablesNew = isNew('tables', definitions.tablesSha256);
  const areDefinitionsNew = isNew('definitions', definitionsSha256) || areTablesNew;
  if (areDefinitionsNew) {
    await session.define(definitions.functions);
    for (const { text } of OWN_TABLES) await session.define(forClickHouse(text));
    if (areTablesNew) {
      // Which builds have counted stays known: a row of no organization has the newest number.
      const version = await beginAttempt(session, 'build');
      await session.run(
        "INSERT INTO days_rows SELECT '', toDate(0), -1, instant(0), instant(0), $version, $version",
        { version },
      );
      await session.run(
        "DELETE FROM days_rows WHERE org_id <> '' AND (org_id, day) NOT IN (SELECT org_id, day FROM removed_days)",
      );
      const old = await session.select(
        'SELECT table AS table_name, name FROM system.columns WHERE database = currentDatabase()',
      );
      for (const table of definitions.tables)
        await renew(
          session,
          table,
          old.filter(({ table_name }) => table_name === rowsOf(table.name)),
        );
      await session.run('INSERT INTO trailing_days SELECT number FROM numbers(30)');
    }
  }
  const views = inOrder([
    ...definitions.views,
    ...OWN_VIEWS,
    ...DAILY.map((name) => ({ name, text: viewOf(name) })),
  ]);
  // TRICKY: ClickHouse keeps the columns that `SELECT *` had when a view was made, so each change of a table makes views anew.
  const viewsSha256 = hash('sha256', [changesAfter(0).at(-1)?.name, ...views.map(({ text }) => text)].join());
  if (areDefinitionsNew || isNew('views', viewsSha256)) {
    for (const { text } of views) await session.define(text);
    await note('views', viewsSha256);
  }
  if (areDefinitionsNew) {
    await redefineDays(session);
    await note('tables', definitions.tablesSha256);
    await note('definitions', definitionsSha256);
  }
  for (const { fact, table, text, insert } of readReferences(settings)) {
    if (!areTablesNew && !isNew(fact, hash('sha256', text))) continue;
    const statement = insert(`${table}_new`);
    // Prices are read at any time: who reads sees the old ones or the new ones.
    await session.run(`DROP TABLE IF EXISTS ${table}_new SYNC`);
    await session.run(`CREATE TABLE ${table}_new AS ${table}`);
    await session.run(statement);
    await session.run(`EXCHANGE TABLES ${table}_new AND ${table}`);
    await session.run(`DROP TABLE ${table}_new SYNC`);
    await note(fact, hash('sha256', text));
  }
}

/**
 * Makes a table anew, given the columns that it had; of a day table the rows of days that can't be computed again, as their events are gone, are kept. The
 * new table takes the old one's place when it is whole.
 */
async function renew(
  session: ClickHouseSession,
  { name, text }: { readonly name: string; readonly text: string },
  old: readonly Row[],
): Promise<void> {
  const table = rowsOf(name);
  if (!DAILY.includes(name) || old.length === 0) {
    await session.run(`DROP TABLE IF EXISTS ${table} SYNC`);
    await session.define(forClickHouse(text));
    return;
  }
  const columns = [...columnsOf(text), { name: 'build', empty: '0' }];
  await session.run(`DROP TABLE IF EXISTS ${table}_new SYNC`);
  await session.define(
    forClickHouse(text).replace(`CREATE TABLE IF NOT EXISTS ${table} (`, `CREATE TABLE ${table}_new (`),
  );
  await session.run(
    `INSERT INTO ${table}_new (${columns.map((column) => column.name).join(', ')})
    SELECT ${carriedOver(columns, old)} FROM ${table}
    WHERE (org_id, day) IN (SELECT org_id, day FROM removed_days)
      AND (org_id, day, build) IN (SELECT org_id, day, build FROM newest_days)`,
  );
  await session.run(`EXCHANGE TABLES ${table}_new AND ${table}`);
  await session.run(`DROP TABLE ${table}_new SYNC`);
}

/** Makes all built days stale, in one insert: each gets a row that goes before the one it has. */
async function redefineDays(session: ClickHouseSession): Promise<void> {
  const version = await beginAttempt(session, 'build');
  await session.run(
    `INSERT INTO days_rows SELECT org_id, day, -1, built_at, first_built_at, build, $version FROM newest_days`,
    { version },
  );
}

const NEWEST = {
  batch: 'SELECT max(batch) FROM batches_rows',
  build: 'SELECT max(version) FROM days_rows',
} as const;

/**
 * Takes the next number of a settle or build. It is never taken again, whatever becomes of it. One that was begun before and
 * hasn't come to count was cut off: what it wrote must never count.
 */
export async function beginAttempt(session: ClickHouseSession, kind: 'batch' | 'build'): Promise<number> {
  const [newest] = await session.select(
    `SELECT
      coalesce((SELECT max(number) FROM attempts WHERE kind = $kind), 0) AS begun,
      coalesce((${NEWEST[kind]}), 0) AS counted`,
    { kind },
  );
  if (Number(newest?.begun) > Number(newest?.counted))
    await session.run(
      `INSERT INTO abandoned SELECT kind, number FROM attempts
      WHERE kind = $kind
        AND number > $counted
        AND number NOT IN (SELECT number FROM abandoned WHERE kind = $kind)`,
      { kind, counted: Number(newest?.counted) },
    );
  const number = Number(newest?.begun) + 1;
  await session.run('INSERT INTO attempts SELECT $kind, $number', { kind, number });
  return number;
}
