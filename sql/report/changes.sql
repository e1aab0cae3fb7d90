-- One row is what a range cost, what the days from $previous_from to $previous_to cost, or one step from these to that, in the order in which
-- they are read. If the two can't be compared, as in the summary, only the range has a row.
--
-- Teams whose data begin after $previous_from are a step of their own, with all that they add. The cost of the others is
--   people x tokens per person x the sum over cells of (share of the tokens x USD per token),
-- where a cell is a kind of token of a model in one way. A factor's step is the mean of what it adds over the 24 orders in which the four can
-- change (its Shapley value): so the steps add up, and no order is preferred. A cell that is used on one side only has the price of that side,
-- so its step is one of models. A web search counts as a token, and a call that only reports what it cost has its tokens, or is one. Tokens without
-- a price are on neither side.
--
-- usage has the groups of its request, which are teams: shown_usage.sql for a request that may tell no few people apart, without groups. Then
-- shown_person is shown_person.sql, a side of few people isn't told, and teams that begin aren't a step. priced_usage is priced_usage.sql.
-- Grain: (step).
WITH
side AS (
  SELECT
    0 AS is_previous,
    $from AS first_day,
    $to AS last_day
  UNION ALL
  SELECT
    1 AS is_previous,
    $previous_from AS first_day,
    $previous_to AS last_day
),
told_side AS (
  SELECT side.is_previous AS is_previous
  FROM side
  LEFT JOIN (
    SELECT
      side.is_previous AS is_previous,
      count(DISTINCT shown_person.user_id) AS people,
      min(shown_person.is_told) AS is_told
    FROM shown_person
    LEFT JOIN quiet_day
      ON quiet_day.day = shown_person.day
    CROSS JOIN side
    WHERE coalesce(quiet_day.counted_on, shown_person.day) BETWEEN side.first_day AND side.last_day
    GROUP BY side.is_previous
  ) AS shown
    ON shown.is_previous = side.is_previous
  WHERE $floor = 0
    OR shown.people >= $floor
    AND shown.is_told = 1
),
comparison AS (
  SELECT
    CASE
      WHEN begun.first_day <= $previous_from
        AND built.days_before = CAST($previous_to - $previous_from + 1 AS BIGINT)
        AND told.sides = 2
        THEN 1
      ELSE 0
    END AS is_compared,
    CASE WHEN begun.first_day > $previous_from THEN begun.first_day END AS data_begins,
    built.days_now AS days_now
  FROM (
    SELECT min(first_day) AS first_day
    FROM data_begin
  ) AS begun
  CROSS JOIN (
    SELECT
      count(CASE WHEN day BETWEEN $previous_from AND $previous_to THEN 1 END) AS days_before,
      count(CASE WHEN day BETWEEN $from AND $to THEN 1 END) AS days_now
    FROM activity
    WHERE org_id = $org_id
      AND day BETWEEN $earliest AND $to
  ) AS built
  CROSS JOIN (
    SELECT count(*) AS sides
    FROM told_side
  ) AS told
),
new_team AS MATERIALIZED (
  SELECT name
  FROM data_begin
  WHERE first_day > $previous_from
    AND name <> ''
),
person AS (
  SELECT
    side.is_previous AS is_previous,
    CAST(count(DISTINCT usage.user_id) AS DOUBLE) AS people
  FROM usage
  LEFT JOIN quiet_day
    ON quiet_day.day = usage.day
  CROSS JOIN side
  WHERE coalesce(quiet_day.counted_on, usage.day) BETWEEN side.first_day AND side.last_day
    AND usage.group_key NOT IN (SELECT name FROM new_team)
  GROUP BY side.is_previous
),
spent AS MATERIALIZED (
  SELECT
    side.is_previous AS is_previous,
    CASE WHEN priced_usage.group_key IN (SELECT name FROM new_team) THEN 1 ELSE 0 END AS is_new,
    priced_usage.model_id AS model_id,
    priced_usage.speed AS speed,
    priced_usage.service_tier AS service_tier,
    priced_usage.region AS region,
    priced_usage.prompt_class AS prompt_class,
    kind.name AS kind,
    sum(
      CASE
        WHEN kind.name = 'input' AND input_price IS NOT NULL THEN input_tokens
        WHEN kind.name = 'output' AND output_price IS NOT NULL THEN output_tokens
        WHEN kind.name = 'cache_read' AND cache_read_price IS NOT NULL THEN cache_read_tokens
        WHEN kind.name = 'cache_write' AND cache_write_price IS NOT NULL THEN cache_write_tokens - cache_write_1h_tokens
        WHEN kind.name = 'cache_write_1h' AND cache_write_1h_price IS NOT NULL THEN cache_write_1h_tokens
        WHEN kind.name = 'web_search' AND web_search_usd > 0 THEN web_searches
        WHEN kind.name = 'reported' AND is_by_report = 1 AND reported_cost_usd > 0
          THEN greatest(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens, calls, 1)
        ELSE 0
      END
    ) AS tokens,
    sum(
      CASE
        WHEN kind.name = 'input' THEN input_usd
        WHEN kind.name = 'output' THEN output_usd
        WHEN kind.name = 'cache_read' THEN cache_read_usd
        WHEN kind.name = 'cache_write' THEN cache_write_usd
        WHEN kind.name = 'cache_write_1h' THEN cache_write_1h_usd
        WHEN kind.name = 'web_search' THEN web_search_usd
        WHEN is_by_report = 1 THEN CAST(reported_cost_usd AS DECIMAL(38, 12))
        ELSE CAST(0 AS DECIMAL(38, 12))
      END
    ) AS usd,
    sum(CASE WHEN kind.name = 'reported' AND is_by_report = 0 THEN unpriced_tokens ELSE 0 END) AS unpriced_tokens
  FROM priced_usage
  LEFT JOIN quiet_day
    ON quiet_day.day = priced_usage.day
  CROSS JOIN side
  CROSS JOIN (
    SELECT 'input' AS name
    UNION ALL SELECT 'output' AS name
    UNION ALL SELECT 'cache_read' AS name
    UNION ALL SELECT 'cache_write' AS name
    UNION ALL SELECT 'cache_write_1h' AS name
    UNION ALL SELECT 'web_search' AS name
    UNION ALL SELECT 'reported' AS name
  ) AS kind
  WHERE coalesce(quiet_day.counted_on, priced_usage.day) BETWEEN side.first_day AND side.last_day
  GROUP BY
    side.is_previous,
    CASE WHEN priced_usage.group_key IN (SELECT name FROM new_team) THEN 1 ELSE 0 END,
    priced_usage.model_id,
    priced_usage.speed,
    priced_usage.service_tier,
    priced_usage.region,
    priced_usage.prompt_class,
    kind.name
),
-- One row: both sides of what isn't of new teams.
volume AS (
  SELECT
    coalesce(counted.previous_people, CAST(0 AS DOUBLE)) AS previous_people,
    coalesce(counted.people, CAST(0 AS DOUBLE)) AS people,
    coalesce(used.previous_tokens, CAST(0 AS DOUBLE)) AS previous_tokens,
    coalesce(used.tokens, CAST(0 AS DOUBLE)) AS tokens
  FROM (
    SELECT
      CAST(sum(CASE WHEN is_previous = 1 THEN tokens ELSE 0 END) AS DOUBLE) AS previous_tokens,
      CAST(sum(CASE WHEN is_previous = 0 THEN tokens ELSE 0 END) AS DOUBLE) AS tokens
    FROM spent
    WHERE is_new = 0
  ) AS used
  CROSS JOIN (
    SELECT
      max(CASE WHEN is_previous = 1 THEN people END) AS previous_people,
      max(CASE WHEN is_previous = 0 THEN people END) AS people
    FROM person
  ) AS counted
),
cell AS (
  SELECT
    CAST(sum(CASE WHEN is_previous = 1 THEN tokens ELSE 0 END) AS DOUBLE) AS previous_tokens,
    CAST(sum(CASE WHEN is_previous = 0 THEN tokens ELSE 0 END) AS DOUBLE) AS tokens,
    CAST(sum(CASE WHEN is_previous = 1 THEN usd ELSE CAST(0 AS DECIMAL(38, 12)) END) AS DOUBLE) AS previous_usd,
    CAST(sum(CASE WHEN is_previous = 0 THEN usd ELSE CAST(0 AS DECIMAL(38, 12)) END) AS DOUBLE) AS usd
  FROM spent
  WHERE is_new = 0
  GROUP BY
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    kind
  HAVING sum(tokens) > 0
),
-- A side without tokens has the shares of the other one: then no step is one of models.
priced_cell AS (
  SELECT
    CASE WHEN volume.previous_tokens > 0 THEN cell.previous_tokens / volume.previous_tokens ELSE cell.tokens / volume.tokens END AS previous_share,
    CASE WHEN volume.tokens > 0 THEN cell.tokens / volume.tokens ELSE cell.previous_tokens / volume.previous_tokens END AS share,
    CASE WHEN cell.previous_tokens > 0 THEN cell.previous_usd / cell.previous_tokens ELSE cell.usd / cell.tokens END AS previous_price,
    CASE WHEN cell.tokens > 0 THEN cell.usd / cell.tokens ELSE cell.previous_usd / cell.previous_tokens END AS price
  FROM cell
  CROSS JOIN volume
),
-- USD per token, of the models and prices of one side or the other.
mean AS (
  SELECT
    coalesce(sum(previous_share * previous_price), CAST(0 AS DOUBLE)) AS previous_usd,
    coalesce(sum(previous_share * price), CAST(0 AS DOUBLE)) AS previous_models_usd,
    coalesce(sum(share * previous_price), CAST(0 AS DOUBLE)) AS previous_prices_usd,
    coalesce(sum(share * price), CAST(0 AS DOUBLE)) AS usd
  FROM priced_cell
),
factor AS MATERIALIZED (
  SELECT
    volume.previous_people AS previous_people,
    volume.people AS people,
    CASE
      WHEN volume.previous_people > 0 THEN volume.previous_tokens / volume.previous_people
      WHEN volume.people > 0 THEN volume.tokens / volume.people
      ELSE CAST(0 AS DOUBLE)
    END AS previous_tokens,
    CASE
      WHEN volume.people > 0 THEN volume.tokens / volume.people
      WHEN volume.previous_people > 0 THEN volume.previous_tokens / volume.previous_people
      ELSE CAST(0 AS DOUBLE)
    END AS tokens,
    mean.previous_usd AS previous_usd,
    mean.previous_models_usd AS previous_models_usd,
    mean.previous_prices_usd AS previous_prices_usd,
    mean.usd AS usd
  FROM volume
  CROSS JOIN mean
),
-- One row is the cost with some factors as they are and the others as they were.
mixture AS (
  SELECT
    people_side.is_now AS people_is_now,
    tokens_side.is_now AS tokens_is_now,
    models_side.is_now AS models_is_now,
    prices_side.is_now AS prices_is_now,
    people_side.is_now + tokens_side.is_now + models_side.is_now + prices_side.is_now AS changed,
    CASE WHEN people_side.is_now = 1 THEN factor.people ELSE factor.previous_people END
      * CASE WHEN tokens_side.is_now = 1 THEN factor.tokens ELSE factor.previous_tokens END
      * CASE
        WHEN models_side.is_now = 1 AND prices_side.is_now = 1 THEN factor.usd
        WHEN models_side.is_now = 1 THEN factor.previous_prices_usd
        WHEN prices_side.is_now = 1 THEN factor.previous_models_usd
        ELSE factor.previous_usd
      END AS usd
  FROM factor
  CROSS JOIN (SELECT 0 AS is_now UNION ALL SELECT 1 AS is_now) AS people_side
  CROSS JOIN (SELECT 0 AS is_now UNION ALL SELECT 1 AS is_now) AS tokens_side
  CROSS JOIN (SELECT 0 AS is_now UNION ALL SELECT 1 AS is_now) AS models_side
  CROSS JOIN (SELECT 0 AS is_now UNION ALL SELECT 1 AS is_now) AS prices_side
),
-- Of the 24 orders, 6 change a factor first, 6 last, and 2 behind each one or two of the others.
step AS (
  SELECT
    sum(CASE WHEN people_is_now = 1 THEN usd * joined ELSE -usd * left_out END) AS people,
    sum(CASE WHEN tokens_is_now = 1 THEN usd * joined ELSE -usd * left_out END) AS tokens,
    sum(CASE WHEN models_is_now = 1 THEN usd * joined ELSE -usd * left_out END) AS models,
    sum(CASE WHEN prices_is_now = 1 THEN usd * joined ELSE -usd * left_out END) AS prices
  FROM (
    SELECT
      *,
      CASE WHEN changed IN (1, 4) THEN CAST(6 AS DOUBLE) / 24 ELSE CAST(2 AS DOUBLE) / 24 END AS joined,
      CASE WHEN changed IN (0, 3) THEN CAST(6 AS DOUBLE) / 24 ELSE CAST(2 AS DOUBLE) / 24 END AS left_out
    FROM mixture
  ) AS weighed
),
total AS (
  SELECT
    coalesce(sum(CASE WHEN is_previous = 1 THEN usd ELSE CAST(0 AS DECIMAL(38, 12)) END), CAST(0 AS DECIMAL(38, 12))) AS previous_usd,
    coalesce(sum(CASE WHEN is_previous = 0 THEN usd ELSE CAST(0 AS DECIMAL(38, 12)) END), CAST(0 AS DECIMAL(38, 12))) AS usd,
    coalesce(sum(CASE WHEN is_previous = 1 THEN unpriced_tokens ELSE 0 END), 0) AS previous_unpriced_tokens,
    coalesce(sum(CASE WHEN is_previous = 0 THEN unpriced_tokens ELSE 0 END), 0) AS unpriced_tokens,
    coalesce(
      sum(
        CASE
          WHEN is_new = 0 THEN CAST(0 AS DECIMAL(38, 12))
          WHEN is_previous = 0 THEN usd
          ELSE -usd
        END
      ),
      CAST(0 AS DECIMAL(38, 12))
    ) AS new_teams_usd
  FROM spent
)
SELECT
  CAST(row_number() OVER (ORDER BY told.place) AS BIGINT) AS place,
  CAST(told.name AS VARCHAR) AS step,
  CAST(
    CASE told.name
      WHEN 'before' THEN CAST(total.previous_usd AS DOUBLE)
      WHEN 'new_teams' THEN CAST(total.new_teams_usd AS DOUBLE)
      WHEN 'people' THEN step.people
      WHEN 'tokens' THEN step.tokens
      WHEN 'models' THEN step.models
      WHEN 'prices' THEN step.prices
      ELSE CAST(total.usd AS DOUBLE)
    END AS DOUBLE
  ) AS usd,
  CAST(
    CASE told.name
      WHEN 'people' THEN factor.previous_people
      WHEN 'tokens' THEN factor.previous_tokens
      WHEN 'models' THEN factor.previous_usd * 1000000
      WHEN 'prices' THEN factor.previous_prices_usd * 1000000
    END AS DOUBLE
  ) AS previous_value,
  CAST(
    CASE told.name
      WHEN 'new_teams' THEN CAST(new_teams.teams AS DOUBLE)
      WHEN 'people' THEN factor.people
      WHEN 'tokens' THEN factor.tokens
      WHEN 'models' THEN factor.previous_prices_usd * 1000000
      WHEN 'prices' THEN factor.usd * 1000000
    END AS DOUBLE
  ) AS value,
  CAST(CASE told.name WHEN 'before' THEN total.previous_unpriced_tokens WHEN 'now' THEN total.unpriced_tokens END AS BIGINT) AS unpriced_tokens,
  CAST(comparison.data_begins AS DATE) AS data_begins
FROM (
  SELECT 1 AS place, 'before' AS name
  UNION ALL SELECT 2 AS place, 'new_teams' AS name
  UNION ALL SELECT 3 AS place, 'people' AS name
  UNION ALL SELECT 4 AS place, 'tokens' AS name
  UNION ALL SELECT 5 AS place, 'models' AS name
  UNION ALL SELECT 6 AS place, 'prices' AS name
  UNION ALL SELECT 7 AS place, 'now' AS name
) AS told
CROSS JOIN total
CROSS JOIN step
CROSS JOIN factor
CROSS JOIN comparison
CROSS JOIN (
  SELECT count(*) AS teams
  FROM new_team
) AS new_teams
WHERE (told.name = 'now' OR comparison.is_compared = 1)
  AND (told.name <> 'new_teams' OR new_teams.teams > 0)
  AND comparison.days_now > 0
  AND 0 IN (SELECT is_previous FROM told_side)
