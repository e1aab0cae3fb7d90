-- The shares of the autonomy levels sum to 1 if the level of any tool call is known, and are all 0 otherwise.
WITH
known AS (
  SELECT
    org_id,
    day,
    sum(tool_calls) AS tool_calls
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND autonomy_level <> 'unknown'
  GROUP BY
    org_id,
    day
)
SELECT
  tools.org_id AS org_id,
  tools.day AS day,
  'shares '
    || CAST(tools.auto_high_ratio AS VARCHAR)
    || ', ' || CAST(tools.auto_medium_ratio AS VARCHAR)
    || ', ' || CAST(tools.auto_low_ratio AS VARCHAR)
    || ', ' || CAST(tools.manual_ratio AS VARCHAR)
    || ' of ' || CAST(coalesce(known.tool_calls, 0) AS VARCHAR) || ' tool calls of a known level' AS difference
FROM tools
LEFT JOIN known
  ON known.org_id = tools.org_id
  AND known.day = tools.day
WHERE (tools.org_id, tools.day) IN (SELECT org_id, day FROM due)
  AND (
    -- A sum of doubles can differ in the last digits.
    NOT (
      tools.auto_high_ratio + tools.auto_medium_ratio + tools.auto_low_ratio + tools.manual_ratio
      BETWEEN (CASE WHEN coalesce(known.tool_calls, 0) > 0 THEN 0.999999999 ELSE 0 END)
      AND (CASE WHEN coalesce(known.tool_calls, 0) > 0 THEN 1.000000001 ELSE 0 END)
    )
    OR least(tools.auto_high_ratio, tools.auto_medium_ratio, tools.auto_low_ratio, tools.manual_ratio) < 0
  )
