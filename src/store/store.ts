import type { DuckDBResult } from '@duckdb/node-api';
import type { Day } from '../day.js';
import type { Checkout } from '../disk/git-remote.js';

/**
 * The values of a statement's named parameters. A number is a BIGINT or a DOUBLE, by its value. A list has one text at least, and stands only
 * in `IN $name` and `$name IS NULL`.
 */
export type Parameter = string | number | null | { readonly day: Day } | readonly string[];
export type Parameters = Readonly<Record<string, Parameter>>;

/** A row as it comes out: counts and decimals are numbers, days `YYYY-MM-DD`, instants Unix milliseconds. */
export type Value = string | number | boolean | null | Value[];
export type Row = Record<string, Value>;

/**
 * How to read the files of a source and to make events of them, with any DuckDB session: `readFiles` or
 * `readLines` give the rows of `lines`, and `defineSource` the view `checked` over them. docs/sources.md has the contract
 * of the SQL.
 */
export interface SourceSql {
  /** Its name in `batches` and on the command line. */
  readonly name: string;
  /** The folder of its SQL, by absolute path. */
  readonly sql: string;
  /** Views that it has of another source's folder, by absolute path. */
  readonly views?: readonly string[];
  /** The unit of `lines`: a line of a file, a whole file (one JSON document), a row of a SQLite database, or a request. */
  readonly unit: 'line' | 'document' | 'database' | 'request';
  /** The files of a source of lines that are documents, by path without .gz and .zst. */
  readonly documents?: RegExp;
  /** The files that are SQLite databases, by path. `sqlite/rows.sql` in the source's folder selects their rows. */
  readonly databases?: RegExp;
  /**
   * Writes the document that a file of the source is in the end into another file, for files that are logs of changes. A line or document of
   * it has at most so many bytes.
   */
  readonly replay?: (path: string, to: string, limitBytes: number) => Promise<void>;
  /** Whether its SQL needs the order of a file's lines: then `line_no` grows with it. Otherwise it can be null, which is faster. */
  readonly isOrdered?: boolean;
  /** The longest line or document: MiB. */
  readonly limitMb: number;
  /** The largest file of lines, also unpacked: GiB; 4 by default. */
  readonly fileGb?: number;
  /** Whether the beginning of a rejected line is kept. Only for lines that can't hold words of people or agents. */
  readonly keepsText?: boolean;
  /** Whether its lines have their numbers and faults in them, as those of the inbox do. */
  readonly isChecked?: true;
  /** The files that say more of a file; they are in `side_files`. Endings name those beside it, as `.meta.json`. */
  readonly sideFiles?: readonly string[] | ((path: string) => readonly SideFile[]);
}

/** A file that says more of another one. */
export interface SideFile {
  readonly path: string;
  /** Its kind: the end of its name, or another word. */
  readonly ending: string;
}

/** A file of lines: all of them are one organization's, and were received at one instant. */
export interface BatchFile {
  /** A plain, `.gz` or `.zst` file, by absolute path. */
  readonly path: string;
  /** Its name in `rejects`. */
  readonly name: string;
  readonly orgId: string;
  /** Whose events they are, where the lines don't say it. */
  readonly userId?: string | undefined;
  /** Tells this version of the file from later ones: kept, if given. See ingested_files. */
  readonly state?: string | undefined;
  /** Of a database: rows that were updated earlier needn't be read. Unix milliseconds. */
  readonly since?: number | undefined;
  /** Its format, where its path doesn't say it. */
  readonly unit?: SourceSql['unit'];
  /** Whether a compressed file ends where it should, if that is known. */
  readonly isWhole?: boolean | undefined;
  /** The files that say more of it, of those that can be read. */
  readonly sideFiles?: readonly SideFile[];
  /** Its events are judged by this instant, whenever they are settled. Unix milliseconds. */
  readonly receivedAt: number;
}

/** Files of one source that are settled together, in one transaction. */
export interface Batch {
  readonly source: SourceSql;
  readonly files: readonly BatchFile[];
  /** Finds the checkout of a folder, where the lines name no repository or branch. */
  readonly checkoutOf?: (folder: string) => Promise<Checkout | undefined>;
  /** Unix milliseconds. */
  readonly settledAt: number;
  /**
   * Names the batch to the caller: kept with it in `batches`. Its files are the caller's own, and all of them are read; of others some can be
   * left out.
   */
  readonly token?: string;
  /** The run of `remap` that the batch belongs to. */
  readonly run?: number;
}

/** The end of a run of `remap`: the files of a source that were read again, and whose events are compared with the stored ones. */
export interface Withdrawal {
  readonly run: number;
  readonly orgId: string;
  /** The name of the source. */
  readonly source: string;
  readonly userId: string;
  /** Of a vendor's report: the days that were fetched again, of which nothing else stays. See sql/ingest/replaced.sql. */
  readonly days?: readonly Day[];
  /** How many events the run gave. */
  readonly events: number;
  /** The paths of all files that were ever read for the same organization, source and user. */
  readonly files: readonly string[];
  /** Unix milliseconds. */
  readonly settledAt: number;
}

/** A line that broke a rule, and the sentence that says which. */
export interface RejectedLine {
  readonly source: string;
  readonly line_no: number;
  readonly reason: string;
  readonly detail: string;
}

/** The outcome of a batch, counted in lines, or in events where a line can have several. */
export interface Settled {
  /** Events that count from now on. */
  accepted: number;
  /** Events that were there already. */
  duplicates: number;
  /** Lines that broke a rule. */
  rejected: number;
  byReason: Record<string, number>;
  /** Lines that were no JSON, and of which was taken what could be read. */
  mended: number;
  /** The first few lines that were rejected. */
  examples: RejectedLine[];
  /** A sentence for each file that was left out. It doesn't count as read. */
  leftOut: string[];
}

/** Days of organizations, for the build. */
export interface OrgDay {
  readonly orgId: string;
  readonly day: Day;
}

/** The day that a row is of. */
export function orgDayOf(row: Row): OrgDay {
  return { orgId: String(row.org_id), day: row.day as Day };
}

/** Names a day of an organization. Names go in the order of days. */
export function keyOf({ orgId, day }: OrgDay): string {
  return `${day} ${orgId}`;
}

/** One statement. */
export interface Statement {
  readonly sql: string;
  readonly parameters?: Parameters;
}

/** A change of rows of one table, in SQL that every store reads. One of state reads nothing of data. */
export interface RowChange {
  readonly table: string;
  /** The condition on the rows that change. */
  readonly where: string;
  /** The values that columns get. */
  readonly set?: Readonly<Record<string, string>>;
  /** Has a column get the new_value of the row whose old_value it has, if there is one, of a SELECT of such pairs. */
  readonly lookedUp?: { readonly column: string; readonly pairs: string };
  /** Has rows become one if they are alike in some columns: a row of these columns. Without any of the three the rows go. */
  readonly merged?: { readonly by: readonly string[]; readonly columns: readonly string[] };
}

/** Changes of rows of an organization, also of built days, and of what belongs to these days. */
export interface Rewriting {
  readonly orgId: string;
  /** The turn in which rows of state change, before those of data. */
  readonly turn: string;
  /** SELECTs over the rows of before, each of which can read from the ones before it by name, as can all that changes. */
  readonly found: Sources;
  /** The changes, one after the other. Each can read the rows of before, or those of the changes before it. */
  readonly changes: readonly RowChange[];
  /** SELECTs of rows that come into tables, by the tables' names, over the rows of before or the changed ones. */
  readonly added: Sources;
  /** The one of `found` whose days have other rows afterwards. */
  readonly days: string;
  /** Why they are restated. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** What one node at a time does. */
export type Task = `${'settle' | 'build'} ${number}` | `provision ${string}` | 'alarm' | 'erasure' | 'lake';

/**
 * Where events and day tables are. Everything it acknowledges is on disk; everything it replaces is replaced whole.
 */
export interface Store {
  /**
   * The groups of organizations, which several nodes settle and build beside each other: a batch is of one of them, and so is a build. One
   * where one process has the store.
   */
  readonly groups: readonly number[];
  groupOf(orgId: string): number;
  /** Does work while no other node leads this task, and waits for its turn. */
  leading<T>(task: Task, work: () => Promise<T>): Promise<T>;
  /** The same, or answers undefined if another node leads it. */
  trying<T>(task: Task, work: () => Promise<T>): Promise<T | undefined>;
  /** Does work that one node does for all, or answers undefined if that is another one. */
  asOnly<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** The newest batch of a group that was settled; 0 when there is none. */
  newestBatch(group: number): Promise<number>;
  /** Rows that all nodes share beside the tables of every store; undefined where one process has the store. */
  readonly shared?: Shared;
  /** How many days one build takes: enough to share the reading, few enough to keep it small. */
  readonly daysAtOnce: number;
  /** A checksum of the definitions that compute the rows of days: a day that was built by others is stale. */
  readonly definitions: string;
  /** The rows of one SELECT. */
  select(sql: string, parameters?: Parameters): Promise<Row[]>;
  /** Reads with several SELECTs that all see one state of the store. */
  snapshot<T>(read: Read<T>): Promise<T>;
  /** Names the state that readers see: as long as it stays the same, so does every answer. Cheap to ask for. */
  revision(): Promise<string>;
  /**
   * Computes all tables of days that aren't over as a build would, and lets `read` see them beside the built ones, all of
   * one state of the store. Nothing of it stays, and nobody else sees it.
   */
  preview<T>(due: readonly OrgDay[], read: Read<T>): Promise<T>;
  /** Runs an INSERT of rows that no answer depends on: it waits for no other writer, and the revision stays. */
  append(sql: string): Promise<void>;
  /**
   * Runs work that reads small rows of state and changes them: alone among all work of its name, on every node. `work` reads and writes state
   * through the store that it gets: all that it writes there is one commit, where state is in an engine with transactions. It waits for no
   * network and no build, and takes no other turn.
   */
  inTurn<T>(name: string, work: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Names what others have made of a table of state: facts of it that are kept in memory hold as long as it stays the same. At most half a
   * second old. Always '' where one process has the store.
   */
  stateRevision(table: string): Promise<string>;
  /** Runs small statements in one transaction. */
  run(statements: readonly Statement[]): Promise<void>;
  /**
   * Checks a batch's lines, keeps the events that stand and the rejects, and counts them. All of it or nothing. Throws the signal's reason if
   * that aborts before all files are there to be read.
   */
  settle(batch: Batch, progress?: (share: number) => void, signal?: AbortSignal): Promise<Settled>;
  /** Reads a batch as settle does, but only notes what it gives, for `withdraw`. Answers the events as accepted. */
  remap(batch: Batch, progress?: (share: number) => void, signal?: AbortSignal): Promise<Settled>;
  /**
   * Removes the stored events that files gave under an earlier mapping of their source and don't give any more: see
   * sql/ingest/withdrawn.sql. Answers how many they were.
   */
  withdraw(withdrawal: Withdrawal): Promise<number>;
  /**
   * Computes all tables of some days and replaces them together. `batch` is the newest that was there when the days were
   * chosen: what came after it makes them stale again. Throws ChecksFailed, and leaves all of them as they were, when one
   * breaks a claim of `sql/check`.
   */
  build(due: readonly OrgDay[], batch: number, builtAt: number): Promise<void>;
  /**
   * Removes the raw events of some days, and notes that they are gone: the days are never built again, and what comes for
   * them counts as a copy. A day that isn't built from all that came for it stays. Answers the days whose events went.
   */
  removeEvents(days: readonly OrgDay[], removedAt: number): Promise<OrgDay[]>;
  /**
   * Keeps the files of the store as they are at one instant for as long as `during` goes on. Nothing is written while `at`
   * runs; after that writers go on, in other files or other parts of these. Holds take turns.
   */
  hold(at: () => Promise<void>, during: () => Promise<void>): Promise<void>;
  /**
   * Writes the rows of a SELECT to Parquet, at a path that has none: a file, or a folder of them where `partitions` has
   * columns that come to stand in their names as Hive spells them, not in the files. Answers the files. See ReadColumns for
   * what it can read.
   */
  copy(sql: string, sources: Sources, path: string, partitions?: readonly string[]): Promise<WrittenFile[]>;
  /**
   * Takes over a rate card and a price list that have changed since. Answers a sentence for each that isn't used, because another node has brought
   * a newer one. Throws a UsageError for one that can't be read.
   */
  refresh(): Promise<readonly string[]>;
  /** Changes rows whatever day they are of, all together, and keeps sums and digests of the days in step. */
  rewrite(rewriting: Rewriting): Promise<void>;
  /**
   * Writes the store's files anew from their rows, so that no byte of a row that was changed or deleted is left in them. A SELECT in `rows`
   * takes the place of a table's rows. Killed at any moment, it leaves the files of before or the new ones. Readers wait while the files are
   * exchanged.
   */
  renewFile(rows: Sources): Promise<void>;
  /** Writes something durably and reads it again, and waits for nobody. Throws when that can't be. */
  probe(now: number): Promise<void>;
  /** Gives back memory that work has taken, unless somebody reads: for a time when nothing comes. */
  rest(): Promise<void>;
  /** Reclaims the space of deleted rows and merges small parts: after writing, at a quiet time. */
  tidy(): Promise<void>;
  /** Finishes the work under way, and closes the files. */
  close(): Promise<void>;
}

/** Tables of PostgreSQL by which nodes know of each other. */
export interface Shared extends Pick<Store, 'select' | 'stateRevision'> {
  /** Names this node among the others, as the holder of its leases too. */
  readonly id: string;
  run(statements: readonly Statement[]): Promise<unknown>;
}

/** A Parquet file that was written. */
export interface WrittenFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Reads with SELECTs that all see one state of the store. */
export type Read<T> = (select: Store['select'], readColumns: ReadColumns) => Promise<T>;

/**
 * The result of a SELECT in DuckDB's own SQL, whose chunks have its rows column by column: all of them, or it throws. It
 * reads from the rows of SELECTs that every store has, by the names under which it finds them; parameters are theirs.
 */
export type ReadColumns = (sql: string, sources: Sources, parameters: Parameters) => Promise<DuckDBResult>;

/** SELECTs that every store has, by the names under which a SELECT of DuckDB finds their rows. */
export type Sources = Readonly<Record<string, string>>;

/** How many examples of rejected lines are returned. */
export const EXAMPLES = 5;

/** The newest batch that was settled; 0 when there is none. */
export async function newestBatch(store: Pick<Store, 'select'>): Promise<number> {
  const [newest] = await store.select('SELECT coalesce(max(batch), 0) AS batch FROM batches');
  return Number(newest?.batch);
}
