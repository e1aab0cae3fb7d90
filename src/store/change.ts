import { hash } from 'node:crypto';
import { UsageError } from '../exit.js';
import type { Session } from './duckdb.js';
import { type ReferencePaths, readReferences } from './reference.js';
import { quote, readSql, readSqlFolder } from './sql.js';
import type { Row } from './store.js';

/** The numbered changes of the raw tables, oldest first. Throws a UsageError for a database of a newer version. */
export function changesAfter(newest: number): { number: number; name: string; text: string }[] {
  const changes = readSqlFolder('change').map(({ name, text }) => ({
    number: Number(name.slice(0, 4)),
    name,
    text,
  }));
  const known = changes.at(-1)?.number ?? 0;
  if (newest > known) {
    throw new UsageError(
      `The database was made by a newer Daybook (change ${newest}, this one knows ${known}): install that version or a later one.`,
    );
  }
  return changes.filter(({ number }) => number > newest);
}

/** The newest numbered change of a database; 0 for one that is empty. */
export async function newestChange(session: Session): Promise<number> {
  await session.run(
    'CREATE TABLE IF NOT EXISTS changes (number BIGINT NOT NULL, name VARCHAR NOT NULL, applied_at TIMESTAMP(3) NOT NULL)',
  );
  const [applied] = await session.select('SELECT coalesce(max(number), 0) AS newest FROM changes');
  return Number(applied?.newest);
}

/**
 * Applies the changes that the database hasn't seen, and brings the functions, tables and data that days are built from up
 * to date. Throws a UsageError for a database of a newer version, and for a file of reference data that can't be read.
 */
export async function applyChanges(
  session: Session,
  settings: ReferencePaths & { now: number },
): Promise<void> {
  const changes = changesAfter(await newestChange(session));
  await session.transaction(async () => {
    for (const { text } of changes) await session.run(text);
    if (changes.length > 0) {
      const rows = changes.map(
        ({ number, name }) => `(${number}, ${quote(name)}, make_timestamp_ms(${settings.now}))`,
      );
      await session.run(`INSERT INTO changes VALUES ${rows.join(', ')}`);
    }
    const isNew = (name: string, value: string) => isNewFact(session, name, value);
    const note = async (name: string, value: string) => {
      await session.run('DELETE FROM facts WHERE name = $name', { name });
      await session.run('INSERT INTO facts VALUES ($name, $value)', { name, value });
    };
    const definitions = readDefinitions(
      `${readSql('engine/duckdb.sql')}\n${readSql('ingest/functions.sql')}`,
    );
    if (await isNew('definitions', definitions.sha256)) {
      await define(session, definitions, await isNew('tables', definitions.tablesSha256));
      await note('definitions', definitions.sha256);
      await note('tables', definitions.tablesSha256);
    }
    for (const { fact, table, text, insert } of readReferences(settings)) {
      if (!(await isNew(fact, hash('sha256', text)))) continue;
      await session.run(`DELETE FROM ${table}`);
      await session.run(insert(table));
      await note(fact, hash('sha256', text));
    }
  });
}

async function isNewFact(session: Session, name: string, value: string): Promise<boolean> {
  const [fact] = await session.select('SELECT value FROM facts WHERE name = $name', { name });
  return fact?.value !== value;
}

/** Whether the day tables of a database that has seen all changes are going to be made anew. */
export function areTablesOld(session: Session): Promise<boolean> {
  return isNewFact(session, 'tables', readDefinitions('').tablesSha256);
}

type Definition = ReturnType<typeof readSqlFolder>[number];

/** What days are built by, and what tells whether it has changed. */
export interface Definitions {
  readonly functions: string;
  readonly tables: readonly Definition[];
  readonly views: readonly Definition[];
  readonly sha256: string;
  readonly tablesSha256: string;
}

/** Reads the definitions, to go with the functions of an engine. */
export function readDefinitions(functions: string): Definitions {
  const schema = readSqlFolder('schema');
  const tables = schema.filter(({ text }) => text.includes('CREATE TABLE'));
  const views = schema.filter(({ text }) => text.includes('CREATE OR REPLACE VIEW'));
  const texts = (parts: readonly Definition[]) => parts.map(({ text }) => text).join();
  return {
    functions,
    tables,
    views,
    sha256: hash('sha256', [functions, texts(schema), texts(readSqlFolder('daily'))].join()),
    tablesSha256: hash('sha256', texts(tables)),
  };
}

/** A column of a table, and what a row that was there before the column has in it, as SQL. */
export interface Column {
  readonly name: string;
  readonly empty: string;
}

/** The columns of a table, by the text that makes it. */
export function columnsOf(text: string): Column[] {
  return [...text.matchAll(/^ {2}(\w+) +([A-Z]+)/gm)].map(([, name, type]) => ({
    name: String(name),
    empty: type === 'VARCHAR' ? "''" : '0',
  }));
}

/** What to select from a table as it was for one with these columns. `old` has the names of the columns that it had. */
export function carriedOver(columns: readonly Column[], old: readonly Row[]): string {
  const isThere = new Set(old.map(({ name }) => name));
  return columns.map(({ name, empty }) => (isThere.has(name) ? name : `${empty} AS ${name}`)).join(', ');
}

/** Makes a table anew, given the columns that it had; of a day table the rows of days that can't be computed again, as their events are gone, are kept. */
async function renew(session: Session, { name, text }: Definition, old: readonly Row[]): Promise<void> {
  const columns = columnsOf(text);
  const isOfDays = ['org_id', 'day'].every((key) => columns.some((column) => column.name === key));
  const isKept = isOfDays && old.length > 0;
  if (isKept) {
    await session.run(
      `CREATE OR REPLACE TEMP TABLE kept_rows AS SELECT ${carriedOver(columns, old)} FROM ${name}
      WHERE (org_id, day) IN (SELECT org_id, day FROM removed_days)`,
    );
  }
  await session.run(`DROP TABLE IF EXISTS ${name} CASCADE; ${text}`);
  if (isKept) await session.run(`INSERT INTO ${name} BY NAME FROM kept_rows; DROP TABLE kept_rows`);
}

/**
 * Makes the functions, day tables and views. Day tables can be computed again, so when one's definition has changed all are
 * made anew, and no day counts as built but those whose events are gone; when only queries have changed, the days stay as
 * they are until the next build.
 */
async function define(
  session: Session,
  { functions, tables, views }: Definitions,
  areTablesNew: boolean,
): Promise<void> {
  await session.run(functions);
  if (areTablesNew) {
    const old = await session.select(
      'SELECT table_name, column_name AS name FROM duckdb_columns() WHERE NOT internal',
    );
    for (const table of tables)
      await renew(
        session,
        table,
        old.filter(({ table_name }) => table_name === table.name),
      );
    await session.run('INSERT INTO trailing_days SELECT range FROM range(30)');
    await session.run('DELETE FROM days WHERE (org_id, day) NOT IN (SELECT org_id, day FROM removed_days)');
    await session.run("DELETE FROM facts WHERE name IN ('rate_card', 'language_table')");
  }
  for (const { text } of inOrder(views)) await session.run(text);
  await session.run('UPDATE days SET batch = -1');
}

/** Views, each after those that it stands on. */
export function inOrder(views: readonly Definition[]): Definition[] {
  const ordered: Definition[] = [];
  for (let waiting = [...views]; waiting.length > 0; ) {
    const isEarly = (view: Definition) =>
      waiting.some(
        (other) => other !== view && new RegExp(`\\b(FROM|JOIN) ${other.name}\\b`).test(view.text),
      );
    const left = waiting.filter(isEarly);
    ordered.push(...waiting.filter((view) => !left.includes(view)));
    waiting = left;
  }
  return ordered;
}
