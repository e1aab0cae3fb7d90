import { hash } from 'node:crypto';
import { functionsIn, inOrder, readRules, readSql, tokensOf } from '../sql-text.js';

/** The characters of a definition's checksum that are in the name of its function. */
const CHECKSUM_LENGTH = 8;

/** A text, a quoted name or a comment, or else the name of a function that is made or called. */
const NAME =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|\bCREATE OR REPLACE FUNCTION (\w+)|\b([a-z]\w*)(?=\s*\()/g;

let text: string | undefined;
let names: ReadonlyMap<string, string> | undefined;

/**
 * The functions in ClickHouse's spelling, under their plain names: those of its own, and the rules of `sql/function`. A rule has another head
 * there, and a backslash in a string is doubled. An expression, since only the head differs.
 */
export function readClickHouseFunctions(): string {
  text ??= `${readSql('engine/clickhouse.sql')}\n${readRules()
    .replaceAll('\\', '\\\\')
    .replaceAll(
      /^CREATE OR REPLACE FUNCTION (\w+)(\([^()]*\)) AS\b/gm,
      'CREATE OR REPLACE FUNCTION $1 AS $2 ->',
    )}`;
  return text;
}

/**
 * The names of functions on a server, by their plain names. A server has them for all of its databases, and for all versions of Daybook that
 * use it, so each name has a checksum of the definition in it, and of those that it uses.
 */
export function functionNames(): ReadonlyMap<string, string> {
  if (names !== undefined) return names;
  const found = new Map<string, string>();
  const functions = functionsIn(readClickHouseFunctions()).map(({ text }) => ({
    name: /FUNCTION (\w+)/.exec(text)?.[1] ?? '',
    text,
  }));
  for (const { name, text } of inOrder(functions))
    found.set(
      name,
      `${name}_${hash('sha256', tokensOf(replaced(text, found)).join(' ')).slice(0, CHECKSUM_LENGTH)}`,
    );
  names = found;
  return found;
}

/** A statement with the names that functions have on a server. One that makes a function makes it if it is missing. */
export function withFunctionNames(sql: string): string {
  return replaced(sql, functionNames());
}

function replaced(sql: string, by: ReadonlyMap<string, string>): string {
  return sql.replaceAll(NAME, (token: string, made?: string, called?: string) => {
    const name = by.get(made ?? called ?? '');
    if (name === undefined) return token;
    return made === undefined ? name : `CREATE FUNCTION IF NOT EXISTS ${name}`;
  });
}
