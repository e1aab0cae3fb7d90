-- One row is one session, computed from those of its events that count and haven't been removed.
-- Grain: (org_id, user_id, session_id).
CREATE OR REPLACE VIEW session_facts AS
SELECT
  session.org_id AS org_id,
  session.user_id AS user_id,
  session.session_id AS session_id,
  session.start_day AS start_day,
  session.started_at AS started_at,  -- time of its first event that counts
  session.last_at AS last_at,        -- time of its newest event that counts
  session.user_turns AS user_turns,
  session.tool_calls AS tool_calls,
  session.failed_tool_calls AS failed_tool_calls,
  session.file_changes AS file_changes,
  session.git_commits AS git_commits,      -- git_commit events
  session.pull_requests AS pull_requests,  -- pull_request events
  CASE
    WHEN cost.session_id IS NULL THEN CAST(0 AS DECIMAL(38, 12))
    WHEN cost.unpriced_tokens = 0 OR cost.unpriced_tokens < cost.tokens THEN cost.cost_usd
  END AS cost_usd,  -- cost of the tokens whose price is known, 0 for a session without any tokens; null if there is no price for any of them
  CAST(coalesce(cost.unpriced_tokens, 0) AS BIGINT) AS unpriced_tokens
FROM (
  SELECT
    org_id,
    user_id,
    session_id,
    min(day) AS start_day,
    min(occurred_at) AS started_at,
    max(occurred_at) AS last_at,
    count(*) FILTER (WHERE type = 'user_message') AS user_turns,
    count(*) FILTER (WHERE type = 'tool_call' AND is_tool_name(tool_name)) AS tool_calls,
    count(*) FILTER (WHERE type = 'tool_call' AND is_tool_name(tool_name) AND NOT success) AS failed_tool_calls,
    count(*) FILTER (WHERE type = 'file_change') AS file_changes,
    count(*) FILTER (WHERE type = 'git_commit') AS git_commits,
    count(*) FILTER (WHERE type = 'pull_request') AS pull_requests
  FROM counted_events
  WHERE session_id <> ''
  GROUP BY
    org_id,
    user_id,
    session_id
) AS session
LEFT JOIN (
  SELECT
    org_id,
    user_id,
    session_id,
    sum(cost_usd) AS cost_usd,
    sum(unpriced_tokens) AS unpriced_tokens,
    sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) AS tokens
  FROM call_costs
  GROUP BY
    org_id,
    user_id,
    session_id
) AS cost
  ON cost.org_id = session.org_id
  AND cost.user_id = session.user_id
  AND cost.session_id = session.session_id
