-- One row is one user of a page on a day on which the user was active.
-- Grain: (user_id, date).
-- Shown first: user_id, date, sessions, tool_calls, billable_tokens, autonomy_ratio, primary_model, user_messages, files_edited,
-- git_commits, languages, delegation_level.
WITH languages_of_user AS (
  SELECT
    user_id,
    day,
    -- list(... ORDER BY ...) is ten times slower here, because there are many users.
    list_transform(
      list_sort(list({ 'place': -files, 'language': language })),
      lambda one: CAST(one.language AS VARCHAR)  -- a language of the files, e.g. TypeScript
    ) AS languages
  FROM report_users_by_language
  GROUP BY
    user_id,
    day
)
SELECT
  CAST(user_id AS VARCHAR) AS user_id,  -- id of the user, e.g. ada
  CAST(user_email AS VARCHAR) AS user_email,  -- newest e-mail address in the user's events, or null, e.g. ada@acme.example
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(tool_calls AS BIGINT) AS tool_calls,  -- calls of tools, e.g. 171
  CAST(failed_calls AS BIGINT) AS failed_calls,  -- failed tool calls: refused and interrupted ones haven't failed, e.g. 8
  CAST(calls_with_outcome AS BIGINT) AS calls_with_outcome,  -- tool calls that are known to have succeeded or failed, e.g. 160
  CAST(billable_tokens AS BIGINT) AS billable_tokens,  -- standard credits, computed with the rate card, e.g. 41250
  CAST(primary_model AS VARCHAR) AS primary_model,  -- model used most, e.g. claude-sonnet-4-5
  CAST(primary_model_tier AS VARCHAR) AS primary_model_tier,  -- tier of that model on the rate card: standard | thinking
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
  CAST(assistant_messages AS BIGINT) AS assistant_messages,  -- messages of agents, e.g. 107
  CAST(autonomy_ratio AS DOUBLE) AS autonomy_ratio,  -- tool calls per user turn, e.g. 7.125
  CAST(delegation_level AS VARCHAR) AS delegation_level,  -- autonomy mode used most: auto-high | auto-medium | auto-low | spec | manual
  coalesce(languages, []) AS languages
FROM report_users
LEFT JOIN languages_of_user USING (user_id, day)
ORDER BY
  user_id,
  date
