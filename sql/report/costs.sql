-- One row is one model without a known price in one group on one built day, with what the group's tokens cost on that day; or the group
-- alone if all of its tokens have a price.
--
-- Filters and groups are those of the summary: every event has a user, an agent, a client and a repository, so these choose events. A model
-- chooses its own tokens; a tool and an MCP server choose the sessions in which they are called on that day.
--
-- $detail says which tables are read. They give the same numbers, and the less detailed ones have fewer rows.
-- Grain: (day, group_key, unpriced_model). It returns the page behind the cursor ($after_...).
WITH
calling_session AS MATERIALIZED (
  SELECT DISTINCT
    day,
    user_id,
    session_id,
    CASE $group_by WHEN 'tool' THEN tool_key WHEN 'mcp_server' THEN server_key ELSE '' END AS found_by
  FROM session_tools
  WHERE $has_call = 1
    AND org_id = $org_id
    AND day BETWEEN $from AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($tool IS NULL OR tool_key = $tool)
    AND ($mcp_server IS NULL OR server_key = $mcp_server)
    AND ($group_by <> 'mcp_server' OR server_key <> '')
),
usage AS (
  SELECT
    day,
    CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'model' THEN model_id ELSE '' END AS group_key,
    model_id,
    calls,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    billable_tokens
  FROM user_models
  WHERE $detail <> 'sessions'
    AND org_id = $org_id
    AND day BETWEEN $from AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($agent IS NULL OR agent = $agent)
    AND ($model IS NULL OR model_id = $model)
  UNION ALL
  SELECT
    day,
    CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'client' THEN client WHEN 'repo' THEN repo ELSE CASE $group_by WHEN 'model' THEN model_id ELSE '' END END AS group_key,
    model_id,
    calls,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    billable_tokens
  FROM session_models
  WHERE $detail = 'sessions'
    AND $has_call = 0
    AND org_id = $org_id
    AND day BETWEEN $from AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($agent IS NULL OR agent = $agent)
    AND ($client IS NULL OR client = $client)
    AND ($repo IS NULL OR repo = $repo)
    AND ($model IS NULL OR model_id = $model)
  UNION ALL
  SELECT
    session_models.day AS day,
    CASE $group_by WHEN 'user' THEN session_models.user_id WHEN 'agent' THEN session_models.agent WHEN 'client' THEN session_models.client WHEN 'repo' THEN session_models.repo ELSE CASE $group_by WHEN 'model' THEN session_models.model_id ELSE calling_session.found_by END END AS group_key,
    session_models.model_id AS model_id,
    session_models.calls AS calls,
    session_models.input_tokens AS input_tokens,
    session_models.output_tokens AS output_tokens,
    session_models.cache_read_tokens AS cache_read_tokens,
    session_models.cache_write_tokens AS cache_write_tokens,
    session_models.cache_write_1h_tokens AS cache_write_1h_tokens,
    session_models.billable_tokens AS billable_tokens
  FROM session_models
  JOIN calling_session
    ON calling_session.day = session_models.day
    AND calling_session.user_id = session_models.user_id
    AND calling_session.session_id = session_models.session_id
  WHERE $detail = 'sessions'
    AND $has_call = 1
    AND session_models.org_id = $org_id
    AND session_models.day BETWEEN $from AND $to
    AND ($user_id IS NULL OR session_models.user_id = $user_id)
    AND ($agent IS NULL OR session_models.agent = $agent)
    AND ($client IS NULL OR session_models.client = $client)
    AND ($repo IS NULL OR session_models.repo = $repo)
    AND ($model IS NULL OR session_models.model_id = $model)
),
model_day AS MATERIALIZED (
  SELECT
    day,
    group_key,
    model_id,
    sum(calls) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(billable_tokens) AS billable_tokens
  FROM usage
  GROUP BY
    day,
    group_key,
    model_id
),
listed_model AS (
  SELECT
    model_id,
    CASE WHEN model_id IN (SELECT model_id FROM prices) THEN model_id ELSE undated(model_id) END AS listed_id
  FROM (
    SELECT DISTINCT model_id
    FROM model_day
  ) AS model
),
priced AS MATERIALIZED (
  SELECT
    model_day.day AS day,
    model_day.group_key AS group_key,
    model_day.model_id AS model_id,
    model_day.calls AS calls,
    model_day.input_tokens AS input_tokens,
    model_day.output_tokens AS output_tokens,
    model_day.cache_read_tokens AS cache_read_tokens,
    model_day.cache_write_tokens AS cache_write_tokens,
    model_day.cache_write_1h_tokens AS cache_write_1h_tokens,
    model_day.billable_tokens AS billable_tokens,
    known_usd(price_periods.input_price, model_day.input_tokens) AS input_usd,
    known_usd(price_periods.output_price, model_day.output_tokens) AS output_usd,
    known_usd(price_periods.cache_read_price, model_day.cache_read_tokens) AS cache_read_usd,
    known_usd(price_periods.cache_write_price, model_day.cache_write_tokens - model_day.cache_write_1h_tokens) AS cache_write_usd,
    known_usd(price_periods.cache_write_1h_price, model_day.cache_write_1h_tokens) AS cache_write_1h_usd,
    CASE WHEN price_periods.input_price IS NULL THEN model_day.input_tokens ELSE 0 END
      + CASE WHEN price_periods.output_price IS NULL THEN model_day.output_tokens ELSE 0 END
      + CASE WHEN price_periods.cache_read_price IS NULL THEN model_day.cache_read_tokens ELSE 0 END
      + CASE WHEN price_periods.cache_write_price IS NULL THEN model_day.cache_write_tokens - model_day.cache_write_1h_tokens ELSE 0 END
      + CASE WHEN price_periods.cache_write_1h_price IS NULL THEN model_day.cache_write_1h_tokens ELSE 0 END AS unpriced_tokens
  FROM model_day
  JOIN listed_model
    ON listed_model.model_id = model_day.model_id
  LEFT JOIN price_periods
    ON price_periods.model_id = listed_model.listed_id
    AND price_periods.valid_from <= model_day.day
    AND price_periods.valid_until > model_day.day
),
total AS (
  SELECT
    day,
    group_key,
    sum(calls) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(billable_tokens) AS billable_tokens,
    sum(input_usd) AS input_usd,
    sum(output_usd) AS output_usd,
    sum(cache_read_usd) AS cache_read_usd,
    sum(cache_write_usd) AS cache_write_usd,
    sum(cache_write_1h_usd) AS cache_write_1h_usd,
    sum(unpriced_tokens) AS unpriced_tokens
  FROM (
    SELECT
      day,
      group_key,
      calls,
      input_tokens,
      output_tokens,
      cache_read_tokens,
      cache_write_tokens,
      cache_write_1h_tokens,
      billable_tokens,
      input_usd,
      output_usd,
      cache_read_usd,
      cache_write_usd,
      cache_write_1h_usd,
      unpriced_tokens
    FROM priced
    UNION ALL
    -- Without groups each built day is there, also without usage.
    SELECT
      day,
      '' AS group_key,
      CAST(0 AS BIGINT) AS calls,
      CAST(0 AS BIGINT) AS input_tokens,
      CAST(0 AS BIGINT) AS output_tokens,
      CAST(0 AS BIGINT) AS cache_read_tokens,
      CAST(0 AS BIGINT) AS cache_write_tokens,
      CAST(0 AS BIGINT) AS cache_write_1h_tokens,
      CAST(0 AS BIGINT) AS billable_tokens,
      CAST(0 AS DECIMAL(38, 12)) AS input_usd,
      CAST(0 AS DECIMAL(38, 12)) AS output_usd,
      CAST(0 AS DECIMAL(38, 12)) AS cache_read_usd,
      CAST(0 AS DECIMAL(38, 12)) AS cache_write_usd,
      CAST(0 AS DECIMAL(38, 12)) AS cache_write_1h_usd,
      CAST(0 AS BIGINT) AS unpriced_tokens
    FROM activity
    WHERE $group_by = 'none'
      AND org_id = $org_id
      AND day BETWEEN $from AND $to
  ) AS part
  GROUP BY
    day,
    group_key
),
sorted AS (
  SELECT
    *,
    input_tokens + output_tokens + cache_read_tokens + cache_write_tokens AS tokens,
    -(input_usd + output_usd + cache_read_usd + cache_write_usd + cache_write_1h_usd) AS sorted_by
  FROM total
),
-- Rows come by day, then by cost, then by group.
page AS (
  SELECT *
  FROM sorted
  WHERE $after_day IS NULL
    OR day > $after_day
    OR day = $after_day
    AND (
      sorted_by > CAST($after_value AS DECIMAL(38, 12))
      OR sorted_by = CAST($after_value AS DECIMAL(38, 12)) AND group_key > $after_key
    )
  ORDER BY
    day,
    sorted_by,
    group_key
  LIMIT $limit + 1
),
placed AS (
  SELECT
    *,
    row_number() OVER (ORDER BY day, sorted_by, group_key) AS place,
    count(*) OVER () AS page_rows
  FROM page
)
SELECT
  CAST(placed.place AS BIGINT) AS place,
  CAST(placed.day AS DATE) AS day,
  CAST(CASE WHEN $group_by <> 'none' THEN placed.group_key END AS VARCHAR) AS group_key,
  CAST(CASE WHEN placed.unpriced_tokens = 0 OR placed.unpriced_tokens < placed.tokens THEN -placed.sorted_by END AS DECIMAL(38, 12)) AS cost_usd,
  CAST(placed.input_usd AS DECIMAL(38, 12)) AS input_usd,
  CAST(placed.output_usd AS DECIMAL(38, 12)) AS output_usd,
  CAST(placed.cache_read_usd AS DECIMAL(38, 12)) AS cache_read_usd,
  CAST(placed.cache_write_usd AS DECIMAL(38, 12)) AS cache_write_usd,
  CAST(placed.cache_write_1h_usd AS DECIMAL(38, 12)) AS cache_write_1h_usd,
  CAST(placed.calls AS BIGINT) AS calls,
  CAST(placed.input_tokens AS BIGINT) AS input_tokens,
  CAST(placed.output_tokens AS BIGINT) AS output_tokens,
  CAST(placed.cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(placed.cache_write_tokens AS BIGINT) AS cache_write_tokens,
  CAST(placed.cache_write_1h_tokens AS BIGINT) AS cache_write_1h_tokens,
  CAST(placed.billable_tokens AS BIGINT) AS billable_tokens,
  CAST(placed.unpriced_tokens AS BIGINT) AS unpriced_tokens,
  CAST(ratio(placed.unpriced_tokens, placed.tokens) AS DOUBLE) AS unpriced_ratio,
  CAST(unpriced.model_id AS VARCHAR) AS unpriced_model,
  CAST(unpriced.unpriced_tokens AS BIGINT) AS unpriced_model_tokens,
  CAST(ratio(unpriced.unpriced_tokens, placed.tokens) AS DOUBLE) AS unpriced_model_ratio,
  -- What the next page begins behind; null on the last one.
  CAST(
    CASE
      WHEN placed.page_rows > $limit
        THEN concat(
          CAST(placed.day AS VARCHAR), ' ', CAST(placed.sorted_by AS VARCHAR), ' ', CAST(placed.day AS VARCHAR), ' ', placed.group_key
        )
    END AS VARCHAR
  ) AS next_cursor
FROM placed
LEFT JOIN (
  SELECT
    day,
    group_key,
    model_id,
    unpriced_tokens
  FROM priced
  WHERE unpriced_tokens > 0
) AS unpriced
  ON unpriced.day = placed.day
  AND unpriced.group_key = placed.group_key
WHERE placed.place <= $limit
