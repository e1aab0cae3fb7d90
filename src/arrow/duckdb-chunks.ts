import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

/** The part of a result that is read. */
export type Rows = Pick<DuckDBResult, 'fetchChunk' | 'columnNames' | 'columnTypes'>;

/** The chunks of a result, in their order. */
export async function* chunksOf(result: Pick<Rows, 'fetchChunk'>): AsyncGenerator<DuckDBDataChunk> {
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk;
  }
}
