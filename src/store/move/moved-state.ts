import { hash } from 'node:crypto';
import { UsageError } from '../../exit.js';
import type { PostgresSession } from '../postgres/postgres-session.js';
import { literalsOf } from '../postgres/row-literals.js';
import type { StateTable } from '../state/homes.js';
import type { Row, Store } from '../store.js';
import { columnNames, columnsOf } from '../tables.js';

/** How many rows of state go together: each can be a report of readiness. */
const TOGETHER = 500;

/** The columns of a table; decimals as texts, since a number of JavaScript has fewer digits. */
function selected(table: StateTable): string {
  return columnsOf(table)
    .map(({ name, type }) => (type.startsWith('DECIMAL') ? `CAST(${name} AS VARCHAR) AS ${name}` : name))
    .join(', ');
}

/** The pieces of a table in DuckDB, each with the number of its first row. A table without rows is one, too. */
export async function statePieces(source: Pick<Store, 'select'>, table: StateTable): Promise<number[]> {
  const [last] = await source.select(`SELECT coalesce(max(rowid), 0) AS row FROM ${table}`);
  return Array.from({ length: Math.floor(Number(last?.row) / TOGETHER) + 1 }, (_, piece) => piece * TOGETHER);
}

function readPiece(source: Pick<Store, 'select'>, table: StateTable, first: number): Promise<Row[]> {
  return source.select(
    `SELECT ${selected(table)} FROM ${table} WHERE rowid BETWEEN ${first} AND ${first + TOGETHER - 1} ORDER BY rowid`,
  );
}

/**
 * The statements that copy a piece of a table; the first one empties it. Throws a UsageError for a text with a NUL, which PostgreSQL can't have.
 */
export async function copyStatements(
  source: Pick<Store, 'select'>,
  table: StateTable,
  first: number,
): Promise<string[]> {
  const rows = await readPiece(source, table, first);
  const values = rows.map((row) => literalsOf(table, Object.values(row)));
  if (values.some((text) => text.includes('\0')))
    throw new UsageError(
      `A text in the table ${table} has the character NUL, which PostgreSQL can't keep: remove it in the service, and move again.`,
    );
  return [
    ...(first === 0 ? [`DELETE FROM ${table}`] : []),
    ...(values.length > 0
      ? [`INSERT INTO ${table} (${columnNames(table).join(', ')}) VALUES ${values.join(', ')}`]
      : []),
  ];
}

/** What rows are told by, in whatever order they come. */
class RowSum {
  rows = 0;
  private sum = 0n;

  add(rows: readonly Row[]): void {
    this.rows += rows.length;
    for (const row of rows)
      this.sum += BigInt(`0x${hash('sha256', JSON.stringify(Object.values(row))).slice(0, 16)}`);
  }

  get text(): string {
    return `${this.rows} ${BigInt.asUintN(64, this.sum)}`;
  }
}

/** Whether a table has the same rows in both databases, and how many. */
export async function compareState(
  source: Pick<Store, 'select'>,
  state: PostgresSession,
  table: StateTable,
): Promise<{ readonly isSame: boolean; readonly rows: readonly [here: number, there: number] }> {
  const [here, there] = [new RowSum(), new RowSum()];
  for (const first of await statePieces(source, table)) here.add(await readPiece(source, table, first));
  await state.transaction(async ({ select, run }) => {
    await run([{ sql: `DECLARE moved_rows NO SCROLL CURSOR FOR SELECT ${selected(table)} FROM ${table}` }]);
    for (;;) {
      const rows = await select(`FETCH ${TOGETHER} FROM moved_rows`);
      if (rows.length === 0) return;
      there.add(rows);
    }
  });
  return { isSame: here.text === there.text, rows: [here.rows, there.rows] };
}
