-- One row is the key of the repository that an address names in any spelling.
-- Grain: ().
SELECT
  CAST(repo_key($repo) AS VARCHAR) AS repo
