import { connectTo, DuckDBInstance } from '../arrow/duckdb-driver.js';
import { quote, readFunctions } from '../store/sql-text.js';

/** The keys of models by their names, as sql/function/model_key.sql computes them. */
export async function modelKeys(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await connectTo(instance);
    await connection.run(readFunctions());
    const reader = await connection.runAndReadAll(
      `SELECT name, model_key(name) AS key FROM (VALUES ${names.map((name) => `(${quote(name)})`).join(', ')}) AS listed (name)`,
    );
    return new Map(reader.getRowObjects().map(({ name, key }) => [String(name), String(key)]));
  } finally {
    instance.closeSync();
  }
}
