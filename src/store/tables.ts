import { ANSWERS, TABLES } from './catalog.js';
import type { Column } from './catalog-types.js';
import { namesIn } from './sql-text.js';

/**
 * The order in which events are stored. Similar events stand together, which makes columns small, and queries for a type or a user
 * skip the others.
 */
export const EVENT_ORDER = [
  'org_id',
  'day',
  'type',
  'user_id',
  'session_id',
  'occurred_at',
  'event_id',
] as const;

/** The columns of a table or view, in order; none if the catalogue doesn't have it. */
export function columnsOf(table: string): readonly Column[] {
  return TABLES[table]?.columns ?? [];
}

/** The columns that SQL and the lake show, in order. A rejected line may hold words of a prompt, so its text stays in the store. */
export function shownColumns(table: string): readonly Column[] {
  return columnsOf(table).filter(({ name }) => table !== 'rejects' || name !== 'line');
}

/** The names of a table's columns, in order. */
export function columnNames(table: string): string[] {
  return columnsOf(table).map(({ name }) => name);
}

/** The tables and views that a query reads. */
export function tablesOf(query: string): string[] {
  return [...namesIn(query)].filter((name) => Object.hasOwn(TABLES, name));
}

/** The names of the columns of the answer in `sql/answer/<file>.sql`, in order. */
export function memberNames(file: string): string[] {
  return (ANSWERS[file]?.members ?? []).map(({ name }) => name);
}

/** The columns of the answer in `sql/answer/<file>.sql` that matter most in a table, the first one first. */
export function shownFirst(file: string): readonly string[] {
  return ANSWERS[file]?.shownFirst ?? [];
}
