-- One row is one number of lines that vendors report of one agent of one user on one day. It is theirs: no better channel displaces it.
-- Grain: (org_id, day, user_id, agent, kind).
-- Looks back: 0 days.
WITH
reported AS MATERIALIZED (
  SELECT
    org_id,
    day,
    user_id,
    coalesce(agent, '') AS agent,
    lines_suggested,
    lines_added,
    lines_removed
  FROM decided_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND type = 'vendor_lines'
),
counted AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    'suggested' AS kind,
    lines_suggested AS lines
  FROM reported
  UNION ALL
  SELECT
    org_id,
    day,
    user_id,
    agent,
    'accepted' AS kind,
    lines_added AS lines
  FROM reported
  UNION ALL
  SELECT
    org_id,
    day,
    user_id,
    agent,
    'deleted' AS kind,
    lines_removed AS lines
  FROM reported
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(kind AS VARCHAR) AS kind,
  CAST(sum(lines) AS BIGINT) AS lines
FROM counted
WHERE lines IS NOT NULL
GROUP BY
  org_id,
  day,
  user_id,
  agent,
  kind
