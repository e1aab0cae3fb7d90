import type { Answers } from './answers.js';
import { ServiceError, send } from './client.js';

/** A statement with the values of its parameters; null stands for NULL. */
export interface Query {
  readonly sql: string;
  readonly params: Readonly<Record<string, string | null>>;
}

export type SqlAnswer = Answers['postSql'];
export type Column = SqlAnswer['meta']['columns'][number];
export type Row = SqlAnswer['data'][number];

/** How many rows the page shows: more would slow the browser down, and nobody reads them. */
export const MOST_ROWS = 10_000;

/** The prefix of a number that is kept as text, because JavaScript would round it. */
const EXACT = '\u0001';

/** Matches texts, and numbers with more digits than JavaScript keeps. */
const TEXT_OR_LONG_NUMBER = /"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?/g;

/** Parses an answer without rounding any number. */
function parse(text: string): SqlAnswer {
  return JSON.parse(
    text.replace(TEXT_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"\\u0001${token}"`)),
  );
}

/** The digits of a number that JavaScript would round; undefined for any other value. */
export function digitsOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(EXACT) ? value.slice(1) : undefined;
}

/** A value as text; nested values as JSON. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object') return digitsOf(value) ?? String(value);
  return JSON.stringify(value).replace(/"\\u0001([^"]*)"/g, '$1');
}

/** A value as a number for charts; null if it isn't one. */
export function numberOf(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null;
  const number = Number(digitsOf(value) ?? value);
  return Number.isFinite(number) ? number : null;
}

/** The kind of a column's values, by its type in DuckDB. */
export type Kind = 'number' | 'day' | 'instant' | 'text' | 'nested';

export function kindOf({ type }: Column): Kind {
  if (/\[\d*\]$|^(STRUCT|MAP)\(/.test(type)) return 'nested';
  if (/^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|BIGNUM|DECIMAL\(.*)$/.test(type)) return 'number';
  if (type === 'DATE') return 'day';
  return type.startsWith('TIMESTAMP') ? 'instant' : 'text';
}

/** Asks for a query's rows in a format. Aborting ends the query on the service. */
export function ask(query: Query, accept: string, signal: AbortSignal, limit?: number): Promise<Response> {
  return send('api/v1/sql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ ...query, limit }),
    signal,
  });
}

/** The first rows of a query's answer, and one more than are shown if there are more. */
export async function askRows(query: Query, signal: AbortSignal): Promise<SqlAnswer> {
  const response = await ask(query, 'application/json', signal, MOST_ROWS + 1);
  return parse(await whole(() => response.text(), signal));
}

/** Reads the body of an answer. The service breaks off an answer that fails after its first bytes. */
export async function whole<Body>(read: () => Promise<Body>, signal: AbortSignal): Promise<Body> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ServiceError(
      0,
      'The answer broke off before its end: run the query again, or read fewer rows.',
      undefined,
    );
  }
}

/** The ways in which sentences name a part of a statement. */
const NAMED = [/ named "([^"]+)"/, /"([^"]+)"/, /^(?:There is no table|The function) ([\w.]+)/];

/** The part of a statement that an error names: by its place, or else by a name. */
export function placeOf(sentence: string, sql: string): { from: number; to: number } | undefined {
  const [, character] = /, at character (\d+)\.$/.exec(sentence) ?? [];
  if (character !== undefined) {
    // The number counts code points.
    const from = [...sql].slice(0, Number(character) - 1).join('').length;
    const [word = ''] = /^\w*/.exec(sql.slice(from)) ?? [];
    return { from, to: from + Math.max(word.length, 1) };
  }
  const name = NAMED.map((pattern) => pattern.exec(sentence)?.[1]).find((one) => one !== undefined);
  if (name === undefined) return undefined;
  const at = new RegExp(`(?<!\\w)${name.replace(/[^\w]/g, '\\$&')}(?!\\w)`, 'i').exec(sql);
  return at === null ? undefined : { from: at.index, to: at.index + at[0].length };
}
