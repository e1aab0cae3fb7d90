-- Functions that the ingest queries share. DuckDB only: it reads the lines for both stores.

-- An RFC 3339 timestamp with Z or an offset, in Unix milliseconds; NULL if it isn't one.
-- Digits beyond milliseconds are truncated, not rounded: 23:59:59.9999 is still that day.
CREATE OR REPLACE MACRO rfc3339_ms(text) AS
  CASE
    -- Nearly all have this form, which is twice as fast to read.
    WHEN regexp_full_match(text, '\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z')
      THEN epoch_ms(try_cast(text AS TIMESTAMP))
    WHEN regexp_full_match(text, '\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)')
      THEN epoch_ms(CAST(try_cast(regexp_replace(upper(text), '(\.\d{3})\d+', '\1') AS TIMESTAMPTZ) AS TIMESTAMP))
  END;

-- Whether a shell command commits: it has `git commit`, with options of git in between, where a command begins.
CREATE OR REPLACE MACRO is_commit_command(command) AS
  regexp_matches(command, '(^|[;&|(\n]|\bthen\b|\bdo\b)\s*(\w+=\S*\s+)*git(\s+-[cC]\s+\S+|\s+--?[\w-]+(=\S+)?)*\s+commit(\s|$)')
  AND NOT regexp_matches(command, '\scommit\s[^;&|\n]*--dry-run');

CREATE OR REPLACE MACRO is_pull_request_command(command) AS
  regexp_matches(command, '(^|[;&|(\n]|\bthen\b|\bdo\b)\s*(\w+=\S*\s+)*(gh\s+pr|glab\s+mr)\s+create(\s|$)');

-- Whether a text has more characters than a limit. Bytes are counted first, because counting characters is expensive.
CREATE OR REPLACE MACRO is_longer(text, characters) AS strlen(text) > characters AND length(text) > characters;

-- The tokens that a usage of Claude's API wrote to the cache: the larger of the flat counter and the sum of its split by
-- lifetime.
CREATE OR REPLACE MACRO cache_written(usage) AS greatest(
  coalesce((usage).cache_creation_input_tokens, 0),
  coalesce((usage).cache_creation.ephemeral_5m_input_tokens, 0) + coalesce((usage).cache_creation.ephemeral_1h_input_tokens, 0)
);
