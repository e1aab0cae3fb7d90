import { messageOf } from '../exit.js';

/** What is wrong with a query: itself, that it needs more than it may, DuckDB, that the lake is changing, or that the machine is busy. */
export type SqlFault = 'query' | 'limit' | 'engine' | 'lake' | 'busy';

export const ENGINE = "The query can't be answered in this form: write it in another way";

/** Why a query has no answer, in a sentence for the one who asks. */
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

/** A text as one sentence: on one line, without what can't be seen, not too long. */
function sentenceOf(text: string): string {
  const line = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS)
    .replace(/[.!?\s]+$/, '');
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}.`;
}

/** What DuckDB says when a query fails, for the one who asks: nothing of files, and nothing of how it is made. */
export function toSqlError(error: unknown, memoryMb: number): SqlError {
  if (error instanceof SqlError) return error;
  const message = messageOf(error);
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
      // The lines of the text that it shows are of another one: the query is put into a SELECT.
      return new SqlError(
        'query',
        message.replace(/\n+LINE \d+:[\s\S]*/, '').replace(FILE, 'a file of the lake'),
      );
  }
}

const FILE = /"?[^\s"]*\.parquet"?/g;

export function memorySentence(memoryMb: number): string {
  return `The query needs more than ${memoryMb} MiB of memory: read fewer days or columns, or group earlier`;
}

export function timeSentence(seconds: number): string {
  return `The query takes more than ${seconds} s: read fewer days, or group earlier`;
}
