import type { DuckDBConnection } from '@duckdb/node-api';
import { SqlError } from './error.js';

/** Functions that say something of the engine instead of the data, or change it. What reads files is a table function. */
const REFUSED = new Set([
  'add_parquet_key',
  'current_connection_id',
  'current_query',
  'current_query_id',
  'current_setting',
  'current_transaction_id',
  'currval',
  'getenv',
  'getvariable',
  'json_execute_serialized_sql',
  'nextval',
  'set_config',
  'txid_current',
  'which_secret',
  'write_log',
]);

/** The functions that can stand in a FROM. */
const SOURCES = new Set(['range', 'generate_series', 'unnest', 'repeat', 'json_each', 'json_tree']);

const ONLY_SELECT = 'The member sql must be one statement that is a SELECT.';

/** What is looked at of a node of a parsed statement. */
interface Node {
  readonly type?: unknown;
  readonly function_name?: unknown;
  readonly table_name?: unknown;
  readonly schema_name?: unknown;
  readonly catalog_name?: unknown;
  readonly function?: Node;
  /** Of SHOW. */
  readonly query?: unknown;
  /** The common table expressions of a SELECT. */
  readonly cte_map?: { readonly map?: readonly { readonly key: string }[] };
}

/**
 * Checks by DuckDB's own parser that a text is one SELECT, which reads the tables and uses the functions that it may. Answers
 * the names of the tables that it may read. Throws a SqlError.
 */
export async function checkQuery(
  connection: DuckDBConnection,
  sql: string,
  tables: ReadonlySet<string>,
): Promise<Set<string>> {
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
  if (parsed.error) {
    if (parsed.error_type === 'parser')
      throw new SqlError(
        'query',
        `${parsed.error_message}${parsed.position === undefined ? '' : `, at character ${Number(parsed.position) + 1}`}`,
      );
    throw new SqlError('query', ONLY_SELECT);
  }
  if (parsed.statements?.length !== 1) throw new SqlError('query', ONLY_SELECT);
  const nodes = [...nodesOf(parsed.statements)];
  const expressions = new Set(
    nodes.flatMap(({ cte_map }) => cte_map?.map?.map(({ key }) => key.toLowerCase()) ?? []),
  );
  // TRICKY: beyond its scope such a name is one of a table again, which must not be one of the engine's own.
  if (expressions.size > 0) {
    const own = await connection.runAndReadAll('SELECT view_name FROM duckdb_views() WHERE internal');
    const taken = own.getRows().find(([name]) => expressions.has(String(name)));
    if (taken !== undefined)
      throw new SqlError(
        'query',
        `A common table expression can't be named ${taken[0]}: choose another name`,
      );
  }
  const read = new Set<string>();
  const source = (name: string) => {
    if (!tables.has(name) && !expressions.has(name))
      throw new SqlError(
        'query',
        `There is no table ${name}: GET /api/v1/sql/tables lists those that there are`,
      );
    if (tables.has(name)) read.add(name);
  };
  for (const node of nodes) {
    const name = String(node.function_name ?? '').toLowerCase();
    if (REFUSED.has(name)) throw new SqlError('query', `The function ${name} can't be used here`);
    if (node.type === 'TABLE_FUNCTION') {
      const table = String(node.function?.function_name).toLowerCase();
      if (!SOURCES.has(table))
        throw new SqlError(
          'query',
          `The function ${table} can't be read from here: SQL reads the tables that GET /api/v1/sql/tables lists`,
        );
    }
    if (node.type === 'BASE_TABLE') {
      const path = [node.catalog_name, node.schema_name].filter((part) => part !== undefined).map(String);
      const table = String(node.table_name).toLowerCase();
      source(path.every((part) => part.toLowerCase() === 'main') ? table : [...path, table].join('.'));
    }
    if (node.type === 'SHOW_REF' && node.query === undefined) source(String(node.table_name));
  }
  return read;
}

/** All objects of a parsed statement, however deep. */
function* nodesOf(root: unknown): Generator<Node> {
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) yield value;
    for (const member of Object.values(value)) waiting.push(member);
  }
}
