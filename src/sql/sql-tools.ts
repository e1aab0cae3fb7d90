import { z } from 'zod';
import type { RouteTool } from '../api/route-tool.js';
import type { Config } from '../settings/config.js';
import { SqlParameter } from './query-job.js';

/** The body of a query. */
export function bodyOf({ params: most }: Pick<Config['sql'], 'params'>) {
  const sentence = `must be a list or an object of at most ${most} texts, numbers, booleans or nulls`;
  return z.strictObject({
    sql: z
      .string()
      .min(1)
      .meta({
        description: 'one SELECT',
        examples: [
          'SELECT day, sum(tool_calls) AS tool_calls FROM users WHERE day >= $from GROUP BY day ORDER BY day',
        ],
      }),
    params: z
      .union([z.array(SqlParameter), z.record(z.string(), SqlParameter)], sentence)
      .refine((params) => Object.keys(params).length <= most, sentence)
      .optional()
      .meta({
        description: 'values of its parameters: by name for $name, or in a list for ? and $1',
        examples: [{ from: '2026-06-01' }],
      }),
    as_of: z.iso
      .datetime({ offset: true, error: 'must be an instant such as 2026-06-02T10:00:00Z' })
      .optional()
      .meta({
        description: 'answers what was published at this instant',
        examples: ['2026-07-10T12:00:00Z'],
      }),
    limit: z
      .int('must be a whole number of at least 1')
      .min(1, 'must be a whole number of at least 1')
      .optional()
      .meta({ description: 'how many rows to answer at most; the rest is left out', examples: [1000] }),
  });
}

/** The query of the tables. */
export const TableQuery = z.strictObject({
  name: z
    .string()
    .regex(/^\w{1,128}$/, 'must be the name of a table')
    .meta({ description: 'only this table or view', examples: ['users'] })
    .optional(),
});

/** The routes as tools for AI agents. */
export function sqlTools({ sql }: Pick<Config, 'sql'>): readonly RouteTool[] {
  return [
    {
      tool: {
        name: 'sql',
        title: 'SQL',
        about:
          "Answers one SELECT in DuckDB's SQL on the organization's events and day tables; read only. Use it for questions that no other tool answers. Call tables first for the names of tables and columns. Filter on day (a DATE in UTC), aggregate in SQL, and add ORDER BY and LIMIT.",
      },
      method: 'POST',
      path: '/api/v1/sql',
      action: 'run SQL',
      // An agent writes it into the statement.
      input: bodyOf(sql).omit({ limit: true }),
      form: 'application/x-ndjson',
      rest: 'aggregate in SQL or select fewer columns; or order the rows, and continue with OFFSET',
    },
    {
      tool: {
        name: 'tables',
        title: 'Tables of SQL',
        about:
          'The tables and views that sql can read. Without name: each with what a row is and its key. With name: that table with its columns, their types and meanings. Call it before sql.',
      },
      method: 'GET',
      path: '/api/v1/sql/tables',
      action: 'run SQL',
      input: TableQuery,
      form: 'application/json',
      rest: 'ask for one table with name',
      shown: (rows, { name }) =>
        name === undefined ? rows.map((row) => ({ ...row, columns: undefined })) : rows,
    },
  ];
}
