import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

/** The chunks of a result: while one is looked at, the next is fetched. */
export async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  let next = result.fetchChunk();
  for (let chunk = await next; chunk !== null && chunk.rowCount > 0; chunk = await next) {
    next = result.fetchChunk();
    yield chunk;
  }
}
