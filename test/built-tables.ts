import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { DATABASE } from '../src/disk/data-files.js';

/** The day tables of the organization acme in a data folder that nobody has open, as `day table` and a digest of its rows. */
export async function builtTables(data: string): Promise<string[]> {
  const instance = await DuckDBInstance.create(join(data, DATABASE), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const rows = await connection.runAndReadAll(
    "SELECT day || ' ' || table_name || ' ' || row_count || ' ' || digest FROM digests WHERE org_id = 'acme' ORDER BY ALL",
  );
  connection.closeSync();
  instance.closeSync();
  return rows.getRows().map(([text]) => String(text));
}
