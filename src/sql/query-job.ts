import { z } from 'zod';
import type { Seen } from '../lake/snapshot.js';
import type { SqlFault } from './sql-error.js';

/** The formats of answers. */
export const SQL_FORMS = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const;
export type SqlForm = (typeof SQL_FORMS)[number];

/** The value of a parameter. */
export const SqlParameter = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** A query for a process. */
export interface SqlJob {
  /** The folder of the lake, relative to the data folder, which is the process's working directory. */
  readonly lake: string;
  readonly orgId: string;
  /** Unix milliseconds: what was published then. */
  readonly asOf?: number | undefined;
  readonly sql: string;
  readonly params: SqlParameters;
  readonly form: SqlForm;
  /** The largest number of rows: more are an error. */
  readonly rows: number;
  /** How many rows are wanted at most: more are left out. */
  readonly limit?: number | undefined;
  /** The largest number of bytes. */
  readonly bytes: number;
  /** The path of a new file, for a format that can't be streamed. */
  readonly file: string;
}

export type SqlParameters =
  | readonly z.infer<typeof SqlParameter>[]
  | Readonly<Record<string, z.infer<typeof SqlParameter>>>;

/** What a process reports: work has started, the bytes (sent separately) have begun or are complete, or there is no answer. */
export type SqlReport =
  | { readonly state: 'started' }
  | { readonly state: 'begun'; readonly seen: Seen }
  | { readonly state: 'done'; readonly rows: number }
  | Failed;

export interface Failed {
  readonly state: 'failed';
  readonly fault: SqlFault;
  readonly detail: string;
  /** For the log. */
  readonly cause?: string;
  /** False if the process has read nothing of the organization and waits for another query. */
  readonly isUsed?: false;
}
