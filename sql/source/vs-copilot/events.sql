-- One row is one event of Copilot in Visual Studio, in the columns that rules.sql reads. docs/vs-copilot.md describes the mapping.
-- Reads gen_ai, which sql/source/otlp has as well.
SELECT
  source,
  unnest(common),
  * EXCLUDE (source, common)
FROM gen_ai
