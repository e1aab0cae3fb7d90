import { messageOf } from '../exit.js';

/** A statement of a text. */
export interface Statement {
  readonly sql: string;
  /** The line of the text that it begins on, from 1. */
  readonly line: number;
}

/** What a semicolon doesn't end anything in: texts, names, comments; the last alternative of each is one that isn't closed. */
const TOKEN =
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\$(\w*)\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;|\w+|[\s\S]/g;

/** The statements of a text that semicolons end, and what is after the last of them. */
export function statementsIn(text: string): { ended: Statement[]; rest: Statement } {
  const ended: Statement[] = [];
  let from = 0;
  const take = (to: number): Statement => {
    const all = text.slice(from, to);
    // Where it begins: after what is white and comments.
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

/** All statements of a text, the last one whether a semicolon ends it or not. */
export function allStatementsIn(text: string): Statement[] {
  const { ended, rest } = statementsIn(text);
  return rest.sql === '' ? ended : [...ended, rest];
}

/** What DuckDB says of a statement that it can't run, on one line, with the place in the text where it shows one. */
export function faultOf(error: unknown, { sql, line }: Statement): string {
  const message = messageOf(error);
  const [said = '', excerpt = ''] = message.split(/\n+(?=LINE \d+: )/);
  const sentence = said.replace(/\s*\n\s*/g, ' ').trim();
  const shown = /^LINE (\d+): (.*)\n( *)\^/.exec(excerpt);
  if (shown === null) return sentence;
  const [, number = '', part = '', indent = ''] = shown;
  // Of a long line only a part is shown, between dots.
  const text = part.replace(/^\.\.\./, '').replace(/\.\.\.$/, '');
  const start = (sql.split('\n')[Number(number) - 1] ?? '').indexOf(text);
  const caret = indent.length - `LINE ${number}: `.length - (part.startsWith('...') ? 3 : 0);
  if (start < 0) return sentence;
  return `${sentence} (line ${line + Number(number) - 1}, column ${start + caret + 1})`;
}
