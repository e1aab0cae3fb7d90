-- One row is one event that Claude Code transcripts tell of, in the shape that rules.sql reads. docs/claude-code.md says
-- in prose what becomes what.
-- Reads transcript_lines. Variables: user_id.
WITH
-- The permission mode stands on prompt lines only and holds until the session's next.
prompt_mode AS (
  SELECT
    context.session_id AS session_id,
    occurred_ms,
    max(CASE permission_mode
      WHEN 'bypassPermissions' THEN 'auto-high'
      WHEN 'dontAsk' THEN 'auto-high'
      WHEN 'auto' THEN 'auto-medium'
      WHEN 'acceptEdits' THEN 'auto-low'
      WHEN 'default' THEN 'manual'
      WHEN 'plan' THEN 'spec'
    END) AS autonomy_mode
  FROM transcript_lines
  WHERE permission_mode IN ('bypassPermissions', 'dontAsk', 'auto', 'acceptEdits', 'default', 'plan')
    AND occurred_ms IS NOT NULL
    AND context.session_id IS NOT NULL
  GROUP BY
    context.session_id,
    occurred_ms
),
-- An answer of a model is written several times while it streams: it is the largest usage, at the time of the first
-- line. A side chain may replay an answer under another request id, so there the message id alone is the key.
answer AS (
  SELECT
    min(context) AS context,
    min(occurred_ms) AS occurred_ms,
    coalesce(message_id, uuid) AS answer_id,
    CASE WHEN is_sidechain THEN '' ELSE coalesce(request_id, '') END AS request_key,
    max(model) AS model,
    bool_or(usage IS NOT NULL) AS has_usage,
    max(usage.input_tokens) AS input_tokens,
    max(usage.output_tokens) AS output_tokens,
    max(usage.cache_read_input_tokens) AS cache_read_tokens,
    max(greatest(
      coalesce(usage.cache_creation_input_tokens, 0),
      coalesce(usage.cache_creation.ephemeral_5m_input_tokens, 0) + coalesce(usage.cache_creation.ephemeral_1h_input_tokens, 0)
    )) AS cache_write_tokens
  FROM transcript_lines
  WHERE type = 'assistant'
    AND coalesce(model, '') <> '<synthetic>'
  GROUP BY
    coalesce(message_id, uuid),
    CASE WHEN is_sidechain THEN '' ELSE coalesce(request_id, '') END,
    context.session_id
),
block AS (
  SELECT
    type,
    occurred_ms,
    context,
    result,
    unnest(blocks) AS part
  FROM transcript_lines
  WHERE blocks IS NOT NULL
),
tool_result AS (
  SELECT
    context.session_id AS session_id,
    part.tool_use_id AS tool_use_id,
    min(occurred_ms) AS result_ms,
    NOT bool_or(coalesce(part.is_error, false)) AS success,
    min(result) AS result
  FROM block
  WHERE type = 'user'
    AND part.type = 'tool_result'
  GROUP BY
    context.session_id,
    part.tool_use_id
),
tool AS (
  SELECT
    tool_use.occurred_ms AS occurred_ms,
    tool_use.context AS context,
    tool_use.part AS part,
    lower(tool_use.part.name) IN ('bash', 'powershell', 'execute', 'shell') AS is_shell,
    tool_result.result_ms AS result_ms,
    tool_result.success AS success,
    tool_result.result AS result
  FROM block AS tool_use
  LEFT JOIN tool_result
    ON tool_result.session_id = tool_use.context.session_id
    AND tool_result.tool_use_id = tool_use.part.id
  WHERE tool_use.type = 'assistant'
    AND tool_use.part.type = 'tool_use'
),
-- A tool that changes files names one file; a patch names several.
file_change AS (
  SELECT
    result_ms,
    context,
    part,
    result,
    unnest(CASE
      WHEN part.name = 'ApplyPatch'
        THEN list_transform(
          regexp_extract_all(coalesce(part.input.patch, part.input.input, part.input.command), '\*\*\* (?:Add|Update) File: [^\n]+'),
          lambda heading: {
            'path': regexp_extract(heading, 'File: (.+)$', 1),
            'operation': CASE WHEN contains(heading, ' Add File: ') THEN 'create' ELSE 'edit' END
          }
        )
      ELSE [{
        'path': coalesce(result.path, part.input.file_path, part.input.notebook_path, part.input.path),
        'operation': CASE
          WHEN result.kind = 'create' THEN 'create'
          WHEN result.kind = 'update' THEN 'edit'
          WHEN part.name IN ('Write', 'Create') THEN 'create'
          ELSE 'edit'
        END
      }]
    END) AS file
  FROM tool
  WHERE success
    AND part.name IN ('Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Create', 'ApplyPatch')
),
-- What begins with one of these was written by the program, not by a person.
turn AS (
  SELECT
    occurred_ms,
    context,
    uuid,
    prompt,
    regexp_extract(coalesce(blocks[1].text, prompt), '<command-name>\s*/?([^<\s\\][^<]*?)\s*</command-name>', 1) AS command_name
  FROM transcript_lines
  WHERE prompt IS NOT NULL
    AND prompt <> '""'
    AND NOT regexp_matches(
      coalesce(blocks[1].text, ltrim(prompt, '"')),
      '^\s*(<local-command-(stdout|stderr|caveat)>|<bash-(stdout|stderr)>|<task-notification>|\[Request interrupted by user|Caveat: The messages below)'
    )
    AND NOT coalesce(list_bool_or(list_transform(blocks, lambda piece: piece.type = 'tool_result')), false)
),
hook AS (
  SELECT
    occurred_ms,
    context,
    unnest(hooks) AS hook
  FROM transcript_lines
  WHERE hooks IS NOT NULL
),
event AS (
  SELECT
    context,
    occurred_ms,
    'usage:' || answer_id || ':' || request_key AS event_id,
    'model_usage' AS type,
    model,
    coalesce(input_tokens, 0) AS input_tokens,
    coalesce(output_tokens, 0) AS output_tokens,
    coalesce(cache_read_tokens, 0) AS cache_read_tokens,
    cache_write_tokens
  FROM answer
  WHERE has_usage
    AND model IS NOT NULL
  UNION ALL BY NAME
  SELECT
    context,
    occurred_ms,
    'message:' || answer_id AS event_id,
    'assistant_message' AS type
  FROM answer
  UNION ALL BY NAME
  SELECT
    context,
    occurred_ms,
    'turn:' || uuid AS event_id,
    'user_message' AS type
  FROM turn
  UNION ALL BY NAME
  SELECT
    context,
    occurred_ms,
    'slash:' || uuid AS event_id,
    'slash_command' AS type,
    command_name
  FROM turn
  WHERE command_name <> ''
  UNION ALL BY NAME
  SELECT
    context,
    occurred_ms,
    'tool:' || part.id AS event_id,
    'tool_call' AS type,
    part.name AS tool_name,
    success,
    result.duration_ms AS duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    context,
    occurred_ms,
    'skill:' || part.id AS event_id,
    'skill_use' AS type,
    coalesce(part.input.skill, part.input.command) AS skill_name
  FROM tool
  WHERE part.name = 'Skill'
  UNION ALL BY NAME
  SELECT
    context,
    result_ms AS occurred_ms,
    'file:' || part.id || CASE WHEN part.name = 'ApplyPatch' THEN ':' || file.path ELSE '' END AS event_id,
    'file_change' AS type,
    file.path AS path,
    file.operation AS operation,
    result.lines_added AS lines_added,
    result.lines_removed AS lines_removed
  FROM file_change
  UNION ALL BY NAME
  SELECT
    context,
    result_ms AS occurred_ms,
    'commit:' || part.id AS event_id,
    'git_commit' AS type,
    coalesce(result.commit_sha, nullif(regexp_extract(result.output, '(?m)^\[[^\]\n]+ ([0-9a-f]{7,40})\]', 1), '')) AS commit_sha
  FROM tool
  WHERE is_shell
    AND success
    AND (
      result.commit_sha IS NOT NULL
      OR (
        is_commit_command(part.input.command)
        AND NOT coalesce(regexp_matches(result.output, 'nothing to commit|no changes added to commit'), false)
      )
    )
  UNION ALL BY NAME
  SELECT
    context,
    result_ms AS occurred_ms,
    'pull_request:' || part.id AS event_id,
    'pull_request' AS type,
    coalesce(
      result.pull_request_url,
      nullif(regexp_extract(result.output, 'https?://\S+/(?:pull|merge_requests)/\d+'), '')
    ) AS url
  FROM tool
  WHERE is_shell
    AND success
    AND (result.pull_request_url IS NOT NULL OR is_pull_request_command(part.input.command))
  UNION ALL BY NAME
  SELECT
    context,
    occurred_ms,
    'hook:' || coalesce(hook.tool_use_id, '') || ':' || hook.hook_event || ':' || md5(hook.command) AS event_id,
    'hook_run' AS type,
    hook.hook_event AS hook_event,
    nullif(regexp_extract(hook.hook_name, ':(.+)$', 1), '') AS matcher,
    left(hook.command, 2048) AS command,
    hook.exit_code AS exit_code,
    hook.duration_ms AS duration_ms
  FROM hook
  WHERE hook.command IS NOT NULL
    AND hook.hook_event IS NOT NULL
)
SELECT
  event.context.source AS source,
  event.context.line_no AS line_no,
  event.context.form_fault AS form_fault,
  0 AS is_other_org,
  event.occurred_ms AS occurred_ms,
  event.event_id AS event_id,
  event.type AS type,
  CAST(getvariable('user_id') AS VARCHAR) AS user_id,
  CAST(NULL AS VARCHAR) AS user_email,
  event.context.session_id AS session_id,
  CASE
    WHEN event.context.entrypoint = 'cli' THEN 'terminal-ui'
    WHEN regexp_matches(event.context.entrypoint, '^sdk(-|$)|headless|^print$') THEN 'non-interactive-cli'
    WHEN regexp_full_match(event.context.entrypoint, '[a-z][a-z0-9-]{0,31}') THEN event.context.entrypoint
  END AS client,
  prompt_mode.autonomy_mode AS autonomy_mode,
  'claude-code' AS agent,
  event.context.agent_version AS agent_version,
  CAST(NULL AS VARCHAR) AS repo,
  event.context.git_branch AS git_branch,
  event.context.cwd AS cwd,
  CAST(NULL AS VARCHAR) AS reason,
  event.model AS model,
  event.input_tokens AS input_tokens,
  event.output_tokens AS output_tokens,
  event.cache_read_tokens AS cache_read_tokens,
  event.cache_write_tokens AS cache_write_tokens,
  event.tool_name AS tool_name,
  CAST(NULL AS VARCHAR) AS mcp_server,
  event.success AS success,
  event.duration_ms AS duration_ms,
  event.path AS path,
  event.operation AS operation,
  event.lines_added AS lines_added,
  event.lines_removed AS lines_removed,
  event.commit_sha AS commit_sha,
  event.url AS url,
  event.skill_name AS skill_name,
  event.command_name AS command_name,
  event.hook_event AS hook_event,
  event.matcher AS matcher,
  event.command AS command,
  event.exit_code AS exit_code,
  CAST(NULL AS BOOLEAN) AS timed_out
FROM event
ASOF LEFT JOIN prompt_mode
  ON prompt_mode.session_id = event.context.session_id
  AND prompt_mode.occurred_ms <= event.occurred_ms
