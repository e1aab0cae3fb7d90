-- One row is what the range cost, what the days before cost, or a step from these to that.
-- Grain: (step).
-- Shown first: step, usd, previous_value, value, unpriced_tokens.
SELECT
  CAST(step AS VARCHAR) AS step,  -- in this order, without new_teams if there are none; only now if the two can't be compared: before | new_teams | people | tokens | models | prices | now
  CAST(usd AS DOUBLE) AS usd,  -- list price of the days before or of the range; what a step adds, negative if it saves, e.g. 12.75
  CAST(previous_value AS DOUBLE) AS previous_value,  -- the same as value for the days before or null, e.g. 118000
  CAST(value AS DOUBLE) AS value,  -- of new_teams how many; of people those with tokens; of tokens those of a person; of models and prices USD per million tokens or null, e.g. 131000
  CAST(unpriced_tokens AS BIGINT) AS unpriced_tokens,  -- of before and now: tokens without a known price, which usd leaves out or null, e.g. 0
  CAST(data_begins AS DATE) AS data_begins  -- the first day with data, if the days before begin sooner or null, e.g. 2026-05-19
FROM report_changes
ORDER BY place
