import { hash } from 'node:crypto';
import { engineVersion } from '../arrow/duckdb-driver.js';
import { isNewerVersion, VERSION } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import type { Column } from './catalog-types.js';
import { BUILT_TABLES } from './day-builder.js';
import { type Definitions, meaningOf, readDefinitions } from './definition.js';
import type { Session } from './duckdb-session.js';
import { type Reference, type ReferencePaths, readPrices, readReferences } from './reference-data.js';
import { SharedFiles } from './shared-files.js';
import { quote, readFunctions, readSql, readSqlFolder, type SqlText } from './sql-text.js';
import type { Parameters, Row } from './store.js';
import { columnsOf } from './tables.js';

/** The numbered changes of the raw tables, oldest first. Throws a UsageError for a database of a newer version, and of one before 0.2. */
export function changesAfter(newest: number): { number: number; name: string; text: string }[] {
  const changes = readSqlFolder('change').map(({ name, text }) => ({
    number: Number(name.slice(0, 4)),
    name,
    text,
  }));
  const [first = 0, known = 0] = [changes[0]?.number, changes.at(-1)?.number];
  if (newest > 0 && newest < first)
    throw new UsageError(
      'A Daybook before 0.2 made the database: begin with an empty data folder, and ingest or send the events again.',
    );
  if (newest > known) {
    throw new UsageError(
      `A newer Daybook made the database (change ${newest}, this one knows ${known}): install that version or a later one.`,
    );
  }
  return changes.filter(({ number }) => number > newest);
}

/** A database that is compared with this version's definitions and brought up to date, as its engine does that. */
export interface Defined {
  readonly definitions: Definitions;
  /** Whether several nodes, and versions, use the database: then files of reference data count as SharedFiles says. */
  readonly isShared?: boolean;
  /** The version of the engine, if it comes with Daybook. */
  readonly engine?: string;
  readonly select: (sql: string) => Promise<Row[]>;
  readonly run: (sql: string, parameters?: Parameters) => Promise<unknown>;
  /** Runs statements that make functions, tables or views. */
  readonly define: (text: string) => Promise<unknown>;
  /** The names of the tables that there are. */
  readonly tables: () => Promise<ReadonlySet<string>>;
  /** Which columns tables have now; none where there is no such table. */
  readonly columns: () => Promise<(table: string) => readonly string[]>;
  /**
   * Makes a table anew, given the columns that it has. A day table keeps its rows, which are served until their days are built
   * again.
   */
  readonly renew: (table: SqlText, old: readonly string[]) => Promise<void>;
  /** Replaces the rows of a table of reference data. */
  readonly fill: (reference: Reference) => Promise<void>;
}

/** The newest numbered change of a database; 0 for one that is empty. */
export async function newestChange({ tables, select }: Pick<Defined, 'tables' | 'select'>): Promise<number> {
  if (!(await tables()).has('changes')) return 0;
  const [applied] = await select('SELECT coalesce(max(number), 0) AS newest FROM changes');
  return Number(applied?.newest);
}

/** The names of tables in rows. */
export function namesOf(rows: readonly Row[]): Set<string> {
  return new Set(rows.map(({ table_name }) => String(table_name)));
}

async function factsIn({ select }: Defined): Promise<Map<string, string>> {
  const facts = await select('SELECT name, value FROM facts');
  return new Map(facts.map(({ name, value }) => [String(name), String(value)]));
}

/** The name of the fact that tells by which definition a table was made. */
function factOf(table: string): string {
  return `table ${table}`;
}

/** The tables that mean something else than when they were made, if they were. */
function oldTables({ definitions }: Defined, facts: ReadonlyMap<string, string>): SqlText[] {
  return definitions.tables.filter(({ name, text }) => facts.get(factOf(name)) !== meaningOf(text));
}

/** Whether a database that has seen all changes has tables that will be made anew. */
export async function areTablesOld(database: Defined): Promise<boolean> {
  return oldTables(database, await factsIn(database)).length > 0;
}

/** Whether another version of the engine wrote to a database last. */
export async function isOfOtherEngine(database: Defined): Promise<boolean> {
  return (await factsIn(database)).get('engine') !== database.engine;
}

/** Whether a newer version has made the tables, beside which this one may run. It can use them as they are, since changes only add. */
export async function isOfNewerVersion(database: Defined): Promise<boolean> {
  if (database.isShared !== true || !(await database.tables()).has('facts')) return false;
  return isMadeByNewer(database, await factsIn(database));
}

function isMadeByNewer({ isShared }: Defined, facts: ReadonlyMap<string, string>): boolean {
  return isShared === true && isNewerVersion(facts.get('version') ?? '');
}

/**
 * Brings functions, tables, views and reference data up to date: those whose meaning has changed since they were made. The steps are
 * recorded at the end and can be repeated, because an engine without transactions may be cut off between them. Leaves a database as
 * it is that a newer version has made. Answers the facts of files of reference data that aren't used, since other nodes have brought newer ones.
 */
export async function bringUpToDate(
  database: Defined,
  settings: ReferencePaths,
  isBringing = database.isShared !== true,
): Promise<string[]> {
  const { definitions, define, run } = database;
  const facts = await factsIn(database);
  if (isMadeByNewer(database, facts)) return [];
  const present = new Map([['definitions', definitions.days]]);
  if (database.engine !== undefined) present.set('engine', database.engine);
  if (database.isShared === true) present.set('version', VERSION);
  const renewed = new Set<string>();
  if (facts.get('schema') !== definitions.schema) {
    await define(definitions.functions);
    for (const { text } of definitions.ownTables) await define(text);
    const there = await database.columns();
    for (const table of oldTables(database, facts)) {
      await database.renew(table, there(table.name));
      if (table.name === 'trailing_days')
        await run(`INSERT INTO trailing_days VALUES ${Array.from({ length: 30 }, (_, day) => `(${day})`)}`);
      renewed.add(table.name);
      present.set(factOf(table.name), meaningOf(table.text));
    }
    await define(inTurn([...definitions.views, ...definitions.rollUps]));
  }
  const shared = database.isShared === true ? new SharedFiles(facts, isBringing) : undefined;
  await shared?.takeFetched(settings.data);
  for (const reference of readReferences(settings)) {
    const { fact, table } = reference;
    const sha256 = hash('sha256', reference.text);
    const isRenewed = renewed.has(table);
    const isSame = facts.get(fact) === sha256;
    const isUsed = shared === undefined || isSame || shared.uses(fact, sha256);
    if (isRenewed || (isUsed && !isSame)) await database.fill(reference);
    if (isUsed) present.set(fact, sha256);
    // Whatever the first node that brings files has.
    else if (isRenewed) present.set(fact, '');
  }
  for (const [name, value] of shared?.noted ?? []) present.set(name, value);
  // Last: a process that is cut off before it begins again with the tables.
  present.set('schema', definitions.schema);
  const changed = [...present].filter(([name, value]) => facts.get(name) !== value);
  const old = changed.filter(([name]) => facts.has(name)).map(([name]) => quote(name));
  if (old.length > 0) await run(`DELETE FROM facts WHERE name IN (${old})`);
  const rows = changed.map(([name, value]) => `(${quote(name)}, ${quote(value)})`);
  if (rows.length > 0) await run(`INSERT INTO facts VALUES ${rows}`);
  return shared?.replaced ?? [];
}

/**
 * Throws a UsageError for a database whose tables, views or prices aren't those of this version and these settings, because a reader can't
 * bring it up to date. Days that were built by other definitions are no hindrance. Returns the definition of days.
 */
export async function requireUpToDate(database: Defined, settings: ReferencePaths): Promise<string> {
  if (await isOfNewerVersion(database)) return database.definitions.days;
  const isWhole = changesAfter(await newestChange(database)).length === 0;
  const facts = isWhole ? await factsIn(database) : new Map<string, string>();
  const prices = readPrices(settings);
  if (
    facts.get('schema') !== database.definitions.schema ||
    (database.isShared !== true && prices.some(({ fact, text }) => facts.get(fact) !== hash('sha256', text)))
  )
    throw new UsageError(
      'The database was last written by another version of Daybook or with another price list, and a command that reads doesn\'t change it: start "daybook serve" or run "daybook build" first.',
    );
  return database.definitions.days;
}

/** Statements as one text, which the engine takes in one go. */
function inTurn(statements: readonly { readonly text: string }[]): string {
  return statements.map(({ text }) => text).join(';\n');
}

/**
 * The select list that carries the rows of a day table over into a new one with these other columns, given the names of the old ones. A
 * new column is empty. A column whose type changes must get another name.
 */
export function carriedOver(
  columns: readonly Pick<Column, 'name' | 'type'>[],
  old: readonly string[],
): string {
  const empty = (type: string) => (type === 'VARCHAR' ? "''" : '0');
  return columns
    .map(({ name, type }) => (old.includes(name) ? name : `${empty(type)} AS ${name}`))
    .join(', ');
}

let definitions: Definitions | undefined;

/** The definitions for DuckDB. */
function ownDefinitions(): Definitions {
  definitions ??= readDefinitions(`${readFunctions()}\n${readSql('source/functions.sql')}`);
  return definitions;
}

/** A DuckDB database. */
export function definedIn(session: Session): Defined {
  const run: Defined['run'] = (sql, parameters) => session.run(sql, parameters);
  return {
    definitions: ownDefinitions(),
    engine: engineVersion(),
    select: (sql) => session.select(sql),
    run,
    define: run,
    tables: async () => namesOf(await session.select('SELECT table_name FROM duckdb_tables()')),
    columns: async () => {
      const rows = await session.select(
        'SELECT table_name, list(column_name) AS names FROM duckdb_columns() WHERE NOT internal GROUP BY table_name',
      );
      const names = new Map(rows.map((row) => [row.table_name, row.names as string[]]));
      return (table) => names.get(table) ?? [];
    },
    renew: async ({ name, text }, old) => {
      if (old.length === 0) return void (await run(text));
      await run(`ALTER TABLE ${name} RENAME TO old_${name}`);
      await run(text);
      if ((BUILT_TABLES as readonly string[]).includes(name))
        await run(`INSERT INTO ${name} BY NAME SELECT ${carriedOver(columnsOf(name), old)} FROM old_${name}`);
      await run(`DROP TABLE old_${name} CASCADE`);
    },
    fill: async ({ table, insert }) => {
      await run(`DELETE FROM ${table}`);
      await run(insert(table));
    },
  };
}

/**
 * Applies the changes that a DuckDB database hasn't seen, and brings it up to date, all of it or nothing. Returns the definition
 * of days. Throws a UsageError for a database of a newer version, and for a file of reference data that can't be read.
 */
export async function applyChanges(
  session: Session,
  settings: ReferencePaths & { now: number },
): Promise<string> {
  const database = definedIn(session);
  const newest = await newestChange(database);
  const changes = changesAfter(newest);
  await session.transaction(async () => {
    if (newest === 0)
      await session.run(
        'CREATE TABLE IF NOT EXISTS changes (number BIGINT NOT NULL, name VARCHAR NOT NULL, applied_at TIMESTAMP(3) NOT NULL)',
      );
    if (changes.length > 0) {
      const rows = changes.map(
        ({ number, name }) => `(${number}, ${quote(name)}, make_timestamp_ms(${settings.now}))`,
      );
      await session.run(inTurn([...changes, { text: `INSERT INTO changes VALUES ${rows}` }]));
    }
    await bringUpToDate(database, settings);
  });
  return database.definitions.days;
}
