import { setImmediate } from 'node:timers/promises';
import duckdb from '@duckdb/node-bindings';
import { chunksOf, type Rows } from './duckdb-chunks.js';
import { Texts, validityOf } from './duckdb-texts.js';

/** How many bytes make a piece, after which others get a turn. */
const BYTES_A_PIECE = 1 << 18;

/**
 * The texts in the first column of results, one right behind the other, in pieces; a null adds nothing. `count` hears of the rows of each chunk.
 */
export async function* textBytes(
  results: AsyncIterable<Pick<Rows, 'fetchChunk'>>,
  count: (rows: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const texts = new Texts();
  for await (const result of results) {
    for await (const chunk of chunksOf(result)) {
      count(chunk.rowCount);
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, 0);
      texts.add(vector, chunk.rowCount, validityOf(vector, chunk.rowCount));
      const { bytes } = texts.take();
      for (let at = 0; at < bytes.length; at += BYTES_A_PIECE) {
        if (at > 0) await setImmediate();
        // The next chunk overwrites the buffer.
        yield Buffer.from(bytes.subarray(at, at + BYTES_A_PIECE));
      }
    }
  }
}
