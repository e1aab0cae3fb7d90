-- One row is one model without a known price in one group on one built day, with what the group's tokens cost on that day; or the group
-- alone if all of its tokens have a price.
--
-- Filters and groups are those of the summary: users, agents, clients, repositories, teams and cost centres choose events. A model
-- chooses its own tokens; a tool and an MCP server choose the sessions in which they are called on that day.
--
-- priced_usage is priced_usage.sql. Its usage is usage_of_sessions.sql if a tool or MCP server chooses sessions, otherwise usage_of_parts.sql.
-- cost_terms has what a dollar of the list price costs the organization on some days, in its currency.
-- For a request that may tell no few people apart, usage is shown_usage.sql and shown_person is shown_person.sql: as in the summary by day.
-- Grain: (day, group_key, unpriced_model). It returns the page behind the cursor ($after_...).
WITH
priced AS MATERIALIZED (
  SELECT
    coalesce(quiet_day.counted_on, priced_usage.day) AS day,
    group_key,
    model_id,
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
    web_search_usd,
    CASE WHEN is_by_report = 1 THEN CAST(reported_cost_usd AS DECIMAL(38, 12)) ELSE CAST(0 AS DECIMAL(38, 12)) END AS reported_usd,
    CASE WHEN is_by_report = 1 THEN 0 ELSE unpriced_tokens END AS unpriced_tokens,
    CASE WHEN is_reported = 1 AND unpriced_tokens = 0 THEN CAST(reported_cost_usd AS DECIMAL(38, 12)) ELSE CAST(0 AS DECIMAL(38, 12)) END AS compared_reported_usd,
    CASE
      WHEN is_reported = 1 AND unpriced_tokens = 0
        THEN input_usd + output_usd + cache_read_usd + cache_write_usd + cache_write_1h_usd + web_search_usd
      ELSE CAST(0 AS DECIMAL(38, 12))
    END AS compared_usd
  FROM priced_usage
  LEFT JOIN quiet_day
    ON quiet_day.day = priced_usage.day
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
    sum(web_search_usd) AS web_search_usd,
    sum(reported_usd) AS reported_usd,
    sum(compared_reported_usd) AS compared_reported_usd,
    sum(compared_usd) AS compared_usd,
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
      web_search_usd,
      reported_usd,
      compared_reported_usd,
      compared_usd,
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
      CAST(0 AS DECIMAL(38, 12)) AS web_search_usd,
      CAST(0 AS DECIMAL(38, 12)) AS reported_usd,
      CAST(0 AS DECIMAL(38, 12)) AS compared_reported_usd,
      CAST(0 AS DECIMAL(38, 12)) AS compared_usd,
      CAST(0 AS BIGINT) AS unpriced_tokens
    FROM activity
    WHERE $group_by = 'none'
      AND org_id = $org_id
      AND day BETWEEN $from AND $to
      AND day NOT IN (SELECT day FROM quiet_day)
  ) AS part
  GROUP BY
    day,
    group_key
),
hidden_row AS (
  SELECT
    day,
    group_key
  FROM (
    SELECT
      *,
      row_number() OVER (PARTITION BY group_key, is_thin ORDER BY people, day) AS place,
      max(is_thin) OVER (PARTITION BY group_key) AS has_thin
    FROM (
      SELECT
        coalesce(quiet_day.counted_on, shown_person.day) AS day,
        shown_person.group_key AS group_key,
        count(DISTINCT shown_person.user_id) AS people,
        CASE
          WHEN count(DISTINCT shown_person.user_id) < $floor OR $group_by = 'none' AND min(shown_person.is_told) = 0 THEN 1
          ELSE 0
        END AS is_thin
      FROM shown_person
      LEFT JOIN quiet_day
        ON quiet_day.day = shown_person.day
      GROUP BY
        coalesce(quiet_day.counted_on, shown_person.day),
        shown_person.group_key
    ) AS counted
  ) AS ordered
  WHERE is_thin = 1
    OR has_thin = 1
    AND place = 1
),
sorted AS (
  SELECT
    total.*,
    cost_terms.contract_factor AS contract_factor,
    input_tokens + output_tokens + cache_read_tokens + cache_write_tokens AS tokens,
    -(input_usd + output_usd + cache_read_usd + cache_write_usd + cache_write_1h_usd + web_search_usd + reported_usd) AS sorted_by
  FROM total
  CROSS JOIN cost_terms
  WHERE cost_terms.valid_from <= total.day
    AND cost_terms.valid_until > total.day
    AND total.day BETWEEN $from AND $to
    AND (total.day, total.group_key) NOT IN (SELECT day, group_key FROM hidden_row)
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
  CAST(
    CASE
      WHEN $currency IS NULL OR placed.unpriced_tokens > 0 AND placed.unpriced_tokens = placed.tokens THEN NULL
      -- Nothing costs nothing, also on days without terms.
      WHEN placed.sorted_by = 0 THEN CAST(0 AS DECIMAL(38, 22))
      ELSE -placed.sorted_by * placed.contract_factor
    END AS DECIMAL(38, 22)
  ) AS contracted_cost,
  CAST($currency AS VARCHAR) AS currency,
  CAST(placed.input_usd AS DECIMAL(38, 12)) AS input_usd,
  CAST(placed.output_usd AS DECIMAL(38, 12)) AS output_usd,
  CAST(placed.cache_read_usd AS DECIMAL(38, 12)) AS cache_read_usd,
  CAST(placed.cache_write_usd AS DECIMAL(38, 12)) AS cache_write_usd,
  CAST(placed.cache_write_1h_usd AS DECIMAL(38, 12)) AS cache_write_1h_usd,
  CAST(placed.web_search_usd AS DECIMAL(38, 12)) AS web_search_usd,
  CAST(placed.reported_usd AS DECIMAL(38, 12)) AS reported_usd,
  CAST(placed.compared_reported_usd AS DECIMAL(38, 12)) AS compared_reported_usd,
  CAST(placed.compared_usd AS DECIMAL(38, 12)) AS compared_usd,
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
    sum(unpriced_tokens) AS unpriced_tokens
  FROM priced
  -- A model that few people used names them to whoever may not tell them apart.
  WHERE unpriced_tokens > 0
    AND $floor = 0
  GROUP BY
    day,
    group_key,
    model_id
) AS unpriced
  ON unpriced.day = placed.day
  AND unpriced.group_key = placed.group_key
WHERE placed.place <= $limit
