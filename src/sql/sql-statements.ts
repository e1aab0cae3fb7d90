import { messageOf } from '../exit.js';
import { plainText } from '../terminal/text-table.js';
import { unknownTable } from './unknown-table.js';

/** A statement of a text. */
export interface Statement {
  readonly sql: string;
  /** The line on which it begins, from 1. */
  readonly line: number;
}

/** Where a semicolon doesn't end a statement: texts, names, comments; the last alternative of each is unclosed. */
const TOKEN =
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\$(\w*)\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;|\w+|[\s\S]/g;

/** The statements that end with a semicolon, and the rest of the text. */
export function statementsIn(text: string): { ended: Statement[]; rest: Statement } {
  const ended: Statement[] = [];
  let from = 0;
  const take = (to: number): Statement => {
    const all = text.slice(from, to);
    // It begins after white space and comments.
    const [, before = ''] = /^((?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*)/.exec(all) ?? [];
    const line = text.slice(0, from + before.length).split('\n').length;
    return { sql: all.slice(before.length).trim(), line };
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token !== ';') continue;
    const statement = take(index);
    if (statement.sql !== '') ended.push(statement);
    from = index + 1;
  }
  return { ended, rest: take(text.length) };
}

/** All statements of a text, including a last one without a semicolon. */
export function allStatementsIn(text: string): Statement[] {
  const { ended, rest } = statementsIn(text);
  return rest.sql === '' ? ended : [...ended, rest];
}

/** The names of a statement's parameters: `$name`, outside of texts, names and comments. */
export function parametersIn(sql: string): Set<string> {
  const names = new Set<string>();
  let isNamed = false;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (isNamed && /^\w/.test(token)) names.add(token);
    isNamed = token === '$';
  }
  return names;
}

/** DuckDB's error about a statement, on one line, with the position in the text if it has one. `tables` are those that there are. */
export function faultOf(error: unknown, { sql, line }: Statement, tables: readonly string[] = []): string {
  const message = messageOf(error);
  const [said = '', excerpt = ''] = message.split(/(?<!\n)\n+(?=LINE \d+: )/);
  // DuckDB would suggest tables of its own.
  const [, unknown] = /^Catalog Error: (?:Table|View) with name ([\s\S]+) does not exist!/.exec(said) ?? [];
  const sentence =
    unknown === undefined
      ? said.replace(/(?<!\s)\s*\n\s*/g, ' ').trim()
      : unknownTable(plainText(unknown), tables);
  const shown = /^LINE (\d+): (.*)\n( *)\^/.exec(excerpt);
  if (shown === null) return sentence;
  const [, number = '', part = '', indent = ''] = shown;
  // DuckDB shows only a part of a long line, between dots.
  const text = part.replace(/^\.\.\./, '').replace(/\.\.\.$/, '');
  const start = (sql.split('\n')[Number(number) - 1] ?? '').indexOf(text);
  const caret = indent.length - `LINE ${number}: `.length - (part.startsWith('...') ? 3 : 0);
  if (start < 0) return sentence;
  return `${sentence} (line ${line + Number(number) - 1}, column ${start + caret + 1})`;
}
