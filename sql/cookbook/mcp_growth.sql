-- Which MCP servers are growing?
--
-- One row is one MCP server: its calls and users in the 30 days up to `$to`, and in the 30 days before them.
-- Look at users before calls, because one busy agent makes many calls. Servers whose names differ only in letter case are one. The sample has no calls of MCP tools.
-- Grain: (server_key).
WITH
server AS (
  SELECT
    server_key,
    sum(CASE WHEN day > CAST($to AS DATE) - 30 THEN tool_calls ELSE 0 END) AS calls,
    sum(CASE WHEN day > CAST($to AS DATE) - 30 THEN 0 ELSE tool_calls END) AS calls_before,
    count(DISTINCT CASE WHEN day > CAST($to AS DATE) - 30 THEN user_id END) AS users,
    count(DISTINCT CASE WHEN day > CAST($to AS DATE) - 30 THEN NULL ELSE user_id END) AS users_before
  FROM user_tools
  WHERE server_key <> ''
    AND day BETWEEN CAST($to AS DATE) - 59 AND CAST($to AS DATE)
  GROUP BY server_key
)
SELECT
  CAST(server_key AS VARCHAR) AS server_key,
  CAST(users AS BIGINT) AS users,
  CAST(users_before AS BIGINT) AS users_before,
  CAST(calls AS BIGINT) AS tool_calls,
  CAST(calls_before AS BIGINT) AS tool_calls_before
FROM server
ORDER BY
  users - users_before DESC,
  calls - calls_before DESC,
  server_key
