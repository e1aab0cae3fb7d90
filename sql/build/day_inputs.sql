-- One row is one due day and what it is built from: the newest batch when the days were chosen, built_at in Unix
-- milliseconds, the current rate card, language table and people, and the definitions of the version that builds.
-- Reads day_inputs as the last build left it. Grain: (org_id, day).
WITH
present AS (
  SELECT
    max(CASE WHEN name = 'rate_card' THEN value END) AS rate_card,
    max(CASE WHEN name = 'language_table' THEN value END) AS language_table
  FROM facts
),
present_people AS (
  SELECT
    org_id,
    max(revision) AS revision
  FROM people_revisions
  WHERE org_id IN (SELECT org_id FROM due)
  GROUP BY org_id
)
SELECT
  CAST(due.org_id AS VARCHAR) AS org_id,
  CAST(due.day AS DATE) AS day,
  CAST($batch AS BIGINT) AS batch,
  CAST(present.rate_card AS VARCHAR) AS rate_card,
  CAST(present.language_table AS VARCHAR) AS language_table,
  CAST($definitions AS VARCHAR) AS definitions,
  CAST(present_people.revision AS BIGINT) AS people_revision,
  instant($built_at) AS built_at,
  coalesce(day_inputs.first_built_at, instant($built_at)) AS first_built_at
FROM due
CROSS JOIN present
LEFT JOIN present_people
  ON present_people.org_id = due.org_id
LEFT JOIN day_inputs
  ON day_inputs.org_id = due.org_id
  AND day_inputs.day = due.day
