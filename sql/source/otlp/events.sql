-- One row is one event of a record of telemetry. docs/otlp.md says in prose which record becomes which events.
-- Reads section: the view for the agent that sent the records, which names.json names.
SELECT
  source,
  unnest(common),
  * EXCLUDE (source, common)
FROM section
