-- One row is one number of an organization, as it is compared: what it is, and its value as text.
-- Grain: (org_id, what).
WITH
event AS MATERIALIZED (
  SELECT *
  FROM counted_events
)
SELECT
  org_id,
  'sessions' AS what,
  CAST(count(DISTINCT session_id) AS VARCHAR) AS value
FROM event
GROUP BY org_id
UNION ALL
SELECT
  org_id,
  'users' AS what,
  string_agg(DISTINCT user_id, ', ' ORDER BY user_id) AS value
FROM event
GROUP BY org_id
UNION ALL
SELECT
  org_id,
  'turns' AS what,
  CAST(count(*) AS VARCHAR) AS value
FROM event
WHERE type = 'user_message'
GROUP BY org_id
UNION ALL
SELECT
  org_id,
  what,
  CAST(sum(tokens) AS VARCHAR) AS value
FROM (
  SELECT
    org_id,
    unnest(['model calls', 'input tokens', 'cache reads', 'cache writes', 'output tokens']) AS what,
    unnest([1, input_tokens, coalesce(cache_read_tokens, 0), coalesce(cache_write_tokens, 0), output_tokens]) AS tokens
  FROM event
  WHERE type = 'model_usage'
)
GROUP BY ALL
UNION ALL
SELECT
  org_id,
  tool_name || CASE success WHEN true THEN ' succeeded' WHEN false THEN ' failed' ELSE ' has no outcome' END AS what,
  CAST(count(*) AS VARCHAR) AS value
FROM event
WHERE type = 'tool_call'
GROUP BY ALL
UNION ALL
SELECT
  org_id,
  CASE operation WHEN 'create' THEN 'files created' ELSE 'files edited' END AS what,
  string_agg(path, ', ' ORDER BY path) AS value
FROM event
WHERE type = 'file_change'
GROUP BY ALL
UNION ALL
SELECT
  org_id,
  'commits' AS what,
  string_agg(coalesce(commit_sha[:7], 'unknown'), ', ' ORDER BY event_id) AS value
FROM event
WHERE type = 'git_commit'
GROUP BY org_id
