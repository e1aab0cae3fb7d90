import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

/** The day of the generated events. */
export const DAY = '2026-06-10';

/**
 * Writes canonical events into a file, unless it is there: all types, in the shares that agents send them, members that an
 * event doesn't have left out. They are the `events` from the one numbered `first` on, of 10,000 users on one day unless
 * told otherwise; of several days `day` is the first. The last `late` of them are of the `lateDays` days before. Of several organizations,
 * which share the users, it writes a folder with a folder `org=NAME` for each. Answers the path.
 */
export async function generateEvents(
  path: string,
  events: number,
  { first = 0, users = 10_000, days = 1, day = DAY, late = 0, lateDays = 1, organizations = 1 } = {},
): Promise<string> {
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const of = (type: string, value: string) => `CASE WHEN type = '${type}' THEN ${value} END`;
  const below = (limit: number, seed: number) => `CAST(hash(i, ${seed}) % ${limit} AS BIGINT)`;
  const pick = (list: string[], seed: number) =>
    `[${list.map((item) => `'${item}'`).join(', ')}][1 + ${below(list.length, seed)}]`;
  await connection.run(`COPY (
    SELECT
      ${organizations === 1 ? '' : `concat('org-', CAST(right(event.user_id, 5) AS INTEGER) % ${organizations}) AS org,`}
      regexp_replace(CAST(to_json(event) AS VARCHAR), ',"[a-z_]+":null', '', 'g') AS line
    FROM (
      SELECT
        'evt_' || lower(hex(hash(i, 20))) || '_' || i AS event_id,
        type,
        strftime(day + to_milliseconds(ms), '%Y-%m-%dT%H:%M:%S.%gZ') AS timestamp,
        'user_' || lpad(CAST(person AS VARCHAR), 5, '0') AS user_id,
        'user_' || person || '@acme.example' AS user_email,
        'ses_' || person || '_' || ${days === 1 ? `${below(5, 3)} || '_' || CAST(day AS DATE)` : '(ms + person * 7_000_000) // 17_280_000'} AS session_id,
        ['terminal-ui', 'web', 'non-interactive-cli'][1 + CAST(person % 3 AS BIGINT)] AS client,
        ${pick(['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'], 4)} AS autonomy_mode,
        'claude-code' AS agent,
        '2.1.29' AS agent_version,
        'https://github.com/acme/repo' || person % 200 AS repo,
        'main' AS git_branch,
        '/home/dev' || person || '/src/project' AS cwd,
        ${of('model_usage', pick(['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gpt-5'], 5))} AS model,
        ${of('model_usage', below(2000, 6))} AS input_tokens,
        ${of('model_usage', below(3000, 7))} AS output_tokens,
        ${of('model_usage', below(100_000, 8))} AS cache_read_tokens,
        ${of('model_usage', below(9000, 9))} AS cache_write_tokens,
        ${of('tool_call', pick(['Bash', 'Read', 'Edit', 'Grep', 'Write', 'mcp__GitHub__create_issue', 'mcp__linear__list', 'TodoWrite', 'Task', 'WebFetch'], 10))} AS tool_name,
        ${of('tool_call', `${below(10, 11)} > 0`)} AS success,
        ${of('tool_call', below(20_000, 12))} AS duration_ms,
        ${of('file_change', `'/home/dev' || person || '/src/module' || ${below(400, 13)} || ${pick(['.ts', '.py', '.go', '.md', '.sql'], 14)}`)} AS path,
        ${of('file_change', pick(['create', 'edit'], 15))} AS operation,
        ${of('git_commit', 'md5(CAST(i AS VARCHAR))')} AS commit_sha,
        ${of('pull_request', "'https://github.com/acme/repo/pull/' || i")} AS url,
        ${of('skill_use', pick(['review', 'commit', 'deploy'], 16))} AS skill_name,
        ${of('slash_command', pick(['compact', 'clear', 'model'], 17))} AS command_name,
        ${of('hook_run', pick(['PostToolUse', 'Stop'], 18))} AS hook_event,
        ${of('hook_run', "'npx biome check'")} AS command
      FROM (
        SELECT
          i,
          hash(i, 2) % ${users} AS person,
          ${below(days * 86_400_000, 1)} AS ms,
          TIMESTAMP '${day}' - to_days(CASE WHEN i < ${first + events - late} THEN 0 ELSE CAST(1 + hash(i, 21) % ${lateDays} AS INTEGER) END) AS day,
          CASE
            WHEN share < 400 THEN 'tool_call'
            WHEN share < 700 THEN 'model_usage'
            WHEN share < 820 THEN 'assistant_message'
            WHEN share < 880 THEN 'user_message'
            WHEN share < 940 THEN 'file_change'
            WHEN share < 950 THEN 'git_commit'
            WHEN share < 955 THEN 'pull_request'
            WHEN share < 965 THEN 'skill_use'
            WHEN share < 975 THEN 'slash_command'
            WHEN share < 985 THEN 'hook_run'
            WHEN share < 993 THEN 'session_start'
            ELSE 'session_end'
          END AS type
        FROM (SELECT range AS i, hash(range, 0) % 1000 AS share FROM range(${first}, ${first + events}))
      )
    ) AS event
  ) TO '${path}.partial' (FORMAT csv, QUOTE '', ESCAPE '', DELIMITER '\x01', HEADER false${organizations === 1 ? '' : ', PARTITION_BY (org)'})`);
  connection.closeSync();
  instance.closeSync();
  renameSync(`${path}.partial`, path);
  return path;
}
