import { hash } from 'node:crypto';
import { BUILT_TABLES } from './day-builder.js';
import { ROLL_UPS, rollUpTable } from './roll-ups.js';
import { digestSql } from './row-digest.js';
import { functionsIn, inOrder, readSqlFolder, type SqlText, tokensOf } from './sql-text.js';

/** Everything that day tables and answers are computed by, in the spelling of one engine. */
export interface Definitions {
  /** The functions, as one text to run. */
  readonly functions: string;
  /** The tables that the engine has beside those of `sql/schema`. They are made once. */
  readonly ownTables: readonly SqlText[];
  readonly tables: readonly SqlText[];
  /** In an order in which they can be made. */
  readonly views: readonly SqlText[];
  /** They add up the tables as they are when they are made. */
  readonly rollUps: readonly SqlText[];
  /** Changes when the rows of some day can: see meaningOfDays. */
  readonly days: string;
  /** Changes when any function, table or view does, raw tables too. */
  readonly schema: string;
}

/** The differences of an engine from DuckDB. */
interface Engine {
  /** The statement that makes a table of `sql/schema`. */
  readonly tableText?: (text: string) => string;
  /** Tables and views of its own. */
  readonly own?: readonly SqlText[];
  /** Those of state that is published. They change nothing in the rows of days. */
  readonly published?: readonly SqlText[];
  /** The statement that makes a roll-up. */
  readonly rollUpText?: (rollUp: SqlText) => string;
}

/** A checksum of an SQL text that comments and white space don't change. */
export function meaningOf(text: string): string {
  return hash('sha256', tokensOf(text).join(' '));
}

/**
 * A checksum of everything that the rows of a day and their digests depend on: the columns and the query of every day table, and every
 * function, table and view that these name, directly or not. A view that only people read is not among them, nor is how often an engine
 * computes a CTE.
 */
function meaningOfDays(definitions: readonly SqlText[]): string {
  const digests = BUILT_TABLES.map((name) => ({ name, text: digestSql(name) }));
  const tokens = new Map<string, string[]>();
  for (const { name, text } of [...definitions, ...digests])
    tokens.set(name, [
      ...(tokens.get(name) ?? []),
      ...tokensOf(text).filter((token) => token !== 'MATERIALIZED'),
    ]);
  const reached = new Set<string>(BUILT_TABLES);
  // A Set visits what is added while it is iterated.
  for (const name of reached)
    for (const token of tokens.get(name) ?? []) if (tokens.has(token)) reached.add(token);
  return hash('sha256', JSON.stringify([...reached].sort().map((name) => [name, tokens.get(name)])));
}

/** Reads the definitions, to go with the functions of an engine. */
export function readDefinitions(
  functions: string,
  { tableText = (text) => text, own = [], published = [], rollUpText = rollUpTable }: Engine = {},
): Definitions {
  const tables = readSqlFolder('schema')
    .filter(isTable)
    .map(({ name, text }) => ({ name, text: tableText(text) }));
  const ownTables = [...own, ...published].filter(isTable);
  const shown = published.filter((one) => !isTable(one));
  const views = inOrder([...readViews(), ...own.filter((one) => !isTable(one)), ...shown]);
  const rollUps = ROLL_UPS.map((one) => ({ name: one.name, text: rollUpText(one) }));
  const newestChange = readSqlFolder('change').at(-1)?.name;
  const all = [...functionsIn(functions), ...ownTables, ...tables, ...views, ...rollUps];
  return {
    functions,
    ownTables,
    tables,
    views,
    rollUps,
    // The query of a scratch table is in sql/build, by its name.
    days: meaningOfDays([
      ...all.filter((one) => !published.includes(one)),
      ...readSqlFolder('build'),
      ...readSqlFolder('daily'),
    ]),
    // TRICKY: a view keeps the columns that `SELECT *` had when it was made, so each change of a raw table makes views anew.
    schema: meaningOf([newestChange, ...all.map(({ text }) => text)].join('\n')),
  };
}

export function isTable({ text }: SqlText): boolean {
  return text.includes('CREATE TABLE');
}

/** The views of `sql/schema`, in an order in which they can be made. */
export function readViews(): SqlText[] {
  return inOrder(readSqlFolder('schema').filter((one) => !isTable(one)));
}
