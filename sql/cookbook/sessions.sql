-- What happened in each session?
--
-- One row is one session: what happened in it on the days of the range. The newest is first.
-- A session of several agents or repositories has the last of them by name. Its cost is that of the tokens with a known price: 0 without any tokens, and null if none of them has a price.
-- Grain: (user_id, session_id).
WITH
session AS (
  SELECT
    user_id,
    session_id,
    min(occurred_at) AS started_at,
    max(occurred_at) AS last_at,
    max(agent) AS agent,
    max(repo_key(repo)) AS repo,
    count(*) FILTER (WHERE type = 'user_message') AS user_turns,
    count(*) FILTER (WHERE type = 'tool_call' AND is_tool_name(tool_name)) AS tool_calls,
    count(*) FILTER (WHERE type = 'git_commit') AS commits,
    count(*) FILTER (WHERE type = 'pull_request') AS pull_requests
  FROM counted_events
  WHERE day BETWEEN $from AND $to
  GROUP BY
    user_id,
    session_id
),
cost AS (
  SELECT
    user_id,
    session_id,
    CASE
      WHEN sum(unpriced_tokens) = 0 THEN sum(cost_usd)
      WHEN sum(unpriced_tokens) < sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) THEN sum(cost_usd)
    END AS cost_usd
  FROM call_costs
  WHERE day BETWEEN $from AND $to
  GROUP BY
    user_id,
    session_id
)
SELECT
  CAST(session.user_id AS VARCHAR) AS user_id,
  CAST(session.session_id AS VARCHAR) AS session_id,
  CAST(session.started_at AS TIMESTAMP(3)) AS started_at,
  CAST(round(date_diff('millisecond', session.started_at, session.last_at) / 60000.0, 1) AS DOUBLE) AS minutes,
  CAST(session.agent AS VARCHAR) AS agent,
  CAST(session.repo AS VARCHAR) AS repo,
  CAST(session.user_turns AS BIGINT) AS user_turns,
  CAST(session.tool_calls AS BIGINT) AS tool_calls,
  CAST(session.commits AS BIGINT) AS commits,
  CAST(session.pull_requests AS BIGINT) AS pull_requests,
  CAST(CASE WHEN cost.session_id IS NULL THEN 0 ELSE round(CAST(cost.cost_usd AS DOUBLE), 2) END AS DOUBLE) AS cost_usd
FROM session
LEFT JOIN cost
  ON cost.user_id = session.user_id
  AND cost.session_id = session.session_id
ORDER BY
  session.started_at DESC,
  session.user_id,
  session.session_id
