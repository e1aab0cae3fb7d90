-- What the ingest queries share. DuckDB only: whatever the store, lines are read here.

-- An RFC 3339 time stamp with Z or an offset, in Unix milliseconds; NULL when it is none.
-- Digits past the millisecond are cut off, not rounded: 23:59:59.9999 is still that day.
CREATE OR REPLACE MACRO rfc3339_ms(text) AS
  CASE
    -- As nearly all are, and twice as fast.
    WHEN regexp_full_match(text, '\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z')
      THEN epoch_ms(try_cast(text AS TIMESTAMP))
    WHEN regexp_full_match(text, '\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)')
      THEN epoch_ms(CAST(try_cast(regexp_replace(upper(text), '(\.\d{3})\d+', '\1') AS TIMESTAMPTZ) AS TIMESTAMP))
  END;

-- The commits that a shell command makes: `git commit`, with options of git before it, where a command begins.
CREATE OR REPLACE MACRO is_commit_command(command) AS
  regexp_matches(command, '(^|[;&|(\n]|\bthen\b|\bdo\b)\s*(\w+=\S*\s+)*git(\s+-[cC]\s+\S+|\s+--?[\w-]+(=\S+)?)*\s+commit(\s|$)')
  AND NOT regexp_matches(command, '\scommit\s[^;&|\n]*--dry-run');

CREATE OR REPLACE MACRO is_pull_request_command(command) AS
  regexp_matches(command, '(^|[;&|(\n]|\bthen\b|\bdo\b)\s*(\w+=\S*\s+)*(gh\s+pr|glab\s+mr)\s+create(\s|$)');

-- Whether a text has more characters than a limit. Counting bytes is free, counting characters isn't.
CREATE OR REPLACE MACRO is_longer(text, characters) AS strlen(text) > characters AND length(text) > characters;

-- The tokens that a usage of Claude's API wrote to the cache: the flat counter, or the sum of its split by lifetime, which
-- can be the larger one.
CREATE OR REPLACE MACRO cache_written(usage) AS greatest(
  coalesce((usage).cache_creation_input_tokens, 0),
  coalesce((usage).cache_creation.ephemeral_5m_input_tokens, 0) + coalesce((usage).cache_creation.ephemeral_1h_input_tokens, 0)
);
