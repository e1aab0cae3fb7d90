import type { Counted, Kind } from './counted-numbers.js';

/** A settle or build that has a number, under which it writes its rows before they count. */
export interface Attempt {
  readonly kind: Kind;
  readonly group: number;
  readonly number: number;
  /** Of the lease that it is made under. */
  readonly epoch?: number;
  /** What it reads; undefined where the views of the database say what counts. */
  readonly counted: Counted | undefined;
}

/** The last steps of an attempt. */
export interface Last {
  /** Writes the row that makes it count where one process writes to the database. It is one more row among others where PostgreSQL says it. */
  readonly row: () => Promise<void>;
  /** How many rows the attempt has written, by table; asked for when `row` is written. */
  readonly written: () => Promise<ReadonlyMap<string, number>>;
  /** Of each organization whose days were built, the revision of its people that was read. */
  readonly people?: () => Promise<ReadonlyMap<string, number>>;
}

/** Which attempts count. An attempt that isn't known to count never does, whatever it has written. */
export interface Ledger {
  /**
   * Does work while nobody else does work of that name. If somebody does, it waits for its turn, or else answers undefined. It can keep the
   * lead afterwards. Attempts of a group are made by whoever leads it.
   */
  leading<T>(name: string, work: () => Promise<T>, way: 'waits' | 'tries' | 'keeps'): Promise<T | undefined>;
  /** The groups of organizations that are settled and built one beside the other. */
  readonly groups: readonly number[];
  /** How far two numbers of a group are apart at least. */
  readonly step: number;
  groupOf(orgId: string): number;
  /** What counts now; undefined where the views of the database say it. */
  counted(): Promise<Counted | undefined>;
  /** Names what counts now: as long as it stays the same, so do the rows that count. */
  revision(): Promise<string>;
  /** Takes a number that nobody else gets. Rows that earlier attempts of this kind and group have left don't count from then on. */
  begin(kind: Attempt['kind'], group: number): Promise<Attempt>;
  /** Takes a number for a build that never comes to count. */
  preview(): Promise<Attempt>;
  /** Makes an attempt count. Throws if another one has taken its turn; then it never does. */
  commit(attempt: Attempt, last: Last): Promise<void>;
  /**
   * What counted so long ago that nobody reads by it any more, though others may read by what counted later; undefined where the views of the
   * database say what counts now.
   */
  past(attempt: Attempt): Promise<Counted | undefined>;
  /** Forgets attempts of a group that ended long ago, and whose rows were taken out: nobody writes any under their numbers now. */
  forget(group: number): Promise<void>;
  /**
   * Exchanges tables, or goes on with it, if the leases of some names are still held: otherwise others may have written to the tables. Readers
   * notice, and nobody begins an attempt before all are exchanged: `counted` tells, and `exchanges` alone what it tells of that.
   */
  exchanging(step: () => Promise<void>, names: readonly string[]): Promise<void>;
  exchanges(): Promise<number>;
  /** What was written under the numbers of the last hour that count, without those up to some that were looked at. */
  written(checked: Counted | undefined, counted: Counted): Promise<readonly Written[]>;
  /** Rows of events of a group are taken out, so their number says nothing any more. */
  forgetEvents(group: number): Promise<void>;
}

/** How many rows an attempt wrote to a table. */
export interface Written {
  readonly kind: Kind;
  readonly number: number;
  readonly table: string;
  readonly rows: number;
}
