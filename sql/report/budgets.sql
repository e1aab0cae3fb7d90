-- One row is one budget of a scope in a month: what of it is spent, and what may be until the month's end. The budget '' of people is that of each
-- person without one of their own; its row counts the people who are above their budget.
--
-- Forecast: what is spent, and for each day of the month that isn't built the mean of the newest ten built weekdays, or of the newest four built
-- days of weekends. Its interval is three standard errors of that sum: of the days to come, and of the mean. There is none before 15 days are
-- built. Days before the first built one cost nothing.
--
-- name_day has the cost of each name on each built day from $from to $to; budget the names with their budgets; month_day the days of the
-- month. name_day is budget_day.sql, or budget_month.sql ($is_spread), whose days are invented: then only the months are told, and a name without rows
-- is one of few people. $people_at_least is the number of people whom a count must be about, and $tells_people 0 if people have no row of their own.
--
-- TRICKY: name_day is read once, because ClickHouse plans a CTE as often as it is read; and no alias is called like a CTE of the files that
-- are read, because ClickHouse takes it for that.
-- Grain: (name).
WITH
known_day AS (
  SELECT
    day,
    CASE WHEN is_weekday(day) THEN 0 ELSE 1 END AS is_weekend
  FROM activity
  WHERE org_id = $org_id
    AND day BETWEEN $from AND $to
),
recent_day AS (
  SELECT
    day,
    is_weekend
  FROM (
    SELECT
      day,
      is_weekend,
      row_number() OVER (PARTITION BY is_weekend ORDER BY day DESC) AS newest
    FROM known_day
  ) AS numbered
  WHERE newest <= CASE WHEN is_weekend = 1 THEN 4 ELSE 10 END
),
known_range AS (
  SELECT
    count(*) AS all_days,
    count(CASE WHEN day BETWEEN $month AND $month_end THEN 1 END) AS month_days,
    min(day) AS first_day
  FROM known_day
),
recent_count AS (
  SELECT
    CAST(count(CASE WHEN is_weekend = 0 THEN 1 END) AS DOUBLE) AS weekdays,
    CAST(count(CASE WHEN is_weekend = 1 THEN 1 END) AS DOUBLE) AS weekend_days
  FROM recent_day
),
left_count AS (
  SELECT
    count(*) AS all_days,
    count(CASE WHEN day <= $closed THEN 1 END) AS unbuilt_days,
    CAST(count(CASE WHEN is_weekend = 0 THEN 1 END) AS DOUBLE) AS weekdays,
    CAST(count(CASE WHEN is_weekend = 1 THEN 1 END) AS DOUBLE) AS weekend_days
  FROM (
    SELECT
      month_day.day AS day,
      CASE WHEN is_weekday(month_day.day) THEN 0 ELSE 1 END AS is_weekend
    FROM month_day
    CROSS JOIN known_range
    WHERE month_day.day > known_range.first_day
      AND month_day.day NOT IN (SELECT day FROM known_day)
  ) AS left_day
),
running_day AS (
  SELECT
    cost_day.name AS name,
    cost_day.day AS day,
    cost_day.is_known AS is_known,
    cost_day.cost_usd AS cost_usd,
    cost_day.contracted_cost AS contracted_cost,
    cost_day.unpriced_tokens AS unpriced_tokens,
    CASE WHEN cost_day.day >= $month THEN 1 ELSE 0 END AS is_in_month,
    CASE
      WHEN budget.usd IS NOT NULL THEN budget.usd
      WHEN $has_default = 1 AND cost_day.name <> 'unknown' THEN CAST($default_usd AS DOUBLE)
    END AS budget_usd,
    budget.usd AS own_usd,
    recent_day.is_weekend AS recent_kind,
    CAST(cost_day.cost_usd AS DOUBLE) AS day_usd,
    CAST(
      sum(CASE WHEN cost_day.day >= $month THEN cost_day.cost_usd ELSE CAST(0 AS DECIMAL(38, 12)) END)
        OVER (PARTITION BY cost_day.name ORDER BY cost_day.day)
    AS DOUBLE) AS so_far_usd
  FROM (
    SELECT
      name,
      day,
      1 AS is_known,
      cost_usd,
      contracted_cost,
      unpriced_tokens
    FROM name_day
    UNION ALL
    -- A name that has spent nothing has a row, too.
    SELECT
      name,
      $month AS day,
      0 AS is_known,
      CAST(0 AS DECIMAL(38, 12)) AS cost_usd,
      CAST(0 AS DECIMAL(38, 22)) AS contracted_cost,
      0 AS unpriced_tokens
    FROM budget
  ) AS cost_day
  LEFT JOIN budget
    ON budget.name = cost_day.name
  LEFT JOIN recent_day
    ON recent_day.day = cost_day.day
    AND cost_day.is_known = 1
),
by_name AS (
  SELECT
    name,
    max(budget_usd) AS budget_usd,
    max(own_usd) AS own_usd,
    sum(is_in_month * is_known) AS rows_of_month,
    max(CASE WHEN is_in_month = 1 THEN so_far_usd END) AS spent_usd,
    count(CASE WHEN is_in_month = 1 AND contracted_cost IS NULL AND cost_usd > 0 THEN 1 END) AS uncontracted_days,
    sum(CASE WHEN is_in_month = 1 THEN contracted_cost ELSE CAST(0 AS DECIMAL(38, 22)) END) AS contracted_cost,
    sum(is_in_month * unpriced_tokens) AS unpriced_tokens,
    coalesce(sum(CASE WHEN recent_kind = 0 THEN day_usd END), 0) AS weekday_usd,
    coalesce(sum(CASE WHEN recent_kind = 0 THEN day_usd * day_usd END), 0) AS weekday_squares,
    coalesce(sum(CASE WHEN recent_kind = 1 THEN day_usd END), 0) AS weekend_usd,
    coalesce(sum(CASE WHEN recent_kind = 1 THEN day_usd * day_usd END), 0) AS weekend_squares,
    min(CASE WHEN is_in_month * is_known = 1 AND so_far_usd >= budget_usd * 0.5 THEN day END) AS half_on,
    min(CASE WHEN is_in_month * is_known = 1 AND so_far_usd >= budget_usd * 0.8 THEN day END) AS most_on,
    min(CASE WHEN is_in_month * is_known = 1 AND so_far_usd >= budget_usd THEN day END) AS all_on
  FROM running_day
  WHERE budget_usd IS NOT NULL
  GROUP BY name
),
estimated AS (
  SELECT
    by_name.*,
    known_range.all_days AS known_days,
    known_range.month_days AS built_days,
    left_count.all_days AS left_days,
    left_count.unbuilt_days AS unbuilt_days,
    CASE WHEN $scope = 'person' AND by_name.name = '' THEN 1 ELSE 0 END AS is_of_all,
    CASE WHEN known_range.all_days > 0 AND ($is_spread = 0 OR by_name.rows_of_month > 0) THEN 1 ELSE 0 END AS is_told,
    CASE
      WHEN left_count.weekdays > 0 AND recent_count.weekdays = 0 OR left_count.weekend_days > 0 AND recent_count.weekend_days = 0 THEN NULL
      ELSE left_count.weekdays * by_name.weekday_usd / greatest(recent_count.weekdays, 1)
        + left_count.weekend_days * by_name.weekend_usd / greatest(recent_count.weekend_days, 1)
    END AS expected_usd,
    CASE
      WHEN left_count.all_days = 0 THEN 0
      WHEN $is_spread = 0 AND known_range.all_days >= 15
        THEN 3 * sqrt(
          greatest(by_name.weekday_squares - by_name.weekday_usd * by_name.weekday_usd / greatest(recent_count.weekdays, 1), 0)
            / greatest(recent_count.weekdays - 1, 1)
            * (left_count.weekdays + left_count.weekdays * left_count.weekdays / greatest(recent_count.weekdays, 1))
          + greatest(by_name.weekend_squares - by_name.weekend_usd * by_name.weekend_usd / greatest(recent_count.weekend_days, 1), 0)
            / greatest(recent_count.weekend_days - 1, 1)
            * (left_count.weekend_days + left_count.weekend_days * left_count.weekend_days / greatest(recent_count.weekend_days, 1))
        )
    END AS miss_usd
  FROM by_name
  CROSS JOIN known_range
  CROSS JOIN recent_count
  CROSS JOIN left_count
  WHERE by_name.own_usd IS NOT NULL
    OR by_name.rows_of_month > 0
),
counted_name AS (
  SELECT
    *,
    sum(CASE WHEN is_of_all = 0 AND spent_usd > 0 THEN 1 ELSE 0 END) OVER () AS people,
    sum(CASE WHEN is_of_all = 0 AND spent_usd > budget_usd THEN 1 ELSE 0 END) OVER () AS above
  FROM estimated
)
SELECT
  CAST($month_name AS VARCHAR) AS month,
  CAST($scope AS VARCHAR) AS scope,
  CAST(nullif(name, '') AS VARCHAR) AS name,
  CAST(budget_usd AS DOUBLE) AS budget_usd,
  CAST(CASE WHEN is_told = 1 AND is_of_all = 0 THEN spent_usd END AS DOUBLE) AS spent_usd,
  CAST(CASE WHEN is_told = 1 AND is_of_all = 0 THEN spent_usd / budget_usd END AS DOUBLE) AS spent_ratio,
  CAST(CASE WHEN is_told = 1 AND is_of_all = 0 THEN spent_usd + expected_usd END AS DOUBLE) AS forecast_usd,
  CAST(
    CASE
      WHEN is_told = 0 OR is_of_all = 1 THEN NULL
      WHEN miss_usd > expected_usd THEN spent_usd
      ELSE spent_usd + expected_usd - miss_usd
    END AS DOUBLE
  ) AS forecast_low_usd,
  CAST(CASE WHEN is_told = 1 AND is_of_all = 0 THEN spent_usd + expected_usd + miss_usd END AS DOUBLE) AS forecast_high_usd,
  CAST(
    CASE
      WHEN is_of_all = 1 THEN NULL
      WHEN is_told = 0 THEN CASE WHEN $is_spread = 1 THEN 'not_shown' ELSE 'too_early' END
      WHEN spent_usd > budget_usd THEN 'above'
      WHEN left_days > 0 AND known_days < 15 OR expected_usd IS NULL THEN 'too_early'
      WHEN spent_usd + expected_usd + coalesce(miss_usd, 0) > budget_usd THEN 'may_not_hold'
      ELSE 'holds'
    END AS VARCHAR
  ) AS state,
  CAST(built_days AS BIGINT) AS built_days,
  CAST(left_days AS BIGINT) AS left_days,
  CAST(unbuilt_days AS BIGINT) AS unbuilt_days,
  CAST(CASE WHEN $is_spread = 0 THEN half_on END AS DATE) AS half_on,
  CAST(CASE WHEN $is_spread = 0 THEN most_on END AS DATE) AS most_on,
  CAST(CASE WHEN $is_spread = 0 THEN all_on END AS DATE) AS all_on,
  CAST(CASE WHEN $currency IS NOT NULL AND is_told = 1 AND is_of_all = 0 AND uncontracted_days = 0 THEN contracted_cost END AS DOUBLE) AS contracted_spent,
  CAST($currency AS VARCHAR) AS currency,
  CAST(CASE WHEN is_told = 1 AND is_of_all = 0 THEN unpriced_tokens END AS BIGINT) AS unpriced_tokens,
  CAST(CASE WHEN is_of_all = 1 AND people >= $people_at_least THEN people END AS BIGINT) AS people,
  CAST(
    CASE
      WHEN is_of_all = 1
        AND people >= $people_at_least
        AND (above = 0 OR above >= $people_at_least)
        AND (people = above OR people - above >= $people_at_least)
        THEN above
    END AS BIGINT
  ) AS people_above
FROM counted_name
WHERE $tells_people = 1
  OR is_of_all = 1
