import { z } from 'zod';
import type { SqlFault } from './sql-error.js';

/** The forms that an answer can have. */
export const SQL_FORMS = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const;
export type SqlForm = (typeof SQL_FORMS)[number];

/** A value that a parameter can have. */
export const SqlParameter = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What a process is told to answer. */
export interface SqlJob {
  /** The folder of the lake, from the data folder, in which the process is. */
  readonly lake: string;
  readonly orgId: string;
  readonly sql: string;
  readonly params: SqlParameters;
  readonly form: SqlForm;
  /** How many rows an answer may have. */
  readonly rows: number;
  /** How many bytes an answer may have. */
  readonly bytes: number;
  /** A file that nobody has yet, for a form that can't be written from its beginning to its end. */
  readonly file: string;
}

export type SqlParameters =
  | readonly z.infer<typeof SqlParameter>[]
  | Readonly<Record<string, z.infer<typeof SqlParameter>>>;

/** What a process says of its answer: work on it has started, its bytes, which come another way, have begun or are all there, or there is none. */
export type SqlReport =
  | { readonly state: 'started' | 'begun' }
  | { readonly state: 'done'; readonly rows: number }
  | Failed;

export interface Failed {
  readonly state: 'failed';
  readonly fault: SqlFault;
  readonly detail: string;
  /** For the log. */
  readonly cause?: string;
  /** False when the process has seen nothing of the organization, and waits for another query. */
  readonly isUsed?: false;
}
