import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { quote } from '../sql-text.js';
import { isState, tablesIn } from '../state/homes.js';
import { columnsOf } from '../tables.js';
import type { PostgresSession, Transaction } from './postgres-session.js';

/** How many rows are in memory at once. */
const TOGETHER = 5000;

/**
 * Writes rows of one table of state, all columns of them, as lines of JSON. Answers the SELECT with which DuckDB reads them from there.
 */
export async function writeStateRows(state: PostgresSession, select: string, path: string): Promise<string> {
  const [table = ''] = tablesIn(select).filter(isState);
  await state.transaction(async (inside) => {
    await inside.run([{ sql: `DECLARE table_rows NO SCROLL CURSOR FOR ${select}` }]);
    await pipeline(Readable.from(linesOf(inside)), createWriteStream(path));
  });
  const isInstant = (type: string) => type.startsWith('TIMESTAMP');
  const types = columnsOf(table).map(({ name, type }) => `${name}: '${isInstant(type) ? 'BIGINT' : type}'`);
  const columns = columnsOf(table).map(({ name, type }) =>
    isInstant(type) ? `make_timestamp_ms(${name}) AS ${name}` : name,
  );
  return `SELECT ${columns.join(', ')} FROM read_json(${quote(path)}, format = 'newline_delimited', columns = {${types.join(', ')}})`;
}

async function* linesOf({ select }: Transaction): AsyncGenerator<string> {
  for (;;) {
    const rows = await select(`FETCH ${TOGETHER} FROM table_rows`);
    if (rows.length === 0) return;
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  }
}
