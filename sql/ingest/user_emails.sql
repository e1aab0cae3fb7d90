-- One row is one user whose e-mail this batch may have changed, with the present e-mail: the one with the latest timestamp of all
-- stored events, then the greater text; null if none is left.
-- Reads losers. Variables: batch.
-- Grain: (org_id, user_id).
WITH
-- If a replaced event had an e-mail, all events of its user are read again.
replaced AS (
  SELECT DISTINCT
    org_id,
    user_id
  FROM losers
  WHERE user_email IS NOT NULL
    AND batch < getvariable('batch')
),
candidate AS (
  SELECT
    org_id,
    user_id,
    user_email,
    max(occurred_at) AS seen_at
  FROM events
  WHERE batch = getvariable('batch')
    AND user_email IS NOT NULL
  GROUP BY
    org_id,
    user_id,
    user_email
  UNION ALL
  SELECT
    org_id,
    user_id,
    user_email,
    seen_at
  FROM user_emails
  WHERE (org_id, user_id) IN (SELECT org_id, user_id FROM events WHERE batch = getvariable('batch') AND user_email IS NOT NULL)
    AND (org_id, user_id) NOT IN (SELECT org_id, user_id FROM replaced)
  UNION ALL
  SELECT
    org_id,
    user_id,
    user_email,
    occurred_at AS seen_at
  FROM events
  WHERE user_email IS NOT NULL
    AND (org_id, user_id) IN (SELECT org_id, user_id FROM replaced)
  UNION ALL
  SELECT
    org_id,
    user_id,
    CAST(NULL AS VARCHAR) AS user_email,
    CAST(NULL AS TIMESTAMP_MS) AS seen_at
  FROM replaced
)
SELECT
  org_id,
  user_id,
  user_email,
  seen_at
FROM candidate
QUALIFY row_number() OVER (
  PARTITION BY org_id, user_id
  ORDER BY
    seen_at DESC NULLS LAST,
    user_email DESC NULLS LAST
) = 1
