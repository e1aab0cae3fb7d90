-- One row is one day whose auxiliary usage is another than before, because the events of another day have changed. Due days are included:
-- they are built anyway, and this is the reason why their rows change.
-- Reads fresh_auxiliary, and auxiliary_usage as the last builds left it. Grain: (org_id, day).
SELECT DISTINCT
  org_id,
  day
FROM (
  SELECT
    org_id,
    day
  FROM (
    SELECT * FROM fresh_auxiliary
    UNION ALL
    SELECT
      org_id,
      day,
      event_id,
      first_day,
      input_tokens,
      output_tokens,
      cache_read_tokens,
      cache_write_tokens,
      cache_write_1h_tokens,
      web_searches
    FROM auxiliary_usage
    WHERE (org_id, day) IN (SELECT org_id, day FROM due UNION ALL SELECT org_id, day FROM fresh_auxiliary)
  ) AS auxiliary
  GROUP BY
    org_id,
    day,
    event_id,
    first_day,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    web_searches
  HAVING count(*) = 1
) AS moved
