/** A column of a table or view. */
export interface Column {
  readonly name: string;
  /** In DuckDB, as `BIGINT`. */
  readonly type: string;
  readonly isNullable: boolean;
  /** The comment beside it; not every column has one. */
  readonly comment?: string;
}

/** A table or view of `sql/`. */
export interface TableText {
  /** The kind of a table that people can read, as GET /api/v1/sql/tables names it. */
  readonly kind?: 'events' | 'reference' | 'day table' | 'record' | 'view';
  /** The meaning of a row, in a sentence or two. */
  readonly about: string;
  /** The columns that identify a row. */
  readonly grain: readonly string[];
  readonly columns: readonly Column[];
}

/** A column of an answer, or a member nested in one. */
export interface Member {
  /** Empty for the element of a list. */
  readonly name: string;
  /** In DuckDB. A member with members has `STRUCT` or `LIST`. */
  readonly type: string;
  /** The comment beside it, or else beside the last member of its name above it. */
  readonly comment?: string;
  /** The members of a struct; of a list its element. */
  readonly members?: readonly Member[];
}

/** An answer of `sql/answer`. */
export interface AnswerText {
  /** The columns that matter most in a table, the first one first. */
  readonly shownFirst: readonly string[];
  readonly members: readonly Member[];
}
