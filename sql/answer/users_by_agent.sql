-- One row is one agent of a user of a page on a day on which the user was active with it.
-- Grain: (user_id, date, group_key).
-- Shown first: user_id, date, group_key, sessions, tool_calls, billable_tokens, user_messages, files_edited, git_commits.
SELECT
  CAST(user_id AS VARCHAR) AS user_id,  -- id of the user, e.g. ada
  CAST(user_email AS VARCHAR) AS user_email,  -- newest e-mail address in the user's events, or null, e.g. ada@acme.example
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS group_key,  -- the agent, empty if events name none, e.g. codex
  CAST(tool_calls AS BIGINT) AS tool_calls,  -- calls of tools, e.g. 171
  CAST(failed_calls AS BIGINT) AS failed_calls,  -- failed tool calls: refused and interrupted ones haven't failed, e.g. 8
  CAST(calls_with_outcome AS BIGINT) AS calls_with_outcome,  -- tool calls that are known to have succeeded or failed, e.g. 160
  CAST(billable_tokens AS BIGINT) AS billable_tokens,  -- standard credits, computed with the rate card, e.g. 41250
  CAST(files_created AS BIGINT) AS files_created,  -- files created by agents, e.g. 7
  CAST(files_edited AS BIGINT) AS files_edited,  -- existing files changed by agents, e.g. 35
  CAST(git_commits AS BIGINT) AS git_commits,  -- commits made by agents, e.g. 9
  CAST(git_prs_created AS BIGINT) AS git_prs_created,  -- pull requests created by agents, e.g. 2
  CAST(mcp_calls AS BIGINT) AS mcp_calls,  -- calls of MCP tools, e.g. 12
  CAST(skill_calls AS BIGINT) AS skill_calls,  -- skills used, e.g. 4
  CAST(slash_commands AS BIGINT) AS slash_commands,  -- slash commands used, e.g. 9
  CAST(hooks AS BIGINT) AS hooks,  -- hook commands that ran, e.g. 23
  CAST(sessions AS BIGINT) AS sessions,  -- sessions started, e.g. 5
  CAST(messages AS BIGINT) AS messages,  -- messages of the user and of agents, e.g. 131
  CAST(user_messages AS BIGINT) AS user_messages,  -- messages of the user, e.g. 24
  CAST(assistant_messages AS BIGINT) AS assistant_messages  -- messages of agents, e.g. 107
FROM report_users_by_agent
ORDER BY
  user_id,
  date,
  group_key
