-- One row is one built day with a checksum of its tables' digests, which changes if any row changes.
-- Grain: (day).
SELECT
  CAST(days.day AS DATE) AS day,
  max(days.built_at) AS built_at,
  CAST(checksum(concat(digests.table_name, ' ', digests.digest)) AS VARCHAR) AS checksum,
  -- Each is one row of an answer: how much there is to read.
  CAST(coalesce(sum(CASE WHEN digests.table_name = 'user_models' THEN digests.row_count END), 0) AS BIGINT) AS model_rows
FROM days
LEFT JOIN digests
  ON digests.org_id = days.org_id
  AND digests.day = days.day
WHERE days.org_id = $org_id
  AND days.day BETWEEN $from AND $to
GROUP BY days.day
ORDER BY day
