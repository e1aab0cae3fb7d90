import { messageOf } from '../exit.js';

/** Why a query fails: a mistake in it, a limit, DuckDB, a changing lake, nothing in it yet, a busy machine, or too many others of its organization. */
export type SqlFault = 'query' | 'limit' | 'engine' | 'lake' | 'unpublished' | 'busy' | 'turn';

/** When to retry while others run. */
export const RETRY_S = 5;

export const TURN = `Your organization already runs as many queries as it may: ask again in ${RETRY_S} seconds.`;
export const BUSY = `The service already runs as many queries as it may: ask again in ${RETRY_S} seconds.`;
/** When to retry while nothing is published. */
export const PUBLISHED_S = 30;
export const NOT_YET_PUBLISHED =
  'No day of your organization is published yet: days are published after the nightly build, or after daybook build';

export const ENGINE = "The query can't be answered in this form: write it in another way";

/** Why a query has no answer, in a sentence for its sender. */
export class SqlError extends Error {
  override name = 'SqlError';

  constructor(
    readonly fault: SqlFault,
    text: string,
  ) {
    super(sentenceOf(text));
  }
}

const MOST_CHARACTERS = 500;

/** A text as one sentence: on one line, without invisible characters, not too long. */
function sentenceOf(text: string): string {
  const line = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS)
    .replace(/(?<![.!?\s])[.!?\s]+$/, '');
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}.`;
}

/** DuckDB's error for the sender of a query, without anything about files or internals. */
export function toSqlError(error: unknown, memoryMb: number): SqlError {
  if (error instanceof SqlError) return error;
  const message = messageOf(error);
  if (['INT128', ' out of range ', 'INT64'].every((part) => message.includes(part)))
    return new SqlError('query', TOO_LARGE);
  const [, kind = ''] = /^([A-Za-z ]+?) Error: /.exec(message) ?? [];
  switch (kind) {
    case 'Out of Memory':
      return new SqlError('limit', memorySentence(memoryMb));
    case 'Permission':
      return new SqlError(
        'query',
        'SQL can read only the tables that GET /api/v1/sql/tables lists, not files',
      );
    case 'IO':
      return new SqlError('lake', 'A day of the lake was just published again: repeat the query');
    case '':
    case 'INTERNAL':
    case 'FATAL':
    case 'Serialization':
      return new SqlError('engine', ENGINE);
    default:
      // Its excerpt shows another text, because the query is wrapped into a SELECT.
      return new SqlError(
        'query',
        message.replace(/(?<!\n)\n+LINE \d+:[\s\S]*/, '').replace(FILE, 'a file of the lake'),
      );
  }
}

const TOO_LARGE =
  'An integer of the answer is beyond BIGINT, such as a very large sum: cast it to DOUBLE or VARCHAR';

const FILE = /"?(?<![^\s"])[^\s"]*\.parquet"?/g;

export function memorySentence(memoryMb: number): string {
  return `The query needs more than ${memoryMb} MiB of memory: read fewer days or columns, or group earlier`;
}

export function timeSentence(seconds: number): string {
  return `The query takes more than ${seconds} s: read fewer days, or group earlier`;
}
