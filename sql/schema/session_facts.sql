-- One row is one session, computed from those of its events that count and haven't been removed.
-- Grain: (org_id, user_id, session_id).
CREATE OR REPLACE VIEW session_facts AS
SELECT
  session.org_id AS org_id,
  session.user_id AS user_id,
  session.session_id AS session_id,
  session.agent AS agent,  -- the last by name of several; null if its events name none, likewise the next
  session.repo AS repo,  -- its key, as in session_parts
  session.start_day AS start_day,
  session.started_at AS started_at,  -- time of its first event that counts
  session.last_at AS last_at,        -- time of its newest event that counts
  session.user_turns AS user_turns,
  session.tool_calls AS tool_calls,
  session.failed_tool_calls AS failed_tool_calls,  -- those that were refused are among them
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
    event.org_id AS org_id,
    event.user_id AS user_id,
    event.session_id AS session_id,
    max(event.agent) AS agent,
    max(keyed_repo.repo_key) AS repo,
    min(event.day) AS start_day,
    min(event.occurred_at) AS started_at,
    max(event.occurred_at) AS last_at,
    count(*) FILTER (WHERE event.type = 'user_message') AS user_turns,
    count(*) FILTER (WHERE event.type = 'tool_call' AND is_tool_name(event.tool_name)) AS tool_calls,
    count(*) FILTER (
      WHERE event.type = 'tool_call'
        AND is_tool_name(event.tool_name)
        AND (NOT event.success OR refused_calls.event_id IS NOT NULL)
    ) AS failed_tool_calls,
    count(*) FILTER (WHERE event.type = 'file_change') AS file_changes,
    count(*) FILTER (WHERE event.type = 'git_commit') AS git_commits,
    count(*) FILTER (WHERE event.type = 'pull_request') AS pull_requests
  FROM counted_events AS event
  -- Keys are computed once per spelling of a name, not once per event.
  LEFT JOIN (
    SELECT
      repo,
      repo_key(repo) AS repo_key
    FROM (SELECT DISTINCT repo FROM events) AS name
  ) AS keyed_repo
    ON keyed_repo.repo = event.repo
  LEFT JOIN refused_calls
    ON refused_calls.org_id = event.org_id
    AND refused_calls.day = event.day
    AND refused_calls.event_id = event.event_id
  WHERE event.session_id <> ''
  GROUP BY
    event.org_id,
    event.user_id,
    event.session_id
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
