-- What does a pull request cost?
--
-- One row is one user: the cost of the user's agents in the range, per pull request that they opened and per commit that they made.
-- Events say that an agent opened a pull request, but not whether it was merged, and don't include those opened by hand. Use the number for trends, not to rank people.
-- Grain: (user_id).
WITH
output AS (
  SELECT
    user_id,
    sum(git_prs_created) AS pull_requests,
    sum(git_commits) AS git_commits
  FROM users
  WHERE day BETWEEN $from AND $to
  GROUP BY user_id
),
cost AS (
  SELECT
    user_id,
    CAST(sum(cost_usd) AS DOUBLE) AS cost_usd,
    sum(unpriced_tokens) AS unpriced_tokens
  FROM user_costs
  WHERE day BETWEEN $from AND $to
  GROUP BY user_id
)
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(round(cost.cost_usd, 2) AS DOUBLE) AS cost_usd,
  CAST(output.pull_requests AS BIGINT) AS pull_requests_opened,
  CAST(round(cost.cost_usd / nullif(output.pull_requests, 0), 2) AS DOUBLE) AS usd_per_pull_request,
  CAST(output.git_commits AS BIGINT) AS git_commits,
  CAST(round(cost.cost_usd / nullif(output.git_commits, 0), 2) AS DOUBLE) AS usd_per_commit,
  CAST(coalesce(cost.unpriced_tokens, 0) AS BIGINT) AS unpriced_tokens
FROM output
LEFT JOIN cost USING (user_id)
ORDER BY
  pull_requests_opened DESC,
  usd_per_commit NULLS LAST,
  user_id
