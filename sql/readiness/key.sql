-- One row is the key of a repository, given its address.
-- Grain: ().
SELECT
  CAST(repo_key($repo_url) AS VARCHAR) AS repo
