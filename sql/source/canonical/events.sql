-- One row is one line, read as a canonical event. A line that breaks a rule of form has a fault: a reason of the closed list and the
-- member, such as 'wrong_type user_id'.
-- Reads lines (source, line_no, line: JSON, or null if the line is not JSON).
-- "npm run docs" writes this file from src/ingest/event-members.ts.
WITH
read_line AS (
  SELECT
    source,
    line_no,
    strlen(line) AS bytes,
    line,
    from_json(line, '{
      "event_id": "VARCHAR",
      "type": "VARCHAR",
      "timestamp": "VARCHAR",
      "user_id": "VARCHAR",
      "session_id": "VARCHAR",
      "user_email": "VARCHAR",
      "client": "VARCHAR",
      "autonomy_mode": "VARCHAR",
      "org_id": "VARCHAR",
      "agent": "VARCHAR",
      "agent_version": "VARCHAR",
      "repo": "VARCHAR",
      "git_branch": "VARCHAR",
      "repo_owner": "VARCHAR",
      "head_commit": "VARCHAR",
      "cwd": "VARCHAR",
      "agent_id": "VARCHAR",
      "parent_agent_id": "VARCHAR",
      "team": "VARCHAR",
      "department": "VARCHAR",
      "cost_center": "VARCHAR",
      "is_installation": "BOOLEAN",
      "channel": "VARCHAR",
      "reason": "VARCHAR",
      "model": "VARCHAR",
      "input_tokens": "DOUBLE",
      "output_tokens": "DOUBLE",
      "cache_read_tokens": "DOUBLE",
      "cache_write_tokens": "DOUBLE",
      "cache_write_1h_tokens": "DOUBLE",
      "request_id": "VARCHAR",
      "requested_model": "VARCHAR",
      "speed": "VARCHAR",
      "service_tier": "VARCHAR",
      "region": "VARCHAR",
      "effort": "VARCHAR",
      "provider": "VARCHAR",
      "plan": "VARCHAR",
      "web_searches": "DOUBLE",
      "reported_cost_usd": "DOUBLE",
      "duration_ms": "DOUBLE",
      "tool_name": "VARCHAR",
      "mcp_server": "VARCHAR",
      "success": "BOOLEAN",
      "is_stopped": "BOOLEAN",
      "path": "VARCHAR",
      "operation": "VARCHAR",
      "lines_added": "DOUBLE",
      "lines_removed": "DOUBLE",
      "commit_sha": "VARCHAR",
      "url": "VARCHAR",
      "skill_name": "VARCHAR",
      "command_name": "VARCHAR",
      "hook_event": "VARCHAR",
      "command": "VARCHAR",
      "matcher": "VARCHAR",
      "exit_code": "DOUBLE",
      "timed_out": "BOOLEAN",
      "transcripts_deleted": "DOUBLE",
      "period_days": "DOUBLE"
    }') AS event,
    -- The JSON types of the members, null if absent: from_json would read 12 as '12'.
    json_type(line, ['$.event_id', '$.type', '$.timestamp', '$.user_id', '$.session_id', '$.user_email', '$.client', '$.autonomy_mode', '$.org_id', '$.agent', '$.agent_version', '$.repo', '$.git_branch', '$.repo_owner', '$.head_commit', '$.cwd', '$.agent_id', '$.parent_agent_id', '$.team', '$.department', '$.cost_center', '$.is_installation', '$.channel', '$']) AS types
  FROM lines
),
typed_line AS (
  SELECT
    *,
    CASE event.type
      WHEN 'session_end' THEN json_type(line, ['$.reason'])
      WHEN 'model_usage' THEN json_type(line, ['$.model', '$.input_tokens', '$.output_tokens', '$.cache_read_tokens', '$.cache_write_tokens', '$.cache_write_1h_tokens', '$.request_id', '$.requested_model', '$.speed', '$.service_tier', '$.region', '$.effort', '$.provider', '$.plan', '$.web_searches', '$.reported_cost_usd'])
      WHEN 'other_usage' THEN json_type(line, ['$.model', '$.input_tokens', '$.output_tokens', '$.cache_read_tokens', '$.cache_write_tokens', '$.cache_write_1h_tokens', '$.web_searches', '$.duration_ms'])
      WHEN 'tool_call' THEN json_type(line, ['$.tool_name', '$.mcp_server', '$.success', '$.is_stopped', '$.duration_ms'])
      WHEN 'file_change' THEN json_type(line, ['$.path', '$.operation', '$.lines_added', '$.lines_removed'])
      WHEN 'git_commit' THEN json_type(line, ['$.commit_sha'])
      WHEN 'pull_request' THEN json_type(line, ['$.url'])
      WHEN 'skill_use' THEN json_type(line, ['$.skill_name'])
      WHEN 'slash_command' THEN json_type(line, ['$.command_name'])
      WHEN 'hook_run' THEN json_type(line, ['$.hook_event', '$.command', '$.matcher', '$.exit_code', '$.duration_ms', '$.timed_out'])
      WHEN 'retention_sweep' THEN json_type(line, ['$.transcripts_deleted', '$.period_days'])
    END AS own_types,
    CASE
      WHEN types[3] = 'VARCHAR' THEN rfc3339_ms(event.timestamp)
      WHEN is_integer(try_cast(event.timestamp AS DOUBLE)) THEN clamped(try_cast(event.timestamp AS DOUBLE))
    END AS occurred_ms
  FROM read_line
)
SELECT
  source,
  line_no,
  CASE
    WHEN line IS NULL THEN 'not_json'
    WHEN bytes > 1048576 THEN 'line_too_long'
    WHEN types[24] <> 'OBJECT' THEN 'not_an_object'
    WHEN coalesce(types[1], 'NULL') = 'NULL' THEN 'missing_member event_id'
    WHEN coalesce(types[2], 'NULL') = 'NULL' THEN 'missing_member type'
    WHEN coalesce(types[3], 'NULL') = 'NULL' THEN 'missing_member timestamp'
    WHEN coalesce(types[4], 'NULL') = 'NULL' THEN 'missing_member user_id'
    WHEN coalesce(types[5], 'NULL') = 'NULL' THEN 'missing_member session_id'
    WHEN types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type event_id'
    WHEN types[2] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type type'
    WHEN types[3] NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT', 'NULL') AND (types[3] <> 'DOUBLE' OR NOT is_integer(try_cast(event.timestamp AS DOUBLE))) THEN 'wrong_type timestamp'
    WHEN types[4] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type user_id'
    WHEN types[5] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type session_id'
    WHEN types[6] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type user_email'
    WHEN types[7] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type client'
    WHEN types[8] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type autonomy_mode'
    WHEN types[9] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type org_id'
    WHEN types[10] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type agent'
    WHEN types[11] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type agent_version'
    WHEN types[12] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type repo'
    WHEN types[13] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type git_branch'
    WHEN types[14] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type repo_owner'
    WHEN types[15] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type head_commit'
    WHEN types[16] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type cwd'
    WHEN types[17] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type agent_id'
    WHEN types[18] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type parent_agent_id'
    WHEN types[19] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type team'
    WHEN types[20] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type department'
    WHEN types[21] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type cost_center'
    WHEN types[22] NOT IN ('BOOLEAN', 'NULL') THEN 'wrong_type is_installation'
    WHEN types[23] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type channel'
    WHEN event.type NOT IN ('session_start', 'session_end', 'user_message', 'assistant_message', 'model_usage', 'other_usage', 'tool_call', 'file_change', 'git_commit', 'pull_request', 'skill_use', 'slash_command', 'hook_run', 'retention_sweep') THEN 'unknown_type type'
    WHEN own_types IS NULL THEN NULL
    WHEN event.type = 'session_end' THEN
      CASE
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type reason'
      END
    WHEN event.type = 'model_usage' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member model'
        WHEN coalesce(own_types[2], 'NULL') = 'NULL' THEN 'missing_member input_tokens'
        WHEN coalesce(own_types[3], 'NULL') = 'NULL' THEN 'missing_member output_tokens'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type model'
        WHEN own_types[2] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[2] <> 'DOUBLE' OR NOT is_integer(event.input_tokens)) THEN 'wrong_type input_tokens'
        WHEN own_types[3] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[3] <> 'DOUBLE' OR NOT is_integer(event.output_tokens)) THEN 'wrong_type output_tokens'
        WHEN own_types[4] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[4] <> 'DOUBLE' OR NOT is_integer(event.cache_read_tokens)) THEN 'wrong_type cache_read_tokens'
        WHEN own_types[5] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[5] <> 'DOUBLE' OR NOT is_integer(event.cache_write_tokens)) THEN 'wrong_type cache_write_tokens'
        WHEN own_types[6] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[6] <> 'DOUBLE' OR NOT is_integer(event.cache_write_1h_tokens)) THEN 'wrong_type cache_write_1h_tokens'
        WHEN own_types[7] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type request_id'
        WHEN own_types[8] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type requested_model'
        WHEN own_types[9] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type speed'
        WHEN own_types[10] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type service_tier'
        WHEN own_types[11] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type region'
        WHEN own_types[12] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type effort'
        WHEN own_types[13] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type provider'
        WHEN own_types[14] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type plan'
        WHEN own_types[15] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[15] <> 'DOUBLE' OR NOT is_integer(event.web_searches)) THEN 'wrong_type web_searches'
        WHEN own_types[16] NOT IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'NULL') THEN 'wrong_type reported_cost_usd'
      END
    WHEN event.type = 'other_usage' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member model'
        WHEN coalesce(own_types[2], 'NULL') = 'NULL' THEN 'missing_member input_tokens'
        WHEN coalesce(own_types[3], 'NULL') = 'NULL' THEN 'missing_member output_tokens'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type model'
        WHEN own_types[2] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[2] <> 'DOUBLE' OR NOT is_integer(event.input_tokens)) THEN 'wrong_type input_tokens'
        WHEN own_types[3] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[3] <> 'DOUBLE' OR NOT is_integer(event.output_tokens)) THEN 'wrong_type output_tokens'
        WHEN own_types[4] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[4] <> 'DOUBLE' OR NOT is_integer(event.cache_read_tokens)) THEN 'wrong_type cache_read_tokens'
        WHEN own_types[5] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[5] <> 'DOUBLE' OR NOT is_integer(event.cache_write_tokens)) THEN 'wrong_type cache_write_tokens'
        WHEN own_types[6] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[6] <> 'DOUBLE' OR NOT is_integer(event.cache_write_1h_tokens)) THEN 'wrong_type cache_write_1h_tokens'
        WHEN own_types[7] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[7] <> 'DOUBLE' OR NOT is_integer(event.web_searches)) THEN 'wrong_type web_searches'
        WHEN own_types[8] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[8] <> 'DOUBLE' OR NOT is_integer(event.duration_ms)) THEN 'wrong_type duration_ms'
      END
    WHEN event.type = 'tool_call' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member tool_name'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type tool_name'
        WHEN own_types[2] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type mcp_server'
        WHEN own_types[3] NOT IN ('BOOLEAN', 'NULL') THEN 'wrong_type success'
        WHEN own_types[4] NOT IN ('BOOLEAN', 'NULL') THEN 'wrong_type is_stopped'
        WHEN own_types[5] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[5] <> 'DOUBLE' OR NOT is_integer(event.duration_ms)) THEN 'wrong_type duration_ms'
      END
    WHEN event.type = 'file_change' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member path'
        WHEN coalesce(own_types[2], 'NULL') = 'NULL' THEN 'missing_member operation'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type path'
        WHEN own_types[2] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type operation'
        WHEN own_types[3] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[3] <> 'DOUBLE' OR NOT is_integer(event.lines_added)) THEN 'wrong_type lines_added'
        WHEN own_types[4] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[4] <> 'DOUBLE' OR NOT is_integer(event.lines_removed)) THEN 'wrong_type lines_removed'
      END
    WHEN event.type = 'git_commit' THEN
      CASE
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type commit_sha'
      END
    WHEN event.type = 'pull_request' THEN
      CASE
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type url'
      END
    WHEN event.type = 'skill_use' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member skill_name'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type skill_name'
      END
    WHEN event.type = 'slash_command' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member command_name'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type command_name'
      END
    WHEN event.type = 'hook_run' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member hook_event'
        WHEN coalesce(own_types[2], 'NULL') = 'NULL' THEN 'missing_member command'
        WHEN own_types[1] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type hook_event'
        WHEN own_types[2] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type command'
        WHEN own_types[3] NOT IN ('VARCHAR', 'NULL') THEN 'wrong_type matcher'
        WHEN own_types[4] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[4] <> 'DOUBLE' OR NOT is_integer(event.exit_code)) THEN 'wrong_type exit_code'
        WHEN own_types[5] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[5] <> 'DOUBLE' OR NOT is_integer(event.duration_ms)) THEN 'wrong_type duration_ms'
        WHEN own_types[6] NOT IN ('BOOLEAN', 'NULL') THEN 'wrong_type timed_out'
      END
    WHEN event.type = 'retention_sweep' THEN
      CASE
        WHEN coalesce(own_types[1], 'NULL') = 'NULL' THEN 'missing_member transcripts_deleted'
        WHEN own_types[1] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[1] <> 'DOUBLE' OR NOT is_integer(event.transcripts_deleted)) THEN 'wrong_type transcripts_deleted'
        WHEN own_types[2] NOT IN ('UBIGINT', 'BIGINT', 'NULL') AND (own_types[2] <> 'DOUBLE' OR NOT is_integer(event.period_days)) THEN 'wrong_type period_days'
      END
  END AS form_fault,
  event.org_id AS named_org_id,
  occurred_ms,
  event.event_id AS event_id,
  event.type AS type,
  event.user_id AS user_id,
  event.session_id AS session_id,
  event.user_email AS user_email,
  event.client AS client,
  event.autonomy_mode AS autonomy_mode,
  event.agent AS agent,
  event.agent_version AS agent_version,
  event.repo AS repo,
  event.git_branch AS git_branch,
  event.repo_owner AS repo_owner,
  event.head_commit AS head_commit,
  event.cwd AS cwd,
  event.agent_id AS agent_id,
  event.parent_agent_id AS parent_agent_id,
  event.team AS team,
  event.department AS department,
  event.cost_center AS cost_center,
  event.is_installation AS is_installation,
  coalesce(event.channel, 'event') AS channel,
  CASE WHEN event.type IN ('session_end') THEN event.reason END AS reason,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN event.model END AS model,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN clamped(event.input_tokens) END AS input_tokens,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN clamped(event.output_tokens) END AS output_tokens,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN clamped(event.cache_read_tokens) END AS cache_read_tokens,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN clamped(event.cache_write_tokens) END AS cache_write_tokens,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN clamped(event.cache_write_1h_tokens) END AS cache_write_1h_tokens,
  CASE WHEN event.type IN ('model_usage') THEN event.request_id END AS request_id,
  CASE WHEN event.type IN ('model_usage') THEN event.requested_model END AS requested_model,
  CASE WHEN event.type IN ('model_usage') THEN event.speed END AS speed,
  CASE WHEN event.type IN ('model_usage') THEN event.service_tier END AS service_tier,
  CASE WHEN event.type IN ('model_usage') THEN event.region END AS region,
  CASE WHEN event.type IN ('model_usage') THEN event.effort END AS effort,
  CASE WHEN event.type IN ('model_usage') THEN event.provider END AS provider,
  CASE WHEN event.type IN ('model_usage') THEN event.plan END AS plan,
  CASE WHEN event.type IN ('model_usage', 'other_usage') THEN clamped(event.web_searches) END AS web_searches,
  CASE WHEN event.type IN ('model_usage') THEN event.reported_cost_usd END AS reported_cost_usd,
  CASE WHEN event.type IN ('other_usage', 'tool_call', 'hook_run') THEN clamped(event.duration_ms) END AS duration_ms,
  CASE WHEN event.type IN ('tool_call') THEN event.tool_name END AS tool_name,
  CASE WHEN event.type IN ('tool_call') THEN event.mcp_server END AS mcp_server,
  CASE WHEN event.type IN ('tool_call') THEN event.success END AS success,
  CASE WHEN event.type IN ('tool_call') THEN event.is_stopped END AS is_stopped,
  CASE WHEN event.type IN ('file_change') THEN event.path END AS path,
  CASE WHEN event.type IN ('file_change') THEN event.operation END AS operation,
  CASE WHEN event.type IN ('file_change') THEN clamped(event.lines_added) END AS lines_added,
  CASE WHEN event.type IN ('file_change') THEN clamped(event.lines_removed) END AS lines_removed,
  CASE WHEN event.type IN ('git_commit') THEN event.commit_sha END AS commit_sha,
  CASE WHEN event.type IN ('pull_request') THEN event.url END AS url,
  CASE WHEN event.type IN ('skill_use') THEN event.skill_name END AS skill_name,
  CASE WHEN event.type IN ('slash_command') THEN regexp_replace(event.command_name, '^\s*/', '') END AS command_name,
  CASE WHEN event.type IN ('hook_run') THEN event.hook_event END AS hook_event,
  CASE WHEN event.type IN ('hook_run') THEN event.command END AS command,
  CASE WHEN event.type IN ('hook_run') THEN event.matcher END AS matcher,
  CASE WHEN event.type IN ('hook_run') THEN clamped(event.exit_code) END AS exit_code,
  CASE WHEN event.type IN ('hook_run') THEN event.timed_out END AS timed_out,
  CASE WHEN event.type IN ('retention_sweep') THEN clamped(event.transcripts_deleted) END AS transcripts_deleted,
  CASE WHEN event.type IN ('retention_sweep') THEN clamped(event.period_days) END AS period_days
FROM typed_line
