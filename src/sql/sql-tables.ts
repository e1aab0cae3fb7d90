import { z } from 'zod';
import { readTables } from '../store/tables.js';
import { openLake, readLake } from './lake-database.js';

/** A table or view that SQL can read. */
export const SqlTable = z
  .object({
    name: z.string().meta({ examples: ['activity'] }),
    kind: z.enum(['events', 'day table', 'reference', 'view']).meta({ examples: ['day table'] }),
    about: z
      .string()
      .meta({ description: 'what a row is', examples: ['One row is one day of one organization.'] }),
    grain: z
      .array(z.string())
      .meta({ description: 'columns that together identify a row', examples: [['org_id', 'day']] }),
    columns: z
      .array(
        z.object({
          name: z.string(),
          type: z.string().meta({ description: 'type in DuckDB' }),
          comment: z.string().nullable(),
        }),
      )
      .meta({
        examples: [
          [{ name: 'weekly_active_users', type: 'BIGINT', comment: 'on any of the trailing 7 days' }],
        ],
      }),
  })
  .meta({ id: 'SqlTable' });
export type SqlTable = z.infer<typeof SqlTable>;

const KINDS = { events: 'events', days: 'day table', references: 'reference', views: 'view' } as const;

/** All tables and views that SQL can read, with DuckDB's types of their columns, and their comments. */
export async function describeTables(prices: string): Promise<SqlTable[]> {
  const connection = await openLake({ memoryMb: 64, threads: 1, prices });
  // Types are the same without files.
  await readLake(connection, 'nowhere', { snapshots: [] });
  const result = await connection.runAndReadAll(
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main' ORDER BY column_index",
  );
  connection.closeSync();
  const rows = result.getRows().map((row) => row.map(String)) as [string, string, string][];
  return Object.entries(readTables()).flatMap(([kind, tables]) =>
    tables
      .map(({ name, about, grain, comments }) => ({
        name,
        kind: KINDS[kind as keyof typeof KINDS],
        about,
        grain: [...grain],
        columns: rows
          .filter(([table]) => table === name)
          .map(([, column, type]) => ({ name: column, type, comment: comments.get(column) ?? null })),
      }))
      // Views on tables that aren't in the lake don't exist here.
      .filter(({ columns }) => columns.length > 0),
  );
}
