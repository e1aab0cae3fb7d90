-- One row is one event of the metrics of Claude Code, or of a plugin of opencode. They count only where nothing better reports a session.
-- docs/otlp.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    *,
    attributes['type'] AS token_type,
    tokens_of("value") AS counted
  FROM record
),
-- The points of an export that differ only by the type of tokens are one usage. Each type has a start of its own.
usage AS (
  SELECT
    min(source) AS source,
    min_by(common, source) AS common,
    'usage:otlp:' || md5(concat_ws(' ', (common).session_id, model, query_source, (common).occurred_ms)) AS event_id,
    model_or_unknown(model) AS model,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'input'), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'output'), 0) AS BIGINT) AS output_tokens,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'cacheRead'), 0) AS BIGINT) AS cache_read_tokens,
    CAST(coalesce(sum(counted) FILTER (WHERE token_type = 'cacheCreation'), 0) AS BIGINT) AS cache_write_tokens
  FROM (SELECT *, attributes['model'] AS model, attributes['query_source'] AS query_source FROM own)
  WHERE name = 'token.usage'
  GROUP BY
    request,
    common,
    model,
    query_source
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
  WHERE name <> 'token.usage'
)
