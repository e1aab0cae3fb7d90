import type { DuckDBConnection } from '@duckdb/node-api';
import { functionsIn, readFunctions } from '../store/sql-text.js';
import { NAMES } from './lake-database.js';
import { type Reference, referencesIn } from './query-references.js';
import { SqlError } from './sql-error.js';
import { FUNCTION_GROUPS, SOURCES } from './sql-functions.js';
import { unknownTable } from './unknown-table.js';

const ONLY_SELECT = 'The member sql must be one statement that is a SELECT.';

/** The functions of the metrics, by their names in the engine. */
const OWN_FUNCTIONS = functionsIn(readFunctions()).map(({ name }) => name);

const FUNCTIONS: ReadonlySet<string> = new Set([...OWN_FUNCTIONS, ...[...FUNCTION_GROUPS.values()].flat()]);

/**
 * Checks with DuckDB's own parser that a text is one SELECT that reads only the given tables and uses only allowed functions.
 * Returns the names of the tables that it reads. Throws a SqlError.
 */
export async function checkQuery(
  connection: DuckDBConnection,
  sql: string,
  tables: ReadonlySet<string>,
): Promise<Set<string>> {
  const read = new Set<string>();
  for (const reference of referencesIn(await parse(connection, sql))) {
    checkReference(reference, tables);
    if (reference.kind === 'table') read.add(reference.name);
  }
  return read;
}

/** The tree of a single SELECT. Throws a SqlError for any other text. */
async function parse(connection: DuckDBConnection, sql: string): Promise<unknown> {
  const result = await connection.runAndReadAll(
    'SELECT json_serialize_sql(CAST($sql AS VARCHAR), skip_null := true, skip_empty := true)',
    { sql },
  );
  const parsed = JSON.parse(String(result.getRows()[0]?.[0])) as {
    error: boolean;
    error_type?: string;
    error_message?: string;
    position?: string;
    statements?: unknown[];
  };
  if (parsed.error && parsed.error_type === 'parser')
    throw new SqlError(
      'query',
      `${parsed.error_message}${parsed.position === undefined ? '' : `, at character ${Number(parsed.position) + 1}`}`,
    );
  if (parsed.error || parsed.statements?.length !== 1) throw new SqlError('query', ONLY_SELECT);
  return parsed.statements[0];
}

/** Throws a SqlError for a name that a query may not use. */
function checkReference({ kind, schema, name }: Reference, tables: ReadonlySet<string>): void {
  const shown = [...schema, name].join('.');
  switch (kind) {
    case 'table':
      // A quoted name with a dot is one part, never two.
      if (!tables.has(name) || schema.some((part) => part !== 'main') || schema.length > 1)
        throw new SqlError('query', unknownTable(name, NAMES, shown));
      return;
    case 'source':
      if (!SOURCES.has(name) || schema.length > 0)
        throw new SqlError(
          'query',
          `The function ${shown} can't be used in FROM: SQL can read only the tables that GET /api/v1/sql/tables lists`,
        );
      return;
    case 'function':
      // TRICKY: the schema isn't reliable, because tool_name.upper() has one too. So a name is allowed in every schema or in none.
      if (!FUNCTIONS.has(name))
        throw new SqlError(
          'query',
          `The function ${name} can't be used here: docs/sql.md lists the functions that can`,
        );
  }
}
