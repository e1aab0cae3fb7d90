-- One row is one event of the metrics of Claude Code, or of a plugin of opencode. They count only where nothing better reports a session.
-- docs/otlp.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    *,
    attributes['type'] AS token_type,
    CASE WHEN name <> 'cost.usage' THEN tokens_of("value") END AS counted
  FROM record
),
-- The points of an export that differ only by the type of tokens are one usage, and so is what it cost. Each has a start of its own.
usage AS (
  SELECT
    min(source) AS source,
    min_by(common, source) AS common,
    'usage:otlp:' || md5(concat_ws(
      ' ',
      -- Without a session, users can have points of the same instant.
      CASE (common).session_id WHEN '' THEN ' ' || (common).user_id ELSE (common).session_id END,
      model,
      query_source,
      speed,
      effort,
      (common).occurred_ms
    )) AS event_id,
    model_or_unknown(model) AS model,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'input'), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'output'), 0) AS BIGINT) AS output_tokens,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'cacheRead'), 0) AS BIGINT) AS cache_read_tokens,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'cacheCreation'), 0) AS BIGINT) AS cache_write_tokens,
    word_of(speed) AS speed,
    word_of(effort) AS effort,
    provider_of(min(attributes['anthropic.provider'])) AS provider,
    word_of(min(attributes['anthropic.plan'])) AS plan,
    -- How many tokens were written to the cache for an hour no point says. The cost includes their price.
    dollars_of(CAST(sum(dollars_of("value")) FILTER (WHERE name = 'cost.usage') AS VARCHAR)) AS reported_cost_usd
  FROM (
    SELECT
      *,
      attributes['model'] AS model,
      attributes['query_source'] AS query_source,
      attributes['speed'] AS speed,
      attributes['effort'] AS effort
    FROM own
  )
  WHERE name IN ('token.usage', 'cost.usage')
  GROUP BY
    request,
    common,
    model,
    query_source,
    speed,
    effort
)
SELECT
  'model_usage' AS type,
  *
FROM usage
WHERE is_used(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
UNION ALL BY NAME
SELECT
  source,
  common,
  CASE name WHEN 'commit.count' THEN 'git_commit' WHEN 'pull_request.count' THEN 'pull_request' ELSE 'session_start' END AS type,
  CASE name WHEN 'commit.count' THEN 'commit' WHEN 'pull_request.count' THEN 'pull_request' ELSE 'session_start' END
    || ':otlp:' || digest || ':' || place AS event_id
FROM (
  SELECT
    *,
    unnest(range(least(counted, 1000))) AS place
  FROM own
  WHERE name IN ('commit.count', 'pull_request.count', 'session.count')
    -- A run with --continue counts itself under the id of a session that it then leaves for the one that it continues.
    AND NOT (name = 'session.count' AND coalesce(attributes['start_type'], '') = 'continue')
)
