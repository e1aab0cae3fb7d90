-- One row is one model of a session on one day with usage that its transcript states beyond its answers: the part of it that no other
-- event that counts has told.
-- Grain: (org_id, day, event_id).
-- Looks back: 7 days (fresh_auxiliary).
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(event_id AS VARCHAR) AS event_id,
  CAST(first_day AS DATE) AS first_day,
  CAST(input_tokens AS BIGINT) AS input_tokens,
  CAST(output_tokens AS BIGINT) AS output_tokens,
  CAST(cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(cache_write_tokens AS BIGINT) AS cache_write_tokens,
  CAST(cache_write_1h_tokens AS BIGINT) AS cache_write_1h_tokens,
  CAST(web_searches AS BIGINT) AS web_searches
FROM fresh_auxiliary
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
