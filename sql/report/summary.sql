-- One row is one group in one day, week or month of the range, or in all of it: the totals of its built days.
--
-- Filters and groups: every event has a user, an agent, a client and a repository, and its user has a team and a cost centre on its day, so
-- these choose events. A model chooses its own tokens and cost; a tool and an MCP server choose their own calls, those that match both. For every other member they choose the sessions in
-- which the model or such a call occurs on that day. A row of a group has the numbers that a filter by its key gives.
-- What is counted once, though several agents, clients or repositories have a part in it, counts for the last of them by name: a session,
-- file, commit or pull request (session_parts).
-- $wanted_keys and $wanted_text choose among the groups (is_wanted), and change no number of theirs.
-- Sums and distinct counts: a session counts on the day on which it starts, and a file, commit or pull request once on each day, as in
-- the answers per day. Active users, active days and the ratio are those of the row's days.
-- The previous members are those of the days from $previous_from to $previous_to; in rows of a day, week or month those of as many days right
-- before the row's, or with $period 'day' of the same weekday four weeks before. They are there only if all of these days are built, none is
-- before $earliest, and the data of the row's team or cost centre, or of all people, had begun by the first of them (data_begin.sql).
-- Sorted by change, groups that had something only in those days are rows, too.
--
-- work and usage are work_of_sessions.sql and usage_of_sessions.sql if sessions are chosen, otherwise work_of_parts.sql and
-- usage_of_parts.sql. For tokens a model chooses no sessions.
-- cost_terms has what a dollar of the list price costs the organization on some days, in its currency.
--
-- For a request that may tell no few people apart, work and usage are shown_work.sql and shown_usage.sql, and shown_person is
-- shown_person.sql. A row of fewer than $floor people is left out then, and with it the smallest of those of its group that would be there. A
-- day on which few people were active (quiet_day) counts with another one. For other requests shown_person and quiet_day are empty.
-- Grain: (period_start, group_key). It returns the page behind the cursor ($after_...).
WITH
-- priced_on is the last day on which a price of the used models changes: between two such days the tokens of a model cost the same.
built_day AS MATERIALIZED (
  SELECT
    activity.day AS day,
    coalesce(quiet_day.counted_on, activity.day) AS counted_on,
    CASE WHEN $period = 'none' THEN $from ELSE period_of($period, coalesce(quiet_day.counted_on, activity.day), $from) END AS period_start,
    max(price_change.valid_from) AS priced_on,
    max(cost_terms.contract_factor) AS contract_factor
  FROM activity
  LEFT JOIN quiet_day
    ON quiet_day.day = activity.day
  CROSS JOIN cost_terms
  CROSS JOIN (
    SELECT DISTINCT valid_from
    FROM token_price
    UNION ALL
    SELECT DATE '1970-01-01' AS valid_from
  ) AS price_change
  WHERE activity.org_id = $org_id
    AND activity.day BETWEEN $earliest AND $to
    AND price_change.valid_from <= activity.day
    AND cost_terms.valid_from <= activity.day
    AND cost_terms.valid_until > activity.day
  GROUP BY
    activity.day,
    quiet_day.counted_on
),
period AS (
  SELECT
    period_start,
    greatest(period_start, $from) AS first_day,
    least(
      CASE $period
        WHEN 'day' THEN period_start
        WHEN 'week' THEN period_start + 6
        WHEN 'month' THEN CAST(date_trunc('month', period_start + 31) AS DATE) - 1
        ELSE $to
      END,
      $to
    ) AS last_day
  FROM built_day
  WHERE counted_on BETWEEN $from AND $to
  GROUP BY period_start
),
-- The days that the rows of a period are compared with, and how many of them are built.
before AS MATERIALIZED (
  SELECT
    ranged.period_start AS compared_start,
    ranged.first_day AS first_day,
    ranged.last_day AS last_day,
    count(CASE WHEN activity.day BETWEEN ranged.first_day AND ranged.last_day THEN 1 END) AS built_days
  FROM (
    SELECT
      period_start,
      CASE $period WHEN 'none' THEN $previous_from WHEN 'day' THEN first_day - 28 ELSE first_day - CAST(last_day - first_day + 1 AS INTEGER) END AS first_day,
      CASE $period WHEN 'none' THEN $previous_to WHEN 'day' THEN first_day - 28 ELSE first_day - 1 END AS last_day
    FROM period
    WHERE $compare <> 'none'
  ) AS ranged
  CROSS JOIN activity
  WHERE activity.org_id = $org_id
    AND activity.day BETWEEN $earliest AND $to
  GROUP BY
    ranged.period_start,
    ranged.first_day,
    ranged.last_day
),
-- The days of each row, and those that it is compared with.
row_day AS MATERIALIZED (
  SELECT
    period_start,
    0 AS is_previous,
    day,
    priced_on,
    contract_factor
  FROM built_day
  WHERE counted_on BETWEEN $from AND $to
  UNION ALL
  SELECT
    before.compared_start AS period_start,
    1 AS is_previous,
    built_day.day AS day,
    built_day.priced_on AS priced_on,
    built_day.contract_factor AS contract_factor
  FROM before
  CROSS JOIN built_day
  WHERE built_day.counted_on BETWEEN before.first_day AND before.last_day
),
done AS (
  SELECT
    row_day.period_start AS period_start,
    row_day.is_previous AS is_previous,
    work.group_key AS group_key,
    sum(work.sessions) AS sessions,
    sum(work.user_turns) AS user_turns,
    sum(work.tool_calls) AS tool_calls,
    sum(work.failed_calls) AS failed_calls,
    sum(work.calls_with_outcome) AS calls_with_outcome,
    sum(work.files) AS files,
    sum(work.commits) AS commits,
    sum(work.pull_requests) AS pull_requests,
    count(DISTINCT work.user_id) AS active_users,
    count(DISTINCT work.day) AS active_days
  FROM work
  JOIN row_day
    ON row_day.day = work.day
  WHERE is_wanted(work.group_key, $wanted_keys, $wanted_text)
  GROUP BY
    row_day.period_start,
    row_day.is_previous,
    work.group_key
),
model_total AS (
  SELECT
    row_day.period_start AS period_start,
    row_day.is_previous AS is_previous,
    row_day.priced_on AS priced_on,
    row_day.contract_factor AS contract_factor,
    usage.group_key AS group_key,
    usage.model_id AS model_id,
    usage.speed AS speed,
    usage.service_tier AS service_tier,
    usage.region AS region,
    usage.prompt_class AS prompt_class,
    usage.is_reported AS is_reported,
    usage.is_unsplit AS is_unsplit,
    sum(usage.input_tokens) AS input_tokens,
    sum(usage.output_tokens) AS output_tokens,
    sum(usage.cache_read_tokens) AS cache_read_tokens,
    sum(usage.cache_write_tokens) AS cache_write_tokens,
    sum(usage.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(usage.web_searches) AS web_searches,
    sum(usage.reported_cost_usd) AS reported_cost_usd,
    sum(usage.billable_tokens) AS billable_tokens
  FROM usage
  JOIN row_day
    ON row_day.day = usage.day
  WHERE is_wanted(usage.group_key, $wanted_keys, $wanted_text)
  GROUP BY
    row_day.period_start,
    row_day.is_previous,
    row_day.priced_on,
    row_day.contract_factor,
    usage.group_key,
    usage.model_id,
    usage.speed,
    usage.service_tier,
    usage.region,
    usage.prompt_class,
    usage.is_reported,
    usage.is_unsplit
),
way_cost AS (
  SELECT
    model_total.period_start AS period_start,
    model_total.is_previous AS is_previous,
    model_total.group_key AS group_key,
    model_total.contract_factor AS contract_factor,
    model_total.input_tokens AS input_tokens,
    model_total.output_tokens AS output_tokens,
    model_total.cache_read_tokens AS cache_read_tokens,
    model_total.cache_write_tokens AS cache_write_tokens,
    model_total.billable_tokens AS billable_tokens,
    model_total.reported_cost_usd AS reported_cost_usd,
    -- No price at all is known, but what the calls are said to have cost.
    is_by_report(
      model_total.is_reported,
      token_price.input_usd,
      token_price.output_usd,
      token_price.cache_read_usd,
      token_price.cache_write_usd,
      token_price.cache_write_1h_usd
    ) AS is_by_report,
    coalesce(token_price.input_usd, 0) * CAST(model_total.input_tokens AS DECIMAL(38, 0))
      + coalesce(token_price.output_usd, 0) * CAST(model_total.output_tokens AS DECIMAL(38, 0))
      + coalesce(token_price.cache_read_usd, 0) * CAST(model_total.cache_read_tokens AS DECIMAL(38, 0))
      + coalesce(token_price.cache_write_usd, 0) * CAST(model_total.cache_write_tokens - model_total.cache_write_1h_tokens AS DECIMAL(38, 0))
      + coalesce(token_price.cache_write_1h_usd, 0) * CAST(model_total.cache_write_1h_tokens AS DECIMAL(38, 0))
      + coalesce(token_price.web_search_usd, 0) * CAST(model_total.web_searches AS DECIMAL(38, 0)) AS known_usd,
    unpriced(token_price.input_usd, model_total.input_tokens)
      + unpriced(token_price.output_usd, model_total.output_tokens)
      + unpriced(token_price.cache_read_usd, model_total.cache_read_tokens)
      + unpriced(token_price.cache_write_usd, model_total.cache_write_tokens - model_total.cache_write_1h_tokens)
      + unpriced(token_price.cache_write_1h_usd, model_total.cache_write_1h_tokens) AS unpriced_tokens
  FROM model_total
  LEFT JOIN token_price
    ON token_price.model_id = model_total.model_id
    AND token_price.speed = model_total.speed
    AND token_price.service_tier = model_total.service_tier
    AND token_price.region = model_total.region
    AND token_price.prompt_class = model_total.prompt_class
    AND token_price.is_unsplit = model_total.is_unsplit
    AND token_price.valid_from <= model_total.priced_on
    AND token_price.valid_until > model_total.priced_on
),
spent AS (
  SELECT
    period_start,
    is_previous,
    group_key,
    sum(cost_usd) AS cost_usd,
    sum(cost_usd * contract_factor) AS contracted_cost,
    -- What costs something on a day without terms.
    sum(CASE WHEN contract_factor IS NULL THEN cost_usd ELSE CAST(0 AS DECIMAL(38, 12)) END) AS cost_usd_without_terms,
    sum(CASE WHEN is_by_report = 1 THEN 0 ELSE unpriced_tokens END) AS unpriced_tokens,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(billable_tokens) AS billable_tokens
  FROM (
    SELECT
      *,
      known_usd + CASE WHEN is_by_report = 1 THEN CAST(reported_cost_usd AS DECIMAL(38, 12)) ELSE CAST(0 AS DECIMAL(38, 12)) END AS cost_usd
    FROM way_cost
  ) AS way_spent
  GROUP BY
    period_start,
    is_previous,
    group_key
),
hidden_row AS (
  SELECT
    period_start,
    is_previous,
    group_key
  FROM (
    SELECT
      *,
      row_number() OVER (PARTITION BY is_previous, group_key, is_thin ORDER BY people, period_start) AS place,
      max(is_thin) OVER (PARTITION BY is_previous, group_key) AS has_thin
    FROM (
      SELECT
        row_day.period_start AS period_start,
        row_day.is_previous AS is_previous,
        shown_person.group_key AS group_key,
        count(DISTINCT shown_person.user_id) AS people,
        CASE
          WHEN count(DISTINCT shown_person.user_id) < $floor OR $group_by = 'none' AND min(shown_person.is_told) = 0 THEN 1
          ELSE 0
        END AS is_thin
      FROM shown_person
      JOIN row_day
        ON row_day.day = shown_person.day
      GROUP BY
        row_day.period_start,
        row_day.is_previous,
        shown_person.group_key
    ) AS counted
  ) AS ordered
  WHERE is_thin = 1
    OR has_thin = 1
    AND place = 1
),
-- A row isn't compared with days of which a part counts for the joined groups.
incomparable_row AS (
  SELECT DISTINCT
    row_day.period_start AS compared_start,
    shown_person.found_key AS compared_key
  FROM shown_person
  JOIN row_day
    ON row_day.day = shown_person.day
  WHERE row_day.is_previous = 1
    AND shown_person.found_key <> shown_person.group_key
  UNION DISTINCT
  SELECT
    period_start AS compared_start,
    '(small groups)' AS compared_key
  FROM period
  WHERE $floor > 0
  UNION DISTINCT
  SELECT
    period_start AS compared_start,
    group_key AS compared_key
  FROM hidden_row
  WHERE is_previous = 1
),
-- Without groups each row is there, also without events. Sorted by change, so is a group that had something before.
row_group AS (
  SELECT DISTINCT
    done.period_start AS period_start,
    side.is_previous AS is_previous,
    done.group_key AS group_key
  FROM done
  CROSS JOIN (SELECT 0 AS is_previous UNION ALL SELECT 1 AS is_previous) AS side
  WHERE $group_by <> 'none'
    AND (side.is_previous = done.is_previous OR side.is_previous = 0 AND $sort = 'change' AND $floor = 0)
  UNION ALL
  SELECT DISTINCT
    period_start,
    is_previous,
    '' AS group_key
  FROM row_day
  WHERE $group_by = 'none'
),
total AS MATERIALIZED (
  SELECT
    row_group.period_start AS period_start,
    row_group.is_previous AS is_previous,
    row_group.group_key AS group_key,
    -- Unknown is null: no sum of nothing but unknown costs.
    CASE
      WHEN spent.unpriced_tokens > 0
        AND spent.unpriced_tokens = spent.input_tokens + spent.output_tokens + spent.cache_read_tokens + spent.cache_write_tokens
        THEN NULL
      ELSE coalesce(spent.cost_usd, CAST(0 AS DECIMAL(38, 12)))
    END AS cost_usd,
    CASE
      WHEN $currency IS NULL
        OR spent.cost_usd_without_terms > 0
        OR spent.unpriced_tokens > 0
        AND spent.unpriced_tokens = spent.input_tokens + spent.output_tokens + spent.cache_read_tokens + spent.cache_write_tokens
        THEN NULL
      ELSE coalesce(spent.contracted_cost, CAST(0 AS DECIMAL(38, 22)))
    END AS contracted_cost,
    coalesce(spent.unpriced_tokens, 0) AS unpriced_tokens,
    coalesce(spent.input_tokens, 0) AS input_tokens,
    coalesce(spent.output_tokens, 0) AS output_tokens,
    coalesce(spent.cache_read_tokens, 0) AS cache_read_tokens,
    coalesce(spent.cache_write_tokens, 0) AS cache_write_tokens,
    coalesce(spent.billable_tokens, 0) AS billable_tokens,
    coalesce(done.sessions, 0) AS sessions,
    coalesce(done.user_turns, 0) AS user_turns,
    coalesce(done.tool_calls, 0) AS tool_calls,
    coalesce(done.failed_calls, 0) AS failed_calls,
    coalesce(done.calls_with_outcome, 0) AS calls_with_outcome,
    share_of(done.failed_calls, done.calls_with_outcome) AS failed_call_ratio,
    coalesce(done.files, 0) AS files,
    coalesce(done.commits, 0) AS commits,
    coalesce(done.pull_requests, 0) AS pull_requests,
    ratio(coalesce(done.tool_calls, 0), coalesce(done.user_turns, 0)) AS autonomy_ratio,
    coalesce(done.active_users, 0) AS active_users,
    coalesce(done.active_days, 0) AS active_days
  FROM row_group
  LEFT JOIN done
    ON done.period_start = row_group.period_start
    AND done.is_previous = row_group.is_previous
    AND done.group_key = row_group.group_key
  LEFT JOIN spent
    ON spent.period_start = row_group.period_start
    AND spent.is_previous = row_group.is_previous
    AND spent.group_key = row_group.group_key
),
compared AS (
  SELECT
    valued_row.*,
    CASE
      WHEN data_begin.first_day <= before.first_day
        AND before.built_days = CAST(before.last_day - before.first_day + 1 AS BIGINT)
        AND incomparable_row.compared_key IS NULL
        THEN 1
      ELSE 0
    END AS is_compared,
    CASE WHEN data_begin.first_day > before.first_day THEN data_begin.first_day END AS data_begins
  FROM (
    SELECT
      *,
      cost_usd - CASE
        WHEN max(is_previous) OVER (PARTITION BY period_start, group_key) = 0 THEN CAST(0 AS DECIMAL(38, 12))
        ELSE max(CASE WHEN is_previous = 1 THEN cost_usd END) OVER (PARTITION BY period_start, group_key)
      END AS change_usd
    FROM total
  ) AS valued_row
  LEFT JOIN before
    ON before.compared_start = valued_row.period_start
  LEFT JOIN incomparable_row
    ON incomparable_row.compared_start = valued_row.period_start
    AND incomparable_row.compared_key = valued_row.group_key
  LEFT JOIN data_begin
    ON data_begin.name = CASE WHEN $begins_by = 'none' THEN '' ELSE valued_row.group_key END
  WHERE valued_row.is_previous = 0
    AND (valued_row.period_start, valued_row.group_key) NOT IN (SELECT period_start, group_key FROM hidden_row WHERE is_previous = 0)
),
-- Rows come by sorted_day, sorted_by, period_start and group_key, all ascending. A change that isn't known comes last.
sorted AS (
  SELECT
    *,
    CASE WHEN $is_by_date = 1 THEN period_start ELSE DATE '1970-01-01' END AS sorted_day,
    CASE
      WHEN sort_value IS NULL THEN CAST(100000000000000000000 AS DECIMAL(38, 12))
      WHEN $direction = 'asc' THEN sort_value
      WHEN $direction = 'abs' THEN -abs(sort_value)
      ELSE -sort_value
    END AS sorted_by
  FROM (
    SELECT
      *,
      CAST(
        CASE $sort
          WHEN 'change' THEN CASE WHEN is_compared = 1 THEN change_usd END
          WHEN 'cost_usd' THEN coalesce(cost_usd, -1)
          WHEN 'contracted_cost' THEN CAST(coalesce(contracted_cost, -1) AS DECIMAL(38, 12))
          WHEN 'unpriced_tokens' THEN CAST(unpriced_tokens AS DECIMAL(38, 12))
          WHEN 'input_tokens' THEN CAST(input_tokens AS DECIMAL(38, 12))
          WHEN 'output_tokens' THEN CAST(output_tokens AS DECIMAL(38, 12))
          WHEN 'cache_read_tokens' THEN CAST(cache_read_tokens AS DECIMAL(38, 12))
          WHEN 'cache_write_tokens' THEN CAST(cache_write_tokens AS DECIMAL(38, 12))
          WHEN 'billable_tokens' THEN CAST(billable_tokens AS DECIMAL(38, 12))
          WHEN 'sessions' THEN CAST(sessions AS DECIMAL(38, 12))
          WHEN 'user_turns' THEN CAST(user_turns AS DECIMAL(38, 12))
          WHEN 'tool_calls' THEN CAST(tool_calls AS DECIMAL(38, 12))
          WHEN 'failed_calls' THEN CAST(failed_calls AS DECIMAL(38, 12))
          WHEN 'calls_with_outcome' THEN CAST(calls_with_outcome AS DECIMAL(38, 12))
          WHEN 'failed_call_ratio' THEN CAST(coalesce(failed_call_ratio, -1) AS DECIMAL(38, 12))
          WHEN 'autonomy_ratio' THEN CAST(autonomy_ratio AS DECIMAL(38, 12))
          WHEN 'files' THEN CAST(files AS DECIMAL(38, 12))
          WHEN 'commits' THEN CAST(commits AS DECIMAL(38, 12))
          WHEN 'pull_requests' THEN CAST(pull_requests AS DECIMAL(38, 12))
          WHEN 'active_users' THEN CAST(active_users AS DECIMAL(38, 12))
          WHEN 'active_days' THEN CAST(active_days AS DECIMAL(38, 12))
        END AS DECIMAL(38, 12)
      ) AS sort_value
    FROM compared
  ) AS valued
),
page AS (
  SELECT
    *,
    row_number() OVER (ORDER BY sorted_day, sorted_by, period_start, group_key) AS place,
    count(*) OVER () AS page_rows
  FROM (
    SELECT *
    FROM sorted
    WHERE $after_day IS NULL
      OR sorted_day > $after_day
      OR sorted_day = $after_day
      AND (
        sorted_by > CAST($after_value AS DECIMAL(38, 12))
        OR sorted_by = CAST($after_value AS DECIMAL(38, 12))
        AND (period_start > $after_period OR period_start = $after_period AND group_key > $after_key)
      )
    ORDER BY
      sorted_day,
      sorted_by,
      period_start,
      group_key
    LIMIT $limit + 1
  ) AS behind
)
SELECT
  CAST(page.place AS BIGINT) AS place,
  CAST(CASE WHEN $period <> 'none' THEN page.period_start END AS DATE) AS day,
  CAST(CASE WHEN $group_by <> 'none' THEN page.group_key END AS VARCHAR) AS group_key,
  CAST(page.cost_usd AS DECIMAL(38, 12)) AS cost_usd,
  CAST(page.contracted_cost AS DECIMAL(38, 22)) AS contracted_cost,
  CAST($currency AS VARCHAR) AS currency,
  CAST(page.unpriced_tokens AS BIGINT) AS unpriced_tokens,
  CAST(page.input_tokens AS BIGINT) AS input_tokens,
  CAST(page.output_tokens AS BIGINT) AS output_tokens,
  CAST(page.cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(page.cache_write_tokens AS BIGINT) AS cache_write_tokens,
  CAST(page.billable_tokens AS BIGINT) AS billable_tokens,
  CAST(page.sessions AS BIGINT) AS sessions,
  CAST(page.user_turns AS BIGINT) AS user_turns,
  CAST(page.tool_calls AS BIGINT) AS tool_calls,
  CAST(page.failed_calls AS BIGINT) AS failed_calls,
  CAST(page.calls_with_outcome AS BIGINT) AS calls_with_outcome,
  CAST(page.failed_call_ratio AS DOUBLE) AS failed_call_ratio,
  CAST(page.autonomy_ratio AS DOUBLE) AS autonomy_ratio,
  CAST(page.files AS BIGINT) AS files,
  CAST(page.commits AS BIGINT) AS commits,
  CAST(page.pull_requests AS BIGINT) AS pull_requests,
  CAST(page.active_users AS BIGINT) AS active_users,
  CAST(page.active_days AS BIGINT) AS active_days,
  CAST(CASE WHEN previous.group_key IS NULL THEN 0 ELSE previous.cost_usd END AS DECIMAL(38, 12)) AS previous_cost_usd,
  CAST(CASE WHEN previous.group_key IS NOT NULL THEN previous.contracted_cost WHEN $currency IS NOT NULL THEN 0 END AS DECIMAL(38, 22)) AS previous_contracted_cost,
  CAST(coalesce(previous.unpriced_tokens, 0) AS BIGINT) AS previous_unpriced_tokens,
  CAST(coalesce(previous.input_tokens, 0) AS BIGINT) AS previous_input_tokens,
  CAST(coalesce(previous.output_tokens, 0) AS BIGINT) AS previous_output_tokens,
  CAST(coalesce(previous.cache_read_tokens, 0) AS BIGINT) AS previous_cache_read_tokens,
  CAST(coalesce(previous.cache_write_tokens, 0) AS BIGINT) AS previous_cache_write_tokens,
  CAST(coalesce(previous.billable_tokens, 0) AS BIGINT) AS previous_billable_tokens,
  CAST(coalesce(previous.sessions, 0) AS BIGINT) AS previous_sessions,
  CAST(coalesce(previous.user_turns, 0) AS BIGINT) AS previous_user_turns,
  CAST(coalesce(previous.tool_calls, 0) AS BIGINT) AS previous_tool_calls,
  CAST(coalesce(previous.failed_calls, 0) AS BIGINT) AS previous_failed_calls,
  CAST(coalesce(previous.calls_with_outcome, 0) AS BIGINT) AS previous_calls_with_outcome,
  CAST(previous.failed_call_ratio AS DOUBLE) AS previous_failed_call_ratio,
  CAST(coalesce(previous.autonomy_ratio, 0) AS DOUBLE) AS previous_autonomy_ratio,
  CAST(coalesce(previous.files, 0) AS BIGINT) AS previous_files,
  CAST(coalesce(previous.commits, 0) AS BIGINT) AS previous_commits,
  CAST(coalesce(previous.pull_requests, 0) AS BIGINT) AS previous_pull_requests,
  CAST(coalesce(previous.active_users, 0) AS BIGINT) AS previous_active_users,
  CAST(coalesce(previous.active_days, 0) AS BIGINT) AS previous_active_days,
  CAST(page.is_compared AS BIGINT) AS is_compared,
  CAST(page.data_begins AS DATE) AS data_begins,
  -- What the next page begins behind; null on the last one.
  CAST(
    CASE
      WHEN page.page_rows > $limit
        THEN concat(
          CAST(page.sorted_day AS VARCHAR), ' ', CAST(page.sorted_by AS VARCHAR), ' ', CAST(page.period_start AS VARCHAR), ' ', page.group_key
        )
    END AS VARCHAR
  ) AS next_cursor
FROM page
LEFT JOIN (
  SELECT *
  FROM total
  WHERE is_previous = 1
) AS previous
  ON previous.period_start = page.period_start
  AND previous.group_key = page.group_key
WHERE page.place <= $limit
