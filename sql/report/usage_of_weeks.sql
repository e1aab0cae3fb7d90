-- One row is one model that one user used in one of the weeks that are read as such (whole_weeks), or on one day outside of them. It has
-- groups by user.
-- Grain: (day, user_id, model_id), and of days also the agent.
WITH
-- Weeks within which a price changes are read by day, since their tokens don't cost the same on all days.
repriced_week AS (
  SELECT DISTINCT last_of_week(valid_from) AS day
  FROM token_price
  WHERE valid_from > last_of_week(valid_from) - 6
),
repriced_day AS (
  SELECT day
  FROM activity
  WHERE org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND last_of_week(day) IN (SELECT day FROM repriced_week)
)
SELECT
  day,
  user_id AS group_key,
  model_id,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  billable_tokens
FROM user_models
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND (day < $weeks_from OR day > $weeks_to)
  AND (day < $previous_weeks_from OR day > $previous_weeks_to)
UNION ALL
SELECT
  day,
  user_id AS group_key,
  model_id,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  billable_tokens
FROM user_models
WHERE org_id = $org_id
  AND (day BETWEEN $weeks_from AND $weeks_to OR day BETWEEN $previous_weeks_from AND $previous_weeks_to)
  AND day IN (SELECT day FROM repriced_day)
UNION ALL
SELECT
  day,
  user_id AS group_key,
  model_id,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  billable_tokens
FROM user_model_weeks
WHERE org_id = $org_id
  AND (day BETWEEN $weeks_from AND $weeks_to OR day BETWEEN $previous_weeks_from AND $previous_weeks_to)
  AND day NOT IN (SELECT day FROM repriced_week)
