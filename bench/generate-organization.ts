import { DuckDBInstance } from '@duckdb/node-api';

/** The first day of a year of events, its days, and when they are over. */
export const FIRST_DAY = '2025-07-01';
export const DAYS = 365;
export const NOW = Date.parse('2026-07-01T00:15:00.000Z');
const MS_PER_DAY = 86_400_000;

export function dayAt(index: number): string {
  return new Date(Date.parse(FIRST_DAY) + index * MS_PER_DAY).toISOString().slice(0, 10);
}

export interface Organization {
  readonly people: number;
  /** Names of the models that they use, in turns. */
  readonly models: readonly string[];
  /** How many times a person uses a model on a day. */
  readonly usages: number;
  /** How many repositories they work in; 0 if events name none. */
  readonly repos: number;
}

const modelNames = (count: number) => Array.from({ length: count }, (_, index) => `model-${index}`);
/** A large organization, and a small one with many models. */
export const LARGE: Organization = { people: 10_000, models: modelNames(4), usages: 1, repos: 0 };
export const SMALL: Organization = { people: 50, models: modelNames(20), usages: 2, repos: 0 };

/**
 * Writes canonical events of the days from `first` up to but not `last`, counted from FIRST_DAY: of each person a user turn, a call of a
 * tool, a changed file, and usage of models. Everybody works every day.
 */
export async function writeEvents(
  path: string,
  { people, models, usages, repos }: Organization,
  [first, last]: readonly [number, number],
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const of = (type: string, value: string) => `CASE WHEN type = '${type}' THEN ${value} END`;
  await connection.run(`COPY (
    SELECT regexp_replace(CAST(to_json(event) AS VARCHAR), ',"[a-z_]+":null', '', 'g') AS line
    FROM (
      SELECT
        concat('e', day, '_', person, '_', kind) AS event_id,
        type,
        strftime(DATE '${FIRST_DAY}' + CAST(day AS INTEGER) + to_milliseconds(CAST(hash(person, day, kind) % 86400000 AS BIGINT)), '%Y-%m-%dT%H:%M:%S.%gZ') AS timestamp,
        'user_' || lpad(CAST(person AS VARCHAR), 5, '0') AS user_id,
        'user_' || person || '@acme.example' AS user_email,
        'ses_' || day AS session_id,
        'terminal-ui' AS client,
        'claude-code' AS agent,
        CASE WHEN ${repos} > 0 THEN 'https://github.com/acme/repo' || (person + day % 2) % ${Math.max(1, repos)} END AS repo,
        'auto-low' AS autonomy_mode,
        ${of('model_usage', `[${models.map((model) => `'${model}'`)}][1 + CAST((person * ${usages} + kind) % ${models.length} AS BIGINT)]`)} AS model,
        ${of('model_usage', 'CAST(hash(person, day, kind, 1) % 100000 AS BIGINT)')} AS input_tokens,
        ${of('model_usage', 'CAST(hash(person, day, kind, 2) % 100000 AS BIGINT)')} AS output_tokens,
        ${of('model_usage', 'CAST(hash(person, day, kind, 3) % 1000000 AS BIGINT)')} AS cache_read_tokens,
        ${of('tool_call', "'Edit'")} AS tool_name,
        ${of('file_change', "'/src/module' || day || ['.ts', '.py', '.go', '.md'][1 + person % 4]")} AS path,
        ${of('file_change', "'edit'")} AS operation
      FROM (
        SELECT
          day,
          person,
          kind,
          CASE kind WHEN 0 THEN 'user_message' WHEN 1 THEN 'tool_call' WHEN 2 THEN 'file_change' ELSE 'model_usage' END AS type
        FROM range(${first}, ${last}) AS days(day), range(${people}) AS people(person), range(${3 + usages}) AS kinds(kind)
      )
    ) AS event
  ) TO '${path}' (FORMAT csv, QUOTE '', ESCAPE '', DELIMITER '\x01', HEADER false)`);
  connection.closeSync();
  instance.closeSync();
}
