import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

/**
 * How many chunks are fetched while one is looked at. Several threads would hand them out in any order; a process that has
 * one alone can ask for the next before it has the last, so that the thread needn't wait to be told.
 */
const AHEAD = process.env.UV_THREADPOOL_SIZE === '1' ? 2 : 1;

/** What is read of a result. */
export type Rows = Pick<DuckDBResult, 'fetchChunk' | 'columnNames' | 'columnTypes'>;

/** The chunks of a result, in their order. */
export async function* chunksOf(result: Pick<Rows, 'fetchChunk'>): AsyncGenerator<DuckDBDataChunk> {
  const ahead = Array.from({ length: AHEAD }, () => result.fetchChunk());
  for (let chunk = await ahead.shift(); chunk != null && chunk.rowCount > 0; chunk = await ahead.shift()) {
    ahead.push(result.fetchChunk());
    yield chunk;
  }
  // Behind the end there is nothing, and who asks next isn't in its way.
  await Promise.all(ahead);
}
