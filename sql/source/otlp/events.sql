-- One row is one event of a record of telemetry. docs/otlp.md says in prose which record becomes which events.
-- Reads a section for each kind of agent.
SELECT
  source,
  unnest(common),
  * EXCLUDE (source, common)
FROM (
  FROM claude_code
  UNION ALL BY NAME
  FROM claude_code_metrics
  UNION ALL BY NAME
  FROM codex
  UNION ALL BY NAME
  FROM gemini_cli
  UNION ALL BY NAME
  FROM gen_ai
)
