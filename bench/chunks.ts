import { setPriority } from 'node:os';
import { chunksOf } from '../src/arrow/duckdb-chunks.js';
import { readConfig } from '../src/settings/config.js';
import { openLake } from '../src/sql/lake-database.js';

/**
 * How fast DuckDB's API hands out the chunks of a query, in a process like that of the service: node chunks.js. For each
 * message, a query, it answers the milliseconds that it took. It looks at no value.
 */
setPriority(10);
process.on('message', async (sql: string) => {
  const connection = await openLake({ memoryMb: 512, threads: 1, prices: readConfig({}).prices });
  const started = performance.now();
  let rows = 0;
  for await (const chunk of chunksOf(await connection.stream(sql))) rows += chunk.rowCount;
  process.send?.({ ms: performance.now() - started, rows });
  connection.closeSync();
});
