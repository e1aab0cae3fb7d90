-- One row is one session of Droid: a file, and the settings beside it.
-- Reads lines and side_files.
-- Grain: (source).
SELECT
  started.source AS source,
  started.session_id AS session_id,
  started.cwd AS cwd,
  started.agent_version AS agent_version,
  CASE WHEN list_contains(tags, 'exec') THEN 'non-interactive-cli' END AS client,
  started.is_called OR coalesce(list_contains(tags, 'subagent'), false) AS is_subagent,
  settings.model AS model,
  settings.tokenUsage AS tokens,
  settings.interactionMode AS interaction_mode,
  coalesce(autonomy_mode_of(settings.autonomyMode), autonomy_mode_of(settings.autonomyLevel)) AS autonomy_mode
FROM (
  SELECT
    source,
    min(id) AS session_id,
    min(cwd) AS cwd,
    -- Newer files have the version of their form here, a single number.
    min(version) FILTER (WHERE contains(version, '.')) AS agent_version,
    bool_or(callingSessionId IS NOT NULL) AS is_called
  FROM lines
  WHERE type = 'session_start'
  GROUP BY source
) AS started
LEFT JOIN (
  SELECT
    source,
    settings,
    list_transform(settings.tags, lambda tag: tag.name) AS tags
  FROM (
    SELECT
      source,
      from_json(document, '{
        "model": "VARCHAR", "interactionMode": "VARCHAR", "autonomyMode": "VARCHAR", "autonomyLevel": "VARCHAR",
        "tags": [{"name": "VARCHAR"}],
        "tokenUsage": {
          "inputTokens": "BIGINT", "outputTokens": "BIGINT", "cacheCreationTokens": "BIGINT", "cacheReadTokens": "BIGINT",
          "thinkingTokens": "BIGINT"
        }
      }') AS settings
    FROM side_files
  )
) AS beside
  ON beside.source = started.source
