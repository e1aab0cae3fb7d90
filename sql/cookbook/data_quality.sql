-- How far can each day be trusted?
--
-- One row is one built day with events: the share of its events without a client or autonomy mode, impossible tool names, and the share of its tokens without a price.
-- A high share doesn't make other numbers wrong: it shows which ones rest on few events. Days without events are left out. For rejected lines, which never became events, see `daybook report quality`.
-- Grain: (day).
WITH
day_cost AS (
  SELECT
    day,
    sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) AS tokens,
    sum(unpriced_tokens) AS unpriced_tokens
  FROM user_costs
  WHERE day BETWEEN $from AND $to
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS day,
  CAST(quality.events AS BIGINT) AS events,
  CAST(round(ratio(quality.events_without_client, quality.events), 3) AS DOUBLE) AS without_client_ratio,
  CAST(round(ratio(quality.events_without_autonomy_mode, quality.events), 3) AS DOUBLE) AS without_autonomy_mode_ratio,
  CAST(quality.parse_artifacts AS BIGINT) AS parse_artifacts,
  CAST(quality.models_not_on_rate_card AS BIGINT) AS models_not_on_rate_card,
  CAST(round(ratio(coalesce(day_cost.unpriced_tokens, 0), coalesce(day_cost.tokens, 0)), 3) AS DOUBLE) AS unpriced_ratio
FROM quality
LEFT JOIN day_cost USING (day)
WHERE day BETWEEN $from AND $to
  AND quality.events > 0
ORDER BY day
