import { setImmediate } from 'node:timers/promises';
import type { DuckDBType } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { Data, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from 'apache-arrow';
import { type Column, columnOf } from './arrow-column.js';
import { fieldsOf } from './arrow-type.js';
import { chunksOf, type Rows } from './duckdb-chunks.js';

/** How many rows make a batch: enough to share what each costs, few enough to stay small. */
const ROWS_A_BATCH = 1 << 15;

/** Hands out the written bytes as one piece at a time, which the library's own queue can't. */
class Writer extends RecordBatchStreamWriter {
  private made: Uint8Array[] = [];

  protected override _write(bytes: Uint8Array | ArrayBufferView): this {
    this.made.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return this;
  }

  take(): Uint8Array {
    return Buffer.concat(this.made.splice(0));
  }
}

/**
 * The stream of Arrow IPC of results that have the same columns, one at least: column by column, with a batch for some of
 * DuckDB's chunks at a time. The members of `meta` are texts of the schema's metadata; `count` hears of the rows of each chunk.
 */
export async function* arrowBytes(
  results: AsyncIterable<Rows>,
  meta: Readonly<Record<string, string>> = {},
  count: (rows: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const writer = new Writer();
  let schema: Schema | undefined;
  let columns: Column[] = [];
  let rows = 0;
  const batch = (of: Schema): Uint8Array => {
    const data = columns.map((column) => column.take());
    writer.write(new RecordBatch(of, new Data(new Struct(of.fields), 0, rows, 0, {}, data)));
    rows = 0;
    return writer.take();
  };
  for await (const result of results) {
    if (schema === undefined) {
      const types = result.columnTypes();
      schema = new Schema(fieldsOf(result.columnNames(), types), new Map(Object.entries(meta)));
      columns = schema.fields.map(({ type: to }, index) => columnOf(types[index] as DuckDBType, to));
      writer.reset(undefined, schema);
    }
    for await (const chunk of chunksOf(result)) {
      count(chunk.rowCount);
      for (const [index, column] of columns.entries())
        column.add(duckdb.data_chunk_get_vector(chunk.chunk, index), chunk.rowCount);
      rows += chunk.rowCount;
      if (rows < ROWS_A_BATCH) continue;
      yield batch(schema);
      // Others get a turn.
      await setImmediate();
    }
  }
  if (schema !== undefined && rows > 0) yield batch(schema);
  writer.finish();
  yield writer.take();
}
