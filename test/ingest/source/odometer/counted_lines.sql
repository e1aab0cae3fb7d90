-- One row is one line, with the model in force and with what the total has grown by. Both depend on the lines before it.
SELECT
  *,
  last_value(CASE WHEN kind = 'model' THEN name END IGNORE NULLS) OVER file AS model,
  total - coalesce(max(total) OVER (file ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS tokens
FROM lines
WINDOW file AS (
  PARTITION BY source
  ORDER BY line_no
)
