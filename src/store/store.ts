import type { Day } from '../day.js';

/** What a statement's named parameters can be. A number is a BIGINT or a DOUBLE, by its value. */
export type Parameter = string | number | null | { readonly day: Day };
export type Parameters = Readonly<Record<string, Parameter>>;

/** A row as it comes out: counts are numbers, days `YYYY-MM-DD`, instants Unix milliseconds. */
export type Value = string | number | boolean | null | Value[];
export type Row = Record<string, Value>;

/** The formats of lines that can be settled. */
export type Format = 'canonical' | 'claude-code';

/** Files of lines that are settled together, in one transaction. */
export interface Batch {
  readonly orgId: string;
  readonly format: Format;
  /** Plain, `.gz` or `.zst` files, by absolute path. */
  readonly paths: readonly string[];
  /** Whose transcripts they are; canonical events say it themselves. */
  readonly userId?: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
}

/** What became of a batch's lines. Events of transcripts count as lines here. */
export interface Settled {
  /** Events that count from now on. */
  accepted: number;
  /** Events that were there already. */
  duplicates: number;
  /** Lines that broke a rule. */
  rejected: number;
  byReason: Record<string, number>;
}

/** Days of organizations, for the build. */
export interface OrgDay {
  readonly orgId: string;
  readonly day: Day;
}

/**
 * Where events and day tables are. Everything it acknowledges is on disk; everything it replaces is replaced whole.
 */
export interface Store {
  /** How many days one build takes: enough to share the reading, few enough to keep it small. */
  readonly daysAtOnce: number;
  /** The rows of one SELECT. */
  select(sql: string, parameters?: Parameters): Promise<Row[]>;
  /** Reads with several SELECTs that all see one state of the store. */
  snapshot<T>(read: (select: Store['select']) => Promise<T>): Promise<T>;
  /** Runs small statements in one transaction. */
  run(statements: readonly { sql: string; parameters?: Parameters }[]): Promise<void>;
  /** Checks a batch's lines, keeps the events that stand and the rejects, and counts them. All of it or nothing. */
  settle(batch: Batch, progress?: (share: number) => void): Promise<Settled>;
  /**
   * Computes all tables of some days and replaces them together. `batch` is the newest that was there when the days were
   * chosen: what came after it makes them stale again.
   */
  build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void>;
  /** Finishes what is under way, and lets go of the files. */
  close(): Promise<void>;
}

/** The newest batch that was settled; 0 when there is none. */
export async function newestBatch(store: Pick<Store, 'select'>): Promise<number> {
  const [newest] = await store.select('SELECT coalesce(max(batch), 0) AS batch FROM batches');
  return Number(newest?.batch);
}
