-- One row is what all users did on one day with one agent, on one client and in one repository.
-- Grain: (org_id, day, agent, client, repo).
SELECT
  org_id,
  day,
  agent,
  client,
  repo,
  CAST(sum(sessions) AS BIGINT) AS sessions,
  CAST(sum(user_messages) AS BIGINT) AS user_messages,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files,
  CAST(sum(git_commits) AS BIGINT) AS git_commits,
  CAST(sum(git_prs_created) AS BIGINT) AS git_prs_created
FROM session_parts
GROUP BY
  org_id,
  day,
  agent,
  client,
  repo
