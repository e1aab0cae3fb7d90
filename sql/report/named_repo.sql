-- One row is the key of the repository that a filter names in any spelling.
-- Grain: ().
SELECT
  CAST(repo_key($repo) AS VARCHAR) AS repo
