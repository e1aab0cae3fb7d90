import type { DuckDBDataChunk, DuckDBResult, DuckDBType } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { Data, type Field, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from 'apache-arrow';
import { columnOf } from './column.js';
import { fieldsOf } from './type.js';

async function batchOf(chunk: DuckDBDataChunk, types: readonly DuckDBType[], schema: Schema) {
  const columns: Data[] = [];
  for (const [index, type] of types.entries()) {
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, index);
    const to = (schema.fields[index] as Field).type;
    columns.push(await columnOf(vector, type, to, chunk.rowCount));
  }
  return new RecordBatch(schema, new Data(new Struct(schema.fields), 0, chunk.rowCount, 0, {}, columns));
}

/** Hands out what it has written as one piece at a time. What the library's own queue has can't be taken so. */
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
 * The stream of Arrow IPC of results that have the same columns, one at least, with a batch for each of DuckDB's chunks: column
 * by column, a chunk at a time. The members of `meta` are texts of the schema's metadata.
 */
export async function* arrowBytes(
  results: AsyncIterable<DuckDBResult>,
  meta: Readonly<Record<string, string>> = {},
): AsyncGenerator<Uint8Array> {
  const writer = new Writer();
  let schema: Schema | undefined;
  for await (const result of results) {
    const types = result.columnTypes();
    if (schema === undefined) {
      schema = new Schema(fieldsOf(result.columnNames(), types), new Map(Object.entries(meta)));
      writer.reset(undefined, schema);
    }
    for await (const chunk of result) {
      writer.write(await batchOf(chunk, types, schema));
      yield writer.take();
    }
  }
  writer.finish();
  yield writer.take();
}
