import { functionsIn, namesIn, readFunctions, readSql } from '../sql-text.js';
import { isPublished, isState, tablesIn } from '../state/homes.js';

/** The functions that PostgreSQL doesn't have. */
const ELSEWHERE: readonly string[] = (() => {
  const here = new Set(functionsIn(readSql('engine/postgres.sql')).map(({ name }) => name));
  const there = functionsIn(readFunctions()).map(({ name }) => name);
  // In PostgreSQL it has other expressions, and gives rows.
  return [...there.filter((name) => !here.has(name)), 'regexp_matches'];
})();

/** Whether a statement uses functions that PostgreSQL doesn't have, or has in another way. */
export function usesElsewhere(sql: string): boolean {
  const called = namesIn(sql);
  return ELSEWHERE.some((name) => called.has(name));
}

/** Where a SELECT runs: rows of state that are published can be read with data, and by functions that only the data's engine has. */
export function homeOfSelect(sql: string): 'state' | 'data' {
  const tables = tablesIn(sql);
  const state = tables.filter(isState);
  if (state.length === 0) return 'data';
  if (state.length === tables.length && !usesElsewhere(sql)) return 'state';
  const hidden = state.filter((table) => !isPublished(table));
  if (hidden.length > 0)
    throw new Error(`a SELECT reads ${hidden.join(', ')} beside data: only published state can be joined`);
  return 'data';
}

/** The table whose rows a statement changes; undefined if it changes none. */
export function changedBy(sql: string): string | undefined {
  return /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/.exec(sql)?.[1];
}

function requireChanged(sql: string): string {
  const table = changedBy(sql);
  if (table === undefined)
    throw new Error(`a statement must begin with INSERT INTO, UPDATE or DELETE FROM: ${sql.slice(0, 80)}`);
  return table;
}

/** Where statements run together. */
export function homeOfChanges(statements: readonly { readonly sql: string }[]): 'state' | 'data' {
  const tables = [...new Set(statements.map(({ sql }) => requireChanged(sql)))];
  const state = tables.filter(isState);
  if (state.length > 0 && state.length < tables.length)
    throw new Error(`statements change state and data together: ${tables.join(', ')}`);
  return state.length > 0 ? 'state' : 'data';
}

/** An INSERT of rows that a SELECT of data gives; undefined for other statements about state. */
export function fromData(
  sql: string,
): { readonly into: string; readonly table: string; readonly select: string } | undefined {
  const [into, table = ''] = /^\s*INSERT INTO (\w+)(?: \([^)]*\))?/.exec(sql) ?? [];
  if (into === undefined) return undefined;
  const select = sql.slice(into.length);
  return tablesIn(select).length > 0 && homeOfSelect(select) === 'data' ? { into, table, select } : undefined;
}
