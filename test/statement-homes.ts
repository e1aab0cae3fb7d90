import { TABLES } from '../src/store/catalog.js';
import { namesIn, readSqlFolder, tokensOf } from '../src/store/sql-text.js';
import { isState, PUBLISHED_TABLES } from '../src/store/state/homes.js';
import type { Read, Store } from '../src/store/store.js';

/** The tables and views that each view reads. */
const VIEWS = new Map(
  readSqlFolder('schema')
    .filter(({ text }) => text.includes('CREATE OR REPLACE VIEW'))
    .map(({ name, text }) => [name, namesIn(bare(text))]),
);

/** A statement without comments and texts. */
function bare(sql: string): string {
  return tokensOf(sql)
    .map((token) => (token.startsWith("'") ? "''" : token))
    .join(' ')
    .replaceAll(' (', '(');
}

function tablesIn(names: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const name of names) {
    const view = VIEWS.get(name);
    if (view !== undefined) for (const table of tablesIn(view)) found.add(table);
    else if (Object.hasOwn(TABLES, name)) found.add(name);
  }
  return found;
}

/** The tables that a statement writes, and those of state and of data that it has. */
function homesOf(sql: string) {
  const text = bare(sql);
  const written = [...text.matchAll(/\b(?:INTO|UPDATE|DELETE FROM) (\w+)/g)].map(([, table]) =>
    String(table),
  );
  const own = new Set(
    [...text.matchAll(/\b(\w+) AS(?: MATERIALIZED)?\( ?(?:SELECT|WITH)\b/g)].map(([, name]) => name),
  );
  const tables = [...tablesIn([...namesIn(text), ...written].filter((name) => !own.has(name)))];
  const state = tables.filter((table) => isState(table));
  return { written, state, data: tables.filter((table) => !isState(table)) };
}

/**
 * Why a statement belongs to no home: it writes and has tables of both state and data, or it reads data and state that isn't published; undefined
 * if it has one.
 */
export function homelessness(sql: string): string | undefined {
  const { written, state, data } = homesOf(sql);
  const wrong = written.length > 0 ? state : state.filter((table) => !PUBLISHED_TABLES.includes(table));
  return data.length === 0 || wrong.length === 0
    ? undefined
    : `${wrong.join(', ')} with ${data.join(', ')}: ${sql.slice(0, 500)}`;
}

/** What PostgreSQL doesn't know. */
const FOREIGN =
  /\bQUALIFY\b|GROUP BY ALL|\bEXCLUDE\b|\* REPLACE\b|\bILIKE\b|\bBY NAME\b|\barg_?(?:Max|Min|max|min)\b|\bchecksum\(|\bany_value\(|\bmake_timestamp/;

/** A word in a statement about state alone that PostgreSQL doesn't read; undefined if it reads all of it. */
export function foreignWord(sql: string): string | undefined {
  const { state, data } = homesOf(sql);
  if (state.length === 0 || data.length > 0) return undefined;
  const found = FOREIGN.exec(bare(sql));
  return found === null ? undefined : `${found[0]}: ${sql.slice(0, 500)}`;
}

const checked = new Set<string>();

function requireHome(sql: string): void {
  if (checked.has(sql)) return;
  const reason = homelessness(sql);
  if (reason !== undefined) throw new Error(`A statement has state and data: ${reason}`);
  checked.add(sql);
}

/** Has a store refuse statements that have tables of two homes: so every test that has one says where they are. */
export function watchHomes(store: Store): void {
  const { select, run, append, snapshot, preview, rewrite } = store;
  const watched =
    <T>(read: Read<T>): Read<T> =>
    (from, readColumns) =>
      read(
        (sql, parameters) => {
          requireHome(sql);
          return from(sql, parameters);
        },
        (sql, sources, parameters) => {
          for (const source of Object.values(sources)) requireHome(source);
          return readColumns(sql, sources, parameters);
        },
      );
  Object.assign(store, {
    select: (sql, parameters) => {
      requireHome(sql);
      return select.call(store, sql, parameters);
    },
    run: async (statements) => {
      for (const { sql } of statements) requireHome(sql);
      return run.call(store, statements);
    },
    append: async (sql) => {
      requireHome(sql);
      return append.call(store, sql);
    },
    snapshot: (read) => snapshot.call(store, watched(read)) as never,
    preview: (due, read) => preview.call(store, due, watched(read)) as never,
    rewrite: async (rewriting) => {
      for (const { table, where, set = {}, lookedUp } of rewriting.changes)
        if (isState(table)) {
          if (lookedUp !== undefined) throw new Error(`State is looked up in data: ${table}`);
          requireHome(`UPDATE ${table} SET ${Object.values(set).join(', ')} WHERE ${where}`);
        }
      for (const [table, text] of Object.entries(rewriting.added))
        requireHome(`INSERT INTO ${table} ${text}`);
      return rewrite.call(store, rewriting);
    },
  } satisfies Partial<Store>);
}
