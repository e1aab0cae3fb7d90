-- One row is one Droid session that has settings beside its file.
-- Reads side_files.
-- Grain: (source).
SELECT
  source,
  settings.model AS model,
  settings.tokenUsage AS tokens,
  settings.interactionMode AS interaction_mode,
  coalesce(autonomy_mode_of(settings.autonomyMode), autonomy_mode_of(settings.autonomyLevel)) AS autonomy_mode,
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
