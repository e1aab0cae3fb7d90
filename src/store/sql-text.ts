import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Day } from '../day.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import type { OrgDay, Sources } from './store.js';

const ROOT = join(PACKAGE_ROOT, 'sql');

/** Reads each path once: the files of `sql/` are those of the program, which go on as it has begun. */
function once<T>(read: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    const found = known.get(path) ?? read(path);
    known.set(path, found);
    return found;
  };
}

/** The text of one file of `sql/`, as `daily/users.sql`. */
export const readSql = once((path) => readFileSync(join(ROOT, path), 'utf8'));

/** A text of `sql/`, with the name of its file, which is that of the thing that it makes. */
export interface SqlText {
  readonly name: string;
  readonly text: string;
}

/** The files of one folder of `sql/`, by name. */
export const readSqlFolder = once((folder): readonly SqlText[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.slice(0, -'.sql'.length), text: readSql(`${folder}/${file}`) })),
);

/** The rules of `sql/function`, as DuckDB reads them. */
export function readRules(): string {
  return inOrder(readSqlFolder('function'))
    .map(({ text }) => text)
    .join('\n');
}

/** The functions of DuckDB: those that it spells in its own way, and the rules. */
export function readFunctions(): string {
  return `${readSql('engine/duckdb.sql')}\n${readRules()}`;
}

/**
 * A comment or white space, or else a text, a quoted name, a word, or another character. A quote in a text is doubled in every engine.
 * An expression, since the parser of DuckDB reads neither statements that make something nor those of ClickHouse.
 */
const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|\s+|('(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|[^'"])/y;

/** The tokens of an SQL text that decide what it computes: all but comments and white space. Throws for a quote that doesn't end. */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw new SyntaxError(`a quote does not end: ${text.slice(at, at + 80)}`);
    if (found[1] !== undefined) tokens.push(found[1]);
  }
  return tokens;
}

const CREATE = 'CREATE OR REPLACE ';

/** The functions in a text, each by its name. */
export function functionsIn(text: string): SqlText[] {
  return `\n${text}`
    .split(`\n${CREATE}`)
    .slice(1)
    .map((one) => ({ name: tokensOf(one)[1] ?? '', text: `${CREATE}${one}` }));
}

/**
 * The names that a text has where a function, a table or a view can be.
 * An expression, since the texts of sources and of ClickHouse are read before any engine is open.
 */
export function namesIn(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/\b(?:FROM|JOIN) (\w+)|\b(\w+)\(/g)].map(([, table, called]) =>
      String(table ?? called),
    ),
  );
}

/** Whether a text uses a function or view. */
export function uses({ text }: SqlText, name: string): boolean {
  return namesIn(text).has(name);
}

/** Functions or views, each after those that it uses. */
export function inOrder(texts: readonly SqlText[]): SqlText[] {
  const used = new Map(texts.map((one) => [one, namesIn(one.text)]));
  const ordered: SqlText[] = [];
  for (let waiting = [...texts]; waiting.length > 0; ) {
    const isEarly = (one: SqlText) =>
      waiting.some(({ name }) => name !== one.name && used.get(one)?.has(name) === true);
    const left = waiting.filter(isEarly);
    ordered.push(...waiting.filter((one) => !left.includes(one)));
    waiting = left;
  }
  return ordered;
}

/** A text as an SQL string. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** An instant in Unix milliseconds as an SQL string. */
export function quoteInstant(ms: number): string {
  return quote(new Date(ms).toISOString().slice(0, -1).replace('T', ' '));
}

/** A path as a pattern that it alone is like: a reader of files takes each for one. */
export function patternOf(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}

/** Days as the rows of a VALUES list. */
export function valuesOf(days: readonly OrgDay[]): string {
  return days.map(({ orgId, day }) => `(${quote(orgId)}, '${day}')`).join(', ');
}

/** So many days are named one by one; of more, the first and the last. */
const DAYS_NAMED = 100;

/** The condition that a column is one of some days, by constants. For many days: that it is between the first and the last. */
export function withinDays(column: string, days: readonly Day[]): string {
  const all = [...new Set(days)].sort().map((day) => `DATE '${day}'`);
  if (all.length === 0) return 'false';
  return all.length <= DAYS_NAMED
    ? `${column} IN (${all.join(', ')})`
    : `${column} BETWEEN ${all[0]} AND ${all.at(-1)}`;
}

/**
 * A SELECT with the others that it reads from before it, of which an engine can compute some once for all readers.
 * An expression, since an own WITH may stand behind comments, and a SELECT around it would lose the order of its rows.
 */
export function withSources(sql: string, sources: Sources, once: readonly string[] = []): string {
  if (Object.keys(sources).length === 0) return sql;
  const texts = Object.entries(sources).map(
    ([name, text]) => `${name} AS ${once.includes(name) ? 'MATERIALIZED ' : ''}(\n${text}\n)`,
  );
  return `WITH ${texts.join(',\n')}\n${sql.replace(/^((?:\s|--.*\n)*)WITH\s/, '$1, ')}`;
}

/** The statement that writes the rows of a SELECT to Parquet and answers the files: see Store. */
export function copyOf(sql: string, path: string, partitions: readonly string[]): string {
  const parts = partitions.length === 0 ? '' : `, PARTITION_BY (${partitions.join(', ')})`;
  return `COPY (${sql}) TO ${quote(path)} (FORMAT parquet, COMPRESSION zstd, RETURN_STATS${parts})`;
}
