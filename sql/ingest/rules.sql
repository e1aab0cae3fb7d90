-- One row is one line: an event in the columns of `events`, or its fault.
-- Reads typed_lines, which the source's own SQL returns, and batch_files: each file's organization, and the instant at which it was
-- received. Rules use only that instant, so they give the same result whenever they are applied.
-- "npm run docs" writes this file from src/ingest/event-members.ts.
SELECT
  source,
  line_no,
  CASE
    WHEN form_fault IS NOT NULL THEN form_fault
    WHEN event_id IS NULL THEN 'missing_member id'
    WHEN session_id IS NULL AND coalesce(channel, 'event') = 'event' THEN 'missing_member session_id'
    WHEN type = 'model_usage' AND model IS NULL THEN 'missing_member model'
    WHEN type = 'model_usage' AND input_tokens IS NULL THEN 'missing_member input_tokens'
    WHEN type = 'model_usage' AND output_tokens IS NULL THEN 'missing_member output_tokens'
    WHEN type = 'other_usage' AND model IS NULL THEN 'missing_member model'
    WHEN type = 'other_usage' AND input_tokens IS NULL THEN 'missing_member input_tokens'
    WHEN type = 'other_usage' AND output_tokens IS NULL THEN 'missing_member output_tokens'
    WHEN type = 'tool_call' AND tool_name IS NULL THEN 'missing_member tool_name'
    WHEN type = 'file_change' AND path IS NULL THEN 'missing_member path'
    WHEN type = 'file_change' AND operation IS NULL THEN 'missing_member operation'
    WHEN type = 'skill_use' AND skill_name IS NULL THEN 'missing_member skill_name'
    WHEN type = 'slash_command' AND command_name IS NULL THEN 'missing_member command_name'
    WHEN type = 'hook_run' AND hook_event IS NULL THEN 'missing_member hook_event'
    WHEN type = 'hook_run' AND command IS NULL THEN 'missing_member command'
    WHEN type = 'retention_sweep' AND transcripts_deleted IS NULL THEN 'missing_member transcripts_deleted'
    WHEN occurred_ms IS NULL OR occurred_ms NOT BETWEEN -62135596800000 AND 253402300799999 THEN 'bad_timestamp timestamp'
    WHEN occurred_ms > epoch_ms(received_at) + 86400000 THEN 'timestamp_in_future timestamp'
    WHEN occurred_ms < 1577836800000 THEN 'value_out_of_range timestamp'
    WHEN named_org_id <> org_id THEN 'org_mismatch org_id'
    WHEN event_id = '' OR is_longer(event_id, 200) THEN 'value_out_of_range event_id'
    WHEN user_id = '' OR is_longer(user_id, 128) THEN 'value_out_of_range user_id'
    WHEN session_id = '' AND coalesce(channel, 'event') = 'event' OR is_longer(session_id, 128) THEN 'value_out_of_range session_id'
    WHEN user_email = '' OR is_longer(user_email, 320) THEN 'value_out_of_range user_email'
    WHEN NOT regexp_full_match(client, '[a-z][a-z0-9-]{0,31}') THEN 'value_out_of_range client'
    WHEN autonomy_mode NOT IN ('auto-high', 'auto-medium', 'auto-low', 'spec', 'manual') THEN 'value_out_of_range autonomy_mode'
    WHEN is_longer(agent, 128) THEN 'value_out_of_range agent'
    WHEN is_longer(agent_version, 128) THEN 'value_out_of_range agent_version'
    WHEN is_longer(repo, 2048) THEN 'value_out_of_range repo'
    WHEN is_longer(git_branch, 2048) THEN 'value_out_of_range git_branch'
    WHEN is_longer(repo_owner, 2048) THEN 'value_out_of_range repo_owner'
    WHEN is_longer(head_commit, 64) THEN 'value_out_of_range head_commit'
    WHEN is_longer(cwd, 2048) THEN 'value_out_of_range cwd'
    WHEN is_longer(agent_id, 128) THEN 'value_out_of_range agent_id'
    WHEN is_longer(parent_agent_id, 128) THEN 'value_out_of_range parent_agent_id'
    WHEN is_longer(team, 128) THEN 'value_out_of_range team'
    WHEN is_longer(department, 128) THEN 'value_out_of_range department'
    WHEN is_longer(cost_center, 128) THEN 'value_out_of_range cost_center'
    WHEN channel NOT IN ('event', 'log', 'hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api') THEN 'value_out_of_range channel'
    WHEN is_longer(reason, 2048) THEN 'value_out_of_range reason'
    WHEN model = '' OR is_longer(model, 2048) THEN 'value_out_of_range model'
    WHEN input_tokens NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range input_tokens'
    WHEN output_tokens NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range output_tokens'
    WHEN cache_read_tokens NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range cache_read_tokens'
    WHEN cache_write_tokens NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range cache_write_tokens'
    WHEN cache_write_1h_tokens NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range cache_write_1h_tokens'
    WHEN is_longer(request_id, 200) THEN 'value_out_of_range request_id'
    WHEN is_longer(requested_model, 2048) THEN 'value_out_of_range requested_model'
    WHEN NOT regexp_full_match(speed, '[a-z][a-z0-9_.-]{0,31}') THEN 'value_out_of_range speed'
    WHEN NOT regexp_full_match(service_tier, '[a-z][a-z0-9_.-]{0,31}') THEN 'value_out_of_range service_tier'
    WHEN NOT regexp_full_match(region, '[a-z][a-z0-9_.-]{0,31}') THEN 'value_out_of_range region'
    WHEN NOT regexp_full_match(effort, '[a-z][a-z0-9_.-]{0,31}') THEN 'value_out_of_range effort'
    WHEN NOT regexp_full_match(provider, '[a-z][a-z0-9_.-]{0,31}') THEN 'value_out_of_range provider'
    WHEN NOT regexp_full_match(plan, '[a-z][a-z0-9_.-]{0,31}') THEN 'value_out_of_range plan'
    WHEN web_searches NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range web_searches'
    WHEN reported_cost_usd NOT BETWEEN 0 AND 1000000 THEN 'value_out_of_range reported_cost_usd'
    WHEN duration_ms NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range duration_ms'
    WHEN is_longer(mcp_server, 2048) THEN 'value_out_of_range mcp_server'
    WHEN path = '' OR is_longer(path, 2048) THEN 'value_out_of_range path'
    WHEN operation NOT IN ('create', 'edit') THEN 'value_out_of_range operation'
    WHEN lines_added NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range lines_added'
    WHEN lines_removed NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range lines_removed'
    WHEN is_longer(commit_sha, 2048) THEN 'value_out_of_range commit_sha'
    WHEN is_longer(url, 2048) THEN 'value_out_of_range url'
    WHEN skill_name = '' OR is_longer(skill_name, 2048) THEN 'value_out_of_range skill_name'
    WHEN command_name = '' OR is_longer(command_name, 2048) THEN 'value_out_of_range command_name'
    WHEN hook_event = '' OR is_longer(hook_event, 2048) THEN 'value_out_of_range hook_event'
    WHEN command = '' OR is_longer(command, 2048) THEN 'value_out_of_range command'
    WHEN is_longer(matcher, 2048) THEN 'value_out_of_range matcher'
    WHEN exit_code NOT BETWEEN -100000000000 AND 100000000000 THEN 'value_out_of_range exit_code'
    WHEN transcripts_deleted NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range transcripts_deleted'
    WHEN period_days NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range period_days'
    WHEN lines_suggested NOT BETWEEN 0 AND 100000000000 THEN 'value_out_of_range lines_suggested'
  END AS fault,
  org_id,
  -- Up to 2149-06-06, the last day that every store supports. Later events are rejected anyway, on their day of arrival.
  CAST(CASE WHEN occurred_ms BETWEEN 0 AND 5662310399999 THEN make_timestamp_ms(occurred_ms) END AS TIMESTAMP_MS) AS occurred_at,
  CAST(occurred_at AS DATE) AS day,
  event_id,
  type,
  -- If lines don't name their user, the file does.
  coalesce(user_id, file_user_id) AS user_id,
  coalesce(session_id, '') AS session_id,
  user_email,
  client,
  autonomy_mode,
  nullif(agent, '(none)') AS agent,
  agent_version,
  nullif(without_credentials(repo), '(none)') AS repo,
  git_branch,
  repo_owner,
  head_commit,
  cwd,
  agent_id,
  parent_agent_id,
  team,
  department,
  cost_center,
  is_installation,
  coalesce(channel, 'event') AS channel,
  reason,
  model,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  request_id,
  requested_model,
  speed,
  service_tier,
  region,
  effort,
  provider,
  plan,
  web_searches,
  try_cast(reported_cost_usd AS DECIMAL(18, 9)) AS reported_cost_usd,
  duration_ms,
  tool_name,
  mcp_server,
  success,
  is_stopped,
  path,
  operation,
  lines_added,
  lines_removed,
  commit_sha,
  without_credentials(url) AS url,
  skill_name,
  command_name,
  hook_event,
  without_credentials(command) AS command,
  matcher,
  exit_code,
  timed_out,
  transcripts_deleted,
  period_days,
  lines_suggested
FROM typed_lines
JOIN batch_files USING (source)
