-- What does each agent cost in each repository?
--
-- One row is one agent in one repository: its users and its cost in the range, and the sessions that started in the range with the median of their cost.
-- Each call counts for the agent and the repository that its event names, which can be none. A session of several counts for the last of them by name.
-- Grain: (repo, agent).
WITH
cost AS (
  SELECT
    repo,
    agent,
    count(DISTINCT user_id) AS users,
    sum(cost_usd) AS cost_usd,
    sum(unpriced_tokens) AS unpriced_tokens
  FROM user_costs
  WHERE day BETWEEN $from AND $to
  GROUP BY
    repo,
    agent
),
session AS (
  SELECT
    coalesce(repo, '') AS repo,
    coalesce(agent, '') AS agent,
    count(*) AS sessions,
    p50(CAST(cost_usd AS DOUBLE)) AS usd_per_session_p50
  FROM session_facts
  WHERE start_day BETWEEN $from AND $to
  GROUP BY
    coalesce(repo, ''),
    coalesce(agent, '')
)
SELECT
  CAST(cost.repo AS VARCHAR) AS repo,
  CAST(cost.agent AS VARCHAR) AS agent,
  CAST(cost.users AS BIGINT) AS users,
  CAST(coalesce(session.sessions, 0) AS BIGINT) AS sessions,
  CAST(round(session.usd_per_session_p50, 2) AS DOUBLE) AS usd_per_session_p50,
  CAST(round(CAST(cost.cost_usd AS DOUBLE), 2) AS DOUBLE) AS cost_usd,
  CAST(cost.unpriced_tokens AS BIGINT) AS unpriced_tokens
FROM cost
LEFT JOIN session
  ON session.repo = cost.repo
  AND session.agent = cost.agent
ORDER BY
  cost.cost_usd DESC NULLS LAST,
  cost.repo,
  cost.agent
