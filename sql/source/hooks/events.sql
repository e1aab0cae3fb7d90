-- One row is one event of the payload of an agent's hook. docs/hooks.md says in prose which payload becomes which events.
-- Reads lines (source, line_no and the members that members.json lists). A payload is one request without its words. The service
-- has added user_id, timestamp (Unix milliseconds) and, unless `hooks send` has done so, payload_id.
WITH
payload AS MATERIALIZED (
  SELECT
    *,
    -- A tool's events have the ids that they have in a transcript.
    coalesce(CASE WHEN tool_use_id <> '' AND NOT is_longer(tool_use_id, 128) THEN tool_use_id END, 'hook:' || payload_id) AS id,
    hook_runs IS NULL AND hook_event_name IN ('PostToolUse', 'PostToolUseFailure') AS is_ended_call,
    -- Only with its id a call that is about to begin is the same as the one that ends.
    hook_runs IS NULL AND hook_event_name = 'PreToolUse' AND id = tool_use_id AS is_announced_call,
    -- The built-in command that a person gave. Of others there is no payload.
    CASE
      WHEN hook_runs IS NULL AND agent = 'claude-code'
        THEN CASE hook_event_name WHEN 'PreCompact' THEN 'compact' WHEN 'PreModelSwitch' THEN 'model' END
    END AS built_in_command,
    -- One command can have several payloads, with one prompt_id.
    id_with(built_in_command, coalesce(nullif(prompt_id, ''), payload_id)) AS command_id,
    -- Cursor tells a generation's tokens when it stops. Its input includes what was read from the cache and written to it.
    hook_runs IS NULL AND agent = 'cursor' AND hook_event_name IN ('stop', 'afterAgentResponse') AS has_tokens,
    coalesce(clamped(input_tokens), 0) AS all_input,
    coalesce(clamped(output_tokens), 0) AS output,
    coalesce(clamped(cache_read_tokens), 0) AS cache_read,
    coalesce(clamped(cache_write_tokens), 0) AS cache_write,
    hook_event_name <> 'PostToolUseFailure'
      AND coalesce((tool_response).success, true)
      AND NOT coalesce((tool_response).is_error, false)
      AND NOT coalesce((tool_response).interrupted, false) AS is_success,
    command_output(coalesce((tool_response).stdout, (tool_response).output, error)) AS printed,
    (tool_response).gitOperation.commit.sha AS commit_sha,
    CASE WHEN (tool_response).gitOperation.pr.action = 'created' THEN (tool_response).gitOperation.pr.url END AS pull_request_url
  FROM lines
),
file_change AS (
  SELECT
    payload,
    id,
    -- The tool of Claude Code or Droid that changes files as this one does.
    coalesce(file_tool, tool_name) AS tool_name,
    tool_response,
    unnest(changed_files(coalesce(file_tool, tool_name), tool_input, (tool_response).type, name_of((tool_response).filePath))) AS file
  FROM payload
  WHERE (is_ended_call OR hook_runs IS NULL AND agent = 'cursor' AND hook_event_name = 'afterFileEdit')
    AND is_success
),
event AS (
  SELECT
    payload,
    'session_start' AS type,
    'session_start:' || id AS event_id
  FROM payload
  WHERE hook_event_name = 'SessionStart'
    AND hook_runs IS NULL
  UNION ALL BY NAME
  SELECT
    payload,
    'session_end' AS type,
    'session_end:' || id AS event_id,
    name_of(reason) AS reason
  FROM payload
  WHERE hook_event_name = 'SessionEnd'
    AND hook_runs IS NULL
  UNION ALL BY NAME
  SELECT
    payload,
    'user_message' AS type,
    'turn:' || id AS event_id
  FROM payload
  WHERE hook_event_name = 'UserPromptSubmit'
    AND hook_runs IS NULL
    AND NOT is_of_program(prompt)
  UNION ALL BY NAME
  SELECT
    payload,
    'user_message' AS type,
    'turn:' || command_id AS event_id
  FROM payload
  WHERE built_in_command IS NOT NULL
  UNION ALL BY NAME
  SELECT
    payload,
    'slash_command' AS type,
    'slash:' || command_id AS event_id,
    built_in_command AS command_name
  FROM payload
  WHERE built_in_command IS NOT NULL
  UNION ALL BY NAME
  SELECT
    payload,
    'slash_command' AS type,
    'slash:' || id AS event_id,
    regexp_extract(prompt, '^/([A-Za-z][\w:.-]{0,199})(?:\s|$)', 1) AS command_name
  FROM payload
  WHERE hook_event_name = 'UserPromptSubmit'
    AND hook_runs IS NULL
    AND regexp_matches(prompt, '^/[A-Za-z][\w:.-]{0,199}(?:\s|$)')
  UNION ALL BY NAME
  SELECT
    payload,
    'model_usage' AS type,
    'usage:' || id AS event_id,
    model_or_unknown(name_of(model)) AS model,
    greatest(all_input - cache_read - cache_write, 0) AS input_tokens,
    output AS output_tokens,
    cache_read AS cache_read_tokens,
    cache_write AS cache_write_tokens,
    word_of(effort) AS effort
  FROM payload
  WHERE has_tokens
    AND is_used(all_input, output, cache_read, cache_write)
  UNION ALL BY NAME
  SELECT
    payload,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    tool_name,
    name_of(mcp_server) AS mcp_server,
    -- Unknown of a call that is about to begin: whether it ended or was refused is seen by other events (refused_calls).
    CASE WHEN is_ended_call AND coalesce(has_outcome, true) THEN is_success END AS success,
    CASE WHEN is_ended_call AND (coalesce(is_interrupt, false) OR coalesce((tool_response).interrupted, false)) THEN true END AS is_stopped,
    coalesce(count_of((tool_response).durationMs), count_of((tool_response).totalDurationMs), count_of(duration_ms)) AS duration_ms
  FROM payload
  WHERE is_ended_call
    OR is_announced_call
  UNION ALL BY NAME
  SELECT
    payload,
    'skill_use' AS type,
    'skill:' || id AS event_id,
    coalesce(name_of((tool_input).skill), name_of((tool_input).command)) AS skill_name
  FROM payload
  WHERE is_ended_call
    AND lower(tool_name) = 'skill'
    AND skill_name IS NOT NULL
  UNION ALL BY NAME
  SELECT
    payload,
    'file_change' AS type,
    CASE WHEN tool_name = 'ApplyPatch' THEN id_with('file:' || id, (file).path) ELSE 'file:' || id END AS event_id,
    (file).path AS path,
    (file).operation AS operation,
    added_lines((tool_response).type, (tool_response).content, (tool_response).structuredPatch) AS lines_added,
    removed_lines((tool_response).type, (tool_response).structuredPatch) AS lines_removed
  FROM file_change
  WHERE name_of((file).path) IS NOT NULL
  UNION ALL BY NAME
  SELECT
    payload,
    'git_commit' AS type,
    'commit:' || id || (made).ending AS event_id,
    (made).name AS commit_sha
  FROM (
    SELECT
      payload,
      id,
      unnest(commits_of((tool_input).command, printed, is_success, commit_sha)) AS made
    FROM payload
    WHERE is_ended_call
      AND is_shell_tool(tool_name)
  )
  UNION ALL BY NAME
  SELECT
    payload,
    'pull_request' AS type,
    'pull_request:' || id || (opened).ending AS event_id,
    (opened).name AS url
  FROM (
    SELECT
      payload,
      id,
      unnest(CASE
        WHEN is_shell_tool(tool_name) THEN pull_requests_of((tool_input).command, printed, is_success, pull_request_url)
        ELSE pull_requests_of_tool(tool_name, printed, is_success)
      END) AS opened
    FROM payload
    WHERE is_ended_call
  )
  UNION ALL BY NAME
  SELECT
    payload,
    'hook_run' AS type,
    'hook_run:' || id || ':' || place AS event_id,
    hook_event_name AS hook_event,
    (run).command AS command,
    (run).matcher AS matcher,
    (run).exit_code AS exit_code,
    (run).duration_ms AS duration_ms,
    (run).timed_out AS timed_out
  FROM (
    SELECT
      payload,
      id,
      hook_event_name,
      unnest(hook_runs) AS run,
      unnest(range(len(hook_runs))) AS place
    FROM payload
    WHERE hook_runs IS NOT NULL
  )
)
SELECT
  (payload).source AS source,
  (payload).line_no AS line_no,
  (payload)."timestamp" AS occurred_ms,
  (payload).user_id AS user_id,
  (payload).session_id AS session_id,
  (payload).agent AS agent,
  CASE WHEN NOT is_longer((payload).agent_version, 128) THEN (payload).agent_version END AS agent_version,
  CASE WHEN (payload).user_email <> '' AND NOT is_longer((payload).user_email, 320) THEN lower((payload).user_email) END AS user_email,
  CASE WHEN (payload).agent_id <> '' AND NOT is_longer((payload).agent_id, 128) THEN (payload).agent_id END AS agent_id,
  coalesce((payload).client, client_of((payload).entrypoint)) AS client,
  autonomy_mode_of((payload).permission_mode) AS autonomy_mode,
  name_of((payload).cwd) AS cwd,
  'hook' AS channel,
  * EXCLUDE (payload)
FROM event
