-- How long do agents work without a person?
--
-- One row is one of the ten longest runs: the events of a session from one user turn to the next, with the tool calls in between.
-- A run ends with its newest event, so it doesn't include waiting for the next turn. It does include waiting for a permission.
-- Grain: (user_id, session_id, turn).
WITH
numbered AS (
  SELECT
    user_id,
    session_id,
    type,
    occurred_at,
    is_tool_name(tool_name) AS is_tool,
    sum(CASE WHEN type = 'user_message' THEN 1 ELSE 0 END) OVER (
      PARTITION BY user_id, session_id
      ORDER BY occurred_at, CASE WHEN type = 'user_message' THEN 0 ELSE 1 END, event_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS turn
  FROM counted_events
  WHERE day BETWEEN $from AND $to
),
run AS (
  SELECT
    user_id,
    session_id,
    turn,
    min(occurred_at) AS started_at,
    max(occurred_at) AS last_at,
    count(*) FILTER (WHERE type = 'tool_call' AND is_tool) AS tool_calls,
    count(*) FILTER (WHERE type = 'file_change') AS file_changes
  FROM numbered
  WHERE turn > 0
  GROUP BY
    user_id,
    session_id,
    turn
)
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(session_id AS VARCHAR) AS session_id,
  CAST(turn AS BIGINT) AS turn,
  CAST(started_at AS TIMESTAMP(3)) AS started_at,
  CAST(round(date_diff('millisecond', started_at, last_at) / 60000.0, 1) AS DOUBLE) AS minutes,
  CAST(tool_calls AS BIGINT) AS tool_calls,
  CAST(file_changes AS BIGINT) AS file_changes
FROM run
ORDER BY
  date_diff('millisecond', started_at, last_at) DESC,
  user_id,
  session_id,
  turn
LIMIT 10
