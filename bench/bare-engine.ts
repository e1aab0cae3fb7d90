import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { MEMBERS, type Member } from '../src/ingest/event-members.js';
import { databaseOf } from '../test/clickhouse/engine.js';
import { measure, type Taken } from './run-process.js';

/** What an engine took by itself to load events into a typed table, and to ask the bare queries of them. */
export interface BareDay {
  readonly load: Taken;
  readonly ask: Taken;
}

/** A day, a model, and its tokens: input, output, read from the cache, written to it. */
export type ModelTokens = readonly [day: string, model: string, ...tokens: number[]];

type Columns = Readonly<Record<string, string>>;

/** An engine, and what it spells in its own way. */
interface Engine {
  readonly types: Readonly<Record<Member['kind'], string>>;
  readonly struct: (members: Columns) => string;
  /** The lines of JSON in files, as a table. */
  readonly files: (pattern: string, columns: Columns) => string;
  /** Makes an empty table of rows that are in no order. */
  readonly table: string;
  readonly mode: (of: string) => string;
  readonly quantile: (of: string, share: number) => string;
  readonly run: (sql: string) => Promise<Record<string, unknown>[]>;
}

const listed = (columns: Columns, between: string) =>
  Object.entries(columns)
    .map(([name, type]) => `${name}${between}${type}`)
    .join(', ');

async function duckdb(folder: string): Promise<Engine> {
  const connection = await (await DuckDBInstance.create(join(folder, 'bare.duckdb'))).connect();
  return {
    types: {
      text: 'VARCHAR',
      integer: 'BIGINT',
      decimal: 'DECIMAL(18, 9)',
      boolean: 'BOOLEAN',
      instant: 'TIMESTAMP',
    },
    struct: (members) => `STRUCT(${listed(members, ' ')})`,
    files: (pattern, columns) => {
      const quoted = Object.entries(columns).map(([name, type]) => [name, `'${type}'`]);
      return `read_json('${pattern}', format = 'newline_delimited', columns = {${listed(Object.fromEntries(quoted), ': ')}})`;
    },
    table: 'CREATE TABLE day AS',
    mode: (of) => `mode(${of})`,
    quantile: (of, share) => `quantile_cont(${of}, ${share})`,
    run: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson(),
  };
}

async function clickhouse(folder: string): Promise<Engine> {
  const client = await databaseOf(folder, () => undefined)();
  return {
    types: {
      text: 'Nullable(String)',
      integer: 'Nullable(Int64)',
      decimal: 'Nullable(Decimal(18, 9))',
      boolean: 'Nullable(Bool)',
      instant: 'DateTime64(3)',
    },
    struct: (members) => `Tuple(${listed(members, ' ')})`,
    files: (pattern, columns) => `file('${pattern}', JSONEachRow, '${listed(columns, ' ')}')`,
    table: 'CREATE TABLE day ENGINE MergeTree ORDER BY tuple() AS',
    mode: (of) => `topK(1)(${of})`,
    quantile: (of, share) => `quantileExactInclusive(${share})(${of})`,
    run: async (sql) => {
      const clickhouse_settings = { date_time_input_format: 'best_effort', session_timezone: 'UTC' } as const;
      if (sql.startsWith('CREATE')) {
        await client.command({ query: sql, clickhouse_settings });
        return [];
      }
      return (await client.query({ query: sql, format: 'JSONEachRow', clickhouse_settings })).json();
    },
  };
}

/** Canonical events in a table with a column for each member, and the queries that a day can't be cheaper than. */
async function dayOf(engine: Engine, pattern: string): Promise<BareDay> {
  const columns = Object.entries(MEMBERS).map(([name, { kind }]) => [name, engine.types[kind]]);
  const load = await measure(() =>
    engine.run(`${engine.table} SELECT * FROM ${engine.files(pattern, Object.fromEntries(columns))}`),
  );
  const { mode, quantile } = engine;
  const queries = [
    'SELECT user_id, model, sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens) FROM day WHERE model IS NOT NULL GROUP BY ALL',
    `SELECT user_id, count(*) FILTER (WHERE type = 'tool_call'), count(*) FILTER (WHERE type = 'user_message'), count(*) FILTER (WHERE type = 'assistant_message'),
      count(DISTINCT session_id), count(DISTINCT path), count(DISTINCT commit_sha), ${mode('autonomy_mode')}, ${mode('model')}, sum(input_tokens + output_tokens) FROM day GROUP BY ALL`,
    `SELECT ${quantile('calls', 0.5)}, ${quantile('calls', 0.9)} FROM (SELECT user_id, session_id,
      count(*) FILTER (WHERE type = 'tool_call') / nullif(count(*) FILTER (WHERE type = 'user_message'), 0) AS calls FROM day GROUP BY ALL)`,
    'SELECT client, count(DISTINCT user_id) FROM day GROUP BY ALL',
    "SELECT tool_name, count(*), count(DISTINCT user_id) FROM day WHERE type = 'tool_call' GROUP BY ALL",
  ];
  const ask = await measure(async () => {
    for (const query of queries) await engine.run(query);
  });
  return { load, ask };
}

/** Tokens by day and model of transcripts of Claude Code: an answer is written several times, and counts with its largest usage. */
async function tokensOf({ types, struct, files, run }: Engine, pattern: string): Promise<ModelTokens[]> {
  const kinds = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  const usage = struct(Object.fromEntries(kinds.map((kind) => [kind, types.integer])));
  const rows = await run(
    `SELECT day, model, ${kinds.map((kind) => `sum(${kind}) AS ${kind}_sum`).join(', ')}
    FROM (
      SELECT CAST(min(timestamp) AS DATE) AS day, max(message.model) AS model, ${kinds.map((kind) => `max(message.usage.${kind}) AS ${kind}`).join(', ')}
      FROM ${files(pattern, {
        type: types.text,
        timestamp: types.instant,
        requestId: types.text,
        message: struct({ id: types.text, model: types.text, usage }),
      })}
      WHERE type = 'assistant'
      GROUP BY message.id, requestId
    ) AS answer
    GROUP BY day, model
    ORDER BY day, model`,
  );
  return rows.map(({ day, model, ...tokens }) => [
    String(day),
    String(model),
    ...Object.values(tokens).map(Number),
  ]);
}

/**
 * A program: what an engine takes by itself for files that Daybook reads too, as JSON. `node bare-engine.js ENGINE day PATTERN` tells a
 * BareDay of canonical events, and `node bare-engine.js ENGINE tokens PATTERN` the tokens of transcripts.
 */
const [name, work, pattern = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
try {
  const engine = await (name === 'clickhouse' ? clickhouse : duckdb)(folder);
  console.log(JSON.stringify(await (work === 'day' ? dayOf : tokensOf)(engine, pattern)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// The engine in this process has threads that would wait.
process.exit();
